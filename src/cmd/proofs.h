/* SPDX-License-Identifier: Apache-2.0 */
/* Stored proof records as facts of the snapshots that are judged. */
#pragma once

#include "cmd/snapshots.h"

/*
 * Put the records below --proofs into the snapshots, with their fingerprints compared. Of this
 * machine (or --root) the usual folder is read without being asked, and that it is not there is no
 * error; snapshots from files and recordings get records by --proofs only.
 */
int proofs_get(const struct snapshots *snapshots, const struct cmd_args *args, struct error *err);

/* All records that the snapshots have as facts and that are whole: a snapshot from a file may hold
 * anything. New reference. */
json_t *proofs_list(const struct snapshots *snapshots);
