/* SPDX-License-Identifier: Apache-2.0 */
/* Sites made from snapshots: what is found, what is left out, and odd snapshots. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "site/site.h"

static struct site *discovered(const char *text)
{
	_cleanup_error_ struct error err = {0};
	_cleanup_json_ json_t *snapshot = NULL;
	struct site *site;

	if (json_parse(&snapshot, text, strlen(text), "snapshot", &err) < 0)
		fail_msg("%s", error_text(&err));
	assert_int_equal(site_discover(&site, &snapshot, 1, &err), 0);
	assert_true(site->assumed);
	assert_null(site->path);
	assert_int_equal(site->n_nodes, 1);
	return site;
}

#define LINK(index, more) "{\"index\": " #index ", \"kind\": \"\", \"up\": true" more "}"
#define PCI(bdf) ", \"parent_bus\": \"pci\", \"parent_device\": \"" bdf "\""
#define DRIVER(name) ", \"ethtool\": {\"driver\": \"" name "\"}"
#define ADDRESS(text)                                                                          \
	", \"addresses\": [{\"family\": \"ipv6\", \"address\": \"fe80::1\", \"scope\": \"link\"}, " \
	"{\"family\": \"ipv4\", \"address\": \"" text "\", \"scope\": \"global\", \"prefix\": 24}]"

/* Two mlx5 ports in a bond that has one RDMA device, and GPUs of two models. */
static void test_bond_and_gpus(void **state RH_UNUSED)
{
	_cleanup_site_ struct site *site = discovered(
		"{\"node\": {\"hostname\": \"gpu-node-01\"},"
		" \"links\": {"
		"  \"lo\": " LINK(1, "") ","
		"  \"p1\": " LINK(4, PCI("0000:1b:00.1") ", \"master\": \"bond1\"") ","
		"  \"p0\": " LINK(3, PCI("0000:1b:00.0") ", \"master\": \"bond1\"") ","
		"  \"bond1\": {\"index\": 5, \"kind\": \"bond\", \"up\": true, \"bond\": {\"mode\": \"802.3ad\"}"
		ADDRESS("10.10.1.11") "}},"
		" \"pci\": {\"devices\": {"
		"  \"0000:1b:00.0\": {\"vendor\": \"0x15b3\", \"class\": \"0x020000\", \"driver\": \"mlx5_core\"},"
		"  \"0000:1b:00.1\": {\"vendor\": \"0x15b3\", \"class\": \"0x020000\", \"driver\": \"mlx5_core\"},"
		"  \"0000:3b:00.0\": {\"vendor\": \"0x10de\", \"device\": \"0x3182\", \"class\": \"0x030200\"},"
		"  \"0000:4b:00.0\": {\"vendor\": \"0x10de\", \"device\": \"0x3182\", \"class\": \"0x030200\"},"
		"  \"0000:5b:00.0\": {\"vendor\": \"0x10de\", \"device\": \"0x2204\", \"class\": \"0x030000\"},"
		"  \"0000:5b:00.1\": {\"vendor\": \"0x10de\", \"device\": \"0x1aef\", \"class\": \"0x040300\"},"
		"  \"0000:6b:00.0\": {\"vendor\": \"0x1002\", \"device\": \"0x3182\", \"class\": \"0x030200\"}}},"
		" \"rdma\": {\"devices\": {\"mlx5_bond_0\": {\"protocol\": \"roce\", \"parent_device\": \"0000:1b:00.0\","
		"  \"ports\": {\"1\": {\"state\": \"ACTIVE\", \"link\": \"p0\"}}}}},"
		" \"gpu\": {\"devices\": {\"0000:3b:00.0\": {\"model\": \"NVIDIA B300\"}}}}");
	const struct site_node *node = site->nodes;

	assert_string_equal(node->name, "gpu-node-01");
	assert_int_equal(node->roles, SITE_ROLE_GPU);
	assert_true(site->gpudirect);
	assert_false(site->qos.declared);
	assert_int_equal(site->qos.prio_tc[3], -1);

	assert_int_equal(node->n_bonds, 1);
	assert_string_equal(node->bonds[0].name, "bond1");
	assert_string_equal(node->bonds[0].mode, "802.3ad");
	assert_string_equal(node->bonds[0].ports[0], "p0"); /* by index */
	assert_string_equal(node->bonds[0].ports[1], "p1");
	assert_null(node->bonds[0].ports[2]);
	assert_null(node->bonds[0].addresses);

	/* one port on the bond, although both members are RDMA-capable */
	assert_int_equal(node->n_rdma, 1);
	assert_string_equal(node->rdma[0].link, "bond1");
	assert_string_equal(node->rdma[0].address, "10.10.1.11");
	assert_string_equal(node->rdma[0].protocol, "roce");
	assert_null(node->rdma[0].device);

	assert_int_equal(node->n_links, 2);
	assert_string_equal(site_link_find(node, "p1")->pci, "0000:1b:00.1");
	assert_null(site_link_find(node, "p1")->driver);

	assert_int_equal(node->n_gpus, 2);
	assert_string_equal(node->gpus[0].pci_id, "10de:3182");
	assert_string_equal(node->gpus[0].model, "NVIDIA B300");
	assert_int_equal(node->gpus[0].count.value, 2);
	assert_string_equal(node->gpus[1].pci_id, "10de:2204");
	assert_int_equal(node->gpus[1].count.value, 1);
}

