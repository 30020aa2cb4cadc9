/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of the generic netlink family "ethtool" -> /links/NAME/ethtool. */
#include "observe/ethtool.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>

#include "base/alloc.h"

/* All messages of the family have their header in attribute 1 (ETHTOOL_A_LINKMODES_HEADER, …). */
#define A_HEADER 1

static const struct attr_type header_types[ETHTOOL_A_HEADER_MAX + 1] = {
	[ETHTOOL_A_HEADER_DEV_INDEX] = {MNL_TYPE_U32},
};

static const struct attr_type linkmodes_types[ETHTOOL_A_LINKMODES_MAX + 1] = {
	[A_HEADER] = {MNL_TYPE_NESTED},
	[ETHTOOL_A_LINKMODES_AUTONEG] = {MNL_TYPE_U8},
	[ETHTOOL_A_LINKMODES_SPEED] = {MNL_TYPE_U32},
	[ETHTOOL_A_LINKMODES_DUPLEX] = {MNL_TYPE_U8},
};

static const struct attr_type linkstate_types[ETHTOOL_A_LINKSTATE_MAX + 1] = {
	[A_HEADER] = {MNL_TYPE_NESTED},
	[ETHTOOL_A_LINKSTATE_LINK] = {MNL_TYPE_U8},
};

static const struct attr_type fec_types[ETHTOOL_A_FEC_MAX + 1] = {
	[A_HEADER] = {MNL_TYPE_NESTED},
	[ETHTOOL_A_FEC_MODES] = {MNL_TYPE_NESTED},
	[ETHTOOL_A_FEC_AUTO] = {MNL_TYPE_U8},
	[ETHTOOL_A_FEC_ACTIVE] = {MNL_TYPE_U32},
};

static const struct attr_type pause_types[ETHTOOL_A_PAUSE_MAX + 1] = {
	[A_HEADER] = {MNL_TYPE_NESTED},
	[ETHTOOL_A_PAUSE_AUTONEG] = {MNL_TYPE_U8},
	[ETHTOOL_A_PAUSE_RX] = {MNL_TYPE_U8},
	[ETHTOOL_A_PAUSE_TX] = {MNL_TYPE_U8},
	[ETHTOOL_A_PAUSE_STATS] = {MNL_TYPE_NESTED},
};

static const struct attr_type pause_stat_types[ETHTOOL_A_PAUSE_STAT_MAX + 1] = {
	[ETHTOOL_A_PAUSE_STAT_TX_FRAMES] = {MNL_TYPE_U64},
	[ETHTOOL_A_PAUSE_STAT_RX_FRAMES] = {MNL_TYPE_U64},
};

static const struct attr_type privflags_types[ETHTOOL_A_PRIVFLAGS_MAX + 1] = {
	[A_HEADER] = {MNL_TYPE_NESTED},
	[ETHTOOL_A_PRIVFLAGS_FLAGS] = {MNL_TYPE_NESTED},
};

/*
 * Parse the message into tb and find the link that its header names. NULL: no such link in the
 * snapshot (it came later, or the message is no reply of this family). An attribute that does not
 * fit leaves a gap, and the rest is used.
 */
static const struct link_entry *open_message(const struct nlmsghdr *nlh, struct ethtool_context *c,
					     const struct nlattr **tb, uint16_t max,
					     const struct attr_type *types)
{
	const struct nlattr *header[ETHTOOL_A_HEADER_MAX + 1];
	int rc = attr_parse(nlh, sizeof(struct genlmsghdr), tb, max, types);
	const struct link_entry *e;
	uint32_t index;

	attr_parse_nested(tb[A_HEADER], header, ETHTOOL_A_HEADER_MAX, header_types);
	if (!attr_get_u32(header[ETHTOOL_A_HEADER_DEV_INDEX], &index))
		return NULL;
	e = link_table_find(c->table, index);
	if (!e)
		return NULL;
	if (c->answered)
		c->answered[e - c->table->entries] = true;
	if (rc < 0)
		observe_gap(c->o, rc, NULL, "the kernel's answer has an attribute of unknown form",
			    "/links/%s/ethtool", e->name);
	return e;
}

int ethtool_parse_linkmodes(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *tb[ETHTOOL_A_LINKMODES_MAX + 1];
	const struct link_entry *e =
		open_message(nlh, data, tb, ETHTOOL_A_LINKMODES_MAX, linkmodes_types);
	uint32_t value;
	json_t *ethtool;

	if (!e)
		return 0;
	ethtool = json_obj(e->link, "ethtool");
	if (attr_get_u32(tb[ETHTOOL_A_LINKMODES_SPEED], &value)) {
		/* drivers without carrier say 0, or SPEED_UNKNOWN cut to 16 or 32 bits */
		bool unknown = !value || value == UINT16_MAX || value == UINT32_MAX;

		json_put_int(ethtool, "speed_mbps", unknown ? -1 : (int64_t)value);
	}
	if (attr_get_u32(tb[ETHTOOL_A_LINKMODES_DUPLEX], &value))
		json_put_string(ethtool, "duplex",
				value == DUPLEX_FULL   ? "full" :
				value == DUPLEX_HALF ? "half" : "unknown");
	if (attr_get_u32(tb[ETHTOOL_A_LINKMODES_AUTONEG], &value) && value <= AUTONEG_ENABLE)
		json_put_bool(ethtool, "autoneg", value == AUTONEG_ENABLE);
	return 0;
}

