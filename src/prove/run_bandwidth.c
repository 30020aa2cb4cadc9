/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bandwidth: every QP is kept full for some seconds. The messages of a QP go round a ring of places
 * in its slot, each place with its own bytes. Then the final state is looked at, twice: what the
 * timed part left, of one generation, and after it one message to each place of another one, so
 * that a last message that is lost is seen too.
 *
 *	active				passive
 *	ready			<->	ready
 *	(posts for some seconds)
 *	timed {messages, speed}	->
 *	(one sees the bytes of the first generation, and says looked;
 *	the other makes those of the last one, and says filled)
 *	(one message to each place)
 *	last			->			(but of reads)
 *
 * and outcome from the sink (run_share()).
 */
#include <errno.h>
#include <sys/param.h>

#include "base/alloc.h"
#include "prove/run_bandwidth.h"
#include "prove/run_check.h"

#define LINE 64u	/* places begin on cache lines */
/* Of the ring of a QP: several places, and no more memory than a speed needs. Addresses all over the
 * memory are for the integrity runs. */
#define RING_BYTES ((size_t)4 << 20)
#define GENERATION_TIMED 2u
#define GENERATION_LAST 4u

static uint64_t ring_bytes(const struct bandwidth *b)
{
	return (uint64_t)b->run.slots * b->ring * b->size;
}

static int fill(struct bandwidth *b, uint32_t generation, struct error *err)
{
	int rc = 0;

	for (unsigned slot = 0; slot < b->run.slots; slot++) {
		for (unsigned i = 0; i < b->ring && !rc; i++) {
			struct run_message m = run_bandwidth_place(b, slot, i, generation);

			rc = memory_fill(b->run.end->memory, m.offset, m.size, m.offset,
					 &m.pattern, err);
		}
	}
	return rc;
}

/* Both say it and both hear it. */
static int meet(const struct run *run, const char *type, uint64_t bytes, struct error *err)
{
	int rc = run_say(run, type, err);

	return rc < 0 ? rc : run_hear(run, type, NULL, run_limit_ms(run, 4 * bytes), err);
}

/* One end says it, the other hears it. */
static int say(const struct run *run, bool mine, const char *type, uint64_t bytes,
	       struct error *err)
{
	return mine ? run_say(run, type, err)
		    : run_hear(run, type, NULL, run_limit_ms(run, 4 * bytes), err);
}

/* --- the passive end -------------------------------------------------------------------------- */

static int offer(struct bandwidth *b, unsigned qp, struct error *err)
{
	struct run_message m = run_bandwidth_place(b, qp, b->offered[qp]++, 0);

	return run_post_receive(&b->run, qp, m.offset, m.size, err);
}

/* Receives of messages, or of what tells that writes are there. */
static int offer_all(struct bandwidth *b, struct error *err)
{
	unsigned each = b->run.operation == RUN_READ ? 0 : b->run.depth;
	int rc = 0;

	for (unsigned q = 0; q < b->run.qps; q++)
		for (unsigned i = 0; i < each && !rc; i++)
			rc = offer(b, q, err);
	return rc;
}

static void note_fault(struct bandwidth *b, unsigned qp, const char *kind, const char *text)
{
	struct run_message m = run_bandwidth_place(b, qp, b->arrived[qp], 0);

	if (b->fault)
		return;
	b->fault = run_fault(&b->run, kind, &m);
	json_put_string(b->fault, "text", text);
}

/* Of those that tell that writes are there. One that came before is told, and not counted again. */
static void take_fence(struct bandwidth *b, unsigned qp, const struct ibv_wc *wc)
{
	const char *kind;
	_cleanup_free_ char *text = run_take_immediate(&b->run, qp, wc, &kind);

	b->arrived[qp] = b->run.fences_in[qp];
	if (text)
		note_fault(b, qp, kind, text);
}

static int on_receive(void *arg, unsigned qp, const struct ibv_wc *wc, struct error *err)
{
	struct bandwidth *b = arg;
	const uint64_t before = b->arrived[qp];

	if (b->run.operation == RUN_SEND && wc->byte_len != b->size)
		return error_set(err, -EPROTO, "a message of %u bytes arrived, not %zu",
				 wc->byte_len, b->size);
	if (b->run.operation == RUN_SEND)
		b->arrived[qp]++;
	else
		take_fence(b, qp, wc);
	b->missing -= MIN(b->missing, b->arrived[qp] - before);
	return offer(b, qp, err);
}

