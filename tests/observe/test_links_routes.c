/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses and routes. */
#include <arpa/inet.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "observe/links.h"
#include "tests/observe/message.h"

struct fixture {
	struct observation o;
	struct link_table table;
	struct links_context c;
};

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));

	observation_start(&f->o);
	json_put_int(json_obj(json_obj(f->o.snapshot, "links"), "bond1"), "index", 4);
	json_put_int(json_obj(json_obj(f->o.snapshot, "links"), "eth0"), "index", 2);
	link_table_load(&f->table, f->o.snapshot);
	f->c = (struct links_context){.o = &f->o, .table = &f->table};
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	link_table_clear(&f->table);
	observation_end(&f->o);
	free(f);
	return 0;
}

static void put_ip(struct message *m, uint16_t type, int family, const char *text)
{
	uint8_t bytes[16];

	assert_int_equal(inet_pton(family, text, bytes), 1);
	mnl_attr_put(m->nlh, type, family == AF_INET ? 4 : 16, bytes);
}

static void test_addresses(void **state)
{
	struct fixture *f = *state;
	struct ifaddrmsg *ifa;
	struct message m;

	ifa = message_start(&m, RTM_NEWADDR, sizeof(*ifa));
	*ifa = (struct ifaddrmsg){.ifa_family = AF_INET, .ifa_prefixlen = 24, .ifa_index = 4,
				  .ifa_flags = IFA_F_PERMANENT};
	put_ip(&m, IFA_ADDRESS, AF_INET, "10.0.0.9"); /* the peer */
	put_ip(&m, IFA_LOCAL, AF_INET, "10.0.0.1");
	message_parse(&m, 0, links_parse_address, &f->c);

	/* the wide flags win over the 8 bits of the header */
	ifa = message_start(&m, RTM_NEWADDR, sizeof(*ifa));
	*ifa = (struct ifaddrmsg){.ifa_family = AF_INET6, .ifa_prefixlen = 64, .ifa_index = 4,
				  .ifa_scope = RT_SCOPE_LINK, .ifa_flags = IFA_F_PERMANENT};
	put_ip(&m, IFA_ADDRESS, AF_INET6, "fe80::1");
	mnl_attr_put_u32(m.nlh, IFA_FLAGS, IFA_F_TENTATIVE | IFA_F_SECONDARY | IFA_F_NOPREFIXROUTE);
	message_parse(&m, 0, links_parse_address, &f->c);

	assert_int_equal(gaps(&f->o), 0);
	assert_fact(&f->o, "/links/bond1/addresses",
		    "[{\"family\": \"ipv4\", \"address\": \"10.0.0.1\", \"prefix\": 24,"
		    "\"scope\": \"global\", \"flags\": [\"permanent\"]},"
		    "{\"family\": \"ipv6\", \"address\": \"fe80::1\", \"prefix\": 64, \"scope\": \"link\","
		    "\"flags\": [\"temporary\", \"tentative\", \"noprefixroute\"]}]");
	message_parse_cut(&m, &f->o, links_parse_address, &f->c);
}

/* Cut off inside IFA_LOCAL: the peer's address is not taken for the link's own. */
static void test_address_cut_off(void **state)
{
	struct fixture *f = *state;
	struct ifaddrmsg *ifa;
	struct message m;

	ifa = message_start(&m, RTM_NEWADDR, sizeof(*ifa));
	*ifa = (struct ifaddrmsg){.ifa_family = AF_INET, .ifa_index = 4};
	put_ip(&m, IFA_ADDRESS, AF_INET, "10.0.0.9");
	put_ip(&m, IFA_LOCAL, AF_INET, "10.0.0.1");
	message_parse(&m, m.nlh->nlmsg_len - 2, links_parse_address, &f->c);
	assert_absent(&f->o, "/links/bond1/addresses");
	assert_int_equal(gaps(&f->o), 1);
}

