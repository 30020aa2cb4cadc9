/* SPDX-License-Identifier: Apache-2.0 */
/* plan.driver-rdma and plan.network-operator: what must not run beside another vendor's NIC. */
#include <string.h>

#include "base/text.h"
#include "judge/plan.h"

/* --- plan.driver-rdma ------------------------------------------------------------------------- */

#define FIX_DRIVER_RDMA \
	"gpu_operator.driver.rdma: {enabled: false, use_host_mofed: false}"

/* A B300 baseboard has ConnectX-8 of its own, so label pci-15b3.present may stand on the node. */
static bool has_b300(const struct site_node *node)
{
	for (size_t i = 0; i < node->n_gpus; i++) {
		if (text_starts_with(node->gpus[i].model, "B300"))
			return true;
	}
	return false;
}

static void judge_driver_rdma_nic(struct judging *g, const struct plan_case *c, bool enabled,
				  bool host_mofed)
{
	struct plan_nic nic = plan_nic_of(g, c->node, c->what);

	if (!enabled && !host_mofed) {
		judge_pass(g, "driver.rdma is off");
		return;
	}
	plan_nic_fact(g, c);
	if (plan_nic_unknown(g, c, &nic))
		return;
	fact_row(g, nic.row);
	if (enabled && json_get_bool(nic.row, "nvidia", false) && !strcmp(nic.source, "inbox") &&
	    !declared_bool(g, false, "/network_operator/ofed_driver")) {
		judge_warn(g, "driver-rdma-without-ofed", FIX_DRIVER_RDMA,
			   "driver.rdma.enabled is true and %s of %s is without OFED: "
			   "nvidia-peermem needs OFED, and the driver pod waits for it; DMA-BUF "
			   "needs neither", plan_nic_text(g, &nic), plan_nodes(g, c));
		return;
	}
	if (json_get_bool(nic.row, "nvidia", false)) {
		judge_pass(g, "driver.rdma is on, and %s of %s is NVIDIA's; DMA-BUF needs neither",
			   plan_nic_text(g, &nic), plan_nodes(g, c));
		return;
	}
	if (enabled)
		judge_fail(g, "driver-rdma-enabled", FIX_DRIVER_RDMA,
			   "driver.rdma.enabled is true and the NIC of %s is %s: the "
			   "nvidia-peermem container waits for mlx5_core for ever, and DMA-BUF "
			   "does not need it",
			   plan_nodes(g, c), plan_nic_text(g, &nic));
	else
		judge_warn(g, "driver-rdma-host-mofed", FIX_DRIVER_RDMA,
			   "driver.rdma.useHostMofed is true and the NIC of %s is %s: without "
			   "driver.rdma.enabled it does nothing, with it the pod waits for "
			   "mlx5_core",
			   plan_nodes(g, c), plan_nic_text(g, &nic));
	if (enabled && has_b300(c->node))
		judge_unverified(g, "gpu.operator",
				 "whether the baseboard of %s shows ConnectX-8 and so has label "
				 "pci-15b3.present: the operator waits for OFED there, and skips "
				 "that wait without the label", plan_nodes(g, c));
}

void judge_plan_driver_rdma(struct judging *g)
{
	_cleanup_plan_cases_ struct plan_cases nics = {0};
	bool enabled, host_mofed;

	if (!json_at(g->site->document, "/gpu_operator")) {
		judge_na(g, "no GPU Operator is declared");
		return;
	}
	if (!plan_helm_bool(g, true, "driver.enabled")) {
		judge_na(g, "the driver is installed on the hosts: the operator runs no driver "
			    "pod");
		return;
	}
	plan_nics(g, SITE_ROLE_GPU, &nics);
	if (!nics.n) {
		judge_na(g, "no GPU node has an RDMA port");
		return;
	}
	if (!plan_helm(g, "driver.rdma.enabled"))
		judge_assume(g, "driver.rdma.enabled false, the chart's default");
	enabled = plan_helm_bool(g, false, "driver.rdma.enabled");
	host_mofed = plan_helm_bool(g, false, "driver.rdma.useHostMofed");
	for (size_t i = 0; i < nics.n; i++)
		judge_driver_rdma_nic(g, &nics.list[i], enabled, host_mofed);
}

/* --- plan.network-operator -------------------------------------------------------------------- */

/* Rows of the declared version, else all: does one say that this RDMA driver must be unloaded? */
static json_t *conflict_row(const struct judging *g, const char *version, const char *rdma_driver)
{
	json_t *row, *any = NULL;
	size_t i;

	json_array_foreach(plan_rows(g, "network-operator"), i, row) {
		if (!plan_has(json_object_get(row, "ofed_conflicts"), rdma_driver))
			continue;
		if (version && !strcmp(text_version_number(json_get_string(row, "version", "")),
				       text_version_number(version)))
			return row;
		any = row;
	}
	return any;
}

