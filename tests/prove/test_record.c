/* SPDX-License-Identifier: Apache-2.0 */
/* Proof records: verdict, the newest of a folder, freshness. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "../judge/scene.h"
#include "records.h"

/* --- verdict ---------------------------------------------------------------------------------- */

#define COUNTERS(rdma, tcp)                                                                      \
	"{'difference': {}, 'payload_bytes': 1, 'rdma_moved': " rdma ", 'tcp_moved': " tcp ", " \
	"'why': []}"

static void verdicts(void **state)
{
	struct records_test *t = *state;
	const struct {
		struct records_form form;
		const char *status, *why;
	} rows[] = {
		{ { .kind = "host" }, "pass", NULL },
		{ { .double_used = true }, "unknown", "double: a test double was used" },
		{ { .local_memory = "{'kind': 'cuda', 'double': true}" }, "unknown", "double" },
		{ { .runs = "[{'run': 'integrity', 'operation': 'write', 'reverse': false, "
			    "'result': {'verified': false}}]" },
		  "fail", "integrity of write: not what was sent arrived" },
		{ { .runs = "[{'run': 'integrity', 'operation': 'read', 'reverse': true, 'result': "
			    "{'verified': false}}]", .double_used = true },
		  "unknown", "integrity of read, listener to initiator" },
		{ { .runs = "[{'run': 'marking', 'error': 'no UD'}]" }, "unknown",
		  "marking did not take place: no UD" },
		{ { .runs = "[{'run': 'bandwidth', 'operation': 'write', 'result': {}}]" },
		  "unknown", "bandwidth of write verified nothing" },
		{ { .runs = "[]" }, "unknown", "nothing was run" },
		{ { .local_counters = COUNTERS("false", "false") }, "fail",
		  "the RDMA counters of gpu-node-01 did not move" },
		{ { .peer_counters = COUNTERS("true", "true") }, "fail",
		  "TCP of aistor-01 moved by the payload" },
		{ { .peer_counters = COUNTERS("null", "false") }, "unknown",
		  "no counter of aistor-01 tells" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct records_form form = rows[i].form;

		form.local_snapshot = t->gpu;
		form.peer_snapshot = t->storage;
		_cleanup_json_ json_t *record = records_make(&form);
		json_t *verdict = json_object_get(record, "verdict");
		_cleanup_free_ char *why = json_to_text(json_object_get(verdict, "why"), false);

		assert_string_equal(json_get_string(verdict, "status", ""), rows[i].status);
		if (rows[i].why && !strstr(why, rows[i].why))
			fail_msg("%zu: \"%s\" is not in %s", i, rows[i].why, why);
		assert_int_equal(proof_record_check(record, "made", NULL), 0);
	}
}

static void doubled_snapshot(void **state)
{
	struct records_test *t = *state;

	scene_set(t->storage, "/source/kind", "'double'");
	_cleanup_json_ json_t *record = records_of(t, NULL, 0);
	assert_true(json_get_bool(record, "double", false));
	assert_string_equal(json_get_string(json_object_get(record, "verdict"), "status", ""),
			    "unknown");
}

/* --- the folder ------------------------------------------------------------------------------- */

static void stored_and_found(void **state)
{
	struct records_test *t = *state;
	_cleanup_json_ json_t *record = records_of(t, NULL, 1767225600), *gaps = NULL;
	_cleanup_free_ char *path = records_store(t, record);
	_cleanup_json_ json_t *proofs = records_load(t, &gaps);
	json_t *found = json_array_get(json_object_get(proofs, "host"), 0);

	assert_string_equal(strrchr(path, '/'),
			    "/host-aistor-01-20260101T000000Z-01234567-initiator.json");
	assert_int_equal(json_array_size(gaps), 0);
	assert_int_equal(json_get_int(found, "serial", 0), 1);
	assert_string_equal(json_get_string(found, "taken", ""), "2026-01-01T00:00:00Z");
	assert_null(json_object_get(record, "serial"));	/* the caller's is left alone */
	json_object_del(found, "serial");
	assert_true(json_equal(found, record));
}

/* Neither the clock nor the time of the file decides. */
static void newest_by_content(void **state)
{
	struct records_test *t = *state;
	_cleanup_json_ json_t *before = records_of(t, "aaaaaaaa", 1767225600), *gaps = NULL;
	_cleanup_json_ json_t *after = records_of(t, "bbbbbbbb", 86400); /* the clock was lost */
	const struct timespec old[2] = { { 1000, 0 }, { 1000, 0 } };

	free(records_store(t, before));
	_cleanup_free_ char *second = records_store(t, after);
	assert_int_equal(utimensat(AT_FDCWD, second, old, 0), 0);
	_cleanup_json_ json_t *proofs = records_load(t, &gaps);
	json_t *list = json_object_get(proofs, "host");
	assert_int_equal(json_array_size(list), 1);
	assert_string_equal(json_get_string(json_array_get(list, 0), "run", ""), "bbbbbbbb");
	assert_string_equal(json_get_string(json_array_get(list, 0), "taken", ""),
			    "1970-01-02T00:00:00Z");
}

/* Pairs of links, nodes and kinds each have their newest. */
static void pairs_are_kept_apart(void **state)
{
	struct records_test *t = *state;
	_cleanup_json_ json_t *a = records_of(t, "aaaaaaaa", 10), *b = records_of(t, "bbbbbbbb", 20);
	_cleanup_json_ json_t *c = records_of(t, "cccccccc", 30), *d = records_of(t, "dddddddd", 40);
	_cleanup_json_ json_t *gaps = NULL;

	scene_set(b, "/peer/path/link", "'ens1f1'");
	scene_set(c, "/peer/node", "'aistor-02'");
	scene_set(d, "/kind", "'marking'");
	free(records_store(t, a));
	free(records_store(t, b));
	free(records_store(t, c));
	free(records_store(t, d));
	_cleanup_json_ json_t *proofs = records_load(t, &gaps);
	assert_int_equal(json_array_size(json_object_get(proofs, "host")), 3);
	assert_int_equal(json_array_size(json_object_get(proofs, "marking")), 1);
}

static void hostile_names(void **state)
{
	struct records_test *t = *state;
	_cleanup_json_ json_t *record = records_of(t, NULL, 0);

	scene_set(record, "/peer/node", "'../../etc/$(reboot) x'");
	_cleanup_free_ char *path = records_store(t, record);
	assert_string_equal(strrchr(path, '/'), "/host-.._.._etc___reboot__x-19700101T000000Z-"
						"01234567-initiator.json");
}

/* --- attached to snapshots -------------------------------------------------------------------- */

static void freshness(void **state)
{
	struct records_test *t = *state;
	_cleanup_json_ json_t *record = records_of(t, NULL, 0), *gaps = NULL;
	json_t *both[] = { t->gpu, t->storage };

	/* what a file says of its own freshness is not believed */
	scene_set(record, "/freshness", "{'local': {'same': true}, 'peer': {'same': true}}");
	free(records_store(t, record));
	_cleanup_json_ json_t *proofs = records_load(t, &gaps);
	proof_attach(both, 1, proofs);
	assert_true(json_is_true(json_at(t->gpu, "/proofs/host/0/freshness/local/same")));
	assert_null(json_at(t->gpu, "/proofs/host/0/freshness/peer"));

	json_object_del(t->gpu, "proofs");
	scene_set(t->storage, "/os/kernel/release", "'6.13'");
	proof_attach(both, 2, proofs);
	assert_true(json_is_true(json_at(t->gpu, "/proofs/host/0/freshness/local/same")));
	assert_true(json_is_false(json_at(t->gpu, "/proofs/host/0/freshness/peer/same")));
	assert_non_null(strstr(json_get_string(json_at(t->gpu, "/proofs/host/0/freshness/peer"),
					       "changed", ""), "is \"6.13\""));
	assert_null(json_at(t->storage, "/proofs"));	/* it is the peer in it */
}

/* What QoS sets makes a baseline no older, and all others. */
static void freshness_by_kind(void **state)
{
	static const struct {
		const char *kind;
		bool after_qos, after_kernel;
	} rows[] = {
		{ "host", false, false },    { "baseline", true, false }, { "marking", false, false },
		{ "pfc", false, false },     { "ecn", false, false },
	};
	struct records_test *t = *state;
	_cleanup_json_ json_t *proofs = json_object_new();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		json_append(json_arr(proofs, rows[i].kind),
			    records_make(&(struct records_form){ .kind = rows[i].kind,
								 .local_snapshot = t->gpu,
								 .peer_snapshot = t->storage }));
	scene_set(t->gpu, "/links/ens1f0/dcb/pfc/enabled", "[]");
	scene_set(t->gpu, "/rdma/devices/rocep27s0f0/cm/1/default_roce_tos", "0");
	proof_attach(&t->gpu, 1, proofs);
	scene_set(t->gpu, "/os/kernel/release", "'6.13'");
	proof_attach(&t->gpu, 1, proofs);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_t *qos = json_at(t->gpu, "/proofs/%s/0/freshness/local/same", rows[i].kind);
		json_t *kernel = json_at(t->gpu, "/proofs/%s/1/freshness/local/same", rows[i].kind);

		if (json_is_true(qos) != rows[i].after_qos ||
		    json_is_true(kernel) != rows[i].after_kernel)
			fail_msg("%s", rows[i].kind);
	}
}

