/* SPDX-License-Identifier: Apache-2.0 */
/* From YAML to structs: every key, what profiles and defaults supply, and what is left
 * undeclared. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/strbuf.h"
#include "site/site.h"

#define HEAD "schema: railhead.site/1\nname: x\n"

static struct site *parsed(const char *text)
{
	_cleanup_error_ struct error err = {0};
	struct site *site;

	if (site_parse(&site, text, strlen(text), "s.yaml", &err) < 0)
		fail_msg("%s", error_text(&err));
	return site;
}

static void test_every_key_of_a_node(void **state RH_UNUSED)
{
	_cleanup_site_ struct site *site = parsed(
		HEAD "nodes:\n"
		     "  n:\n"
		     "    roles: [storage, client]\n"
		     "    os: {id: rhel, version: 10.10}\n"
		     "    kernel: 6.12.0-*.el10_2.x86_64\n"
		     "    rdma_core_min: 45.0\n"
		     "    memlock: 64KiB\n"
		     "    rdma_netns: exclusive\n"
		     "    links:\n"
		     "      e0: {pci: 0000:1b:00.0, driver: ice, firmware: 4.80, ddp: ICE LAG Package, speed: 2.5G,\n"
		     "           mtu: 9000, addresses: [192.0.2.1/24]}\n"
		     "      e1: {}\n"
		     "      e2: {}\n"
		     "    bonds:\n"
		     "      b: {mode: 802.3ad, ports: [e2, e1], lacp_rate: fast, xmit_hash_policy: layer3+4,\n"
		     "          mtu: 1500, addresses: [10.0.0.1/8, fd00::1/64]}\n"
		     "    vlans:\n"
		     "      b.5: {link: b, id: 5, mtu: 1400, addresses: [10.5.0.1/24], egress: {0: 1, 3: 4}}\n"
		     "    rdma:\n"
		     "      b.5: {device: irdma0, address: 10.5.0.1, protocol: iwarp, rail: r0, roce_mtu: 4096}\n"
		     "    gpus:\n"
		     "      B300: {pci_id: '10de:3182', count: 8, driver_min: 580.82.07, driver_max: '581'}\n");
	const struct site_node *node = site_node_find(site, "n");

	assert_non_null(node);
	assert_ptr_equal(node, site->nodes);
	assert_int_equal(node->where.line, 4);
	assert_int_equal(node->where.column, 3);
	assert_int_equal(node->roles, SITE_ROLE_STORAGE | SITE_ROLE_CLIENT);
	assert_string_equal(node->os_id, "rhel");
	assert_string_equal(node->os_version, "10.10"); /* text, not the number 10.1 */
	assert_string_equal(node->kernel, "6.12.0-*.el10_2.x86_64");
	assert_string_equal(node->rdma_core_min, "45.0");
	assert_true(node->memlock_bytes.set);
	assert_int_equal(node->memlock_bytes.value, 65536);
	assert_string_equal(node->rdma_netns, "exclusive");

	assert_int_equal(node->n_links, 3);
	const struct site_link *link = site_link_find(node, "e0");
	assert_string_equal(link->pci, "0000:1b:00.0");
	assert_string_equal(link->driver, "ice");
	assert_string_equal(link->firmware, "4.80");
	assert_string_equal(link->ddp, "ICE LAG Package");
	assert_int_equal(link->speed_mbps.value, 2500);
	assert_int_equal(link->mtu.value, 9000);
	assert_string_equal(link->addresses[0], "192.0.2.1/24");
	assert_null(link->addresses[1]);
	assert_int_equal(link->where.line, 12);
	link = site_link_find(node, "e1");
	assert_null(link->pci);
	assert_null(link->addresses);
	assert_false(link->speed_mbps.set);
	assert_false(link->mtu.set);

	assert_int_equal(node->n_bonds, 1);
	const struct site_bond *bond = site_bond_find(node, "b");
	assert_string_equal(bond->mode, "802.3ad");
	assert_string_equal(bond->ports[0], "e2");
	assert_string_equal(bond->ports[1], "e1");
	assert_null(bond->ports[2]);
	assert_string_equal(bond->lacp_rate, "fast");
	assert_string_equal(bond->xmit_hash_policy, "layer3+4");
	assert_int_equal(bond->mtu.value, 1500);
	assert_string_equal(bond->addresses[1], "fd00::1/64");

	const struct site_vlan *vlan = site_vlan_find(node, "b.5");
	assert_string_equal(vlan->link, "b");
	assert_int_equal(vlan->id.value, 5);
	assert_int_equal(vlan->mtu.value, 1400);
	assert_int_equal(vlan->egress[0], 1);
	assert_int_equal(vlan->egress[1], -1);
	assert_int_equal(vlan->egress[3], 4);
	assert_int_equal(vlan->egress[7], -1);

	const struct site_rdma *rdma = site_rdma_find(node, "b.5");
	assert_string_equal(rdma->device, "irdma0");
	assert_string_equal(rdma->address, "10.5.0.1");
	assert_string_equal(rdma->protocol, "iwarp");
	assert_string_equal(rdma->rail, "r0");
	assert_int_equal(rdma->roce_mtu.value, 4096);
	assert_int_equal(rdma->where.line, 22);

	assert_int_equal(node->n_gpus, 1);
	assert_string_equal(node->gpus[0].model, "B300");
	assert_string_equal(node->gpus[0].pci_id, "10de:3182");
	assert_int_equal(node->gpus[0].count.value, 8);
	assert_string_equal(node->gpus[0].driver_min, "580.82.07");
	assert_string_equal(node->gpus[0].driver_max, "581");

	assert_null(site_node_find(site, "m"));
	assert_null(site_bond_find(node, "e0"));
	assert_null(site_link_find(node, NULL));
}

