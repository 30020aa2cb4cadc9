/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel log lines with a known meaning. The first entry that matches a line is its meaning, so a
 * special text stands before the general one. Texts of in-tree drivers were read in the source files
 * named; "out-of-tree" marks texts of the vendor's package.
 */
#include "judge/signature.h"

#include <string.h>

#define ICE_MAIN "drivers/net/ethernet/intel/ice/ice_main.c"
#define FIX_DDP                                                                                    \
	"install the ice DDP package (RHEL: linux-firmware, Debian: firmware-intel-misc), put it into " \
	"the initramfs (dracut -f, update-initramfs -u), then reload ice or reboot"
#define FIX_NVM "update the NVM of the adapter (devlink dev flash, nvmupdate64e) and the driver as a pair"
#define FIX_RESET "note NVM, ice and irdma versions, update them as a set, then reboot the node"

static const struct signature table[] = {
	/* --- ice: firmware and DDP ------------------------------------------------------------- */
	{ "ice-ddp-file-not-loaded", { "Direct firmware load for intel/ice/ddp", "failed with error" },
	  VERDICT_FAIL, "the kernel could not read the DDP package file", FIX_DDP,
	  "drivers/base/firmware_loader/main.c; ice_request_fw in " ICE_MAIN },
	{ "ice-ddp-not-found", { "DDP package file was not found or could not be read" }, VERDICT_FAIL,
	  "the DDP package file was not found, so ice runs in Safe Mode: one queue pair, no RDMA, no DCB",
	  FIX_DDP, "ice_request_fw in " ICE_MAIN },
	{ "ice-ddp-invalid", { "The DDP package file is invalid" }, VERDICT_FAIL,
	  "the DDP package file is damaged, so ice runs in Safe Mode", FIX_DDP,
	  "ice_log_pkg_init in " ICE_MAIN },
	{ "ice-ddp-too-new", { "DDP package file version is higher than the driver supports" },
	  VERDICT_FAIL, "the DDP package is newer than the ice driver supports: Safe Mode",
	  "use the DDP package of the driver's release, or a newer ice driver",
	  "ice_log_pkg_init in " ICE_MAIN },
	{ "ice-ddp-too-old", { "DDP package file version is lower than the driver supports" },
	  VERDICT_FAIL, "the DDP package is older than the ice driver supports: Safe Mode", FIX_DDP,
	  "ice_log_pkg_init in " ICE_MAIN },
	{ "ice-ddp-signature", { "could not be loaded because its signature is not valid" },
	  VERDICT_FAIL, "the adapter refuses the signature of the DDP package: Safe Mode",
	  "use a DDP package as the vendor signed it", "ice_log_pkg_init in " ICE_MAIN },
	{ "ice-ddp-revision", { "could not be loaded because its security revision is too low" },
	  VERDICT_FAIL, "the DDP package is below the adapter's security revision: Safe Mode", FIX_DDP,
	  "ice_log_pkg_init in " ICE_MAIN },
	{ "ice-ddp-on-device-unsupported", { "has a DDP package that is not supported by the driver" },
	  VERDICT_FAIL, "another function has loaded a DDP package that this driver does not support",
	  "use one DDP package for all functions of the device, then power-cycle it",
	  "ice_log_pkg_init in " ICE_MAIN },
	{ "ice-ddp-firmware-mismatch", { "is not compatible with the DDP package" }, VERDICT_FAIL,
	  "the adapter's firmware and the DDP package do not fit: Safe Mode", FIX_NVM,
	  "ice_log_pkg_init in " ICE_MAIN },
	{ "ice-ddp-load-error", { "while loading the DDP package" }, VERDICT_FAIL,
	  "the adapter reported an error while it loaded the DDP package", FIX_NVM,
	  "ice_log_pkg_init in " ICE_MAIN },
	{ "ice-ddp-already-other", { "because a compatible DDP package is already present" },
	  VERDICT_WARN,
	  "the device keeps a DDP package that was loaded before; the file on disk is not in use",
	  "power-cycle the adapter (a warm reboot may keep it) when the other package is wanted",
	  "ice_log_pkg_init in " ICE_MAIN },
	{ "ice-safe-mode", { "ice ", "Entering ", "afe " }, VERDICT_FAIL,
	  "ice runs in Safe Mode: one queue pair, no RDMA, no DCB", FIX_DDP, ICE_MAIN },
	{ "ice-ddp-loaded", { "DDP package was successfully loaded" }, VERDICT_PASS,
	  "the DDP package was loaded", NULL, "ice_log_pkg_init in " ICE_MAIN },
	{ "ice-ddp-loaded", { "DDP package already present on device" }, VERDICT_PASS,
	  "another function of the device has loaded the DDP package", NULL,
	  "ice_log_pkg_init in " ICE_MAIN },
	{ "nvm-newer-stopped", { "stopped because the NVM image is newer than expected" }, VERDICT_FAIL,
	  "the driver stopped: the adapter's NVM has a newer major interface version than the driver",
	  "install the ice driver of the NVM's release, or flash the NVM of the driver's release",
	  "drivers/net/ethernet/intel/ice/ice_controlq.c" },
	{ "nvm-newer", { "detected a newer version of the NVM image than expected" }, VERDICT_WARN,
	  "the adapter's NVM is newer than the driver", "update the driver to the NVM's release",
	  "drivers/net/ethernet/intel/ice/ice_controlq.c" },
	{ "nvm-older", { "detected an older version of the NVM image than expected" }, VERDICT_WARN,
	  "the adapter's NVM is older than the driver expects", FIX_NVM,
	  "drivers/net/ethernet/intel/ice/ice_controlq.c" },
	{ "ice-rdma-config", { "RDMA functionality is not available with the current device config" },
	  VERDICT_FAIL,
	  "the device has more than 4 functions: ice switches RDMA off and leaves 4 traffic classes per port",
	  "choose a port option of the adapter with at most 4 ports (EPCT), or another NIC",
	  "ice_recalc_port_limited_caps in drivers/net/ethernet/intel/ice/ice_common.c" },
	{ "ice-dcb-not-contiguous", { "Non-contiguous TCs - Disabling DCB" }, VERDICT_FAIL,
	  "the traffic classes do not start at 0 without a hole, so ice switched DCB off",
	  "map priorities to traffic classes 0, 1, 2 … without a hole",
	  "drivers/net/ethernet/intel/ice/ice_dcb_lib.c" },
	{ "ice-dcb-bonded", { "DCB changes not allowed when in a bond" }, VERDICT_WARN,
	  "a DCB change was refused because the port is in a bond",
	  "configure DCB on the port before it joins the bond",
	  "drivers/net/ethernet/intel/ice/ice_dcb_nl.c" },
	{ "ice-dcb-firmware-agent", { "can't do DSCP QoS when FW DCB agent active" }, VERDICT_WARN,
	  "a DSCP entry was refused because the firmware's LLDP agent is on",
	  "ethtool --set-priv-flags LINK fw-lldp-agent off",
	  "drivers/net/ethernet/intel/ice/ice_dcb_nl.c" },
	{ "ice-fw-lldp-off", { "FW LLDP is disabled" }, VERDICT_PASS,
	  "the firmware's LLDP agent is off", NULL, "drivers/net/ethernet/intel/ice/ice_dcb_lib.c" },
	/* --- ice: RDMA over a bond (out-of-tree driver; the first three also SR-IOV LAG in-tree) -- */
	{ "ice-lag-non-ice", { "Found ", "non-ice netdev" }, VERDICT_WARN,
	  "the bond has a port that is not of an ice adapter, so ice offers no RDMA on it",
	  "bond only the two ports of one E810 adapter",
	  "ice_is_bond_rdma_cap in src/ice_lag.c, out-of-tree ice" },
	{ "ice-lag-different-device", { "Found ", "on different device" }, VERDICT_WARN,
	  "the ports of the bond sit on different adapters, so ice offers no RDMA on it",
	  "bond only the two ports of one E810 adapter",
	  "ice_is_bond_rdma_cap in src/ice_lag.c, out-of-tree ice" },
	{ "ice-lag-different-dcb", { "Found ", "different DCB config" }, VERDICT_WARN,
	  "the ports of the bond have different DCB settings, so ice offers no RDMA on it",
	  "take the ports out of the bond, give both the same DCB settings, bond them again",
	  "ice_is_bond_rdma_cap in src/ice_lag.c, out-of-tree ice" },
	/* --- irdma ------------------------------------------------------------------------------- */
	{ "irdma-oicr", { "ICE OICR event notification" }, VERDICT_FAIL,
	  "the adapter raised a critical RDMA event; irdma asks for a reset", FIX_RESET,
	  "drivers/infiniband/hw/irdma/main.c" },
	{ "irdma-critical", { "critical PE Error" }, VERDICT_FAIL,
	  "the adapter's protocol engine reported a critical error", FIX_RESET,
	  "drivers/infiniband/hw/irdma/main.c" },
	{ "irdma-hmc-error", { "HMC Error" }, VERDICT_FAIL,
	  "the adapter's host memory cache reported an error", FIX_RESET,
	  "drivers/infiniband/hw/irdma/main.c" },
	{ "irdma-reset", { "irdma", "Requesting a reset" }, VERDICT_FAIL,
	  "irdma asked for a reset of the adapter", FIX_RESET, "drivers/infiniband/hw/irdma/main.c" },
	{ "irdma-reset", { "ice ", "Requesting a reset" }, VERDICT_FAIL,
	  "irdma asked for a reset of the adapter", FIX_RESET, "drivers/infiniband/hw/irdma/main.c" },
	{ "irdma-unknown-symbol", { "irdma: Unknown symbol" }, VERDICT_FAIL,
	  "irdma does not fit the loaded ice: one is in-tree, the other out-of-tree",
	  "install ice and irdma from one source, both in-tree or both of one vendor release",
	  "kernel/module/main.c; README of out-of-tree ice" },
	{ "irdma-unknown-symbol", { "irdma: disagrees about version of symbol" }, VERDICT_FAIL,
	  "irdma was built against another ice or ib_core than the loaded one",
	  "install ice and irdma from one source, both in-tree or both of one vendor release",
	  "kernel/module/version.c" },
	{ "irdma-unknown-parameter", { "irdma: unknown parameter" }, VERDICT_WARN,
	  "modprobe.d sets a parameter that this irdma does not have: the line was written for the "
	  "out-of-tree driver",
	  "remove the options line of irdma from /etc/modprobe.d", "kernel/params.c" },
	{ "irdma-no-flow-control", { "Flow control is disabled for this traffic class" }, VERDICT_WARN,
	  "out-of-tree irdma found no flow control on the traffic class and lowers its window and credits",
	  "set PFC on the RoCE priority on the NIC and on the switch", "irdma, out-of-tree" },
	{ "irdma-flow-control", { "Flow control is enabled for this traffic class" }, VERDICT_PASS,
	  "irdma found flow control on the traffic class", NULL, "irdma, out-of-tree" },
	/* --- any NIC ------------------------------------------------------------------------------- */
	{ "pcie-limited", { "available PCIe bandwidth, limited by" }, VERDICT_WARN,
	  "the PCIe link gives less than the adapter can use", "see gate pci.link",
	  "__pcie_print_link_status in drivers/pci/pci.c" },
	{ "nic-tx-timeout", { "NETDEV WATCHDOG", "timed out" }, VERDICT_FAIL,
	  "a transmit queue of the NIC hung", "note firmware and driver versions; update them",
	  "net/sched/sch_generic.c" },
	{ "mlx5-health", { "mlx5_core", "device's health compromised" }, VERDICT_FAIL,
	  "mlx5 reports that the adapter's firmware is not healthy",
	  "devlink health diagnose pci/BDF reporter fw; update the firmware",
	  "drivers/net/ethernet/mellanox/mlx5/core/health.c" },
	{ "mlx5-fatal", { "mlx5_core", "Fatal error" }, VERDICT_FAIL,
	  "mlx5 reports a fatal error of the adapter", "devlink health show; power-cycle the node",
	  "drivers/net/ethernet/mellanox/mlx5/core/health.c" },
	{ "mlx5-power", { "mlx5_core", "insufficient power" }, VERDICT_WARN,
	  "the slot gives the adapter less power than it asks for",
	  "set the slot's power limit in the BIOS, or use another slot",
	  "drivers/net/ethernet/mellanox/mlx5/core/events.c" },
	{ "bond-no-partner", { "No 802.3ad response from the link partner" }, VERDICT_WARN,
	  "no 802.3ad answer from the link partner", "see gate net.bond",
	  "drivers/net/bonding/bond_main.c" },
	/* --- IOMMU, GPU ------------------------------------------------------------------------------ */
	{ "iommu-fault", { "DMAR:", "fault" }, VERDICT_FAIL,
	  "the IOMMU refused an access of a device (DMAR fault)",
	  "boot with iommu=pt or the IOMMU off; see gate gdr.iommu", "drivers/iommu/intel/dmar.c" },
	{ "iommu-fault", { "AMD-Vi", "IO_PAGE_FAULT" }, VERDICT_FAIL,
	  "the IOMMU refused an access of a device (IO_PAGE_FAULT)",
	  "boot with iommu=pt or the IOMMU off; see gate gdr.iommu", "drivers/iommu/amd/iommu.c" },
	{ "nvrm-dmabuf-force-pcie", { "topology not supported for mapping type FORCE_PCIE" },
	  VERDICT_FAIL,
	  "the dma-buf was exported with the PCIe mapping flag, which needs a coherent GPU and one IOMMU "
	  "group with the NIC",
	  "export without the PCIe mapping flag on x86",
	  "kernel-open/nvidia/nv-dmabuf.c, open-gpu-kernel-modules 595.45.04" },
	{ "nvrm-dmabuf-topology", { "PCI topology not supported for dma-buf" }, VERDICT_FAIL,
	  "the driver refuses peer access: Arm root complex and no common PCIe switch of GPU and NIC",
	  "put GPU and NIC below one PCIe switch",
	  "kernel-open/nvidia/nv-dmabuf.c, open-gpu-kernel-modules 595.45.04" },
	{ "nvrm-dmabuf-importer", { "importer unable to handle MMIO without struct page" }, VERDICT_FAIL,
	  "the RDMA driver attached the dma-buf dynamically and without peer-to-peer",
	  "use an RDMA driver that pins dma-bufs or allows peer-to-peer",
	  "kernel-open/nvidia/nv-dmabuf.c, open-gpu-kernel-modules 595.45.04" },
	{ "nvrm-version-mismatch", { "NVRM: API mismatch" }, VERDICT_FAIL,
	  "a program used an NVIDIA library of another version than the loaded kernel module",
	  "reboot or reload the module after a driver update; remove the older kmod package",
	  "open-gpu-kernel-modules" },
	{ "nvrm-xid", { "NVRM: Xid" }, VERDICT_FAIL, "the GPU reported an Xid error",
	  "look the number up in NVIDIA's Xid catalogue; `nvidia-smi -q` names the state",
	  "NVIDIA, Xid errors" },
	{ "nvrm-fallen-off", { "NVRM", "fallen off the bus" }, VERDICT_FAIL,
	  "the GPU no longer answers on the PCIe bus", "power-cycle the node; check seating and power",
	  "NVIDIA, Xid 79" },
};

