/* SPDX-License-Identifier: Apache-2.0 */
/* The way between GPU and NIC: distance, ACS on its bridges, IOMMU. */
#include <string.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "judge/gdr.h"
#include "judge/subject.h"
#include "site/pci_path.h"

/* PCI addresses of the node's RDMA NICs (physical links below the RDMA ports), each once. The
 * caller frees the array; the strings are borrowed from the snapshot. */
static const char **rdma_nics(const struct judging *g, size_t *n)
{
	_cleanup_strings_ char **links = subject_nics_of_node(g->node, g->snapshot);
	const char **list = NULL;
	size_t capacity = 0;

	*n = 0;
	for (char **l = links; l && *l; l++) {
		const char *bdf = subject_pci_of_link(g->snapshot, *l);
		size_t k = 0;

		while (bdf && k < *n && strcmp(list[k], bdf))
			k++;
		if (!bdf || k < *n)
			continue;
		array_reserve(list, *n, capacity);
		list[(*n)++] = bdf;
	}
	return list;
}

/* --- gdr.topology ----------------------------------------------------------------------------- */

struct nearest {
	const char *pci;	/* of the nearest NIC, NULL: none has a known distance */
	const char *link;
	enum pci_distance distance;
};

/* Name of a network interface of a PCI device, for the texts. */
static const char *link_of_pci(const struct judging *g, const char *bdf)
{
	const char *link = json_string_value(
		json_array_get(peek(g, "/pci/devices/%s/links", bdf), 0));

	return link ? link : bdf;
}

/* Nearest RDMA NIC of the GPU; among equals `own` wins, so that nobody is sent elsewhere. */
static struct nearest nearest_of(const struct judging *g, const char *own)
{
	struct nearest best = { .distance = PCI_UNKNOWN };
	json_t *devices = peek(g, "/pci/devices");
	size_t n;
	_cleanup_free_ const char **nics = rdma_nics(g, &n);

	for (size_t i = 0; i < n; i++) {
		_cleanup_pci_path_ struct pci_path path;

		pci_path_find(&path, devices, g->gpu, nics[i]);
		if (path.distance > best.distance ||
		    (path.distance == best.distance && (best.pci || path.distance == PCI_UNKNOWN) &&
		     strcmp(nics[i], own)))
			continue;
		best = (struct nearest){ nics[i], link_of_pci(g, nics[i]), path.distance };
	}
	return best;
}

/* What was read of a device's place, as evidence. */
static void place_facts(struct judging *g, const char *bdf)
{
	fact_optional(g, "/pci/devices/%s/parent", bdf);
	fact_optional(g, "/pci/devices/%s/root", bdf);
	fact_optional(g, "/pci/devices/%s/numa_node", bdf);
}

static const char *far_cause(enum pci_distance distance)
{
	return distance == PCI_PHB  ? "gpu-nic-host-bridge" :
	       distance == PCI_NODE ? "gpu-nic-other-root" :
	       distance == PCI_SYS  ? "gpu-nic-other-socket" :
				      "gpu-nic-other-root-or-socket";
}

static const char *far_text(enum pci_distance distance)
{
	return distance == PCI_PHB  ? "through the host bridge" :
	       distance == PCI_NODE ? "between two host bridges of one NUMA node" :
	       distance == PCI_SYS  ? "between NUMA nodes" :
				      "between two host bridges; the firmware tells no NUMA node";
}

/* PCI address of the judged NIC; NULL ends the judging with the reason stated. */
static const char *path_nic(struct judging *g)
{
	const char *bdf = subject_pci_of_link(g->snapshot, g->nic);

	if (bdf)
		return bdf;
	if (peek(g, "/links/%s", g->nic) && !peek(g, "/links/%s/parent_device", g->nic))
		judge_na(g, "%s is not a PCI device", g->nic);
	else
		fact(g, "/links/%s/parent_device", g->nic);	/* says why */
	return NULL;
}