/* Rows of another form stand in these lists. */
static void other_kinds(void **state)
{
	struct records_test *t = *state;
	_cleanup_json_ json_t *record = records_make(&(struct records_form){
		.kind = "gdr", .local_snapshot = t->gpu, .peer_snapshot = t->storage });
	_cleanup_json_ json_t *gaps = NULL;

	free(records_store(t, record));
	_cleanup_json_ json_t *proofs = records_load(t, &gaps);
	assert_int_equal(json_array_size(json_object_get(proofs, "gdr")), 1);
	proof_attach(&t->gpu, 1, proofs);
	assert_int_equal(json_array_size(json_at(t->gpu, "/proofs/gdr")), 1);
}

/* Whoever reads a record looks at each run: their number must be one that a proof can have. */
static void too_many_runs(void **state)
{
	struct records_test *t = *state;
	_cleanup_json_ json_t *record = records_of(t, NULL, 0);
	json_t *runs = json_object_get(record, "runs");
	_cleanup_error_ struct error err = {0};

	while (json_array_size(runs) < 1024)
		json_append(runs, scene_json("{'run': 'integrity'}"));
	assert_int_equal(proof_record_check(record, "it", &err), 0);
	json_append(runs, scene_json("{'run': 'integrity'}"));
	assert_int_equal(proof_record_check(record, "it", &err), -EINVAL);
	assert_string_equal(error_text(&err), "it: a proof record with more runs than any proof has");
}

