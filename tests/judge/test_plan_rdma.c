/* SPDX-License-Identifier: Apache-2.0 */
/* On paper: RDMA over bonds, driver pairs, ECN, the order of DCB, pods and the store's client. */
#include <string.h>

#include "base/strbuf.h"
#include "paper.h"

/* Two ports in a bond that carries RDMA. */
#define BOND(drivers, first, second, mode, rdma)                                               \
	"nodes:\n"                                                                             \
	"  a:\n"                                                                               \
	"    roles: [gpu]\n" drivers                                                           \
	"    links: {p0: {" first "}, p1: {" second "}}\n"                                     \
	"    bonds: {bond1: {mode: " mode ", ports: [p0, p1], addresses: [10.1.0.1/24]}}\n"    \
	"    rdma: {" rdma "}\n"
#define ICE0 "driver: ice, pci: \"0000:1b:00.0\""
#define ICE1 "driver: ice, pci: \"0000:1b:00.1\""
#define LAG ", ddp: ICE LAG Package"
#define OUT_OF_TREE(version) \
	"    drivers: {ice: {source: out-of-tree" version "}, irdma: {source: out-of-tree}}\n"
#define V266 ", version: \"2.6.6\""
#define ON_BOND "bond1: {}"
#define ONE(link) \
	"nodes:\n  a: {roles: [gpu], links: {p0: {" link "}}, rdma: {p0: {}}}\n"

static void bond_rdma(void **state)
{
	static const struct paper_case cases[] = {
		{ "no bond", { HEAD NODES }, VERDICT_NA, NULL, NULL, NULL },
		{ "in-tree, LACP", { HEAD BOND("", ICE0, ICE1, "802.3ad", ON_BOND) }, VERDICT_FAIL,
		  "bond-in-tree-ice", "802.3ad", NULL },
		{ "in-tree, active-backup", { HEAD BOND("", ICE0, ICE1, "active-backup", ON_BOND) },
		  VERDICT_FAIL, "bond-in-tree-ice", "a bond of any mode", NULL },
		{ "in-tree, RDMA on a port of the bond", { HEAD BOND("", ICE0, ICE1, "802.3ad", "p0: {}") },
		  VERDICT_FAIL, "bond-in-tree-ice", NULL, NULL },
		{ "in-tree, on a VLAN of the bond",
		  { HEAD BOND("    vlans: {v: {link: bond1, id: 5}}\n", ICE0, ICE1,
			      "802.3ad", "v: {}") },
		  VERDICT_FAIL, "bond-in-tree-ice", NULL, NULL },
		{ "bond beside the RDMA ports",
		  { HEAD "nodes:\n  a:\n    links: {p0: {" ICE0 "}, p1: {" ICE1 "}, p2: {driver: ice}}\n"
		    "    bonds: {bond1: {mode: 802.3ad, ports: [p0, p1]}}\n    rdma: {p2: {}}\n" },
		  VERDICT_NA, NULL, NULL, NULL },
	};

	(void)state;
	paper_cases("plan.bond-rdma", cases, ARRAY_SIZE(cases));
}

