/* SPDX-License-Identifier: Apache-2.0 */
/* What the runs share: agreeing with the other end, places in memory, posting, waiting, faults. */
#pragma once

#include "prove/run.h"
#include "prove/run_wait.h"

enum run_operation {
	RUN_WRITE,
	RUN_READ,
	RUN_SEND,
};

struct run;
/* Called for each receive of `qp`; negative: stop. */
typedef int run_on_receive(void *arg, unsigned qp, const struct ibv_wc *wc, struct error *err);

struct run {
	const struct run_end *end;
	const struct run_parameters *p;
	enum run_operation operation;
	bool active;	/* this end posts the operations */
	bool sink;	/* data arrive here */
	unsigned qps, depth;
	unsigned spin;		/* run_wait.h */
	/*
	 * Slots: the parts of the memory in which messages lie, the same on both ends. QP q uses slot
	 * q % slots; there are fewer slots than QPs where the memory is small.
	 */
	size_t stride;
	unsigned slots;
	struct {
		uint64_t address;
		uint32_t rkey;
	} remote[ENDPOINT_QPS_MAX];
	size_t bytes;	/* of the memory, usable at both ends */
	/* sends of each QP: done before this run, and posted by it */
	uint64_t done_before[ENDPOINT_QPS_MAX], posted[ENDPOINT_QPS_MAX];
	unsigned receives[ENDPOINT_QPS_MAX];	/* that stand in the receive queue */
	/* WRITEs with immediate of each QP: posted by this run, and come; the last one's number */
	uint16_t fences_out[ENDPOINT_QPS_MAX], fences_in[ENDPOINT_QPS_MAX];
	run_on_receive *on_receive;	/* whenever completions are taken; may be NULL */
	void *arg;
};

enum run_layout {
	RUN_LAYOUT_MESSAGE,	/* a slot holds one message of size_max */
	RUN_LAYOUT_RING,	/* slots as large as the memory allows */
};

/* Agree on a run called `name` and exchange places. */
int run_begin(struct run *run, const char *name, const struct run_end *end,
	      const struct run_parameters *p, enum run_layout layout, struct error *err);

static inline size_t run_slot(const struct run *run, unsigned qp)
{
	return qp % run->slots * run->stride;
}

static inline void run_timed(const struct run *run, bool over)
{
	if (run->end->timed)
		run->end->timed(run->end->timed_arg, over);
}

/* Milliseconds that a step in which `bytes` move may take. */
int run_limit_ms(const struct run *run, uint64_t bytes);
uint64_t run_now_ns(void);

/* --- the other end --- */

int run_tell(const struct run *run, const char *type, json_t *message, struct error *err);
/* Only that. */
int run_say(const struct run *run, const char *type, struct error *err);
/* NULL `message`: only that it came. */
int run_hear(const struct run *run, const char *type, json_t **message, int limit_ms,
	     struct error *err);
/* Is there anything of the other end to be read (a message, or that it is gone)? */
bool run_wire_ready(const struct run *run);
/* While nothing is expected of it: what it says, or its going away, as an error. */
int run_watch(const struct run *run, struct error *err);

/* The sink tells the outcome, the other takes it over. "verified" in it is true, false or null. */
int run_share(const struct run *run, json_t **result, struct error *err);
/* A number of 0 to `max` in a message. -EPROTO. */
int run_number(uint64_t *value, json_t *message, const char *key, uint64_t max, struct error *err);

/* --- data path --- */

/* One message of the run's operation, at the same offset of both memories. */
struct endpoint_op run_op(const struct run *run, unsigned qp, size_t offset, size_t len);
/* The same for where speed counts: few bytes may go within the work request. A proof of bytes is
 * one of the adapter's reading them from memory. */
struct endpoint_op run_speed_op(const struct run *run, unsigned qp, size_t offset, size_t len);
int run_post(struct run *run, const struct endpoint_op *op, struct error *err);
/* Immediate value of the next WRITE with immediate of a QP: the run's number, and its own within the
 * run, from 1. So one that comes twice, or not at all, is told by what it is. */
uint32_t run_next_immediate(struct run *run, unsigned qp);
/* What is wrong with the completion of a receive that a WRITE with immediate was expected to take;
 * NULL: nothing. `*kind`: of the fault, "duplicate" when it came before. The caller frees. */
char *run_take_immediate(struct run *run, unsigned qp, const struct ibv_wc *wc, const char **kind);
/* What tells the receiver that all writes before it on this QP are in its memory (see
 * run_integrity.c): an empty WRITE with immediate. */
int run_post_fence(struct run *run, unsigned qp, struct error *err);
int run_post_receive(struct run *run, unsigned qp, size_t offset, size_t len, struct error *err);
uint64_t run_in_flight(const struct run *run, unsigned qp);
/* Until the queue of `qp` has room for one, or until all that was posted is done. The last of each
 * queue has to be one with a completion. The other end is watched. */
int run_make_room(struct run *run, unsigned qp, struct error *err);
int run_drain(struct run *run, uint64_t bytes, struct error *err);

/* Take completions once: receives go to on_receive(). Returns their number. */
int run_poll(struct run *run, struct error *err);
/* Take receives until `*missing` is 0. `listening`: or until the other end says something (0). */
int run_await(struct run *run, const uint64_t *missing, int limit_ms, bool listening,
	      struct error *err);
/* Both ends: use up the receives that stand, so that the next run begins with none. */
int run_use_up_receives(struct run *run, struct error *err);

/* --- what was wrong --- */

struct run_message {
	unsigned qp;
	size_t size, offset;	/* in both memories, and of the stream of the pattern */
	struct pattern pattern;
};

/* {"kind", "operation", and of the message size, QP, generation}. NULL: no message is known. */
json_t *run_fault(const struct run *run, const char *kind, const struct run_message *m);
/* {"offset", "memory_offset", "bytes", "text", …}: where it is in the message and in the memory. */
void run_fault_pattern(json_t *fault, const struct run_message *m,
		       const struct pattern_fault *seen);
