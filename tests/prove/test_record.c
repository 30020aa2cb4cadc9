/* SPDX-License-Identifier: Apache-2.0 */
/* Proof records: verdict, folder, damaged files, freshness. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../judge/scene.h"
#include "records.h"

struct folder_test {
	json_t *gpu, *storage;	/* snapshots */
	char *folder;
};

static int setup(void **state)
{
	struct folder_test *t = xcalloc(1, sizeof(*t));

	t->gpu = records_snapshot("e810-b300-healthy.json");
	t->storage = records_snapshot("e810-storage-healthy.json");
	t->folder = records_folder_new();
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	struct folder_test *t = *state;

	json_decref(t->gpu);
	json_decref(t->storage);
	records_folder_remove(t->folder);
	free(t->folder);
	free(t);
	return 0;
}

static json_t *record_of(const struct folder_test *t, const char *run, int64_t realtime_s)
{
	return records_make(&(struct records_form){ .run = run, .realtime_s = realtime_s,
						    .local_snapshot = t->gpu,
						    .peer_snapshot = t->storage });
}

static char *store(const struct folder_test *t, json_t *record)
{
	_cleanup_error_ struct error err = {0};
	char *path;

	if (proof_store(record, t->folder, &path, &err) < 0)
		fail_msg("%s", error_text(&err));
	return path;
}

static json_t *load(const struct folder_test *t, json_t **gaps)
{
	_cleanup_error_ struct error err = {0};
	json_t *proofs;

	*gaps = json_array_new();
	if (proof_load(&proofs, t->folder, *gaps, &err) < 0)
		fail_msg("%s", error_text(&err));
	return proofs;
}

static void write_file(const struct folder_test *t, const char *name, const char *text, size_t len)
{
	_cleanup_free_ char *path = xasprintf("%s/%s", t->folder, name);
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

/* --- verdict ---------------------------------------------------------------------------------- */

#define COUNTERS(rdma, tcp)                                                                      \
	"{'difference': {}, 'payload_bytes': 1, 'rdma_moved': " rdma ", 'tcp_moved': " tcp ", " \
	"'why': []}"

static void verdicts(void **state)
{
	struct folder_test *t = *state;
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
	struct folder_test *t = *state;

	scene_set(t->storage, "/source/kind", "'double'");
	_cleanup_json_ json_t *record = record_of(t, NULL, 0);
	assert_true(json_get_bool(record, "double", false));
	assert_string_equal(json_get_string(json_object_get(record, "verdict"), "status", ""),
			    "unknown");
}

/* --- the folder ------------------------------------------------------------------------------- */

static void stored_and_found(void **state)
{
	struct folder_test *t = *state;
	_cleanup_json_ json_t *record = record_of(t, NULL, 1767225600), *gaps = NULL;
	_cleanup_free_ char *path = store(t, record);
	_cleanup_json_ json_t *proofs = load(t, &gaps);
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
	struct folder_test *t = *state;
	_cleanup_json_ json_t *before = record_of(t, "aaaaaaaa", 1767225600), *gaps = NULL;
	_cleanup_json_ json_t *after = record_of(t, "bbbbbbbb", 86400); /* the clock was lost */
	const struct timespec old[2] = { { 1000, 0 }, { 1000, 0 } };

	free(store(t, before));
	_cleanup_free_ char *second = store(t, after);
	assert_int_equal(utimensat(AT_FDCWD, second, old, 0), 0);
	_cleanup_json_ json_t *proofs = load(t, &gaps);
	json_t *list = json_object_get(proofs, "host");
	assert_int_equal(json_array_size(list), 1);
	assert_string_equal(json_get_string(json_array_get(list, 0), "run", ""), "bbbbbbbb");
	assert_string_equal(json_get_string(json_array_get(list, 0), "taken", ""),
			    "1970-01-02T00:00:00Z");
}

/* Pairs of links, nodes and kinds each have their newest. */
static void pairs_are_kept_apart(void **state)
{
	struct folder_test *t = *state;
	_cleanup_json_ json_t *a = record_of(t, "aaaaaaaa", 10), *b = record_of(t, "bbbbbbbb", 20);
	_cleanup_json_ json_t *c = record_of(t, "cccccccc", 30), *d = record_of(t, "dddddddd", 40);
	_cleanup_json_ json_t *gaps = NULL;

	scene_set(b, "/peer/path/link", "'ens1f1'");
	scene_set(c, "/peer/node", "'aistor-02'");
	scene_set(d, "/kind", "'marking'");
	free(store(t, a));
	free(store(t, b));
	free(store(t, c));
	free(store(t, d));
	_cleanup_json_ json_t *proofs = load(t, &gaps);
	assert_int_equal(json_array_size(json_object_get(proofs, "host")), 3);
	assert_int_equal(json_array_size(json_object_get(proofs, "marking")), 1);
}

static void hostile_names(void **state)
{
	struct folder_test *t = *state;
	_cleanup_json_ json_t *record = record_of(t, NULL, 0);

	scene_set(record, "/peer/node", "'../../etc/$(reboot) x'");
	_cleanup_free_ char *path = store(t, record);
	assert_string_equal(strrchr(path, '/'), "/host-.._.._etc___reboot__x-19700101T000000Z-"
						"01234567-initiator.json");
}

/* --- damaged files ---------------------------------------------------------------------------- */

static void damaged(void **state)
{
	static const struct {
		const char *pointer, *value, *reason;
	} rows[] = {
		{ "/schema", "'railhead.proof/9'", "this railhead reads" },
		{ "/schema", NULL, "not a proof record" },
		{ "/kind", "'../x'", "no kind" },
		{ "/run", "'zz'", "no name of a run" },
		{ "/taken", "'yesterday'", "no time" },
		{ "/serial", "-1", "a serial that is no number" },
		{ "/double", "'no'", "nothing about doubles" },
		{ "/local", "[]", "a node without a name" },
		{ "/local/node", "''", "a node without a name" },
		{ "/peer/path", "7", "a path without link or device" },
		{ "/peer/fingerprint", "null", "an end without a fingerprint" },
		{ "/local/double", NULL, "does not tell" },
		{ "/runs", "{}", "no list of runs" },
		{ "/runs", "[1]", "a run that is no object" },
		{ "/verdict", "'pass'", "no verdict" },
	};
	struct folder_test *t = *state;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_json_ json_t *record = record_of(t, NULL, 0), *gaps = NULL;

		scene_set(record, rows[i].pointer, rows[i].value);
		_cleanup_free_ char *text = json_to_text(record, true);
		write_file(t, "x.json", text, strlen(text));
		_cleanup_json_ json_t *proofs = load(t, &gaps);
		const char *why = json_get_string(json_array_get(gaps, 0), "reason", "");

		assert_int_equal(json_object_size(proofs), 0);
		assert_int_equal(json_array_size(gaps), 1);
		if (!strstr(why, rows[i].reason) || !strstr(why, "/x.json"))
			fail_msg("%s: \"%s\" is not in \"%s\"", rows[i].pointer, rows[i].reason,
				 why);
	}
}