void judge_gdr_topology(struct judging *g)
{
	const char *nic = path_nic(g);
	_cleanup_pci_path_ struct pci_path path = { .distance = PCI_UNKNOWN };
	struct nearest near;
	const char *name, *better;

	if (!nic)
		return;
	pci_path_find(&path, peek(g, "/pci/devices"), g->gpu, nic);
	place_facts(g, g->gpu);
	place_facts(g, nic);
	if (path.distance == PCI_UNKNOWN) {
		judge_unknown(g, NULL, "the PCI tree of the snapshot has a hole at %s",
			      path.hole ? path.hole : nic);
		return;
	}
	for (size_t i = 0; i < path.n_bridges; i++)
		fact_optional(g, "/pci/devices/%s/parent", path.bridges[i]);
	name = pci_distance_name(path.distance);
	near = nearest_of(g, nic);
	better = near.pci && near.distance < path.distance ?
			 judge_text(g, "nearer to this GPU: %s (%s)", near.link,
				    pci_distance_name(near.distance)) :
		 near.pci && strcmp(near.pci, nic) ?
			 judge_text(g, "as near: %s", near.link) :
			 "nearest port of this GPU";
	if (path.distance == PCI_PIX || path.distance == PCI_PXB) {
		judge_pass(g, "%s below bridge %s; %s", name, path.common, better);
		return;
	}
	judge_warn(g, far_cause(path.distance),
		   near.distance < path.distance ?
			   judge_text(g, "let this GPU use %s", near.link) :
			   "move the NIC to a slot below the GPU's PCIe switch; else prove with a "
			   "fresh GPUDirect run (write and read) that this way meets its target",
		   "%s, %s; %s", name, far_text(path.distance), better);
}

/* --- gdr.acs ---------------------------------------------------------------------------------- */

/* One bridge. Returns true when its ACS is known and lets peer traffic pass. */
static bool judge_bridge(struct judging *g, const char *bridge, bool decisive)
{
	json_t *acs = fact_optional(g, "/pci/devices/%s/acs", bridge);
	const char *ctrl = json_get_string(acs, "ctrl", "not told");
	bool request = json_get_bool(acs, "request_redirect", false);
	bool completion = json_get_bool(acs, "completion_redirect", false);
	const char *fix, *reason;

	if (!acs) {
		reason = peek_gap(g, "/pci/devices/%s/acs", bridge);
		judge_unknown(g, "read the PCI configuration space as root: run railhead as root "
				 "on the node",
			      "ACS of bridge %s was not observed%s%s", bridge, reason ? ": " : "",
			      reason ? reason : "");
		return false;
	}
	/* null: the configuration space was read, and there is no ACS capability */
	if (json_is_null(acs))
		return true;
	if (!json_is_object(acs) || !json_object_get(acs, "request_redirect") ||
	    !json_object_get(acs, "completion_redirect")) {
		judge_unknown(g, NULL, "the ACS control bits of bridge %s were not observed",
				       bridge);
		return false;
	}
	fix = judge_text(g, "`setpci -s %s ECAP_ACS+0x6.w=0000` (lost at reboot: put it into a "
			    "unit that runs at every boot), or switch ACS off in the BIOS; then "
			    "read it again", bridge);
	if (request || completion) {
		const char *what = request && completion ? "requests and completions" :
				   request		 ? "requests" :
							   "completions";

		if (decisive)
			judge_fail(g, "acs-redirect", fix,
				   "bridge %s between GPU and NIC redirects %s to the root complex "
				   "(ACS control %s)", bridge, what, ctrl);
		else
			judge_warn(g, "acs-redirect-beyond-root", fix,
				   "bridge %s redirects %s (ACS control %s); GPU and NIC share no "
				   "switch, so their traffic passes the root complex in any case",
				   bridge, what, ctrl);
		return false;
	}
	if (json_get_bool(acs, "egress_control", false)) {
		judge_warn(g, "acs-egress-control", fix,
			   "bridge %s has ACS egress control on (ACS control %s): its vector "
			   "decides which peers may pass", bridge, ctrl);
		return false;
	}
	return true;
}

void judge_gdr_acs(struct judging *g)
{
	const char *nic = path_nic(g);
	_cleanup_pci_path_ struct pci_path path = { .distance = PCI_UNKNOWN };
	size_t clear = 0;

	if (!nic)
		return;
	pci_path_find(&path, peek(g, "/pci/devices"), g->gpu, nic);
	if (path.hole || path.distance == PCI_UNKNOWN) {
		judge_unknown(g, NULL, "the bridges between GPU and NIC are not known: hole at %s",
			      path.hole ? path.hole : nic);
		return;
	}
	/* a GPU always hangs below a root port: a hypervisor shows another tree than there is */
	if (!path.n_bridges) {
		place_facts(g, g->gpu);
		place_facts(g, nic);
		judge_unknown(g, "read the ACS of the bridges on the host of this virtual machine",
			      "no bridge is seen above GPU and NIC: a virtual machine does not see "
			      "the bridges of its host");
		return;
	}
	for (size_t i = 0; i < path.n_bridges; i++)
		clear += judge_bridge(g, path.bridges[i], path.common);
	if (clear != path.n_bridges)
		return;
	if (path.common)
		judge_pass(g, "no redirect on the %zu bridge%s of the path, switch at %s",
			      path.n_bridges,
			   path.n_bridges == 1 ? "" : "s", path.common);
	else
		judge_pass(g, "no redirect on the %zu bridges up to the root complex; no switch in "
			      "common",
			   path.n_bridges);
}

