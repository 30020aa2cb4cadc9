/* SPDX-License-Identifier: Apache-2.0 */
/* On paper: one DSCP, one priority, one class, on hosts and switch; and the headroom. */
#include "paper.h"

#define QOS(keys) "qos: {" keys "}\n"
#define MAP ", prio_tc: {0: 0, 1: 1, 2: 2, 3: 3}"
#define SHARES ", tc_bandwidth: {0: 30, 1: 10, 2: 10, 3: 50}"
#define ROCE "dscp: 24, priority: 3, traffic_class: 3, pfc: true"
#define GOOD QOS(ROCE MAP SHARES ", bandwidth: 50%")
#define SWITCH(keys) "switch: {" keys "}\n"
#define VLAN(more)                                                                             \
	"nodes:\n"                                                                             \
	"  a:\n"                                                                               \
	"    links: {p0: {driver: ice}}\n"                                                     \
	"    vlans: {v: {link: p0, id: 100" more "}}\n"                                        \
	"    rdma: {v: {}}\n"
#define NIC(driver) "nodes:\n  a: {links: {p0: {" driver "}}, rdma: {p0: {}}}\n"

static void declared_whole(void **state)
{
	static const struct paper_case cases[] = {
		{ "no RDMA", { HEAD "nodes:\n  a: {}\n", GOOD }, VERDICT_NA, NULL, NULL, NULL },
		{ "no DCB", { HEAD NODES, QOS("dcb: false") }, VERDICT_NA, NULL, NULL, NULL },
		{ "no QoS", { HEAD NODES }, VERDICT_UNKNOWN, NULL, NULL, "qos" },
		{ "no DSCP", { HEAD NODES, QOS("priority: 3, traffic_class: 3") }, VERDICT_UNKNOWN, NULL,
		  "qos.dscp", "qos/dscp" },
		{ "no priority", { HEAD NODES, QOS("dscp: 24, traffic_class: 3") }, VERDICT_UNKNOWN, NULL,
		  "qos.priority", "qos/priority" },
		{ "no class", { HEAD NODES, QOS("dscp: 24, priority: 3" SHARES) }, VERDICT_UNKNOWN, NULL,
		  NULL, "qos/traffic_class" },
		{ "no shares", { HEAD NODES, QOS(ROCE MAP) }, VERDICT_UNKNOWN, NULL, NULL,
		  "qos/tc_bandwidth" },
		{ "all", { HEAD NODES, GOOD }, VERDICT_PASS, NULL,
		  "DSCP 24 (ToS 96) to priority 3 to class 3 with 50 %", NULL },
		{ "class by the map", { HEAD NODES, QOS("dscp: 24, priority: 3" MAP SHARES) },
		  VERDICT_PASS, NULL, "class 3", NULL },
		{ "no map", { HEAD NODES, QOS(ROCE SHARES) }, VERDICT_PASS, NULL, NULL, NULL },
		{ "NIC not declared", { HEAD NIC(""), GOOD }, VERDICT_PASS, NULL, NULL, NULL },
	};

	(void)state;
	paper_cases("plan.qos", cases, ARRAY_SIZE(cases));
	paper_assumed(PAPER("plan.qos", HEAD NODES, QOS(ROCE SHARES)), "priority n in traffic class n");
	paper_unverified(PAPER("plan.qos", HEAD NODES, GOOD), "proof.pfc", "switch");
	paper_unverified(PAPER("plan.qos", HEAD NIC(""), GOOD), "qos.ets", "support matrix");
}

