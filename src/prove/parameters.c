/* SPDX-License-Identifier: Apache-2.0 */
/* What is to be run: from words, and as a message of which nothing is believed. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "prove/endpoint.h"
#include "prove/session.h"

const struct session_operation_name session_operation_names[SESSION_OPERATIONS] = {
	{ SESSION_WRITE, "write" },
	{ SESSION_READ, "read" },
	{ SESSION_SEND, "send" },
};

/* Room of a queue pair for messages in flight: enough for any cache to be left, and no more. */
#define RING_BYTES ((size_t)4 << 20)
#define PAGE_BYTES ((size_t)4096)

static unsigned operation_bit(const char *name)
{
	for (size_t i = 0; i < SESSION_OPERATIONS; i++) {
		if (!strcmp(session_operation_names[i].name, name))
			return session_operation_names[i].bit;
	}
	return 0;
}

int session_operations_read(unsigned *bits, const char *list, struct error *err)
{
	*bits = 0;
	for (const char *p = list;; p++) {
		size_t len = strcspn(p, ",");
		_cleanup_free_ char *name = xstrndup(p, len);
		unsigned bit = operation_bit(name);

		if (!bit) {
			_cleanup_free_ char *safe = text_printable(name, len);
			return error_set(err, -EINVAL,
					 "'%s' is no operation (there are write, read and send)",
					 safe);
		}
		*bits |= bit;
		p += len;
		if (!*p)
			return 0;
	}
}

