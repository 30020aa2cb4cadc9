/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a fuzz target without libFuzzer: each seed file as it is, then a fixed number of mutations
 * from a fixed pseudo-random sequence, so that every run does the same. Speaks TAP: one result for
 * the seeds, one for the mutations; a crash or a sanitizer report ends the program.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUTATIONS 3000u
#define INPUT_MAX (64u << 10)

struct seed {
	uint8_t *data;
	size_t size;
};

static uint64_t state = 0x9e3779b97f4a7c15ull;

/* xorshift64*: fixed sequence, the same on every machine */
static uint64_t next_random(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 0x2545f4914f6cdd1dull;
}

static size_t mutate(uint8_t *data, size_t size)
{
	unsigned rounds = 1 + (unsigned)(next_random() % 8);

	while (rounds-- && size) {
		size_t at = next_random() % size;

		switch (next_random() % 6) {
		case 0:
			data[at] ^= (uint8_t)(1u << (next_random() % 8));
			break;
		case 1:
			data[at] = (uint8_t)next_random();
			break;
		case 2: /* the lengths of netlink and of text formats like these values */
			data[at] = (uint8_t[]){0, 1, 4, 0x7f, 0x80, 0xff}[next_random() % 6];
			break;
		case 3:
			size = at + 1;
			break;
		case 4: {
			size_t from = next_random() % size;
			size_t n = size - (from > at ? from : at);

			memmove(data + at, data + from, n);
			break;
		}
		case 5:
			if (size < INPUT_MAX) {
				memmove(data + at + 1, data + at, size - at);
				size++;
			}
			break;
		}
	}
	return size;
}

static size_t load(const char *folder, struct seed **seeds)
{
	size_t n = 0, capacity = 0;
	struct dirent **names;
	int found = scandir(folder, &names, NULL, alphasort);

	*seeds = NULL;
	for (int i = 0; i < found; i++) {
		_cleanup_free_ char *path = xasprintf("%s/%s", folder, names[i]->d_name);
		_cleanup_fclose_ FILE *f = names[i]->d_name[0] == '.' ? NULL : fopen(path, "rb");

		free(names[i]);
		if (!f)
			continue;
		array_reserve(*seeds, n, capacity);
		(*seeds)[n].data = xmalloc(INPUT_MAX);
		(*seeds)[n].size = fread((*seeds)[n].data, 1, INPUT_MAX, f);
		n++;
	}
	if (found >= 0)
		free(names);
	return n;
}

int main(int argc, char **argv)
{
	struct seed *seeds;
	size_t n = argc > 1 ? load(argv[1], &seeds) : 0;

	if (!n) {
		printf("1..1\nnot ok 1 - no seeds\n");
		return 1;
	}
	printf("1..2\n");
	for (size_t i = 0; i < n; i++)
		LLVMFuzzerTestOneInput(seeds[i].data, seeds[i].size);
	printf("ok 1 - %zu seeds\n", n);
	fflush(stdout);

	uint8_t *input = xmalloc(INPUT_MAX + 1);
	for (unsigned i = 0; i < MUTATIONS; i++) {
		const struct seed *seed = &seeds[next_random() % n];

		memcpy(input, seed->data, seed->size);
		size_t size = mutate(input, seed->size);
		/* an exact-size copy, so that a read past the end is seen by the sanitizer */
		uint8_t *exact = xmalloc(size);
		memcpy(exact, input, size);
		LLVMFuzzerTestOneInput(exact, size);
		free(exact);
	}
	printf("ok 2 - %u mutations\n", MUTATIONS);
	free(input);
	for (size_t i = 0; i < n; i++)
		free(seeds[i].data);
	free(seeds);
	return 0;
}
