/* SPDX-License-Identifier: Apache-2.0 */
/* The runs of a proof in their order, and the counters around them. */
#include "prove/conversation.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "prove/counters.h"
#include "prove/run.h"
#include "prove/suite.h"

#define LAST_WORDS 4
#define LAST_WORDS_MS 1000

static const char *operation_name(unsigned bit)
{
	for (size_t i = 0; i < SESSION_OPERATIONS; i++) {
		if (session_operation_names[i].bit == bit)
			return session_operation_names[i].name;
	}
	return "";
}

static void say(const struct conversation *c, const struct suite_step *step)
{
	_cleanup_free_ char *line = xasprintf("%s: %s of %zu%s%.0zu bytes, %s",
					      suite_run_name(step->run),
					      operation_name(step->operation), step->size_min,
					      step->size_max > step->size_min ? " to " : "",
					      step->size_max > step->size_min ? step->size_max : 0,
					      c->initiator != step->reverse ?
						      "from here" : "from the other end");

	if (c->end->progress)
		c->end->progress(line);
}

/* A run as the record has it, in its list; the caller adds what came of it. Borrowed. */
static json_t *keep(struct conversation *c, const char *run, const struct suite_step *step)
{
	json_t *one = json_object_new();

	json_put_string(one, "run", run);
	json_put_string(one, "operation", operation_name(step->operation));
	json_put_bool(one, "reverse", step->reverse);
	json_append(step->run == SUITE_MARKING ? c->marks : c->runs, one);
	return one;
}

static struct run_parameters parameters_of(const struct conversation *c,
					   const struct suite_step *step)
{
	return (struct run_parameters){
		.operation = operation_name(step->operation),
		.reverse = step->reverse,
		.size_min = step->size_min,
		.size_max = step->size_max,
		.iterations = step->run == SUITE_MARKING ? SESSION_MARK_MESSAGES :
							   SESSION_ITERATIONS,
		.seconds = c->parameters.seconds,
		.seed = c->parameters.seed,
		.step_ms = c->end->timeout_ms,
	};
}

static struct run_end end_of(const struct conversation *c)
{
	return (struct run_end){
		.wire = c->end->wire,
		.endpoint = c->endpoint,
		.memory = c->memory,
		.initiator = c->initiator,
		.number = (uint16_t)json_array_size(c->runs),
	};
}

/*
 * When RDMA fails, the other end may know why, or be the reason: memory of a process that was
 * killed is gone before its connection is. Listen for a moment before it is told of our side.
 */
static int ask_other_end(const struct conversation *c, int rc, struct error *err)
{
	_cleanup_error_ struct error other = {0};
	int heard = 0;

	if (rc == -EREMOTEIO || rc == -ECONNRESET || rc == -ENOTCONN)
		return rc;
	/* what it said before it knew, then the reason */
	for (int i = 0; i < LAST_WORDS && !heard; i++) {
		_cleanup_json_ json_t *message = NULL;

		heard = wire_receive(c->end->wire, NULL, &message, LAST_WORDS_MS, &other);
	}
	if (heard == -EREMOTEIO || heard == -ECONNRESET) {
		_cleanup_free_ char *own = xstrdup(error_text(err));
		return error_set(err, heard, "%s; here: %s", error_text(&other), own);
	}
	return rc;
}

/* A speed run, and what it took of the CPUs. */
static int run_speed(struct conversation *c, const struct suite_step *step, json_t **result,
		     struct error *err)
{
	const bool bandwidth = step->run == SUITE_BANDWIDTH;
	const struct run_parameters p = parameters_of(c, step);
	struct conversation_load load = { .host = c->end->host };
	struct run_end end = end_of(c);

	end.timed = conversation_load_note;
	end.timed_arg = &load;
	int rc = bandwidth ? run_bandwidth(result, &end, &p, err) :
			     run_latency(result, &end, &p, err);
	if (rc < 0)
		return rc;
	/* round trips are told by their time, not by the few bytes in them */
	int64_t bytes = bandwidth ? json_get_int(*result, "bytes", 0) : 0;
	return conversation_load_share(c, &load, bytes > 0 ? (uint64_t)bytes : 0, *result, err);
}

static int run_step(struct conversation *c, const struct suite_step *step, json_t **result,
		    struct error *err)
{
	const struct run_parameters p = parameters_of(c, step);
	struct run_end end = end_of(c);

