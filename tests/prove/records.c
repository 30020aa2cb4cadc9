/* SPDX-License-Identifier: Apache-2.0 */
#include "records.h"

#include <ftw.h>
#include <stdio.h>
#include <unistd.h>

#include "../judge/scene.h"

json_t *records_snapshot(const char *name)
{
	_cleanup_free_ char *path = xasprintf(RAILHEAD_SOURCE "/tests/data/snapshots/%s", name);
	json_error_t why;
	json_t *snapshot = json_load_file(path, 0, &why);

	if (!snapshot)
		fail_msg("%s: %s", path, why.text);
	return snapshot;
}

#define RUN(operation, reverse)                                                             \
	"{'run': 'integrity', 'operation': '" operation "', 'reverse': " reverse ", 'result': " \
	"{'verified': true, 'bytes': 1048576}}"

static const char all_runs[] = "[" RUN("write", "false") ", " RUN("write", "true") ", "
			       RUN("read", "false") ", " RUN("read", "true") "]";
static const char good_counters[] = "{'difference': {}, 'payload_bytes': 2097152, 'rdma_moved': "
				    "true, 'tcp_moved': false, 'why': []}";

static json_t *end_make(json_t *snapshot, bool initiator, const char *counters, const char *memory)
{
	struct path_request request = { .snapshot = snapshot, .link = "ens1f0", .gid_index = -1 };
	_cleanup_error_ struct error err = {0};
	struct path path;

	if (path_choose(&path, &request, &err) < 0)
		fail_msg("%s", error_text(&err));
	json_t *end = proof_end_new(snapshot, &path, initiator);
	path_clear(&path);
	json_put(end, "counters", scene_json(counters ? counters : good_counters));
	json_put(end, "memory", scene_json(memory ? memory : "{'kind': 'host', 'double': false}"));
	return end;
}

json_t *records_make(const struct records_form *form)
{
	_cleanup_json_ json_t *parameters = scene_json("{'qps': 1}");
	_cleanup_json_ json_t *runs = scene_json(form->runs ? form->runs : all_runs);
	_cleanup_json_ json_t *local =
		end_make(form->local_snapshot, true, form->local_counters, form->local_memory);
	_cleanup_json_ json_t *peer =
		end_make(form->peer_snapshot, false, form->peer_counters, NULL);
	struct proof_parts parts = {
		.kind = form->kind ? form->kind : "host",
		.run = form->run ? form->run : "0123456789abcdef",
		.realtime_s = form->realtime_s,
		.double_used = form->double_used,
		.parameters = parameters,
		.local = local,
		.peer = peer,
		.runs = runs,
	};

	return proof_record_new(&parts);
}

char *records_folder_new(void)
{
	char *folder = xstrdup("/tmp/railhead-proofs-XXXXXX");

	assert_non_null(mkdtemp(folder));
	return folder;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type, (void)at;
	return remove(path);
}

void records_folder_remove(const char *folder)
{
	assert_int_equal(nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

/* --- a test with a folder --------------------------------------------------------------------- */

int records_open(void **state)
{
	struct records_test *t = xcalloc(1, sizeof(*t));

	t->gpu = records_snapshot("e810-b300-healthy.json");
	t->storage = records_snapshot("e810-storage-healthy.json");
	t->folder = records_folder_new();
	*state = t;
	return 0;
}

int records_close(void **state)
{
	struct records_test *t = *state;

	json_decref(t->gpu);
	json_decref(t->storage);
	records_folder_remove(t->folder);
	free(t->folder);
	free(t);
	return 0;
}

json_t *records_of(const struct records_test *t, const char *run, int64_t realtime_s)
{
	return records_make(&(struct records_form){ .run = run, .realtime_s = realtime_s,
						    .local_snapshot = t->gpu,
						    .peer_snapshot = t->storage });
}

char *records_store(const struct records_test *t, json_t *record)
{
	_cleanup_error_ struct error err = {0};
	char *path;

	if (proof_store(record, t->folder, &path, &err) < 0)
		fail_msg("%s", error_text(&err));
	return path;
}

json_t *records_load(const struct records_test *t, json_t **gaps)
{
	_cleanup_error_ struct error err = {0};
	json_t *proofs;

	*gaps = json_array_new();
	if (proof_load(&proofs, t->folder, *gaps, &err) < 0)
		fail_msg("%s", error_text(&err));
	return proofs;
}

void records_write(const struct records_test *t, const char *name, const char *text, size_t len)
{
	_cleanup_free_ char *path = xasprintf("%s/%s", t->folder, name);
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}
