/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes of the messages of an integrity run. */
#pragma once

#include <stddef.h>

#include "base/alloc.h"

struct run_sizes {
	size_t *size;	/* rising */
	size_t n, capacity;
};

/* From `min` to `max`: doubling, those two, and odd ones: next to the borders of cache lines, pages
 * and packets (of `mtu` bytes), where adapters and drivers have to cut. */
void run_sizes_make(struct run_sizes *sizes, size_t min, size_t max, size_t mtu);
void run_sizes_clear(struct run_sizes *sizes);
#define _cleanup_run_sizes_ __attribute__((cleanup(run_sizes_clear)))