	switch (step->run) {
	case SUITE_INTEGRITY:
		return run_integrity(result, &end, &p, err);
	case SUITE_BANDWIDTH:
	case SUITE_LATENCY:
		return run_speed(c, step, result, err);
	case SUITE_MARKING:
		return run_marking(result, &end, &p, conversation_traffic_class(&c->parameters),
				   err);
	}
	return error_set(err, -EINVAL, "no such run");
}

/* The completion that ended a run, at this end or at the other. What was flushed only tells that
 * there is a cause. */
static void note_completion(struct conversation *c, json_t *run)
{
	json_t *theirs = json_object_get(wire_error_detail(c->end->wire), "completion"), *completion;
	enum ibv_wc_status status;
	uint32_t vendor_error;
	bool failed = endpoint_failed_completion(c->endpoint, &status, &vendor_error);
	bool own = failed && !(status == IBV_WC_WR_FLUSH_ERR && json_is_object(theirs));

	if (!own && !json_is_object(theirs))
		return;
	completion = json_object_new();
	json_put_string(completion, "end", own == c->initiator ? "initiator" : "listener");
	json_put_int(completion, "status", own ? status : json_get_int(theirs, "status", 0));
	json_put_int(completion, "vendor_error",
		     own ? vendor_error : json_get_int(theirs, "vendor_error", 0));
	json_put(run, "completion", completion);
	if (own)
		json_put(c->detail, "completion", json_incref(completion));
}

/* One step, and what came of it in the record, an error too. */
static int run_one(struct conversation *c, const struct suite_step *step, struct error *err)
{
	_cleanup_json_ json_t *result = NULL;

	say(c, step);
	int rc = run_step(c, step, &result, err);
	json_t *run = keep(c, suite_run_name(step->run), step);

	if (rc < 0) {
		rc = ask_other_end(c, rc, err);
		note_completion(c, run);
	} else if (!json_is_false(json_object_get(result, "verified"))) {
		/* who finds a wrong byte leaves, and waits for nobody */
		rc = conversation_go(c, err);
	}
	if (rc < 0) {
		json_put_string(run, "error", error_text(err));
		return error_wrap(err, "%s of %s", suite_run_name(step->run),
				  operation_name(step->operation));
	}
	json_put(run, "result", json_incref(result));
	if (json_is_false(json_object_get(result, "verified")))
		c->failed = true;
	return 0;
}

/* perftest after a speed run. That it fails is told in the record, and is no failure of the proof. */
static int run_compare(struct conversation *c, const struct suite_step *step, struct error *err)
{
	json_t *last = json_array_get(c->runs, json_array_size(c->runs) - 1);
	const char *operation = operation_name(step->operation);
	_cleanup_json_ json_t *outcome = NULL;

	if (c->end->progress)
		c->end->progress("perftest: the same once more");
	int rc = conversation_compare(c, step, operation, json_object_get(last, "result"),
				      &outcome, err);
	json_t *run = keep(c, "perftest", step);

	if (rc < 0) {
		json_put_string(run, "error", error_text(err));
		return error_wrap(err, "perftest of %s", operation);
	}
	json_object_update(run, outcome);
	return 0;
}

static bool is_compared(const struct conversation *c, const struct suite_step *step)
{
	return c->parameters.compare && !c->failed &&
	       (step->run == SUITE_BANDWIDTH || step->run == SUITE_LATENCY);
}

/* Of the stage over UD, or of that over RC? */
static bool is_in_stage(const struct suite_step *step, bool ud)
{
	return (step->run == SUITE_MARKING) == ud;
}

/* The stage did not come to its first step: so the record says why it has none. */
static void keep_unbegun(struct conversation *c, const struct suite *suite, bool ud,
			 const struct error *why)
{
	for (size_t i = 0; i < suite->n; i++) {
		const struct suite_step *step = &suite->step[i];

		if (!is_in_stage(step, ud))
			continue;
		json_put_string(keep(c, suite_run_name(step->run), step), "error",
				error_text(why));
		return;
	}
}

/* Those of RC, or those of UD, until one saw a wrong byte. */
static int run_steps(struct conversation *c, const struct suite *suite, bool ud, struct error *err)
{
	int rc = 0;

	for (size_t i = 0; i < suite->n && !rc && !c->failed; i++) {
		const struct suite_step *step = &suite->step[i];

		if (!is_in_stage(step, ud))
			continue;
		rc = run_one(c, step, err);
		if (!rc && is_compared(c, step))
			rc = run_compare(c, step, err);
	}
	return rc;
}

