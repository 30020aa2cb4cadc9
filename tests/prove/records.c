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
