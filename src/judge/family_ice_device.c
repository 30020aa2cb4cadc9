/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why has an E800 port no RDMA device? In the order in which one cause hides the next: Safe Mode,
 * too many functions, a bond, devlink parameters, irdma, the auxiliary device.
 */
#include "judge/family_ice.h"

#include <string.h>

#include "base/text.h"
#include "judge/signature.h"
#include "judge/subject.h"

/* First out-of-tree release with RDMA over an active-active bond, and over active-backup: its
 * README. */
#define LAG_ACTIVE_ACTIVE_MIN "1.14.9"
#define LAG_ACTIVE_BACKUP_MIN "1.11.14"

/* More functions on one device than this, and ice clears the RDMA capability: num_funcs > 4 in
 * ice_recalc_port_limited_caps, drivers/net/ethernet/intel/ice/ice_common.c. E830 is exempt. */
#define FUNCTIONS_WITH_RDMA_MAX 4

#define FIX_UNBOND                                                                             \
	"either give each port its own address without a bond (multi-rail), or install "       \
	"out-of-tree ice "                                                                     \
	"and irdma of one release with the LAG DDP package, or keep the bond for TCP and use " \
	"other ports"

/* The line is printed once for a device, by one of its functions. */
static bool functions_in_log(struct judging *g, const char *bdf)
{
	for (unsigned fn = 0; fn < 8; fn++) {
		const char *function =
			judge_text(g, "%.*s.%u", (int)subject_pci_slot_length(bdf), bdf, fn);

		if (signature_fact(g, "ice-rdma-config", function))
			return true;
	}
	return false;
}

static bool many_functions(struct judging *g, const char *nic, const char *bdf)
{
	const char *other, *device_id = json_string_value(peek(g, "/pci/devices/%s/device", bdf));
	const char *slot = judge_text(g, "%.*s", (int)subject_pci_slot_length(bdf), bdf);
	json_t *device;
	size_t seen = 0;

	if (device_id && text_starts_with(device_id, "0x12d")) /* E830 */
		return false;
	json_object_foreach(peek(g, "/pci/devices"), other, device) {
		if (subject_same_pci_device(other, bdf) && !json_object_get(device, "physfn"))
			seen++;
	}

	bool logged = functions_in_log(g, bdf);

	if (!logged && seen <= FUNCTIONS_WITH_RDMA_MAX)
		return false;
	judge_fail(g, "ice-many-functions",
		   "choose a port option of the adapter with at most 4 ports (EPCT), or use "
		   "another NIC; nothing in the system can switch RDMA on in this configuration",
		   "%s: the adapter %s has more than 4 functions (%zu seen on the bus%s): ice "
		   "switches RDMA off",
		   nic, slot, seen, logged ? "; ice says so in the kernel log" : "");
	return true;
}

static bool same_dcb(json_t *a, json_t *b)
{
	static const char *const parts[] = { "/ets/prio_tc", "/ets/tc_tx_bw", "/ets/tc_tsa",
					     "/pfc/enabled", "/app" };

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		json_t *x = json_pointer_get(a, parts[i]), *y = json_pointer_get(b, parts[i]);

		if ((x || y) && !json_equal(x, y))
			return false;
	}
	return true;
}

/* Conditions of out-of-tree ice for RDMA in a bond that the other members break. */
static bool lag_members_unfit(struct judging *g, const char *nic, const char *bdf, const char *bond)
{
	json_t *link, *own_dcb = peek(g, "/links/%s/dcb", nic);
	size_t members = 0;
	bool found = false;
	const char *name;

	json_object_foreach(peek(g, "/links"), name, link) {
		if (strcmp(json_get_string(link, "master", ""), bond))
			continue;
		members++;
		if (!strcmp(name, nic))
			continue;

		const char *driver = subject_driver_of_link(g->snapshot, name);
		const char *other = subject_pci_of_link(g->snapshot, name);
		json_t *dcb = json_object_get(link, "dcb");

		fact_optional(g, "/links/%s/master", name);
		if (driver && strcmp(driver, "ice")) {
			judge_fail(g, "lag-non-ice", "bond only the two ports of one E810 adapter",
				   "%s of %s is driven by %s: ice offers RDMA only on a bond of "
				   "ice ports",
				   name, bond, driver);
			found = true;
		} else if (other && !subject_same_pci_device(other, bdf)) {
			judge_fail(g, "lag-different-device",
				   "bond only the two ports of one E810 adapter",
				   "%s (%s) and %s (%s) of %s are on different adapters: ice "
				   "offers no RDMA",
				   nic, bdf, name, other, bond);
			found = true;
		} else if (own_dcb && dcb && !same_dcb(own_dcb, dcb)) {
			fact_optional(g, "/links/%s/dcb", nic);
			fact_optional(g, "/links/%s/dcb", name);
			judge_fail(
				g, "lag-different-dcb",
				"take both ports out of the bond, give them the same DCB settings, "
				"bond them again",
				"%s and %s have different DCB settings: ice offers no RDMA on %s",
				nic, name, bond);
			judge_explained_by(g, "qos.equal", NULL);
			found = true;
		}
	}
	if (members > 2) {
		judge_fail(g, "lag-third-member", "leave two ports of one adapter in the bond",
			   "%s has %zu ports: ice offers RDMA on a bond of two", bond, members);
		found = true;
	}
	return found;
}

