/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proof records: what was run between which ends, and what was seen, as JSON (docs/proof.md). Both
 * ends store it. `railhead check` takes the newest of each kind and pair of links as facts below
 * /proofs.
 */
#pragma once

#include "base/json.h"
#include "prove/path.h"

#define PROOF_SCHEMA "railhead.proof/1"
#define PROOF_FOLDER "/var/lib/railhead/proofs"

/* What a proof depends on, from a snapshot: kernel, NIC and RDMA drivers with versions, firmware,
 * PCI addresses, bond, MTU, QoS of the port, rdma-core. When it changes, the proof is stale. What
 * the snapshot does not have is absent. New reference. */
json_t *proof_fingerprint(json_t *snapshot, const char *link, const char *device);

/* Its member "gpu", of a proof with memory of the GPU at `bdf`: driver and firmware of that GPU, and
 * what its IOMMU group does. New reference. */
json_t *proof_fingerprint_gpu(json_t *snapshot, const char *bdf);

/* A text that names what differs, or NULL when nothing does. The caller frees. */
char *proof_fingerprint_difference(json_t *then, json_t *now);

/* One end as a record has it: {"node", "role", "double", "path", "fingerprint"}; the caller adds
 * "memory" (memory_facts()) and "counters" (counters_facts()). `node` is the snapshot's
 * /node/hostname; "double" is true when a test double stands behind the snapshot. New reference. */
json_t *proof_end_new(json_t *snapshot, const struct path *path, bool initiator);

struct proof_parts {
	const char *kind;	/* "host", "baseline", "marking", …: a word of a-z, 0-9 and '_' */
	const char *run;	/* hex text that both ends share and no other run has */
	int64_t realtime_s;	/* seconds since 1970, UTC */
	bool double_used;	/* the verbs or anything else besides memory was a test double */
	json_t *parameters, *local, *peer, *runs;	/* borrowed; see docs/proof.md */
};
/*
 * The record of a run with its verdict: "fail" when bytes were wrong, RDMA counters did not move or
 * TCP counters did; "unknown" when a run did not take place, counters cannot tell, or a test double
 * was used, whatever else was seen; else "pass". New reference.
 */
json_t *proof_record_new(const struct proof_parts *parts);

/* Has it the form of docs/proof.md, as far as anything relies on it? `name` goes into messages. */
int proof_record_check(json_t *record, const char *name, struct error *err);
/* The same of one end, as the other one tells of itself before anything is run. */
int proof_end_check(json_t *end, const char *name, struct error *err);

/*
 * Store below `folder`, which is made, and the one above it, when they are not there. The file's
 * name is made of kind, peer, time and run; it is complete or not there. The stored record gets a
 * "serial" above that of all others in the folder, because clocks go back. `*path` is the caller's.
 */
int proof_store(json_t *record, const char *folder, char **path, struct error *err);

/*
 * The newest record of each kind, of each pair of nodes, links and GPUs, all checked like any text
 * from outside; what is damaged is told in `gaps` (as /gaps of a snapshot). New reference:
 * {"host": [...], "baseline": [...], ...}. -ENOENT: there is no such folder.
 */
int proof_load(json_t **proofs, const char *folder, json_t *gaps, struct error *err);

/*
 * Put the records of the node of snapshots[i] into its /proofs, with "freshness": for each end
 * whose snapshot is there {"same": true}, or {"same": false, "changed": text}. What a later phase
 * changes by design does not count (docs/proof.md, "Fingerprint").
 */
void proof_attach(json_t *const *snapshots, size_t n, json_t *proofs);
