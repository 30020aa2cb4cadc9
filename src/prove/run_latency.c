/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Latency. Write: both ends write to each other in turn and look at the last byte in memory; where
 * a processor cannot read that memory, and for send, they wait for the completion of a receive.
 * Read: one end reads and waits for the completion.
 *
 *	active				passive
 *	begin {by_memory}	<->	begin {by_memory}
 *	(messages to and fro, for some seconds)
 *	stop {count, times}	->
 *
 * and outcome from the sink (run_share()), which looks at the bytes that the last message left.
 */
#include <errno.h>
#include <inttypes.h>
#include <sys/param.h>

#include "base/alloc.h"
#include "prove/run_check.h"
#include "prove/run_histogram.h"

/* Left out, but no more of them than go into a tenth of the time. */
#define WARM_UP 100u
#define SAMPLES_MAX 1000000u
#define RECEIVES 2u
#define GENERATION 2u

struct latency {
	struct run run;
	size_t size;
	bool by_memory;		/* arrival is seen in memory */
	struct run_message out, in;	/* what goes from here, what comes */
	const uint8_t *last;	/* last byte of `in`, and of `out`, if by memory */
	uint8_t *stamp;
	uint64_t arrived;	/* receives taken */
	uint64_t *ns;
	size_t n;
};

/* --- one message ------------------------------------------------------------------------------ */

static int on_receive(void *arg, unsigned qp, const struct ibv_wc *wc, struct error *err)
{
	struct latency *l = arg;
	const char *kind;
	_cleanup_free_ char *text =
		l->run.operation == RUN_WRITE ? run_take_immediate(&l->run, qp, wc, &kind) : NULL;

	/* the one that was waited for is not there: the two ends are no longer in step */
	if (text)
		return error_set(err, -EBADMSG, "%s: %s", kind, text);
	l->arrived++;
	return 0;
}

static int top_up(struct latency *l, struct error *err)
{
	int rc = 0;

	while (l->run.receives[0] < RECEIVES && !rc)
		rc = run_post_receive(&l->run, 0, l->in.offset, l->size, err);
	return rc;
}

/* Message `number`, from 1. */
static int move(struct latency *l, uint64_t number, struct error *err)
{
	struct endpoint_op op = run_speed_op(&l->run, 0, l->out.offset, l->size);

	if (l->by_memory)
		*l->stamp = (uint8_t)number;
	if (l->run.operation == RUN_WRITE && !l->by_memory) {
		op.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
		op.imm = run_next_immediate(&l->run, 0);
	}
	int rc = run_make_room(&l->run, 0, err);
	return rc < 0 ? rc : run_post(&l->run, &op, err);
}

static bool is_there(const struct latency *l, uint64_t number)
{
	if (!l->by_memory)
		return l->arrived >= number;
	return __atomic_load_n(l->last, __ATOMIC_ACQUIRE) == (uint8_t)number;
}

/* Look at memory alone for a while: a CQ takes longer to look at. */
static bool comes(const struct latency *l, uint64_t number)
{
	for (unsigned look = 0; look < l->run.spin; look++) {
		if (is_there(l, number))
			return true;
		if (!l->by_memory)
			break;
	}
	return false;
}

/* Wait for message `number`. 1: the other end has something to say instead. */
static int await(struct latency *l, uint64_t number, struct error *err)
{
	int limit_ms = run_limit_ms(&l->run, l->size);
	struct run_wait wait = run_wait_begin(l->run.spin, limit_ms);

	while (!comes(l, number)) {
		int n = run_poll(&l->run, err);

		if (n < 0)
			return n;
		if (n > 0 || !run_wait_idle(&wait) || is_there(l, number))
			continue;
		if (run_wire_ready(&l->run))
			return 1;
		if (run_wait_is_over(&wait))
			return error_set(err, -ETIMEDOUT,
					 "message %" PRIu64 " (%s) did not arrive within %d ms",
					 number, l->run.p->operation, limit_ms);
	}
	return l->by_memory ? 0 : top_up(l, err);
}

/* --- the two ends ----------------------------------------------------------------------------- */

static int round_trip(struct latency *l, uint64_t number, struct error *err)
{
	int rc = move(l, number, err);

	if (rc < 0)
		return rc;
	if (l->run.operation == RUN_READ)
		return run_drain(&l->run, l->size, err);
	rc = await(l, number, err);
	if (rc > 0) {
		rc = run_watch(&l->run, err);
		return rc < 0 ? rc : error_set(err, -EPROTO, "the other end stopped answering");
	}
	return rc;
}

