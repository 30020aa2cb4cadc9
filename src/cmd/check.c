/* SPDX-License-Identifier: Apache-2.0 */
/* railhead check: observe, judge, report. */
#include <errno.h>
#include <string.h>

#include "cmd/cmd.h"

#include "base/alloc.h"
#include "cmd/proofs.h"
#include "cmd/reports.h"
#include "cmd/snapshots.h"
#include "judge/gate.h"
#include "report/report.h"
#include "site/site.h"

static int match_nodes(struct judge_node *nodes, const struct site *site,
		       const struct snapshots *snapshots, const struct cmd_args *args,
		       struct error *err)
{
	if (args->node && snapshots->n > 1)
		return error_set(err, -EINVAL, "--node names one node, but there are %zu snapshots",
				 snapshots->n);
	for (size_t i = 0; i < snapshots->n; i++) {
		int rc = snapshot_node(&nodes[i].node, site, args, snapshots->s[i],
				       snapshots->names[i], err);

		if (rc < 0)
			return rc;
		nodes[i].snapshot = snapshots->s[i];
		for (size_t k = 0; k < i; k++) {
			if (nodes[k].node == nodes[i].node)
				return error_set(err, -EINVAL, "%s and %s are both of node %s",
						 snapshots->names[k], snapshots->names[i],
						 nodes[i].node->name);
		}
	}
	return 0;
}

/* The earlier snapshot becomes /previous of the later one, where counters are compared. */
static int attach_previous(const struct snapshots *snapshots, const struct cmd_args *args,
			   struct error *err)
{
	_cleanup_json_ json_t *previous = NULL;

	if (!args->since)
		return 0;
	if (snapshots->n != 1)
		return error_set(err, -EINVAL,
				 "--since compares one node, but there are %zu snapshots",
				 snapshots->n);
	int rc = snapshot_read(&previous, args->since, err);
	if (rc < 0)
		return rc;
	const char *then = json_get_string(json_at(previous, "/node"), "hostname", "");
	const char *now = json_get_string(json_at(snapshots->s[0], "/node"), "hostname", "");
	if (strcmp(then, now))
		return error_set(err, -EINVAL, "%s is of '%s', not of '%s'", args->since, then,
				 now);
	json_object_del(previous, "previous");
	json_put(snapshots->s[0], "previous", json_incref(previous));
	return 0;
}

/* Everything that may be wrong with what the caller gave. */
static int prepare(struct site **site, struct snapshots *snapshots, const struct cmd_args *args,
		   struct error *err)
{
	int rc = args->site ? site_load(site, args->site, err) : 0;

	if (!rc)
		rc = snapshots_get(snapshots, args, err);
	if (!rc)
		rc = attach_previous(snapshots, args, err);
	if (!rc)
		rc = proofs_get(snapshots, args, err);
	if (!rc && !args->site)
		rc = site_discover(site, snapshots->s, snapshots->n, err);
	return rc;
}

int cmd_check(const struct cmd_args *args)
{
	_cleanup_error_ struct error err = {0};
	_cleanup_site_ struct site *site = NULL;
	_cleanup_snapshots_ struct snapshots snapshots = {0};
	_cleanup_ladder_ struct ladder *ladder = NULL;

	if (prepare(&site, &snapshots, args, &err) < 0)
		return cmd_complain(CMD_USAGE, &err);
	_cleanup_free_ struct judge_node *nodes = xcalloc(snapshots.n, sizeof(*nodes));
	if (match_nodes(nodes, site, &snapshots, args, &err) < 0)
		return cmd_complain(CMD_USAGE, &err);

	struct judge_input input = { .site = site, .nodes = nodes, .n_nodes = snapshots.n };
	if (judge_all(&ladder, &input, &err) < 0)
		return cmd_complain(CMD_INTERNAL, &err);
	_cleanup_json_ json_t *document = report_document(ladder);
	_cleanup_json_ json_t *proofs = proofs_list(&snapshots);
	report_put_proofs(document, proofs);
	if (cmd_report_write(document, args, &err) < 0)
		return cmd_complain(CMD_INTERNAL, &err);
	return ladder_exit_status(ladder);
}