static void bond_out_of_tree(void **state)
{
	static const struct paper_case cases[] = {
		{ "all conditions",
		  { HEAD BOND(OUT_OF_TREE(V266), ICE0 LAG, ICE1 LAG, "802.3ad", ON_BOND) },
		  VERDICT_PASS, NULL, "under conditions", NULL },
		{ "two adapters",
		  { HEAD BOND(OUT_OF_TREE(V266), ICE0 LAG, "driver: ice, pci: \"0000:3b:00.1\"" LAG,
			      "802.3ad", ON_BOND) },
		  VERDICT_FAIL, "bond-two-devices", NULL, NULL },
		{ "PCI address not declared",
		  { HEAD BOND(OUT_OF_TREE(V266), "driver: ice" LAG, "driver: ice" LAG, "802.3ad",
			      ON_BOND) },
		  VERDICT_UNKNOWN, NULL, NULL, "links/p0/pci" },
		{ "default DDP",
		  { HEAD BOND(OUT_OF_TREE(V266), ICE0 ", ddp: ICE OS Default Package",
			      ICE1 ", ddp: ICE OS Default Package", "802.3ad", ON_BOND) },
		  VERDICT_FAIL, "bond-ddp-without-lag", "default one", NULL },
		{ "another DDP",
		  { HEAD BOND(OUT_OF_TREE(V266), ICE0 LAG, ICE1 ", ddp: ICE COMMS Package", "802.3ad",
			      ON_BOND) },
		  VERDICT_FAIL, "bond-ddp-without-lag", "ICE COMMS Package", NULL },
		{ "DDP not declared",
		  { HEAD BOND(OUT_OF_TREE(V266), ICE0, ICE1, "802.3ad", ON_BOND) }, VERDICT_UNKNOWN,
		  NULL, NULL, "links/p0/ddp" },
		{ "iWARP",
		  { HEAD BOND(OUT_OF_TREE(V266), ICE0 LAG, ICE1 LAG, "802.3ad",
			      "bond1: {protocol: iwarp}") },
		  VERDICT_FAIL, "bond-not-roce", "iwarp", NULL },
		{ "too old",
		  { HEAD BOND(OUT_OF_TREE(", version: \"1.13.7\""), ICE0 LAG, ICE1 LAG, "802.3ad",
			      ON_BOND) },
		  VERDICT_FAIL, "bond-driver-too-old", "1.14.9", NULL },
		{ "the first that does it",
		  { HEAD BOND(OUT_OF_TREE(", version: \"1.14.9\""), ICE0 LAG, ICE1 LAG, "802.3ad",
			      ON_BOND) },
		  VERDICT_PASS, NULL, "1.14.9", NULL },
		{ "too old, active-backup",
		  { HEAD BOND(OUT_OF_TREE(", version: \"1.13.7\""), ICE0 LAG, ICE1 LAG,
			      "active-backup", ON_BOND) },
		  VERDICT_WARN, "bond-driver-old", "active-backup at most", NULL },
		{ "version not declared",
		  { HEAD BOND(OUT_OF_TREE(""), ICE0 LAG, ICE1 LAG, "802.3ad", ON_BOND) },
		  VERDICT_UNKNOWN, NULL, NULL, "drivers/ice/version" },
		{ "three ports",
		  { HEAD "nodes:\n  a:\n    roles: [gpu]\n" OUT_OF_TREE(V266)
		    "    links: {p0: {" ICE0 LAG "}, p1: {" ICE1 LAG "}, p2: {driver: ice, pci: "
		    "\"0000:1b:00.2\"" LAG "}}\n"
		    "    bonds: {bond1: {mode: 802.3ad, ports: [p0, p1, p2], addresses: "
		    "[10.1.0.1/24]}}\n    rdma: {bond1: {}}\n" },
		  VERDICT_FAIL, "bond-not-two-ports", "3 ports", NULL },
		{ "two kinds of NIC",
		  { HEAD BOND(OUT_OF_TREE(V266), ICE0 LAG, "driver: mlx5_core", "802.3ad", ON_BOND) },
		  VERDICT_FAIL, "bond-mixed-nics", "mlx5_core", NULL },
	};
	const struct verdict *v;

	(void)state;
	paper_cases("plan.bond-rdma", cases, ARRAY_SIZE(cases));
	v = PAPER("plan.bond-rdma",
		  HEAD BOND(OUT_OF_TREE(V266), ICE0 LAG, ICE1 LAG, "802.3ad", ON_BOND));
	paper_unverified(v, "rdma.device", "802.3ad");
	paper_unverified(v, "proof.host", "bond1");
	paper_unverified(v, "qos.equal", "bond1");
	paper_unverified(v, "nic.firmware", "roce_lag");
}

