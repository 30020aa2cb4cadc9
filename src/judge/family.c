/* SPDX-License-Identifier: Apache-2.0 */
/* Which family, and the rules that all families share. */
#include "judge/family.h"

#include <string.h>

#include "base/text.h"
#include "judge/subject.h"

static const struct family *const families[] = {
	&family_ice, &family_i40e, &family_mlx5, &family_bnxt, &family_rxe,
};

static bool in_list(const char *const *list, const char *name)
{
	for (; list && *list; list++) {
		if (!strcmp(*list, name))
			return true;
	}
	return false;
}

const struct family *family_of_driver(const char *driver)
{
	for (size_t i = 0; i < ARRAY_SIZE(families); i++) {
		if (in_list(families[i]->nic_drivers, driver))
			return families[i];
	}
	return NULL;
}

const struct family *family_of_nic(json_t *snapshot, const char *nic)
{
	const char *driver = subject_driver_of_link(snapshot, nic);

	return driver ? family_of_driver(driver) : NULL;
}

const struct family *family_of_rdma(json_t *snapshot, const char *device)
{
	json_t *d = json_at(snapshot, "/rdma/devices/%s", device);
	const char *driver = json_get_string(d, "driver", NULL);
	const char *parent = json_get_string(d, "parent_device", NULL);
	const char *nic_driver =
		parent ? json_get_string(json_at(snapshot, "/pci/devices/%s", parent), "driver",
					 NULL) :
			 NULL;

	/* irdma serves ice and i40e: the PCI driver tells which */
	for (size_t i = 0; nic_driver && i < ARRAY_SIZE(families); i++) {
		if (in_list(families[i]->nic_drivers, nic_driver))
			return families[i];
	}
	return driver ? family_of_rdma_driver(driver) : NULL;
}

const struct family *family_of_rdma_driver(const char *driver)
{
	for (size_t i = 0; i < ARRAY_SIZE(families); i++) {
		if (in_list(families[i]->rdma_drivers, driver))
			return families[i];
	}
	return NULL;
}

const struct family *family_of_port(const struct judging *g, const struct site_rdma *port)
{
	const struct family *family = NULL;
	struct subject_rdma rdma;
	bool is_virtual = false;

	if (subject_rdma_of_port(g->snapshot, g->node, port, &rdma))
		family = family_of_rdma(g->snapshot, rdma.device);
	if (family)
		return family;

	char **nics = subject_physical_links(g->node, g->snapshot, port->link);

	for (char **n = nics; !family && *n; n++) {
		family = family_of_nic(g->snapshot, *n);
		is_virtual |= subject_virtual_driver(g->snapshot, *n) != NULL;
	}
	strings_free(nics);
	return family || !is_virtual ? family : &family_rxe;
}

bool family_module_is_loaded(struct judging *g, const char *module)
{
	return json_is_true(fact_optional(g, "/os/modules/%s/loaded", module)) ||
	       json_is_true(peek(g, "/os/modules/%s/builtin", module));
}

bool family_module_trouble(struct judging *g, const char *module, bool explain)
{
	const char *kernel = json_string_value(peek(g, "/os/kernel/release"));
	json_t *m = peek(g, "/os/modules/%s", module);

	if (!m || family_module_is_loaded(g, module))
		return false;

	json_t *file = json_object_get(m, "file");
	const char *vermagic = json_get_string(file, "vermagic", NULL);
	size_t len = kernel ? strlen(kernel) : 0;

	if (json_is_null(file)) {
		fact_optional(g, "/os/modules/%s/file", module);
		judge_fail(g, "module-missing",
			   judge_text(g,
				      "install the package that holds %s for this kernel (RHEL: "
				      "dnf install kernel-modules-extra-%s; out-of-tree: rebuild "
				      "it), then modprobe %s",
				      module, kernel ? kernel : "$(uname -r)", module),
			   "the running kernel %s has no module %s",
			   kernel ? kernel : "(release not known)", module);
	} else if (json_is_true(json_object_get(m, "blacklisted"))) {
		fact_optional(g, "/os/modules/%s/blacklisted", module);
		judge_fail(
			g, "module-blacklisted",
			judge_text(
				g,
				"find the line with `grep -r %s /etc/modprobe.d "
				"/usr/lib/modprobe.d /proc/cmdline`, remove it, then modprobe %s",
				module, module),
			"%s is blacklisted in modprobe.d, so nothing loads it", module);
	} else if (kernel && vermagic &&
		   (strncmp(vermagic, kernel, len) || (vermagic[len] && vermagic[len] != ' '))) {
		fact_optional(g, "/os/modules/%s/file/vermagic", module);
		judge_fail(g, "module-other-kernel",
			   judge_text(g,
				      "rebuild %s for kernel %s, or boot the kernel that it was "
				      "built for",
				      module, kernel),
			   "%s was built for kernel %.*s, running is %s", module,
			   (int)strcspn(vermagic, " "), vermagic, kernel);
	} else {
		return false;
	}
	if (explain)
		judge_explained_by(g, "rdma.module", NULL);
	return true;
}