/*
 * Take what comes until all that `b->sent` says is there, and in memory: the messages themselves, or
 * for writes `fences` of each QP. `listening`: or until the other end has something to say.
 */
static int await(struct bandwidth *b, uint64_t fences, bool listening, struct error *err)
{
	uint64_t expected[ENDPOINT_QPS_MAX], bytes = 0;

	b->missing = 0;
	for (unsigned q = 0; q < b->run.qps; q++) {
		expected[q] = b->run.operation == RUN_SEND ? b->sent[q] : fences;
		if (expected[q] > b->arrived[q])
			b->missing += expected[q] - b->arrived[q];
		bytes += b->run.depth * b->size;
	}
	int rc = run_await(&b->run, &b->missing, run_limit_ms(&b->run, bytes), listening, err);
	for (unsigned q = 0; q < b->run.qps && !rc && !b->missing; q++)
		if (b->arrived[q] > expected[q])
			note_fault(b, q, "duplicate", "more messages arrived than were sent");
	return rc;
}

/* Until the active end has said that its time is over. */
static int serve(struct bandwidth *b, json_t **speed, struct error *err)
{
	const uint64_t endless = 1;
	int limit_ms = run_limit_ms(&b->run, b->run.qps * b->run.depth * b->size) +
		       (int)(b->run.p->seconds * 1000);
	_cleanup_json_ json_t *message = NULL;
	int rc = 0;

	if (b->run.operation == RUN_SEND)
		rc = run_await(&b->run, &endless, limit_ms, true, err);
	if (!rc)
		rc = run_hear(&b->run, "timed", &message, limit_ms, err);
	for (unsigned q = 0; q < b->run.qps && !rc; q++) {
		json_t *n = json_array_get(json_object_get(message, "messages"), q);

		if (!json_is_integer(n) || json_integer_value(n) < 0)
			return error_set(err, -EPROTO, "messages of QP %u: malformed", q);
		b->sent[q] = (uint64_t)json_integer_value(n);
	}
	if (rc < 0)
		return rc;
	*speed = json_incref(json_object_get(message, "speed"));
	return json_is_object(*speed) ? 0 : error_set(err, -EPROTO, "no speed was told");
}

/* --- the sink --------------------------------------------------------------------------------- */

/* Places that messages of any QP of the slot have reached; the first ones of the ring. */
static unsigned reached(const struct bandwidth *b, unsigned slot)
{
	uint64_t most = 0;

	for (unsigned q = slot; q < b->run.qps; q += b->run.slots)
		most = MAX(most, b->sent[q]);
	return (unsigned)MIN(most, (uint64_t)b->ring);
}

/* Bytes of every place, poison where none is. */
static int look_at_slot(struct bandwidth *b, unsigned slot, uint32_t generation, struct error *err)
{
	unsigned n = reached(b, slot);
	size_t end = slot * b->run.stride;
	int rc = 0;

	for (unsigned i = 0; i < n && !rc; i++) {
		struct run_message m = run_bandwidth_place(b, slot, i, generation);

		rc = run_check_bytes(&b->run, &m, &b->fault, err);
		end = m.offset + m.size;
		if (!rc && i + 1 < n)
			rc = run_check_untouched(&b->run, &m, end, b->step - b->size,
						 "between two messages", &b->fault, err);
	}
	return rc < 0 ? rc
		      : run_check_untouched(&b->run, NULL, end,
					    (slot + 1) * b->run.stride - end,
					    "behind the messages", &b->fault, err);
}

static int look(struct bandwidth *b, uint32_t generation, struct error *err)
{
	size_t used = b->run.slots * b->run.stride;
	int rc = 0;

	for (unsigned slot = 0; slot < b->run.slots && !rc; slot++)
		rc = look_at_slot(b, slot, generation, err);
	if (!rc)
		rc = run_check_untouched(&b->run, NULL, used,
					 memory_length(b->run.end->memory) - used,
					 "in which no message was expected", &b->fault, err);
	return rc < 0 ? rc : run_check_canaries(&b->run, NULL, &b->fault, err);
}