/* What the log says about the bond, when the facts do not show it (any more). */
static bool lag_in_log(struct judging *g)
{
	static const char *const ids[] = { "ice-lag-non-ice", "ice-lag-different-device",
					   "ice-lag-different-dcb" };
	bool found = false;

	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		json_t *line = signature_fact(g, ids[i], NULL);

		if (!line)
			continue;
		judge_fail(g, ids[i] + strlen("ice-"),
			   "correct what the line names, then re-create the bond",
			   "the kernel log says: %s", json_get_string(line, "text", ""));
		found = true;
	}
	return found;
}

static bool lag_driver_unfit(struct judging *g, const char *nic, const char *bdf, const char *bond)
{
	const char *mode = json_string_value(peek(g, "/links/%s/bond/mode", bond));
	bool backup = mode && !strcmp(mode, "active-backup");
	const char *min = backup ? LAG_ACTIVE_BACKUP_MIN : LAG_ACTIVE_ACTIVE_MIN;
	const char *version = json_string_value(peek(g, "/os/modules/ice/version"));
	const char *ddp =
		json_string_value(peek(g, "/devlink/pci/%s/versions/running/fw.app.name", bdf));
	bool found = false;

	if (version && text_version_compare(version, min) < 0) {
		fact_optional(g, "/os/modules/ice/version");
		judge_fail(
			g, "lag-driver-old", "install out-of-tree ice and irdma of a newer release",
			"out-of-tree ice %s has no RDMA over a bond in mode %s: that came with %s",
			version, mode ? mode : "(not known)", min);
		found = true;
	}
	if (ddp && text_starts_with(ddp, ICE_DDP_DEFAULT)) {
		fact_optional(g, "/devlink/pci/%s/versions/running/fw.app.name", bdf);
		judge_fail(g, "ddp-default-lag-needed",
			   "install intel/ice/ddp-lag/ice_lag-*.pkg as the DDP package, also into "
			   "the initramfs, and power-cycle the adapter",
			   "%s has the DDP package \"%s\", which has no LAG support: ice offers no "
			   "RDMA on %s",
			   nic, ddp, bond);
		judge_explained_by(g, "nic.firmware", nic);
		found = true;
	}
	if (json_is_true(family_devlink_parameter(g, bdf, "enable_iwarp"))) {
		judge_fail(g, "lag-not-roce",
			   judge_text(g,
				      "devlink dev param set pci/%s name enable_iwarp value false "
				      "cmode runtime && devlink dev param set pci/%s name "
				      "enable_roce value true cmode runtime",
				      bdf, bdf),
			   "%s is set to iWARP: ice offers RDMA on a bond for RoCE v2 only", nic);
		found = true;
	}
	return found;
}

/* RDMA on a bonded port. False: the bond is not the cause. */
static bool bonded(struct judging *g, const char *nic, const char *bdf)
{
	const char *bond = subject_bond_of(g->snapshot, nic);
	json_t *in_tree;

	if (!bond || family_auxiliary(g->snapshot, &family_ice, bdf))
		return false;
	fact_optional(g, "/links/%s/master", nic);
	in_tree = fact_optional(g, "/os/modules/ice/in_tree");
	if (json_is_true(in_tree)) {
		judge_fail(g, "bond-in-tree-ice", FIX_UNBOND,
			   "RDMA removed by ice because %s is a port of %s: in-tree ice has no "
			   "RDMA over a bond of any mode",
			   nic, bond);
		return true;
	}
	if (!json_is_false(in_tree)) {
		judge_fail(g, "bond-ice", FIX_UNBOND,
			   "%s is a port of %s and has no RDMA device; whether ice is in-tree is "
			   "not known",
			   nic, bond);
		judge_candidate(
			g, "bond-in-tree-ice", FIX_UNBOND,
			"in-tree ice removes RDMA from every bonded port: `modinfo -n ice` tells");
		return true;
	}

	bool found = lag_members_unfit(g, nic, bdf, bond);

	found |= lag_driver_unfit(g, nic, bdf, bond);
	if (found || lag_in_log(g))
		return true;
	judge_fail(g, "bond-out-of-tree-ice", NULL,
		   "%s is a port of %s and out-of-tree ice offers no RDMA on it; the facts name no "
		   "single cause",
		   nic, bond);
	judge_candidate(g, "lag-primary-left",
			"remove all ports from the bond and add them again, primary first",
			"the primary port left the bond and came back: `dmesg` shows the order");
	judge_candidate(
		g, "lag-ddp-not-known", "install the LAG DDP package",
		"the DDP package has no LAG support: `devlink dev info pci/%s` shows fw.app.name",
		bdf);
	judge_candidate(g, "lag-nvm", "update the NVM",
			"the NVM does not have the roce_lag capability (firmware 4.80 or newer is "
			"the floor that the vendor names for VF LAG; not verified for RoCE)");
	return true;
}