static int measure(struct latency *l, uint64_t *count, struct error *err)
{
	uint64_t begun_ns = run_now_ns(), now = begun_ns,
		 for_ns = (uint64_t)(l->run.p->seconds * 1e9);

	l->ns = xcalloc(SAMPLES_MAX, sizeof(*l->ns));
	for (*count = 0; l->n < SAMPLES_MAX && (!l->n || now - begun_ns < for_ns); ++*count) {
		uint64_t before = now;
		int rc = round_trip(l, *count + 1, err);

		if (rc < 0)
			return rc;
		now = run_now_ns();
		if (*count >= WARM_UP || now - begun_ns > for_ns / 10)
			l->ns[l->n++] = now - before;
	}
	return run_drain(&l->run, l->size, err);
}

static json_t *times(struct latency *l)
{
	const struct endpoint_op op = run_speed_op(&l->run, 0, l->out.offset, l->size);
	bool read = l->run.operation == RUN_READ;

	/* as every tool of the field tells it */
	for (size_t i = 0; i < l->n && !read; i++)
		l->ns[i] /= 2;
	json_t *told = run_histogram(l->ns, l->n);
	json_put_string(told, "derivation",
			read ? "from the post of a READ to its completion"
			     : "half of the time from the post of a message to the arrival of its answer, at the end that measures");
	json_put_bool(told, "inline", endpoint_is_inline(l->run.end->endpoint, &op));
	return told;
}

static int run_active(struct latency *l, uint64_t *count, json_t **told, struct error *err)
{
	_cleanup_json_ json_t *message = json_object_new();

	int rc = measure(l, count, err);
	if (rc < 0)
		return rc;
	*told = times(l);
	json_put_int(message, "count", (int64_t)*count);
	json_put(message, "times", json_incref(*told));
	return run_tell(&l->run, "stop", message, err);
}

static int run_passive(struct latency *l, uint64_t *count, json_t **told, struct error *err)
{
	int limit_ms = run_limit_ms(&l->run, 0) + (int)(l->run.p->seconds * 1000);
	_cleanup_json_ json_t *message = NULL;
	/* it may stop late by the first round trip and by the last one */
	const uint64_t until_ns = run_now_ns() + 2 * (uint64_t)limit_ms * 1000000u;
	uint64_t answered = 0;
	int rc = 0;

	while (l->run.operation != RUN_READ && !rc) {
		rc = await(l, answered + 1, err);
		if (!rc)
			rc = move(l, ++answered, err);
		/* the answer is on its way: nobody waits for this look at the clock */
		if (!rc && run_now_ns() > until_ns)
			rc = error_set(err, -ETIMEDOUT,
				       "the other end did not stop within %d ms", 2 * limit_ms);
	}
	if (rc < 0)
		return rc;
	rc = run_hear(&l->run, "stop", &message, limit_ms, err);
	if (!rc)
		rc = run_number(count, message, "count", INT64_MAX, err);
	if (rc < 0)
		return rc;
	if (l->run.operation != RUN_READ && *count != answered)
		return error_set(err, -EPROTO, "%" PRIu64 " messages were answered, not %" PRIu64,
				 answered, *count);
	*told = json_incref(json_object_get(message, "times"));
	if (!json_is_object(*told))
		return error_set(err, -EPROTO, "no times were told");
	return run_drain(&l->run, l->size, err);
}

/* --- before and after ------------------------------------------------------------------------- */

/* What the active end sends, or reads, lies at the beginning of the slot in both memories; what comes
 * back lies in its second half. */
static void places(struct latency *l)
{
	size_t half = l->run.stride / 2;
	const struct run_message m = {
		.size = l->size,
		.pattern = { .seed = l->run.p->seed, .generation = GENERATION },
	};

	l->out = l->in = m;
	if (l->run.active)
		l->in.offset = half;
	else
		l->out.offset = half;
	if (l->run.operation == RUN_READ)
		l->in.offset = l->out.offset = 0;
}

