/* SPDX-License-Identifier: Apache-2.0 */
/* The active tests: each runs on both ends, over a control channel and an endpoint that stand. */
#pragma once

#include "prove/endpoint.h"
#include "prove/memory.h"
#include "prove/wire.h"

struct run_parameters {
	const char *operation;	/* "write", "read", "send" */
	bool reverse;		/* the listener is the one that moves */
	size_t size_min, size_max;	/* bytes of a message; sizes double between them */
	unsigned iterations;	/* of an integrity run, each with its generation */
	double seconds;		/* of a speed run */
	uint64_t seed;
};

struct run_end {	/* what one end brings */
	struct wire *wire;
	struct endpoint *endpoint;
	struct memory *memory;
	bool initiator;	/* connected, decides; the other follows */
};

/* Every byte of every message, both canaries. The result says what was verified, or the fault with
 * its offset. 0: the run took place (look at "verified"); errors: it could not. */
int run_integrity(json_t **result, struct run_end *end, const struct run_parameters *p,
		  struct error *err);
/* Bandwidth with steady-state detection, ended by a full check of the final state. */
int run_bandwidth(json_t **result, struct run_end *end, const struct run_parameters *p,
		  struct error *err);
/* Round trips of small messages: min, median, 99, 99.9, max, histogram. */
int run_latency(json_t **result, struct run_end *end, const struct run_parameters *p,
		struct error *err);
/* UD messages with the declared traffic class: which DSCP and ECN arrived, from the GRH. */
int run_marking(json_t **result, struct run_end *end, const struct run_parameters *p,
		uint8_t traffic_class, struct error *err);
