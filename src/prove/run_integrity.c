/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Integrity: rounds of one message on each of several QPs, each message with its own generation.
 *
 *	sink				source
 *	(area untouched, poisoned)
 *	armed {stop}		->
 *					(fills)
 *					(write, send: posts, drains)
 *				<-	moved
 *	(read: posts, drains)
 *	(looks at every byte)
 *
 * and at the end, or at the first fault, outcome (run_share()).
 *
 * When has a WRITE arrived? Its completion tells the sender that the other adapter has taken it, not
 * that it is in memory; a message over the control channel comes by another adapter, which nothing
 * orders after the first. What may be relied on is a completion at the receiver: of a WRITE with
 * immediate, or of a SEND, that follows on the same QP (InfiniBand Architecture Specification,
 * volume 1, o9-20). So
 * each WRITE is followed on its QP by an empty WRITE with immediate, and the receiver waits for
 * that. It is the plain WRITE, as storage uses it, that carries the bytes.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/param.h>

#include "base/alloc.h"
#include "prove/run_check.h"
#include "prove/run_sizes.h"

#define ITERATIONS 2u
/* Of one that stands ahead a second message would make use: so a duplicate is seen. */
#define RECEIVES 2u

struct integrity {
	struct run run;
	struct run_round round;
	json_t *fault;
	uint64_t messages, bytes;
	uint64_t missing;
	unsigned arrived[ENDPOINT_QPS_MAX];
};

static bool in_round(const struct integrity *t, unsigned qp)
{
	return qp >= t->round.first && qp < t->round.first + t->round.count;
}

static uint64_t round_bytes(const struct integrity *t)
{
	return (uint64_t)t->round.size * t->round.count;
}

/* --- source ----------------------------------------------------------------------------------- */

static int fill(struct integrity *t, struct error *err)
{
	int rc = 0;

	for (unsigned i = 0; i < t->round.count && !rc; i++) {
		struct run_message m = run_round_message(&t->run, &t->round, i);

		rc = memory_fill(t->run.end->memory, m.offset, m.size, m.offset, &m.pattern, err);
	}
	return rc;
}

static int move(struct integrity *t, struct error *err)
{
	bool fence = t->run.operation == RUN_WRITE;
	int rc = 0;

	for (unsigned i = 0; i < t->round.count && !rc; i++) {
		struct run_message m = run_round_message(&t->run, &t->round, i);

		struct endpoint_op op = run_op(&t->run, m.qp, m.offset, m.size);
		op.more = fence;
		rc = run_post(&t->run, &op, err);
		if (!rc && fence)
			rc = run_post_fence(&t->run, m.qp, err);
	}
	return rc < 0 ? rc : run_drain(&t->run, round_bytes(t), err);
}

/* 1: the sink wants no more. */
static int source_round(struct integrity *t, struct error *err)
{
	_cleanup_json_ json_t *armed = NULL;

	int rc = run_hear(&t->run, "armed", &armed,
			  run_limit_ms(&t->run, 4 * (round_bytes(t) + t->run.bytes)), err);
	if (rc < 0)
		return rc;
	if (json_get_bool(armed, "stop", true))
		return 1;
	rc = fill(t, err);
	if (!rc && t->run.active)
		rc = move(t, err);
	return rc < 0 ? rc : run_say(&t->run, "moved", err);
}

/* --- sink ------------------------------------------------------------------------------------- */

static int top_up(struct integrity *t, struct error *err)
{
	struct run *run = &t->run;
	int rc = 0;

	for (unsigned q = t->round.first; q < t->round.first + t->round.count && !rc; q++) {
		while (run->receives[q] < RECEIVES && !rc)
			rc = run_post_receive(run, q, run_slot(run, q), run->stride, err);
	}
	return rc;
}

/* What is wrong with a completion of a receive, and of which kind that is; NULL: nothing. */
static char *completion_fault(struct integrity *t, const struct run_message *m,
			      const struct ibv_wc *wc, const char **kind)
{
	if (t->run.operation == RUN_WRITE)
		return run_take_immediate(&t->run, m->qp, wc, kind);
	*kind = "completion";
	if (wc->opcode != IBV_WC_RECV)
		return xasprintf("the completion of the receive has opcode %d, not %d", wc->opcode,
				 IBV_WC_RECV);
	if (wc->byte_len != m->size)
		return xasprintf("the completion of the receive tells %u bytes, not %zu",
				 wc->byte_len, m->size);
	return NULL;
}

/* A receive of the round, or one too many. */
static int on_receive(void *arg, unsigned qp, const struct ibv_wc *wc, struct error *err RH_UNUSED)
{
	struct integrity *t = arg;
	struct run_message m = { .qp = qp, .size = t->round.size };
	const char *kind;

	if (in_round(t, qp))
		m = run_round_message(&t->run, &t->round, qp - t->round.first);
	_cleanup_free_ char *text = completion_fault(t, &m, wc, &kind);
	if (!text && (!in_round(t, qp) || t->arrived[qp])) {
		kind = "duplicate";
		text = xstrdup("one more message arrived than was sent");
	}
	if (in_round(t, qp) && !t->arrived[qp] && (!text || strcmp(kind, "duplicate"))) {
		t->arrived[qp]++;
		t->missing--;
	}
	if (text && !t->fault) {
		t->fault = run_fault(&t->run, kind, &m);
		json_put_string(t->fault, "text", text);
	}
	return 0;
}

