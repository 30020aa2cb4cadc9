/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Agreement of the two ends. Messages, both ends at once:
 *
 *	run	{run, operation, reverse, size_min, size_max, iterations, qps, depth, bytes}
 *	places	{places: [[address, rkey], …]}		one for each slot
 */
#include "prove/run_common.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/param.h>
#include <time.h>

#define STEP_MS 10000
/* No slot is larger: registration may be cut into chunks of 1 GiB (memory.h). */
#define SLOT_MAX ((size_t)1 << 30)

static const char *const operation_names[] = {
	[RUN_WRITE] = "write",
	[RUN_READ] = "read",
	[RUN_SEND] = "send",
};

int run_limit_ms(const struct run *run, uint64_t bytes)
{
	int step_ms = run->p->step_ms ? run->p->step_ms : STEP_MS;

	return step_ms + (int)MIN(bytes >> 10, (uint64_t)INT32_MAX / 2);
}

uint64_t run_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int run_tell(const struct run *run, const char *type, json_t *message, struct error *err)
{
	json_put_string(message, "type", type);
	return wire_send(run->end->wire, message, run_limit_ms(run, 0), err);
}

int run_say(const struct run *run, const char *type, struct error *err)
{
	_cleanup_json_ json_t *message = json_object_new();

	return run_tell(run, type, message, err);
}

int run_hear(const struct run *run, const char *type, json_t **message, int limit_ms,
	     struct error *err)
{
	_cleanup_json_ json_t *heard = NULL;
	int rc = wire_receive(run->end->wire, type, &heard, limit_ms, err);

	if (rc == 0 && message) {
		*message = heard;
		heard = NULL;
	}
	return rc;
}

bool run_wire_ready(const struct run *run)
{
	struct pollfd wire = { .fd = wire_fd(run->end->wire), .events = POLLIN | POLLRDHUP };

	return poll(&wire, 1, 0) > 0;
}

int run_watch(const struct run *run, struct error *err)
{
	_cleanup_json_ json_t *message = NULL;

	if (!run_wire_ready(run))
		return 0;
	int rc = wire_receive(run->end->wire, NULL, &message, run_limit_ms(run, 0), err);
	if (rc < 0)
		return rc;
	return error_set(err, -EPROTO, "the other end said '%s' when nothing was to be said",
			 json_get_string(message, "type", "?"));
}

int run_number(uint64_t *value, json_t *message, const char *key, uint64_t max, struct error *err)
{
	json_t *number = json_object_get(message, key);

	if (!json_is_integer(number) || json_integer_value(number) < 0 ||
	    (uint64_t)json_integer_value(number) > max)
		return error_set(err, -EPROTO, "the other end's %s is no number up to %" PRIu64,
				 key, max);
	*value = (uint64_t)json_integer_value(number);
	return 0;
}

int run_share(const struct run *run, json_t **result, struct error *err)
{
	_cleanup_json_ json_t *message = NULL;

	if (run->sink) {
		message = json_object_new();
		json_put(message, "result", json_incref(*result));
		return run_tell(run, "outcome", message, err);
	}
	int rc = run_hear(run, "outcome", &message, run_limit_ms(run, 4 * run->bytes), err);
	if (rc < 0)
		return rc;
	json_t *heard = json_object_get(message, "result"),
	       *verified = json_object_get(heard, "verified");
	if (!json_is_boolean(verified) && !json_is_null(verified))
		return error_set(err, -EPROTO, "the other end does not say whether it verified");
	json_decref(*result);
	*result = json_incref(heard);
	return 0;
}

/* --- agreement -------------------------------------------------------------------------------- */

static int read_operation(struct run *run, struct error *err)
{
	for (unsigned i = 0; i < ARRAY_SIZE(operation_names); i++) {
		if (!strcmp(run->p->operation, operation_names[i])) {
			run->operation = i;
			return 0;
		}
	}
	return error_set(err, -EINVAL, "no operation '%s'", run->p->operation);
}

static json_t *run_message(const struct run *run, const char *name)
{
	json_t *m = json_object_new();

	json_put_string(m, "run", name);
	json_put_string(m, "operation", run->p->operation);
	json_put_bool(m, "reverse", run->p->reverse);
	json_put_int(m, "size_min", (int64_t)run->p->size_min);
	json_put_int(m, "size_max", (int64_t)run->p->size_max);
	json_put_int(m, "iterations", run->p->iterations);
	json_put_stringf(m, "seed", "%016" PRIx64, run->p->seed);
	return m;
}

/* What must be equal is compared, of the rest the smaller counts. */
static int agree(struct run *run, const char *name, struct error *err)
{
	_cleanup_json_ json_t *mine = run_message(run, name), *theirs = NULL;
	uint64_t qps, depth, bytes;
	const char *key;
	json_t *value;

	json_put_int(mine, "qps", run->qps);
	json_put_int(mine, "depth", run->depth);
	json_put_int(mine, "bytes", (int64_t)run->bytes);
	int rc = run_tell(run, "run", mine, err);
	if (!rc)
		rc = run_hear(run, "run", &theirs, run_limit_ms(run, 0), err);
	if (!rc)
		rc = run_number(&qps, theirs, "qps", ENDPOINT_QPS_MAX, err);
	if (!rc)
		rc = run_number(&depth, theirs, "depth", UINT32_MAX, err);
	if (!rc)
		rc = run_number(&bytes, theirs, "bytes", INT64_MAX, err);
	if (rc < 0)
		return rc;
	run->qps = MIN(run->qps, (unsigned)qps);
	run->depth = MIN(run->depth, (unsigned)depth);
	run->bytes = MIN(run->bytes, bytes);
	_cleanup_json_ json_t *same = run_message(run, name);
	json_object_foreach(same, key, value) {
		if (!json_equal(value, json_object_get(theirs, key)))
			return error_set(err, -EPROTO, "the two ends disagree about %s", key);
	}
	/* a fence goes with its message */
	if (!run->qps || run->depth < 2)
		return error_set(err, -EINVAL, "%u queue pairs of %u work requests: too few",
				 run->qps, run->depth);
	if (!run->p->size_min || run->p->size_max < run->p->size_min ||
	    run->p->size_max > MIN(run->bytes, SLOT_MAX))
		return error_set(err, -EINVAL,
				 "messages of %zu to %zu bytes do not go into %zu bytes of memory",
				 run->p->size_min, run->p->size_max, run->bytes);
	return 0;
}