static void bond_others(void **state)
{
	static const struct paper_case cases[] = {
		{ "ConnectX",
		  { HEAD BOND("", "driver: mlx5_core, pci: \"0000:3b:00.0\"",
			      "driver: mlx5_core, pci: \"0000:3b:00.1\"", "802.3ad", ON_BOND) },
		  VERDICT_PASS, NULL, "mlx5_core", NULL },
		{ "ConnectX in a mode that mlx5 does not take",
		  { HEAD BOND("", "driver: mlx5_core, pci: \"0000:3b:00.0\"",
			      "driver: mlx5_core, pci: \"0000:3b:00.1\"", "balance-rr", ON_BOND) },
		  VERDICT_FAIL, "bond-mode", "balance-rr", NULL },
		{ "driver of the second port not declared",
		  { HEAD BOND(OUT_OF_TREE(V266), ICE0 LAG, "pci: \"0000:1b:00.1\"" LAG, "802.3ad",
			      ON_BOND) },
		  VERDICT_UNKNOWN, NULL, NULL, "links/p1/driver" },
		{ "soft-RoCE by its link", { HEAD BOND("", "driver: virtio_net", "driver: virtio_net",
						       "802.3ad", ON_BOND) },
		  VERDICT_PASS, NULL, "rdma_rxe", NULL },
		{ "soft-RoCE by its module",
		  { HEAD BOND("    drivers: {rdma_rxe: {}}\n", ICE0, ICE1, "802.3ad", ON_BOND) },
		  VERDICT_PASS, NULL, "rdma_rxe", NULL },
		{ "Broadcom", { HEAD BOND("", "driver: bnxt_en", "driver: bnxt_en", "802.3ad", ON_BOND) },
		  VERDICT_WARN, "bond-rdma-not-known", "bnxt_en", NULL },
		{ "driver not declared", { HEAD BOND("", "", "", "802.3ad", ON_BOND) },
		  VERDICT_UNKNOWN, NULL, NULL, "links/p0/driver" },
		{ "driver without a row",
		  { HEAD BOND("", "driver: cxgb4", "driver: cxgb4", "802.3ad", ON_BOND) },
		  VERDICT_UNKNOWN, NULL, "cxgb4", "nics" },
	};

	(void)state;
	paper_cases("plan.bond-rdma", cases, ARRAY_SIZE(cases));
}

static void driver_pair(void **state)
{
	static const struct paper_case cases[] = {
		{ "no RDMA", { HEAD "nodes:\n  a: {}\n" }, VERDICT_NA, NULL, NULL, NULL },
		{ "software", { HEAD ONE("driver: virtio_net") }, VERDICT_NA, NULL, "software", NULL },
		{ "both inbox", { HEAD NODES }, VERDICT_PASS, NULL, "ice inbox and irdma inbox", NULL },
		{ "both out-of-tree",
		  { HEAD BOND(OUT_OF_TREE(V266), ICE0, ICE1, "802.3ad", ON_BOND) }, VERDICT_PASS, NULL,
		  "ice out-of-tree 2.6.6", NULL },
		{ "only ice",
		  { HEAD BOND("    drivers: {ice: {source: out-of-tree}}\n", ICE0, ICE1, "802.3ad",
			      ON_BOND) },
		  VERDICT_FAIL, "driver-pair-mixed", "irdma inbox", NULL },
		{ "only irdma",
		  { HEAD BOND("    drivers: {irdma: {source: out-of-tree}}\n", ICE0, ICE1, "802.3ad",
			      ON_BOND) },
		  VERDICT_FAIL, "driver-pair-mixed", "ice inbox", NULL },
		{ "driver not declared", { HEAD ONE("") }, VERDICT_UNKNOWN, NULL, NULL,
		  "links/p0/driver" },
	};

	(void)state;
	paper_cases("plan.driver-pair", cases, ARRAY_SIZE(cases));
	paper_assumed(PAPER("plan.driver-pair", HEAD NODES), "distribution's kernel");
	paper_unverified(PAPER("plan.driver-pair",
			       HEAD BOND(OUT_OF_TREE(V266), ICE0, ICE1, "802.3ad", ON_BOND)),
			 "nic.driver-pair", "release set");
}

#define ORDER(order) "qos: {dscp: 24, priority: 3, order: " order "}\n"

