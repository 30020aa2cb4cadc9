/* SPDX-License-Identifier: Apache-2.0 */
#include "prove/suite.h"

#include <string.h>

#include "base/alloc.h"

const char *const session_suite_names[SESSION_SUITES] = {
	[SESSION_BASELINE] = "baseline",
	[SESSION_PFC] = "pfc",
	[SESSION_ECN] = "ecn",
	[SESSION_GDR] = "gdr",
};

/* As the field compares them: what a message costs, and two sizes that fill a link. */
static const size_t bandwidth_sizes[] = { 8, 64 << 10, 1 << 20 };
#define LATENCY_BYTES 8u

const char *suite_run_name(enum suite_run run)
{
	static const char *const names[] = {
		[SUITE_INTEGRITY] = "integrity",
		[SUITE_BANDWIDTH] = "bandwidth",
		[SUITE_LATENCY] = "latency",
		[SUITE_MARKING] = "marking",
	};

	return names[run];
}

/*
 * Which end moves first. With memory of a GPU at one end: the one that puts bytes into it, because
 * the first run that fails is the last one, and a root complex that forwards writes between its
 * ports and not reads is told by writes that worked.
 */
static bool listener_first(const struct session_parameters *p, unsigned operation)
{
	bool read = operation == SESSION_READ;

	return !strcmp(p->memory[0], "cuda") ? !read : !strcmp(p->memory[1], "cuda") && read;
}

static void add(struct suite *suite, const struct session_parameters *p, enum suite_run run,
		unsigned operation, size_t size_min, size_t size_max, bool both_ways)
{
	bool first = both_ways && listener_first(p, operation);

	for (int way = 0; way <= both_ways; way++) {
		array_reserve(suite->step, suite->n, suite->capacity);
		suite->step[suite->n++] = (struct suite_step){
			.run = run,
			.operation = operation,
			.reverse = way ? !first : first,
			.size_min = size_min,
			.size_max = size_max,
		};
	}
}

static void add_speed(struct suite *suite, const struct session_parameters *p, unsigned operation)
{
	if (!p->suite) {
		add(suite, p, SUITE_BANDWIDTH, operation, p->size_max, p->size_max, true);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(bandwidth_sizes); i++) {
		if (bandwidth_sizes[i] <= p->size_max)
			add(suite, p, SUITE_BANDWIDTH, operation, bandwidth_sizes[i],
			    bandwidth_sizes[i], true);
	}
}

void suite_make(struct suite *suite, const struct session_parameters *p)
{
	const size_t latency = p->suite ? LATENCY_BYTES : p->size_min;

	/* no speed is told before all operations are known to carry the right bytes */
	for (size_t i = 0; i < SESSION_OPERATIONS; i++) {
		if (p->operations & session_operation_names[i].bit)
			add(suite, p, SUITE_INTEGRITY, session_operation_names[i].bit,
			    p->size_min, p->size_max, true);
	}
	for (size_t i = 0; i < SESSION_OPERATIONS && p->seconds > 0; i++) {
		if (p->operations & session_operation_names[i].bit)
			add_speed(suite, p, session_operation_names[i].bit);
	}
	/* a round trip has no direction */
	for (size_t i = 0; i < SESSION_OPERATIONS && p->seconds > 0; i++) {
		if (p->operations & session_operation_names[i].bit)
			add(suite, p, SUITE_LATENCY, session_operation_names[i].bit, latency,
			    latency, false);
	}
	if (p->dscp >= 0)
		add(suite, p, SUITE_MARKING, SESSION_SEND, SESSION_MARK_BYTES,
		    SESSION_MARK_BYTES, true);
}

void suite_clear(struct suite *suite)
{
	free(suite->step);
	*suite = (struct suite){0};
}