static void hosts(void **state)
{
	static const struct paper_case cases[] = {
		{ "two classes for one priority, nothing else",
		  { HEAD NIC("driver: mlx5_core"),
		    QOS("dscp: 24, priority: 3, traffic_class: 2, prio_tc: {0: 0, 3: 1}, "
			"tc_bandwidth: {0: 50, 2: 50}") },
		  VERDICT_FAIL, "qos-class-differs", "into class 1", NULL },
		{ "two classes for one priority",
		  { HEAD NODES, QOS("dscp: 24, priority: 3, traffic_class: 2" MAP SHARES) },
		  VERDICT_FAIL, "qos-class-differs", "class 3", NULL },
		{ "shared class",
		  { HEAD NODES, QOS(ROCE ", prio_tc: {0: 0, 1: 1, 2: 2, 3: 3, 4: 3}" SHARES) },
		  VERDICT_FAIL, "qos-class-shared", "priority 4", NULL },
		{ "hole", { HEAD NODES, QOS(ROCE ", prio_tc: {0: 0, 3: 3}" SHARES) }, VERDICT_FAIL,
		  "qos-classes-not-contiguous", NULL, NULL },
		{ "not from 0", { HEAD NODES, QOS(ROCE ", prio_tc: {1: 1, 2: 2, 3: 3}" SHARES) },
		  VERDICT_FAIL, "qos-classes-not-contiguous", NULL, NULL },
		{ "sum", { HEAD NODES, QOS(ROCE MAP ", tc_bandwidth: {0: 60, 3: 50}") }, VERDICT_FAIL,
		  "qos-shares-sum", "110", NULL },
		{ "sum below", { HEAD NODES, QOS(ROCE MAP ", tc_bandwidth: {0: 49, 3: 50}") },
		  VERDICT_FAIL, "qos-shares-sum", "99", NULL },
		{ "share 0", { HEAD NODES, QOS(ROCE MAP ", tc_bandwidth: {0: 100, 3: 0}") },
		  VERDICT_FAIL, "qos-share-zero", "class 3", NULL },
		{ "share not declared for RoCE", { HEAD NODES, QOS(ROCE MAP ", tc_bandwidth: {0: 100}") },
		  VERDICT_FAIL, "qos-share-zero", NULL, NULL },
		{ "share low",
		  { HEAD NODES, QOS(ROCE MAP ", tc_bandwidth: {0: 60, 3: 40}, bandwidth: 50%") },
		  VERDICT_FAIL, "qos-share-low", "40 %", NULL },
		{ "PFC on priority 0",
		  { HEAD NODES, QOS("dscp: 24, priority: 0, traffic_class: 0, pfc: true, "
				    "tc_bandwidth: {0: 100}") },
		  VERDICT_FAIL, "qos-pfc-on-p0", NULL, NULL },
		{ "no PFC",
		  { HEAD NODES, QOS("dscp: 24, priority: 3, traffic_class: 3, pfc: false" MAP SHARES) },
		  VERDICT_WARN, "qos-pfc-off", NULL, NULL },
		{ "DSCP 0",
		  { HEAD NODES, QOS("dscp: 0, priority: 3, traffic_class: 3, pfc: true" MAP SHARES) },
		  VERDICT_FAIL, "qos-dscp-zero", NULL, NULL },
	};

	(void)state;
	paper_cases("plan.qos", cases, ARRAY_SIZE(cases));
}

static void nics(void **state)
{
	static const struct paper_case cases[] = {
		{ "ice keeps priority n in class n",
		  { HEAD NODES, QOS("dscp: 24, priority: 3, traffic_class: 1, prio_tc: {0: 0, 3: 1}, "
				    "tc_bandwidth: {0: 50, 1: 50}") },
		  VERDICT_FAIL, "qos-fixed-classes", "priority 3 is declared in class 1", NULL },
		{ "the same without a map",
		  { HEAD NODES, QOS("dscp: 24, priority: 3, traffic_class: 4, tc_bandwidth: {0: 50, 4: 50}") },
		  VERDICT_FAIL, "qos-fixed-classes", "priority 3 is declared in class 4", NULL },
		{ "ConnectX, without a map",
		  { HEAD NIC("driver: mlx5_core"),
		    QOS("dscp: 24, priority: 3, traffic_class: 4, tc_bandwidth: {0: 50, 4: 50}") },
		  VERDICT_UNKNOWN, NULL, "priority 3 is to be in class 4", "qos/prio_tc" },
		{ "share for a class without priorities",
		  { HEAD NODES, QOS(ROCE MAP ", tc_bandwidth: {0: 20, 3: 50, 7: 30}") }, VERDICT_FAIL,
		  "qos-share-unused", "class 7 has 30 %", NULL },
		{ "ConnectX does not",
		  { HEAD NIC("driver: mlx5_core"),
		    QOS("dscp: 24, priority: 3, traffic_class: 1, prio_tc: {0: 0, 3: 1}, "
			"tc_bandwidth: {0: 50, 1: 50}") },
		  VERDICT_PASS, NULL, NULL, NULL },
		{ "upper priorities of a port with 4 classes",
		  { HEAD NODES, QOS(ROCE ", prio_tc: {0: 0, 1: 1, 2: 2, 3: 3, 4: 0, 5: 0, 6: 0, 7: 0}"
				    SHARES) },
		  VERDICT_PASS, NULL, NULL, NULL },
		{ "VLAN without map", { HEAD VLAN(""), GOOD }, VERDICT_FAIL, "qos-vlan-egress",
		  "no egress map", NULL },
		{ "VLAN with another map", { HEAD VLAN(", egress: {3: 4}"), GOOD }, VERDICT_FAIL,
		  "qos-vlan-egress", "another PCP", NULL },
		{ "VLAN to PCP 0", { HEAD VLAN(", egress: {3: 0}"), GOOD }, VERDICT_FAIL,
		  "qos-vlan-egress", "another PCP", NULL },
		{ "VLAN with the map", { HEAD VLAN(", egress: {3: 3}"), GOOD }, VERDICT_PASS, NULL, NULL,
		  NULL },
	};

	(void)state;
	paper_cases("plan.qos", cases, ARRAY_SIZE(cases));
	paper_unverified(PAPER("plan.qos", HEAD NODES,
			       QOS(ROCE ", prio_tc: {0: 0, 1: 1, 2: 2, 3: 3, 4: 0}" SHARES)),
			 "qos.ets", "with 4 classes");
	paper_unverified(PAPER("plan.qos", HEAD NODES,
			       QOS(ROCE ", prio_tc: {0: 0, 1: 1, 2: 2, 3: 3, 4: 4}" SHARES)),
			 "qos.ets", "more than 4");
}