static void qos_order(void **state)
{
	static const struct paper_case cases[] = {
		{ "no QoS", { HEAD BOND("", ICE0, ICE1, "802.3ad", ON_BOND) }, VERDICT_NA, NULL, NULL,
		  NULL },
		{ "no DCB", { HEAD BOND("", ICE0, ICE1, "802.3ad", ON_BOND), "qos: {dcb: false}\n" },
		  VERDICT_NA, NULL, NULL, NULL },
		{ "no bond", { HEAD NODES, ORDER("after-bond") }, VERDICT_NA, NULL, NULL, NULL },
		{ "default", { HEAD BOND("", ICE0, ICE1, "802.3ad", ON_BOND), "qos: {dscp: 24}\n" },
		  VERDICT_PASS, NULL, "before", NULL },
		{ "before", { HEAD BOND("", ICE0, ICE1, "802.3ad", ON_BOND), ORDER("before-bond") },
		  VERDICT_PASS, NULL, "before", NULL },
		{ "after", { HEAD BOND("", ICE0, ICE1, "802.3ad", ON_BOND), ORDER("after-bond") },
		  VERDICT_FAIL, "qos-after-bond", "refuses every DCB change", NULL },
		{ "after, soft-RoCE", { HEAD BOND("", "driver: veth", "driver: veth", "802.3ad", ON_BOND),
					ORDER("after-bond") },
		  VERDICT_PASS, NULL, NULL, NULL },
		{ "after, Broadcom",
		  { HEAD BOND("", "driver: bnxt_en", "driver: bnxt_en", "802.3ad", ON_BOND),
		    ORDER("after-bond") },
		  VERDICT_WARN, "qos-after-bond-not-known", NULL, NULL },
		{ "after, not declared", { HEAD BOND("", "", "", "802.3ad", ON_BOND),
					   ORDER("after-bond") },
		  VERDICT_UNKNOWN, NULL, NULL, "links/p0/driver" },
	};

	(void)state;
	paper_cases("plan.qos-order", cases, ARRAY_SIZE(cases));
}

static void ecn_host(void **state)
{
	static const struct paper_case cases[] = {
		{ "no ECN", { HEAD NODES }, VERDICT_NA, NULL, NULL, NULL },
		{ "no RDMA", { HEAD "nodes:\n  a: {}\n", "qos: {ecn: true}\n" }, VERDICT_NA, NULL, NULL,
		  NULL },
		{ "in-tree irdma", { HEAD NODES, "qos: {ecn: true}\n" }, VERDICT_WARN,
		  "ecn-switch-only", "switch-only", NULL },
		{ "marking on the switch alone", { HEAD NODES, "switch: {ecn: {min: 150KiB}}\n" },
		  VERDICT_WARN, "ecn-switch-only", NULL, NULL },
		{ "marking on the switch, off on the hosts",
		  { HEAD NODES, "qos: {ecn: false}\n", "switch: {ecn: {min: 150KiB}}\n" },
		  VERDICT_WARN, "ecn-marked-and-off", "nobody is to slow down", NULL },
		{ "off on both", { HEAD NODES, "qos: {ecn: false}\n", "switch: {mtu: 9216}\n" },
		  VERDICT_NA, NULL, NULL, NULL },
		{ "declared so", { HEAD NODES, "qos: {ecn: true, ecn_host: false}\n" }, VERDICT_PASS,
		  NULL, "switch-only", NULL },
		{ "out-of-tree", { HEAD BOND(OUT_OF_TREE(V266), ICE0, ICE1, "802.3ad", ON_BOND),
				   "qos: {ecn: true}\n" },
		  VERDICT_PASS, NULL, "configfs", NULL },
		{ "ConnectX", { HEAD ONE("driver: mlx5_core"), "qos: {ecn: true}\n" }, VERDICT_PASS,
		  NULL, "firmware", NULL },
		{ "Broadcom", { HEAD ONE("driver: bnxt_en"), "qos: {ecn: true}\n" }, VERDICT_WARN,
		  "ecn-host-not-known", NULL, NULL },
		{ "driver not declared", { HEAD ONE(""), "qos: {ecn: true}\n" }, VERDICT_UNKNOWN, NULL,
		  NULL, "links/p0/driver" },
	};
	const struct verdict *v;

	(void)state;
	paper_cases("plan.ecn-host", cases, ARRAY_SIZE(cases));
	v = PAPER("plan.ecn-host", HEAD NODES, "qos: {ecn: true}\n");
	paper_option(v, "ecn-switch-only", "ecn_host: false");
	paper_unverified(v, "proof.ecn", "slow down");
}

