/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if.h>
#include <linux/if_bonding.h>
#include <linux/if_link.h>
#include <linux/if_vlan.h>
#include <linux/rtnetlink.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "observe/links.h"
#include "tests/observe/message.h"

static void start_link(struct message *m, int index, const char *name)
{
	struct ifinfomsg *ifi = message_start(m, RTM_NEWLINK, sizeof(*ifi));

	ifi->ifi_index = index;
	ifi->ifi_flags = IFF_UP;
	mnl_attr_put_strz(m->nlh, IFLA_IFNAME, name);
}

static struct nlattr *start_info(struct message *m, const char *kind, struct nlattr **info)
{
	*info = mnl_attr_nest_start(m->nlh, IFLA_LINKINFO);
	mnl_attr_put_strz(m->nlh, IFLA_INFO_KIND, kind);
	return mnl_attr_nest_start(m->nlh, IFLA_INFO_DATA);
}

static void end_info(struct message *m, struct nlattr *info, struct nlattr *data)
{
	mnl_attr_nest_end(m->nlh, data);
	mnl_attr_nest_end(m->nlh, info);
}

static void test_plain_link(void **state RH_UNUSED)
{
	static const uint8_t mac[] = {0x02, 0xfc, 0, 0, 0, 1};
	const uint64_t stats[24] = {10, 20, 1000, UINT64_MAX, 1, 2, 3, 4};
	struct observation o;
	struct links_dump dump = {.o = &o};
	struct nlattr *list;
	struct message m;

	observation_start(&o);
	start_link(&m, 7, "ens1f0np0");
	mnl_attr_put_u32(m.nlh, IFLA_MTU, 9000);
	mnl_attr_put(m.nlh, IFLA_ADDRESS, sizeof(mac), mac);
	mnl_attr_put_u8(m.nlh, IFLA_OPERSTATE, 6);
	mnl_attr_put_u8(m.nlh, IFLA_CARRIER, 1);
	mnl_attr_put(m.nlh, IFLA_STATS64, sizeof(stats), stats);
	mnl_attr_put_strz(m.nlh, IFLA_PARENT_DEV_NAME, "0000:01:00.0");
	mnl_attr_put_strz(m.nlh, IFLA_PARENT_DEV_BUS_NAME, "pci");
	list = mnl_attr_nest_start(m.nlh, IFLA_PROP_LIST);
	mnl_attr_put_strz(m.nlh, IFLA_ALT_IFNAME, "enp1s0f0np0");
	mnl_attr_put_strz(m.nlh, IFLA_ALT_IFNAME, "rail0");
	mnl_attr_nest_end(m.nlh, list);
	message_parse(&m, 0, links_parse_link, &dump);

	assert_int_equal(gaps(&o), 0);
	assert_fact(&o, "/links/ens1f0np0/index", "7");
	assert_fact(&o, "/links/ens1f0np0/mtu", "9000");
	assert_fact(&o, "/links/ens1f0np0/mac", "\"02:fc:00:00:00:01\"");
	assert_fact(&o, "/links/ens1f0np0/kind", "\"\"");
	assert_fact(&o, "/links/ens1f0np0/up", "true");
	assert_fact(&o, "/links/ens1f0np0/operstate", "\"up\"");
	assert_fact(&o, "/links/ens1f0np0/parent_bus", "\"pci\"");
	assert_fact(&o, "/links/ens1f0np0/parent_device", "\"0000:01:00.0\"");
	assert_fact(&o, "/links/ens1f0np0/alternative_names", "[\"enp1s0f0np0\", \"rail0\"]");
	assert_fact(&o, "/links/ens1f0np0/statistics",
		    "{\"rx_bytes\": 1000, \"tx_bytes\": \"18446744073709551615\", \"rx_packets\": 10,"
		    "\"tx_packets\": 20, \"rx_errors\": 1, \"tx_errors\": 2, \"rx_dropped\": 3,"
		    "\"tx_dropped\": 4}");
	assert_absent(&o, "/links/ens1f0np0/master");
	assert_absent(&o, "/links/ens1f0np0/permanent_mac");
	message_parse_cut(&m, &o, links_parse_link, &dump);
	links_dump_clear(&dump);
	observation_end(&o);
}