/* A record cut at any byte is no record, and the good one beside it is found. */
static void half_written(void **state)
{
	struct folder_test *t = *state;
	_cleanup_json_ json_t *record = record_of(t, NULL, 0);
	_cleanup_free_ char *text = json_to_text(record, true);
	size_t len = strlen(text);

	free(store(t, record));
	for (size_t cut = 0; cut < len - 1; cut += 1 + cut / 8) {
		_cleanup_json_ json_t *gaps = NULL;

		write_file(t, "half.json", text, cut);
		_cleanup_json_ json_t *proofs = load(t, &gaps);
		assert_int_equal(json_array_size(json_object_get(proofs, "host")), 1);
		assert_int_equal(json_array_size(gaps), 1);
	}
}

static void hostile_files(void **state)
{
	struct folder_test *t = *state;
	const size_t huge = (4u << 20) + 1;
	_cleanup_free_ char *spaces = xmalloc(huge), *fifo = xasprintf("%s/f.json", t->folder);
	_cleanup_free_ char *folder = xasprintf("%s/d.json", t->folder);
	_cleanup_free_ char *link = xasprintf("%s/l.json", t->folder);
	_cleanup_json_ json_t *gaps = NULL;
	char deep[4096];

	memset(spaces, ' ', huge);
	write_file(t, "huge.json", spaces, huge);
	memset(deep, '[', sizeof(deep));
	write_file(t, "deep.json", deep, sizeof(deep));
	write_file(t, "nul.json", "{\"schema\": \"a\0b\"}", 17);
	write_file(t, "twice.json", "{\"schema\": 1, \"schema\": 2}", 26);
	write_file(t, "being-written.json.a1b2c3", "{", 1);
	write_file(t, "README", "notes", 5);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(mkdir(folder, 0700), 0);
	assert_int_equal(symlink("l.json", link), 0);
	_cleanup_json_ json_t *proofs = load(t, &gaps);
	assert_int_equal(json_object_size(proofs), 0);
	assert_int_equal(json_array_size(gaps), 7);
}

static void many_damaged(void **state)
{
	struct folder_test *t = *state;
	_cleanup_json_ json_t *gaps = NULL;

	for (int i = 0; i < 30; i++) {
		_cleanup_free_ char *name = xasprintf("%02d.json", i);

		write_file(t, name, "{", 1);
	}
	json_decref(load(t, &gaps));
	assert_int_equal(json_array_size(gaps), 21);
	assert_non_null(strstr(json_get_string(json_array_get(gaps, 20), "reason", ""),
			       "10 more files are no proof records"));
}

/* --- where nothing can be stored -------------------------------------------------------------- */