static uint64_t bytes_of(json_t *run, const char *key)
{
	int64_t bytes = json_get_int(json_object_get(run, "result"), key, 0);

	/* it may be the other end's word */
	return bytes > 0 ? (uint64_t)bytes : 0;
}

/* Bytes that RDMA carried for the runs, as seen from this end: what its counters must show. */
static struct counters_payload payload(const struct conversation *c)
{
	uint64_t to_listener = 0, to_initiator = 0;
	json_t *run;
	size_t i;

	json_array_foreach(c->runs, i, run) {
		bool read = !strcmp(json_get_string(run, "operation", ""), "read");
		/* what is read comes the other way */
		bool back = json_get_bool(run, "reverse", false) != read;
		uint64_t bytes = bytes_of(run, "bytes") + bytes_of(run, "check_bytes");
		/* a round trip, but of a read, goes both ways */
		uint64_t half = !read && !strcmp(json_get_string(run, "run", ""), "latency") ?
					bytes / 2 : 0;

		*(back ? &to_initiator : &to_listener) += bytes - half;
		*(back ? &to_listener : &to_initiator) += half;
	}
	return c->initiator ? (struct counters_payload){ to_listener, to_initiator } :
			      (struct counters_payload){ to_initiator, to_listener };
}

/* What this end had and what its counters say, in its own part of the record. */
static void look_back(struct conversation *c, json_t *before)
{
	_cleanup_json_ json_t *after = counters_read(c->end->host, &c->path);
	_cleanup_json_ json_t *since = c->skipped ? counters_sum(before, c->skipped) :
						    json_incref(before);
	_cleanup_json_ json_t *difference = counters_difference(since, after);
	const struct counters_payload moved = payload(c);

	json_put(c->local, "memory", memory_facts(c->memory));
	json_put(c->local, "kernel_log", kernel_watch_facts(&c->log));
	json_put(c->local, "counters", counters_facts(difference, &moved));
}

/* What each end had, and what its counters say, becomes part of both records. */
static int tell_outcome(struct conversation *c, json_t *before, struct error *err)
{
	_cleanup_json_ json_t *mine = json_object_new(), *theirs = NULL;
	static const char *const members[] = { "memory", "counters", "kernel_log" };

	/* no byte of the other end's last run may come after this end has looked */
	int rc = conversation_meet(c, "done", err);
	look_back(c, before);
	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		json_put(mine, members[i], json_incref(json_object_get(c->local, members[i])));
	if (!rc)
		rc = conversation_exchange(c, mine, "outcome", &theirs, err);
	/* all or nothing: a record with half of it could pass */
	for (size_t i = 0; i < ARRAY_SIZE(members) && !rc; i++) {
		if (!json_is_object(json_object_get(theirs, members[i])))
			rc = error_set(err, -EPROTO, "the other end tells no %s", members[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(members) && !rc; i++)
		json_put(c->peer, members[i], json_incref(json_object_get(theirs, members[i])));
	return rc;
}

static int run_connected(struct conversation *c, const struct suite *suite, struct error *err)
{
	_cleanup_json_ json_t *before = NULL;

	int rc = conversation_stage_open(c, false, err);
	if (rc < 0) {
		keep_unbegun(c, suite, false, err);
		return rc;
	}
	kernel_watch_begin(&c->log, c->end->host);
	before = counters_read(c->end->host, &c->path);
	rc = conversation_meet(c, "start", err);
	if (rc < 0)
		keep_unbegun(c, suite, false, err);
	else
		rc = run_steps(c, suite, false, err);
	if (!rc)
		rc = tell_outcome(c, before, err);
	else
		look_back(c, before);
	conversation_stage_close(c);
	return rc;
}

int conversation_run(struct conversation *c, struct error *err)
{
	_cleanup_suite_ struct suite suite = {0};

	c->runs = json_array_new();
	c->marks = json_array_new();
	c->detail = json_object_new();
	suite_make(&suite, &c->parameters);
	int rc = run_connected(c, &suite, err);
	if (rc < 0 || c->failed || c->parameters.dscp < 0)
		return rc;
	rc = conversation_stage_open(c, true, err);
	if (rc < 0)
		keep_unbegun(c, &suite, true, err);
	else
		rc = run_steps(c, &suite, true, err);
	return rc;
}