static void test_attributes_of_wrong_form(void **state RH_UNUSED)
{
	const uint64_t stats[7] = {1};
	struct observation o;
	struct links_dump dump = {.o = &o};
	struct message m;

	observation_start(&o);
	start_link(&m, 7, "eth0");
	mnl_attr_put_u16(m.nlh, IFLA_MTU, 9000);
	mnl_attr_put_u32(m.nlh, IFLA_CARRIER, 1);
	mnl_attr_put(m.nlh, IFLA_STATS64, sizeof(stats), stats);
	mnl_attr_put(m.nlh, IFLA_LINKINFO, 2, "xy");
	message_parse(&m, 0, links_parse_link, &dump);
	assert_int_equal(gaps(&o), 1);
	assert_fact(&o, "/gaps/0/pointer", "\"/links/eth0\"");
	assert_fact(&o, "/gaps/0/errno", "74");
	assert_absent(&o, "/links/eth0/mtu");
	assert_absent(&o, "/links/eth0/carrier");
	assert_absent(&o, "/links/eth0/statistics");
	assert_absent(&o, "/links/eth0/kind"); /* not seen is not "plain device" */
	links_dump_clear(&dump);
	observation_end(&o);
}

static void test_name_of_odd_bytes(void **state RH_UNUSED)
{
	struct observation o;
	struct links_dump dump = {.o = &o};
	struct message m;

	observation_start(&o);
	start_link(&m, 3, "a\x1b[2J\xfe");
	message_parse(&m, 0, links_parse_link, &dump);
	assert_fact(&o, "/links/a\\x1b[2J\\xfe/index", "3");

	message_start(&m, RTM_NEWLINK, sizeof(struct ifinfomsg)); /* no name at all */
	message_parse(&m, 0, links_parse_link, &dump);
	assert_fact(&o, "/gaps/0/pointer", "\"/links\"");
	observation_end(&o);
}

static void put_map(struct message *m, uint16_t type, const struct ifla_vlan_qos_mapping *maps,
		    size_t n)
{
	struct nlattr *list = mnl_attr_nest_start(m->nlh, type);

	for (size_t i = 0; i < n; i++)
		mnl_attr_put(m->nlh, IFLA_VLAN_QOS_MAPPING, sizeof(*maps), &maps[i]);
	mnl_attr_nest_end(m->nlh, list);
}

static void test_vlan(void **state RH_UNUSED)
{
	const struct ifla_vlan_qos_mapping egress[] = {{3, 3}, {4294967295u, 7}};
	struct observation o;
	struct links_dump dump = {.o = &o};
	struct nlattr *info, *data;
	struct message m;

	observation_start(&o);
	start_link(&m, 5, "bond1.100");
	mnl_attr_put_u32(m.nlh, IFLA_LINK, 4);
	data = start_info(&m, "vlan", &info);
	mnl_attr_put_u16(m.nlh, IFLA_VLAN_ID, 100);
	mnl_attr_put_u16(m.nlh, IFLA_VLAN_PROTOCOL, htons(0x8100));
	put_map(&m, IFLA_VLAN_EGRESS_QOS, egress, ARRAY_SIZE(egress));
	end_info(&m, info, data);
	message_parse(&m, 0, links_parse_link, &dump);
	message_parse_cut(&m, &o, links_parse_link, &dump);
	links_dump_clear(&dump);
	dump.o = &o;
	message_parse(&m, 0, links_parse_link, &dump);
	start_link(&m, 4, "bond1");
	message_parse(&m, 0, links_parse_link, &dump);
	links_resolve(&dump);

	assert_int_equal(gaps(&o), 0);
	assert_fact(&o, "/links/bond1.100/kind", "\"vlan\"");
	assert_fact(&o, "/links/bond1.100/lower", "\"bond1\"");
	assert_fact(&o, "/links/bond1.100/vlan",
		    "{\"id\": 100, \"protocol\": \"802.1Q\", \"ingress\": {},"
		    "\"egress\": {\"3\": 3, \"4294967295\": 7}}");
	links_dump_clear(&dump);
	observation_end(&o);
}

