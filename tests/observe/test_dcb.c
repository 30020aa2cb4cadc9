/* SPDX-License-Identifier: Apache-2.0 */
#include <linux/dcbnl.h>
#include <linux/rtnetlink.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "observe/dcb.h"
#include "tests/observe/message.h"

struct fixture {
	struct observation o;
	struct dcb_context c;
	struct message m;
};

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));

	observation_start(&f->o);
	f->c = (struct dcb_context){.o = &f->o, .name = "ens1f0",
				    .link = json_obj(json_obj(f->o.snapshot, "links"), "ens1f0")};
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	observation_end(&f->o);
	free(f);
	return 0;
}

static struct nlattr *start(struct fixture *f)
{
	struct dcbmsg *msg = message_start(&f->m, RTM_GETDCB, sizeof(*msg));

	msg->cmd = DCB_CMD_IEEE_GET;
	mnl_attr_put_strz(f->m.nlh, DCB_ATTR_IFNAME, "ens1f0");
	return mnl_attr_nest_start(f->m.nlh, DCB_ATTR_IEEE);
}

static void put_app(struct fixture *f, uint8_t selector, uint16_t protocol, uint8_t priority)
{
	const struct dcb_app app = {.selector = selector, .protocol = protocol, .priority = priority};

	mnl_attr_put(f->m.nlh, DCB_ATTR_IEEE_APP, sizeof(app), &app);
}

/* The link of the cut-off runs is in the snapshot, not in its copy: give it a copy too. */
static void parse_cut(struct fixture *f)
{
	json_t *link = f->c.link;

	f->c.link = json_deep_copy(link);
	message_parse_cut(&f->m, &f->o, dcb_parse, &f->c);
	json_decref(f->c.link);
	f->c.link = link;
}

static void test_ets_and_pfc(void **state)
{
	struct fixture *f = *state;
	const struct ieee_ets ets = {
		.willing = 0, .ets_cap = 8, .cbs = 0, .tc_tx_bw = {40, 0, 0, 60},
		.tc_tsa = {IEEE_8021QAZ_TSA_ETS, IEEE_8021QAZ_TSA_STRICT, IEEE_8021QAZ_TSA_CB_SHAPER,
			   IEEE_8021QAZ_TSA_ETS, IEEE_8021QAZ_TSA_VENDOR, 77},
		.prio_tc = {0, 1, 2, 3, 4, 5, 6, 7},
	};
	const struct ieee_pfc pfc = {
		.pfc_cap = 8, .pfc_en = 1 << 3, .mbc = 1, .delay = 300,
		.requests = {0, 0, 0, UINT64_MAX}, .indications = {1},
	};
	struct nlattr *ieee = start(f);

	mnl_attr_put(f->m.nlh, DCB_ATTR_IEEE_ETS, sizeof(ets), &ets);
	mnl_attr_put(f->m.nlh, DCB_ATTR_IEEE_PFC, sizeof(pfc), &pfc);
	mnl_attr_nest_end(f->m.nlh, ieee);
	mnl_attr_put_u8(f->m.nlh, DCB_ATTR_DCBX, DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE);
	message_parse(&f->m, 0, dcb_parse, &f->c);

	assert_int_equal(gaps(&f->o), 0);
	assert_fact(&f->o, "/links/ens1f0/dcb/ets",
		    "{\"willing\": false, \"max_tcs\": 8, \"cbs\": false,"
		    "\"tc_tx_bw\": [40, 0, 0, 60, 0, 0, 0, 0],"
		    "\"tc_tsa\": [\"ets\", \"strict\", \"cbs\", \"ets\", \"vendor\", \"77\", \"strict\","
		    "\"strict\"], \"prio_tc\": [0, 1, 2, 3, 4, 5, 6, 7]}");
	assert_fact(&f->o, "/links/ens1f0/dcb/pfc",
		    "{\"max_tcs\": 8, \"enabled\": [3], \"mbc\": true, \"delay\": 300,"
		    "\"requests\": [0, 0, 0, \"18446744073709551615\", 0, 0, 0, 0],"
		    "\"indications\": [1, 0, 0, 0, 0, 0, 0, 0]}");
	assert_fact(&f->o, "/links/ens1f0/dcb/dcbx",
		    "{\"host\": true, \"lld_managed\": false, \"cee\": false, \"ieee\": true,"
		    "\"static\": false}");
	assert_absent(&f->o, "/links/ens1f0/dcb/app");
	assert_absent(&f->o, "/links/ens1f0/dcb/peer");
	parse_cut(f);
}

