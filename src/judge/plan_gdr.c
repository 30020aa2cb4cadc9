/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.gdr-matrix: is GPUDirect RDMA of this NIC and system in a support row? A row never proves a
 * site, and a NIC without one may work: what counts is level 3.
 */
#include <string.h>

#include "base/text.h"
#include "judge/plan.h"

/* Row of a system: one that the declared Network Operator meets before one that it does not. */
static json_t *gdr_row(const struct judging *g, const struct site_node *node, const char *line,
		       const char *network)
{
	json_t *row, *any = NULL;
	size_t i;

	json_array_foreach(plan_rows(g, "gpudirect"), i, row) {
		const char *lowest = json_get_string(row, "network_operator", "0");

		if (strcmp(json_get_string(row, "os", ""), node->os_id) ||
		    !plan_has(json_object_get(row, "os_versions"), node->os_version) ||
		    (line && strcmp(json_get_string(row, "operator", ""), line)))
			continue;
		if (!network ||
		    text_version_compare(text_version_number(network),
					 text_version_number(lowest)) >= 0)
			return row;
		any = row;
	}
	return any;
}

/* Systems that the table has for this line, for a message. */
static const char *gdr_systems(struct judging *g, const char *line)
{
	_cleanup_json_ json_t *texts = json_array_new();
	json_t *row, *version;
	size_t i, k;

	json_array_foreach(plan_rows(g, "gpudirect"), i, row) {
		if (line && strcmp(json_get_string(row, "operator", ""), line))
			continue;
		json_array_foreach(json_object_get(row, "os_versions"), k, version) {
			const char *text = judge_text(g, "%s %s", json_get_string(row, "os", "?"),
						      json_string_value(version));

			if (!plan_has(texts, text))
				json_append_text(texts, text);
		}
	}
	return json_array_size(texts) ? plan_list(g, texts, 8) : "none";
}

static void judge_nvidia_nic(struct judging *g, const struct plan_case *c,
			     const struct plan_nic *nic)
{
	const char *operator_version = declared_string(g, "/gpu_operator/version");
	const char *network = declared_string(g, "/network_operator/version");
	const char *line = operator_version ? plan_line(g, operator_version) : NULL;
	const struct site_node *node = c->node;
	const char *lowest;
	json_t *row;

	if (!node->os_id || !node->os_version) {
		judge_unknown(g, judge_text(g, "declare nodes/%s/os", node->name),
			      "the operating system of %s is not declared", plan_nodes(g, c));
		return;
	}
	row = gdr_row(g, node, line, network);
	if (!row) {
		judge_warn(g, "gdr-os-not-listed", "prove it on the site: gates of level 3",
			   "%s %s (%s) is in no GPUDirect RDMA row%s%s, which has %s: unverified, "
			   "level 3 gates are the proof", node->os_id, node->os_version,
			   plan_nodes(g, c), line ? " of GPU Operator " : "", line ?: "",
			   gdr_systems(g, line));
		return;
	}
	fact_row(g, row);
	lowest = json_get_string(row, "network_operator", "0");
	if (network && text_version_compare(text_version_number(network),
					    text_version_number(lowest)) < 0)
		judge_warn(g, "gdr-network-operator-old",
			   judge_text(g, "Network Operator %s or later", lowest),
			   "the row of %s %s is for Network Operator %s, declared is %s (%s)",
			   node->os_id, node->os_version, lowest, network, plan_row_text(g, row));
	if (!network && json_at(g->site->document, "/network_operator"))
		judge_unknown(g, "declare network_operator/version",
			      "the version of the Network Operator is not declared, and the row of "
			      "%s %s is for %s", node->os_id, node->os_version, lowest);
	else if (!network)
		judge_warn(g, "gdr-network-operator-none",
			   "prove it on the site: gates of level 3; or declare the Network "
			   "Operator",
			   "the row of %s %s (%s) is for Network Operator %s, and this site "
			   "declares none: unverified, level 3 gates are the proof (%s)",
			   node->os_id, node->os_version, plan_nodes(g, c), lowest,
			   plan_row_text(g, row));
	if (!line)
		judge_warn(g, "gdr-operator-none", "prove it on the site: gates of level 3",
			   "the rows are of the GPU Operator, and this site declares none: "
			   "unverified, level 3 gates are the proof (%s)", plan_row_text(g, row));
	judge_pass(g, "%s on %s %s is in the GPUDirect RDMA row of GPU Operator %s (%s)",
		   plan_nic_text(g, nic), node->os_id, node->os_version,
		   json_get_string(row, "operator", "?"), plan_row_text(g, row));
}

/* False: the declared operator has no rows to look into, and the verdict says so. */
static bool table_known(struct judging *g)
{
	const char *version;

	if (!json_at(g->site->document, "/gpu_operator"))
		return true;
	version = plan_operator_version(g);
	if (!version)
		return false;
	if (plan_row(g, "gpudirect", "operator", plan_line(g, version)))
		return true;
	judge_unknown(g, "add its rows to the table `gpudirect` (--data DIR), or declare a GPU "
			 "Operator that the matrix knows",
		      "the support matrix has no GPUDirect RDMA row of GPU Operator %s", version);
	return false;
}

/* A row that stands for the whole table of the declared release line, for its source. */
static json_t *gdr_table(struct judging *g)
{
	const char *version = declared_string(g, "/gpu_operator/version");
	json_t *row = version ? plan_row(g, "gpudirect", "operator", plan_line(g, version)) : NULL;

	return row ? row : json_array_get(plan_rows(g, "gpudirect"), 0);
}

static void judge_gdr_nic(struct judging *g, const struct plan_case *c)
{
	struct plan_nic nic = plan_nic_of(g, c->node, c->what);
	json_t *table;

	plan_nic_fact(g, c);
	if (plan_nic_unknown(g, c, &nic))
		return;
	fact_row(g, nic.row);
	if (json_get_bool(nic.row, "nvidia", false)) {
		judge_nvidia_nic(g, c, &nic);
		return;
	}
	table = gdr_table(g);
	if (table)
		fact_row(g, table);
	judge_warn(g, "gdr-nic-not-listed",
		   "prove it on the site: gates of level 3, write and read with verified bytes",
		   "%s of %s is in no GPUDirect RDMA row, all of which are for ConnectX or "
		   "BlueField: unverified, level 3 gates are the proof%s%s%s",
		   plan_nic_text(g, &nic),
		   plan_nodes(g, c), table ? " (" : "", table ? plan_row_text(g, table) : "",
		   table ? ")" : "");
}

void judge_plan_gdr_matrix(struct judging *g)
{
	_cleanup_plan_cases_ struct plan_cases nics = {0};
	bool known;

	if (!g->site->gpudirect || !plan_any(g, SITE_ROLE_GPU)) {
		judge_na(g, "GPUDirect RDMA is not wanted on this site");
		return;
	}
	known = table_known(g);
	plan_nics_by_system(g, SITE_ROLE_GPU, &nics);
	for (size_t i = 0; known && i < nics.n; i++)
		judge_gdr_nic(g, &nics.list[i]);
	plan_ports_declared(g);
	judge_unverified(g, "gdr.register", "the NIC registers the DMA-BUF of GPU memory");
	judge_unverified(g, "proof.gdr", "bytes go into GPU memory and out of it unchanged");
}