/* --- both ------------------------------------------------------------------------------------- */

static int prepare(struct bandwidth *b, struct error *err)
{
	struct run *run = &b->run;
	int rc;

	b->size = run->p->size_max;
	b->step = MIN((b->size + LINE - 1) / LINE * LINE, run->stride);
	/* the next round of the ring waits for the last one to be on its way, where they are small */
	b->ring = (unsigned)MIN(run->stride / b->step,
				MIN((size_t)2 * run->depth, MAX((size_t)2, RING_BYTES / b->step)));
	rc = run->sink ? run_check_prepare(run, err) : fill(b, GENERATION_TIMED, err);
	if (!rc && !run->active)
		rc = offer_all(b, err);
	return rc < 0 ? rc : meet(run, "ready", run->bytes, err);
}

static int first_part(struct bandwidth *b, json_t **speed, struct error *err)
{
	int rc;

	run_timed(&b->run, false);
	if (b->run.active) {
		rc = run_bandwidth_move_timed(b, speed, err);
	} else {
		rc = serve(b, speed, err);
		if (!rc && b->run.sink)
			rc = await(b, 1, false, err);
	}
	run_timed(&b->run, true);
	if (!rc && b->run.sink)
		rc = look(b, GENERATION_TIMED, err);
	return rc < 0 ? rc : say(&b->run, b->run.sink, "looked", b->run.bytes, err);
}

static int last_part(struct bandwidth *b, struct error *err)
{
	struct run *run = &b->run;
	int rc = run->sink ? 0 : fill(b, GENERATION_LAST, err);

	if (!rc)
		rc = say(run, !run->sink, "filled", ring_bytes(b), err);
	if (!rc && run->active)
		rc = run_bandwidth_move_last(b, err);
	if (rc < 0)
		return rc;
	if (!run->active && run->sink) {
		for (unsigned q = 0; q < run->qps; q++)
			b->sent[q] += b->ring + (run->operation == RUN_SEND);
		rc = await(b, 2, true, err);
	}
	if (!rc && run->operation != RUN_READ)
		rc = say(run, run->active, "last", ring_bytes(b), err);
	if (!rc && !run->active && run->sink)
		rc = await(b, 2, false, err);
	return !rc && run->sink ? look(b, GENERATION_LAST, err) : rc;
}

static int bandwidth(struct bandwidth *b, json_t **result, struct error *err)
{
	_cleanup_json_ json_t *speed = NULL;

	int rc = prepare(b, err);
	if (!rc)
		rc = first_part(b, &speed, err);
	if (!rc)
		rc = last_part(b, err);
	if (rc < 0)
		return rc;
	if (b->run.sink) {
		*result = json_object_new();
		json_put_bool(*result, "verified", !b->fault);
		json_put_int(*result, "size_bytes", (int64_t)b->size);
		json_put_int(*result, "qps", b->run.qps);
		json_put_int(*result, "depth", b->run.depth);
		/* of the messages that follow the timed part */
		json_put_u64(*result, "check_bytes", (uint64_t)b->run.qps * b->ring * b->size);
		json_put(*result, "fault", json_incref(b->fault));
		/* the speed may be the other end's words: they replace nothing */
		json_object_update_missing(*result, speed);
	}
	rc = run_share(&b->run, result, err);
	if (!rc && json_get_bool(*result, "verified", false))
		rc = run_use_up_receives(&b->run, err);
	return rc;
}

int run_bandwidth(json_t **result, struct run_end *end, const struct run_parameters *p,
		  struct error *err)
{
	struct bandwidth b = {0};

	*result = NULL;
	int rc = run_begin(&b.run, "bandwidth", end, p, RUN_LAYOUT_RING, err);
	b.run.on_receive = on_receive;
	b.run.arg = &b;
	if (!rc)
		rc = bandwidth(&b, result, err);
	json_decref(b.fault);
	if (rc < 0) {
		json_decref(*result);
		*result = NULL;
	}
	return rc;
}