static int arrive(struct integrity *t, struct error *err)
{
	struct run *run = &t->run;
	int limit_ms = run_limit_ms(run, 4 * round_bytes(t)), rc = 0;

	if (!run->active)
		rc = run_await(run, &t->missing, limit_ms, true, err);
	if (!rc)
		rc = run_hear(run, "moved", NULL, limit_ms, err);
	if (rc < 0)
		return rc;
	return run->active ? move(t, err)
			   : run_await(run, &t->missing, limit_ms, false, err);
}

static int sink_round(struct integrity *t, struct error *err)
{
	_cleanup_json_ json_t *armed = json_object_new();
	struct run *run = &t->run;
	int rc = 0;

	for (unsigned i = 0; i < t->round.count && !rc && !t->fault; i++)
		rc = run_check_arm(run, &t->round, i, &t->fault, err);
	if (rc < 0)
		return rc;
	memset(t->arrived, 0, sizeof(t->arrived));
	t->missing = run->active ? 0 : t->round.count;
	if (!t->fault && !run->active)
		rc = top_up(t, err);
	json_put_bool(armed, "stop", t->fault);
	if (!rc)
		rc = run_tell(run, "armed", armed, err);
	if (rc < 0 || t->fault)
		return rc < 0 ? rc : 1;
	rc = arrive(t, err);
	for (unsigned i = 0; i < t->round.count && !rc && !t->fault; i++)
		rc = run_check_message(run, &t->round, i, &t->fault, err);
	/* a duplicate may have come while the bytes were looked at */
	if (!rc && !run->active && !t->fault)
		rc = run_await(run, &t->missing, run_limit_ms(run, 0), false, err);
	return rc;
}

/* --- both ------------------------------------------------------------------------------------- */

static int rounds_of_size(struct integrity *t, size_t size, unsigned iterations, struct error *err)
{
	struct run_round *r = &t->round;
	int rc = 0;

	r->size = size;
	for (r->iteration = 0; r->iteration < iterations && !rc; r->iteration++) {
		for (r->first = 0; r->first < t->run.qps && !rc; r->first += t->run.slots) {
			r->count = MIN(t->run.slots, t->run.qps - r->first);
			rc = t->run.sink ? sink_round(t, err) : source_round(t, err);
			if (!rc) {
				t->messages += r->count;
				t->bytes += round_bytes(t);
			}
			r->number += r->count;
		}
	}
	return rc;
}

static json_t *result_of(struct integrity *t, const struct run_sizes *sizes, unsigned iterations)
{
	json_t *result = json_object_new(), *list;

	json_put_bool(result, "verified", !t->fault);
	json_put_u64(result, "messages", t->messages);
	json_put_u64(result, "bytes", t->bytes);
	json_put_int(result, "qps", t->run.qps);
	json_put_int(result, "iterations", iterations);
	list = json_arr(result, "sizes_bytes");
	for (size_t i = 0; i < sizes->n; i++)
		json_append(list, json_integer_new((int64_t)sizes->size[i]));
	json_put_string(result, "arrival",
			t->run.operation == RUN_WRITE ? "receive completion of a WRITE with immediate "
							"that follows on the same queue pair" :
			t->run.operation == RUN_READ  ? "completion of the READ"
						      : "completion of the receive");
	json_put(result, "fault", json_incref(t->fault));
	return result;
}

static int integrity(struct integrity *t, json_t **result, struct error *err)
{
	_cleanup_run_sizes_ struct run_sizes sizes = {0};
	const struct run_parameters *p = t->run.p;
	unsigned iterations = p->iterations ? p->iterations : ITERATIONS;
	int rc = 0;

	run_sizes_make(&sizes, p->size_min, p->size_max,
		       endpoint_mtu_bytes(t->run.end->endpoint));
	if (t->run.sink)
		rc = run_check_prepare(&t->run, err);
	for (size_t i = 0; i < sizes.n && !rc; i++)
		rc = rounds_of_size(t, sizes.size[i], iterations, err);
	if (!rc && t->run.sink)
		rc = run_check_untouched(&t->run, NULL, 0, memory_length(t->run.end->memory),
					 "in which no message was expected", &t->fault, err);
	if (!rc && t->run.sink)
		rc = run_check_canaries(&t->run, NULL, &t->fault, err);
	if (rc < 0)
		return rc;
	if (t->run.sink)
		*result = result_of(t, &sizes, iterations);
	rc = run_share(&t->run, result, err);
	if (!rc && json_get_bool(*result, "verified", false))
		rc = run_use_up_receives(&t->run, err);
	return rc;
}

int run_integrity(json_t **result, struct run_end *end, const struct run_parameters *p,
		  struct error *err)
{
	struct integrity t = {0};

	*result = NULL;
	int rc = run_begin(&t.run, "integrity", end, p, RUN_LAYOUT_MESSAGE, err);
	t.run.on_receive = on_receive;
	t.run.arg = &t;
	if (!rc)
		rc = integrity(&t, result, err);
	json_decref(t.fault);
	if (rc < 0) {
		json_decref(*result);
		*result = NULL;
	}
	return rc;
}
