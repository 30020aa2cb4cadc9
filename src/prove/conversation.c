/* SPDX-License-Identifier: Apache-2.0 */
/* The stages of a proof: connections and memory, runs in their order, counters around them. */
#include "prove/conversation.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "prove/counters.h"
#include "prove/run.h"

#define ECT0 2u	/* ECN capable, RFC 3168 */
#define LAST_WORDS 4
#define LAST_WORDS_MS 1000

typedef int (*run_function)(json_t **result, struct run_end *end, const struct run_parameters *p,
			    struct error *err);

/* In this order: no speed is told of an operation that carries wrong bytes. */
static const struct {
	const char *name;
	run_function run;
	bool speed;
	bool one_way;	/* a round trip has no direction */
} kinds[] = {
	{ "integrity", run_integrity, false, false },
	{ "bandwidth", run_bandwidth, true, false },
	{ "latency", run_latency, true, true },
};

static uint8_t traffic_class(const struct session_parameters *p)
{
	return p->dscp < 0 ? 0 : (uint8_t)((unsigned)p->dscp << 2 | (p->ecn ? ECT0 : 0));
}

/* Both send and both wait: what one has to say and the other. */
static int exchange(const struct conversation *c, json_t *mine, const char *type, json_t **theirs,
		    struct error *err)
{
	json_put_string(mine, "type", type);
	int rc = wire_send(c->end->wire, mine, c->end->timeout_ms, err);

	return rc < 0 ? rc : wire_receive(c->end->wire, type, theirs, c->end->timeout_ms, err);
}

static int meet(const struct conversation *c, const char *type, struct error *err)
{
	_cleanup_json_ json_t *mine = json_object_new(), *theirs = NULL;

	return exchange(c, mine, type, &theirs, err);
}

void conversation_stage_close(struct conversation *c)
{
	/* its MRs belong to the protection domain of the endpoint */
	if (c->memory)
		memory_free(c->memory);
	if (c->endpoint)
		endpoint_close(c->endpoint);
	c->memory = NULL;
	c->endpoint = NULL;
}

static int stage_make(struct conversation *c, bool ud, struct error *err)
{
	const struct session_parameters *p = &c->parameters;
	const struct endpoint_request request = {
		.verbs = c->end->verbs,
		.device = c->path.device,
		.port = (uint8_t)c->path.port,
		.gid_index = c->path.gid_index,
		.qps = ud ? 1 : p->qps,
		.depth = ud ? SESSION_MARK_MESSAGES : p->depth,
		.ud = ud,
		.traffic_class = traffic_class(p),
	};
	const struct memory_request memory = {
		/* the bytes of a marking message are read by the CPU, whatever is to be proven */
		.kind = ud ? "host" : p->memory[!c->initiator],
		.length = session_memory_bytes(p),
		.numa_node = c->path.numa_node,
	};

	int rc = endpoint_open(&c->endpoint, &request, err);
	if (!rc)
		rc = memory_new(&c->memory, &memory, err);
	if (!rc)
		rc = memory_register(c->memory, c->end->verbs, endpoint_pd(c->endpoint), err);
	return rc;
}

static int stage_open(struct conversation *c, bool ud, struct error *err)
{
	_cleanup_json_ json_t *mine = NULL, *theirs = NULL;
	struct endpoint_peer peer;

	int rc = stage_make(c, ud, err);
	if (rc < 0)
		return rc;
	mine = endpoint_describe(c->endpoint);
	rc = exchange(c, mine, "endpoint", &theirs, err);
	if (!rc)
		rc = endpoint_peer_read(&peer, theirs, err);
	if (!rc)
		rc = endpoint_connect(c->endpoint, &peer, err);
	/* a packet to a QP that cannot receive yet would cost a retransmit time-out */
	return rc < 0 ? rc : meet(c, "ready", err);
}

static void say(const struct conversation *c, const char *run, const char *operation, bool reverse)
{
	const bool from_here = c->initiator != reverse;
	_cleanup_free_ char *line = xasprintf("%s: %s, %s", run, operation,
					      from_here ? "from here" : "from the other end");

	if (c->end->progress)
		c->end->progress(line);
}

/* Put what was run into a list of the record. */
static void keep(struct conversation *c, json_t *list, const char *run, const char *operation,
		 bool reverse, json_t *result)
{
	json_t *one = json_object_new();

	json_put_string(one, "run", run);
	json_put_string(one, "operation", operation);
	json_put_bool(one, "reverse", reverse);
	json_put(one, "result", json_incref(result));
	json_append(list, one);
	if (json_is_false(json_object_get(result, "verified")))
		c->failed = true;
}

