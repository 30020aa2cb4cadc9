/* SPDX-License-Identifier: Apache-2.0 */
/* pci.link, nic.driver, nic.firmware, nic.driver-pair: each cause, and the healthy forms. */
#include "bench.h"

static void declare_25g(struct bench *b)
{
	b->links[0].speed_mbps.value = b->links[1].speed_mbps.value = 25000;
}

static void declare_no_speed(struct bench *b)
{
	b->links[0].speed_mbps.set = b->links[1].speed_mbps.set = false;
}

static void declare_backup(struct bench *b)
{
	b->bond.mode = TEXT("active-backup");
}

static void declare_firmware(struct bench *b)
{
	b->links[0].firmware = TEXT("4.80");
}

static void declare_same_firmware(struct bench *b)
{
	b->links[0].firmware = TEXT("4.91");
}

static void declare_similar_firmware(struct bench *b)
{
	b->links[0].firmware = TEXT("4.9");
}

static void declare_ddp(struct bench *b)
{
	b->links[0].ddp = TEXT("ICE LAG Package");
}

static void declare_no_pci(struct bench *b)
{
	b->links[0].pci = NULL;
}

static void declare_mlx5(struct bench *b)
{
	b->links[0].driver = TEXT("mlx5_core");
}

static struct site_rdma peer_port = { .link = TEXT("ens1f0"), .rail = TEXT("rail0") };

static void add_peer(struct bench *b, unsigned roles)
{
	b->s->nodes[1].rdma = &peer_port;
	b->s->nodes[1].n_rdma = 1;
	b->s->nodes[1].roles = roles;
	b->s->snapshots[1] = json_deep_copy(b->s->snapshots[0]);
	scene_set(b->s->snapshots[1], "/devlink/pci/0000:1b:00.0/versions/running/fw.bundle_id",
		  "'0x8000aaaa'");
}

static void peer_of_the_role(struct bench *b)
{
	add_peer(b, SITE_ROLE_GPU);
}

static void peer_of_another_role(struct bench *b)
{
	/* two roles that talk: with a storage role in the site, pairs lead to it */
	add_peer(b, SITE_ROLE_STORAGE);
}

static void equal_peer(struct bench *b)
{
	add_peer(b, SITE_ROLE_GPU);
	scene_set(b->s->snapshots[1], "/devlink/pci/0000:1b:00.0/versions/running/fw.bundle_id",
		  "'0x800214b4'");
}

#define LINK0 "/pci/devices/0000:1b:00.0/link"
#define LINK1 "/pci/devices/0000:1b:00.1/link"
#define BRIDGE "/pci/devices/0000:17:00.0/link"
#define RUNNING0 "/devlink/pci/0000:1b:00.0/versions/running/"
#define RUNNING1 "/devlink/pci/0000:1b:00.1/versions/running/"
#define GEN3X8 "{'speed_gts': 8.0, 'width': 8, 'max_speed_gts': 16.0, 'max_width': 16}"
#define NO_DDP                                                                                     \
	"[{'text': 'ice 0000:1b:00.0: Direct firmware load for intel/ice/ddp/ice.pkg failed with " \
	"error -2'}, "                                                                             \
	"{'text': 'ice 0000:1b:00.0: The DDP package file was not found or could not be read. "    \
	"Entering Safe Mode'}]"

#define PCI .gate = "pci.link", .subject = "ens1f0"
#define DRIVER .gate = "nic.driver", .subject = "ens1f0"
#define FIRMWARE .gate = "nic.firmware", .subject = "ens1f0"
#define PAIR .gate = "nic.driver-pair"

