/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a bandwidth run that posts. */
#include <errno.h>
#include <sys/param.h>

#include "prove/run_bandwidth.h"
#include "prove/run_samples.h"

/* Completions of large messages: often enough to keep the queue full and the samples even. */
#define COMPLETION_BYTES ((size_t)1 << 20)

/* Made before: what is done for each message is little. */
struct queue {
	struct endpoint_op op;
	uint64_t local, remote;	/* of the first place */
	const uint8_t *bytes;	/* the same; NULL: the processor cannot read them */
	unsigned next;		/* place */
};

static int post_one(struct bandwidth *b, struct queue *q, bool more, struct error *err)
{
	q->op.local = q->local + q->next * b->step;
	q->op.remote = q->remote + q->next * b->step;
	q->op.bytes = q->bytes ? q->bytes + q->next * b->step : NULL;
	q->op.more = more;
	if (++q->next == b->ring)
		q->next = 0;
	b->sent[q->op.qp]++;
	return run_post(&b->run, &q->op, err);
}

static void queues_make(const struct bandwidth *b, struct queue *queues)
{
	for (unsigned i = 0; i < b->run.qps; i++) {
		struct queue *q = &queues[i];

		q->op = run_speed_op(&b->run, i, run_slot(&b->run, i), b->size);
		q->local = q->op.local;
		q->remote = q->op.remote;
		q->bytes = q->op.bytes;
		q->next = (unsigned)(b->sent[i] % b->ring);
	}
}

/* A last message with a completion of its own; for a write what tells that it is there. */
static int finish(struct bandwidth *b, struct queue *queues, struct error *err)
{
	bool write = b->run.operation == RUN_WRITE;
	int rc = 0;

	for (unsigned i = 0; i < b->run.qps && !rc; i++) {
		rc = run_make_room(&b->run, i, err);
		if (!rc)
			rc = write ? run_post_fence(&b->run, i, err)
				   : post_one(b, &queues[i], false, err);
	}
	return rc < 0 ? rc : run_drain(&b->run, b->run.qps * b->run.depth * b->size, err);
}

static uint64_t done(const struct bandwidth *b)
{
	uint64_t n = 0;

	for (unsigned q = 0; q < b->run.qps; q++)
		n += b->run.posted[q] - run_in_flight(&b->run, q);
	return n;
}

/* Messages from one completion to the next. */
static unsigned completion_step(const struct bandwidth *b)
{
	size_t by_bytes = MAX((size_t)1, COMPLETION_BYTES / b->size);

	return (unsigned)MIN(by_bytes, (size_t)MAX(1u, b->run.depth / 4));
}

/* What goes in, and what has come out: the number of completions. */
static int keep_full(struct bandwidth *b, struct queue *queues, unsigned step, struct error *err)
{
	for (unsigned i = 0; i < b->run.qps; i++) {
		uint64_t room = b->run.depth - run_in_flight(&b->run, i);

		for (; room; room--) {
			int rc = post_one(b, &queues[i], (b->sent[i] + 1) % step, err);
			if (rc < 0)
				return rc;
		}
	}
	return run_poll(&b->run, err);
}

/* Post for some seconds. `*speed` is what came of it. */
static int timed(struct bandwidth *b, struct queue *queues, json_t **speed, struct error *err)
{
	_cleanup_run_samples_ struct run_samples samples = {0};
	uint64_t begun = run_now_ns(), now = 0, moved_ns = 0, messages = 0,
		 end = (uint64_t)(b->run.p->seconds * 1e9);
	struct run_wait wait = run_wait_begin(b->run.spin, run_limit_ms(&b->run, b->size));
	unsigned step = completion_step(b);

	run_samples_begin(&samples, b->run.p->seconds);
	while (now < end) {
		int rc = keep_full(b, queues, step, err);
		if (rc < 0)
			return rc;
		if (!rc)
			run_wait_idle(&wait);
		now = run_now_ns() - begun;
		if (now < samples.sample[samples.n - 1].ns + RUN_SAMPLE_NS)
			continue;
		uint64_t n = done(b);
		run_samples_add(&samples, now, n);
		rc = run_watch(&b->run, err);
		if (rc < 0)
			return rc;
		if (n != messages)
			moved_ns = now;
		messages = n;
		if (now - moved_ns > (uint64_t)run_limit_ms(&b->run, b->size) * 1000000u)
			return error_set(err, -ETIMEDOUT, "nothing moved for %d ms",
					 run_limit_ms(&b->run, b->size));
	}
	int rc = finish(b, queues, err);
	if (rc < 0)
		return rc;
	messages = 0;
	for (unsigned q = 0; q < b->run.qps; q++)
		messages += b->sent[q];
	*speed = run_samples_speed(&samples, b->size, messages, run_now_ns() - begun);
	json_put_bool(*speed, "inline",
		      endpoint_is_inline(b->run.end->endpoint, &queues[0].op));
	return 0;
}

static int tell_timed(struct bandwidth *b, json_t *speed, struct error *err)
{
	_cleanup_json_ json_t *message = json_object_new();
	json_t *sent = json_arr(message, "messages");

	for (unsigned q = 0; q < b->run.qps; q++)
		json_append(sent, json_integer_new((int64_t)b->sent[q]));
	json_put(message, "speed", json_incref(speed));
	return run_tell(&b->run, "timed", message, err);
}

int run_bandwidth_move_timed(struct bandwidth *b, json_t **speed, struct error *err)
{
	struct queue queues[ENDPOINT_QPS_MAX];

	queues_make(b, queues);
	int rc = timed(b, queues, speed, err);
	return rc < 0 ? rc : tell_timed(b, *speed, err);
}

int run_bandwidth_move_last(struct bandwidth *b, struct error *err)
{
	struct queue queues[ENDPOINT_QPS_MAX];
	int rc = 0;

	queues_make(b, queues);
	for (unsigned i = 0; i < b->ring && !rc; i++) {
		for (unsigned q = 0; q < b->run.qps && !rc; q++) {
			rc = run_make_room(&b->run, q, err);
			if (!rc)
				rc = post_one(b, &queues[q], false, err);
		}
	}
	return rc < 0 ? rc : finish(b, queues, err);
}