/* --- pods and storage ------------------------------------------------------------------------- */

#define PODS(keys) "kubernetes: {" keys "}\n"
#define RAW "pod_rdma: host-gid, rdma_cm: false"
#define EXCLUSIVE \
	"nodes:\n  a: {roles: [gpu], rdma_netns: exclusive, links: {p0: {driver: ice}}, rdma: {p0: {}}}\n"

static void pod_network(void **state)
{
	static const struct paper_case cases[] = {
		{ "no Kubernetes", { HEAD NODES }, VERDICT_NA, NULL, NULL, NULL },
		{ "no RDMA", { HEAD "nodes:\n  a: {}\n", PODS("pod_rdma: host-gid") }, VERDICT_NA, NULL,
		  NULL, NULL },
		{ "none", { HEAD NODES, PODS("pod_rdma: none") }, VERDICT_NA, NULL, NULL, NULL },
		{ "not declared", { HEAD NODES, PODS("") }, VERDICT_UNKNOWN, NULL, NULL,
		  "kubernetes/pod_rdma" },
		{ "host GIDs", { HEAD NODES, PODS(RAW) }, VERDICT_PASS, NULL, "raw verbs", NULL },
		{ "host GIDs, RDMA-CM not declared", { HEAD NODES, PODS("pod_rdma: host-gid") },
		  VERDICT_UNKNOWN, NULL, NULL, "kubernetes/rdma_cm" },
		{ "iWARP in a plain pod",
		  { HEAD "nodes:\n  a: {roles: [gpu], links: {p0: {driver: ice}}, "
		    "rdma: {p0: {protocol: iwarp}}}\n",
		    PODS(RAW) },
		  VERDICT_FAIL, "pod-iwarp", "RDMA-CM only", NULL },
		{ "iWARP with the host's network",
		  { HEAD "nodes:\n  a: {roles: [gpu], links: {p0: {driver: ice}}, "
		    "rdma: {p0: {protocol: iwarp}}}\n",
		    PODS("pod_rdma: host-network") },
		  VERDICT_PASS, NULL, NULL, NULL },
		{ "OFED on the host beside an E810",
		  { HEAD "nodes:\n  a: {roles: [gpu], drivers: {mlx5_core: {source: out-of-tree}}, "
		    "links: {p0: {driver: ice}}, rdma: {p0: {}}}\n",
		    PODS(RAW) },
		  VERDICT_FAIL, "pod-gids-hidden", "mlx5_core", NULL },
		{ "RDMA-CM in a plain pod", { HEAD NODES, PODS("pod_rdma: host-gid, rdma_cm: true") },
		  VERDICT_FAIL, "pod-rdma-cm", "ENODEV", NULL },
		{ "RDMA-CM with the host's network",
		  { HEAD NODES, PODS("pod_rdma: host-network, rdma_cm: true") }, VERDICT_PASS, NULL, NULL,
		  NULL },
		{ "RDMA-CM with a second network",
		  { HEAD NODES, PODS("pod_rdma: second-network, rdma_cm: true") }, VERDICT_PASS, NULL,
		  NULL, NULL },
		{ "OFED container",
		  { HEAD NODES, PODS("pod_rdma: host-gid"), "network_operator: {ofed_driver: true}\n" },
		  VERDICT_FAIL, "pod-gids-hidden", "no GID", NULL },
		{ "OFED on the host",
		  { HEAD "nodes:\n  a: {roles: [gpu], drivers: {mlx5_core: {source: out-of-tree}}, "
		    "links: {p0: {driver: mlx5_core}}, rdma: {p0: {}}}\n",
		    PODS("pod_rdma: host-gid") },
		  VERDICT_FAIL, "pod-gids-hidden", "mlx5_core", NULL },
		{ "out-of-tree ice keeps the core",
		  { HEAD BOND(OUT_OF_TREE(V266), ICE0, ICE1, "802.3ad", ON_BOND), PODS(RAW) },
		  VERDICT_PASS, NULL, NULL, NULL },
		{ "exclusive", { HEAD EXCLUSIVE, PODS("pod_rdma: host-gid") }, VERDICT_FAIL,
		  "pod-netns-exclusive", NULL, NULL },
		{ "exclusive where no pods run",
		  { HEAD NODES "  s: {roles: [storage], rdma_netns: exclusive, links: {p0: {driver: ice}}, "
		    "rdma: {p0: {}}}\n",
		    PODS(RAW) },
		  VERDICT_PASS, NULL, NULL, NULL },
		{ "exclusive with a second network", { HEAD EXCLUSIVE, PODS("pod_rdma: second-network") },
		  VERDICT_PASS, NULL, NULL, NULL },
	};
	const struct verdict *v;

	(void)state;
	paper_cases("plan.pod-network", cases, ARRAY_SIZE(cases));
	v = PAPER("plan.pod-network", HEAD NODES, PODS("pod_rdma: host-gid, rdma_cm: true"));
	paper_option(v, "pod-rdma-cm", "host-network");
	paper_option(v, "pod-rdma-cm", "second-network");
	paper_unverified(PAPER("plan.pod-network", HEAD NODES, PODS(RAW)), "proof.pod",
			 "inference");
}