static struct run_parameters run_of(const struct conversation *c, const char *operation,
				    bool reverse)
{
	const struct session_parameters *p = &c->parameters;

	return (struct run_parameters){
		.operation = operation,
		.reverse = reverse,
		.size_min = p->size_min,
		.size_max = p->size_max,
		.iterations = SESSION_ITERATIONS,
		.seconds = p->seconds,
		.seed = p->seed,
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

static int run_one(struct conversation *c, size_t kind, const char *operation, bool reverse,
		   struct error *err)
{
	const struct run_parameters p = run_of(c, operation, reverse);
	_cleanup_json_ json_t *result = NULL;
	struct run_end end = end_of(c);

	say(c, kinds[kind].name, operation, reverse);
	int rc = kinds[kind].run(&result, &end, &p, err);
	if (!rc)
		keep(c, c->runs, kinds[kind].name, operation, reverse, result);
	if (rc < 0) {
		rc = ask_other_end(c, rc, err);
		error_wrap(err, "%s of %s", kinds[kind].name, operation);
	}
	return rc;
}

static int run_all(struct conversation *c, struct error *err)
{
	int rc = 0;

	for (size_t kind = 0; kind < ARRAY_SIZE(kinds); kind++) {
		if (kinds[kind].speed && !(c->parameters.seconds > 0))
			continue;
		for (size_t i = 0; i < SESSION_OPERATIONS; i++) {
			const char *operation = session_operation_names[i].name;

			if (!(c->parameters.operations & session_operation_names[i].bit))
				continue;
			for (int reverse = 0; !rc && reverse <= !kinds[kind].one_way; reverse++) {
				if (c->failed)
					return 0;
				rc = run_one(c, kind, operation, reverse, err);
			}
			if (rc < 0)
				return rc;
		}
	}
	return 0;
}

static int run_marks(struct conversation *c, struct error *err)
{
	int rc = 0;

	for (int reverse = 0; !rc && reverse <= 1; reverse++) {
		struct run_parameters p = run_of(c, "send", reverse);
		_cleanup_json_ json_t *result = NULL;
		struct run_end end = end_of(c);

		p.size_min = p.size_max = SESSION_MARK_BYTES;
		p.iterations = SESSION_MARK_MESSAGES;
		say(c, "marking", "send", reverse);
		rc = run_marking(&result, &end, &p, traffic_class(&c->parameters), err);
		if (!rc)
			keep(c, c->marks, "marking", "send", reverse, result);
		if (rc < 0) {
			rc = ask_other_end(c, rc, err);
			error_wrap(err, "marking");
		}
	}
	return rc;
}

/* Bytes that RDMA carried for the runs in the direction that had more: what a counter must show. */
static uint64_t payload(json_t *runs)
{
	uint64_t bytes[2] = {0};
	json_t *run;
	size_t i;

	json_array_foreach(runs, i, run) {
		/* what is read comes the other way */
		bool back = json_get_bool(run, "reverse", false) !=
			    !strcmp(json_get_string(run, "operation", ""), "read");

		bytes[back] += (uint64_t)json_get_int(json_object_get(run, "result"), "bytes", 0);
	}
	return bytes[0] > bytes[1] ? bytes[0] : bytes[1];
}

/* What each end had, and what its counters say, becomes part of both records. */
static int tell_outcome(struct conversation *c, json_t *before, struct error *err)
{
	_cleanup_json_ json_t *mine = json_object_new(), *theirs = NULL;
	static const char *const members[] = { "memory", "counters" };

	/* no byte of the other end's last run may come after this end has looked */
	int rc = meet(c, "done", err);
	if (rc < 0)
		return rc;
	_cleanup_json_ json_t *after = counters_read(c->end->host, &c->path);
	_cleanup_json_ json_t *difference = counters_difference(before, after);

	json_put(mine, "memory", memory_facts(c->memory));
	json_put(mine, "counters", counters_facts(difference, payload(c->runs)));
	rc = exchange(c, mine, "outcome", &theirs, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		json_put(c->local, members[i], json_incref(json_object_get(mine, members[i])));
		json_t *seen = json_object_get(theirs, members[i]);
		if (!json_is_object(seen))
			return error_set(err, -EPROTO, "the other end tells no %s", members[i]);
		json_put(c->peer, members[i], json_incref(seen));
	}
	return 0;
}

int conversation_run(struct conversation *c, struct error *err)
{
	_cleanup_json_ json_t *before = NULL;

	c->runs = json_array_new();
	c->marks = json_array_new();
	int rc = stage_open(c, false, err);
	if (rc < 0)
		return rc;
	before = counters_read(c->end->host, &c->path);
	rc = meet(c, "start", err);
	if (!rc)
		rc = run_all(c, err);
	if (!rc)
		rc = tell_outcome(c, before, err);
	conversation_stage_close(c);
	if (rc < 0 || c->failed || c->parameters.dscp < 0)
		return rc;
	rc = stage_open(c, true, err);
	return rc < 0 ? rc : run_marks(c, err);
}

/* A proof with a GPU's memory is one of GPUDirect; a dma-buf of host memory is neither. */
static const char *kind_of(const struct session_parameters *p)
{
	bool host = true;

	for (int i = 0; i < 2; i++) {
		if (!strcmp(p->memory[i], "cuda"))
			return "gdr";
		host = host && strcmp(p->memory[i], "udmabuf");
	}
	return host ? "host" : "dmabuf";
}

int conversation_records(const struct conversation *c, json_t **records, struct error *err)
{
	_cleanup_json_ json_t *parameters = session_parameters_message(&c->parameters);
	_cleanup_free_ char *run = xasprintf("%016" PRIx64, c->parameters.seed);
	_cleanup_json_ json_t *list = json_array_new();
	struct host_time now;
	int rc = host_time(c->end->host, &now, err);

	json_object_del(parameters, "type");
	json_put_int(parameters, "traffic_class", traffic_class(&c->parameters));
	json_put_int(parameters, "iterations", SESSION_ITERATIONS);
	struct proof_parts parts = {
		.kind = kind_of(&c->parameters),
		.run = run,
		.realtime_s = now.realtime_s,
		.double_used = c->double_used,
		.parameters = parameters,
		.local = c->local,
		.peer = c->peer,
		.runs = c->runs,
	};
	if (!rc) {
		json_append(list, proof_record_new(&parts));
		parts.kind = "marking";
		parts.runs = c->marks;
		if (json_array_size(c->marks))
			json_append(list, proof_record_new(&parts));
	}
	json_t *record;
	size_t i;

	/* half of it is what the other end said */
	json_array_foreach(list, i, record) {
		if (!rc)
			rc = proof_record_check(record, "what both ends saw", err);
	}
	if (!rc)
		*records = json_incref(list);
	return rc;
}
