/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What perftest prints. The table is the same in every version since 4.1; its columns are found by
 * their headings. The file of --out_json has no more digits, and is no JSON in some versions
 * (4.5-0.20 writes names without quotes), so it is not asked for.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct perftest_measured {
	uint64_t size_bytes, iterations;
	/* of a bandwidth run with --report_gbits; 10^9 bits */
	double gbit_per_s, messages_per_s;
	/* of a latency run that counts iterations: half a round trip, a whole one for read */
	double min_ns, median_ns, p99_ns, p99_9_ns, max_ns;
};

/* From all that it wrote on standard output, whatever that is. -EPROTO: no table with all of these
 * columns and numbers that can be. */
int perftest_output_read(struct perftest_measured *m, bool latency, const char *text,
			 struct error *err);

/* Why it ended, from what it wrote on standard error and standard output: a line, printable and not
 * long; "" when it said nothing. The caller frees. */
char *perftest_output_reason(const char *errors, const char *text);
