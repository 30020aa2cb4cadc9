/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Providers that lie: each lie of the double about one operation of an integrity run has to be seen,
 * and called by its name. The same runs pass on a provider that is honest.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "prove/ends.h"

struct lie {
	const char *name, *operation;
	struct verbs_double_lie lie;
	size_t size;
	unsigned nth;		/* message that it is told of, from 0 */
	const char *fault;	/* its kind */
	json_int_t offset, bytes;	/* of the fault; -1: not looked at */
	int code;		/* or the error that the active end has, */
	const char *words;	/* with this in it */
	unsigned said;
};

/* 4096 bytes fill their slot: each message goes to the same place. Three messages of each size. */
static const struct lie lies[] = {
	{ "nothing", "write", { VERBS_DOUBLE_HONEST }, 4096, 0 },
	{ "nothing", "read", { VERBS_DOUBLE_HONEST }, 4096, 0 },
	{ "nothing", "send", { VERBS_DOUBLE_HONEST }, 4096, 0 },

	{ "drop", "write", { VERBS_DOUBLE_DROP }, 4096, 1, "missing", 0, -1 },
	{ "drop", "read", { VERBS_DOUBLE_DROP }, 4096, 1,
	  .code = -ETIMEDOUT, .words = "1 operations (read) without a completion" },
	{ "drop", "send", { VERBS_DOUBLE_DROP }, 4096, 1,
	  .code = -ETIMEDOUT, .words = "1 operations (send) without a completion" },

	{ "success without moving", "write", { VERBS_DOUBLE_LOSE }, 4096, 1, "missing", 0, -1 },
	{ "success without moving", "read", { VERBS_DOUBLE_LOSE }, 4096, 1, "missing", 0, -1 },
	{ "success without moving", "send", { VERBS_DOUBLE_LOSE }, 4096, 1, "missing", 0, -1 },
	{ "success without moving", "write", { VERBS_DOUBLE_LOSE }, 1, 1, "missing", 0, 1 },
	{ "success without moving", "read", { VERBS_DOUBLE_LOSE }, 1, 1, "missing", 0, 1 },
	{ "success without moving", "send", { VERBS_DOUBLE_LOSE }, 1, 1, "missing", 0, 1 },

	{ "duplicate", "send", { VERBS_DOUBLE_DUPLICATE }, 4096, 1, "duplicate", -1, -1 },
	{ "duplicate", "send", { VERBS_DOUBLE_DUPLICATE }, 1, 2, "duplicate", -1, -1 },
	/* of a write: the bytes come once more, over those of the next one */
	{ "duplicate", "write", { VERBS_DOUBLE_DUPLICATE, .amount = 2 }, 4096, 0, "stale", 0, 4096 },
	{ "duplicate", "read", { VERBS_DOUBLE_DUPLICATE, .amount = 1 }, 4096, 0, "stale", 0, 4096 },

	{ "shift", "write", { VERBS_DOUBLE_SHIFT }, 5000, 0, "misplaced", 0, -1 },
	{ "shift", "read", { VERBS_DOUBLE_SHIFT }, 5000, 0, "misplaced", 0, -1 },
	{ "shift", "send", { VERBS_DOUBLE_SHIFT }, 5000, 0, "misplaced", 0, -1 },
	{ "shift", "write", { VERBS_DOUBLE_SHIFT }, 4096, 0, "misplaced", 0, -1 },
	{ "shift", "read", { VERBS_DOUBLE_SHIFT }, 1, 0, "misplaced", 0, 1 },
	{ "shift", "send", { VERBS_DOUBLE_SHIFT }, 1, 0, "misplaced", 0, 1 },
	/* into the canary: the second message ends where the memory ends */
	{ "shift", "write", { VERBS_DOUBLE_SHIFT, .amount = 64 }, 65536, 1, "misplaced", 0, -1 },

	{ "truncate", "write", { VERBS_DOUBLE_TRUNCATE, .amount = 9 }, 5000, 0, "missing", 4991, 9 },
	{ "truncate", "read", { VERBS_DOUBLE_TRUNCATE, .amount = 9 }, 5000, 0, "missing", 4991, 9 },
	{ "truncate", "send", { VERBS_DOUBLE_TRUNCATE, .amount = 9 }, 5000, 0, "missing", 4991, 9 },

	{ "stale", "write", { VERBS_DOUBLE_STALE }, 4096, 2, "stale", 0, 4096 },
	{ "stale", "read", { VERBS_DOUBLE_STALE }, 4096, 2, "stale", 0, 4096 },
	{ "stale", "send", { VERBS_DOUBLE_STALE }, 4096, 2, "stale", 0, 4096 },
	{ "stale", "send", { VERBS_DOUBLE_STALE }, 8, 2, "stale", 0, 8 },
	/* one byte does not tell its generation, only that it is not this one's */
	{ "stale", "send", { VERBS_DOUBLE_STALE }, 1, 2, "corrupt", 0, 1 },

	{ "corrupt", "write", { VERBS_DOUBLE_CORRUPT, .amount = 4000 }, 4096, 1, "corrupt", 4000, 1 },
	{ "corrupt", "read", { VERBS_DOUBLE_CORRUPT, .amount = 4000 }, 4096, 1, "corrupt", 4000, 1 },
	{ "corrupt", "send", { VERBS_DOUBLE_CORRUPT, .amount = 4000 }, 4096, 1, "corrupt", 4000, 1 },

	{ "fail", "write",
	  { VERBS_DOUBLE_FAIL, .amount = 0x5a, .status = IBV_WC_REM_ACCESS_ERR }, 4096, 1,
	  .code = -EACCES, .words = "remote access error" },
	{ "fail", "send",
	  { VERBS_DOUBLE_FAIL, .amount = 0x5a, .status = IBV_WC_RETRY_EXC_ERR }, 4096, 1,
	  .code = -EHOSTUNREACH, .words = "retry counter exceeded" },
};