static void test_vlan_with_broken_map(void **state RH_UNUSED)
{
	struct observation o;
	struct links_dump dump = {.o = &o};
	struct nlattr *info, *data, *list;
	struct message m;

	observation_start(&o);
	start_link(&m, 5, "v");
	data = start_info(&m, "vlan", &info);
	mnl_attr_put_u16(m.nlh, IFLA_VLAN_ID, 100);
	list = mnl_attr_nest_start(m.nlh, IFLA_VLAN_EGRESS_QOS);
	mnl_attr_put_u32(m.nlh, IFLA_VLAN_QOS_MAPPING, 3); /* half a mapping */
	mnl_attr_nest_end(m.nlh, list);
	end_info(&m, info, data);
	message_parse(&m, 0, links_parse_link, &dump);
	assert_fact(&o, "/links/v/vlan", "{\"id\": 100, \"ingress\": {}}");
	assert_int_equal(gaps(&o), 1);
	observation_end(&o);
}

/* "parent" of `index` in another namespace, and a device that names itself */
static void test_lower_elsewhere(void **state RH_UNUSED)
{
	struct observation o;
	struct links_dump dump = {.o = &o};
	struct message m;

	observation_start(&o);
	start_link(&m, 2, "eth0");
	mnl_attr_put_u32(m.nlh, IFLA_LINK, 3);
	mnl_attr_put_u32(m.nlh, IFLA_LINK_NETNSID, 0);
	message_parse(&m, 0, links_parse_link, &dump);
	start_link(&m, 3, "self");
	mnl_attr_put_u32(m.nlh, IFLA_LINK, 3);
	message_parse(&m, 0, links_parse_link, &dump);
	links_resolve(&dump);
	assert_absent(&o, "/links/eth0/lower");
	assert_absent(&o, "/links/self/lower");
	links_dump_clear(&dump);
	observation_end(&o);
}

static void put_bond(struct message *m, int index, const char *name, bool with_aggregator)
{
	static const uint8_t partner[] = {0, 0, 0x5e, 0, 1, 1};
	struct nlattr *info, *data, *ad;

	start_link(m, index, name);
	data = start_info(m, "bond", &info);
	mnl_attr_put_u8(m->nlh, IFLA_BOND_MODE, BOND_MODE_8023AD);
	mnl_attr_put_u32(m->nlh, IFLA_BOND_MIIMON, 100);
	mnl_attr_put_u8(m->nlh, IFLA_BOND_XMIT_HASH_POLICY, 1);
	mnl_attr_put_u32(m->nlh, IFLA_BOND_MIN_LINKS, 0);
	mnl_attr_put_u8(m->nlh, IFLA_BOND_AD_LACP_RATE, 1);
	mnl_attr_put_u8(m->nlh, IFLA_BOND_AD_LACP_ACTIVE, 1);
	mnl_attr_put_u8(m->nlh, IFLA_BOND_AD_SELECT, 0);
	mnl_attr_put_u32(m->nlh, IFLA_BOND_PRIMARY, 2);
	mnl_attr_put_u32(m->nlh, IFLA_BOND_ACTIVE_SLAVE, 99); /* unknown */
	if (with_aggregator) {
		ad = mnl_attr_nest_start(m->nlh, IFLA_BOND_AD_INFO);
		mnl_attr_put_u16(m->nlh, IFLA_BOND_AD_INFO_AGGREGATOR, 1);
		mnl_attr_put_u16(m->nlh, IFLA_BOND_AD_INFO_NUM_PORTS, 2);
		mnl_attr_put_u16(m->nlh, IFLA_BOND_AD_INFO_ACTOR_KEY, 65505);
		mnl_attr_put_u16(m->nlh, IFLA_BOND_AD_INFO_PARTNER_KEY, 66);
		mnl_attr_put(m->nlh, IFLA_BOND_AD_INFO_PARTNER_MAC, sizeof(partner), partner);
		mnl_attr_nest_end(m->nlh, ad);
	}
	end_info(m, info, data);
}