const char *gdr_acs_redirect(struct judging *g)
{
	const char *nic = subject_pci_of_link(g->snapshot, g->nic);
	_cleanup_pci_path_ struct pci_path path = { .distance = PCI_UNKNOWN };

	if (!nic)
		return NULL;
	pci_path_find(&path, peek(g, "/pci/devices"), g->gpu, nic);
	for (size_t i = 0; path.common && i < path.n_bridges; i++) {
		json_t *acs = fact_optional(g, "/pci/devices/%s/acs", path.bridges[i]);

		if (json_get_bool(acs, "request_redirect", false) ||
		    json_get_bool(acs, "completion_redirect", false))
			return path.bridges[i];
	}
	return NULL;
}

/* --- gdr.iommu -------------------------------------------------------------------------------- */

const char *gdr_iommu_type(struct judging *g, const char *bdf)
{
	return fact_optional_string(g, "/pci/devices/%s/iommu_type", bdf);
}

/* Devices of the node by what their group does. */
struct iommu_tally {
	struct strbuf translating, other;	/* "0000:1b:00.0 (DMA-FQ)" */
	const char *unknown;	/* a device whose group type is not known */
	size_t identity;
};

static void iommu_count(struct judging *g, struct iommu_tally *t, const char *bdf)
{
	const char *type = gdr_iommu_type(g, bdf);
	struct strbuf *list;

	if (!type) {
		t->unknown = t->unknown ? t->unknown : bdf;
		return;
	}
	if (!strcmp(type, "identity")) {
		t->identity++;
		return;
	}
	list = pci_iommu_translates(type) ? &t->translating : &t->other;
	strbuf_printf(list, "%s%s (%s)", list->len ? ", " : "", bdf, type);
}

static const char *fix_iommu(struct judging *g, const char *cmdline)
{
	bool amd = cmdline && strstr(cmdline, "amd_iommu");

	return judge_text(g, "boot with `iommu=pt`%s: `grubby --update-kernel=ALL "
			     "--args=\"iommu=pt\"`, reboot, and read "
			     "/sys/kernel/iommu_groups/*/type; or switch the IOMMU off (%s)",
			  cmdline && strstr(cmdline, "iommu=pt") ?
				  " (it is in the command line, so look for a per-group "
				  "override)" : "",
			  amd ? "amd_iommu=off" : "intel_iommu=off, or in the BIOS");
}

void judge_gdr_iommu(struct judging *g)
{
	const char *cmdline = fact_optional_string(g, "/os/kernel/cmdline");
	struct iommu_tally t = {0};
	const char *bdf;
	json_t *device;
	int64_t groups;
	size_t n;

	if (!fact_int(g, &groups, "/os/iommu/groups"))
		return;
	if (!groups) {
		judge_pass(g, "no IOMMU is in use");
		return;
	}
	_cleanup_free_ const char **nics = rdma_nics(g, &n);

	json_object_foreach(peek(g, "/pci/devices"), bdf, device) {
		if (pci_is_gpu(device))
			iommu_count(g, &t, bdf);
	}
	for (size_t i = 0; i < n; i++)
		iommu_count(g, &t, nics[i]);
	if (t.translating.len)
		judge_fail(g, "iommu-translating", fix_iommu(g, cmdline),
			   "the IOMMU translates for %s: it may discard the NIC's writes to GPU "
			   "memory and report nothing, so that a run shows full bandwidth and the "
			   "bytes never arrive",
			   strbuf_str(&t.translating));
	if (t.other.len)
		judge_fail(g, "iommu-other-owner",
			   "give the device back to its driver: unbind it from vfio-pci",
			   "the IOMMU group is not the kernel driver's: %s", strbuf_str(&t.other));
	if (t.unknown)
		fact(g, "/pci/devices/%s/iommu_type", t.unknown);	/* says why */
	if (t.identity)
		judge_pass(g, "passthrough (identity) for %zu device%s", t.identity,
			   t.identity == 1 ? "" : "s");
	if (!n)
		judge_assume(g, "no RDMA port of this node is known: the GPUs' groups alone were "
				"judged");
	strbuf_clear(&t.translating);
	strbuf_clear(&t.other);
}
