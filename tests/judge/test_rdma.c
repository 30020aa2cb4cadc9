/* SPDX-License-Identifier: Apache-2.0 */
/* RDMA gates: each cause, and the healthy forms. Causes of a missing device are in test_family.c.
 */
#include "bench.h"

#include <string.h>

static void declare_iwarp(struct bench *b)
{
	b->s->ports[0].protocol = TEXT("iwarp");
}

static void declare_device(struct bench *b)
{
	b->s->ports[0].device = TEXT("irdma0");
}

static void declare_other_device(struct bench *b)
{
	b->s->ports[0].device = TEXT("rocep27s0f1");
}

static void declare_no_address(struct bench *b)
{
	b->s->ports[0].address = NULL;
}

static void declare_rdma_core(struct bench *b)
{
	b->s->nodes[0].rdma_core_min = TEXT("61");
}

static void declare_exclusive(struct bench *b)
{
	b->s->nodes[0].rdma_netns = TEXT("exclusive");
}

static void declare_1500(struct bench *b)
{
	b->links[0].mtu.value = 1500;
	b->s->ports[0].roce_mtu.set = false;
}

static void declare_no_ports(struct bench *b)
{
	b->s->nodes[0].n_rdma = 0;
}

static struct site_rdma peer_port = { .link = TEXT("ens1f0"), .rail = TEXT("rail0") };

static void peer_with_1024(struct bench *b)
{
	b->s->nodes[1].rdma = &peer_port;
	b->s->nodes[1].n_rdma = 1;
	b->s->snapshots[1] = json_deep_copy(b->s->snapshots[0]);
	scene_set(b->s->snapshots[1], "/rdma/devices/rocep27s0f0/ports/1/active_mtu", "1024");
}

static void earlier(struct bench *b)
{
	json_t *previous = json_deep_copy(b->s->snapshots[0]);

	json_put(b->s->snapshots[0], "previous", previous);
	scene_set(previous, "/rdma/devices/rocep27s0f0/ports/1/hw_counters/tcpRetransSegs", "7");
}

static void earlier_boot(struct bench *b)
{
	earlier(b);
	bench_set(b, "/previous/node/boot_id", "'11111111-0000-4000-8000-000000000000'");
}

#define DEVICE0 "/rdma/devices/rocep27s0f0/"
#define RXE0 "/rdma/devices/rxe0/"
#define NODE "/rdma/chardev/"
#define MODULE .gate = "rdma.module"
#define DEVICE .gate = "rdma.device", .subject = "ens1f0"
#define PROTOCOL .gate = "rdma.protocol", .subject = "ens1f0"
#define GID .gate = "rdma.gid", .subject = "ens1f0"
#define MTU .gate = "rdma.mtu", .subject = "ens1f0"
#define CHARDEV .gate = "rdma.chardev"
#define USER .gate = "rdma.userspace"
#define NETNS .gate = "rdma.netns"
#define COUNTERS .gate = "rdma.counters", .subject = "ens1f0", .was = VERDICT_UNKNOWN
#define UNLOADED "/os/modules/irdma/loaded", "false"

