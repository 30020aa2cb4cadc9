/* SPDX-License-Identifier: Apache-2.0 */
/* A bandwidth run, see run_bandwidth.c: what its files share. */
#pragma once

#include "prove/run_common.h"

struct bandwidth {
	struct run run;
	size_t size, step;	/* of a message, and from one place to the next */
	unsigned ring;		/* places of a slot */
	uint64_t sent[ENDPOINT_QPS_MAX];	/* messages that were posted */
	/* of the passive end: receives posted in all, messages that came, and still have to */
	uint64_t offered[ENDPOINT_QPS_MAX], arrived[ENDPOINT_QPS_MAX], missing;
	json_t *fault;
};

static inline struct run_message run_bandwidth_place(const struct bandwidth *b, unsigned qp,
						     uint64_t number, uint32_t generation)
{
	return (struct run_message){
		.qp = qp,
		.size = b->size,
		.offset = run_slot(&b->run, qp) + number % b->ring * b->step,
		.pattern = { .seed = b->run.p->seed, .generation = generation },
	};
}

/* The active end. Post for some seconds, and tell the other end how much; `*speed` (new reference) is
 * what came of it. */
int run_bandwidth_move_timed(struct bandwidth *b, json_t **speed, struct error *err);
/* One message to each place. */
int run_bandwidth_move_last(struct bandwidth *b, struct error *err);