/* In-tree ice took the RDMA device from bonded ports: the ports still have to be looked at. */
static void test_vanished_device(void **state RH_UNUSED)
{
	_cleanup_site_ struct site *site = discovered(
		"{\"node\": {\"hostname\": \"n\"}, \"rdma\": {\"devices\": {}},"
		" \"links\": {"
		"  \"ens1f0\": " LINK(2, PCI("0000:1b:00.0") DRIVER("ice") ", \"master\": \"bond1\"") ","
		"  \"ens1f1\": " LINK(3, PCI("0000:1b:00.1") DRIVER("ice") ", \"master\": \"bond1\"") ","
		"  \"ens2\": " LINK(4, PCI("0000:2b:00.0") DRIVER("bnxt_en") ADDRESS("10.0.0.1")) ","
		"  \"eno1\": " LINK(5, PCI("0000:3b:00.0") DRIVER("igb") ADDRESS("10.1.0.1")) ","
		"  \"bond1\": {\"index\": 6, \"kind\": \"bond\", \"bond\": {\"mode\": \"802.3ad\"}}}}");
	const struct site_node *node = site->nodes;

	assert_int_equal(node->roles, SITE_ROLE_CLIENT);
	assert_false(site->gpudirect);
	assert_int_equal(node->n_rdma, 2);
	assert_non_null(site_rdma_find(node, "bond1"));
	assert_null(site_rdma_find(node, "bond1")->address);
	assert_string_equal(site_rdma_find(node, "ens2")->address, "10.0.0.1");
	assert_null(site_rdma_find(node, "eno1"));
}