static const struct bench_row rows[] = {
	/* --- rdma.module --- */
	{ .name = "module: no file",
	  MODULE,
	  .status = VERDICT_FAIL,
	  .changes = { { UNLOADED }, { "/os/modules/irdma/file", "null" } },
	  .cause = "module-missing" },
	{ .name = "module: blacklisted",
	  MODULE,
	  .status = VERDICT_FAIL,
	  .changes = { { UNLOADED }, { "/os/modules/irdma/blacklisted", "true" } },
	  .cause = "module-blacklisted" },
	{ .name = "module: of another kernel",
	  MODULE,
	  .status = VERDICT_FAIL,
	  .changes = { { UNLOADED },
		       { "/os/modules/irdma/file/vermagic",
			 "'5.14.0-570.el9_6.x86_64 SMP mod_unload'" } },
	  .cause = "module-other-kernel",
	  .text = "5.14.0-570.el9_6.x86_64" },
	{ .name = "module: of a kernel whose name goes on",
	  MODULE,
	  .status = VERDICT_FAIL,
	  .changes = { { UNLOADED },
		       { "/os/modules/irdma/file/vermagic",
			 "'6.12.0-211.7.1.el10_2.x86_64+debug SMP'" } },
	  .cause = "module-other-kernel" },
	{ .name = "module: not loaded, device offered",
	  MODULE,
	  .status = VERDICT_FAIL,
	  .changes = { { UNLOADED } },
	  .cause = "module-not-loaded" },
	{ .name = "module: not loaded, nothing asks for it",
	  MODULE,
	  .status = VERDICT_WARN,
	  .changes = { { UNLOADED }, { "/pci/auxiliary", "{}" }, { "/rdma/devices", "{}" } },
	  .cause = "module-idle",
	  .explained_by = "rdma.device",
	  .not_cause = "module-not-loaded" },
	{ .name = "module: builtin",
	  MODULE,
	  .status = VERDICT_PASS,
	  .changes = { { UNLOADED }, { "/os/modules/irdma/builtin", "true" } } },
	{ .name = "module: not observed",
	  MODULE,
	  .status = VERDICT_UNKNOWN,
	  .changes = { { "/os/modules", NULL } } },
	{ .name = "module: options of the other driver",
	  MODULE,
	  .status = VERDICT_WARN,
	  .changes = { { "/os/modules/irdma/options", "'roce_ena=1 resource_profile=2'" } },
	  .cause = "options-other-driver",
	  .text = "roce_ena, resource_profile" },
	{ .name = "module: options of nobody",
	  MODULE,
	  .status = VERDICT_WARN,
	  .changes = { { "/os/modules/irdma/options", "'roce=1'" } },
	  .cause = "options-unknown" },
	{ .name = "module: options that it has",
	  MODULE,
	  .status = VERDICT_PASS,
	  .changes = { { "/os/modules/irdma/options", "'roce_ena=1'" },
		       { "/os/modules/irdma/file/parameters", "['roce_ena']" } } },
	{ .name = "module: rxe",
	  MODULE,
	  .base = BASE_RXE,
	  .status = VERDICT_FAIL,
	  .changes = { { "/os/modules/rdma_rxe/loaded", "false" }, { "/rdma/devices", "{}" } },
	  .cause = "module-not-loaded",
	  .text = "rdma_rxe" },
	{ .name = "module: no RDMA port", MODULE, .status = VERDICT_NA, .site = declare_no_ports },
	/* --- rdma.device --- */
	{ .name = "device: link without carrier",
	  DEVICE,
	  .status = VERDICT_FAIL,
	  .changes = { { DEVICE0 "ports/1/state", "'DOWN'" },
		       { "/links/ens1f0/carrier", "false" } },
	  .cause = "rdma-port-link-down",
	  .text = "has no carrier" },
	{ .name = "device: link set down",
	  DEVICE,
	  .status = VERDICT_FAIL,
	  .changes = { { DEVICE0 "ports/1/state", "'DOWN'" }, { "/links/ens1f0/up", "false" } },
	  .cause = "rdma-port-link-down",
	  .text = "is set down" },
	{ .name = "device: down by itself",
	  DEVICE,
	  .status = VERDICT_FAIL,
	  .changes = { { DEVICE0 "ports/1/state", "'DOWN'" },
		       { DEVICE0 "ports/1/physical_state", "'DISABLED'" } },
	  .cause = "rdma-port-not-active",
	  .text = "DISABLED" },
	{ .name = "device: state not observed",
	  DEVICE,
	  .status = VERDICT_UNKNOWN,
	  .changes = { { DEVICE0 "ports/1/state", NULL } } },
	{ .name = "device: devices not observed",
	  DEVICE,
	  .status = VERDICT_UNKNOWN,
	  .changes = { { "/rdma/devices", NULL } } },
	{ .name = "device: other name than declared",
	  DEVICE,
	  .status = VERDICT_WARN,
	  .site = declare_device,
	  .cause = "rdma-device-name",
	  .text = "rocep27s0f0, declared is irdma0" },
	{ .name = "device: of another link",
	  DEVICE,
	  .status = VERDICT_FAIL,
	  .site = declare_other_device,
	  .cause = "rdma-device-other-link" },
	{ .name = "device: link gone",
	  DEVICE,
	  .status = VERDICT_FAIL,
	  .changes = { { "/links/ens1f0", NULL }, { "/rdma/devices", "{}" } },
	  .cause = "link-missing",
	  .explained_by = "nic.driver (ens1f0)" },
	{ .name = "device: rxe on a bond port",
	  .gate = "rdma.device",
	  .subject = "bond1",
	  .base = BASE_RXE,
	  .status = VERDICT_FAIL,
	  .changes = { { RXE0 "ports/1/link", "'ens1f0'" } },
	  .cause = "rdma-on-bond-port",
	  .text = "a port of bond1" },
	{ .name = "device: a second rxe on a bond port",
	  .gate = "rdma.device",
	  .subject = "bond1",
	  .base = BASE_RXE,
	  .status = VERDICT_WARN,
	  .changes = { { "/rdma/devices/rxe1",
			 "{'driver': 'rdma_rxe', 'ports': {'1': {'link': 'ens1f1'}}}" } },
	  .cause = "rdma-on-bond-port" },
	{ .name = "device: bond down",
	  .gate = "rdma.device",
	  .subject = "bond1",
	  .base = BASE_RXE,
	  .status = VERDICT_FAIL,
	  .changes = { { RXE0 "ports/1/state", "'DOWN'" },
		       { "/links/bond1/carrier", "false" },
		       { "/links/ens1f0/carrier", "false" },
		       { "/links/ens1f1/carrier", "false" } },
	  .cause = "rdma-port-link-down",
	  .explained_by = "net.bond (bond1)" },
	{ .name = "device: one for each port of a bond",
	  .gate = "rdma.device",
	  .subject = "bond1",
	  .base = BASE_BOND,
	  .status = VERDICT_WARN,
	  .changes = { { "/rdma/devices/mlx5_1",
			 "{'driver': 'mlx5_ib', 'ports': {'1': {'link': 'ens1f1'}}}" } },
	  .cause = "roce-lag-not-active" },
	/* --- rdma.protocol --- */
	{ .name = "protocol: iWARP by devlink",
	  PROTOCOL,
	  .status = VERDICT_FAIL,
	  .changes = { { DEVICE0 "protocol", "'iwarp'" },
		       { "/devlink/pci/0000:1b:00.0/parameters/enable_iwarp/values/runtime",
			 "true" } },
	  .cause = "iwarp-enabled" },
	{ .name = "protocol: iWARP by out-of-tree irdma",
	  PROTOCOL,
	  .status = VERDICT_FAIL,
	  .changes = { { DEVICE0 "protocol", "'iwarp'" },
		       { "/os/modules/irdma/parameters/roce_ena", "'0'" } },
	  .cause = "iwarp-roce-ena-off" },
	{ .name = "protocol: iWARP, reason not known",
	  PROTOCOL,
	  .status = VERDICT_FAIL,
	  .changes = { { DEVICE0 "protocol", "'iwarp'" } },
	  .cause = "iwarp",
	  .candidate = "iwarp-driver-default" },
	{ .name = "protocol: siw",
	  PROTOCOL,
	  .status = VERDICT_FAIL,
	  .changes = { { DEVICE0 "protocol", "'iwarp'" }, { DEVICE0 "driver", "'siw'" } },
	  .cause = "iwarp-software" },
	{ .name = "protocol: InfiniBand",
	  PROTOCOL,
	  .status = VERDICT_FAIL,
	  .changes = { { DEVICE0 "protocol", "'ib'" } },
	  .cause = "link-layer-infiniband" },
	{ .name = "protocol: RoCE where iWARP is declared",
	  PROTOCOL,
	  .status = VERDICT_FAIL,
	  .site = declare_iwarp,
	  .cause = "protocol-other" },
	{ .name = "protocol: iWARP as declared",
	  PROTOCOL,
	  .status = VERDICT_PASS,
	  .site = declare_iwarp,
	  .changes = { { DEVICE0 "protocol", "'iwarp'" } } },
	{ .name = "protocol: not observed",
	  PROTOCOL,
	  .status = VERDICT_UNKNOWN,
	  .changes = { { DEVICE0 "protocol", NULL } } },
	/* --- rdma.gid --- */
	{ .name = "gid: waits for the protocol",
	  GID,
	  .status = VERDICT_BLOCKED,
	  .changes = { { DEVICE0 "protocol", "'iwarp'" } } },
	{ .name = "gid: iWARP has none",
	  GID,
	  .status = VERDICT_NA,
	  .site = declare_iwarp,
	  .changes = { { DEVICE0 "protocol", "'iwarp'" } } },
	{ .name = "gid: the address is missing",
	  GID,
	  .status = VERDICT_FAIL,
	  .changes = { { DEVICE0 "ports/1/gids",
			 "[{'index': 0, 'gid': 'fe80::1', 'type': 'RoCE v2', 'link': 'ens1f0'}]" },
		       { "/links/ens1f0/addresses", "[]" } },
	  .cause = "gid-address-missing",
	  .explained_by = "net.address" },
	{ .name = "gid: link-local only",
	  GID,
	  .status = VERDICT_FAIL,
	  .changes = { { DEVICE0 "ports/1/gids", "[{'index': 0, 'gid': 'fe80::1', 'type': 'RoCE "
						 "v2', 'link': 'ens1f0'}]" } },
	  .cause = "gid-link-local-only" },
	{ .name = "gid: v1 only",
	  GID,
	  .status = VERDICT_FAIL,
	  .changes = { { DEVICE0 "ports/1/gids", "[{'index': 2, 'gid': '::ffff:198.51.100.11', "
						 "'type': 'IB/RoCE v1', 'link': 'ens1f0'}]" } },
	  .cause = "gid-v1-only",
	  .text = "index 2" },
	{ .name = "gid: on another link",
	  GID,
	  .status = VERDICT_FAIL,
	  .changes = { { DEVICE0 "ports/1/gids", "[{'index': 3, 'gid': '::ffff:198.51.100.11', "
						 "'type': 'RoCE v2', 'link': 'ens1f0.7'}]" } },
	  .cause = "gid-other-link",
	  .text = "belongs to ens1f0.7" },
	{ .name = "gid: another address",
	  GID,
	  .status = VERDICT_FAIL,
	  .changes = { { DEVICE0 "ports/1/gids", "[{'index': 3, 'gid': '::ffff:198.51.100.99', "
						 "'type': 'RoCE v2', 'link': 'ens1f0'}]" } },
	  .cause = "gid-missing" },
	{ .name = "gid: empty table",
	  GID,
	  .status = VERDICT_FAIL,
	  .changes = { { DEVICE0 "ports/1/gids", "[]" } },
	  .cause = "gid-table-empty",
	  .candidate = "gids-hidden" },
	{ .name = "gid: RoCE switched off on mlx5",
	  GID,
	  .base = BASE_MLX5,
	  .status = VERDICT_FAIL,
	  .changes = { { DEVICE0 "ports/1/gids", "[]" },
		       { "/devlink/pci/0000:1b:00.0/parameters/enable_roce/values/driverinit",
			 "false" } },
	  .cause = "roce-parameter-off" },
	{ .name = "gid: any address when none is declared",
	  GID,
	  .status = VERDICT_PASS,
	  .site = declare_no_address },
	{ .name = "gid: not observed",
	  GID,
	  .status = VERDICT_UNKNOWN,
	  .changes = { { DEVICE0 "ports/1/gids", NULL } } },
	{ .name = "gid: v2 before v1 of the same address",
	  GID,
	  .status = VERDICT_PASS,
	  .changes = { { DEVICE0 "ports/1/gids",
			 "[{'index': 2, 'gid': '::ffff:198.51.100.11', 'type': 'IB/RoCE v1', "
			 "'link': 'ens1f0'}, {'index': 3, 'gid': '::ffff:198.51.100.11', 'type': "
			 "'RoCE v2', 'link': 'ens1f0'}]" } },
	  .text = "index 3" },
	/* --- rdma.mtu --- */
	{ .name = "mtu: link MTU too low",
	  MTU,
	  .status = VERDICT_FAIL,
	  .changes = { { DEVICE0 "ports/1/active_mtu", "1024" }, { "/links/ens1f0/mtu", "1500" } },
	  .cause = "roce-mtu-link-mtu",
	  .text = "needs at least 4192",
	  .explained_by = "net.mtu (ens1f0)" },
	{ .name = "mtu: 1024 where 1500 is declared",
	  MTU,
	  .status = VERDICT_PASS,
	  .site = declare_1500,
	  .changes = { { DEVICE0 "ports/1/active_mtu", "1024" },
		       { "/links/ens1f0/mtu", "1500" } } },
	{ .name = "mtu: below what the link allows",
	  MTU,
	  .status = VERDICT_FAIL,
	  .changes = { { DEVICE0 "ports/1/active_mtu", "1024" } },
	  .cause = "roce-mtu-below-link" },
	{ .name = "mtu: above what the link allows",
	  MTU,
	  .status = VERDICT_FAIL,
	  .changes = { { "/links/ens1f0/mtu", "1500" } },
	  .cause = "roce-mtu-above-link" },
	{ .name = "mtu: a driver that keeps no room for headers",
	  MTU,
	  .status = VERDICT_PASS,
	  .changes = { { "/links/ens1f0/mtu", "4100" } } },
	{ .name = "mtu: not observed",
	  MTU,
	  .status = VERDICT_UNKNOWN,
	  .changes = { { DEVICE0 "ports/1/active_mtu", NULL } } },
	{ .name = "mtu: the peer has another",
	  .gate = "rdma.mtu",
	  .subject = "gpu-1/ens1f0 ↔ gpu-2/ens1f0",
	  .was_any = true,
	  .status = VERDICT_FAIL,
	  .site = peer_with_1024,
	  .cause = "roce-mtu-pair" },
	/* --- rdma.chardev --- */
	{ .name = "chardev: rdma_ucm not loaded",
	  CHARDEV,
	  .status = VERDICT_FAIL,
	  .changes = { { NODE "rdma_cm", "{'present': false}" },
		       { "/os/modules/rdma_ucm/loaded", "false" } },
	  .cause = "rdma-ucm-not-loaded" },
	{ .name = "chardev: rdma_cm missing though loaded",
	  CHARDEV,
	  .status = VERDICT_FAIL,
	  .changes = { { NODE "rdma_cm", NULL } },
	  .cause = "chardev-missing" },
	{ .name = "chardev: ib_uverbs not loaded",
	  CHARDEV,
	  .status = VERDICT_FAIL,
	  .changes = { { NODE "uverbs0", NULL }, { "/os/modules/ib_uverbs/loaded", "false" } },
	  .cause = "ib-uverbs-not-loaded",
	  .not_cause = "rdma-ucm-not-loaded" },
	{ .name = "chardev: permission",
	  CHARDEV,
	  .status = VERDICT_FAIL,
	  .changes = { { NODE "uverbs0",
			 "{'present': true, 'mode': '0600', 'usable': false, 'errno': 13}" } },
	  .cause = "chardev-permission",
	  .text = "mode 0600" },
	{ .name = "chardev: device cgroup",
	  CHARDEV,
	  .status = VERDICT_FAIL,
	  .changes = { { NODE "rdma_cm",
			 "{'present': true, 'mode': '0666', 'usable': false, 'errno': 1}" } },
	  .cause = "chardev-cgroup" },
	{ .name = "chardev: other error",
	  CHARDEV,
	  .status = VERDICT_FAIL,
	  .changes = { { NODE "rdma_cm",
			 "{'present': true, 'mode': '0666', 'usable': false, 'errno': 6}" } },
	  .cause = "chardev-open" },
	{ .name = "chardev: not tried",
	  CHARDEV,
	  .status = VERDICT_UNKNOWN,
	  .changes = { { NODE "rdma_cm", "{'present': true, 'mode': '0666'}" } } },
	{ .name = "chardev: no device to have one",
	  CHARDEV,
	  .status = VERDICT_UNKNOWN,
	  .changes = { { "/rdma/devices", "{}" } } },
	{ .name = "chardev: not observed",
	  CHARDEV,
	  .status = VERDICT_UNKNOWN,
	  .changes = { { "/rdma/chardev", NULL } } },
	/* --- rdma.userspace --- */
	{ .name = "userspace: too old for the site",
	  USER,
	  .status = VERDICT_FAIL,
	  .site = declare_rdma_core,
	  .cause = "rdma-core-old",
	  .text = "60.0, declared is at least 61" },
	{ .name = "userspace: too old for dma-buf",
	  USER,
	  .status = VERDICT_FAIL,
	  .changes = { { "/userspace/rdma_core", "'44.0'" } },
	  .cause = "rdma-core-no-dmabuf" },
	{ .name = "userspace: no provider",
	  USER,
	  .status = VERDICT_FAIL,
	  .changes = { { "/userspace/providers", "['mlx5']" } },
	  .cause = "provider-missing",
	  .text = "irdma" },
	{ .name = "userspace: provider not found by libibverbs",
	  USER,
	  .status = VERDICT_FAIL,
	  .changes = { { "/userspace/opened", "['rocep27s0f1']" },
		       { "/userspace/warnings",
			 "['libibverbs: Warning: no userspace device-specific driver found for "
			 "/sys/class/infiniband/rocep27s0f0']" } },
	  .cause = "provider-missing" },
	{ .name = "userspace: ABI",
	  USER,
	  .base = BASE_BNXT,
	  .status = VERDICT_FAIL,
	  .changes = { { "/userspace/opened", "[]" },
		       { "/userspace/warnings",
			 "['libibverbs: Warning: Driver bnxt_re does not support the kernel ABI of "
			 "6 (supports 1 to 1) for device /sys/class/infiniband/rocep27s0f0']" } },
	  .cause = "provider-abi-mismatch",
	  .text = "kernel ABI of 6 (supports 1 to 1)",
	  .not_cause = "provider-missing" },
	{ .name = "userspace: cannot open",
	  USER,
	  .status = VERDICT_FAIL,
	  .changes = { { "/userspace/opened", "[]" },
		       { "/userspace/failed/rocep27s0f0", "'Permission denied'" } },
	  .cause = "device-not-opened",
	  .text = "Permission denied" },
	{ .name = "userspace: not listed",
	  USER,
	  .status = VERDICT_FAIL,
	  .changes = { { "/userspace/opened", "[]" } },
	  .cause = "device-not-listed" },
	{ .name = "userspace: no library",
	  USER,
	  .status = VERDICT_UNKNOWN,
	  .changes = { { "/userspace", NULL } } },
	/* --- rdma.netns --- */
	{ .name = "netns: exclusive, shared expected",
	  NETNS,
	  .status = VERDICT_FAIL,
	  .changes = { { "/rdma/netns_mode", "'exclusive'" } },
	  .cause = "netns-mode",
	  .text = "expected is shared" },
	{ .name = "netns: shared, exclusive declared",
	  NETNS,
	  .status = VERDICT_FAIL,
	  .site = declare_exclusive,
	  .cause = "netns-mode",
	  .text = "declared is exclusive" },
	{ .name = "netns: not observed",
	  NETNS,
	  .status = VERDICT_UNKNOWN,
	  .changes = { { "/rdma/netns_mode", NULL } } },
	/* --- rdma.counters --- */
	{ .name = "counters: lifetime values alone say nothing",
	  COUNTERS,
	  .status = VERDICT_UNKNOWN,
	  .changes = { { DEVICE0 "ports/1/hw_counters/tcpRetransSegs", "132000000" } },
	  .text = "no earlier snapshot" },
	{ .name = "counters: none grew",
	  COUNTERS,
	  .status = VERDICT_PASS,
	  .site = earlier,
	  .changes = { { DEVICE0 "ports/1/hw_counters/tcpRetransSegs", "7" },
		       { DEVICE0 "ports/1/hw_counters/TxUDP", "99" } } },
	{ .name = "counters: one grew",
	  COUNTERS,
	  .status = VERDICT_FAIL,
	  .site = earlier,
	  .changes = { { DEVICE0 "ports/1/hw_counters/tcpRetransSegs", "9" } },
	  .cause = "error-counters-grow",
	  .text = "tcpRetransSegs +2" },
	{ .name = "counters: the new name of it",
	  COUNTERS,
	  .status = VERDICT_FAIL,
	  .site = earlier,
	  .changes = { { "/previous" DEVICE0 "ports/1/hw_counters", "{'RetransSegs': 1}" },
		       { DEVICE0 "ports/1/hw_counters", "{'RetransSegs': 4}" } },
	  .cause = "error-counters-grow",
	  .text = "RetransSegs +3" },
	{ .name = "counters: went back",
	  COUNTERS,
	  .status = VERDICT_UNKNOWN,
	  .site = earlier,
	  .text = "went back" },
	{ .name = "counters: booted since",
	  COUNTERS,
	  .status = VERDICT_UNKNOWN,
	  .site = earlier_boot,
	  .text = "booted since" },
	{ .name = "counters: none visible",
	  COUNTERS,
	  .status = VERDICT_UNKNOWN,
	  .site = earlier,
	  .changes = { { DEVICE0 "ports/1/hw_counters", NULL } },
	  .text = "shows no error counter" },
	{ .name = "counters: traffic is no error",
	  COUNTERS,
	  .status = VERDICT_PASS,
	  .site = earlier,
	  .changes = { { DEVICE0 "ports/1/hw_counters/tcpRetransSegs", "7" },
		       { DEVICE0 "ports/1/hw_counters/RxECNMrkd", "1000" } } },
};

/* Software RDMA passes everything that it can have, and the rest is n/a with a reason. */
static void software(void **state)
{
	struct bench *b = *state;
	const struct ladder *l;

	bench_close(b);
	bench_open(b, BASE_RXE);
	l = bench_judge(b);
	for (size_t i = 0; i < l->n_verdicts; i++) {
		const struct verdict *v = &l->verdicts[i];

		if (v->status == VERDICT_UNKNOWN && !strcmp(v->gate->id, "rdma.counters"))
			continue;
		if (v->status != VERDICT_PASS)
			scene_status(v, VERDICT_NA);
	}
}

int main(void)
{
	static const struct CMUnitTest more[] = { cmocka_unit_test(software) };

	return bench_run_with("rdma", rows, ARRAY_SIZE(rows), more, ARRAY_SIZE(more));
}