/* Of what carries bytes: not what only tells that they are there. */
static struct verbs_double_lie tell(void *arg, const struct verbs_double_operation *operation)
{
	struct lie *lie = arg;
	const struct verbs_double_lie honest = { VERBS_DOUBLE_HONEST };

	return operation->length && lie->said++ == lie->nth ? lie->lie : honest;
}

static void is_seen(const struct lie *lie, const struct ends *ends)
{
	json_t *fault = json_object_get(ends->a.result, "fault");
	const char *kind = json_get_string(fault, "kind", "none");
	_cleanup_free_ char *text = ends->a.result ? json_to_text(ends->a.result, true) : NULL;

	if (lie->code) {
		if (ends->a.rc != lie->code || !strstr(error_text(&ends->a.err), lie->words))
			fail_msg("%s of a %s: %s", lie->name, lie->operation,
				 text ? text : error_text(&ends->a.err));
		assert_int_equal(ends->b.rc, -EREMOTEIO);
		return;
	}
	ends_result(ends);
	if (strcmp(kind, lie->fault ? lie->fault : "none") ||
	    json_get_bool(ends->a.result, "verified", !lie->fault) != !lie->fault)
		fail_msg("%s of a %s of %zu bytes: %s", lie->name, lie->operation, lie->size, text);
	if (!lie->fault)
		return;
	if (lie->offset >= 0 && json_get_int(fault, "offset", -1) != lie->offset)
		fail_msg("%s of a %s: %s", lie->name, lie->operation, text);
	if (lie->bytes >= 0 && json_get_int(fault, "bytes", -1) != lie->bytes)
		fail_msg("%s of a %s: %s", lie->name, lie->operation, text);
	assert_string_equal(json_get_string(fault, "operation", ""), lie->operation);
	assert_int_equal(json_get_int(fault, "size_bytes", 0), lie->size);
	assert_int_equal(json_get_int(fault, "qp", -1), 0);
	assert_true(json_get_int(fault, "generation", 0) > 0);
	assert_non_null(json_get_string(fault, "text", NULL));
}

static void lies_are_seen(void **state RH_UNUSED)
{
	for (size_t i = 0; i < ARRAY_SIZE(lies); i++) {
		struct lie lie = lies[i];
		const struct ends_setup setup = { .bytes = 65536 };
		const struct run_parameters p = {
			.operation = lie.operation,
			.size_min = lie.size,
			.size_max = lie.size,
			.iterations = 3,
			.seed = 0x5eed,
			.step_ms = lie.code ? 300 : 20000,
		};
		struct ends ends;

		ends_open(&ends, &setup);
		verbs_double_lie(tell, &lie);
		ends_run_both(&ends, run_integrity, &p);
		is_seen(&lie, &ends);
		verbs_double_lie(NULL, NULL);
		ends_close(&ends);
	}
}