static void folder_is_made(void **state)
{
	struct folder_test *t = *state;
	_cleanup_free_ char *below = xasprintf("%s/railhead/proofs", t->folder);
	_cleanup_free_ char *deeper = xasprintf("%s/a/b/c", t->folder), *path = NULL, *none = NULL;
	_cleanup_json_ json_t *record = record_of(t, NULL, 0), *proofs = NULL;
	_cleanup_error_ struct error err = {0};

	assert_int_equal(proof_load(&proofs, below, NULL, &err), -ENOENT);
	assert_int_equal(proof_store(record, below, &path, &err), 0);
	assert_int_equal(access(path, R_OK), 0);
	assert_int_equal(proof_store(record, deeper, &none, &err), -ENOENT);
	assert_null(none);
	assert_non_null(strstr(error_text(&err), "/a/b"));
}

static void folder_is_none(void **state)
{
	struct folder_test *t = *state;
	_cleanup_free_ char *file = xasprintf("%s/file", t->folder), *path = NULL;
	_cleanup_json_ json_t *record = record_of(t, NULL, 0), *proofs = NULL;
	_cleanup_error_ struct error err = {0};

	write_file(t, "file", "", 0);
	assert_int_equal(proof_store(record, file, &path, &err), -ENOTDIR);
	assert_int_equal(proof_load(&proofs, file, NULL, &err), -ENOTDIR);
	/* nobody, not even root, makes anything here */
	assert_true(proof_store(record, "/proc/railhead", &path, &err) < 0);
	assert_null(path);
	assert_non_null(strstr(error_text(&err), "/proc/railhead"));
}

/* As a full disk: no half record is left, and what was there stays. */
static void full_disk(void **state)
{
	struct folder_test *t = *state;
	_cleanup_json_ json_t *record = record_of(t, "aaaaaaaa", 0), *gaps = NULL;
	_cleanup_json_ json_t *other = record_of(t, "bbbbbbbb", 5);
	_cleanup_error_ struct error err = {0};
	struct rlimit limit, small;
	char *failed;

	free(store(t, record));
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	small = limit;
	small.rlim_cur = 1000;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	int rc = proof_store(other, t->folder, &failed, &err);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(rc, -EFBIG);
	assert_null(failed);
	_cleanup_json_ json_t *proofs = load(t, &gaps);
	assert_int_equal(json_array_size(gaps), 0);
	assert_int_equal(json_array_size(json_object_get(proofs, "host")), 1);
}

/* --- attached to snapshots -------------------------------------------------------------------- */

static void freshness(void **state)
{
	struct folder_test *t = *state;
	_cleanup_json_ json_t *record = record_of(t, NULL, 0), *gaps = NULL;
	json_t *both[] = { t->gpu, t->storage };

	/* what a file says of its own freshness is not believed */
	scene_set(record, "/freshness", "{'local': {'same': true}, 'peer': {'same': true}}");
	free(store(t, record));
	_cleanup_json_ json_t *proofs = load(t, &gaps);
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

/* Rows of another form stand in these lists. */
static void other_kinds(void **state)
{
	struct folder_test *t = *state;
	_cleanup_json_ json_t *record = records_make(&(struct records_form){
		.kind = "gdr", .local_snapshot = t->gpu, .peer_snapshot = t->storage });
	_cleanup_json_ json_t *gaps = NULL;

	free(store(t, record));
	_cleanup_json_ json_t *proofs = load(t, &gaps);
	assert_int_equal(json_array_size(json_object_get(proofs, "gdr")), 1);
	proof_attach(&t->gpu, 1, proofs);
	assert_null(json_at(t->gpu, "/proofs/gdr"));
}

/* --- the example ------------------------------------------------------------------------------ */

#define EXAMPLE RAILHEAD_SOURCE "/tests/data/proofs/host-aistor-01.json"

static json_t *example_make(const struct folder_test *t)
{
	json_t *record = record_of(t, "0123456789abcdef", 1767225600);

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
	struct folder_test *t;

	setup((void **)&t);
	_cleanup_json_ json_t *record = example_make(t);
	_cleanup_free_ char *text = json_to_text(record, true);
	FILE *f = fopen(EXAMPLE, "w");
	bool written = f && fputs(text, f) >= 0;

	if (f)
		written &= fclose(f) == 0;
	teardown((void **)&t);
	return written ? 0 : 1;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--update"))
		return example_update();

	const struct CMUnitTest tests[] = {
		TEST(verdicts),		TEST(doubled_snapshot),	   TEST(stored_and_found),
		TEST(newest_by_content), TEST(pairs_are_kept_apart), TEST(hostile_names),
		TEST(damaged),		TEST(half_written),	   TEST(hostile_files),
		TEST(many_damaged),	TEST(folder_is_made),	   TEST(folder_is_none),
		TEST(full_disk),
		TEST(freshness),	TEST(other_kinds),	   TEST(example),
	};

	return cmocka_run_group_tests_name("record", tests, NULL, NULL);
}
