/* SPDX-License-Identifier: Apache-2.0 */
/* What is to be run, as a message of a peer: nothing of it is believed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "prove/endpoint.h"
#include "prove/session.h"

static const struct session_parameters good = {
	.operations = SESSION_WRITE | SESSION_SEND,
	.size_min = 1,
	.size_max = 1 << 20,
	.qps = 4,
	.depth = 64,
	.seconds = 0.5,
	.dscp = 24,
	.ecn = true,
	.memory = { "host", "cuda" },
	.seed = 0xfedcba9876543210,
};

static void there_and_back(void **state)
{
	struct session_parameters p = good, seen;
	_cleanup_error_ struct error err = {0};

	(void)state;
	for (int marked = 1; marked >= 0; marked--) {
		p.dscp = marked ? 24 : -1;
		p.ecn = marked;
		_cleanup_json_ json_t *message = session_parameters_message(&p);
		assert_int_equal(session_parameters_read(&seen, message, &err), 0);
		assert_int_equal(seen.operations, p.operations);
		assert_int_equal(seen.size_min, p.size_min);
		assert_int_equal(seen.size_max, p.size_max);
		assert_int_equal(seen.qps, p.qps);
		assert_int_equal(seen.depth, p.depth);
		assert_true(seen.seconds == p.seconds);
		assert_int_equal(seen.dscp, p.dscp);
		assert_int_equal(seen.ecn, p.ecn);
		assert_string_equal(seen.memory[0], "host");
		assert_string_equal(seen.memory[1], "cuda");
		assert_true(seen.seed == p.seed);
	}
}

/* The good message with one member replaced by a JSON text, or removed. */
static int read_with(const char *key, const char *value, struct error *err)
{
	_cleanup_json_ json_t *message = session_parameters_message(&good);
	struct session_parameters seen;

	if (value)
		json_put(message, key, json_loads(value, JSON_DECODE_ANY, NULL));
	else
		json_object_del(message, key);
	return session_parameters_read(&seen, message, err);
}

static void hostile(void **state)
{
	static const struct {
		const char *key, *value;
	} bad[] = {
		{ "operations", NULL }, { "operations", "[]" }, { "operations", "[\"copy\"]" },
		{ "operations", "[1]" }, { "operations", "\"write\"" }, { "size_min", NULL },
		{ "size_min", "0" }, { "size_min", "-1" }, { "size_min", "1.5" },
		{ "size_min", "2000000" }, { "size_max", "67108865" }, { "size_max", "\"8\"" },
		{ "size_max", "9223372036854775807" }, { "qps", "0" }, { "qps", "65" },
		{ "qps", NULL }, { "depth", "1" }, { "depth", "4097" }, { "seconds", NULL },
		{ "seconds", "-0.1" }, { "seconds", "3601" }, { "seconds", "true" },
		{ "dscp", "64" }, { "dscp", "-1" }, { "dscp", "\"24\"" }, { "memory", NULL },
		{ "memory", "\"\"" }, { "memory", "\"../../etc/passwd\"" },
		{ "peer_memory", "\"sixteenlettersxx\"" }, { "peer_memory", "7" },
		{ "seed", NULL }, { "seed", "\"1\"" }, { "seed", "\"000000000000000g\"" },
		{ "seed", "\" 00000000000000a\"" }, { "seed", "\"-00000000000000a\"" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		_cleanup_error_ struct error err = {0};

		if (read_with(bad[i].key, bad[i].value, &err) != -EPROTO)
			fail_msg("%s %s was taken", bad[i].key,
				 bad[i].value ? bad[i].value : "missing");
		assert_non_null(strstr(error_text(&err), "of the peer"));
	}
	/* ECN without a DSCP to go with */
	assert_int_equal(read_with("dscp", NULL, NULL), -EPROTO);
	/* what a later version may add */
	assert_int_equal(read_with("colour", "\"blue\"", NULL), 0);
}

/* The largest of everything at once is 64 QPs of 64 MiB: that is the limit. */
static void memory(void **state)
{
	struct session_parameters p = good;

	(void)state;
	p.size_min = p.size_max = 1;
	p.qps = 1;
	p.depth = 2;
	assert_int_equal(session_memory_bytes(&p), 8192);
	p.size_max = SESSION_SIZE_MAX;
	assert_int_equal(session_memory_bytes(&p), SESSION_SIZE_MAX);
	p.qps = ENDPOINT_QPS_MAX;
	p.depth = SESSION_DEPTH_MAX;
	assert_true(session_memory_bytes(&p) <= SESSION_MEMORY_MAX);
	p.size_max = 100001;
	assert_true(session_memory_bytes(&p) >= p.qps * p.size_max);
	assert_true(session_memory_bytes(&p) % 4096 == 0);
}

static void operations(void **state)
{
	static const char *const bad[] = { "", ",", "write,", ",write", "write,,send", "Write",
					   "write send", "writes" };
	unsigned bits;

	(void)state;
	assert_int_equal(session_operations_read(&bits, "send,write", NULL), 0);
	assert_int_equal(bits, SESSION_SEND | SESSION_WRITE);
	assert_int_equal(session_operations_read(&bits, "read", NULL), 0);
	assert_int_equal(bits, SESSION_READ);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(session_operations_read(&bits, bad[i], NULL), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_and_back),
		cmocka_unit_test(hostile),
		cmocka_unit_test(memory),
		cmocka_unit_test(operations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