static void test_address_of_wrong_length(void **state)
{
	struct fixture *f = *state;
	struct ifaddrmsg *ifa;
	struct message m;

	ifa = message_start(&m, RTM_NEWADDR, sizeof(*ifa));
	*ifa = (struct ifaddrmsg){.ifa_family = AF_INET, .ifa_index = 4};
	put_ip(&m, IFA_LOCAL, AF_INET6, "fe80::1");
	message_parse(&m, 0, links_parse_address, &f->c);
	assert_fact(&f->o, "/gaps/0/pointer", "\"/links/bond1/addresses\"");
	assert_absent(&f->o, "/links/bond1/addresses");
}

static struct rtmsg *start_route(struct message *m, int family, uint8_t dst_len, uint8_t table)
{
	struct rtmsg *rtm = message_start(m, RTM_NEWROUTE, sizeof(*rtm));

	*rtm = (struct rtmsg){.rtm_family = (uint8_t)family, .rtm_dst_len = dst_len, .rtm_table = table,
			      .rtm_type = RTN_UNICAST};
	return rtm;
}

static void test_routes(void **state)
{
	struct fixture *f = *state;
	struct rtmsg *rtm;
	struct message m;

	start_route(&m, AF_INET, 0, RT_TABLE_MAIN);
	put_ip(&m, RTA_GATEWAY, AF_INET, "192.0.2.1");
	mnl_attr_put_u32(m.nlh, RTA_OIF, 2);
	mnl_attr_put_u32(m.nlh, RTA_PRIORITY, 100);
	message_parse(&m, 0, routes_parse_route, &f->c);
	message_parse_cut(&m, &f->o, routes_parse_route, &f->c);

	rtm = start_route(&m, AF_INET, 24, RT_TABLE_MAIN);
	rtm->rtm_scope = RT_SCOPE_LINK;
	put_ip(&m, RTA_DST, AF_INET, "10.0.0.0");
	put_ip(&m, RTA_PREFSRC, AF_INET, "10.0.0.1");
	mnl_attr_put_u32(m.nlh, RTA_OIF, 4);
	message_parse(&m, 0, routes_parse_route, &f->c);

	/* left out: another table (by attribute and by header), a cache entry, another family */
	start_route(&m, AF_INET, 0, RT_TABLE_MAIN);
	mnl_attr_put_u32(m.nlh, RTA_TABLE, 2004);
	message_parse(&m, 0, routes_parse_route, &f->c);
	start_route(&m, AF_INET, 0, 100);
	message_parse(&m, 0, routes_parse_route, &f->c);
	message_parse(&m, 0, routes_parse_route, &f->c);
	rtm = start_route(&m, AF_INET6, 0, RT_TABLE_MAIN);
	rtm->rtm_flags = RTM_F_CLONED;
	message_parse(&m, 0, routes_parse_route, &f->c);
	start_route(&m, AF_BRIDGE, 0, RT_TABLE_MAIN);
	message_parse(&m, 0, routes_parse_route, &f->c);

	assert_int_equal(gaps(&f->o), 0);
	assert_fact(&f->o, "/route_tables", "[100, 2004]");
	assert_fact(&f->o, "/routes",
		    "[{\"family\": \"ipv4\", \"destination\": \"default\", \"gateway\": \"192.0.2.1\","
		    "\"link\": \"eth0\", \"metric\": 100, \"table\": \"main\", \"type\": \"unicast\","
		    "\"scope\": \"global\"},"
		    "{\"family\": \"ipv4\", \"destination\": \"10.0.0.0/24\", \"link\": \"bond1\","
		    "\"source\": \"10.0.0.1\", \"table\": \"main\", \"type\": \"unicast\","
		    "\"scope\": \"link\"}]");
}

static void put_nexthop(struct message *m, int index, uint8_t hops, const char *gateway)
{
	struct rtnexthop *nh = mnl_nlmsg_put_extra_header(m->nlh, sizeof(*nh));

	nh->rtnh_hops = hops;
	nh->rtnh_ifindex = index;
	put_ip(m, RTA_GATEWAY, AF_INET, gateway);
	nh->rtnh_len = (unsigned short)((char *)mnl_nlmsg_get_payload_tail(m->nlh) - (char *)nh);
}