static void test_qos(void **state RH_UNUSED)
{
	_cleanup_site_ struct site *site = parsed(
		HEAD "qos:\n  {dscp: 24, priority: 3, traffic_class: 3, bandwidth: 50%, prio_tc: {0: 0, 3: 3},\n"
		     "   tc_bandwidth: {0: 50%, 3: 50}, pfc: true, ecn: false}\nnodes: {a: {}}\n");
	const struct site_qos *qos = &site->qos;

	assert_true(qos->declared);
	assert_int_equal(qos->where.line, 3);
	assert_int_equal(qos->dscp.value, 24);
	assert_int_equal(qos->priority.value, 3);
	assert_int_equal(qos->traffic_class.value, 3);
	assert_int_equal(qos->bandwidth_percent.value, 50);
	assert_int_equal(qos->prio_tc[0], 0);
	assert_int_equal(qos->prio_tc[1], -1);
	assert_int_equal(qos->prio_tc[3], 3);
	assert_int_equal(qos->tc_bandwidth[0], 50);
	assert_int_equal(qos->tc_bandwidth[3], 50);
	assert_int_equal(qos->tc_bandwidth[7], -1);
	assert_true(qos->pfc.set && qos->pfc.value);
	assert_true(qos->ecn.set && !qos->ecn.value);
	assert_false(qos->dcb.set);
}

static void test_what_is_not_declared(void **state RH_UNUSED)
{
	_cleanup_site_ struct site *site = parsed(HEAD "nodes: {a: {}}\n");
	const struct site_node *node = site->nodes;

	assert_string_equal(site->path, "s.yaml");
	assert_string_equal(site->name, "x");
	assert_false(site->assumed);
	assert_false(site->qos.declared);
	assert_int_equal(site->qos.prio_tc[0], -1);
	assert_int_equal(site->qos.tc_bandwidth[0], -1);
	assert_false(site->kubernetes || site->storage || site->workload || site->gpudirect);
	assert_null(site->kubernetes_version);
	assert_int_equal(node->roles, SITE_ROLE_CLIENT);
	assert_null(node->os_id);
	assert_null(node->kernel);
	assert_null(node->rdma_netns);
	assert_false(node->memlock_bytes.set);
	assert_int_equal(
		node->n_links + node->n_bonds + node->n_vlans + node->n_rdma + node->n_gpus, 0);
}

