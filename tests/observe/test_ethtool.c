/* SPDX-License-Identifier: Apache-2.0 */
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "observe/ethtool.h"
#include "tests/observe/message.h"

#define INDEX 7

struct fixture {
	struct observation o;
	struct link_table table;
	bool answered[1];
	struct ethtool_context c;
	struct message m;
};

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));

	observation_start(&f->o);
	json_put_int(json_obj(json_obj(f->o.snapshot, "links"), "ens1f0"), "index", INDEX);
	link_table_load(&f->table, f->o.snapshot);
	f->c = (struct ethtool_context){.o = &f->o, .table = &f->table, .answered = f->answered};
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

static void start(struct fixture *f, uint32_t index)
{
	struct nlattr *header;

	message_start(&f->m, 30, sizeof(struct genlmsghdr));
	header = mnl_attr_nest_start(f->m.nlh, 1);
	mnl_attr_put_u32(f->m.nlh, ETHTOOL_A_HEADER_DEV_INDEX, index);
	mnl_attr_put_strz(f->m.nlh, ETHTOOL_A_HEADER_DEV_NAME, "ens1f0");
	mnl_attr_nest_end(f->m.nlh, header);
}

/* The parser on the message, then on all of its beginnings. */
static void parse(struct fixture *f, host_netlink_cb cb)
{
	message_parse(&f->m, 0, cb, &f->c);
}

static void parse_cut(struct fixture *f, host_netlink_cb cb)
{
	message_parse_cut(&f->m, &f->o, cb, &f->c);
}

static void test_linkmodes(void **state)
{
	struct fixture *f = *state;

	start(f, INDEX);
	mnl_attr_put_u8(f->m.nlh, ETHTOOL_A_LINKMODES_AUTONEG, 1);
	mnl_attr_put_u32(f->m.nlh, ETHTOOL_A_LINKMODES_SPEED, 100000);
	mnl_attr_put_u8(f->m.nlh, ETHTOOL_A_LINKMODES_DUPLEX, DUPLEX_FULL);
	parse(f, ethtool_parse_linkmodes);
	assert_true(f->answered[0]);
	assert_fact(&f->o, "/links/ens1f0/ethtool",
		    "{\"speed_mbps\": 100000, \"duplex\": \"full\", \"autoneg\": true}");
	parse_cut(f, ethtool_parse_linkmodes);
}

static void test_unknown_speed(void **state)
{
	static const uint32_t unknown[] = {0, 65535, UINT32_MAX};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(unknown); i++) {
		start(f, INDEX);
		mnl_attr_put_u8(f->m.nlh, ETHTOOL_A_LINKMODES_AUTONEG, 0xff);
		mnl_attr_put_u32(f->m.nlh, ETHTOOL_A_LINKMODES_SPEED, unknown[i]);
		mnl_attr_put_u8(f->m.nlh, ETHTOOL_A_LINKMODES_DUPLEX, 0xff);
		parse(f, ethtool_parse_linkmodes);
		assert_fact(&f->o, "/links/ens1f0/ethtool",
			    "{\"speed_mbps\": -1, \"duplex\": \"unknown\"}");
	}
}

static void test_linkstate(void **state)
{
	struct fixture *f = *state;

	start(f, INDEX);
	parse(f, ethtool_parse_linkstate); /* a link that is down: no LINK */
	assert_absent(&f->o, "/links/ens1f0/ethtool");
	mnl_attr_put_u8(f->m.nlh, ETHTOOL_A_LINKSTATE_LINK, 1);
	parse(f, ethtool_parse_linkstate);
	assert_fact(&f->o, "/links/ens1f0/ethtool", "{\"link\": true}");
}

static void test_other_link(void **state)
{
	struct fixture *f = *state;

	start(f, INDEX + 1);
	mnl_attr_put_u8(f->m.nlh, ETHTOOL_A_LINKSTATE_LINK, 1);
	parse(f, ethtool_parse_linkstate);
	assert_false(f->answered[0]);
	assert_int_equal(gaps(&f->o), 0);
	assert_absent(&f->o, "/links/ens1f0/ethtool");
}