static void test_multipath_and_via(void **state)
{
	struct fixture *f = *state;
	struct nlattr *list;
	struct message m;
	uint8_t via[sizeof(struct rtvia) + 16] = {0};

	start_route(&m, AF_INET, 0, RT_TABLE_MAIN);
	list = mnl_attr_nest_start(m.nlh, RTA_MULTIPATH);
	put_nexthop(&m, 2, 0, "192.0.2.1");
	put_nexthop(&m, 77, 9, "192.0.2.2"); /* a link that is gone */
	mnl_attr_nest_end(m.nlh, list);
	message_parse(&m, 0, routes_parse_route, &f->c);
	message_parse_cut(&m, &f->o, routes_parse_route, &f->c);

	((struct rtvia *)(void *)via)->rtvia_family = AF_INET6;
	inet_pton(AF_INET6, "fe80::5", via + sizeof(struct rtvia));
	start_route(&m, AF_INET, 16, RT_TABLE_MAIN);
	put_ip(&m, RTA_DST, AF_INET, "10.1.0.0");
	mnl_attr_put(m.nlh, RTA_VIA, sizeof(via), via);
	mnl_attr_put_u32(m.nlh, RTA_OIF, 4);
	message_parse(&m, 0, routes_parse_route, &f->c);

	assert_fact(&f->o, "/routes/0/nexthops",
		    "[{\"gateway\": \"192.0.2.1\", \"link\": \"eth0\", \"weight\": 1},"
		    "{\"gateway\": \"192.0.2.2\", \"weight\": 10}]");
	assert_fact(&f->o, "/routes/1/gateway", "\"fe80::5\"");
}

static void test_broken_multipath(void **state)
{
	struct fixture *f = *state;
	struct rtnexthop *nh;
	struct nlattr *list;
	struct message m;

	for (unsigned short len = 0; len < 20; len++) {
		start_route(&m, AF_INET, 0, RT_TABLE_MAIN);
		list = mnl_attr_nest_start(m.nlh, RTA_MULTIPATH);
		nh = mnl_nlmsg_put_extra_header(m.nlh, sizeof(*nh));
		nh->rtnh_len = len;
		mnl_attr_nest_end(m.nlh, list);
		message_parse(&m, 0, routes_parse_route, &f->c);
	}
	/* one length is right: that of the bare struct; the others are no routes */
	assert_int_equal(gaps(&f->o), 19);
	assert_int_equal(json_array_size(json_object_get(f->o.snapshot, "routes")), 1);
	assert_fact(&f->o, "/routes/0/nexthops", "[{\"weight\": 1}]");
}

static void test_nexthop_object(void **state)
{
	struct fixture *f = *state;
	struct message m;

	start_route(&m, AF_INET, 0, RT_TABLE_MAIN);
	mnl_attr_put_u32(m.nlh, RTA_NH_ID, 17);
	message_parse(&m, 0, routes_parse_route, &f->c);
	assert_fact(&f->o, "/routes/0/nexthop_id", "17");
	assert_true(f->c.nexthop_objects);
}

static void test_limit(void **state)
{
	struct fixture *f = *state;
	struct message m;

	start_route(&m, AF_INET, 0, RT_TABLE_MAIN);
	for (unsigned i = 0; i < ROUTES_MAX + 5; i++)
		routes_parse_route(m.nlh, &f->c);
	assert_int_equal(json_array_size(json_object_get(f->o.snapshot, "routes")), ROUTES_MAX);
	assert_int_equal(f->c.dropped, 5);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_addresses),
		TEST(test_address_cut_off),
		TEST(test_address_of_wrong_length),
		TEST(test_routes),
		TEST(test_multipath_and_via),
		TEST(test_broken_multipath),
		TEST(test_nexthop_object),
		TEST(test_limit),
	};

	return cmocka_run_group_tests_name("observe/links_routes", tests, NULL, NULL);
}
