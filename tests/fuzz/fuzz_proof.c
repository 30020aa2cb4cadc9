/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a proof record: what its check lets through is attached to two snapshots and judged.
 * Beyond not crashing: a record of a test double is never a pass.
 */
#include <stdlib.h>
#include <string.h>

#include "judge/gate.h"
#include "prove/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A node as the end of a record has it: so that the record is about the two that are judged. */
static json_t *snapshot_of(json_t *end)
{
	json_t *snapshot = json_object_new();
	json_t *path = json_object_get(end, "path");
	const char *link = json_get_string(path, "link", "");

	json_put_string(json_obj(snapshot, "node"), "hostname", json_get_string(end, "node", ""));
	json_put_string(json_obj(json_obj(snapshot, "links"), link), "kind", "");
	json_t *port = json_obj(json_obj(json_obj(json_obj(json_obj(snapshot, "rdma"), "devices"),
					     json_get_string(path, "device", "")), "ports"), "1");
	json_put_string(port, "link", link);
	return snapshot;
}

static void check(const struct ladder *ladder, bool is_double)
{
	for (size_t i = 0; i < ladder->n_verdicts; i++) {
		const struct verdict *v = &ladder->verdicts[i];

		if (!v->summary || !*v->summary)
			abort();
		if (is_double && v->status == VERDICT_PASS && !strncmp(v->gate->id, "proof.", 6))
			abort();
	}
}

/* As if nothing had changed since, so that the judges get to the runs. */
static void freshen(json_t *snapshot, const char *kind)
{
	json_t *record = json_at(snapshot, "/proofs/%s/0", kind), *end;
	const char *name;

	json_object_foreach(json_object_get(record, "freshness"), name, end)
		json_put_bool(end, "same", true);
}

static void judge(json_t **snapshots, const struct gate *gate, bool is_double)
{
	_cleanup_site_ struct site *site = NULL;
	_cleanup_ladder_ struct ladder *ladder = NULL;

	if (site_discover(&site, snapshots, 2, NULL) < 0 || site->n_nodes != 2)
		return;
	struct judge_node nodes[] = { { &site->nodes[0], snapshots[0] },
				      { &site->nodes[1], snapshots[1] } };
	struct judge_input input = { .site = site, .nodes = nodes, .n_nodes = 2, .gates = &gate,
				     .n_gates = 1 };

	site->qos.declared = true;
	if (judge_all(&ladder, &input, NULL) == 0)
		check(ladder, is_double);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_json_ json_t *record = NULL, *proofs = json_object_new();

	if (json_parse(&record, (const char *)data, size, "fuzz", NULL) < 0 ||
	    proof_record_check(record, "fuzz", NULL) < 0)
		return 0;
	const char *kind = json_get_string(record, "kind", "");
	json_t *ends[] = { json_object_get(record, "local"), json_object_get(record, "peer") };
	json_t *snapshots[] = { snapshot_of(ends[0]), snapshot_of(ends[1]) };
	/* alone, so that it waits for no other gate */
	const struct gate *gate =
		gate_find(strcmp(kind, "marking") ? "proof.host" : "proof.marking");

	json_append(json_arr(proofs, kind), json_incref(record));
	proof_attach(snapshots, ARRAY_SIZE(snapshots), proofs);
	judge(snapshots, gate, json_get_bool(record, "double", false));
	freshen(snapshots[0], kind);
	judge(snapshots, gate, json_get_bool(record, "double", false));
	json_decref(snapshots[0]);
	json_decref(snapshots[1]);
	return 0;
}
