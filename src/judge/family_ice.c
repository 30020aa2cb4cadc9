/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Intel E800 (ice with irdma). Statements about the out-of-tree driver come from the README and
 * source of intel/ethernet-linux-ice 2.6.6; none of this was run on an E810 by this project.
 */
#include "judge/family_ice.h"

#include <string.h>

#include "base/text.h"
#include "judge/signature.h"
#include "judge/subject.h"

/* --- Safe Mode --- */

bool family_ice_safe_mode(struct judging *g, const char *nic)
{
	const char *driver = subject_driver_of_link(g->snapshot, nic);
	const char *bdf = subject_pci_of_link(g->snapshot, nic);

	if (!driver || strcmp(driver, "ice") || !bdf)
		return false;

	json_t *running = peek(g, "/devlink/pci/%s/versions/running", bdf);
	const char *name = json_get_string(running, "fw.app.name", NULL);
	const char *version = json_get_string(running, "fw.app", NULL);

	/* an active package is the newer truth: the log may tell of an earlier load */
	if (name && *name)
		return false;
	if (signature_newer(g->snapshot, "ice-safe-mode", "ice-ddp-loaded", bdf)) {
		signature_fact(g, "ice-safe-mode", bdf);
		return true;
	}
	/* ice_info_ddp_pkg_version prints the version of no package as zeros */
	if (version && !strcmp(version, "0.0.0.0")) {
		fact_optional(g, "/devlink/pci/%s/versions/running/fw.app", bdf);
		return true;
	}
	return false;
}

/* Which line tells why? The special ones stand before the general one in the table. */
static const struct signature *safe_mode_reason(struct judging *g, const char *bdf)
{
	size_t n;
	const struct signature *table = signature_table(&n);

	for (size_t i = 0; i < n; i++) {
		if (!text_starts_with(table[i].id, "ice-ddp-") || table[i].weight != VERDICT_FAIL ||
		    !strcmp(table[i].id, "ice-ddp-file-not-loaded"))
			continue;
		if (signature_fact(g, table[i].id, bdf))
			return &table[i];
	}
	return NULL;
}

/* "intel/ice/ddp/ice.pkg (error -2)" from the firmware loader's line, or NULL. */
static const char *missing_file(struct judging *g, const char *bdf)
{
	const char *text =
		json_get_string(signature_fact(g, "ice-ddp-file-not-loaded", bdf), "text", NULL);
	const char *file = text ? strstr(text, "intel/ice/ddp") : NULL;
	const char *error = text ? strstr(text, "error ") : NULL;

	if (!file || !error)
		return NULL;
	return judge_text(g, "%.*s (%s)", (int)strcspn(file, " "), file, error);
}

static void judge_safe_mode(struct judging *g, const char *nic)
{
	const char *bdf = subject_pci_of_link(g->snapshot, nic);
	const struct signature *reason = safe_mode_reason(g, bdf);
	const char *file = missing_file(g, bdf);

	/* most of the texts say Safe Mode themselves */
	if (reason)
		judge_fail(g, reason->id, reason->fix, "%s (%s)%s: %s%s%s", nic, bdf,
			   strstr(reason->text, "Safe Mode") ? "" : " runs in Safe Mode",
			   reason->text, file ? "; " : "", file ? file : "");
	else
		judge_fail(g, "ice-safe-mode",
			   "read `dmesg | grep 'ice.*DDP'`; install the DDP package, also into the "
			   "initramfs, then reload ice or reboot",
			   "%s (%s) runs in Safe Mode: no DDP package is active%s%s", nic, bdf,
			   file ? "; " : "", file ? file : "");
}

/* --- firmware --- */

