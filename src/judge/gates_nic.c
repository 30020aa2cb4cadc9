/* SPDX-License-Identifier: Apache-2.0 */
/* NIC gates: PCIe link, driver, firmware, the pair of Ethernet and RDMA driver. */
#include <string.h>

#include "base/text.h"
#include "judge/family.h"
#include "judge/nic.h"
#include "judge/registry.h"
#include "judge/signature.h"
#include "judge/subject.h"

/* not_applicable: a virtual NIC has no PCIe link and no firmware of its own. */
static const char *nic_is_virtual(struct judging *g)
{
	const char *driver = g->nic ? subject_virtual_driver(g->snapshot, g->nic) : NULL;

	return driver ? judge_text(g,
				   "%s is driven by %s, a virtual NIC without PCIe link and "
				   "firmware of its own",
				   g->nic, driver) :
			NULL;
}

/* --- nic.driver --- */

/* Another link that is this one under a new name: by alternative name, or by the declared PCI
 * address. */
static const char *renamed_to(struct judging *g, const char *pci)
{
	const char *name;
	json_t *l, *alt;
	size_t i;

	json_object_foreach(peek(g, "/links"), name, l) {
		const char *bdf = subject_pci_of_link(g->snapshot, name);

		json_array_foreach(json_object_get(l, "alternative_names"), i, alt) {
			if (json_is_string(alt) && !strcmp(json_string_value(alt), g->nic))
				return name;
		}
		if (pci && bdf && !strcmp(bdf, pci))
			return name;
	}
	return NULL;
}

static void judge_unbound(struct judging *g, const char *pci, const char *want)
{
	json_t *line = signature_fact(g, "nvm-newer-stopped", pci);
	json_t *driver = fact_optional(g, "/pci/devices/%s/driver", pci);
	const char *bound = json_string_value(driver);

	if (line)
		judge_fail(g, "nvm-newer-stopped",
			   "install the driver of the NVM's release, or flash the NVM of the "
			   "driver's release",
			   "%s (%s): the driver stopped because the NVM is newer than it knows",
			   g->nic, pci);
	else if (bound && text_starts_with(bound, "vfio"))
		judge_fail(g, "driver-vfio",
			   judge_text(g,
				      "driverctl unset-override %s; without driverctl: echo %s > "
				      "/sys/bus/pci/drivers/%s/unbind, then modprobe %s and echo %s "
				      "> /sys/bus/pci/drivers_probe; it may be meant for a virtual "
				      "machine",
				      pci, pci, bound, want ? want : "its driver", pci),
			   "%s (%s) is bound to %s, so the host has no link", g->nic, pci, bound);
	else if (bound)
		judge_fail(g, "driver-without-link", judge_text(g, "dmesg | grep %s", pci),
			   "%s: %s is bound to %s, which shows no link of that name", g->nic, pci,
			   bound);
	else if (!want || !family_module_trouble(g, want, false))
		judge_fail(g, "driver-not-bound",
			   judge_text(g, "modprobe %s; read `dmesg | grep %s` for a failed probe",
				      want ? want : "its driver", pci),
			   "no driver is bound to %s (%s)", pci, g->nic);
}

static void judge_absent_link(struct judging *g, const struct site_link *link)
{
	const char *pci = link ? link->pci : NULL;
	const char *other = renamed_to(g, pci);

	if (other) {
		fact_optional(g, "/links/%s/alternative_names", other);
		judge_fail(g, "link-renamed",
			   "use the name of today in site.yaml, or pin the name with a .link file",
			   "there is no link %s; the adapter's link is called %s", g->nic, other);
	} else if (pci && peek(g, "/pci/devices/%s", pci)) {
		judge_unbound(g, pci, link->driver);
	} else if (pci) {
		fact(g, "/pci/devices");
		judge_fail(g, "pci-device-missing",
			   "check that the card is seated and its slot enabled in the BIOS; "
			   "compare with `lspci`",
			   "there is no link %s and no PCI device %s", g->nic, pci);
	} else {
		judge_fail(g, "link-missing", "compare with `ip -br link` and `lspci -nnk`",
			   "there is no link %s", g->nic);
		judge_candidate(g, "link-renamed", "correct the name",
				"the link has another name: `ip -br link` shows it");
		judge_candidate(g, "driver-not-bound", "bind the driver",
				"its adapter has no driver or vfio-pci: `lspci -nnk` shows it; "
				"declare the PCI address to tell this apart");
	}
}