static const struct bench_row rows[] = {
	/* --- pci.link --- */
	{ .name = "pci: narrow and slow link",
	  PCI,
	  .status = VERDICT_FAIL,
	  .changes = { { LINK0, GEN3X8 } },
	  .cause = "pcie-link-too-slow",
	  .text = "63 Gb/s for the device 0000:1b:00, its 2 ports need 200 Gb/s" },
	{ .name = "pci: the bridge limits",
	  PCI,
	  .status = VERDICT_FAIL,
	  .changes = { { BRIDGE,
			 "{'speed_gts': 8.0, 'width': 8, 'max_speed_gts': 8.0, 'max_width': 8}" } },
	  .cause = "pcie-link-too-slow",
	  .text = "limiting link 0000:17:00.0 at 8.0 GT/s x8: the slot or bridge" },
	{ .name = "pci: one wire seen from both ends names the upper",
	  PCI,
	  .status = VERDICT_FAIL,
	  .changes = { { LINK0, GEN3X8 },
		       { BRIDGE,
			 "{'speed_gts': 8.0, 'width': 8, 'max_speed_gts': 8.0, 'max_width': 8}" } },
	  .cause = "pcie-link-too-slow",
	  .text = "limiting link 0000:17:00.0" },
	{ .name = "pci: slow but enough",
	  PCI,
	  .status = VERDICT_WARN,
	  .site = declare_25g,
	  .changes = { { LINK0, GEN3X8 } },
	  .cause = "pcie-below-maximum",
	  .text = "enough for its ports" },
	{ .name = "pci: one of two active-backup ports counts",
	  PCI,
	  .base = BASE_BOND,
	  .status = VERDICT_WARN,
	  .site = declare_backup,
	  .changes = { { "/links/bond1/bond/mode", "'active-backup'" },
		       { LINK0, "{'speed_gts': 16.0, 'width': 8, 'max_speed_gts': 16.0, "
				"'max_width': 16}" } },
	  .cause = "pcie-below-maximum",
	  .text = "126 Gb/s" },
	{ .name = "pci: speed known, none declared",
	  PCI,
	  .status = VERDICT_FAIL,
	  .site = declare_no_speed,
	  .changes = { { LINK0, GEN3X8 } },
	  .cause = "pcie-link-too-slow" },
	{ .name = "pci: no speed at all",
	  PCI,
	  .status = VERDICT_PASS,
	  .site = declare_no_speed,
	  .changes = { { "/links/ens1f0/ethtool/speed_mbps", "-1" },
		       { "/links/ens1f1/ethtool/speed_mbps", "-1" } },
	  .text = "full width and speed" },
	{ .name = "pci: not observed",
	  PCI,
	  .status = VERDICT_UNKNOWN,
	  .changes = { { LINK0, NULL } } },
	{ .name = "pci: no speed in it",
	  PCI,
	  .status = VERDICT_UNKNOWN,
	  .changes = { { LINK0, "{'speed_gts': 0, 'width': 0}" } } },
	{ .name = "pci: virtual NIC",
	  PCI,
	  .base = BASE_RXE,
	  .was_any = true,
	  .status = VERDICT_NA,
	  .text = "virtio_net" },
	/* --- nic.driver --- */
	{ .name = "driver: another one",
	  DRIVER,
	  .status = VERDICT_FAIL,
	  .site = declare_mlx5,
	  .cause = "driver-other",
	  .text = "driven by ice, declared is mlx5_core" },
	{ .name = "driver: vfio",
	  DRIVER,
	  .status = VERDICT_FAIL,
	  .changes = { { "/links/ens1f0", NULL },
		       { "/pci/devices/0000:1b:00.0/driver", "'vfio-pci'" } },
	  .cause = "driver-vfio" },
	{ .name = "driver: none bound",
	  DRIVER,
	  .status = VERDICT_FAIL,
	  .changes = { { "/links/ens1f0", NULL }, { "/pci/devices/0000:1b:00.0/driver", "null" } },
	  .cause = "driver-not-bound",
	  .not_cause = "driver-vfio" },
	{ .name = "driver: none bound, module missing",
	  DRIVER,
	  .status = VERDICT_FAIL,
	  .changes = { { "/links/ens1f0", NULL },
		       { "/pci/devices/0000:1b:00.0/driver", "null" },
		       { "/os/modules/ice/loaded", "false" },
		       { "/os/modules/ice/file", "null" } },
	  .cause = "module-missing",
	  .not_cause = "driver-not-bound" },
	{ .name = "driver: NVM newer",
	  DRIVER,
	  .status = VERDICT_FAIL,
	  .changes = { { "/links/ens1f0", NULL },
		       { "/pci/devices/0000:1b:00.0/driver", "null" },
		       { "/os/log/lines",
			 "[{'text': 'ice 0000:1b:00.0: The driver for the device stopped because "
			 "the NVM image is newer than expected. You must install the most recent "
			 "version of the network driver.'}]" } },
	  .cause = "nvm-newer-stopped" },
	{ .name = "driver: bound without link",
	  DRIVER,
	  .status = VERDICT_FAIL,
	  .changes = { { "/links/ens1f0", NULL },
		       { "/pci/devices/0000:1b:00.0/driver", "'igb_uio'" } },
	  .cause = "driver-without-link" },
	{ .name = "driver: renamed by PCI address",
	  DRIVER,
	  .status = VERDICT_FAIL,
	  .changes = { { "/links/enp27s0f0np0",
			 "{'parent_bus': 'pci', 'parent_device': '0000:1b:00.0'}" },
		       { "/links/ens1f0", NULL } },
	  .cause = "link-renamed",
	  .text = "enp27s0f0np0" },
	{ .name = "driver: renamed by alternative name",
	  DRIVER,
	  .status = VERDICT_FAIL,
	  .site = declare_no_pci,
	  .changes = { { "/links/eth4", "{'alternative_names': ['ens1f0']}" },
		       { "/links/ens1f0", NULL } },
	  .cause = "link-renamed",
	  .text = "eth4" },
	{ .name = "driver: card gone",
	  DRIVER,
	  .status = VERDICT_FAIL,
	  .changes = { { "/links/ens1f0", NULL }, { "/pci/devices/0000:1b:00.0", NULL } },
	  .cause = "pci-device-missing" },
	{ .name = "driver: link gone, nothing declared",
	  DRIVER,
	  .status = VERDICT_FAIL,
	  .site = declare_no_pci,
	  .changes = { { "/links/ens1f0", NULL } },
	  .cause = "link-missing",
	  .candidate = "driver-not-bound" },
	{ .name = "driver: not observed",
	  DRIVER,
	  .status = VERDICT_UNKNOWN,
	  .changes = { { "/links", NULL } } },
	{ .name = "driver: Safe Mode is not its failure",
	  DRIVER,
	  .status = VERDICT_PASS,
	  .changes = { { "/os/log/lines", NO_DDP }, { RUNNING0 "fw.app.name", NULL } },
	  .text = "in Safe Mode" },
	{ .name = "driver: virtio",
	  DRIVER,
	  .base = BASE_RXE,
	  .status = VERDICT_PASS,
	  .text = "virtual NIC" },
	/* --- nic.firmware --- */
	{ .name = "firmware: Safe Mode, package not found",
	  FIRMWARE,
	  .status = VERDICT_FAIL,
	  .changes = { { "/os/log/lines", NO_DDP }, { RUNNING0 "fw.app.name", NULL } },
	  .cause = "ice-ddp-not-found",
	  .text = "intel/ice/ddp/ice.pkg (error -2)" },
	{ .name = "firmware: Safe Mode, firmware does not fit",
	  FIRMWARE,
	  .status = VERDICT_FAIL,
	  .changes = { { "/os/log/lines",
			 "[{'text': 'ice 0000:1b:00.0: The firmware loaded on the device is not "
			 "compatible with the DDP package.  Please update the device\\u0027s NVM.  "
			 "Entering safe mode.'}]" },
		       { RUNNING0 "fw.app.name", NULL } },
	  .cause = "ice-ddp-firmware-mismatch" },
	{ .name = "firmware: Safe Mode by devlink alone",
	  FIRMWARE,
	  .status = VERDICT_FAIL,
	  .changes = { { RUNNING0 "fw.app.name", NULL }, { RUNNING0 "fw.app", "'0.0.0.0'" } },
	  .cause = "ice-safe-mode" },
	{ .name = "firmware: an old Safe Mode line, package loaded since",
	  FIRMWARE,
	  .status = VERDICT_PASS,
	  .changes = { { "/os/log/lines", NO_DDP } },
	  .text = "ICE OS Default Package" },
	{ .name = "firmware: Safe Mode line of another port",
	  FIRMWARE,
	  .status = VERDICT_PASS,
	  .changes = { { "/os/log/lines", "[{'text': 'ice 0000:1b:00.1: The DDP package file is "
					  "invalid. Entering Safe Mode.'}]" },
		       { RUNNING0 "fw.app.name", NULL } } },
	{ .name = "firmware: reloaded, the good line is later",
	  FIRMWARE,
	  .status = VERDICT_PASS,
	  .changes = { { "/os/log/lines",
			 "[{'text': 'ice 0000:1b:00.0: The DDP package file is invalid. Entering "
			 "Safe Mode.'}, {'text': 'ice 0000:1b:00.0: The DDP package was "
			 "successfully loaded: ICE OS Default Package version 1.3.43.0'}]" },
		       { RUNNING0 "fw.app.name", NULL } } },
	{ .name = "firmware: NVM newer than the driver",
	  FIRMWARE,
	  .status = VERDICT_WARN,
	  .changes = { { "/os/log/lines",
			 "[{'text': 'ice 0000:1b:00.0: The driver for the device detected a newer "
			 "version of the NVM image than expected. Please install the most recent "
			 "version of the network driver.'}]" } },
	  .cause = "nvm-newer" },
	{ .name = "firmware: NVM older than the driver",
	  FIRMWARE,
	  .status = VERDICT_WARN,
	  .changes = { { "/os/log/lines", "[{'text': 'ice 0000:1b:00.0: The driver for the device "
					  "detected an older version of the NVM image than "
					  "expected. Please update the NVM image.'}]" } },
	  .cause = "nvm-older" },
	{ .name = "firmware: another package stays on the device",
	  FIRMWARE,
	  .status = VERDICT_WARN,
	  .changes = { { "/os/log/lines", "[{'text': 'ice 0000:1b:00.0: The driver could not load "
					  "the DDP package file because a compatible DDP package "
					  "is already present on the device.'}]" } },
	  .cause = "ice-ddp-already-other" },
	{ .name = "firmware: default package in an out-of-tree bond",
	  FIRMWARE,
	  .base = BASE_BOND,
	  .status = VERDICT_FAIL,
	  .changes = { { RUNNING0 "fw.app.name", "'ICE OS Default Package'" } },
	  .cause = "ddp-default-lag-needed",
	  .text = "ens1f0 is in bond1" },
	{ .name = "firmware: default package in an in-tree bond is no fault of it",
	  FIRMWARE,
	  .base = BASE_BOND,
	  .status = VERDICT_PASS,
	  .changes = { { RUNNING0 "fw.app.name", "'ICE OS Default Package'" },
		       { RUNNING1 "fw.app.name", "'ICE OS Default Package'" },
		       { "/os/modules/ice/in_tree", "true" } } },
	{ .name = "firmware: two DDP packages on one node",
	  FIRMWARE,
	  .status = VERDICT_FAIL,
	  .changes = { { RUNNING1 "fw.app", "'1.3.30.0'" } },
	  .cause = "firmware-differs",
	  .text = "fw.app of ens1f0" },
	{ .name = "firmware: one NIC tells it by devlink, the other by ethtool alone",
	  FIRMWARE,
	  .status = VERDICT_PASS,
	  .changes = { { "/devlink/pci/0000:1b:00.1", NULL } } },
	{ .name = "firmware: not as declared",
	  FIRMWARE,
	  .status = VERDICT_FAIL,
	  .site = declare_firmware,
	  .cause = "firmware-version",
	  .text = "declared is 4.80" },
	{ .name = "firmware: as declared, by the first word of ethtool",
	  FIRMWARE,
	  .status = VERDICT_PASS,
	  .site = declare_same_firmware },
	{ .name = "firmware: 4.9 is not 4.91",
	  FIRMWARE,
	  .status = VERDICT_FAIL,
	  .site = declare_similar_firmware,
	  .cause = "firmware-version" },
	{ .name = "firmware: DDP not as declared",
	  FIRMWARE,
	  .status = VERDICT_FAIL,
	  .site = declare_ddp,
	  .cause = "ddp-package" },
	{ .name = "firmware: stored, not running",
	  FIRMWARE,
	  .status = VERDICT_WARN,
	  .changes = { { "/devlink/pci/0000:1b:00.0/versions/stored/fw.bundle_id",
			 "'0x80099999'" } },
	  .cause = "firmware-not-active" },
	{ .name = "firmware: ports differ",
	  FIRMWARE,
	  .status = VERDICT_FAIL,
	  .changes = { { RUNNING0 "fw.bundle_id", "'0x80099999'" },
		       { "/devlink/pci/0000:1b:00.0/versions/stored/fw.bundle_id",
			 "'0x80099999'" } },
	  .cause = "firmware-differs",
	  .text = "of ens1f1 it is 0x800214b4" },
	{ .name = "firmware: not observed",
	  FIRMWARE,
	  .status = VERDICT_UNKNOWN,
	  .changes = { { "/devlink", NULL }, { "/links/ens1f0/ethtool/firmware", NULL } } },
	{ .name = "firmware: waits for the driver",
	  FIRMWARE,
	  .status = VERDICT_BLOCKED,
	  .changes = { { "/links", NULL } } },
	{ .name = "firmware: virtual NIC",
	  FIRMWARE,
	  .base = BASE_RXE,
	  .was_any = true,
	  .status = VERDICT_NA },
	{ .name = "firmware: mlx5 health",
	  FIRMWARE,
	  .base = BASE_MLX5,
	  .status = VERDICT_FAIL,
	  .changes = { { "/os/log/lines",
			 "[{'text': 'mlx5_core 0000:1b:00.0: poll_health:821:(pid 0): "
			 "device\\u0027s health compromised - reached miss count'}]" } },
	  .cause = "mlx5-health" },
	{ .name = "firmware: mlx5 fatal",
	  FIRMWARE,
	  .base = BASE_MLX5,
	  .status = VERDICT_FAIL,
	  .changes = { { "/os/log/lines",
			 "[{'text': 'mlx5_core 0000:1b:00.0: Fatal error 1 detected'}]" } },
	  .cause = "mlx5-fatal" },
	{ .name = "firmware: nodes of one role differ",
	  .gate = "nic.firmware",
	  .subject = "gpu-1 ↔ gpu-2",
	  .was_any = true,
	  .status = VERDICT_FAIL,
	  .site = peer_of_the_role,
	  .cause = "firmware-differs",
	  .text = "0x8000aaaa" },
	{ .name = "firmware: nodes of two roles differ",
	  .gate = "nic.firmware",
	  .subject = "gpu-1 ↔ gpu-2",
	  .was_any = true,
	  .status = VERDICT_WARN,
	  .site = peer_of_another_role,
	  .cause = "firmware-differs" },
	{ .name = "firmware: nodes agree",
	  .gate = "nic.firmware",
	  .subject = "gpu-1 ↔ gpu-2",
	  .was_any = true,
	  .status = VERDICT_PASS,
	  .site = equal_peer },
	/* --- nic.driver-pair --- */
	{ .name = "pair: out-of-tree ice, in-tree irdma",
	  PAIR,
	  .status = VERDICT_FAIL,
	  .changes = { { "/os/modules/ice/in_tree", "false" } },
	  .cause = "driver-pair-mixed",
	  .text = "ice out-of-tree" },
	{ .name = "pair: in-tree ice, out-of-tree irdma",
	  PAIR,
	  .status = VERDICT_FAIL,
	  .changes = { { "/os/modules/irdma/in_tree", "false" } },
	  .cause = "driver-pair-mixed",
	  .text = "irdma out-of-tree" },
	{ .name = "pair: both out-of-tree",
	  PAIR,
	  .base = BASE_BOND,
	  .status = VERDICT_PASS,
	  .text = "version 2.6.6" },
	{ .name = "pair: unknown symbols",
	  PAIR,
	  .status = VERDICT_FAIL,
	  .changes = { { "/os/modules/irdma/loaded", "false" },
		       { "/os/log/lines",
			 "[{'text': 'irdma: Unknown symbol ice_get_qos_params (err -2)'}]" } },
	  .cause = "irdma-unknown-symbol" },
	{ .name = "pair: OFED's ib_core",
	  PAIR,
	  .status = VERDICT_FAIL,
	  .changes = { { "/os/modules/ib_core/in_tree", "false" } },
	  .cause = "ib-core-out-of-tree" },
	{ .name = "pair: no irdma at all",
	  PAIR,
	  .status = VERDICT_UNKNOWN,
	  .changes = { { "/os/modules/irdma", "{'loaded': false, 'file': null}" } } },
	{ .name = "pair: origin not observed",
	  PAIR,
	  .status = VERDICT_UNKNOWN,
	  .changes = { { "/os/modules/ice/in_tree", NULL } } },
	{ .name = "pair: mlx5 half OFED",
	  PAIR,
	  .base = BASE_MLX5,
	  .status = VERDICT_FAIL,
	  .changes = { { "/os/modules/mlx5_core/in_tree", "false" } },
	  .cause = "driver-pair-mixed" },
	{ .name = "pair: bnxt half out-of-tree",
	  PAIR,
	  .base = BASE_BNXT,
	  .status = VERDICT_FAIL,
	  .changes = { { "/os/modules/bnxt_re/in_tree", "false" } },
	  .cause = "driver-pair-mixed" },
	{ .name = "pair: virtual NICs",
	  PAIR,
	  .base = BASE_RXE,
	  .was_any = true,
	  .status = VERDICT_NA },
};

/* A slow PCIe link is nobody else's fault. */
static void pci_stays_local(void **state)
{
	struct bench *b = *state;
	const struct ladder *l;

	bench_set(b, LINK0, GEN3X8);
	bench_set(b, LINK1, GEN3X8);
	l = bench_judge(b);
	scene_status(scene_verdict(l, "nic.driver", "ens1f0"), VERDICT_PASS);
	scene_status(scene_verdict(l, "nic.firmware", "ens1f0"), VERDICT_PASS);
	scene_status(scene_verdict(l, "qos.fw-lldp", "ens1f0"), VERDICT_PASS);
	scene_status(scene_verdict(l, "rdma.device", "ens1f0"), VERDICT_PASS);
	scene_status(scene_verdict(l, "rdma.gid", "ens1f0"), VERDICT_PASS);
}

int main(void)
{
	static const struct CMUnitTest more[] = { cmocka_unit_test(pci_stays_local) };

	return bench_run_with("nic", rows, ARRAY_SIZE(rows), more, ARRAY_SIZE(more));
}