#define STORE(library, more) "storage: {client: {library: " library "}" more "}\n"
#define RDMA_BUILD ", kind: aistor, build: rdma"

static void storage_client(void **state)
{
	static const struct paper_case cases[] = {
		{ "no store", { HEAD NODES }, VERDICT_NA, NULL, NULL, NULL },
		{ "no library", { HEAD NODES, "storage: {kind: aistor}\n" }, VERDICT_UNKNOWN, NULL, NULL,
		  "storage/client/library" },
		{ "s3rdma on E810", { HEAD NODES, STORE("s3rdma", RDMA_BUILD) }, VERDICT_FAIL,
		  "storage-client-needs-dc", "falls back to HTTP in silence", NULL },
		{ "cuobject on E810", { HEAD NODES, STORE("cuobject", RDMA_BUILD) }, VERDICT_FAIL,
		  "storage-client-needs-dc", "cuobject", NULL },
		{ "s3rdma on ConnectX",
		  { HEAD ONE("driver: mlx5_core"), STORE("s3rdma", RDMA_BUILD) }, VERDICT_PASS, NULL,
		  "DC transport", NULL },
		{ "standard build", { HEAD ONE("driver: mlx5_core"),
				      STORE("s3rdma", ", kind: aistor, build: standard") },
		  VERDICT_FAIL, "storage-standard-build", "ignores", NULL },
		{ "build not declared", { HEAD ONE("driver: mlx5_core"), STORE("s3rdma", ", kind: aistor") },
		  VERDICT_UNKNOWN, NULL, NULL, "storage/build" },
		{ "s3rdma with another store",
		  { HEAD ONE("driver: mlx5_core"), STORE("s3rdma", ", kind: minio, build: rdma") },
		  VERDICT_FAIL, "storage-other-store", "minio", NULL },
		{ "server without DC",
		  { HEAD ONE("driver: mlx5_core")
		    "  s: {roles: [storage], links: {p0: {driver: ice}}, rdma: {p0: {}}}\n",
		    STORE("s3rdma", RDMA_BUILD) },
		  VERDICT_WARN, "storage-server-without-dc", "of s has none", NULL },
		{ "one GPU node without RDMA",
		  { HEAD ONE("driver: mlx5_core") "  b: {roles: [gpu]}\n",
		    STORE("s3rdma", RDMA_BUILD) },
		  VERDICT_UNKNOWN, NULL, "of b", "nodes/b/rdma" },
		{ "RC with a server without DC",
		  { HEAD ONE("driver: mlx5_core")
		    "  s: {roles: [storage], links: {p0: {driver: ice}}, rdma: {p0: {}}}\n",
		    STORE("hipobject", RDMA_BUILD) },
		  VERDICT_PASS, NULL, NULL, NULL },
		{ "RC on E810", { HEAD NODES, STORE("hipobject", RDMA_BUILD) }, VERDICT_PASS, NULL, "RC",
		  NULL },
		{ "HTTP", { HEAD NODES, STORE("http", RDMA_BUILD) }, VERDICT_WARN, "storage-client-tcp",
		  "no RDMA", NULL },
		{ "driver not declared", { HEAD ONE(""), STORE("s3rdma", RDMA_BUILD) }, VERDICT_UNKNOWN,
		  NULL, NULL, "links/p0/driver" },
		{ "no RDMA port", { HEAD "nodes:\n  a: {roles: [gpu]}\n", STORE("s3rdma", RDMA_BUILD) },
		  VERDICT_UNKNOWN, NULL, NULL, "rdma" },
	};
	const struct verdict *v;

	(void)state;
	paper_cases("plan.storage-client", cases, ARRAY_SIZE(cases));
	paper_unverified(PAPER("plan.storage-client", HEAD ONE("driver: mlx5_core"),
			       STORE("s3rdma", RDMA_BUILD)), "storage.server", "DC transport too");
	v = PAPER("plan.storage-client", HEAD NODES, STORE("s3rdma", RDMA_BUILD));
	assert_int_equal(paper_options(v, "storage-client-needs-dc"), 3);
	scene_no_cause(PAPER("plan.storage-client",
			     HEAD NODES "  s: {roles: [storage], links: {p0: {driver: ice}}, "
					"rdma: {p0: {}}}\n",
			     STORE("s3rdma", RDMA_BUILD)),
		       "storage-server-without-dc");
	v = PAPER("plan.storage-client", HEAD NODES, STORE("s3rdma", RDMA_BUILD));
	paper_unverified(v, "storage.path", "counters");
	paper_unverified(PAPER("plan.storage-client", HEAD NODES, STORE("hipobject", RDMA_BUILD)),
			 "storage.server", "RC protocol");
}