const struct signature *signature_table(size_t *n)
{
	*n = ARRAY_SIZE(table);
	return table;
}

static bool matches(const struct signature *s, const char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(s->all_of) && s->all_of[i]; i++) {
		if (!strstr(text, s->all_of[i]))
			return false;
	}
	return true;
}

const struct signature *signature_of_text(const char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		if (matches(&table[i], text))
			return &table[i];
	}
	return NULL;
}

/* `about` as a word of its own: "ens1f0" is not in a line about "ens1f0np0" or "ens1f01". */
static bool mentions(const char *text, const char *about)
{
	size_t len = strlen(about);

	for (const char *s = strstr(text, about); s; s = strstr(s + 1, about)) {
		char after = s[len];
		bool word = !after || strchr(" :,.()\t", after);

		if (word && (s == text || strchr(" (\t", s[-1])))
			return true;
	}
	return false;
}

/* Index of the newest line with a meaning `id` (any entry of that id), or -1. */
static int64_t newest(json_t *snapshot, const char *id, const char *about)
{
	json_t *lines = json_at(snapshot, "/os/log/lines");

	for (size_t i = json_array_size(lines); i-- > 0;) {
		const char *text = json_get_string(json_array_get(lines, i), "text", "");

		if (about && !mentions(text, about))
			continue;
		for (size_t k = 0; k < ARRAY_SIZE(table); k++) {
			if (!strcmp(table[k].id, id) && matches(&table[k], text))
				return (int64_t)i;
		}
	}
	return -1;
}

json_t *signature_find(json_t *snapshot, const char *id, const char *about)
{
	int64_t i = newest(snapshot, id, about);

	return i < 0 ? NULL : json_array_get(json_at(snapshot, "/os/log/lines"), (size_t)i);
}

json_t *signature_fact(struct judging *g, const char *id, const char *about)
{
	int64_t i = newest(g->snapshot, id, about);

	return i < 0 ? NULL : fact_optional(g, "/os/log/lines/%u", (unsigned)i);
}

bool signature_newer(json_t *snapshot, const char *id, const char *than, const char *about)
{
	int64_t a = newest(snapshot, id, about);

	return a >= 0 && a > newest(snapshot, than, about);
}