static void judge_driver(struct judging *g)
{
	const struct site_link *link = site_link_find(g->node, g->nic);
	const char *want = link ? link->driver : NULL, *driver;

	if (!fact(g, "/links"))
		return;
	if (!peek(g, "/links/%s", g->nic)) {
		judge_absent_link(g, link);
		return;
	}
	if (peek(g, "/links/%s/ethtool/driver", g->nic) ||
	    !subject_pci_of_link(g->snapshot, g->nic))
		driver = fact_string(g, "/links/%s/ethtool/driver", g->nic);
	else
		driver = fact_string(g, "/pci/devices/%s/driver",
				     subject_pci_of_link(g->snapshot, g->nic));
	if (!driver)
		return;

	const struct family *family = family_of_nic(g->snapshot, g->nic);
	const char *version =
		json_string_value(peek(g, "/links/%s/ethtool/driver_version", g->nic));

	if (want) {
		fact_declared(g, &link->where, json_text_new(want), "nodes/%s/links/%s/driver",
			      g->node->name, g->nic);
		if (strcmp(driver, want)) {
			judge_fail(g, "driver-other",
				   judge_text(g,
					      "modprobe %s; see which driver claims the adapter "
					      "with lspci -nnk, or correct site.yaml",
					      want),
				   "%s is driven by %s, declared is %s", g->nic, driver, want);
			return;
		}
	} else {
		judge_assume(g, "driver %s of %s as it is", driver, g->nic);
	}
	if (family_ice_safe_mode(g, g->nic))
		judge_pass(g, "%s is bound, in Safe Mode: gate nic.firmware says why", driver);
	else
		judge_pass(g, "%s%s%s%s%s", driver, version && *version ? " " : "",
			   version ? version : "", family ? "" : ", not of a known RDMA family",
			   !family && nic_is_virtual(g) ? " (virtual NIC: software RDMA only)" :
							  "");
}

/* --- nic.driver-pair --- */

static void judge_driver_pair(struct judging *g)
{
	const struct family *seen[8];
	size_t n = 0;

	for (size_t i = 0; i < g->node->n_rdma; i++) {
		char **nics = subject_physical_links(g->node, g->snapshot, g->node->rdma[i].link);

		for (char **nic = nics; *nic; nic++) {
			const struct family *family = family_of_nic(g->snapshot, *nic);
			bool known = false;

			for (size_t k = 0; k < n; k++)
				known |= seen[k] == family;
			if (!family || !family->driver_pair || known || n == ARRAY_SIZE(seen))
				continue;
			seen[n++] = family;
			family->driver_pair(g, *nic);
		}
		strings_free(nics);
	}
	if (!n)
		judge_na(g, "no NIC with a driver pair below the RDMA ports of this node");
}