static void test_what_is_left_out(void **state RH_UNUSED)
{
	_cleanup_site_ struct site *site = discovered(
		"{\"node\": {\"hostname\": \"n\"},"
		" \"links\": {"
		/* switched off, in no bond, without address */
		"  \"off\": {\"index\": 2, \"kind\": \"\", \"up\": false" PCI("0000:1b:00.0") DRIVER("ice") "},"
		/* a virtual function, and a VLAN that says its parent's driver */
		"  \"vf\": " LINK(3, PCI("0000:1b:01.0") DRIVER("mlx5_core")) ","
		"  \"v\": {\"index\": 4, \"kind\": \"vlan\", \"lower\": \"x\"" DRIVER("ice") "},"
		/* what the bonding module makes when it is loaded */
		"  \"bond0\": {\"index\": 5, \"kind\": \"bond\", \"up\": false, \"bond\": {\"mode\": \"balance-rr\"}},"
		"  \"ib0\": " LINK(6, "") "},"
		" \"pci\": {\"devices\": {\"0000:1b:01.0\": {\"physfn\": \"0000:1b:00.0\"}}},"
		" \"rdma\": {\"devices\": {"
		"  \"irdma0\": {\"protocol\": \"roce\", \"ports\": {\"1\": {\"state\": \"DOWN\", \"link\": \"off\"}}},"
		"  \"mlx5_9\": {\"protocol\": \"ib\", \"ports\": {\"1\": {\"state\": \"ACTIVE\", \"link\": \"ib0\"}}},"
		"  \"nolink\": {\"protocol\": \"roce\", \"ports\": {\"1\": {\"state\": \"ACTIVE\"}}}}}}");
	const struct site_node *node = site->nodes;

	assert_int_equal(node->n_rdma, 0);
	assert_int_equal(node->n_bonds, 0);
	assert_int_equal(node->n_links, 0);
}

static void test_addresses_on_vlans(void **state RH_UNUSED)
{
	_cleanup_site_ struct site *site = discovered(
		"{\"node\": {\"hostname\": \"n\"},"
		" \"links\": {"
		"  \"e0\": " LINK(2, DRIVER("ice")) ","
		"  \"e0.5\": {\"index\": 3, \"kind\": \"vlan\", \"lower\": \"e0\", \"vlan\": {\"id\": 5}"
		ADDRESS("10.5.0.1") "},"
		"  \"e1\": " LINK(4, DRIVER("ice")) ","
		"  \"e1.1\": {\"index\": 5, \"kind\": \"vlan\", \"lower\": \"e1\"" ADDRESS("10.1.0.1") "},"
		"  \"e1.2\": {\"index\": 6, \"kind\": \"vlan\", \"lower\": \"e1\"" ADDRESS("10.2.0.1") "}}}");
	const struct site_node *node = site->nodes;

	assert_int_equal(node->n_rdma, 2);
	assert_string_equal(site_rdma_find(node, "e0.5")->address, "10.5.0.1");
	assert_string_equal(site_vlan_find(node, "e0.5")->link, "e0");
	assert_int_equal(site_vlan_find(node, "e0.5")->id.value, 5);
	assert_int_equal(site_vlan_find(node, "e0.5")->egress[3], -1);
	/* two VLANs with addresses: nothing tells which is meant */
	assert_null(site_rdma_find(node, "e1")->address);
}

/* Software RDMA on a bond and on a VLAN: neither is a physical link. */
static void test_software_rdma(void **state RH_UNUSED)
{
	_cleanup_site_ struct site *site = discovered(
		"{\"node\": {\"hostname\": \"n\"},"
		" \"links\": {"
		"  \"roce0\": " LINK(2, ", \"master\": \"bond1\"") ","
		"  \"bond1\": {\"index\": 3, \"kind\": \"bond\", \"up\": true,"
		"   \"bond\": {\"mode\": \"802.3ad\"}" ADDRESS("10.10.1.11") "},"
		"  \"bond1.7\": {\"index\": 4, \"kind\": \"vlan\", \"lower\": \"bond1\", \"up\": true,"
		"   \"vlan\": {\"id\": 7}" ADDRESS("10.7.1.11") "}},"
		" \"rdma\": {\"devices\": {"
		"  \"rxe0\": {\"ports\": {\"1\": {\"state\": \"ACTIVE\", \"link\": \"bond1\"}}},"
		"  \"rxe1\": {\"ports\": {\"1\": {\"state\": \"ACTIVE\", \"link\": \"bond1.7\"}}}}}}");
	const struct site_node *node = site->nodes;

	assert_int_equal(node->n_rdma, 2);
	assert_string_equal(site_rdma_find(node, "bond1")->address, "10.10.1.11");
	assert_string_equal(site_rdma_find(node, "bond1.7")->address, "10.7.1.11");
	assert_int_equal(node->n_links, 1);
	assert_string_equal(node->links[0].name, "roce0");
	assert_int_equal(node->n_bonds, 1);
	assert_int_equal(node->n_vlans, 1);
}