/* A port with three traffic classes; and one with four. */
static void few_classes(void **state)
{
	static const char row[] =
		"  - family: mlx5\n    driver: mlx5_core\n    rdma_driver: mlx5_ib\n"
		"    stack: inbox\n    nvidia: true\n    bond_rdma: yes\n    dscp: yes\n"
		"    dcb_while_bonded: yes\n    dcqcn: firmware\n    atomics: yes\n"
		"    dc_transport: true\n    traffic_classes_max: ";
	const struct verdict *v;

	(void)state;
	for (int classes = 3; classes <= 4; classes++) {
		_cleanup_free_ char *rows = xasprintf("%s%d\n", row, classes);

		paper_table("nics", rows);
		v = PAPER("plan.qos", HEAD NIC("driver: mlx5_core"), GOOD);
		scene_status(v, classes == 3 ? VERDICT_FAIL : VERDICT_PASS);
		if (classes == 3)
			scene_cause(v, "qos-too-many-classes", "class 3 is declared");
	}
}

static void network_switch(void **state)
{
	static const struct paper_case cases[] = {
		{ "the same", { HEAD NODES, GOOD, SWITCH("dscp: 24, priority: 3, pfc: true") },
		  VERDICT_PASS, NULL, NULL, NULL },
		{ "not declared", { HEAD NODES, GOOD, SWITCH("") }, VERDICT_PASS, NULL, NULL, NULL },
		{ "another DSCP", { HEAD NODES, GOOD, SWITCH("dscp: 26") }, VERDICT_FAIL,
		  "qos-switch-dscp", "treats 26", NULL },
		{ "24 taken for the ToS byte", { HEAD NODES, GOOD, SWITCH("dscp: 6") }, VERDICT_FAIL,
		  "qos-switch-dscp", "DSCP 24 is ToS 96", NULL },
		{ "another priority", { HEAD NODES, GOOD, SWITCH("priority: 4") }, VERDICT_FAIL,
		  "qos-switch-priority", "4 on the switch", NULL },
		{ "no PFC", { HEAD NODES, GOOD, SWITCH("pfc: false") }, VERDICT_FAIL, "qos-switch-pfc",
		  "off on the switch", NULL },
	};

	(void)state;
	paper_cases("plan.qos", cases, ARRAY_SIZE(cases));
	paper_assumed(PAPER("plan.qos", HEAD NODES, GOOD, SWITCH("")), "switch.dscp as on the hosts");
	paper_assumed(PAPER("plan.qos", HEAD NODES, GOOD, SWITCH("")), "switch.pfc as on the hosts");
}

#define PORT "port_speed: 100G, cable_metres: 5, mtu: 9216"

