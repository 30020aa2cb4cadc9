/* SPDX-License-Identifier: Apache-2.0 */
/* The data path of the runs: posting by slots, and waiting that sees the other end go away. */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>

#include "base/alloc.h"
#include "prove/run_common.h"

#define WC_BATCH 16
/* Looks at a CQ that each found something, before one of them counts as one that did not. */
#define BUSY_LOOKS 1024u

static const enum ibv_wr_opcode opcodes[] = {
	[RUN_WRITE] = IBV_WR_RDMA_WRITE,
	[RUN_READ] = IBV_WR_RDMA_READ,
	[RUN_SEND] = IBV_WR_SEND,
};

struct endpoint_op run_op(const struct run *run, unsigned qp, size_t offset, size_t len)
{
	struct memory_place local = memory_at(run->end->memory, offset);
	size_t slot = offset / run->stride;

	return (struct endpoint_op){
		.opcode = opcodes[run->operation],
		.qp = qp,
		.local = local.address,
		.lkey = local.lkey,
		.length = (uint32_t)len,
		.remote = run->remote[slot].address + offset % run->stride,
		.rkey = run->remote[slot].rkey,
	};
}

struct endpoint_op run_speed_op(const struct run *run, unsigned qp, size_t offset, size_t len)
{
	struct endpoint_op op = run_op(run, qp, offset, len);

	op.bytes = memory_pointer(run->end->memory, offset);
	return op;
}

int run_post(struct run *run, const struct endpoint_op *op, struct error *err)
{
	int rc = endpoint_post(run->end->endpoint, op, err);

	if (!rc)
		run->posted[op->qp]++;
	return rc;
}

uint32_t run_next_immediate(struct run *run, unsigned qp)
{
	return (uint32_t)run->end->number << 16 | ++run->fences_out[qp];
}

char *run_take_immediate(struct run *run, unsigned qp, const struct ibv_wc *wc, const char **kind)
{
	const uint32_t immediate = ntohl(wc->imm_data);
	const uint16_t of_run = (uint16_t)(immediate >> 16), number = (uint16_t)immediate,
		       next = (uint16_t)(run->fences_in[qp] + 1);
	const int16_t ahead = (int16_t)(number - next);

	*kind = "completion";
	if (wc->opcode != IBV_WC_RECV_RDMA_WITH_IMM)
		return xasprintf("the completion of the receive has opcode %d, not %d", wc->opcode,
				 IBV_WC_RECV_RDMA_WITH_IMM);
	if (of_run > run->end->number)
		return xasprintf("immediate data 0x%08x were never sent", immediate);
	if (of_run == run->end->number && ahead >= 0) {
		run->fences_in[qp] = number;
		return ahead ? xasprintf("WRITE with immediate %u of the queue pair came, and not "
					 "%u: a message is lost", number, next) :
			       NULL;
	}
	*kind = "duplicate";
	return xasprintf("WRITE with immediate %u of the queue pair, sent once%s, came a second "
			 "time: a message was delivered twice", number,
			 of_run == run->end->number ? "" : " in a run before");
}

int run_post_fence(struct run *run, unsigned qp, struct error *err)
{
	struct endpoint_op op = run_op(run, qp, run_slot(run, qp), 0);

	op.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
	op.imm = run_next_immediate(run, qp);
	return run_post(run, &op, err);
}

int run_post_receive(struct run *run, unsigned qp, size_t offset, size_t len, struct error *err)
{
	struct memory_place place = memory_at(run->end->memory, offset);
	int rc = endpoint_post_receive(run->end->endpoint, qp, place.address, (uint32_t)len,
				       place.lkey, qp, err);

	if (!rc)
		run->receives[qp]++;
	return rc;
}

uint64_t run_in_flight(const struct run *run, unsigned qp)
{
	return run->posted[qp] -
	       (endpoint_completed(run->end->endpoint, qp) - run->done_before[qp]);
}

static uint64_t all_in_flight(const struct run *run)
{
	uint64_t n = 0;

	for (unsigned q = 0; q < run->qps; q++)
		n += run_in_flight(run, q);
	return n;
}

static int take_receive(struct run *run, const struct ibv_wc *wc, struct error *err)
{
	unsigned qp = (unsigned)wc->wr_id;

	if (wc->wr_id >= run->qps || !run->receives[qp])
		return error_set(err, -EPROTO,
				 "a completion of a receive that was never posted (id %" PRIu64 ")",
				 (uint64_t)wc->wr_id);
	run->receives[qp]--;
	return run->on_receive ? run->on_receive(run->arg, qp, wc, err) : 0;
}