const char *family_auxiliary(json_t *snapshot, const struct family *family, const char *bdf)
{
	const char *name;
	json_t *aux;

	json_object_foreach(json_at(snapshot, "/pci/auxiliary"), name, aux) {
		if (strcmp(json_get_string(aux, "parent", ""), bdf))
			continue;
		for (const char *const *p = family->auxiliary; p && *p; p++) {
			if (text_starts_with(name, *p))
				return name;
		}
	}
	return NULL;
}

json_t *family_devlink_parameter(struct judging *g, const char *bdf, const char *name)
{
	static const char *const modes[] = { "runtime", "driverinit", "permanent" };

	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		if (peek(g, "/devlink/pci/%s/parameters/%s/values/%s", bdf, name, modes[i]))
			return fact(g, "/devlink/pci/%s/parameters/%s/values/%s", bdf, name,
				    modes[i]);
	}
	return NULL;
}

/* "ice out-of-tree version 2.6.6 (/lib/modules/…/ice.ko)"; the path only `with_path`. */
static const char *provenance(struct judging *g, const char *module, bool in_tree, bool with_path)
{
	const char *path = json_string_value(peek(g, "/os/modules/%s/file/path", module));
	const char *version = json_string_value(peek(g, "/os/modules/%s/version", module));

	if (!version)
		version = json_string_value(peek(g, "/os/modules/%s/file/version", module));
	if (!path)
		with_path = false;
	return judge_text(g, "%s %s%s%s%s%s%s", module, in_tree ? "in-tree" : "out-of-tree",
			  version ? " version " : "", version ? version : "",
			  with_path ? " (" : "", with_path ? path : "", with_path ? ")" : "");
}

void family_judge_same_source(struct judging *g, const char *nic_module, const char *rdma_module)
{
	bool nic_in_tree, rdma_in_tree;

	if (json_is_null(peek(g, "/os/modules/%s/file", rdma_module)) &&
	    !family_module_is_loaded(g, rdma_module)) {
		judge_unknown(g, "install the module first: see gate rdma.module",
			      "no module %s for the running kernel, so there is no pair to compare",
			      rdma_module);
		return;
	}
	if (!fact_bool(g, &nic_in_tree, "/os/modules/%s/in_tree", nic_module) ||
	    !fact_bool(g, &rdma_in_tree, "/os/modules/%s/in_tree", rdma_module))
		return;

	bool mixed = nic_in_tree != rdma_in_tree;
	const char *nic = provenance(g, nic_module, nic_in_tree, mixed);
	const char *rdma = provenance(g, rdma_module, rdma_in_tree, mixed);

	if (mixed)
		judge_fail(
			g, "driver-pair-mixed",
			judge_text(
				g,
				"use both in-tree (remove the out-of-tree %s) or both of one "
				"vendor release, then depmod -a, rebuild the initramfs and reboot",
				nic_in_tree ? rdma_module : nic_module),
			"%s and %s do not come from one source", nic, rdma);
	else
		judge_pass(g, "%s and %s", nic, rdma);
}

void family_judge_core(struct judging *g, const char *rdma_module)
{
	if (!json_is_false(peek(g, "/os/modules/ib_core/in_tree")) ||
	    !json_is_true(peek(g, "/os/modules/%s/in_tree", rdma_module)))
		return;
	fact_optional(g, "/os/modules/ib_core/in_tree");
	judge_fail(g, "ib-core-out-of-tree",
		   "remove the out-of-tree RDMA stack (DOCA-OFED, MLNX_OFED) from this node, "
		   "depmod -a, reboot",
		   "ib_core is out-of-tree while %s is in-tree: the stacks conflict, and that "
		   "ib_core hides host GIDs from pods",
		   rdma_module);
}

bool family_device_in_other_netns(struct judging *g, const char *auxiliary)
{
	const char *driver = json_string_value(peek(g, "/pci/auxiliary/%s/driver", auxiliary));

	if (!driver)
		return false;
	if (strcmp(json_string_value(peek(g, "/rdma/netns_mode")) ?: "", "exclusive"))
		return false;
	fact_optional(g, "/pci/auxiliary/%s/driver", auxiliary);
	fact_optional(g, "/rdma/netns_mode");
	judge_fail(g, "rdma-device-other-netns",
		   "look for it with `ip netns exec NAME rdma dev` in each namespace; bring it "
		   "back with `rdma dev set DEVICE netns 1`, or set `rdma system set netns shared` "
		   "when no namespaces exist",
		   "%s is bound to %s, but its RDMA device is not in this network namespace (mode "
		   "exclusive)",
		   auxiliary, driver);
	return true;
}