static void ice_firmware(struct judging *g, const char *nic)
{
	const char *bdf = subject_pci_of_link(g->snapshot, nic);
	const char *bond = subject_bond_of(g->snapshot, nic);
	static const char *const notes[] = { "nvm-newer", "nvm-older", "ice-ddp-already-other" };

	if (family_ice_safe_mode(g, nic)) {
		judge_safe_mode(g, nic);
		return;
	}
	for (size_t i = 0; bdf && i < ARRAY_SIZE(notes); i++) {
		json_t *line = signature_fact(g, notes[i], bdf);

		if (line)
			judge_warn(g, notes[i], "bring NVM, DDP package and driver to one release",
				   "%s: the kernel log says: %s", nic,
				   json_get_string(line, "text", ""));
	}
	if (!bdf || !bond || !json_is_false(peek(g, "/os/modules/ice/in_tree")))
		return;

	const char *ddp =
		json_string_value(peek(g, "/devlink/pci/%s/versions/running/fw.app.name", bdf));

	if (ddp && text_starts_with(ddp, ICE_DDP_DEFAULT)) {
		fact_optional(g, "/devlink/pci/%s/versions/running/fw.app.name", bdf);
		fact_optional(g, "/links/%s/master", nic);
		judge_fail(g, "ddp-default-lag-needed",
			   "install intel/ice/ddp-lag/ice_lag-*.pkg as the DDP package, also into "
			   "the initramfs, and power-cycle the adapter",
			   "%s is in %s and has the DDP package \"%s\": RDMA over a bond needs the "
			   "LAG package",
			   nic, bond, ddp);
	}
}

static void ice_driver_pair(struct judging *g, const char *nic)
{
	(void)nic;
	family_judge_same_source(g, "ice", "irdma");
	family_judge_core(g, "irdma");
	if (signature_fact(g, "irdma-unknown-symbol", NULL) && !family_module_is_loaded(g, "irdma"))
		judge_fail(g, "irdma-unknown-symbol",
			   "install ice and irdma from one source, both in-tree or both of one "
			   "vendor release",
			   "irdma does not load: its symbols do not fit the loaded ice");
}

/* Both naming generations of irdma: mainline before the GEN3 series, and after it (also
 * out-of-tree 2.x). Counters of drops, retransmits and protocol errors only.
 * drivers/infiniband/hw/irdma/verbs.c */
static const char *const errors[] = {
	"ip4InDiscards",      "ip4InTruncatedPkts",
	"ip4OutNoRoutes",     "ip6InDiscards",
	"ip6InTruncatedPkts", "ip6OutNoRoutes",
	"rxVlanErrors",       "tcpRetransSegs",
	"tcpInOptErrors",     "tcpInProtoErrors",
	"RetransSegs",        "InOptErrors",
	"InProtoErrors",      "RNR sent",
	"RNR received",       "RTO",
	"Nak Sequence Error", "Rcvd Out of order packets",
	"CRC errors",         NULL,
};

static const char *const ice_drivers[] = { "ice", NULL };
static const char *const i40e_drivers[] = { "i40e", NULL };
static const char *const rdma_drivers[] = { "irdma", NULL };
static const char *const ice_auxiliary[] = { "ice.roce.", "ice.iwarp.", NULL };
static const char *const i40e_auxiliary[] = { "i40e.iwarp.", NULL };

const struct family family_ice = {
	.name = "ice",
	.auxiliary = ice_auxiliary,
	.nic_drivers = ice_drivers,
	.rdma_drivers = rdma_drivers,
	.provider = "irdma",
	.rdma_core_min = "45",      /* irdma: Add support for ibv_reg_dmabuf_mr, in v45.0 */
	.kernel_dmabuf_min = "6.3", /* commit d2225b838cca */
	.fw_lldp_flag = "fw-lldp-agent",
	.no_dcqcn_in_tree = true,
	.no_device = family_ice_no_device,
	.firmware = ice_firmware,
	.driver_pair = ice_driver_pair,
	.error_counters = errors,
};

/* X710/X722: Ethernet side for the QoS gates; RDMA (X722, iWARP) by the common rules. */
const struct family family_i40e = {
	.name = "i40e",
	.auxiliary = i40e_auxiliary,
	.nic_drivers = i40e_drivers,
	.rdma_drivers = rdma_drivers,
	.provider = "irdma",
	.rdma_core_min = "45",
	.kernel_dmabuf_min = "6.3",
	.fw_lldp_flag = "disable-fw-lldp",
	.fw_lldp_flag_inverted = true,
	.error_counters = errors,
};
