/* SPDX-License-Identifier: Apache-2.0 */
/* Whole proofs in which a double of perftest follows each speed run, and what it must not change. */
#include "records.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "prove/counters.h"
#include "prove/proof_pair.h"

static const char *const programs[] = { "ib_write_bw", "ib_write_lat" };

/* perftest speaks TCP: both ends are at addresses that this machine has. */
static json_t *at_loopback(json_t *snapshot)
{
	_cleanup_free_ char *text = json_to_text(snapshot, false);

	for (char *at = text; (at = strstr(at, "192.0.2."));)
		memcpy(at, "127.0.0.", 8);
	json_decref(snapshot);
	json_t *changed = json_loads(text, 0, NULL);
	assert_non_null(changed);
	return changed;
}

static void side_prepare(struct proof_side *side, const char *const *folders)
{
	side->snapshot = at_loopback(side->snapshot);
	side->end.want.snapshot = side->snapshot;
	/* with a root no program is started */
	host_close(side->end.host);
	assert_int_equal(host_open(&side->end.host, NULL, NULL), 0);
	side->end.perftest_folders = folders;
	side->end.compare = true;
}

static void pair_open(struct proof_pair *pair, const char *const *folders)
{
	struct pair_keys keys;
	int ends[2];

	proof_pair_open(pair, NULL);
	side_prepare(&pair->a, folders);
	side_prepare(&pair->b, folders);
	wire_close(pair->a.end.wire);
	wire_close(pair->b.end.wire);
	pair_keys(&keys);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends),
			 0);
	pair->a.end.wire = wire_new(ends[0], "127.0.0.2", &keys.connector);
	pair->b.end.wire = wire_new(ends[1], "127.0.0.1", &keys.listener);
}

static char *doubles_new(void)
{
	char *folder = records_folder_new();

	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		_cleanup_free_ char *path = xasprintf("%s/%s", folder, programs[i]);
		assert_int_equal(symlink(RAILHEAD_SOURCE "/tests/doubles/perftest_double.py", path),
				 0);
	}
	unsetenv("PERFTEST_DOUBLE");
	unsetenv("PERFTEST_DOUBLE_LOG");
	return folder;
}

static const struct session_parameters writes = {
	.compare = true,
	.operations = SESSION_WRITE,
	.size_min = 8,
	.size_max = 4096,
	.qps = 1,
	.depth = 8,
	.seconds = 0.02,
	.dscp = -1,
	.memory = { "host", "host" },
	.seed = 0x123456789abcdef0,
};

/* Both ends ended well, and keep the same runs. */
static json_t *record_of(const struct proof_pair *pair)
{
	json_t *a = json_array_get(pair->a.records, 0), *b = json_array_get(pair->b.records, 0);

	if (pair->a.rc || pair->b.rc)
		fail_msg("%s / %s", error_text(&pair->a.err), error_text(&pair->b.err));
	assert_true(json_equal(json_object_get(a, "runs"), json_object_get(b, "runs")));
	return a;
}

static void verdict_is_silent(json_t *record)
{
	_cleanup_free_ char *verdict = json_to_text(json_object_get(record, "verdict"), false);

	assert_null(strstr(verdict, "perftest"));
}

static void follows_each_speed_run(void **state)
{
	static const char *const runs[] = { "integrity", "integrity", "bandwidth", "perftest",
					    "bandwidth", "perftest",  "latency",   "perftest" };
	_cleanup_free_ char *folder = doubles_new();
	const char *const folders[] = { folder, NULL };
	struct proof_pair pair;
	json_t *run;
	size_t i;

	(void)state;
	pair_open(&pair, folders);
	proof_pair_run(&pair, &writes);
	json_t *record = record_of(&pair);
	assert_int_equal(json_array_size(json_object_get(record, "runs")), ARRAY_SIZE(runs));
	json_array_foreach(json_object_get(record, "runs"), i, run) {
		json_t *result = json_object_get(run, "result");

		assert_string_equal(json_get_string(run, "run", ""), runs[i]);
		if (strcmp(runs[i], "perftest"))
			continue;
		if (!result)
			fail_msg("%s", json_get_string(run, "error", ""));
		assert_int_equal(json_get_bool(run, "reverse", false), i == 5);
		assert_true(json_real_value(json_object_get(result, "ratio")) > 0);
		/* to the end that does not post, from the other one */
		assert_true(text_ends_with(json_get_string(result, "command", ""),
					   i == 5 ? " 127.0.0.1" : " 127.0.0.2"));
	}
	verdict_is_silent(record);
	proof_pair_close(&pair);
	records_folder_remove(folder);
}

