/* SPDX-License-Identifier: Apache-2.0 */
/* Which links lie below which, and which RDMA device belongs to a port. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "judge/subject.h"

#define TEXT(s) ((char *)(uintptr_t)(s))

static json_t *snapshot_of(const char *text)
{
	json_error_t why;
	json_t *s = json_loads(text, 0, &why);

	if (!s)
		fail_msg("%s", why.text);
	return s;
}

static const char stack[] =
	"{\"links\": { \"bond1\": {\"kind\": \"bond\", \"bond\": {\"mode\": \"802.3ad\"}}, "
	"\"bond1.7\": {\"kind\": \"vlan\", \"lower\": \"bond1\", \"vlan\": {\"id\": 7}}, "
	"\"bond1.7.8\": {\"kind\": \"vlan\", \"lower\": \"bond1.7\", \"vlan\": {\"id\": 8}}, "
	"\"a\": {\"master\": \"bond1\", \"parent_bus\": \"pci\", \"parent_device\": "
	"\"0000:01:00.0\"}, \"b\": {\"master\": \"bond1\", \"ethtool\": {\"bus_info\": "
	"\"0000:01:00.1\", \"driver\": \"ice\"}}, \"br0\": {\"kind\": \"bridge\"}, \"c\": "
	"{\"master\": \"br0\", \"parent_bus\": \"virtio\", \"parent_device\": \"virtio0\",         "
	"\"ethtool\": {\"driver\": \"virtio_net\", \"bus_info\": \"virtio0\"}}, \"x\": {\"kind\": "
	"\"vlan\", \"lower\": \"y\", \"vlan\": {}}, \"y\": {\"kind\": \"vlan\", \"lower\": \"x\", "
	"\"vlan\": {}}}, \"pci\": {\"devices\": {\"0000:00:03.0\": {\"links\": [\"c\"], "
	"\"driver\": \"virtio-pci\"},                         \"0000:01:00.0\": {\"driver\": "
	"\"ice\"}}}, \"rdma\": {\"devices\": {\"rdma0\": {\"parent_device\": \"0000:01:00.0\",     "
	"                     \"ports\": {\"1\": {\"state\": \"ACTIVE\"}}}}}}";

static void links(void **state)
{
	json_t *s = snapshot_of(stack);

	(void)state;
	assert_string_equal(subject_base_link(s, "bond1.7.8"), "bond1");
	assert_string_equal(subject_base_link(s, "bond1"), "bond1");
	assert_string_equal(subject_base_link(s, "nothing"), "nothing");
	assert_non_null(subject_base_link(s, "x")); /* a loop of VLANs ends */
	assert_string_equal(subject_bond_of(s, "a"), "bond1");
	assert_null(subject_bond_of(s, "c")); /* a bridge is no bond */
	assert_null(subject_bond_of(s, "bond1"));
	assert_string_equal(subject_pci_of_link(s, "a"), "0000:01:00.0");
	assert_string_equal(subject_pci_of_link(s, "b"), "0000:01:00.1");
	assert_string_equal(subject_pci_of_link(s, "c"), "0000:00:03.0");
	assert_null(subject_pci_of_link(s, "bond1"));
	assert_string_equal(subject_driver_of_link(s, "a"), "ice");
	assert_string_equal(subject_virtual_driver(s, "c"), "virtio_net");
	assert_null(subject_virtual_driver(s, "a"));
	assert_null(subject_virtual_driver(s, "nothing"));
	json_decref(s);
}

static void bdf(void **state)
{
	(void)state;
	assert_true(subject_is_bdf("0000:1b:00.0"));
	assert_false(subject_is_bdf("0000:1b:00.0 "));
	assert_false(subject_is_bdf("0000:1b:00"));
	assert_false(subject_is_bdf("0000:1B:00.0"));
	assert_false(subject_is_bdf("virtio0"));
	assert_false(subject_is_bdf(""));
	assert_false(subject_is_bdf(NULL));
	assert_true(subject_same_pci_device("0000:1b:00.0", "0000:1b:00.7"));
	assert_false(subject_same_pci_device("0000:1b:00.0", "0000:1b:01.0"));
	assert_false(subject_same_pci_device("0000:1b:00.0", "10000:1b:00.0"));
}

static void physical(void **state)
{
	json_t *s = snapshot_of(stack), *empty = json_object();
	char *ports[] = { TEXT("b"), TEXT("gone"), NULL };
	struct site_bond bond = { .name = TEXT("bond1"), .ports = ports };
	struct site_vlan vlan = { .name = TEXT("bond1.9"), .link = TEXT("bond1") };
	struct site_node node = { .bonds = &bond, .n_bonds = 1, .vlans = &vlan, .n_vlans = 1 };
	char **names;

	(void)state;
	names = subject_physical_links(NULL, s, "bond1.7");
	assert_string_equal(names[0], "a");
	assert_string_equal(names[1], "b");
	assert_null(names[2]);
	strings_free(names);

	/* declared ones first, in their order, also when they are not there */
	names = subject_physical_links(&node, s, "bond1");
	assert_string_equal(names[0], "b");
	assert_string_equal(names[1], "gone");
	assert_string_equal(names[2], "a");
	assert_null(names[3]);
	strings_free(names);

	/* from the declaration alone */
	names = subject_physical_links(&node, empty, "bond1.9");
	assert_string_equal(names[0], "b");
	strings_free(names);

	names = subject_physical_links(&node, s, "c");
	assert_string_equal(names[0], "c");
	assert_null(names[1]);
	strings_free(names);
	json_decref(s);
	json_decref(empty);
}

static void rdma(void **state)
{
	json_t *s = snapshot_of(stack);
	struct site_rdma port = { .link = TEXT("bond1.7") };
	struct subject_rdma found;

	(void)state;
	/* no netdev told: by the PCI function of a bond port */
	assert_true(subject_rdma_of_port(s, NULL, &port, &found));
	assert_string_equal(found.device, "rdma0");
	assert_string_equal(found.port, "1");

	/* the device of the link itself comes first, a port's later */
	json_object_set_new(json_at(s, "/rdma/devices"), "member",
			    json_pack("{s:{s:{s:s}}}", "ports", "1", "link", "a"));
	assert_true(subject_rdma_of_port(s, NULL, &port, &found));
	assert_string_equal(found.device, "member");
	json_object_set_new(json_at(s, "/rdma/devices"), "whole",
			    json_pack("{s:{s:{s:s}}}", "ports", "2", "link", "bond1"));
	assert_true(subject_rdma_of_port(s, NULL, &port, &found));
	assert_string_equal(found.device, "whole");
	assert_string_equal(found.port, "2");

	/* the declared name before all */
	port.device = TEXT("rdma0");
	assert_true(subject_rdma_of_port(s, NULL, &port, &found));
	assert_string_equal(found.device, "rdma0");
	port.device = TEXT("not-there");
	assert_true(subject_rdma_of_port(s, NULL, &port, &found));
	assert_string_equal(found.device, "whole");

	port.link = TEXT("c");
	assert_false(subject_rdma_of_port(s, NULL, &port, &found));
	assert_null(found.device);
	json_decref(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(links),
		cmocka_unit_test(bdf),
		cmocka_unit_test(physical),
		cmocka_unit_test(rdma),
	};

	return cmocka_run_group_tests_name("subject", tests, NULL, NULL);
}