/* --- the example ------------------------------------------------------------------------------ */

#define EXAMPLE RAILHEAD_SOURCE "/tests/data/proofs/host-aistor-01.json"

static json_t *example_make(const struct records_test *t)
{
	json_t *record = records_of(t, "0123456789abcdef", 1767225600);

	json_put_string(record, "railhead", "1.0");
	json_put_int(record, "serial", 1);
	return record;
}

/* What other tests and docs/proof.md show is what is written today (--update writes it). */
static void example(void **state)
{
	_cleanup_json_ json_t *kept = json_load_file(EXAMPLE, 0, NULL);
	_cleanup_json_ json_t *made = example_make(*state);

	assert_true(json_equal(kept, made));
}

static int example_update(void)
{
	struct records_test *t;

	records_open((void **)&t);
	_cleanup_json_ json_t *record = example_make(t);
	_cleanup_free_ char *text = json_to_text(record, true);
	FILE *f = fopen(EXAMPLE, "w");
	bool written = f && fputs(text, f) >= 0;

	if (f)
		written &= fclose(f) == 0;
	records_close((void **)&t);
	return written ? 0 : 1;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, records_open, records_close)

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--update"))
		return example_update();

	const struct CMUnitTest tests[] = {
		TEST(verdicts),		  TEST(doubled_snapshot),
		TEST(stored_and_found),	  TEST(newest_by_content),
		TEST(pairs_are_kept_apart), TEST(hostile_names),
		TEST(freshness),	  TEST(freshness_by_kind),
		TEST(other_kinds),	  TEST(too_many_runs),
		TEST(example),
	};

	return cmocka_run_group_tests_name("record", tests, NULL, NULL);
}