static void test_app_table(void **state)
{
	struct fixture *f = *state;
	struct nlattr *ieee = start(f), *table;

	table = mnl_attr_nest_start(f->m.nlh, DCB_ATTR_IEEE_APP_TABLE);
	put_app(f, IEEE_8021QAZ_APP_SEL_DSCP, 26, 3);
	/* the same DSCP twice, as a replaced entry leaves it */
	put_app(f, IEEE_8021QAZ_APP_SEL_DSCP, 24, 4);
	put_app(f, IEEE_8021QAZ_APP_SEL_DGRAM, 4791, 3);
	put_app(f, IEEE_8021QAZ_APP_SEL_DSCP, 24, 3);
	put_app(f, IEEE_8021QAZ_APP_SEL_DSCP, 24, 6);
	put_app(f, IEEE_8021QAZ_APP_SEL_DSCP, 64, 1); /* no DSCP */
	mnl_attr_nest_end(f->m.nlh, table);
	mnl_attr_nest_end(f->m.nlh, ieee);
	message_parse(&f->m, 0, dcb_parse, &f->c);

	assert_fact(&f->o, "/links/ens1f0/dcb/app",
		    "[{\"selector\": 3, \"protocol\": 4791, \"priority\": 3},"
		    "{\"selector\": 5, \"protocol\": 24, \"priority\": 3},"
		    "{\"selector\": 5, \"protocol\": 24, \"priority\": 4},"
		    "{\"selector\": 5, \"protocol\": 24, \"priority\": 6},"
		    "{\"selector\": 5, \"protocol\": 26, \"priority\": 3},"
		    "{\"selector\": 5, \"protocol\": 64, \"priority\": 1}]");
	assert_fact(&f->o, "/links/ens1f0/dcb/dscp", "{\"24\": [3, 4, 6], \"26\": 3}");
	assert_int_equal(gaps(&f->o), 0);
	parse_cut(f);
}

static void test_empty_app_table(void **state)
{
	struct fixture *f = *state;
	struct nlattr *ieee = start(f), *table;

	table = mnl_attr_nest_start(f->m.nlh, DCB_ATTR_IEEE_APP_TABLE);
	mnl_attr_nest_end(f->m.nlh, table);
	mnl_attr_nest_end(f->m.nlh, ieee);
	message_parse(&f->m, 0, dcb_parse, &f->c);
	assert_fact(&f->o, "/links/ens1f0/dcb", "{\"app\": [], \"dscp\": {}}");
}

static void test_peer(void **state)
{
	struct fixture *f = *state;
	const struct ieee_pfc pfc = {.pfc_cap = 4, .pfc_en = 0x81};
	struct nlattr *ieee = start(f), *table;

	mnl_attr_put(f->m.nlh, DCB_ATTR_IEEE_PEER_PFC, sizeof(pfc), &pfc);
	table = mnl_attr_nest_start(f->m.nlh, DCB_ATTR_IEEE_PEER_APP);
	put_app(f, IEEE_8021QAZ_APP_SEL_DSCP, 24, 3);
	mnl_attr_nest_end(f->m.nlh, table);
	mnl_attr_nest_end(f->m.nlh, ieee);
	message_parse(&f->m, 0, dcb_parse, &f->c);
	assert_fact(&f->o, "/links/ens1f0/dcb/peer/pfc/enabled", "[0, 7]");
	assert_fact(&f->o, "/links/ens1f0/dcb/peer/app",
		    "[{\"selector\": 5, \"protocol\": 24, \"priority\": 3}]");
	assert_absent(&f->o, "/links/ens1f0/dcb/dscp");
}

/* Structs shorter than the kernel's: absent, with a gap, and never zeros. */
static void test_short_structs(void **state)
{
	struct fixture *f = *state;
	const struct ieee_ets ets = {.ets_cap = 8};
	const struct ieee_pfc pfc = {.pfc_cap = 8};
	struct nlattr *ieee = start(f), *table;

	mnl_attr_put(f->m.nlh, DCB_ATTR_IEEE_ETS, sizeof(ets) - 1, &ets);
	mnl_attr_put(f->m.nlh, DCB_ATTR_IEEE_PFC, sizeof(pfc) - 1, &pfc);
	table = mnl_attr_nest_start(f->m.nlh, DCB_ATTR_IEEE_APP_TABLE);
	put_app(f, IEEE_8021QAZ_APP_SEL_DSCP, 24, 3);
	mnl_attr_put_u16(f->m.nlh, DCB_ATTR_IEEE_APP, 5);
	mnl_attr_nest_end(f->m.nlh, table);
	mnl_attr_nest_end(f->m.nlh, ieee);
	mnl_attr_put_u32(f->m.nlh, DCB_ATTR_DCBX, 1);
	message_parse(&f->m, 0, dcb_parse, &f->c);
	assert_fact(&f->o, "/links/ens1f0/dcb", "{}");
	assert_fact(&f->o, "/gaps/0/pointer", "\"/links/ens1f0/dcb\"");
}

static void test_longer_structs_of_newer_kernels(void **state)
{
	struct fixture *f = *state;
	struct {
		struct ieee_pfc pfc;
		uint64_t more;
	} pfc = {.pfc = {.pfc_cap = 8, .pfc_en = 8}};
	struct nlattr *ieee = start(f);

	mnl_attr_put(f->m.nlh, DCB_ATTR_IEEE_PFC, sizeof(pfc), &pfc);
	mnl_attr_nest_end(f->m.nlh, ieee);
	message_parse(&f->m, 0, dcb_parse, &f->c);
	assert_fact(&f->o, "/links/ens1f0/dcb/pfc/enabled", "[3]");
	assert_int_equal(gaps(&f->o), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_ets_and_pfc),
		TEST(test_app_table),
		TEST(test_empty_app_table),
		TEST(test_peer),
		TEST(test_short_structs),
		TEST(test_longer_structs_of_newer_kernels),
	};

	return cmocka_run_group_tests_name("observe/dcb", tests, NULL, NULL);
}