/* A device whose link is in another network namespace: found through its PCI function. */
static void test_link_of_the_pci_device(void **state RH_UNUSED)
{
	_cleanup_site_ struct site *site = discovered(
		"{\"node\": {\"hostname\": \"n\"}, \"links\": {\"e0\": " LINK(2, ADDRESS("10.0.0.1")) "},"
		" \"pci\": {\"devices\": {\"0000:1b:00.0\": {\"links\": [\"e0\"]}}},"
		" \"rdma\": {\"devices\": {\"irdma0\": {\"parent_device\": \"0000:1b:00.0\","
		"  \"ports\": {\"1\": {\"state\": \"ACTIVE\"}}}}}}");

	assert_int_equal(site->nodes[0].n_rdma, 1);
	assert_string_equal(site->nodes[0].rdma[0].link, "e0");
}

/* One node per snapshot, in order, whatever the snapshots hold. */
static void test_odd_snapshots(void **state RH_UNUSED)
{
	static const char *const odd[] = {
		"{}", "[]", "{\"links\": [], \"rdma\": 1, \"pci\": \"\", \"gpu\": [], \"node\": []}",
		"{\"node\": {\"hostname\": 5}, \"links\": {\"a\": 1, \"b\": {\"kind\": 7, \"addresses\": {}}},"
		" \"rdma\": {\"devices\": {\"x\": [], \"y\": {\"ports\": {\"1\": {\"link\": 3}}},"
		" \"z\": {\"ports\": {\"1\": {\"link\": \"gone\"}}}}}}",
		"{\"links\": {\"a\": {\"kind\": \"bond\", \"master\": \"a\", \"lower\": \"a\"},"
		" \"v\": {\"kind\": \"vlan\", \"lower\": \"v\", \"addresses\": [1, {}]}},"
		" \"rdma\": {\"devices\": {\"x\": {\"ports\": {\"1\": {\"link\": \"a\"}}}}}}",
		"{\"node\": {\"hostname\": \"n\"}, \"pci\": {\"devices\": {\"x\": {\"vendor\": \"0x10de\","
		" \"class\": \"0x030200\", \"device\": \"\"}, \"y\": {\"vendor\": \"0x10de\","
		" \"class\": \"0x030200\", \"device\": null}}}}",
	};
	json_t *snapshots[ARRAY_SIZE(odd)];
	_cleanup_error_ struct error err = {0};
	_cleanup_site_ struct site *site = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(odd); i++)
		assert_int_equal(json_parse(&snapshots[i], odd[i], strlen(odd[i]), "odd", &err), 0);
	assert_int_equal(site_discover(&site, snapshots, ARRAY_SIZE(odd), &err), 0);
	assert_int_equal(site->n_nodes, ARRAY_SIZE(odd));
	assert_string_equal(site->nodes[0].name, "node-1");
	assert_string_equal(site->nodes[3].name, "node-4");
	assert_string_equal(site->nodes[3].rdma[0].link, "gone");
	assert_int_equal(site->nodes[3].n_links, 0);
	assert_string_equal(site->nodes[5].name, "n");
	assert_int_equal(site->nodes[5].n_gpus, 0);
	for (size_t i = 0; i < ARRAY_SIZE(odd); i++)
		json_decref(snapshots[i]);

	struct site *none;
	assert_int_equal(site_discover(&none, NULL, 0, &err), -EINVAL);
	assert_null(none);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bond_and_gpus),
		cmocka_unit_test(test_vanished_device),
		cmocka_unit_test(test_what_is_left_out),
		cmocka_unit_test(test_addresses_on_vlans),
		cmocka_unit_test(test_software_rdma),
		cmocka_unit_test(test_link_of_the_pci_device),
		cmocka_unit_test(test_odd_snapshots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
