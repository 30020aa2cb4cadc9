/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a proof runs, step by step. Both ends derive it from the same parameters.
 *
 * Without a suite: integrity of every operation, then their speed at the sizes that were asked for.
 * The suites baseline, pfc, ecn and gdr run the same steps, so that their records stand side by
 * side; they differ in what is configured, in the marking and in the memory.
 */
#pragma once

#include <stddef.h>

#include "prove/session.h"

enum suite_run {
	SUITE_INTEGRITY,
	SUITE_BANDWIDTH,
	SUITE_LATENCY,
	SUITE_MARKING,	/* over UD, after all others */
};

struct suite_step {
	enum suite_run run;
	unsigned operation;	/* one bit of enum session_operation */
	bool reverse;		/* the listener moves */
	size_t size_min, size_max;	/* bytes of a message; a speed run takes size_max */
};

struct suite {
	struct suite_step *step;
	size_t n, capacity;
};

void suite_make(struct suite *suite, const struct session_parameters *p);
void suite_clear(struct suite *suite);

#define _cleanup_suite_ __attribute__((cleanup(suite_clear)))

const char *suite_run_name(enum suite_run run);