int run_poll(struct run *run, struct error *err)
{
	struct ibv_wc wc[WC_BATCH];
	int n = endpoint_poll(run->end->endpoint, wc, WC_BATCH, err);

	for (int i = 0; i < n; i++) {
		int rc = wc[i].opcode & IBV_WC_RECV ? take_receive(run, &wc[i], err) : 0;

		if (rc < 0)
			return rc;
	}
	return n;
}

/* For sends to be done. */
static int reap(struct run *run, struct run_wait *wait, struct error *err)
{
	int n = run_poll(run, err);

	if (n || !run_wait_idle(wait))
		return n < 0 ? n : 0;
	int rc = run_watch(run, err);
	if (!rc && run_wait_is_over(wait))
		rc = error_set(err, -ETIMEDOUT,
			       "%" PRIu64 " operations (%s) without a completion after %" PRIu64
			       " ms",
			       all_in_flight(run), run->p->operation, wait->limit_ns / 1000000);
	return rc;
}

int run_make_room(struct run *run, unsigned qp, struct error *err)
{
	struct run_wait wait = run_wait_begin(run->spin, run_limit_ms(run, 0));
	int rc = 0;

	while (!rc && run_in_flight(run, qp) >= run->depth)
		rc = reap(run, &wait, err);
	return rc;
}

int run_drain(struct run *run, uint64_t bytes, struct error *err)
{
	struct run_wait wait = run_wait_begin(run->spin, run_limit_ms(run, bytes));
	int rc = 0;

	while (!rc && all_in_flight(run))
		rc = reap(run, &wait, err);
	return rc;
}

int run_await(struct run *run, const uint64_t *missing, int limit_ms, bool listening,
	      struct error *err)
{
	struct run_wait wait = run_wait_begin(run->spin, limit_ms);
	unsigned busy = 0;

	for (;;) {
		int n = run_poll(run, err);

		if (n < 0 || (!n && !*missing))
			return n;
		/* who sends without a pause has a limit too */
		if ((n > 0 && ++busy % BUSY_LOOKS) || !run_wait_idle(&wait))
			continue;
		if (listening && run_wire_ready(run))
			return 0;
		if (run_wait_is_over(&wait))
			return error_set(err, -ETIMEDOUT,
					 "%" PRIu64 " messages (%s) did not arrive within %d ms",
					 *missing, run->p->operation, limit_ms);
	}
}

struct use_up {
	struct run *run;
	uint64_t missing;
};

static int count_down(void *arg, unsigned qp, const struct ibv_wc *wc, struct error *err)
{
	struct use_up *u = arg;
	const char *kind;
	_cleanup_free_ char *text = run_take_immediate(u->run, qp, wc, &kind);

	if (text)
		return error_set(err, -EBADMSG, "%s, after the messages: %s", kind, text);
	u->missing--;
	return 0;
}

static int use_up_theirs(struct run *run, json_t *left, struct error *err)
{
	int rc = 0;

	for (unsigned q = 0; q < run->qps; q++) {
		json_t *number = json_array_get(left, q);
		json_int_t n = json_integer_value(number);

		if (!json_is_integer(number) || n < 0 || n > UINT16_MAX)
			return error_set(err, -EPROTO, "receives left of QP %u: malformed", q);
		for (; n && !rc; n--) {
			rc = run_make_room(run, q, err);
			if (!rc)
				rc = run_post_fence(run, q, err);
		}
		if (rc < 0)
			return rc;
	}
	return run_drain(run, 0, err);
}

/* One end sends, the other takes. */
static int use_up_one_way(struct run *run, bool sender, json_t *theirs, uint64_t *missing,
			  struct error *err)
{
	int limit_ms = run_limit_ms(run, 0), rc;

	if (sender) {
		rc = use_up_theirs(run, json_object_get(theirs, "receives"), err);
		return rc < 0 ? rc : run_say(run, "used", err);
	}
	rc = run_await(run, missing, limit_ms, true, err);
	if (!rc)
		rc = run_hear(run, "used", NULL, limit_ms, err);
	return rc < 0 ? rc : run_await(run, missing, limit_ms, false, err);
}

int run_use_up_receives(struct run *run, struct error *err)
{
	_cleanup_json_ json_t *mine = json_object_new(), *theirs = NULL;
	json_t *left = json_arr(mine, "receives");
	struct use_up u = { .run = run };

	for (unsigned q = 0; q < run->qps; q++) {
		json_append(left, json_integer_new(run->receives[q]));
		u.missing += run->receives[q];
	}
	run->on_receive = count_down;
	run->arg = &u;
	int rc = run_tell(run, "left", mine, err);
	if (!rc)
		rc = run_hear(run, "left", &theirs, run_limit_ms(run, 0), err);
	if (!rc)
		rc = use_up_one_way(run, run->active, theirs, &u.missing, err);
	return rc < 0 ? rc : use_up_one_way(run, !run->active, theirs, &u.missing, err);
}