int ethtool_parse_linkstate(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *tb[ETHTOOL_A_LINKSTATE_MAX + 1];
	const struct link_entry *e =
		open_message(nlh, data, tb, ETHTOOL_A_LINKSTATE_MAX, linkstate_types);

	/* without carrier information (a device that is down) there is no LINK */
	if (e && tb[ETHTOOL_A_LINKSTATE_LINK])
		attr_put_bool(json_obj(e->link, "ethtool"), "link", tb[ETHTOOL_A_LINKSTATE_LINK]);
	return 0;
}

/* FEC encodings are link modes; names as the kernel's string set of link modes has them. */
static const char *fec_name(uint32_t mode)
{
	switch (mode) {
	case ETHTOOL_LINK_MODE_FEC_NONE_BIT:
		return "None";
	case ETHTOOL_LINK_MODE_FEC_RS_BIT:
		return "RS";
	case ETHTOOL_LINK_MODE_FEC_BASER_BIT:
		return "BASER";
	case ETHTOOL_LINK_MODE_FEC_LLRS_BIT:
		return "LLRS";
	default:
		return NULL;
	}
}

static void put_fec_mode(uint32_t index, const char *name, bool value, void *data)
{
	_cleanup_free_ char *number = NULL;

	if (!value)
		return;
	if (!name)
		name = fec_name(index);
	if (!name)
		name = number = xasprintf("%u", index);
	json_append_text(data, name);
}

int ethtool_parse_fec(const struct nlmsghdr *nlh, void *data)
{
	struct ethtool_context *c = data;
	const struct nlattr *tb[ETHTOOL_A_FEC_MAX + 1];
	const struct link_entry *e = open_message(nlh, c, tb, ETHTOOL_A_FEC_MAX, fec_types);
	uint32_t value;
	json_t *fec;

	if (!e)
		return 0;
	fec = json_obj(json_obj(e->link, "ethtool"), "fec");
	if (attr_get_u32(tb[ETHTOOL_A_FEC_ACTIVE], &value)) {
		if (fec_name(value))
			json_put_string(fec, "active", fec_name(value));
		else
			json_put_stringf(fec, "active", "%u", value);
	}
	if (!tb[ETHTOOL_A_FEC_MODES])
		return 0;
	/* left out when no encoding is active (fec_fill_reply(), net/ethtool/fec.c) */
	if (!tb[ETHTOOL_A_FEC_ACTIVE])
		json_put_string(fec, "active", "None");
	if (attr_get_u32(tb[ETHTOOL_A_FEC_AUTO], &value) && value)
		json_append_text(json_arr(fec, "configured"), "Auto");
	if (ethtool_bitset_walk(tb[ETHTOOL_A_FEC_MODES], put_fec_mode,
				json_arr(fec, "configured")) < 0) {
		json_object_del(fec, "configured");
		observe_gap(c->o, -EBADMSG, NULL, "the list of FEC modes is broken",
			    "/links/%s/ethtool/fec/configured", e->name);
	}
	return 0;
}

int ethtool_parse_pause(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *tb[ETHTOOL_A_PAUSE_MAX + 1];
	const struct nlattr *stats[ETHTOOL_A_PAUSE_STAT_MAX + 1];
	const struct link_entry *e = open_message(nlh, data, tb, ETHTOOL_A_PAUSE_MAX, pause_types);
	json_t *pause;

	if (!e)
		return 0;
	pause = json_obj(json_obj(e->link, "ethtool"), "pause");
	attr_put_bool(pause, "autoneg", tb[ETHTOOL_A_PAUSE_AUTONEG]);
	attr_put_bool(pause, "rx", tb[ETHTOOL_A_PAUSE_RX]);
	attr_put_bool(pause, "tx", tb[ETHTOOL_A_PAUSE_TX]);
	attr_parse_nested(tb[ETHTOOL_A_PAUSE_STATS], stats, ETHTOOL_A_PAUSE_STAT_MAX,
			  pause_stat_types);
	attr_put_number(pause, "rx_frames", stats[ETHTOOL_A_PAUSE_STAT_RX_FRAMES]);
	attr_put_number(pause, "tx_frames", stats[ETHTOOL_A_PAUSE_STAT_TX_FRAMES]);
	return 0;
}

static void put_privflag(uint32_t index RH_UNUSED, const char *name, bool value, void *data)
{
	if (name)
		json_put_bool(data, name, value);
}

int ethtool_parse_privflags(const struct nlmsghdr *nlh, void *data)
{
	struct ethtool_context *c = data;
	const struct nlattr *tb[ETHTOOL_A_PRIVFLAGS_MAX + 1];
	const struct link_entry *e =
		open_message(nlh, c, tb, ETHTOOL_A_PRIVFLAGS_MAX, privflags_types);

	if (!e || !tb[ETHTOOL_A_PRIVFLAGS_FLAGS])
		return 0;
	if (ethtool_bitset_walk(tb[ETHTOOL_A_PRIVFLAGS_FLAGS], put_privflag,
				json_obj(json_obj(e->link, "ethtool"), "private_flags")) < 0) {
		json_object_del(json_obj(e->link, "ethtool"), "private_flags");
		observe_gap(c->o, -EBADMSG, NULL, "the list of private flags is broken",
			    "/links/%s/ethtool/private_flags", e->name);
	}
	return 0;
}
