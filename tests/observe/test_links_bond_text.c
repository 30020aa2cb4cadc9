/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts of /proc/net/bonding. Where those of tests/data/bonding come from stands in its README; the
 * layout is that of drivers/net/bonding/bond_procfs.c.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "observe/links.h"
#include "tests/observe/message.h"

static char *load(const char *name)
{
	_cleanup_free_ char *path = xasprintf("%s/tests/data/bonding/%s", RAILHEAD_SOURCE, name);
	_cleanup_fclose_ FILE *f = fopen(path, "r");
	char *text = xcalloc(1, 1 << 16);

	if (!f)
		fail_msg("%s: cannot open", path);
	assert_true(fread(text, 1, (1 << 16) - 1, f) > 0);
	return text;
}

static void port(struct observation *o, const char *name)
{
	json_t *link = json_obj(json_obj(o->snapshot, "links"), name);

	json_put_string(link, "master", "bond0");
	json_obj(link, "bond_port");
}

static int parse(struct observation *o, char *text)
{
	return links_parse_bond_text(json_object_get(o->snapshot, "links"), text);
}

static void test_healthy(void **state RH_UNUSED)
{
	_cleanup_free_ char *text = load("lacp-2x400g");
	struct observation o;

	observation_start(&o);
	port(&o, "reth0");
	port(&o, "reth1");
	assert_int_equal(parse(&o, text), 2);
	assert_fact(&o, "/links/reth0/bond_port",
		    "{\"speed_mbps\": 400000, \"duplex\": \"full\", \"actor_churn\": \"none\","
		    "\"partner_churn\": \"none\", \"actor_churned_count\": 0,"
		    "\"partner_churned_count\": 0, \"actor_key\": 65505, \"partner_key\": 66,"
		    "\"partner_mac\": \"00:00:5e:00:01:01\"}");
	assert_true(json_equal(json_pointer_get(o.snapshot, "/links/reth0/bond_port"),
			       json_pointer_get(o.snapshot, "/links/reth1/bond_port")));
	observation_end(&o);
}

static void test_two_aggregators_as_user(void **state RH_UNUSED)
{
	_cleanup_free_ char *text = load("two-aggregators");
	struct observation o;

	observation_start(&o);
	port(&o, "enp7s0");
	port(&o, "enp8s0");
	assert_int_equal(parse(&o, text), 0); /* no LACPDU details without CAP_NET_ADMIN */
	assert_fact(&o, "/links/enp7s0/bond_port",
		    "{\"speed_mbps\": 1000, \"duplex\": \"full\", \"actor_churn\": \"churned\","
		    "\"partner_churn\": \"churned\", \"actor_churned_count\": 1,"
		    "\"partner_churned_count\": 1}");
	assert_fact(&o, "/links/enp8s0/bond_port/actor_churn", "\"none\"");
	observation_end(&o);
}

/* Both cables pulled: the kernel has another text where the active aggregator would be. */
static void test_no_aggregator(void **state RH_UNUSED)
{
	_cleanup_free_ char *text = load("no-aggregator");
	struct observation o;

	observation_start(&o);
	port(&o, "roce0");
	port(&o, "roce1");
	assert_int_equal(parse(&o, text), 2);
	assert_fact(&o, "/links/roce0/bond_port",
		    "{\"speed_mbps\": 25000, \"duplex\": \"full\", \"actor_churn\": \"monitoring\","
		    "\"partner_churn\": \"monitoring\", \"actor_churned_count\": 0,"
		    "\"partner_churned_count\": 0, \"actor_key\": 0, \"partner_key\": 21,"
		    "\"partner_mac\": \"52:54:00:01:fe:11\"}");
	observation_end(&o);
}

static void test_unknown_speed(void **state RH_UNUSED)
{
	char text[] = "Ethernet Channel Bonding Driver: v6.12.1\n"
		      "\n"
		      "Speed: 5 Mbps\n" /* not in a port's section */
		      "Slave Interface: a:b: c\n"
		      "Speed: Unknown\n"
		      "Duplex: Unknown\n"
		      "Aggregator ID: N/A\n"
		      "\n"
		      "Slave Interface: gone\n"
		      "Speed: 7 Mbps\n"
		      "\n"
		      "Slave Interface: x\x1b\n"
		      "Speed: -12 Mbps\n"
		      "Duplex: quarter\n"
		      "Actor Churned Count: 99999999999999999999\n"
		      "Actor Churn State: \n"
		      "details partner lacp pdu:\n"
		      "    oper key: 1x\n"
		      "    port key: 9\n"
		      "\n"
		      "Some newer section\n"
		      "    oper key: 12\n";
	struct observation o;

	observation_start(&o);
	port(&o, "a:b: c");
	port(&o, "x\\x1b");
	assert_int_equal(parse(&o, text), 1);
	assert_fact(&o, "/links/a:b: c/bond_port", "{\"speed_mbps\": -1, \"duplex\": \"unknown\"}");
	/* a port that /links does not have is not made here */
	assert_absent(&o, "/links/gone");
	/* what is no number is absent; "port key" of the partner is another thing */
	assert_fact(&o, "/links/x\\x1b/bond_port", "{}");
	observation_end(&o);
}

static void test_other_text(void **state RH_UNUSED)
{
	char empty[] = "", other[] = "Slave Interface: eth0\nSpeed: 1 Mbps\n";
	struct observation o;

	observation_start(&o);
	port(&o, "eth0");
	assert_int_equal(parse(&o, empty), -EBADMSG);
	assert_int_equal(parse(&o, other), -EBADMSG);
	assert_fact(&o, "/links/eth0/bond_port", "{}");
	observation_end(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_healthy),
		cmocka_unit_test(test_two_aggregators_as_user),
		cmocka_unit_test(test_no_aggregator),
		cmocka_unit_test(test_unknown_speed),
		cmocka_unit_test(test_other_text),
	};

	return cmocka_run_group_tests_name("observe/links_bond_text", tests, NULL, NULL);
}