static void put_compact(struct fixture *f, uint16_t type, uint32_t size, const uint32_t *value,
			const uint32_t *mask, size_t bytes)
{
	struct nlattr *set = mnl_attr_nest_start(f->m.nlh, type);

	if (!mask)
		mnl_attr_put(f->m.nlh, ETHTOOL_A_BITSET_NOMASK, 0, NULL);
	mnl_attr_put_u32(f->m.nlh, ETHTOOL_A_BITSET_SIZE, size);
	mnl_attr_put(f->m.nlh, ETHTOOL_A_BITSET_VALUE, bytes, value);
	if (mask)
		mnl_attr_put(f->m.nlh, ETHTOOL_A_BITSET_MASK, bytes, mask);
	mnl_attr_nest_end(f->m.nlh, set);
}

static void test_fec(void **state)
{
	/* bits 50 (RS) and 51 (BASER) of the link modes, and 60, which is no FEC mode */
	const uint32_t modes[3] = {0, 1u << 18 | 1u << 19 | 1u << 28, 0};
	struct fixture *f = *state;

	start(f, INDEX);
	put_compact(f, ETHTOOL_A_FEC_MODES, 92, modes, NULL, sizeof(modes));
	mnl_attr_put_u8(f->m.nlh, ETHTOOL_A_FEC_AUTO, 1);
	mnl_attr_put_u32(f->m.nlh, ETHTOOL_A_FEC_ACTIVE, ETHTOOL_LINK_MODE_FEC_RS_BIT);
	parse(f, ethtool_parse_fec);
	assert_int_equal(gaps(&f->o), 0);
	assert_fact(&f->o, "/links/ens1f0/ethtool/fec",
		    "{\"active\": \"RS\", \"configured\": [\"Auto\", \"RS\", \"BASER\", \"60\"]}");
	parse_cut(f, ethtool_parse_fec);
}

static void test_bitset_size_beyond_words(void **state)
{
	const uint32_t modes[3] = {0, 1u << 18, 0};
	struct fixture *f = *state;

	start(f, INDEX);
	put_compact(f, ETHTOOL_A_FEC_MODES, 97, modes, NULL, sizeof(modes));
	mnl_attr_put_u8(f->m.nlh, ETHTOOL_A_FEC_AUTO, 1);
	parse(f, ethtool_parse_fec);
	assert_fact(&f->o, "/gaps/0/pointer", "\"/links/ens1f0/ethtool/fec/configured\"");
	assert_absent(&f->o, "/links/ens1f0/ethtool/fec/configured");

	start(f, INDEX);
	put_compact(f, ETHTOOL_A_FEC_MODES, UINT32_MAX, modes, modes, sizeof(modes));
	parse(f, ethtool_parse_fec);
	assert_absent(&f->o, "/links/ens1f0/ethtool/fec/configured");
}

static void test_pause(void **state)
{
	struct fixture *f = *state;
	struct nlattr *stats;

	start(f, INDEX);
	mnl_attr_put_u8(f->m.nlh, ETHTOOL_A_PAUSE_AUTONEG, 0);
	mnl_attr_put_u8(f->m.nlh, ETHTOOL_A_PAUSE_RX, 1);
	mnl_attr_put_u8(f->m.nlh, ETHTOOL_A_PAUSE_TX, 0);
	stats = mnl_attr_nest_start(f->m.nlh, ETHTOOL_A_PAUSE_STATS);
	mnl_attr_put_u64(f->m.nlh, ETHTOOL_A_PAUSE_STAT_TX_FRAMES, 5);
	mnl_attr_put_u64(f->m.nlh, ETHTOOL_A_PAUSE_STAT_RX_FRAMES, 1ull << 40);
	mnl_attr_nest_end(f->m.nlh, stats);
	parse(f, ethtool_parse_pause);
	assert_fact(&f->o, "/links/ens1f0/ethtool/pause",
		    "{\"autoneg\": false, \"rx\": true, \"tx\": false, \"rx_frames\": 1099511627776,"
		    "\"tx_frames\": 5}");
	parse_cut(f, ethtool_parse_pause);
}

