/* SPDX-License-Identifier: Apache-2.0 */
/* RDMA gates: module, device, protocol, GID, MTU, device nodes, user space, namespaces, counters.
 */
#include <errno.h>
#include <string.h>

#include "judge/rdma.h"
#include "judge/registry.h"

/* --- rdma.chardev --- */

/* One device node; false when it is not usable. `module` makes it. */
static bool judge_node(struct judging *g, const char *name, const char *module)
{
	json_t *node = fact_optional(g, "/rdma/chardev/%s", name);
	const char *mode = json_get_string(node, "mode", "mode not known");
	int64_t code = json_get_int(node, "errno", 0);

	if (!node && !fact(g, "/rdma/chardev"))
		return false;
	if (!json_get_bool(node, "present", false)) {
		json_t *loaded = fact_optional(g, "/os/modules/%s/loaded", module);
		bool rdma_ucm = !strcmp(module, "rdma_ucm");

		if (json_is_false(loaded) &&
		    !json_is_true(peek(g, "/os/modules/%s/builtin", module)))
			judge_fail(g, rdma_ucm ? "rdma-ucm-not-loaded" : "ib-uverbs-not-loaded",
				   judge_text(g,
					      "modprobe %s; for every boot: "
					      "/etc/rdma/modules/rdma.conf or /etc/modules-load.d",
					      module),
				   "/dev/infiniband/%s is missing because %s is not loaded", name,
				   module);
		else
			judge_fail(g, "chardev-missing",
				   "udevadm trigger --subsystem-match=infiniband_verbs "
				   "--subsystem-match=misc; in a pod: the device plugin must hand "
				   "the node in",
				   "/dev/infiniband/%s is missing although %s %s", name, module,
				   json_is_true(loaded) ? "is loaded" :
							  "may be loaded (not observed)");
		return false;
	}
	if (json_get_bool(node, "usable", false))
		return true;
	if (!json_object_get(node, "usable")) {
		judge_unknown(g, NULL, "whether /dev/infiniband/%s can be opened was not observed",
			      name);
	} else if (code == EACCES || code == -EACCES) {
		judge_fail(g, "chardev-permission",
			   "give the group rdma the node (udev rule of rdma-core) or run as a "
			   "member; in a pod: check securityContext",
			   "/dev/infiniband/%s cannot be opened by this user (mode %s)", name,
			   mode);
	} else if (code == EPERM || code == -EPERM) {
		judge_fail(g, "chardev-cgroup",
			   "let the device plugin hand the node in, instead of a host path mount",
			   "/dev/infiniband/%s cannot be opened: the device cgroup of this "
			   "container forbids it",
			   name);
	} else {
		judge_fail(g, "chardev-open", "read `dmesg`; reload the RDMA modules",
			   "/dev/infiniband/%s cannot be opened (%s)", name,
			   code ? strerror((int)(code < 0 ? -code : code)) : "reason not known");
	}
	return false;
}

bool rdma_none(struct judging *g)
{
	if (g->node->n_rdma)
		return false;
	if (g->site->assumed) {
		fact_optional(g, "/rdma/devices");
		judge_unknown(g,
			      "look for the NIC with lspci -nn; when it is there, declare its port "
			      "in a site file so that its gates say what is missing",
			      "no RDMA device and no NIC of a known RDMA family was found");
	} else {
		judge_na(g, "the site declares no RDMA port for this node");
	}
	return true;
}

static void judge_chardev(struct judging *g)
{
	size_t nodes = 0;

	if (rdma_none(g))
		return;
	bool usable = judge_node(g, "rdma_cm", "rdma_ucm");
	for (size_t i = 0; i < g->node->n_rdma; i++) {
		struct subject_rdma rdma;

		if (!subject_rdma_of_port(g->snapshot, g->node, &g->node->rdma[i], &rdma)) {
			judge_unknown(g, "see gate rdma.device",
				      "%s has no RDMA device, so no uverbs node to judge",
				      g->node->rdma[i].link);
			continue;
		}

		const char *uverbs = fact_string(g, "/rdma/devices/%s/uverbs", rdma.device);

		if (!uverbs)
			continue;
		usable &= judge_node(g, uverbs, "ib_uverbs");
		nodes++;
	}
	if (usable && nodes)
		judge_pass(g, "rdma_cm and %zu uverbs node%s can be opened", nodes,
			   nodes == 1 ? "" : "s");
}

/* --- rdma.netns --- */

static void judge_netns(struct judging *g)
{
	const char *want = g->node->rdma_netns;

	if (rdma_none(g))
		return;
	const char *is = fact_string(g, "/rdma/netns_mode");
	if (!is)
		return;
	if (want)
		fact_declared(g, &g->node->where, json_text_new(want), "nodes/%s/rdma_netns",
			      g->node->name);
	else
		judge_assume(g, "RDMA network namespace mode shared (the kernel's default)");
	if (!strcmp(is, want ? want : "shared"))
		judge_pass(g, "mode %s", is);
	else
		judge_fail(
			g, "netns-mode",
			judge_text(g,
				   "echo 'options ib_core netns_mode=%d' > "
				   "/etc/modprobe.d/ib_core.conf, rebuild the initramfs, reboot; "
				   "`rdma system set netns` is refused (EBUSY) while another "
				   "network namespace exists, as on every node with pods",
				   !strcmp(want ? want : "shared", "shared")),
			"RDMA devices are in mode %s, %s is %s", is, want ? "declared" : "expected",
			want ? want : "shared");
}

