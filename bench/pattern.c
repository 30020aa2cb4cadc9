// SPDX-License-Identifier: Apache-2.0
/*
 * Speed of fill, check and poison next to memset(3) and memcpy(3), on a buffer far larger than the
 * caches. Each is run in turn, and the median CPU time of the rounds is told, so that other work of
 * the machine counts little.
 *
 *	build-test/tests/prove/bench-pattern [MiB [ROUNDS]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "prove/pattern.h"

enum { MEMCPY, MEMSET, FILL, CHECK, FILL_ODD, CHECK_ODD, POISON, INTACT, N };

static const char *const names[N] = {
	"memcpy", "memset", "fill", "check", "fill, odd address", "check, odd address",
	"poison", "poison check",
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool run(int what, uint8_t *a, uint8_t *b, size_t len)
{
	const struct pattern p = { .seed = 1, .generation = 2 };
	struct pattern_fault fault;

	switch (what) {
	case MEMCPY:
		memcpy(b, a, len);
		return true;
	case MEMSET:
		memset(b, 0x5a, len);
		return b[len - 1] == 0x5a;
	case FILL:
		pattern_fill(a, len, 0, &p);
		return true;
	case FILL_ODD:
		pattern_fill(a + 1, len, 3, &p);
		return true;
	case CHECK:
		return pattern_check(a, len, 0, &p, &fault);
	case CHECK_ODD:
		return pattern_check(a + 1, len, 3, &p, &fault);
	case POISON:
		pattern_poison(b, len, 1);
		return true;
	default:
		return pattern_poison_intact(b, len, 1, NULL, NULL);
	}
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	size_t len = (size_t)(argc > 1 ? atoi(argv[1]) : 256) << 20;
	int rounds = argc > 2 ? atoi(argv[2]) : 9;
	uint8_t *a = xcalloc(1, len + 64), *b = xcalloc(1, len + 64);
	double *seconds = xcalloc((size_t)(N * rounds), sizeof(*seconds));
	double copied = 0;

	memset(a, 1, len + 64);	/* every page is there before the first round */
	memset(b, 1, len + 64);
	for (int round = 0; round < rounds; round++)
		for (int what = 0; what < N; what++) {
			double start = now();

			if (!run(what, a, b, len)) {
				fprintf(stderr, "%s: wrong bytes\n", names[what]);
				return 1;
			}
			seconds[what * rounds + round] = now() - start;
		}
	for (int what = 0; what < N; what++) {
		double *s = seconds + what * rounds, median;

		qsort(s, (size_t)rounds, sizeof(*s), compare);
		median = s[rounds / 2];
		if (what == MEMCPY)
			copied = median;
		printf("%-20s %7.2f GB/s  %5.2f of memcpy\n", names[what],
		       (double)len / median * 1e-9, copied / median);
	}
	free(a);
	free(b);
	free(seconds);
	return 0;
}
