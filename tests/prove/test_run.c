/* SPDX-License-Identifier: Apache-2.0 */
/* Runs between two honest ends, and ends that go away. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "prove/ends.h"

static const char *const operations[] = { "write", "read", "send" };

static struct run_parameters parameters(const char *operation, bool reverse)
{
	return (struct run_parameters){
		.operation = operation,
		.reverse = reverse,
		.size_min = 1,
		.size_max = 8192,
		.seconds = 0.15,
		.seed = 0x1234567890abcdef,
		.step_ms = 20000,
	};
}

static void is_verified(json_t *result)
{
	if (!json_get_bool(result, "verified", false)) {
		_cleanup_free_ char *text = json_to_text(result, true);
		fail_msg("%s", text);
	}
	assert_null(json_object_get(result, "fault"));
}

/* All operations in both directions on the same queue pairs: none leaves anything to the next. */
static void integrity(unsigned qps, size_t bytes, size_t bytes_listener)
{
	const struct ends_setup setup = {
		.qps = qps, .bytes = bytes, .bytes_listener = bytes_listener };
	struct ends ends;

	ends_open(&ends, &setup);
	for (unsigned i = 0; i < 2 * ARRAY_SIZE(operations); i++) {
		struct run_parameters p = parameters(operations[i / 2], i % 2);

		ends_run_both(&ends, run_integrity, &p);
		is_verified(ends_result(&ends));
		/* 14 powers of two, 8191, and 3 … 4097 and the packets' borders, twice each */
		assert_int_equal(json_get_int(ends.a.result, "qps", 0), qps);
		assert_int_equal(json_get_int(ends.a.result, "messages", 0),
				 2 * qps * json_array_size(json_object_get(ends.a.result,
									   "sizes_bytes")));
	}
	ends_close(&ends);
}

static void integrity_one_qp(void **state RH_UNUSED)
{
	integrity(1, 0, 0);
}

static void integrity_many_qps(void **state RH_UNUSED)
{
	integrity(5, 65536, 0);
}

/* Two slots for five QPs; one for all, which the message fills. */
static void integrity_in_little_memory(void **state RH_UNUSED)
{
	integrity(5, 20000, 17000);
	integrity(3, 8192, 8192);
}

static void integrity_knows_its_sizes(void **state RH_UNUSED)
{
	static const json_int_t some[] = { 1, 2, 3, 5, 1023, 1024, 1025, 2047, 2049, 4095, 4096, 4097,
					   8191, 8192 };
	struct run_parameters p = parameters("write", false);
	const struct ends_setup setup = {0};
	struct ends ends;
	size_t i, found = 0;
	json_t *size;

	ends_open(&ends, &setup);
	ends_run_both(&ends, run_integrity, &p);
	json_array_foreach(json_object_get(ends_result(&ends), "sizes_bytes"), i, size)
		for (size_t j = 0; j < ARRAY_SIZE(some); j++)
			found += json_integer_value(size) == some[j];
	assert_int_equal(found, ARRAY_SIZE(some));
	ends_close(&ends);
}

static void bandwidth(void **state RH_UNUSED)
{
	const struct ends_setup setup = { .qps = 3, .depth = 16 };
	struct ends ends;

	ends_open(&ends, &setup);
	for (unsigned i = 0; i < 2 * ARRAY_SIZE(operations); i++) {
		struct run_parameters p = parameters(operations[i / 2], i % 2);

		p.size_max = 1000;
		ends_run_both(&ends, run_bandwidth, &p);
		json_t *result = ends_result(&ends);
		is_verified(result);
		assert_true(json_real_value(json_object_get(result, "gbit_per_s")) > 0);
		assert_int_equal(json_get_int(result, "bytes", 0),
				 1000 * json_get_int(result, "messages", 0));
		/* three samples tell nothing of steadiness */
		assert_false(json_get_bool(result, "steady", true));
		assert_non_null(json_get_string(result, "derivation", NULL));
	}
	ends_close(&ends);
}

/* More queue pairs than places, and a ring of one place. */
static void bandwidth_in_little_memory(void **state RH_UNUSED)
{
	const struct ends_setup setup = { .qps = 5, .depth = 4, .bytes = 20000 };
	struct ends ends;

	ends_open(&ends, &setup);
	for (unsigned i = 0; i < ARRAY_SIZE(operations); i++) {
		struct run_parameters p = parameters(operations[i], false);

		ends_run_both(&ends, run_bandwidth, &p);
		is_verified(ends_result(&ends));
	}
	ends_close(&ends);
}