static void headroom(void **state)
{
	static const struct paper_case cases[] = {
		{ "no switch", { HEAD NODES }, VERDICT_NA, NULL, NULL, NULL },
		{ "no PFC on the switch", { HEAD NODES, SWITCH("pfc: false") }, VERDICT_NA, NULL, NULL,
		  NULL },
		{ "no PFC on the hosts", { HEAD NODES, QOS("pfc: false"), SWITCH("pfc: true") },
		  VERDICT_NA, NULL, NULL, NULL },
		/* 45073 to 80930 bytes */
		{ "enough", { HEAD NODES, SWITCH(PORT ", headroom: 80930") }, VERDICT_PASS, NULL,
		  "45073 to 80930", NULL },
		{ "tight", { HEAD NODES, SWITCH(PORT ", headroom: 80929") }, VERDICT_WARN,
		  "headroom-tight", "45073 to 80930", NULL },
		{ "lowest", { HEAD NODES, SWITCH(PORT ", headroom: 45073") }, VERDICT_WARN,
		  "headroom-tight", NULL, NULL },
		{ "low", { HEAD NODES, SWITCH(PORT ", headroom: 45072") }, VERDICT_FAIL, "headroom-low",
		  "quanta", NULL },
		{ "none, and declared so", { HEAD NODES, SWITCH(PORT ", headroom: 0") }, VERDICT_FAIL,
		  "headroom-low", "headroom of 0 bytes", NULL },
		{ "frames larger than the switch takes",
		  { HEAD NIC("driver: ice, mtu: 9000"),
		    SWITCH("port_speed: 100G, cable_metres: 5, mtu: 1500, headroom: 128KiB") },
		  VERDICT_FAIL, "headroom-mtu", "MTU 9000 and switch.mtu is 1500", NULL },
		{ "frames of a bond larger than the switch takes",
		  { HEAD "nodes:\n  a:\n    links: {p0: {driver: ice}, p1: {driver: ice}}\n"
		    "    bonds: {b: {mode: 802.3ad, ports: [p0, p1], mtu: 9000}}\n    rdma: {b: {}}\n",
		    SWITCH("port_speed: 100G, cable_metres: 5, mtu: 1500, headroom: 128KiB") },
		  VERDICT_FAIL, "headroom-mtu", "b of a has MTU 9000", NULL },
		{ "with its unit", { HEAD NODES, SWITCH(PORT ", headroom: 128KiB") }, VERDICT_PASS, NULL,
		  "131072", NULL },
		{ "longer cable",
		  { HEAD NODES, SWITCH("port_speed: 100G, cable_metres: 300, mtu: 9216, "
				       "headroom: 80930") },
		  VERDICT_FAIL, "headroom-low", "37500", NULL },
		{ "not declared", { HEAD NODES, SWITCH(PORT) }, VERDICT_UNKNOWN, NULL, "80930",
		  "switch/headroom" },
		{ "no cable", { HEAD NODES, SWITCH("port_speed: 100G, headroom: 128KiB") },
		  VERDICT_UNKNOWN, NULL, NULL, "switch/cable_metres" },
		{ "speed of the hosts", { HEAD NODES, SWITCH("cable_metres: 5, mtu: 9216, headroom: 80930") },
		  VERDICT_PASS, NULL, NULL, NULL },
		{ "no speed at all", { HEAD NIC("driver: ice"), SWITCH("cable_metres: 5, headroom: 1MiB") },
		  VERDICT_UNKNOWN, NULL, NULL, "switch/port_speed" },
		{ "speed without a row",
		  { HEAD NODES, SWITCH("port_speed: 1G, cable_metres: 5, headroom: 1MiB") },
		  VERDICT_UNKNOWN, NULL, "1000 Mb/s", "pause-quanta" },
	};
	const struct verdict *v;

	(void)state;
	paper_cases("plan.headroom", cases, ARRAY_SIZE(cases));
	v = PAPER("plan.headroom", HEAD NODES, SWITCH("cable_metres: 5, headroom: 128KiB"));
	paper_assumed(v, "half full");
	paper_assumed(v, "MTU 9216");
	paper_assumed(v, "100000 Mb/s");
	paper_unverified(v, "proof.pfc", "drops nothing");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(declared_whole, paper_close),
		cmocka_unit_test_teardown(hosts, paper_close),
		cmocka_unit_test_teardown(nics, paper_close),
		cmocka_unit_test_teardown(few_classes, paper_close),
		cmocka_unit_test_teardown(network_switch, paper_close),
		cmocka_unit_test_teardown(headroom, paper_close),
	};

	return cmocka_run_group_tests_name("judge/plan_qos", tests, NULL, NULL);
}