static void test_defaults_of_the_reference(void **state RH_UNUSED)
{
	_cleanup_site_ struct site *site = parsed(
		HEAD "kubernetes: {version: 1.33.10}\nstorage: {}\nworkload: {}\n"
		     "nodes:\n  a:\n    memlock: unlimited\n    gpus: {B300: {count: 8}}\n"
		     "    links: {e0: {addresses: [10.0.0.1/8, 10.0.0.2/8]}, e1: {}}\n"
		     "    rdma: {e0: {}, e1: {}}\n");
	const struct site_node *node = site->nodes;

	assert_true(site->kubernetes && site->storage && site->workload);
	assert_string_equal(site->kubernetes_version, "1.33.10");
	assert_true(site->gpudirect);
	assert_int_equal(node->roles, SITE_ROLE_GPU);
	assert_int_equal(node->memlock_bytes.value, -1);
	assert_string_equal(site_rdma_find(node, "e0")->address, "10.0.0.1");
	assert_string_equal(site_rdma_find(node, "e0")->protocol, "roce");
	assert_null(site_rdma_find(node, "e0")->device);
	assert_null(site_rdma_find(node, "e1")->address);

	_cleanup_site_ struct site *tcp =
		parsed(HEAD "gpudirect: false\nnodes: {a: {gpus: {B300: {count: 8}}}}\n");
	assert_false(tcp->gpudirect);
}

static void test_layers(void **state RH_UNUSED)
{
	_cleanup_site_ struct site *site = parsed(
		HEAD "defaults:\n  memlock: unlimited\n  kernel: default\n  links: {e0: {mtu: 1500}, e1: {}}\n"
		     "profiles:\n"
		     "  base: {kernel: base, rdma_netns: shared, links: {e0: {driver: ice, mtu: 9000}}}\n"
		     "  gpu:\n    extends: base\n    roles: [gpu]\n"
		     "    bonds: {b: {mode: 802.3ad, ports: [e0, e1]}}\n"
		     "nodes:\n"
		     "  a: {profile: gpu, links: {e0: {mtu: 4000}, e2: {}}, bonds: {b: {ports: [e2]}}}\n"
		     "  b: {}\n");
	const struct site_node *a = site_node_find(site, "a"), *b = site_node_find(site, "b");

	assert_int_equal(a->memlock_bytes.value, -1);
	assert_string_equal(a->kernel, "base");
	assert_string_equal(a->rdma_netns, "shared");
	assert_int_equal(a->roles, SITE_ROLE_GPU);
	/* maps are merged, the lower layer's order first */
	assert_int_equal(a->n_links, 3);
	assert_string_equal(a->links[0].name, "e0");
	assert_string_equal(a->links[0].driver, "ice");
	assert_int_equal(a->links[0].mtu.value, 4000);
	assert_string_equal(a->links[1].name, "e1");
	assert_string_equal(a->links[2].name, "e2");
	/* lists replace */
	assert_string_equal(a->bonds[0].mode, "802.3ad");
	assert_string_equal(a->bonds[0].ports[0], "e2");
	assert_null(a->bonds[0].ports[1]);
	/* without a profile: the defaults alone */
	assert_string_equal(b->kernel, "default");
	assert_int_equal(b->links[0].mtu.value, 1500);
	assert_null(b->links[0].driver);
	assert_int_equal(b->n_bonds, 0);
}

static void test_document(void **state RH_UNUSED)
{
	_cleanup_site_ struct site *site = parsed(
		HEAD "profiles: {p: {os: {version: 10.10}, links: {e0: {speed: 100G, mtu: 9000}}}}\n"
		     "nodes:\n  a: {profile: p, ssh: {address: 10.0.0.1, port: 22}, labels: {x: true}}\n"
		     "qos: {pfc: true}\n");
	_cleanup_free_ char *text = json_to_text(site->document, false);

	/* nodes with their profiles; numbers and truth values typed by the schema; units kept */
	assert_string_equal(
		text,
		"{\"schema\":\"railhead.site/1\",\"name\":\"x\","
		"\"profiles\":{\"p\":{\"os\":{\"version\":\"10.10\"},"
		"\"links\":{\"e0\":{\"speed\":\"100G\",\"mtu\":9000}}}},"
		"\"nodes\":{\"a\":{\"os\":{\"version\":\"10.10\"},"
		"\"links\":{\"e0\":{\"speed\":\"100G\",\"mtu\":9000}},"
		"\"profile\":\"p\",\"ssh\":{\"address\":\"10.0.0.1\",\"port\":22},\"labels\":{\"x\":\"true\"}}},"
		"\"qos\":{\"pfc\":true}}");
}

