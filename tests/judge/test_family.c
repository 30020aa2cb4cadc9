/* SPDX-License-Identifier: Apache-2.0 */
/* Why a port has no RDMA device, in each family's terms; and which family is which. */
#include "bench.h"

#include "judge/family.h"

static void undeclare_port(struct bench *b)
{
	b->bond_ports[1] = NULL;
}

#define GONE "/rdma/devices", "{}"
#define NO_AUX "/pci/auxiliary", "{}"
#define IN_TREE "/os/modules/ice/in_tree", "true"
#define LINE(text) "/os/log/lines", "[{'text': '" text "'}]"
#define PARAM0 "/devlink/pci/0000:1b:00.0/parameters/"
#define FUNCTION "{'vendor': '0x8086', 'device': '0x1889', 'class': '0x020000', 'driver': null}"
#define DEVICE .gate = "rdma.device", .subject = "ens1f0", .status = VERDICT_FAIL
#define BONDED .gate = "rdma.device", .subject = "bond1", .base = BASE_BOND, .status = VERDICT_FAIL
#define SOFT .gate = "rdma.device", .subject = "bond1", .base = BASE_RXE, .status = VERDICT_FAIL

static const struct bench_row rows[] = {
	/* --- ice --- */
	{ .name = "ice: Safe Mode",
	  DEVICE,
	  .changes = { { GONE },
		       { NO_AUX },
		       { "/devlink/pci/0000:1b:00.0/versions/running", "{}" },
		       { LINE("ice 0000:1b:00.0: The DDP package file was not found or could not "
			      "be read. Entering Safe Mode") } },
	  .cause = "ice-safe-mode",
	  .explained_by = "nic.firmware (ens1f0)",
	  .not_cause = "no-auxiliary-device" },
	{ .name = "ice: more than 4 functions, by the log",
	  DEVICE,
	  .changes = { { GONE },
		       { NO_AUX },
		       { LINE("ice 0000:1b:00.0: RDMA functionality is not available with the "
			      "current device config") } },
	  .cause = "ice-many-functions",
	  .text = "ice says so",
	  .not_cause = "no-auxiliary-device" },
	{ .name = "ice: more than 4 functions, the line of another function",
	  .gate = "rdma.device",
	  .subject = "ens1f1",
	  .status = VERDICT_FAIL,
	  .changes = { { GONE },
		       { NO_AUX },
		       { LINE("ice 0000:1b:00.4: RDMA functionality is not available with the "
			      "current device configuration.") } },
	  .cause = "ice-many-functions" },
	{ .name = "ice: that line of another adapter",
	  DEVICE,
	  .changes = { { GONE },
		       { NO_AUX },
		       { LINE("ice 0000:5e:00.0: RDMA functionality is not available with the "
			      "current device configuration.") } },
	  .cause = "no-auxiliary-device",
	  .not_cause = "ice-many-functions" },
	{ .name = "ice: more than 4 functions, by the bus",
	  DEVICE,
	  .changes = { { GONE },
		       { NO_AUX },
		       { "/pci/devices/0000:1b:00.2", FUNCTION },
		       { "/pci/devices/0000:1b:00.3", FUNCTION },
		       { "/pci/devices/0000:1b:00.4", FUNCTION } },
	  .cause = "ice-many-functions",
	  .text = "5 seen on the bus" },
	{ .name = "ice: 4 functions are allowed",
	  DEVICE,
	  .changes = { { GONE },
		       { NO_AUX },
		       { "/pci/devices/0000:1b:00.2", FUNCTION },
		       { "/pci/devices/0000:1b:00.3", FUNCTION } },
	  .cause = "no-auxiliary-device",
	  .not_cause = "ice-many-functions" },
	{ .name = "ice: VFs are not counted",
	  DEVICE,
	  .changes = { { GONE },
		       { NO_AUX },
		       { "/pci/devices/0000:1b:00.2", "{'physfn': '0000:1b:00.0'}" },
		       { "/pci/devices/0000:1b:00.3", "{'physfn': '0000:1b:00.0'}" },
		       { "/pci/devices/0000:1b:00.4", "{'physfn': '0000:1b:00.0'}" } },
	  .cause = "no-auxiliary-device" },
	{ .name = "ice: E830 keeps RDMA with many functions",
	  DEVICE,
	  .changes = { { GONE },
		       { NO_AUX },
		       { "/pci/devices/0000:1b:00.0/device", "'0x12d2'" },
		       { "/pci/devices/0000:1b:00.2", FUNCTION },
		       { "/pci/devices/0000:1b:00.3", FUNCTION },
		       { "/pci/devices/0000:1b:00.4", FUNCTION } },
	  .cause = "no-auxiliary-device" },
	{ .name = "ice in-tree: bonded",
	  BONDED,
	  .changes = { { GONE }, { NO_AUX }, { IN_TREE }, { "/os/modules/irdma/in_tree", "true" } },
	  .cause = "bond-in-tree-ice",
	  .text = "RDMA removed by ice because ens1f0 is a port of bond1",
	  .not_cause = "module-not-loaded" },
	{ .name = "ice in-tree: bonded, and nothing observed of the auxiliary bus",
	  BONDED,
	  .changes = { { GONE }, { "/pci/auxiliary", NULL }, { IN_TREE } },
	  .cause = "bond-in-tree-ice" },
	{ .name = "ice: bonded, origin not known",
	  BONDED,
	  .changes = { { GONE }, { NO_AUX }, { "/os/modules/ice/in_tree", NULL } },
	  .cause = "bond-ice",
	  .candidate = "bond-in-tree-ice" },
	{ .name = "ice out-of-tree: default DDP in the bond",
	  BONDED,
	  .changes = { { GONE },
		       { NO_AUX },
		       { "/devlink/pci/0000:1b:00.0/versions/running/fw.app.name",
			 "'ICE OS Default Package'" } },
	  .cause = "ddp-default-lag-needed",
	  .explained_by = "nic.firmware (ens1f0)" },
	{ .name = "ice out-of-tree: unequal DCB",
	  BONDED,
	  .changes = { { GONE }, { NO_AUX }, { "/links/ens1f1/dcb/pfc/enabled", "[]" } },
	  .cause = "lag-different-dcb",
	  .explained_by = "qos.equal" },
	{ .name = "ice out-of-tree: unequal DCB, by the log",
	  BONDED,
	  .changes = { { GONE },
		       { NO_AUX },
		       { LINE("ice 0000:1b:00.0 ens1f0: Found netdev ens1f1 with different DCB "
			      "config") } },
	  .cause = "lag-different-dcb" },
	{ .name = "ice out-of-tree: two adapters",
	  BONDED,
	  .changes = { { GONE }, { NO_AUX }, { "/links/ens1f1/parent_device", "'0000:5e:00.0'" } },
	  .cause = "lag-different-device" },
	{ .name = "ice out-of-tree: another driver's port",
	  BONDED,
	  .changes = { { GONE }, { NO_AUX }, { "/links/ens1f1/ethtool/driver", "'igb'" } },
	  .cause = "lag-non-ice" },
	{ .name = "ice out-of-tree: a third port",
	  BONDED,
	  .site = undeclare_port,
	  .changes = { { GONE },
		       { NO_AUX },
		       { "/links/ens1f2",
			 "{'master': 'bond1', 'parent_bus': 'pci', 'parent_device': "
			 "'0000:1b:00.2', 'ethtool': {'driver': 'ice'}}" } },
	  .cause = "lag-third-member",
	  .text = "3 ports" },
	{ .name = "ice out-of-tree: iWARP in the bond",
	  BONDED,
	  .changes = { { GONE }, { NO_AUX }, { PARAM0 "enable_iwarp/values/runtime", "true" } },
	  .cause = "lag-not-roce" },
	{ .name = "ice out-of-tree: too old for the mode",
	  BONDED,
	  .changes = { { GONE }, { NO_AUX }, { "/os/modules/ice/version", "'1.13.7'" } },
	  .cause = "lag-driver-old",
	  .text = "that came with 1.14.9" },
	{ .name = "ice out-of-tree: no single cause",
	  BONDED,
	  .changes = { { GONE }, { NO_AUX } },
	  .cause = "bond-out-of-tree-ice",
	  .candidate = "lag-primary-left" },
	{ .name = "ice: RoCE and iWARP both off",
	  DEVICE,
	  .changes = { { GONE }, { NO_AUX }, { PARAM0 "enable_roce/values/runtime", "false" } },
	  .cause = "roce-and-iwarp-off" },
	{ .name = "ice: RDMA off by devlink",
	  DEVICE,
	  .changes = { { GONE },
		       { NO_AUX },
		       { PARAM0 "enable_rdma", "{'values': {'driverinit': false}}" } },
	  .cause = "rdma-parameter-off" },
	{ .name = "ice: irdma missing",
	  DEVICE,
	  .changes = { { GONE }, { "/os/modules/irdma", "{'loaded': false, 'file': null}" } },
	  .cause = "module-missing",
	  .explained_by = "rdma.module" },
	{ .name = "ice: irdma blacklisted",
	  DEVICE,
	  .changes = { { GONE },
		       { "/os/modules/irdma/loaded", "false" },
		       { "/os/modules/irdma/blacklisted", "true" } },
	  .cause = "module-blacklisted",
	  .explained_by = "rdma.module" },
	{ .name = "ice: irdma of another kernel",
	  DEVICE,
	  .changes = { { GONE },
		       { "/os/modules/irdma/loaded", "false" },
		       { "/os/modules/irdma/file/vermagic", "'6.12.0-55.el10 SMP'" } },
	  .cause = "module-other-kernel",
	  .explained_by = "rdma.module" },
	{ .name = "ice: irdma not loaded",
	  DEVICE,
	  .changes = { { GONE }, { "/os/modules/irdma/loaded", "false" } },
	  .cause = "module-not-loaded",
	  .explained_by = "rdma.module" },
	{ .name = "ice: mixed pair",
	  DEVICE,
	  .changes = { { GONE }, { "/os/modules/ice/in_tree", "false" } },
	  .cause = "driver-pair-mixed",
	  .explained_by = "nic.driver-pair" },
	{ .name = "ice: device in another namespace",
	  DEVICE,
	  .changes = { { GONE }, { "/rdma/netns_mode", "'exclusive'" } },
	  .cause = "rdma-device-other-netns" },
	{ .name = "ice: irdma did not bind",
	  DEVICE,
	  .changes = { { GONE }, { "/pci/auxiliary/ice.roce.0/driver", "null" } },
	  .cause = "irdma-not-bound" },
	{ .name = "ice: no auxiliary device",
	  DEVICE,
	  .changes = { { GONE }, { NO_AUX } },
	  .cause = "no-auxiliary-device",
	  .candidate = "nvm-without-rdma" },
	{ .name = "ice: nothing shows why",
	  DEVICE,
	  .changes = { { GONE } },
	  .cause = "no-rdma-device",
	  .candidate = "rdma-device-other-netns" },
	/* --- the others --- */
	{ .name = "mlx5: RDMA off by devlink",
	  DEVICE,
	  .base = BASE_MLX5,
	  .changes = { { GONE }, { PARAM0 "enable_rdma", "{'values': {'driverinit': false}}" } },
	  .cause = "rdma-parameter-off" },
	{ .name = "mlx5: provider not loaded",
	  DEVICE,
	  .base = BASE_MLX5,
	  .changes = { { GONE }, { "/os/modules/mlx5_ib/loaded", "false" } },
	  .cause = "module-not-loaded",
	  .explained_by = "rdma.module" },
	{ .name = "mlx5: provider missing",
	  DEVICE,
	  .base = BASE_MLX5,
	  .changes = { { GONE }, { "/os/modules/mlx5_ib", "{'loaded': false, 'file': null}" } },
	  .cause = "module-missing",
	  .explained_by = "rdma.module" },
	{ .name = "mlx5: device in another namespace",
	  DEVICE,
	  .base = BASE_MLX5,
	  .changes = { { GONE }, { "/rdma/netns_mode", "'exclusive'" } },
	  .cause = "rdma-device-other-netns" },
	{ .name = "bnxt: RoCE off in the NVM",
	  DEVICE,
	  .base = BASE_BNXT,
	  .changes = { { GONE }, { PARAM0 "enable_roce", "{'values': {'permanent': false}}" } },
	  .cause = "roce-off-in-nvm" },
	{ .name = "bnxt: provider not loaded",
	  DEVICE,
	  .base = BASE_BNXT,
	  .changes = { { GONE }, { "/os/modules/bnxt_re/loaded", "false" } },
	  .cause = "module-not-loaded",
	  .explained_by = "rdma.module" },
	{ .name = "bnxt: device in another namespace",
	  DEVICE,
	  .base = BASE_BNXT,
	  .changes = { { GONE }, { "/rdma/netns_mode", "'exclusive'" } },
	  .cause = "rdma-device-other-netns" },
	{ .name = "rxe: no link",
	  SOFT,
	  .changes = { { GONE } },
	  .cause = "rxe-link-missing",
	  .text = "on bond1" },
	{ .name = "rxe: on another link",
	  SOFT,
	  .changes = { { "/rdma/devices/rxe0/ports/1/link", "'bond0'" } },
	  .cause = "rxe-other-link",
	  .text = "rxe0 sits on bond0" },
	{ .name = "rxe: module missing",
	  SOFT,
	  .changes = { { GONE }, { "/os/modules/rdma_rxe", "{'loaded': false, 'file': null}" } },
	  .cause = "module-missing",
	  .explained_by = "rdma.module" },
	{ .name = "unknown NIC",
	  DEVICE,
	  .changes = { { GONE }, { "/links/ens1f0/ethtool/driver", "'qede'" } },
	  .cause = "no-rdma-device",
	  .candidate = "provider-not-loaded" },
};

