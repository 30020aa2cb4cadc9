/* SPDX-License-Identifier: Apache-2.0 */
#include "prove/run_histogram.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The smallest time that `per_mille` of all do not exceed (nearest rank). */
static uint64_t percentile(const uint64_t *sorted, size_t n, unsigned per_mille)
{
	return sorted[(n * per_mille + 999) / 1000 - 1];
}

static json_t *buckets(const uint64_t *sorted, size_t n)
{
	json_t *list = json_array_new();

	for (size_t i = 0; i < n;) {
		unsigned bit = sorted[i] ? 63 - (unsigned)__builtin_clzll(sorted[i]) : 0;
		uint64_t from = bit ? 1ull << bit : 0, last = (2ull << bit) - 1;
		size_t begin = i;

		while (i < n && sorted[i] <= last)
			i++;
		json_t *bucket = json_object_new();
		json_put_u64(bucket, "from_ns", from);
		json_put_u64(bucket, "to_ns", last);
		json_put_int(bucket, "count", (int64_t)(i - begin));
		json_append(list, bucket);
	}
	return list;
}

json_t *run_histogram(uint64_t *ns, size_t n)
{
	json_t *told = json_object_new();
	uint64_t sum = 0;

	json_put_int(told, "samples", (int64_t)n);
	if (!n)
		return told;
	qsort(ns, n, sizeof(*ns), compare);
	for (size_t i = 0; i < n; i++)
		sum += ns[i];
	json_put_u64(told, "min_ns", ns[0]);
	json_put_u64(told, "mean_ns", sum / n);
	json_put_u64(told, "median_ns", percentile(ns, n, 500));
	json_put_u64(told, "p99_ns", percentile(ns, n, 990));
	json_put_u64(told, "p99_9_ns", percentile(ns, n, 999));
	json_put_u64(told, "max_ns", ns[n - 1]);
	json_put(told, "histogram", buckets(ns, n));
	return told;
}