static bool parameters_off(struct judging *g, const char *nic, const char *bdf)
{
	json_t *rdma = family_devlink_parameter(g, bdf, "enable_rdma");
	json_t *roce = family_devlink_parameter(g, bdf, "enable_roce");
	json_t *iwarp = family_devlink_parameter(g, bdf, "enable_iwarp");

	if (json_is_false(rdma)) {
		judge_fail(g, "rdma-parameter-off",
			   judge_text(g,
				      "devlink dev param set pci/%s name enable_rdma value true "
				      "cmode driverinit && devlink dev reload pci/%s",
				      bdf, bdf),
			   "%s: the devlink parameter enable_rdma is off", nic);
		return true;
	}
	if (json_is_false(roce) && json_is_false(iwarp)) {
		judge_fail(g, "roce-and-iwarp-off",
			   judge_text(g,
				      "devlink dev param set pci/%s name enable_roce value true "
				      "cmode runtime",
				      bdf),
			   "%s: the devlink parameters enable_roce and enable_iwarp are both off",
			   nic);
		return true;
	}
	return false;
}

/* irdma itself: cannot load, does not fit, did not bind, or its device is elsewhere. */
static bool irdma_trouble(struct judging *g, const char *aux)
{
	bool loaded = family_module_is_loaded(g, "irdma");
	json_t *nic_in_tree = peek(g, "/os/modules/ice/in_tree");
	json_t *rdma_in_tree = peek(g, "/os/modules/irdma/in_tree");
	bool mixed = json_is_boolean(nic_in_tree) && json_is_boolean(rdma_in_tree) &&
		     json_is_true(nic_in_tree) != json_is_true(rdma_in_tree);
	bool unknown_symbol = !loaded && signature_fact(g, "irdma-unknown-symbol", NULL);

	if (family_module_trouble(g, "irdma", true))
		return true;
	if (mixed || unknown_symbol) {
		fact_optional(g, "/os/modules/ice/in_tree");
		fact_optional(g, "/os/modules/irdma/in_tree");
		judge_fail(g, "driver-pair-mixed", "see gate nic.driver-pair",
			   "ice and irdma are not of one source, so they do not work together%s",
			   unknown_symbol ? " (unknown symbols in the kernel log)" : "");
		judge_explained_by(g, "nic.driver-pair", NULL);
		return true;
	}
	if (aux && family_device_in_other_netns(g, aux))
		return true;
	if (aux && !loaded && peek(g, "/os/modules/irdma")) {
		judge_fail(g, "module-not-loaded", "modprobe irdma",
			   "%s waits for its driver: irdma is not loaded", aux);
		judge_explained_by(g, "rdma.module", NULL);
		return true;
	}
	if (aux && json_is_null(peek(g, "/pci/auxiliary/%s/driver", aux))) {
		fact_optional(g, "/pci/auxiliary/%s/driver", aux);
		judge_fail(g, "irdma-not-bound",
			   "read `dmesg | grep irdma` for the reason, then reload irdma",
			   "%s has no driver although irdma is loaded: its probe failed", aux);
		return true;
	}
	return false;
}

bool family_ice_no_device(struct judging *g, const char *nic)
{
	const char *bdf = subject_pci_of_link(g->snapshot, nic);

	if (family_ice_safe_mode(g, nic)) {
		judge_fail(g, "ice-safe-mode", "see gate nic.firmware: the DDP package comes first",
			   "%s runs in Safe Mode, which has no RDMA", nic);
		judge_explained_by(g, "nic.firmware", nic);
		return true;
	}
	if (!bdf)
		return false;
	if (many_functions(g, nic, bdf) || bonded(g, nic, bdf))
		return true;

	const char *aux = family_auxiliary(g->snapshot, &family_ice, bdf);

	if (!aux && parameters_off(g, nic, bdf))
		return true;
	if (irdma_trouble(g, aux))
		return true;
	if (aux || !peek(g, "/pci/auxiliary"))
		return false;
	fact_optional(g, "/pci/auxiliary");
	judge_fail(g, "no-auxiliary-device", NULL,
		   "ice offers no RDMA on %s: there is no auxiliary device ice.roce.* or "
		   "ice.iwarp.* of %s",
		   nic, bdf);
	judge_candidate(g, "nvm-without-rdma", "choose an NVM image and a port option with RDMA",
			"RDMA is switched off in the NVM or BIOS setup of the adapter: `devlink "
			"dev param show pci/%s` without enable_roce would say so",
			bdf);
	judge_candidate(g, "ice-without-rdma", "use a kernel or driver build with RDMA",
			"this build of ice has no RDMA support: `modinfo ice` and the kernel log "
			"of its start tell");
	judge_candidate(g, "vectors-exhausted", "lower the queue count with ethtool -L",
			"no interrupt vectors were left for RDMA: the kernel log names MSI-X");
	return true;
}