static int agree_on_arrival(struct latency *l, struct error *err)
{
	uint8_t *in = memory_pointer(l->run.end->memory, l->in.offset),
		*out = memory_pointer(l->run.end->memory, l->out.offset);
	_cleanup_json_ json_t *mine = json_object_new(), *theirs = NULL;

	l->by_memory = l->run.operation == RUN_WRITE && in && out;
	if (l->by_memory) {
		l->last = in + l->size - 1;
		l->stamp = out + l->size - 1;
		in[l->size - 1] = 0;
	}
	json_put_bool(mine, "by_memory", l->by_memory);
	int rc = run_tell(&l->run, "begin", mine, err);
	if (!rc)
		rc = run_hear(&l->run, "begin", &theirs, run_limit_ms(&l->run, 4 * l->run.bytes),
			      err);
	if (rc < 0)
		return rc;
	l->by_memory = l->by_memory && json_get_bool(theirs, "by_memory", false);
	return 0;
}

static int prepare(struct latency *l, struct error *err)
{
	struct memory *memory = l->run.end->memory;
	bool both = l->run.operation != RUN_READ;
	int rc = 0;

	l->size = MIN(l->run.p->size_min, l->run.stride / 2);
	places(l);
	if (both || l->run.sink)
		rc = run_check_prepare(&l->run, err);
	if (!rc && (both || !l->run.sink))
		rc = memory_fill(memory, l->out.offset, l->size, l->out.offset, &l->out.pattern,
				 err);
	if (!rc && both)
		rc = top_up(l, err);
	return rc < 0 ? rc : agree_on_arrival(l, err);
}

/* The bytes that the last message left; the last one of them is its number, if by memory. */
static int look(struct latency *l, uint64_t count, json_t **fault, struct error *err)
{
	size_t end = l->in.offset + l->size, limit = l->in.offset + l->run.stride / 2;
	struct run_message m = l->in;
	int rc = 0;

	m.size -= l->by_memory;
	if (l->by_memory && *l->last != (uint8_t)count) {
		*fault = run_fault(&l->run, "stale", &l->in);
		json_put_string(*fault, "text", "the last byte is not that of the last message");
	}
	if (m.size)
		rc = run_check_bytes(&l->run, &m, fault, err);
	if (!rc)
		rc = run_check_untouched(&l->run, &l->in, end, limit - end, "behind the message",
					 fault, err);
	return rc < 0 ? rc : run_check_canaries(&l->run, &l->in, fault, err);
}

static json_t *result_of(const struct latency *l, uint64_t count, json_t *told, json_t *fault)
{
	json_t *result = json_object_new();
	uint64_t ways = l->run.operation == RUN_READ ? 1 : 2;

	json_put_bool(result, "verified", !fault);
	json_put_int(result, "size_bytes", (int64_t)l->size);
	json_put_u64(result, "messages", ways * count);
	json_put_u64(result, "bytes", ways * count * l->size);
	json_put_string(result, "arrival",
			l->by_memory ? "seen in memory by the processor" : "a completion");
	json_put(result, "fault", json_incref(fault));
	/* they may be the other end's words: they replace nothing */
	json_object_update_missing(result, told);
	return result;
}

static int latency(struct latency *l, json_t **result, struct error *err)
{
	_cleanup_json_ json_t *told = NULL, *fault = NULL;
	uint64_t count = 0;

	int rc = prepare(l, err);
	run_timed(&l->run, false);
	if (!rc)
		rc = l->run.active ? run_active(l, &count, &told, err)
				   : run_passive(l, &count, &told, err);
	run_timed(&l->run, true);
	if (!rc && l->run.sink)
		rc = look(l, count, &fault, err);
	if (rc < 0)
		return rc;
	if (l->run.sink)
		*result = result_of(l, count, told, fault);
	rc = run_share(&l->run, result, err);
	if (!rc && json_get_bool(*result, "verified", false))
		rc = run_use_up_receives(&l->run, err);
	return rc;
}

int run_latency(json_t **result, struct run_end *end, const struct run_parameters *p,
		struct error *err)
{
	struct latency l = {0};

	*result = NULL;
	int rc = run_begin(&l.run, "latency", end, p, RUN_LAYOUT_RING, err);
	l.run.on_receive = on_receive;
	l.run.arg = &l;
	if (!rc)
		rc = latency(&l, result, err);
	free(l.ns);
	if (rc < 0) {
		json_decref(*result);
		*result = NULL;
	}
	return rc;
}