/* Of several queue pairs that move at once the one is named whose message was wrong. */
static void the_queue_pair_is_named(void **state RH_UNUSED)
{
	const struct ends_setup setup = { .qps = 3 };
	const struct run_parameters p = {
		.operation = "write",
		.size_min = 4096,
		.size_max = 4096,
		.iterations = 3,
		.seed = 0x5eed,
	};

	for (unsigned nth = 0; nth < 9; nth++) {
		struct lie lie = { .lie = { VERBS_DOUBLE_CORRUPT, .amount = 7 }, .nth = nth };
		struct ends ends;

		ends_open(&ends, &setup);
		verbs_double_lie(tell, &lie);
		ends_run_both(&ends, run_integrity, &p);
		json_t *fault = json_object_get(ends_result(&ends), "fault");
		assert_string_equal(json_get_string(fault, "kind", ""), "corrupt");
		assert_int_equal(json_get_int(fault, "qp", -1), nth % 3);
		assert_int_equal(json_get_int(fault, "generation", -1), 2 * (nth + 1));
		assert_int_equal(json_get_int(fault, "memory_offset", -1), nth % 3 * 4096 + 7);
		verbs_double_lie(NULL, NULL);
		ends_close(&ends);
	}
}

/* --- speed ------------------------------------------------------------------------------------ */

struct late_lie {
	struct verbs_double_lie lie;
	bool now;	/* the timed part is over */
	unsigned said;
};

/* Of the last message to one place, after all was measured. */
static struct verbs_double_lie tell_late(void *arg, const struct verbs_double_operation *operation)
{
	struct late_lie *late = arg;
	const struct verbs_double_lie honest = { VERBS_DOUBLE_HONEST };

	if (operation->opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
		late->now = true;
	return late->now && operation->length && !late->said++ ? late->lie : honest;
}

static void bandwidth_ends_with_a_check(void **state RH_UNUSED)
{
	static const struct {
		enum verbs_double_lie_kind kind;
		const char *fault;
	} late[] = {
		{ VERBS_DOUBLE_HONEST, NULL },
		{ VERBS_DOUBLE_LOSE, "stale" },
		{ VERBS_DOUBLE_STALE, "stale" },
		{ VERBS_DOUBLE_CORRUPT, "corrupt" },
		{ VERBS_DOUBLE_DROP, "stale" },
	};
	const struct run_parameters p = {
		.operation = "write",
		.size_min = 1000,
		.size_max = 1000,
		.seconds = 0.02,
		.seed = 0x5eed,
		.step_ms = 2000,
	};

	for (size_t i = 0; i < ARRAY_SIZE(late); i++) {
		struct late_lie lie = { .lie = { late[i].kind } };
		const struct ends_setup setup = {0};
		struct ends ends;

		ends_open(&ends, &setup);
		verbs_double_lie(tell_late, &lie);
		ends_run_both(&ends, run_bandwidth, &p);
		if (ends.a.rc != -EBADMSG || late[i].kind != VERBS_DOUBLE_DROP) {
			json_t *fault = json_object_get(ends_result(&ends), "fault");

			assert_string_equal(json_get_string(fault, "kind", "none"),
					    late[i].fault ? late[i].fault : "none");
			assert_int_equal(json_get_bool(ends.a.result, "verified", late[i].fault),
					 !late[i].fault);
		}
		verbs_double_lie(NULL, NULL);
		ends_close(&ends);
	}
}

struct twice {
	unsigned nth, said;
};

/* Of what tells that writes are there. */
static struct verbs_double_lie tell_twice(void *arg, const struct verbs_double_operation *operation)
{
	const struct verbs_double_lie honest = { VERBS_DOUBLE_HONEST },
				      twice = { VERBS_DOUBLE_DUPLICATE };
	struct twice *t = arg;

