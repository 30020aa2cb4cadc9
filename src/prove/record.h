/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proof records: what was run between which ends, and what was seen, as JSON (docs/proof.md). Both
 * ends store it. `railhead check` takes the newest of each kind as facts below /proofs.
 */
#pragma once

#include "base/json.h"
#include "site/site.h"

#define PROOF_SCHEMA "railhead.proof/1"
#define PROOF_FOLDER "/var/lib/railhead/proofs"

/* What a proof depends on, from a snapshot: kernel, NIC and RDMA drivers with versions, firmware,
 * PCI addresses, bond, MTU, QoS of the port, rdma-core. When it changes, the proof is stale. */
json_t *proof_fingerprint(json_t *snapshot, const char *link, const char *device);

/* A text that names what differs, or NULL when nothing does. The caller frees. */
char *proof_fingerprint_difference(json_t *then, json_t *now);

/* Store below `folder` (made if its parent is there); the file name is made of kind, peer and time.
 * `*path` is the caller's. */
int proof_store(json_t *record, const char *folder, char **path, struct error *err);
/* The newest record of each kind and peer, checked like any text from outside; damaged files are
 * told in `gaps`. New reference: {"host": [...], "baseline": [...], ...}. */
int proof_load(json_t **proofs, const char *folder, json_t *gaps, struct error *err);
