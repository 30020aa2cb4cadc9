/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The active tests: each runs on both ends, over a control channel and an endpoint that stand.
 *
 * Each begins with the two ends telling each other what they are about to run; a difference is
 * -EPROTO. Both get the same result. An error is one end's: it tells the other (wire_send_error()),
 * which then has -EREMOTEIO. An endpoint on which a run failed or found a fault is not used again.
 */
#pragma once

#include "prove/endpoint.h"
#include "prove/memory.h"
#include "prove/wire.h"

struct run_parameters {
	const char *operation;	/* "write", "read", "send" */
	bool reverse;		/* the listener is the one that moves: it posts the operations */
	size_t size_min, size_max;	/* bytes of a message; sizes double between them */
	unsigned iterations;	/* of an integrity run for each size, each with its generation; messages
				 * of a marking run. 0: a few */
	double seconds;		/* of a speed run */
	uint64_t seed;
	int step_ms;		/* limit of each step in which something has to happen, beside a
				 * millisecond for each KiB that moves. 0: 10 s */
};

struct run_end {	/* what one end brings */
	struct wire *wire;
	struct endpoint *endpoint;
	struct memory *memory;	/* at least size_max bytes; with size_max for each QP all move at once */
	bool initiator;	/* connected, decides; the other follows */
	uint16_t number;	/* of the run on this endpoint, the same at both ends */
	/* Called at both ends before and after (`over`) the part of a speed run that is timed. NULL:
	 * nobody looks. */
	void (*timed)(void *arg, bool over);
	void *timed_arg;
};

/* Every byte of every message, what lies around it, both canaries. The result says what was
 * verified, or the fault with its offset. 0: the run took place (look at "verified"); errors: it
 * could not. New reference. */
int run_integrity(json_t **result, struct run_end *end, const struct run_parameters *p,
		  struct error *err);
/* Messages of size_max, on all QPs, with steady-state detection, ended by a full check of the final
 * state ("verified"). */
int run_bandwidth(json_t **result, struct run_end *end, const struct run_parameters *p,
		  struct error *err);
/* Round trips of messages of size_min on the first QP: min, median, 99, 99.9, max, histogram. */
int run_latency(json_t **result, struct run_end *end, const struct run_parameters *p,
		struct error *err);
/* Messages of size_min over a UD endpoint that sends with `traffic_class`: which DSCP and ECN
 * arrived, from the GRH. The memory is one that the CPU can read. `operation` is not looked at. */
int run_marking(json_t **result, struct run_end *end, const struct run_parameters *p,
		uint8_t traffic_class, struct error *err);