/* --- many nodes ------------------------------------------------------------------------------- */

/* A thousand nodes that are alike are told once, and the odd one beside them. */
static void many_nodes(void **state)
{
	_cleanup_strbuf_ struct strbuf text = {0};
	const struct verdict *v;

	(void)state;
	strbuf_puts(&text, HEAD "profiles:\n  n:\n    roles: [gpu]\n    links: {p0: {" ICE0 "}, p1: {"
			   ICE1 "}}\n    rdma: {bond1: {}}\nnodes:\n");
	for (int i = 0; i < 1000; i++)
		strbuf_printf(&text, "  node-%04d: {profile: n, bonds: {bond1: {mode: %s, ports: [p0, "
				     "p1], addresses: [10.%d.%d.1/24]}}}\n", i,
			      i == 500 ? "balance-xor" : "802.3ad", i / 250 + 1, i % 250);
	v = PAPER("plan.bond-rdma", strbuf_str(&text));
	scene_status(v, VERDICT_FAIL);
	assert_int_equal(v->n_causes, 2);
	assert_non_null(strstr(v->causes[0].text, "node-0000 and 998 others"));
	assert_non_null(strstr(v->causes[1].text, "of node-0500"));
	/* both leave the same open */
	assert_int_equal(v->n_unverified, 1);
	/* evidence does not grow with the nodes */
	assert_true(v->n_evidence < 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(bond_rdma, paper_close),
		cmocka_unit_test_teardown(bond_out_of_tree, paper_close),
		cmocka_unit_test_teardown(bond_others, paper_close),
		cmocka_unit_test_teardown(driver_pair, paper_close),
		cmocka_unit_test_teardown(qos_order, paper_close),
		cmocka_unit_test_teardown(ecn_host, paper_close),
		cmocka_unit_test_teardown(pod_network, paper_close),
		cmocka_unit_test_teardown(storage_client, paper_close),
		cmocka_unit_test_teardown(many_nodes, paper_close),
	};

	return cmocka_run_group_tests_name("judge/plan_rdma", tests, NULL, NULL);
}
