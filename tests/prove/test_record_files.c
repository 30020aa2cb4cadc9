/* SPDX-License-Identifier: Apache-2.0 */
/* The folder of proof records: damaged, hostile and half written files, and folders that take
 * none. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../judge/scene.h"
#include "records.h"

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
		{ "/runs", "[{'operation': 'write'}]", "a run that does not tell what it is" },
		{ "/runs", "[{'run': 'integrity', 'reverse': 'no'}]", "a run without a direction" },
		{ "/local/role", NULL, "an end without a role" },
		{ "/peer/role", "'server'", "an end without a role" },
		{ "/peer/role", "'initiator'", "two ends of one role" },
		{ "/verdict", "'pass'", "no verdict" },
	};
	struct records_test *t = *state;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_json_ json_t *record = records_of(t, NULL, 0), *gaps = NULL;

		scene_set(record, rows[i].pointer, rows[i].value);
		_cleanup_free_ char *text = json_to_text(record, true);
		records_write(t, "x.json", text, strlen(text));
		_cleanup_json_ json_t *proofs = records_load(t, &gaps);
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
	struct records_test *t = *state;
	_cleanup_json_ json_t *record = records_of(t, NULL, 0);
	_cleanup_free_ char *text = json_to_text(record, true);
	size_t len = strlen(text);

	free(records_store(t, record));
	for (size_t cut = 0; cut < len - 1; cut += 1 + cut / 8) {
		_cleanup_json_ json_t *gaps = NULL;

		records_write(t, "half.json", text, cut);
		_cleanup_json_ json_t *proofs = records_load(t, &gaps);
		assert_int_equal(json_array_size(json_object_get(proofs, "host")), 1);
		assert_int_equal(json_array_size(gaps), 1);
	}
}

static void hostile_files(void **state)
{
	struct records_test *t = *state;
	const size_t huge = (4u << 20) + 1;
	_cleanup_free_ char *spaces = xmalloc(huge), *fifo = xasprintf("%s/f.json", t->folder);
	_cleanup_free_ char *folder = xasprintf("%s/d.json", t->folder);
	_cleanup_free_ char *link = xasprintf("%s/l.json", t->folder);
	_cleanup_json_ json_t *gaps = NULL;
	char deep[4096];

	memset(spaces, ' ', huge);
	records_write(t, "huge.json", spaces, huge);
	memset(deep, '[', sizeof(deep));
	records_write(t, "deep.json", deep, sizeof(deep));
	records_write(t, "nul.json", "{\"schema\": \"a\0b\"}", 17);
	records_write(t, "twice.json", "{\"schema\": 1, \"schema\": 2}", 26);
	records_write(t, "being-written.json.a1b2c3", "{", 1);
	records_write(t, "README", "notes", 5);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(mkdir(folder, 0700), 0);
	assert_int_equal(symlink("l.json", link), 0);
	_cleanup_json_ json_t *proofs = records_load(t, &gaps);
	assert_int_equal(json_object_size(proofs), 0);
	assert_int_equal(json_array_size(gaps), 7);
}

static void many_damaged(void **state)
{
	struct records_test *t = *state;
	_cleanup_json_ json_t *gaps = NULL;

	for (int i = 0; i < 30; i++) {
		_cleanup_free_ char *name = xasprintf("%02d.json", i);

		records_write(t, name, "{", 1);
	}
	json_decref(records_load(t, &gaps));
	assert_int_equal(json_array_size(gaps), 21);
	assert_non_null(strstr(json_get_string(json_array_get(gaps, 20), "reason", ""),
			       "10 more files are no proof records"));
}

/* --- where nothing can be stored -------------------------------------------------------------- */

static void folder_is_made(void **state)
{
	struct records_test *t = *state;
	_cleanup_free_ char *below = xasprintf("%s/railhead/proofs", t->folder);
	_cleanup_free_ char *deeper = xasprintf("%s/a/b/c", t->folder), *path = NULL, *none = NULL;
	_cleanup_json_ json_t *record = records_of(t, NULL, 0), *proofs = NULL;
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
	struct records_test *t = *state;
	_cleanup_free_ char *file = xasprintf("%s/file", t->folder), *path = NULL;
	_cleanup_json_ json_t *record = records_of(t, NULL, 0), *proofs = NULL;
	_cleanup_error_ struct error err = {0};

	records_write(t, "file", "", 0);
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
	struct records_test *t = *state;
	_cleanup_json_ json_t *record = records_of(t, "aaaaaaaa", 0), *gaps = NULL;
	_cleanup_json_ json_t *other = records_of(t, "bbbbbbbb", 5);
	_cleanup_error_ struct error err = {0};
	struct rlimit limit, small;
	char *failed;

	free(records_store(t, record));
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	small = limit;
	small.rlim_cur = 1000;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	int rc = proof_store(other, t->folder, &failed, &err);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(rc, -EFBIG);
	assert_null(failed);
	_cleanup_json_ json_t *proofs = records_load(t, &gaps);
	assert_int_equal(json_array_size(gaps), 0);
	assert_int_equal(json_array_size(json_object_get(proofs, "host")), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, records_open, records_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(damaged),	      TEST(half_written),   TEST(hostile_files),
		TEST(many_damaged),   TEST(folder_is_made), TEST(folder_is_none),
		TEST(full_disk),
	};

	return cmocka_run_group_tests_name("record_files", tests, NULL, NULL);
}