static void is_missing_or_refused(void **state)
{
	static const char *const nowhere[] = { "/nowhere", NULL };

	(void)state;
	for (int refused = 0; refused < 2; refused++) {
		struct proof_pair pair;
		json_t *run;
		size_t i, seen = 0;

		pair_open(&pair, nowhere);
		pair.b.end.compare = !refused;
		proof_pair_run(&pair, &writes);
		json_t *record = record_of(&pair);
		json_array_foreach(json_object_get(record, "runs"), i, run) {
			const char *error = json_get_string(run, "error", NULL);

			if (strcmp(json_get_string(run, "run", ""), "perftest")) {
				assert_null(error);
				continue;
			}
			seen++;
			assert_non_null(strstr(error, " is not installed (package perftest)"));
			assert_int_equal(!!strstr(error, "aistor-01: perftest is not run where "
						  "--compare perftest was not given"), refused);
		}
		assert_int_equal(seen, 3);
		verdict_is_silent(record);
		proof_pair_close(&pair);
	}
}

/* A record passes or fails as if perftest had never been. */
static void decides_nothing(void **state)
{
	static const struct {
		const char *runs, *status;
	} cases[] = {
		{ "[{'run': 'bandwidth', 'operation': 'write', 'result': {'verified': true}}, "
		  "{'run': 'perftest', 'operation': 'write', 'error': 'not installed'}, "
		  "{'run': 'perftest', 'operation': 'write', 'result': {'verified': false}}]",
		  "pass" },
		{ "[{'run': 'bandwidth', 'operation': 'write', 'result': {'verified': false}}, "
		  "{'run': 'perftest', 'operation': 'write', 'result': {'verified': true}}]",
		  "fail" },
	};
	struct records_test *t = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct records_form form = {
			.kind = "host",
			.run = "0123456789abcdef",
			.local_snapshot = t->gpu,
			.peer_snapshot = t->storage,
			.runs = cases[i].runs,
		};
		_cleanup_json_ json_t *record = records_make(&form);
		assert_string_equal(json_string_value(json_pointer_get(record, "/verdict/status")),
				    cases[i].status);
		assert_int_equal(proof_record_check(record, "made", NULL), 0);
	}
}

/* What perftest moved is taken out of the counters. */
static void counters_leave_it_out(void **state)
{
	_cleanup_json_ json_t *before = scene_json("{'rdma': {'sent_pkts': 100, 'gone': 5, "
						   "'huge': '18446744073709551615'}, 'tcp': {}}");
	_cleanup_json_ json_t *skipped = scene_json("{'rdma': {'sent_pkts': 40, 'huge': 1, "
						    "'new': 3}, 'link': {'rx_bytes': 9}}");
	_cleanup_json_ json_t *after = scene_json("{'rdma': {'sent_pkts': 150, 'gone': 6, "
						  "'huge': 7, 'new': 9}, 'sizes': {'x': 1}}");
	_cleanup_json_ json_t *wanted = scene_json("{'rdma': {'sent_pkts': 10}, 'sizes': {'x': 1}}");

	(void)state;
	_cleanup_json_ json_t *since = counters_sum(before, skipped);
	_cleanup_json_ json_t *difference = counters_difference(since, after);
	assert_true(json_equal(difference, wanted));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(follows_each_speed_run),
		cmocka_unit_test(is_missing_or_refused),
		cmocka_unit_test_setup_teardown(decides_nothing, records_open, records_close),
		cmocka_unit_test(counters_leave_it_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