static void test_bond(void **state RH_UNUSED)
{
	struct observation o;
	struct links_dump dump = {.o = &o};
	struct message m;

	observation_start(&o);
	put_bond(&m, 4, "bond1", true);
	message_parse(&m, 0, links_parse_link, &dump);
	message_parse_cut(&m, &o, links_parse_link, &dump);
	links_dump_clear(&dump);
	dump.o = &o;
	message_parse(&m, 0, links_parse_link, &dump);
	start_link(&m, 2, "reth0");
	message_parse(&m, 0, links_parse_link, &dump);
	links_resolve(&dump);
	assert_int_equal(gaps(&o), 0);
	assert_fact(&o, "/links/bond1/bond",
		    "{\"mode\": \"802.3ad\", \"miimon_ms\": 100, \"lacp_rate\": \"fast\","
		    "\"lacp_active\": true, \"xmit_hash_policy\": \"layer3+4\", \"ad_select\": \"stable\","
		    "\"min_links\": 0, \"primary\": \"reth0\", \"aggregator\": {\"id\": 1, \"ports\": 2,"
		    "\"actor_key\": 65505, \"partner_key\": 66, \"partner_mac\": \"00:00:5e:00:01:01\"}}");
	links_dump_clear(&dump);
	observation_end(&o);
}

static void test_bond_without_aggregator(void **state RH_UNUSED)
{
	struct observation o;
	struct links_dump dump = {.o = &o};
	struct nlattr *info, *data;
	struct message m;

	observation_start(&o);
	put_bond(&m, 4, "bond1", false);
	message_parse(&m, 0, links_parse_link, &dump);
	assert_fact(&o, "/links/bond1/bond/aggregator", "{}");

	/* other modes have none */
	start_link(&m, 6, "bond3");
	data = start_info(&m, "bond", &info);
	mnl_attr_put_u8(m.nlh, IFLA_BOND_MODE, BOND_MODE_ACTIVEBACKUP);
	end_info(&m, info, data);
	message_parse(&m, 0, links_parse_link, &dump);
	assert_fact(&o, "/links/bond3/bond", "{\"mode\": \"active-backup\"}");

	/* a mode of a newer kernel, and an aggregator that is no nest: nothing is claimed of it */
	start_link(&m, 5, "bond2");
	data = start_info(&m, "bond", &info);
	mnl_attr_put_u8(m.nlh, IFLA_BOND_MODE, 42);
	mnl_attr_put_u8(m.nlh, IFLA_BOND_AD_INFO, 1);
	end_info(&m, info, data);
	message_parse(&m, 0, links_parse_link, &dump);
	assert_fact(&o, "/links/bond2/bond", "{\"mode\": \"42\"}");
	assert_int_equal(gaps(&o), 1);
	links_dump_clear(&dump);
	observation_end(&o);
}