static void latency(void **state RH_UNUSED)
{
	const struct ends_setup setup = { .qps = 2 };
	struct ends ends;

	ends_open(&ends, &setup);
	for (unsigned i = 0; i < 2 * ARRAY_SIZE(operations); i++) {
		struct run_parameters p = parameters(operations[i / 2], i % 2);
		json_int_t last = 0, in_histogram = 0;
		json_t *result, *bucket;
		size_t b;

		p.size_min = i % 2 ? 1 : 8;
		ends_run_both(&ends, run_latency, &p);
		result = ends_result(&ends);
		is_verified(result);
		for (size_t k = 0; k < 5; k++) {
			static const char *const rising[] = { "min_ns", "median_ns", "p99_ns",
							      "p99_9_ns", "max_ns" };
			json_int_t ns = json_get_int(result, rising[k], -1);

			assert_true(ns >= last);
			last = ns;
		}
		json_array_foreach(json_object_get(result, "histogram"), b, bucket)
			in_histogram += json_get_int(bucket, "count", 0);
		assert_true(in_histogram > 0);
		assert_int_equal(in_histogram, json_get_int(result, "samples", 0));
		assert_string_equal(json_get_string(result, "arrival", ""),
				    i < 2 ? "seen in memory by the processor" : "a completion");
	}
	ends_close(&ends);
}

/* Memory that the processor cannot read, as that of a GPU: __wrap_memory_pointer() below. */
static bool hidden;
void *__real_memory_pointer(const struct memory *memory, size_t offset);
void *__wrap_memory_pointer(const struct memory *memory, size_t offset);
void *__wrap_memory_pointer(const struct memory *memory, size_t offset)
{
	return hidden ? NULL : __real_memory_pointer(memory, offset);
}

static void latency_of_hidden_memory(void **state RH_UNUSED)
{
	struct run_parameters p = parameters("write", false);
	const struct ends_setup setup = {0};
	struct ends ends;

	ends_open(&ends, &setup);
	hidden = true;
	ends_run_both(&ends, run_latency, &p);
	hidden = false;
	is_verified(ends_result(&ends));
	assert_string_equal(json_get_string(ends.a.result, "arrival", ""), "a completion");
	/* nothing is left over for the next */
	ends_run_both(&ends, run_integrity, &p);
	is_verified(ends_result(&ends));
	ends_close(&ends);
}

static int mark(json_t **result, struct run_end *end, const struct run_parameters *p,
		struct error *err)
{
	return run_marking(result, end, p, 24 << 2 | 2, err);
}

static void marking(void **state RH_UNUSED)
{
	const struct ends_setup setup = { .ud = true, .traffic_class = 24 << 2 | 2, .depth = 64 };
	struct ends ends;

	ends_open(&ends, &setup);
	for (unsigned reverse = 0; reverse < 2; reverse++) {
		struct run_parameters p = parameters("send", reverse);

		ends_run_both(&ends, mark, &p);
		json_t *result = ends_result(&ends);
		is_verified(result);
		assert_int_equal(json_get_int(result, "messages_arrived", 0), 32);
		assert_int_equal(json_get_int(result, "unreadable", -1), 0);
		assert_int_equal(json_get_int(json_at(result, "/arrived/0"), "dscp", 0), 24);
		assert_int_equal(json_get_int(json_at(result, "/arrived/0"), "ecn", 0), 2);
		assert_int_equal(json_get_int(json_at(result, "/arrived/0"), "messages", 0), 32);
		assert_int_equal(json_get_int(result, "ip_version", 0), 4);
	}
	ends_close(&ends);
}

static void marking_of_hidden_memory(void **state RH_UNUSED)
{
	const struct ends_setup setup = { .ud = true, .traffic_class = 24 << 2 | 2 };
	struct run_parameters p = parameters("send", false);
	struct ends ends;

	ends_open(&ends, &setup);
	hidden = true;
	ends_run_both(&ends, mark, &p);
	hidden = false;
	assert_int_equal(ends.a.rc, -EREMOTEIO);
	assert_int_equal(ends.b.rc, -EOPNOTSUPP);
	ends_close(&ends);
}

/* --- ends that do not fit, or go away --------------------------------------------------------- */

static void ends_that_disagree(void **state RH_UNUSED)
{
	struct run_parameters a = parameters("write", false), b = parameters("write", false);
	const struct ends_setup setup = {0};
	struct ends ends;

	ends_open(&ends, &setup);
	b.size_max = 4096;
	ends_run_two(&ends, run_integrity, run_integrity, &a, &b);
	assert_int_equal(ends.a.rc, -EPROTO);
	assert_string_equal(ends.a.err.message, "the two ends disagree about size_max");
	assert_int_equal(ends.b.rc, -EPROTO);
	ends_close(&ends);

	ends_open(&ends, &setup);
	ends_run_two(&ends, run_integrity, run_bandwidth, &a, &a);
	assert_int_equal(ends.a.rc, -EPROTO);
	assert_string_equal(ends.a.err.message, "the two ends disagree about run");
	ends_close(&ends);

	ends_open(&ends, &setup);
	a.size_max = 1 << 20;
	ends_run_both(&ends, run_integrity, &a);
	assert_int_equal(ends.a.rc, -EINVAL);
	assert_non_null(strstr(ends.a.err.message, "do not go into 65536 bytes"));
	ends_close(&ends);
}