const struct gate gates_rdma[] = {
	{
		.id = "rdma.module",
		.phase = 4,
		.level = 2,
		.scope = GATE_NODE,
		.title = "RDMA provider module of the kernel",
		.judge = judge_rdma_module,
		.proves = "The kernel's RDMA provider for the NICs of the RDMA ports is loaded, "
			  "and modprobe.d sets no parameter that it does not have.",
		.why = "irdma loads by itself when ice offers an RDMA device. A missing package, a "
		       "blacklist line or a module of another kernel gives no error and no device. "
		       "Options of the out-of-tree driver are ignored by the in-tree one, so what "
		       "they were to set is not set.",
		.fix = "Install the package for the running kernel, remove the blacklist or "
		       "options line, modprobe.",
		.obtain = "`railhead snapshot` reads /sys/module and the module files through "
			  "libkmod",
		.source = "drivers/infiniband/hw/irdma/main.c; modprobe.d(5); siderolabs/pkgs "
			  "issue 1297",
	},
	{
		.id = "rdma.device",
		.phase = 4,
		.level = 2,
		.scope = GATE_PORT,
		.title = "an RDMA device, its port ACTIVE",
		.judge = judge_rdma_device,
		.proves = "An RDMA device belongs to the link, and its port is ACTIVE.",
		.why = "In-tree ice takes RDMA away from a port the moment it joins a bond of any "
		       "mode. Safe Mode, more than 4 functions, devlink parameters, a blacklist "
		       "and a foreign network namespace look the same: no device. ACTIVE alone "
		       "moves no byte; the proof gates do.",
		.fix = "As the cause says. For E810 in a bond: unbond and use several rails, or "
		       "out-of-tree ice and irdma with the LAG DDP package, or keep the bond for "
		       "TCP.",
		.obtain = "`railhead snapshot` asks NETLINK_RDMA; /sys/bus/auxiliary and devlink "
			  "tell the cause",
		.source =
			"ice_lag.c since v6.6 (in-tree) and ice_is_bond_rdma_cap (out-of-tree "
			"2.6.6); ice_recalc_port_limited_caps; intel/ethernet-linux-ice issue 36. "
			"That RHEL 10.2's in-tree ice does the same is inferred, not verified",
	},
	{
		.id = "rdma.protocol",
		.phase = 4,
		.level = 2,
		.scope = GATE_PORT,
		.needs = { "rdma.device" },
		.title = "RoCE, not iWARP",
		.judge = judge_rdma_protocol,
		.proves = "The RDMA device speaks the declared protocol, RoCE v2 unless the site "
			  "says otherwise.",
		.why = "An E810 port speaks RoCE v2 or iWARP; two ends with different protocols "
		       "never connect. Out-of-tree irdma may begin in iWARP. A missing `issm` node "
		       "says nothing about the protocol.",
		.fix = "devlink dev param: enable_iwarp false first, then enable_roce true (they "
		       "exclude each other); out-of-tree: options irdma roce_ena=1.",
		.obtain = "`railhead snapshot` reads the protocol from NETLINK_RDMA",
		.source = "RDMA_NLDEV_ATTR_DEV_PROTOCOL in include/uapi/rdma/rdma_netlink.h; "
			  "Documentation/networking/devlink/ice.rst; k8s-rdma-shared-dev-plugin "
			  "issue 113 (issm)",
	},
	{
		.id = "rdma.gid",
		.phase = 4,
		.level = 2,
		.scope = GATE_PORT,
		.needs = { "rdma.device", "rdma.protocol" },
		.title = "RoCE v2 GID of the declared address",
		.judge = judge_rdma_gid,
		.not_applicable = rdma_is_iwarp,
		.proves = "The GID table holds the declared address as RoCE v2 on the declared "
			  "link; the index is named.",
		.why = "Programs that choose a GID by position take a link-local one, RoCE v1, or "
		       "that of another link, and then time out. The index changes when addresses "
		       "come and go.",
		.fix = "Put the address on the link; choose the GID by type and address, not by a "
		       "fixed index.",
		.obtain = "`railhead snapshot` reads the gids and gid_attrs folders of sysfs, in "
			  "the host's network namespace",
		.source =
			"InfiniBand Annex A17 (RoCE v2); drivers/infiniband/core/roce_gid_mgmt.c; "
			"k8s-rdma-shared-dev-plugin issue 72 (empty table in a pod)",
	},
	{
		.id = "rdma.mtu",
		.phase = 4,
		.level = 2,
		.scope = GATE_PORT,
		.needs = { "rdma.device" },
		.title = "RoCE MTU as the link allows, equal on both ends",
		.judge = judge_rdma_mtu,
		.judge_pair = judge_rdma_mtu_pair,
		.not_applicable = rdma_is_iwarp,
		.proves = "The active RoCE MTU is the largest that the link MTU carries, is the "
			  "declared one, and is equal on both ends.",
		.why = "Link MTU 1500 gives RoCE MTU 1024, 4192 or more gives 4096. A program that "
		       "assumes 4096 on a port of 1024 fails to reach RTR or retries for ever. "
		       "With equal ends the gain of 4096 is a few percent.",
		.fix = "Raise the link MTU (9000 is usual) on ports, bond, VLAN and switch of both "
		       "ends.",
		.obtain = "libibverbs tells active_mtu: install rdma-core and run `railhead "
			  "snapshot` where the device can be opened",
		.source = "iboe_get_mtu in include/rdma/ib_addr.h; NVIDIA/dgx-spark-playbooks "
			  "issue 103; tensorflow issue 9432",
	},
	{
		.id = "rdma.chardev",
		.phase = 5,
		.level = 2,
		.scope = GATE_NODE,
		.title = "device nodes uverbs and rdma_cm",
		.judge = judge_chardev,
		.proves = "/dev/infiniband/rdma_cm and the uverbs node of each RDMA port exist and "
			  "can be opened.",
		.why = "Without rdma_ucm every librdmacm program fails although verbs work. In a "
		       "pod the node must be handed in by the device plugin: a mounted path is "
		       "refused by the device cgroup.",
		.fix = "modprobe rdma_ucm; name it in /etc/rdma/modules/rdma.conf (rdma-core) for "
		       "every boot.",
		.obtain = "`railhead snapshot` opens the nodes once and closes them",
		.source = "drivers/infiniband/core/ucma.c, uverbs_main.c; rdma-core kernel-boot; "
			  "k8s-rdma-shared-dev-plugin issue 192",
	},
	{
		.id = "rdma.userspace",
		.phase = 5,
		.level = 2,
		.scope = GATE_NODE,
		.title = "rdma-core with the provider library",
		.judge = judge_rdma_userspace,
		.proves = "libibverbs has the provider of the NIC, opens the device, and is new "
			  "enough, also for dma-buf where GPUDirect RDMA is wanted.",
		.why = "A device that `rdma link` shows is useless to programs when the provider "
		       "is missing or was built for another kernel ABI: an out-of-tree driver "
		       "needs the vendor's library, in every image too.",
		.fix = "Install rdma-core of the distribution for in-tree drivers, the vendor's "
		       "library for out-of-tree ones.",
		.obtain = "install libibverbs and run `railhead snapshot`: it opens the library in "
			  "a bounded child",
		.source = "rdma-core libibverbs/init.c (ABI range), providers/; irdma dma-buf in "
			  "rdma-core 45; sriov-cni issue 348",
	},
	{
		.id = "rdma.netns",
		.phase = 11,
		.level = 2,
		.scope = GATE_NODE,
		.title = "RDMA network namespace mode",
		.judge = judge_netns,
		.proves = "RDMA devices are shared between network namespaces, or exclusive, as "
			  "the pods need it.",
		.why = "The shared device plugin refuses to start in exclusive mode; SR-IOV with "
		       "RDMA-CM in pods needs it. On a node with pods the mode cannot be changed "
		       "without a reboot.",
		.fix = "options ib_core netns_mode=1 (shared) or 0 (exclusive) in modprobe.d, "
		       "rebuild the initramfs, reboot.",
		.obtain = "`railhead snapshot` asks NETLINK_RDMA; `rdma system show netns` prints "
			  "the same",
		.source = "rdma-system(8); ib_core parameter netns_mode in "
			  "drivers/infiniband/core/device.c; k8s-rdma-shared-dev-plugin issue 84",
	},
	{
		.id = "rdma.counters",
		.phase = 13,
		.level = 2,
		.scope = GATE_PORT,
		.needs = { "rdma.device" },
		.title = "error counters do not grow",
		.judge = judge_rdma_counters,
		.proves = "No error counter of the RDMA port grew between an earlier snapshot and "
			  "this one.",
		.why = "Lifetime values say nothing: an idle port can hold millions of old pause "
		       "frames. Growth tells of loss, retransmission or refused packets now. irdma "
		       "renamed its counters around kernel 6.17; both names are known here. E810 "
		       "has no counter of RoCE timeouts, so loss on it shows mainly at the switch.",
		.fix = "Find where packets are lost: the switch's drop counters, PFC on both ends, "
		       "MTU, cable.",
		.obtain = "keep a snapshot and run `railhead check --since OLD.json` later",
		.source = "drivers/infiniband/hw/irdma/verbs.c, mlx5/counters.c, "
			  "bnxt_re/hw_counters.c, sw/rxe/rxe_hw_counters.c; NVIDIA/daqiri issue "
			  "250 (lifetime values). Whether E810 counts RoCE retransmits in "
			  "tcpRetransSegs is not verified",
	},
};
const size_t n_gates_rdma = sizeof(gates_rdma) / sizeof(gates_rdma[0]);
