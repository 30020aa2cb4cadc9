/* SPDX-License-Identifier: Apache-2.0 */
/* The speed runs of all records of a pair, as charts and tables show them. */
#pragma once

#include "report/html_proofs.h"

/* A speed run of one of the records. */
struct speed {
	const struct proof_series *series;
	json_t *run, *result;
	json_t *other;		/* result of perftest for the same, or NULL */
	const char *operation;
	double size_bytes;	/* NAN: not told */
	bool latency;
	bool largest;		/* of its operation, among the bandwidths of the pair */
	bool from_a;		/* bytes come from port a */
};

struct speeds {
	struct speed *list;	/* by operation and size, then as the records are ordered */
	size_t n, capacity;
};

void speeds_collect(struct speeds *speeds, const struct proof_pair *pair);
void speeds_clear(struct speeds *speeds);
#define _cleanup_speeds_ __attribute__((cleanup(speeds_clear)))

/* CPU time of an end of a run: that of port a, or of port b. */
json_t *speed_cpu(const struct speed *speed, bool of_a);
/* "64 KiB", "?". The caller frees. */
char *speed_size(const struct speed *speed);

/* Histograms of the newest record that has any. */
void html_put_histograms(struct strbuf *out, const struct proof_pair *pair,
			 const struct speeds *speeds);
/* Tables with all numbers of the charts. */
void html_put_numbers(struct strbuf *out, const struct proof_pair *pair,
		      const struct speeds *speeds);