static _Thread_local unsigned words_left;
static ends_run *dying_run;

/* A channel that breaks with the n-th word that this end says: __wrap_wire_send() below. */
int __real_wire_send(struct wire *wire, json_t *message, int timeout_ms, struct error *err);
int __wrap_wire_send(struct wire *wire, json_t *message, int timeout_ms, struct error *err);
int __wrap_wire_send(struct wire *wire, json_t *message, int timeout_ms, struct error *err)
{
	if (words_left && !--words_left)
		shutdown(wire_fd(wire), SHUT_RDWR);
	return __real_wire_send(wire, message, timeout_ms, err);
}

static unsigned dying_words;

static int run_and_die(json_t **result, struct run_end *end, const struct run_parameters *p,
		       struct error *err)
{
	words_left = dying_words;
	int rc = dying_run(result, end, p, err);
	bool died = !words_left;

	words_left = 0;
	return died || rc < 0 ? rc : 1;
}

/* Each end dies with each of the words that it says, in each run: the other one ends, soon, and says
 * that it is gone. */
static void peer_dies_at_each_word(ends_run *run, bool ud, const struct run_parameters *p,
				   bool initiator_dies)
{
	const struct ends_setup setup = {
		.ud = ud, .depth = 64, .traffic_class = 24 << 2 | 2 };

	dying_run = run;
	for (dying_words = 1;; dying_words++) {
		struct ends ends;
		struct ends_side *dies = initiator_dies ? &ends.a : &ends.b,
				 *stays = initiator_dies ? &ends.b : &ends.a;

		ends_open(&ends, &setup);
		if (initiator_dies)
			ends_run_two(&ends, run_and_die, run, p, p);
		else
			ends_run_two(&ends, run, run_and_die, p, p);
		bool lived = dies->rc == 1;
		if (!lived && stays->rc != -ECONNRESET && stays->rc != -EPIPE)
			fail_msg("after %u words: %d, %s", dying_words, stays->rc,
				 error_text(&stays->err));
		if (!lived)
			assert_non_null(stays->err.message);
		ends_close(&ends);
		if (lived)
			break;
	}
	assert_true(dying_words > 3);
}

static void peer_dies(void **state RH_UNUSED)
{
	for (unsigned i = 0; i < 2 * ARRAY_SIZE(operations); i++) {
		struct run_parameters p = parameters(operations[i / 2], false);
		bool initiator_dies = i % 2;

		p.size_max = p.size_min = 64;
		p.iterations = 2;
		p.seconds = 0.02;
		p.step_ms = 5000;
		peer_dies_at_each_word(run_integrity, false, &p, initiator_dies);
		peer_dies_at_each_word(run_bandwidth, false, &p, initiator_dies);
		peer_dies_at_each_word(run_latency, false, &p, initiator_dies);
		if (!strcmp(operations[i / 2], "send"))
			peer_dies_at_each_word(mark, true, &p, initiator_dies);
	}
}

/* Who answers keeps a limit of its own, however long the other end goes on. */
static void who_never_stops_is_left(void **state RH_UNUSED)
{
	static const struct {
		ends_run *run;
		const char *operation;
	} runs[] = {
		{ run_latency, "write" }, { run_latency, "send" },
		{ run_bandwidth, "send" }, { run_bandwidth, "write" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(runs); i++) {
		const struct run_parameters brief = {
			.operation = runs[i].operation, .size_min = 8, .size_max = 8,
			.seconds = 0.01, .seed = 1, .step_ms = 500,
		};
		struct run_parameters endless = brief;
		const struct ends_setup setup = {0};
		struct ends ends;

		endless.seconds = 20;
		ends_open(&ends, &setup);
		ends_run_two(&ends, runs[i].run, runs[i].run, &endless, &brief);
		if (ends.b.rc != -ETIMEDOUT)
			fail_msg("%s: %d %s", runs[i].operation, ends.b.rc,
				 error_text(&ends.b.err));
		assert_true(ends.a.rc < 0);
		ends_close(&ends);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integrity_one_qp),
		cmocka_unit_test(integrity_many_qps),
		cmocka_unit_test(integrity_in_little_memory),
		cmocka_unit_test(integrity_knows_its_sizes),
		cmocka_unit_test(bandwidth),
		cmocka_unit_test(bandwidth_in_little_memory),
		cmocka_unit_test(latency),
		cmocka_unit_test(latency_of_hidden_memory),
		cmocka_unit_test(marking),
		cmocka_unit_test(marking_of_hidden_memory),
		cmocka_unit_test(ends_that_disagree),
		cmocka_unit_test(peer_dies),
		cmocka_unit_test(who_never_stops_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