/* System and Kubernetes of the nodes against the rows of the declared version. */
static void judge_network_platform(struct judging *g, const char *version)
{
	const char *kubernetes = g->site->kubernetes_version;
	_cleanup_plan_cases_ struct plan_cases systems = {0};

	plan_systems(g, SITE_ROLE_GPU, &systems);
	for (size_t i = 0; i < systems.n; i++) {
		const struct site_node *node = systems.list[i].node;
		json_t *row, *known = NULL, *fits = NULL;
		size_t k;

		if (!node->os_id || !node->os_version)
			continue;
		json_array_foreach(plan_rows(g, "network-operator"), k, row) {
			if (strcmp(text_version_number(json_get_string(row, "version", "")),
				   text_version_number(version)))
				continue;
			known = row;
			if (!strcmp(json_get_string(row, "os", ""), node->os_id) &&
			    plan_has(json_object_get(row, "os_versions"), node->os_version) &&
			    (!kubernetes ||
			     plan_in_range(kubernetes, json_object_get(row, "kubernetes"))))
				fits = fits ?: row;
		}
		if (fits)
			fact_row(g, fits);
		else if (known)
			judge_warn(g, "network-operator-platform",
				   "a Network Operator that lists this system and Kubernetes",
				   "Network Operator %s lists %s %s (%s) with Kubernetes %s in no "
				   "row",
				   version, node->os_id, node->os_version,
				   plan_nodes(g, &systems.list[i]), kubernetes ?: "(not declared)");
		else
			judge_unverified(g, NULL, "the support matrix has no row for Network "
						  "Operator %s", version);
	}
}

static void judge_ofed(struct judging *g, const struct plan_case *c, const char *version)
{
	struct plan_nic nic = plan_nic_of(g, c->node, c->what);
	json_t *row;

	plan_nic_fact(g, c);
	if (plan_nic_unknown(g, c, &nic))
		return;
	if (json_get_bool(nic.row, "nvidia", false)) {
		judge_pass(g, "the OFED driver container is for %s of %s", nic.driver,
			   plan_nodes(g, c));
		return;
	}
	row = conflict_row(g, version, nic.rdma_driver);
	if (row)
		fact_row(g, row);
	judge_fail(g, "ofed-beside-other-nic", "network_operator.ofed_driver: false",
		   "the OFED driver container is declared, and %s carries RDMA on %s: OFED "
		   "replaces ib_core below it%s%s%s, and its core hides the host's GIDs from pods",
		   nic.rdma_driver, plan_nodes(g, c),
		   row ? "; it must be unloaded first (" : "", row ? plan_row_text(g, row) : "",
		   row ? ")" : "");
	judge_option(g, "leave out ofedDriver: device plugin and CNI of the Network Operator can "
			"be deployed alone (inferred)");
	judge_option(g, "a nodeSelector in NicClusterPolicy that keeps the container off %s",
		     plan_nodes(g, c));
}

/* DOCA-OFED that is installed on the hosts conflicts as that of the container does. */
static void judge_host_ofed(struct judging *g, const struct plan_cases *nics)
{
	for (size_t i = 0; i < nics->n; i++) {
		const struct plan_case *c = &nics->list[i];
		const struct site_driver *ofed = plan_host_ofed(c->node);
		struct plan_nic nic = plan_nic_of(g, c->node, c->what);

		if (!ofed || !nic.row || json_get_bool(nic.row, "nvidia", false))
			continue;
		plan_nic_fact(g, c);
		fact_declared(g, &ofed->where, json_text_new(ofed->source),
			      "/nodes/%s/drivers/%s/source", c->node->name, ofed->name);
		judge_fail(g, "ofed-beside-other-nic",
			   judge_text(g, "remove OFED from the hosts: nodes/%s/drivers/%s, "
					 "source: inbox", c->node->name, ofed->name),
			   "%s of %s is out-of-tree (DOCA-OFED) beside %s: OFED replaces ib_core "
			   "below it, and its core hides the host's GIDs from pods", ofed->name,
			   plan_nodes(g, c), nic.rdma_driver);
	}
}

void judge_plan_network_operator(struct judging *g)
{
	_cleanup_plan_cases_ struct plan_cases nics = {0};
	const char *version;

	plan_nics(g, PLAN_WORKERS, &nics);
	if (!nics.n) {
		judge_na(g, "no node that runs pods has an RDMA port");
		return;
	}
	judge_host_ofed(g, &nics);
	if (!json_at(g->site->document, "/network_operator")) {
		declared(g, "/network_operator");
		judge_pass(g, "no Network Operator is declared, so no OFED driver container runs");
		return;
	}
	version = declared_string(g, "/network_operator/version");
	if (version)
		judge_network_platform(g, version);
	if (!declared_bool(g, false, "/network_operator/ofed_driver")) {
		judge_pass(g, "the Network Operator runs no OFED driver container");
		return;
	}
	for (size_t i = 0; i < nics.n; i++)
		judge_ofed(g, &nics.list[i], version);
}
