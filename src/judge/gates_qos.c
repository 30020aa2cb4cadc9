/* SPDX-License-Identifier: Apache-2.0 */
/* QoS gates: from the declared RoCE class to what each NIC, port and node really does with it. */
#include "judge/qos.h"
#include "judge/registry.h"

#define OBTAIN_DCB                                                                                 \
	"`railhead snapshot` asks dcbnl through rtnetlink; a driver without dcbnl is said in the " \
	"gaps"

const struct gate gates_qos[] = {
	{
		.id = "qos.fw-lldp",
		.phase = 14,
		.level = 2,
		.scope = GATE_NIC,
		.title = "LLDP agent of the firmware off",
		.judge = judge_qos_fw_lldp,
		.not_applicable = qos_not_declared,
		.proves = "No agent in the NIC's firmware takes DCB settings from the switch.",
		.why = "With the agent on, the NIC is willing: the host can only read, `dcb app "
		       "add` fails with EINVAL, and the firmware's own traffic classes may split "
		       "the queues so that half of them stay silent. The flag's sense differs: ice "
		       "`fw-lldp-agent` must be off, i40e `disable-fw-lldp` must be on.",
		.fix = "ethtool --set-priv-flags LINK fw-lldp-agent off (ice), disable-fw-lldp on "
		       "(i40e); it persists.",
		.obtain = "`railhead snapshot` reads the private flags through ethtool",
		.source = "README of intel/ethernet-linux-ice; i40e_ethtool.c; "
			  "LibtraceTeam/libtrace pull request 223; mlx5 en_dcbnl.c and bnxt_dcb.c "
			  "for drivers without a flag",
	},
	{
		.id = "qos.dcbx",
		.phase = 14,
		.level = 2,
		.scope = GATE_NIC,
		.title = "DCBX by the host, IEEE",
		.judge = judge_qos_dcbx,
		.not_applicable = qos_not_declared,
		.proves = "DCBX of the NIC is host-managed and in IEEE mode.",
		.why = "DSCP entries exist in IEEE mode only; CEE knows none. lld-managed means "
		       "that the firmware rules. lldpad can overwrite the state at its start (not "
		       "verified for RHEL 10).",
		.fix = "dcb dcbx set dev LINK host ieee, after the firmware's agent is off and "
		       "before the port is bonded.",
		.obtain = OBTAIN_DCB,
		.source = "include/uapi/linux/dcbnl.h (DCB_CAP_DCBX_*); dcb-dcbx(8); ice_dcb_nl.c",
	},
	{
		.id = "qos.flow-control",
		.phase = 14,
		.level = 2,
		.scope = GATE_NIC,
		.title = "link pause off",
		.judge = judge_qos_flow_control,
		.proves = "Link-level flow control (802.3x) is off where PFC is wanted, and never "
			  "on together with PFC.",
		.why = "Link pause stops all traffic classes at once and took a fifth of line rate "
		       "in one report while every drop counter stayed 0. ice refuses one while the "
		       "other is on. Lifetime pause counters do not matter here.",
		.fix = "ethtool -A LINK autoneg off rx off tx off, and the same on the switch "
		       "port.",
		.obtain = "`railhead snapshot` reads pause parameters through ethtool",
		.source = "IEEE 802.3 31B, 802.1Q 36; NVIDIA/daqiri issue 250; README of "
			  "intel/ethernet-linux-ice",
	},
	{
		.id = "qos.dscp",
		.phase = 14,
		.level = 2,
		.scope = GATE_NIC,
		.title = "DSCP to priority",
		.judge = judge_qos_dscp,
		.not_applicable = qos_not_declared,
		.proves = "The declared DSCP is mapped to the RoCE priority, once, and no other "
			  "DSCP is. All eight DSCPs of one class there, which is the default map "
			  "of mlx5, are a warning.",
		.why = "Without the entry RoCE packets land on priority 0, where nothing is "
		       "lossless. 24 is a DSCP; as a ToS byte it is 96, and mixing them maps DSCP "
		       "6. On ice the map is lost with a driver reload or an NVM update.",
		.fix = "dcb app add dev LINK dscp-prio 24:3 before bonding; read back, add only "
		       "what is missing (ice refuses an entry that exists and may remove it).",
		.obtain = OBTAIN_DCB,
		.source = "dcb-app(8); ice_dcb_nl.c (ice_dcbnl_setapp); RFC 2474",
	},
	{
		.id = "qos.ets",
		.phase = 14,
		.level = 2,
		.scope = GATE_NIC,
		.title = "traffic classes and bandwidth",
		.judge = judge_qos_ets,
		.not_applicable = qos_not_declared,
		.proves = "The RoCE priority is in its traffic class, alone, with bandwidth; "
			  "classes start at 0 without a hole; shares add up to 100.",
		.why = "Entering DSCP mode resets ice to TC0 100 %, all others 0 %: RoCE then gets "
		       "nothing under load. A class that priority 0 shares is paused as a whole. "
		       "Non-contiguous classes make ice disable DCB; mlx5 takes them, so there a "
		       "hole is not judged.",
		.fix = "dcb ets set dev LINK tc-tsa all:ets tc-bw …, after the DSCP entries and "
		       "before bonding.",
		.obtain = OBTAIN_DCB,
		.source = "dcb-ets(8); IEEE 802.1Q 37; ice_dcb_nl.c, ice_dcb_lib.c",
	},
	{
		.id = "qos.pfc",
		.phase = 14,
		.level = 2,
		.scope = GATE_NIC,
		.title = "PFC on the RoCE priority only",
		.judge = judge_qos_pfc,
		.not_applicable = qos_not_declared,
		.proves = "Priority flow control is on for the RoCE priority and for no other.",
		.why = "Off: RoCE loses packets under incast, and out-of-tree irdma shrinks its "
		       "window. On priority 0: TCP is paused by RoCE's congestion. On several: "
		       "buffers are split and pauses spread.",
		.fix = "dcb pfc set dev LINK prio-pfc all:off 3:on, with link pause off, before "
		       "bonding; the same on the switch.",
		.obtain = OBTAIN_DCB,
		.source = "dcb-pfc(8); IEEE 802.1Q 36; Intel document 635330 (one PFC class in its "
			  "2023 text)",
	},
	{
		.id = "qos.equal",
		.phase = 14,
		.level = 2,
		.scope = GATE_NODE,
		.title = "the NICs of the node agree",
		.judge = judge_qos_equal,
		.proves = "All NICs below the RDMA ports have the same DCBX, ETS, PFC, DSCP map, "
			  "link pause and LLDP setting.",
		.why = "Flows are spread over the ports of a bond: with one port set otherwise, "
		       "some flows are lossless and some are not. Out-of-tree ice compares both "
		       "ports byte by byte and drops RDMA when they differ.",
		.fix = "Take the ports out of the bond, give both the same settings, bond them "
		       "again.",
		.obtain = OBTAIN_DCB,
		.source = "ice_is_bond_rdma_cap in src/ice_lag.c of intel/ethernet-linux-ice 2.6.6",
	},
	{
		.id = "qos.tos",
		.phase = 14,
		.level = 2,
		.scope = GATE_PORT,
		.needs = { "rdma.device" },
		.title = "default ToS of RDMA-CM",
		.judge = judge_qos_tos,
		.not_applicable = qos_not_declared,
		.proves = "rdma_cm's default_roce_tos of the device is the declared DSCP times 4.",
		.why = "A connection that RDMA-CM makes takes its ToS from here when the program "
		       "sets none. The value is lost at reboot and whenever the device is "
		       "re-created. Raw verbs programs do not use it: they set the traffic class "
		       "in the address vector (perftest: --tclass=96).",
		.fix = "mkdir /sys/kernel/config/rdma_cm/DEVICE, echo 96 > "
		       "…/ports/1/default_roce_tos, by a unit at every boot.",
		.obtain = "`railhead snapshot` reads configfs as root, with rdma_cm loaded",
		.source = "Documentation/ABI/testing/configfs-rdma_cm; "
			  "drivers/infiniband/core/cma_configfs.c",
	},
	{
		.id = "qos.vlan",
		.phase = 14,
		.level = 2,
		.scope = GATE_PORT,
		.title = "egress map of a VLAN",
		.judge = judge_qos_vlan,
		.not_applicable = qos_not_declared,
		.proves = "A VLAN that carries RoCE maps the RoCE priority to its PCP on the way "
			  "out.",
		.why = "irdma takes the priority of a VLAN link from its egress map after the DSCP "
		       "map, also in DSCP mode: without an entry RoCE on the VLAN falls to "
		       "priority 0 (read in source; not verified on hardware).",
		.fix = "ip link set dev LINK type vlan egress-qos-map 3:3",
		.obtain = "`railhead snapshot` reads the VLAN's attributes through rtnetlink",
		.source = "irdma_roce_get_vlan_prio in drivers/infiniband/hw/irdma/verbs.c; "
			  "ip-link(8)",
	},
};
const size_t n_gates_qos = sizeof(gates_qos) / sizeof(gates_qos[0]);