static void put_bit(struct fixture *f, uint32_t index, const char *name, bool value)
{
	struct nlattr *bit = mnl_attr_nest_start(f->m.nlh, ETHTOOL_A_BITSET_BITS_BIT);

	mnl_attr_put_u32(f->m.nlh, ETHTOOL_A_BITSET_BIT_INDEX, index);
	mnl_attr_put_strz(f->m.nlh, ETHTOOL_A_BITSET_BIT_NAME, name);
	if (value)
		mnl_attr_put(f->m.nlh, ETHTOOL_A_BITSET_BIT_VALUE, 0, NULL);
	mnl_attr_nest_end(f->m.nlh, bit);
}

static void test_private_flags(void **state)
{
	struct fixture *f = *state;
	struct nlattr *set, *bits;

	start(f, INDEX);
	set = mnl_attr_nest_start(f->m.nlh, ETHTOOL_A_PRIVFLAGS_FLAGS);
	mnl_attr_put_u32(f->m.nlh, ETHTOOL_A_BITSET_SIZE, 3);
	bits = mnl_attr_nest_start(f->m.nlh, ETHTOOL_A_BITSET_BITS);
	put_bit(f, 0, "link-down-on-close", false);
	put_bit(f, 1, "fw-lldp-agent", true);
	put_bit(f, 2, "a\x1b[31m", false);
	mnl_attr_nest_end(f->m.nlh, bits);
	mnl_attr_nest_end(f->m.nlh, set);
	parse(f, ethtool_parse_privflags);
	assert_int_equal(gaps(&f->o), 0);
	assert_fact(&f->o, "/links/ens1f0/ethtool/private_flags",
		    "{\"link-down-on-close\": false, \"fw-lldp-agent\": true, \"a\\\\x1b[31m\": false}");
	parse_cut(f, ethtool_parse_privflags);
}

/* Without a mask the list has the set bits only, and no VALUE. */
static void test_list_without_mask(void **state)
{
	struct fixture *f = *state;
	struct nlattr *set, *bits;

	start(f, INDEX);
	set = mnl_attr_nest_start(f->m.nlh, ETHTOOL_A_FEC_MODES);
	mnl_attr_put(f->m.nlh, ETHTOOL_A_BITSET_NOMASK, 0, NULL);
	bits = mnl_attr_nest_start(f->m.nlh, ETHTOOL_A_BITSET_BITS);
	put_bit(f, ETHTOOL_LINK_MODE_FEC_RS_BIT, "RS", false);
	mnl_attr_nest_end(f->m.nlh, bits);
	mnl_attr_nest_end(f->m.nlh, set);
	parse(f, ethtool_parse_fec);
	assert_fact(&f->o, "/links/ens1f0/ethtool/fec", "{\"active\": \"None\", \"configured\": [\"RS\"]}");
}

static void test_private_flags_broken(void **state)
{
	struct fixture *f = *state;
	struct nlattr *set, *bits;

	start(f, INDEX);
	set = mnl_attr_nest_start(f->m.nlh, ETHTOOL_A_PRIVFLAGS_FLAGS);
	bits = mnl_attr_nest_start(f->m.nlh, ETHTOOL_A_BITSET_BITS);
	put_bit(f, 0, "fw-lldp-agent", true);
	mnl_attr_put_u8(f->m.nlh, ETHTOOL_A_BITSET_BITS_BIT, 1); /* no nest */
	mnl_attr_nest_end(f->m.nlh, bits);
	mnl_attr_nest_end(f->m.nlh, set);
	parse(f, ethtool_parse_privflags);
	assert_absent(&f->o, "/links/ens1f0/ethtool/private_flags");
	assert_int_equal(gaps(&f->o), 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_linkmodes),
		TEST(test_unknown_speed),
		TEST(test_linkstate),
		TEST(test_other_link),
		TEST(test_fec),
		TEST(test_bitset_size_beyond_words),
		TEST(test_pause),
		TEST(test_private_flags),
		TEST(test_list_without_mask),
		TEST(test_private_flags_broken),
	};

	return cmocka_run_group_tests_name("observe/ethtool", tests, NULL, NULL);
}