static void lay_out(struct run *run, enum run_layout layout)
{
	size_t least = MAX(run->p->size_max, (size_t)4096), stride = 1;

	while (stride < least)
		stride <<= 1;
	if (layout == RUN_LAYOUT_RING)
		while (stride < SLOT_MAX && stride * 2 <= run->bytes / run->qps)
			stride <<= 1;
	run->stride = MIN(stride, run->bytes);
	run->slots = (unsigned)MIN(run->bytes / run->stride, (size_t)run->qps);
}

static int places_tell(const struct run *run, struct error *err)
{
	_cleanup_json_ json_t *message = json_object_new();
	json_t *places = json_arr(message, "places");

	for (unsigned i = 0; i < run->slots; i++) {
		struct memory_place place = memory_at(run->end->memory, i * run->stride);

		if (place.length < run->stride)
			return error_set(err, -EINVAL,
					 "memory at %zu: no region reaches over %zu bytes",
					 i * run->stride, run->stride);
		json_t *pair = json_array_new();
		json_append(pair, json_integer_new((int64_t)place.address));
		json_append(pair, json_integer_new(place.rkey));
		json_append(places, pair);
	}
	return run_tell(run, "places", message, err);
}

static int places_hear(struct run *run, struct error *err)
{
	_cleanup_json_ json_t *message = NULL;
	int rc = run_hear(run, "places", &message, run_limit_ms(run, 0), err);

	if (rc < 0)
		return rc;
	json_t *places = json_object_get(message, "places");
	if (json_array_size(places) != run->slots)
		return error_set(err, -EPROTO, "the other end has %zu places, not %u",
				 json_array_size(places), run->slots);
	for (unsigned i = 0; i < run->slots; i++) {
		json_t *pair = json_array_get(places, i), *address = json_array_get(pair, 0),
		       *rkey = json_array_get(pair, 1);

		if (!json_is_integer(address) || !json_is_integer(rkey) ||
		    json_integer_value(rkey) < 0 || json_integer_value(rkey) > UINT32_MAX)
			return error_set(err, -EPROTO, "place %u of the other end is malformed", i);
		run->remote[i].address = (uint64_t)json_integer_value(address);
		run->remote[i].rkey = (uint32_t)json_integer_value(rkey);
	}
	return 0;
}

int run_begin(struct run *run, const char *name, const struct run_end *end,
	      const struct run_parameters *p, enum run_layout layout, struct error *err)
{
	*run = (struct run){
		.end = end,
		.p = p,
		.active = end->initiator != p->reverse,
		.qps = endpoint_qps(end->endpoint),
		.depth = endpoint_depth(end->endpoint),
		.spin = run_wait_spin(),
		.bytes = memory_length(end->memory),
	};
	int rc = read_operation(run, err);
	if (rc < 0)
		return rc;
	run->sink = run->active == (run->operation == RUN_READ);
	for (unsigned q = 0; q < run->qps; q++)
		run->done_before[q] = endpoint_completed(end->endpoint, q);
	rc = agree(run, name, err);
	if (rc < 0)
		return rc;
	lay_out(run, layout);
	rc = places_tell(run, err);
	return rc < 0 ? rc : places_hear(run, err);
}

/* --- what was wrong --------------------------------------------------------------------------- */

json_t *run_fault(const struct run *run, const char *kind, const struct run_message *m)
{
	json_t *fault = json_object_new();

	json_put_string(fault, "kind", kind);
	json_put_string(fault, "operation", run->p->operation);
	if (m) {
		json_put_int(fault, "size_bytes", (int64_t)m->size);
		json_put_int(fault, "qp", m->qp);
		json_put_int(fault, "qpn", endpoint_qpn(run->end->endpoint, m->qp));
		json_put_int(fault, "generation", m->pattern.generation);
	}
	return fault;
}

void run_fault_pattern(json_t *fault, const struct run_message *m,
		       const struct pattern_fault *seen)
{
	_cleanup_free_ char *text = pattern_fault_text(seen);

	json_put_u64(fault, "offset", seen->offset - m->offset);
	json_put_u64(fault, "memory_offset", seen->offset);
	json_put_u64(fault, "bytes", seen->wrong_bytes);
	if (seen->kind == PATTERN_MISPLACED)
		json_put_u64(fault, "from_offset", seen->from_offset);
	if (seen->kind == PATTERN_MISPLACED || seen->kind == PATTERN_STALE)
		json_put_int(fault, "from_generation", seen->from_generation);
	json_put_string(fault, "text", text);
}