/* One anchor read as text in one place and as a number in another. */
static void test_aliases(void **state RH_UNUSED)
{
	_cleanup_site_ struct site *site = parsed(
		HEAD "defaults: {labels: {size: &s 9000}, links: &l {e0: {mtu: *s}}}\n"
		     "nodes:\n  a: {}\n  b: {links: *l}\n");

	assert_int_equal(site->nodes[0].links[0].mtu.value, 9000);
	assert_int_equal(site->nodes[1].links[0].mtu.value, 9000);
	assert_string_equal(json_string_value(json_at(site->document, "/nodes/b/labels/size")), "9000");
	assert_int_equal(json_integer_value(json_at(site->document, "/nodes/b/links/e0/mtu")), 9000);
}

static void test_yaml_in_other_clothes(void **state RH_UNUSED)
{
	static const char *const same[] = {
		"\xef\xbb\xbfschema: railhead.site/1\nname: x\nnodes: {a: {kernel: k}}\n",
		"schema: railhead.site/1\r\nname: x\r\nnodes:\r\n  a:\r\n    kernel: k\r\n",
		"%YAML 1.1\n---\n\"schema\": 'railhead.site/1'\nname: !!str x\nnodes: {a: {kernel: k}}\n...\n",
		"{\"schema\": \"railhead.site/1\", \"name\": \"x\", \"nodes\": {\"a\": {\"kernel\": \"k\"}}}",
	};

	for (size_t i = 0; i < ARRAY_SIZE(same); i++) {
		_cleanup_site_ struct site *site = parsed(same[i]);

		assert_string_equal(site->name, "x");
		assert_string_equal(site->nodes[0].kernel, "k");
	}
}

static void test_thousand_nodes(void **state RH_UNUSED)
{
	_cleanup_strbuf_ struct strbuf b = {0};
	struct timespec before, after;

	strbuf_puts(&b, HEAD "profiles:\n  gpu-node:\n    memlock: unlimited\n"
			     "    links: {e0: {driver: ice, mtu: 9000}, e1: {driver: ice, mtu: 9000}}\n"
			     "    bonds: {bond1: {mode: 802.3ad, ports: [e0, e1], mtu: 9000}}\n"
			     "    rdma: {bond1: {rail: r0}}\n    gpus: {B300: {count: 8}}\nnodes:\n");
	for (unsigned i = 0; i < 1000; i++)
		strbuf_printf(&b, "  gpu-%03u: {profile: gpu-node, bonds: {bond1: {addresses: [10.0.%u.%u/16]}}}\n",
			      i, i / 250, i % 250 + 1);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
	_cleanup_site_ struct site *site = parsed(strbuf_str(&b));
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);

	assert_int_equal(site->n_nodes, 1000);
	assert_string_equal(site->nodes[999].name, "gpu-999");
	assert_string_equal(site->nodes[999].rdma[0].address, "10.0.3.250");
	assert_int_equal(site->nodes[999].gpus[0].count.value, 8);
	/* 0.05 s without a sanitizer */
	assert_true(after.tv_sec - before.tv_sec < 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_key_of_a_node),
		cmocka_unit_test(test_qos),
		cmocka_unit_test(test_what_is_not_declared),
		cmocka_unit_test(test_defaults_of_the_reference),
		cmocka_unit_test(test_layers),
		cmocka_unit_test(test_document),
		cmocka_unit_test(test_aliases),
		cmocka_unit_test(test_yaml_in_other_clothes),
		cmocka_unit_test(test_thousand_nodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