	return operation->opcode == IBV_WR_RDMA_WRITE_WITH_IMM && t->said++ == t->nth ? twice :
										      honest;
}

/* A second one is not taken for the next. What comes when the outcome is known is no result. */
static void fence_that_comes_twice(void **state RH_UNUSED)
{
	static const struct {
		ends_run *run;
		unsigned nth;
		const char *text;
		bool late;
	} twice[] = {
		{ run_integrity, 0, "WRITE with immediate 1 of the queue pair, sent once, came", false },
		{ run_integrity, 1, "WRITE with immediate 2 of the queue pair, sent once, came", false },
		{ run_bandwidth, 0, "WRITE with immediate 1 of the queue pair, sent once, came", false },
		{ run_bandwidth, 1, "WRITE with immediate 2 of the queue pair, sent once, came", false },
		{ run_bandwidth, 2, "duplicate, after the messages: WRITE with immediate 3", true },
	};
	const struct run_parameters p = {
		.operation = "write",
		.size_min = 1000,
		.size_max = 1000,
		.seconds = 0.02,
		.iterations = 3,
		.seed = 0x5eed,
		.step_ms = 2000,
	};

	for (size_t i = 0; i < ARRAY_SIZE(twice); i++) {
		const struct ends_setup setup = {0};
		struct twice t = { .nth = twice[i].nth };
		struct ends ends;

		ends_open(&ends, &setup);
		ends.a.end.number = ends.b.end.number = 5;
		verbs_double_lie(tell_twice, &t);
		ends_run_both(&ends, twice[i].run, &p);
		json_t *fault = json_object_get(twice[i].late ? NULL : ends_result(&ends), "fault");
		const char *text = twice[i].late ? error_text(&ends.b.err) :
						   json_get_string(fault, "text", "");

		assert_string_equal(json_get_string(fault, "kind", "late"),
				    twice[i].late ? "late" : "duplicate");
		if (!strstr(text, twice[i].text))
			fail_msg("%zu: %s", i, text);
		verbs_double_lie(NULL, NULL);
		ends_close(&ends);
	}
}

/* --- marks ------------------------------------------------------------------------------------ */

static int mark(json_t **result, struct run_end *end, const struct run_parameters *p,
		struct error *err)
{
	return run_marking(result, end, p, 24 << 2 | 2, err);
}

static void remarks_are_seen(void **state RH_UNUSED)
{
	static const struct {
		struct verbs_double_lie lie;
		const char *fault, *text;
		json_int_t ce_marked;
	} remarks[] = {
		{ { VERBS_DOUBLE_HONEST }, NULL, NULL, 0 },
		{ { VERBS_DOUBLE_REMARK, .tos = 0 }, "remarked",
		  "DSCP 24 and ECN 2 were sent, DSCP 0 and ECN 0 arrived, in 32 of 32 messages", 0 },
		{ { VERBS_DOUBLE_REMARK, .tos = 24 << 2 }, "remarked",
		  "DSCP 24 and ECN 2 were sent, DSCP 24 and ECN 0 arrived, in 32 of 32 messages", 0 },
		{ { VERBS_DOUBLE_REMARK, .tos = 24 << 2 | 3 }, NULL, NULL, 32 },
		{ { VERBS_DOUBLE_CORRUPT, .amount = 3 }, "payload", NULL, 0 },
	};
	const struct ends_setup setup = {
		.ud = true, .traffic_class = 24 << 2 | 2, .depth = 64 };
	const struct run_parameters p = {
		.operation = "send", .size_min = 64, .size_max = 64, .seed = 0x5eed };

	for (size_t i = 0; i < ARRAY_SIZE(remarks); i++) {
		struct verbs_double_lie lie = remarks[i].lie;
		struct ends ends;

		ends_open(&ends, &setup);
		verbs_double_lie(lie_always, &lie);
		ends_run_both(&ends, mark, &p);
		json_t *result = ends_result(&ends), *fault = json_object_get(result, "fault");
		assert_string_equal(json_get_string(fault, "kind", "none"),
				    remarks[i].fault ? remarks[i].fault : "none");
		if (remarks[i].text)
			assert_string_equal(json_get_string(fault, "text", ""), remarks[i].text);
		assert_int_equal(json_get_bool(result, "verified", remarks[i].fault),
				 !remarks[i].fault);
		assert_int_equal(json_get_int(result, "ce_marked", -1), remarks[i].ce_marked);
		verbs_double_lie(NULL, NULL);
		ends_close(&ends);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lies_are_seen),
		cmocka_unit_test(the_queue_pair_is_named),
		cmocka_unit_test(bandwidth_ends_with_a_check),
		cmocka_unit_test(fence_that_comes_twice),
		cmocka_unit_test(remarks_are_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
