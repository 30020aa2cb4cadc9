/* SPDX-License-Identifier: Apache-2.0 */
/* Where the verbs get snapshots from: this machine, a recording, files. */
#pragma once

#include "base/json.h"
#include "cmd/cmd.h"
#include "site/site.h"

struct snapshots {
	json_t **s;	/* owned references */
	char **names;	/* what each came from, for messages: file name or "this machine" */
	size_t n;
};

void snapshots_clear(struct snapshots *snapshots);
#define _cleanup_snapshots_ __attribute__((cleanup(snapshots_clear)))

/* Observe this machine, --root or --replay. */
int snapshots_observe(struct snapshots *snapshots, const struct cmd_args *args, struct error *err);

/* Read a snapshot file ("-": standard input) and check its schema. New reference. */
int snapshot_read(json_t **snapshot, const char *path, struct error *err);

/* The operands as files; without operands, observe. */
int snapshots_get(struct snapshots *snapshots, const struct cmd_args *args, struct error *err);

/* --- node.c ----------------------------------------------------------------------------------- */
/* The node of the site that --node names, or that has the snapshot's host name, qualified or not.
 * `name` is what the snapshot came from, for messages. -EINVAL: none; says which there are. */
int snapshot_node(const struct site_node **node, const struct site *site,
		  const struct cmd_args *args, json_t *snapshot, const char *name,
		  struct error *err);
