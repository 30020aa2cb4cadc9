/* SPDX-License-Identifier: Apache-2.0 */
/* What is told of many times. */
#pragma once

#include "base/json.h"

/* {"samples", "min_ns", "mean_ns", "median_ns", "p99_ns", "p99_9_ns", "max_ns", "histogram"} of `n`
 * times; they are sorted. The histogram is a list of {from_ns, to_ns, count}, each twice as wide as
 * the one before; empty ones are left out. */
json_t *run_histogram(uint64_t *ns, size_t n);
