/* SPDX-License-Identifier: Apache-2.0 */
#include "prove/run_sizes.h"

#include <stdint.h>

static int compare(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return (x > y) - (x < y);
}

static void add(struct run_sizes *sizes, size_t size, size_t min, size_t max)
{
	if (size < min || size > max)
		return;
	array_reserve(sizes->size, sizes->n, sizes->capacity);
	sizes->size[sizes->n++] = size;
}

void run_sizes_make(struct run_sizes *sizes, size_t min, size_t max, size_t mtu)
{
	/* less than a word, a cache line, a page, huge and large ones */
	static const size_t borders[] = { 4, 8, 64, 1024, 4096, 65536, 1u << 20 };
	size_t kept = 0;

	sizes->n = 0;
	for (size_t size = min; size && size <= max; size = size > SIZE_MAX / 2 ? 0 : 2 * size)
		add(sizes, size, min, max);
	add(sizes, max, min, max);
	add(sizes, max - 1, min, max);
	for (size_t i = 0; i < ARRAY_SIZE(borders); i++) {
		add(sizes, borders[i] - 1, min, max);
		add(sizes, borders[i] + 1, min, max);
	}
	for (size_t packets = 1; packets <= 2; packets++) {
		add(sizes, packets * mtu - 1, min, max);
		add(sizes, packets * mtu + 1, min, max);
	}
	qsort(sizes->size, sizes->n, sizeof(*sizes->size), compare);
	for (size_t i = 0; i < sizes->n; i++)
		if (!kept || sizes->size[kept - 1] != sizes->size[i])
			sizes->size[kept++] = sizes->size[i];
	sizes->n = kept;
}

void run_sizes_clear(struct run_sizes *sizes)
{
	free(sizes->size);
	*sizes = (struct run_sizes){0};
}