const struct gate gates_nic[] = {
	{
		.id = "pci.link",
		.phase = 3,
		.level = 2,
		.scope = GATE_NIC,
		.title = "PCIe link: width, speed, enough for the ports",
		.judge = judge_pci_link,
		.not_applicable = nic_is_virtual,
		.proves = "The slowest link between the NIC and the root port carries the sum of "
			  "the speeds of all used ports of the adapter, and runs at the adapter's "
			  "full width and speed. An adapter that can do no more, and carries each "
			  "port alone, is a warning.",
		.why = "A 100G port in a Gen3 x8 slot gives 63 Gb/s, shared by all ports, and "
		       "shows up only as a lower benchmark. The limit is often a bridge or riser "
		       "above the card, not the card.",
		.fix = "Another slot, the BIOS setting of the slot's link speed, or reseating the "
		       "card or riser.",
		.obtain = "`railhead snapshot` reads current_link_speed and current_link_width "
			  "from sysfs",
		.source = "pcie_bandwidth_available in drivers/pci/pci.c; PCIE_SPEED2MBS_ENC in "
			  "drivers/pci/pci.h; metal-stack/metal-images pull request 234",
	},
	{
		.id = "nic.driver",
		.phase = 3,
		.level = 2,
		.scope = GATE_NIC,
		.title = "the expected driver is bound",
		.judge = judge_driver,
		.proves = "The physical link exists under its declared name and the declared "
			  "driver is bound to it.",
		.why = "A card that is bound to vfio-pci, was renamed, or whose driver stopped at "
		       "a newer NVM has no link, and every later gate would only say that "
		       "something is missing.",
		.fix = "Bind the driver, correct the name, or bring driver and NVM to one release, "
		       "as the cause says.",
		.obtain = "`railhead snapshot` on the node; declare `pci` and `driver` of the link "
			  "in site.yaml",
		.source = "ethtool -i; /sys/bus/pci/devices/*/driver; "
			  "drivers/net/ethernet/intel/ice/ice_controlq.c",
	},
	{
		.id = "nic.firmware",
		.phase = 3,
		.level = 2,
		.scope = GATE_NIC,
		.needs = { "nic.driver" },
		.title = "NVM, firmware and DDP package",
		.judge = judge_nic_firmware,
		.judge_pair = judge_nic_firmware_pair,
		.not_applicable = nic_is_virtual,
		.proves =
			"Firmware and DDP package are as declared, equal on NICs of one model of "
			"the node, of its role and of its peer, running as stored, and an ice "
			"port is not in Safe Mode.",
		.why = "Without its DDP package an E810 port has link and sends, but has one queue "
		       "pair, no RDMA, no DCB, and in one report received nothing, so LACP never "
		       "formed. RDMA over a bond with out-of-tree ice needs the LAG DDP package; "
		       "the default one loses RDMA in silence.",
		.fix = "Install the DDP package also into the initramfs; bring NVM, DDP and driver "
		       "to one release.",
		.obtain = "`railhead snapshot` reads devlink and ethtool; the reason of Safe Mode "
			  "needs the kernel log, readable by root",
		.source = "ice_request_fw, ice_log_pkg_init in "
			  "drivers/net/ethernet/intel/ice/ice_main.c; README 2.6.6 of "
			  "intel/ethernet-linux-ice (LAG DDP); lxc/incus-os issue 1305; not "
			  "verified on hardware",
	},
	{
		.id = "nic.driver-pair",
		.phase = 3,
		.level = 2,
		.scope = GATE_NODE,
		.title = "Ethernet and RDMA driver from one source",
		.judge = judge_driver_pair,
		.proves =
			"The modules of a family (ice and irdma, mlx5_core and mlx5_ib, bnxt_en "
			"and bnxt_re) are both in-tree or both out-of-tree, and ib_core fits them.",
		.why = "Out-of-tree ice and in-tree irdma do not work together; the only sign is "
		       "`Unknown symbol` in the kernel log, or nothing. An ib_core of DOCA-OFED "
		       "conflicts with irdma and hides host GIDs from pods.",
		.fix = "Install both modules from one source, depmod -a, rebuild the initramfs, "
		       "reboot.",
		.obtain = "`railhead snapshot` reads the paths that modprobe would load and the "
			  "taint of loaded modules",
		.source = "README of intel/ethernet-linux-ice (build note); /sys/module/*/taint; "
			  "NVIDIA Network Operator documentation for DOCA-OFED",
	},
};
const size_t n_gates_nic = sizeof(gates_nic) / sizeof(gates_nic[0]);