static void test_bond_port(void **state RH_UNUSED)
{
	static const uint8_t mac[] = {0xb4, 0x96, 0x91, 0, 0, 1};
	struct observation o;
	struct links_dump dump = {.o = &o};
	struct nlattr *info, *data;
	struct message m;

	observation_start(&o);
	start_link(&m, 2, "reth0");
	mnl_attr_put_u32(m.nlh, IFLA_MASTER, 4);
	info = mnl_attr_nest_start(m.nlh, IFLA_LINKINFO);
	mnl_attr_put_strz(m.nlh, IFLA_INFO_SLAVE_KIND, "bond");
	data = mnl_attr_nest_start(m.nlh, IFLA_INFO_SLAVE_DATA);
	mnl_attr_put_u8(m.nlh, IFLA_BOND_SLAVE_STATE, 0);
	mnl_attr_put_u8(m.nlh, IFLA_BOND_SLAVE_MII_STATUS, 2);
	mnl_attr_put_u32(m.nlh, IFLA_BOND_SLAVE_LINK_FAILURE_COUNT, 3);
	mnl_attr_put(m.nlh, IFLA_BOND_SLAVE_PERM_HWADDR, sizeof(mac), mac);
	mnl_attr_put_u16(m.nlh, IFLA_BOND_SLAVE_AD_AGGREGATOR_ID, 1);
	mnl_attr_put_u8(m.nlh, IFLA_BOND_SLAVE_AD_ACTOR_OPER_PORT_STATE, 61);
	mnl_attr_put_u16(m.nlh, IFLA_BOND_SLAVE_AD_PARTNER_OPER_PORT_STATE, 69);
	end_info(&m, info, data);
	message_parse(&m, 0, links_parse_link, &dump);
	put_bond(&m, 4, "bond1", true);
	message_parse(&m, 0, links_parse_link, &dump);
	links_resolve(&dump);
	assert_fact(&o, "/links/reth0/kind", "\"\"");
	assert_fact(&o, "/links/reth0/master", "\"bond1\"");
	assert_fact(&o, "/links/reth0/bond_port",
		    "{\"state\": \"active\", \"mii\": \"down\", \"failures\": 3,"
		    "\"permanent_mac\": \"b4:96:91:00:00:01\", \"aggregator_id\": 1,"
		    "\"actor_state\": 61, \"partner_state\": 69}");
	assert_fact(&o, "/links/bond1/bond/primary", "\"reth0\"");
	links_dump_clear(&dump);
	observation_end(&o);
}

/* A link that is renamed during the dump may leave its name to another: the last message counts. */
static void test_name_twice(void **state RH_UNUSED)
{
	struct observation o;
	struct links_dump dump = {.o = &o};
	struct message m;

	observation_start(&o);
	put_bond(&m, 4, "bond1", true);
	message_parse(&m, 0, links_parse_link, &dump);
	for (int index = 5; index < 7; index++) {
		start_link(&m, index, "eth0");
		mnl_attr_put_u32(m.nlh, IFLA_MASTER, 4);
		message_parse(&m, 0, links_parse_link, &dump);
	}
	/* the first one is out of the snapshot, and still there to be written to */
	assert_int_equal(dump.references[dump.n - 2].obj->refcount, 1);
	links_resolve(&dump);
	assert_fact(&o, "/links/eth0/index", "6");
	assert_fact(&o, "/links/eth0/master", "\"bond1\"");
	links_dump_clear(&dump);
	observation_end(&o);
}

static void test_ports(void **state RH_UNUSED)
{
	static const struct {
		const char *link;
		bool port;
	} cases[] = {
		{"{\"parent_device\": \"0000:01:00.0\", \"parent_bus\": \"pci\"}", true},
		{"{\"parent_device\": \"virtio2\", \"parent_bus\": \"virtio\"}", true},
		{"{\"parent_device\": \"0000:01:00.0\", \"port_name\": \"p0\"}", true},
		{"{\"parent_device\": \"0000:01:00.0\", \"port_name\": \"pf0vf3\"}", false},
		{"{\"parent_device\": \"0000:01:00.0\", \"port_name\": \"c1pf0sf12\"}", false},
		{"{\"parent_device\": \"0000:01:01.0\", \"virtual_function\": true}", false},
		{"{\"parent_device\": \"mlx5_core.sf.2\", \"parent_bus\": \"auxiliary\"}", false},
		{"{\"kind\": \"bond\"}", false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		json_t *link = json_loads(cases[i].link, 0, NULL);

		assert_non_null(link);
		if (link_is_port(link) != cases[i].port)
			fail_msg("%s", cases[i].link);
		json_decref(link);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain_link),
		cmocka_unit_test(test_attributes_of_wrong_form),
		cmocka_unit_test(test_name_of_odd_bytes),
		cmocka_unit_test(test_vlan),
		cmocka_unit_test(test_vlan_with_broken_map),
		cmocka_unit_test(test_lower_elsewhere),
		cmocka_unit_test(test_bond),
		cmocka_unit_test(test_bond_without_aggregator),
		cmocka_unit_test(test_bond_port),
		cmocka_unit_test(test_name_twice),
		cmocka_unit_test(test_ports),
	};

	return cmocka_run_group_tests_name("observe/links", tests, NULL, NULL);
}
