/* SPDX-License-Identifier: Apache-2.0 */
/* How a speed came about over time, and whether it was steady. */
#pragma once

#include "base/json.h"

#define RUN_SAMPLE_NS 50000000u

struct run_sample {
	uint64_t ns;		/* since the beginning */
	uint64_t messages;	/* that were done until then */
};

struct run_samples {
	struct run_sample *sample;	/* sample[0] is the beginning: {0, 0} */
	size_t n, capacity;
};

/* Room for a run of `seconds`, so that none is made while it goes on. */
void run_samples_begin(struct run_samples *samples, double seconds);
/* A sample, if one is due. True: it was. */
bool run_samples_add(struct run_samples *samples, uint64_t ns, uint64_t messages);
void run_samples_clear(struct run_samples *samples);
#define _cleanup_run_samples_ __attribute__((cleanup(run_samples_clear)))

/*
 * {"gbit_per_s", "messages_per_s", "derivation", "steady", …}: the speed of messages of `size` bytes
 * over the middle of the samples, and whether that was steady. `messages` were done in `ns`.
 */
json_t *run_samples_speed(const struct run_samples *samples, size_t size, uint64_t messages,
			  uint64_t ns);