size_t session_memory_bytes(const struct session_parameters *p)
{
	const size_t message = (p->size_max + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
	size_t ring = message * p->depth < RING_BYTES ? message * p->depth : RING_BYTES;

	return p->qps * (ring > message ? ring : message);
}

int session_parameters_check(const struct session_parameters *p, struct error *err)
{
	if (!p->operations ||
	    (p->operations & ~(unsigned)(SESSION_WRITE | SESSION_READ | SESSION_SEND)))
		return error_set(err, -EINVAL, "no operation that is known");
	if (!p->size_min || p->size_min > p->size_max || p->size_max > SESSION_SIZE_MAX)
		return error_set(err, -EINVAL, "sizes %zu to %zu: they rise from 1 byte to %u MiB",
				 p->size_min, p->size_max, SESSION_SIZE_MAX >> 20);
	if (!p->qps || p->qps > ENDPOINT_QPS_MAX)
		return error_set(err, -EINVAL, "%u queue pairs: there may be 1 to %u", p->qps,
				 ENDPOINT_QPS_MAX);
	/* half of a queue completes with one signal, so there must be two halves */
	if (p->depth < 2 || p->depth > SESSION_DEPTH_MAX)
		return error_set(err, -EINVAL, "depth %u: a queue holds 2 to %u work requests",
				 p->depth, SESSION_DEPTH_MAX);
	if (!(p->seconds >= 0 && p->seconds <= SESSION_SECONDS_MAX))
		return error_set(err, -EINVAL, "%g seconds: a speed run takes 0 to %g", p->seconds,
				 SESSION_SECONDS_MAX);
	if (p->dscp < -1 || p->dscp > 63)
		return error_set(err, -EINVAL, "DSCP %d: it is 0 to 63", p->dscp);
	if (p->ecn && p->dscp < 0)
		return error_set(err, -EINVAL, "ECN goes with a DSCP");
	if (p->suite == SESSION_GDR && strcmp(p->memory[0], "cuda") && strcmp(p->memory[1], "cuda"))
		return error_set(err, -EINVAL, "suite gdr is of cuda memory at one end or both");
	if ((p->suite == SESSION_PFC || p->suite == SESSION_ECN) && p->dscp < 0)
		return error_set(err, -EINVAL, "suite %s is of marked packets: a DSCP is missing",
				 session_suite_names[p->suite]);
	if (p->suite == SESSION_ECN && !p->ecn)
		return error_set(err, -EINVAL, "suite ecn is of ECN-capable packets");
	if (session_memory_bytes(p) > SESSION_MEMORY_MAX)
		return error_set(err, -EINVAL,
				 "%zu bytes of memory would be registered: at most %zu; "
				 "take fewer queue pairs, a smaller depth or smaller messages",
				 session_memory_bytes(p), SESSION_MEMORY_MAX);
	return 0;
}

json_t *session_parameters_message(const struct session_parameters *p)
{
	json_t *message = json_object_new(), *names = json_arr(message, "operations");

	json_put_string(message, "type", "parameters");
	if (p->suite)
		json_put_string(message, "suite", session_suite_names[p->suite]);
	if (p->compare)
		json_put_bool(message, "compare", true);
	for (size_t i = 0; i < SESSION_OPERATIONS; i++) {
		if (p->operations & session_operation_names[i].bit)
			json_append_text(names, session_operation_names[i].name);
	}
	json_put_int(message, "size_min", (int64_t)p->size_min);
	json_put_int(message, "size_max", (int64_t)p->size_max);
	json_put_int(message, "qps", p->qps);
	json_put_int(message, "depth", p->depth);
	json_put(message, "seconds", json_real(p->seconds));
	if (p->dscp >= 0) {
		json_put_int(message, "dscp", p->dscp);
		json_put_bool(message, "ecn", p->ecn);
	}
	json_put_string(message, "memory", p->memory[0]);
	json_put_string(message, "peer_memory", p->memory[1]);
	if (p->senders > 1)
		json_put_int(message, "senders", p->senders);
	/* JSON has no unsigned 64-bit numbers that every reader keeps */
	json_put_stringf(message, "seed", "%016" PRIx64, p->seed);
	return message;
}

static int read_number(uint64_t *value, json_t *message, const char *key, uint64_t max,
		       struct error *err)
{
	json_t *number = json_object_get(message, key);

	if (!json_is_integer(number) || json_integer_value(number) < 0 ||
	    (uint64_t)json_integer_value(number) > max)
		return error_set(err, -EPROTO, "parameters of the peer: %s is no number up to %"
				 PRIu64, key, max);
	*value = (uint64_t)json_integer_value(number);
	return 0;
}

static int read_memory(char kind[16], json_t *message, const char *key, struct error *err)
{
	const char *text = json_get_string(message, key, "");

	if (!*text || strlen(text) > 15 || text[strspn(text, "abcdefghijklmnopqrstuvwxyz")])
		return error_set(err, -EPROTO, "parameters of the peer: %s is no kind of memory",
				 key);
	memcpy(kind, text, strlen(text) + 1);
	return 0;
}

static int read_suite(enum session_suite *suite, json_t *message, struct error *err)
{
	json_t *name = json_object_get(message, "suite");

	*suite = SESSION_NO_SUITE;
	if (!name)
		return 0;
	for (size_t i = 0; i < SESSION_SUITES; i++) {
		if (session_suite_names[i] && json_is_string(name) &&
		    !strcmp(session_suite_names[i], json_string_value(name)))
			*suite = (enum session_suite)i;
	}
	return *suite ? 0 : error_set(err, -EPROTO, "parameters of the peer: an unknown suite");
}

static int read_operations(unsigned *bits, json_t *message, struct error *err)
{
	json_t *names = json_object_get(message, "operations"), *name;
	size_t i;

	*bits = 0;
	json_array_foreach(names, i, name) {
		unsigned bit = json_is_string(name) ? operation_bit(json_string_value(name)) : 0;

		if (!bit)
			return error_set(err, -EPROTO,
					 "parameters of the peer: an unknown operation");
		*bits |= bit;
	}
	return 0;
}

int session_parameters_read(struct session_parameters *p, json_t *message, struct error *err)
{
	const struct {
		const char *key;
		uint64_t max;
	} numbers[] = {
		{ "size_min", SESSION_SIZE_MAX },
		{ "size_max", SESSION_SIZE_MAX },
		{ "qps", ENDPOINT_QPS_MAX },
		{ "depth", SESSION_DEPTH_MAX },
		{ "dscp", 63 },
	};
	uint64_t values[ARRAY_SIZE(numbers)] = {0};
	json_t *seconds = json_object_get(message, "seconds");
	bool marked = json_object_get(message, "dscp");
	const char *seed = json_get_string(message, "seed", "");

	*p = (struct session_parameters){0};
	for (size_t i = 0; i < ARRAY_SIZE(numbers) - !marked; i++) {
		int rc = read_number(&values[i], message, numbers[i].key, numbers[i].max, err);

		if (rc < 0)
			return rc;
	}
	if (!json_is_number(seconds) || strlen(seed) != 16 ||
	    strspn(seed, "0123456789abcdef") != 16 || text_to_u64(seed, 16, &p->seed))
		return error_set(err, -EPROTO, "parameters of the peer: %s is missing or malformed",
				 json_is_number(seconds) ? "seed" : "seconds");
	p->size_min = values[0];
	p->size_max = values[1];
	p->qps = (unsigned)values[2];
	p->depth = (unsigned)values[3];
	p->seconds = json_number_value(seconds);
	p->dscp = marked ? (int)values[4] : -1;
	p->ecn = json_get_bool(message, "ecn", false);
	p->compare = json_get_bool(message, "compare", false);
	int rc = read_suite(&p->suite, message, err);
	if (!rc)
		rc = read_operations(&p->operations, message, err);
	if (!rc)
		rc = read_memory(p->memory[0], message, "memory", err);
	if (!rc)
		rc = read_memory(p->memory[1], message, "peer_memory", err);
	if (!rc && session_parameters_check(p, err) < 0) {
		error_wrap(err, "parameters of the peer");
		rc = -EPROTO;
	}
	return rc;
}