/* Bonding in-tree ice takes RDMA away and nothing else: one root. */
static void bonded_in_tree(void **state)
{
	struct bench *b = *state;
	const struct ladder *l;

	bench_close(b);
	bench_open(b, BASE_BOND);
	bench_set(b, GONE);
	bench_set(b, NO_AUX);
	bench_set(b, IN_TREE);
	bench_set(b, "/os/modules/irdma/in_tree", "true");
	l = bench_judge(b);
	scene_status(scene_verdict(l, "net.bond", "bond1"), VERDICT_PASS);
	scene_status(scene_verdict(l, "net.address", NULL), VERDICT_PASS);
	scene_status(scene_verdict(l, "net.mtu", "bond1"), VERDICT_PASS);
	scene_status(scene_verdict(l, "nic.driver", "ens1f0"), VERDICT_PASS);
	scene_status(scene_verdict(l, "nic.firmware", "ens1f0"), VERDICT_PASS);
	scene_status(scene_verdict(l, "nic.driver-pair", NULL), VERDICT_PASS);
	scene_status(scene_verdict(l, "rdma.module", NULL), VERDICT_PASS);
	scene_status(scene_verdict(l, "rdma.device", "bond1"), VERDICT_FAIL);
	scene_status(scene_verdict(l, "rdma.gid", "bond1"), VERDICT_BLOCKED);
	scene_status(scene_verdict(l, "qos.pfc", "ens1f0"), VERDICT_PASS);
}

static void which_family(void **state)
{
	struct bench *b = *state;
	json_t *s = b->s->snapshots[0];

	assert_ptr_equal(family_of_nic(s, "ens1f0"), &family_ice);
	assert_ptr_equal(family_of_rdma(s, "rocep27s0f0"), &family_ice);
	bench_set(b, "/links/ens1f0/ethtool/driver", "'i40e'");
	assert_ptr_equal(family_of_nic(s, "ens1f0"), &family_i40e);
	bench_set(b, "/pci/devices/0000:1b:00.0/driver", "'i40e'");
	assert_ptr_equal(family_of_rdma(s, "rocep27s0f0"), &family_i40e);
	bench_set(b, "/links/ens1f0/ethtool/driver", "'e1000e'");
	assert_null(family_of_nic(s, "ens1f0"));
	assert_null(family_of_nic(s, "no-such-link"));
	assert_null(family_of_rdma(s, "no-such-device"));
}

int main(void)
{
	static const struct CMUnitTest more[] = {
		cmocka_unit_test(bonded_in_tree),
		cmocka_unit_test(which_family),
	};

	return bench_run_with("family", rows, ARRAY_SIZE(rows), more, ARRAY_SIZE(more));
}
