/* SPDX-License-Identifier: Apache-2.0 */
/* A speed run once more, by perftest, and the counters without what that moved. */
#include <errno.h>
#include <sys/param.h>

#include "base/alloc.h"
#include "prove/conversation.h"
#include "prove/counters.h"
#include "prove/perftest_run.h"
#include "prove/suite.h"

/* perftest leaves a few out, and keeps a time stamp of each. */
#define ITERATIONS_MIN 100
#define ITERATIONS_MAX 1000000

/* As our run was, at this end. `facts`: memory_facts(), borrowed from. */
static struct perftest_request request_of(const struct conversation *c, bool active, json_t *own,
					  json_t *facts)
{
	const char *peer = json_get_string(json_object_get(c->peer, "path"), "address", "");
	int64_t samples = json_get_int(own, "samples", 0);

	return (struct perftest_request){
		.address = active ? peer : c->path.address,
		.own_address = c->path.address,
		.device = c->path.device,
		.port = c->path.port,
		.gid_index = c->path.gid_index,
		.mtu_bytes = endpoint_mtu_bytes(c->endpoint),
		.traffic_class = c->parameters.dscp < 0 ?
					 -1 :
					 conversation_traffic_class(&c->parameters),
		.memory = c->parameters.memory[!c->initiator],
		.gpu = json_get_string(json_object_get(facts, "gpu"), "bdf", NULL),
		.size_bytes = (size_t)json_get_int(own, "size_bytes", 0),
		.qps = (unsigned)json_get_int(own, "qps", 0),
		.depth = (unsigned)json_get_int(own, "depth", 0),
		.seconds = c->parameters.seconds,
		.iterations = (uint64_t)MIN(MAX(samples, ITERATIONS_MIN), ITERATIONS_MAX),
	};
}

/* The result may be the other end's words, and a program is to be started with its numbers. */
static int check_own(const struct conversation *c, const struct suite_step *step, json_t *own,
		     struct error *err)
{
	const struct session_parameters *p = &c->parameters;
	const struct {
		const char *key;
		size_t max;
	} numbers[] = {
		{ "size_bytes", step->size_max }, { "qps", p->qps }, { "depth", p->depth },
	};

	/* a latency run is of one message on one queue pair */
	for (size_t i = 0; i < (step->run == SUITE_LATENCY ? 1 : ARRAY_SIZE(numbers)); i++) {
		int64_t number = json_get_int(own, numbers[i].key, 0);

		if (number < 1 || (uint64_t)number > numbers[i].max)
			return error_set(err, -EPROTO, "the result that the other end tells has a %s "
					 "that is no number from 1 to %zu", numbers[i].key,
					 numbers[i].max);
	}
	return 0;
}

int conversation_compare(struct conversation *c, const struct suite_step *step,
			 const char *operation, json_t *own, json_t **outcome, struct error *err)
{
	const bool active = c->initiator != step->reverse;
	_cleanup_json_ json_t *facts = memory_facts(c->memory);
	const struct perftest_end end = {
		.wire = c->end->wire,
		.host = c->end->host,
		.node = json_get_string(c->local, "node", "?"),
		.folders = c->end->perftest_folders,
		.active = active,
		.allowed = c->end->compare,
		.timeout_ms = c->end->timeout_ms,
	};
	const struct perftest_run run = {
		.operation = operation,
		.latency = step->run == SUITE_LATENCY,
		.request = request_of(c, active, own, facts),
	};
	int rc = check_own(c, step, own, err);

	if (rc < 0)
		return rc;
	/* all of ours has arrived: both ends have the result of it */
	_cleanup_json_ json_t *before = counters_read(c->end->host, &c->path);
	rc = perftest_run(outcome, &end, &run, own, err);
	_cleanup_json_ json_t *after = counters_read(c->end->host, &c->path);
	_cleanup_json_ json_t *moved = counters_difference(before, after);
	json_t *skipped = c->skipped ? counters_sum(c->skipped, moved) : json_incref(moved);
	json_decref(c->skipped);
	c->skipped = skipped;
	return rc;
}
