/* SPDX-License-Identifier: Apache-2.0 */
/* Records as facts of the snapshots that are judged, and whether they still hold. */
#include "prove/record.h"

#include <string.h>

#include "base/alloc.h"

/*
 * Kinds of which /proofs takes records, and what a later phase of the plan of record changes by
 * design. A baseline is taken before DCB and the ToS of RDMA-CM are set, and cannot be taken again
 * once they are: they must not make it stale. All others hold for the QoS that they went through.
 * That includes "host", because a traffic class without bandwidth or without PFC can stop RDMA that
 * worked before, and it is run again in a minute.
 */
static const struct kind {
	const char *name;
	bool before_qos;
} kinds[] = {
	{ .name = "host" },
	{ .name = "baseline", .before_qos = true },
	{ .name = "marking" },
	{ .name = "pfc" },
	{ .name = "ecn" },
	{ .name = "gdr" },
	{ .name = "dmabuf" },
};

static const struct kind *kind_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	}
	return NULL;
}

static json_t *copy_of(json_t *value)
{
	json_t *copy = json_deep_copy(value);

	if (!copy)
		alloc_exhausted();
	return copy;
}

/* A fingerprint without what QoS sets. New reference. */
static json_t *without_qos(json_t *fingerprint)
{
	json_t *rest = fingerprint ? copy_of(fingerprint) : json_object_new(), *nic;
	const char *name;

	json_object_del(rest, "roce_tos");
	json_object_foreach(json_object_get(rest, "nics"), name, nic)
		json_object_del(nic, "dcb");
	return rest;
}

/* {"same": true}, or {"same": false, "changed": text}. */
static json_t *freshness_of(const struct kind *kind, json_t *snapshot, json_t *end)
{
	json_t *path = json_object_get(end, "path"), *freshness = json_object_new();
	_cleanup_json_ json_t *now = proof_fingerprint(snapshot, json_get_string(path, "link", ""),
						       json_get_string(path, "device", ""));
	_cleanup_json_ json_t *then = json_incref(json_object_get(end, "fingerprint"));

	json_t *gpu = json_object_get(then, "gpu");

	if (gpu)
		json_put(now, "gpu",
			 proof_fingerprint_gpu(snapshot, json_get_string(gpu, "bdf", "")));
	if (kind->before_qos) {
		json_t *now_rest = without_qos(now), *then_rest = without_qos(then);

		json_decref(now);
		json_decref(then);
		now = now_rest;
		then = then_rest;
	}
	_cleanup_free_ char *changed = proof_fingerprint_difference(then, now);

	json_put_bool(freshness, "same", !changed);
	json_put_string(freshness, "changed", changed);
	return freshness;
}

/* Snapshots by host name; of two with one name the first counts. Values are borrowed by place:
 * {"gpu-node-01": 0}. New reference. */
static json_t *places_of(json_t *const *snapshots, size_t n)
{
	json_t *places = json_object_new();

	for (size_t i = 0; i < n; i++) {
		const char *hostname =
			json_get_string(json_at(snapshots[i], "/node"), "hostname", "");

		if (!json_object_get(places, hostname))
			json_put_int(places, hostname, (int64_t)i);
	}
	return places;
}

static json_t *snapshot_of(json_t *const *snapshots, json_t *places, json_t *end)
{
	int64_t i = json_get_int(places, json_get_string(end, "node", ""), -1);

	return i < 0 ? NULL : snapshots[i];
}

static void attach(json_t *const *snapshots, json_t *places, const struct kind *kind,
		   json_t *record)
{
	static const char *const ends[] = { "local", "peer" };
	json_t *snapshot = snapshot_of(snapshots, places, json_object_get(record, "local"));

	if (!snapshot)
		return;
	json_t *copy = copy_of(record);

	/* told here and nowhere else, whatever the file says */
	json_object_del(copy, "freshness");
	for (size_t e = 0; e < ARRAY_SIZE(ends); e++) {
		json_t *end = json_object_get(copy, ends[e]);
		json_t *of = snapshot_of(snapshots, places, end);

		if (of)
			json_put(json_obj(copy, "freshness"), ends[e], freshness_of(kind, of, end));
	}
	json_append(json_arr(json_obj(snapshot, "proofs"), kind->name), copy);
}

void proof_attach(json_t *const *snapshots, size_t n, json_t *proofs)
{
	_cleanup_json_ json_t *places = places_of(snapshots, n);
	const char *name;
	json_t *list, *record;
	size_t i;

	json_object_foreach(proofs, name, list) {
		const struct kind *kind = kind_find(name);

		if (!kind)
			continue;
		json_array_foreach(list, i, record)
			attach(snapshots, places, kind, record);
	}
}
