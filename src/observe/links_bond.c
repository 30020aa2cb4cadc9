/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /links/BOND/bond and /links/PORT/bond_port from rtnetlink.
 * Attributes: IFLA_BOND_*, IFLA_BOND_SLAVE_*, IFLA_BOND_AD_INFO_* of include/uapi/linux/if_link.h;
 * words: drivers/net/bonding/bond_options.c.
 */
#include "observe/links.h"

#include <errno.h>
#include <linux/if_bonding.h>
#include <linux/if_link.h>
#include <string.h>

static const char *const modes[] = {
	[BOND_MODE_ROUNDROBIN] = "balance-rr", [BOND_MODE_ACTIVEBACKUP] = "active-backup",
	[BOND_MODE_XOR] = "balance-xor",       [BOND_MODE_BROADCAST] = "broadcast",
	[BOND_MODE_8023AD] = "802.3ad",	       [BOND_MODE_TLB] = "balance-tlb",
	[BOND_MODE_ALB] = "balance-alb",
};
static const char *const rates[] = {"slow", "fast"};
static const char *const selections[] = {"stable", "bandwidth", "count"};
static const char *const policies[] = {
	"layer2", "layer3+4", "layer2+3", "encap2+3", "encap3+4", "vlan+srcmac",
};
static const char *const port_states[] = {"active", "backup"};
static const char *const mii_states[] = {
	[BOND_LINK_UP] = "up", [BOND_LINK_FAIL] = "fail", [BOND_LINK_DOWN] = "down",
	[BOND_LINK_BACK] = "back",
};

static const struct attr_type bond_types[IFLA_BOND_MAX + 1] = {
	[IFLA_BOND_MODE] = {MNL_TYPE_U8},
	[IFLA_BOND_ACTIVE_SLAVE] = {MNL_TYPE_U32},
	[IFLA_BOND_MIIMON] = {MNL_TYPE_U32},
	[IFLA_BOND_PRIMARY] = {MNL_TYPE_U32},
	[IFLA_BOND_XMIT_HASH_POLICY] = {MNL_TYPE_U8},
	[IFLA_BOND_MIN_LINKS] = {MNL_TYPE_U32},
	[IFLA_BOND_AD_LACP_RATE] = {MNL_TYPE_U8},
	[IFLA_BOND_AD_SELECT] = {MNL_TYPE_U8},
	[IFLA_BOND_AD_INFO] = {MNL_TYPE_NESTED},
	[IFLA_BOND_AD_LACP_ACTIVE] = {MNL_TYPE_U8},
};

static const struct attr_type ad_info_types[IFLA_BOND_AD_INFO_MAX + 1] = {
	[IFLA_BOND_AD_INFO_AGGREGATOR] = {MNL_TYPE_U16},
	[IFLA_BOND_AD_INFO_NUM_PORTS] = {MNL_TYPE_U16},
	[IFLA_BOND_AD_INFO_ACTOR_KEY] = {MNL_TYPE_U16},
	[IFLA_BOND_AD_INFO_PARTNER_KEY] = {MNL_TYPE_U16},
	[IFLA_BOND_AD_INFO_PARTNER_MAC] = {MNL_TYPE_BINARY, 6},
};

static const struct attr_type port_types[IFLA_BOND_SLAVE_MAX + 1] = {
	[IFLA_BOND_SLAVE_STATE] = {MNL_TYPE_U8},
	[IFLA_BOND_SLAVE_MII_STATUS] = {MNL_TYPE_U8},
	[IFLA_BOND_SLAVE_LINK_FAILURE_COUNT] = {MNL_TYPE_U32},
	[IFLA_BOND_SLAVE_AD_AGGREGATOR_ID] = {MNL_TYPE_U16},
	[IFLA_BOND_SLAVE_AD_ACTOR_OPER_PORT_STATE] = {MNL_TYPE_U8},
	[IFLA_BOND_SLAVE_AD_PARTNER_OPER_PORT_STATE] = {MNL_TYPE_U16},
};

static int put_aggregator(json_t *bond, const struct nlattr *info)
{
	const struct nlattr *tb[IFLA_BOND_AD_INFO_MAX + 1];
	int rc = attr_parse_nested(info, tb, IFLA_BOND_AD_INFO_MAX, ad_info_types);
	json_t *aggregator = json_obj(bond, "aggregator");

	attr_put_number(aggregator, "id", tb[IFLA_BOND_AD_INFO_AGGREGATOR]);
	attr_put_number(aggregator, "ports", tb[IFLA_BOND_AD_INFO_NUM_PORTS]);
	attr_put_number(aggregator, "actor_key", tb[IFLA_BOND_AD_INFO_ACTOR_KEY]);
	attr_put_number(aggregator, "partner_key", tb[IFLA_BOND_AD_INFO_PARTNER_KEY]);
	attr_put_mac(aggregator, "partner_mac", tb[IFLA_BOND_AD_INFO_PARTNER_MAC]);
	return rc;
}

int links_parse_bond(struct links_dump *dump, json_t *link, const struct nlattr *data)
{
	const struct nlattr *tb[IFLA_BOND_MAX + 1];
	int rc = attr_parse_nested(data, tb, IFLA_BOND_MAX, bond_types);
	json_t *bond = json_obj(link, "bond");
	uint32_t mode;

	attr_put_name(bond, "mode", tb[IFLA_BOND_MODE], modes, ARRAY_SIZE(modes));
	attr_put_number(bond, "miimon_ms", tb[IFLA_BOND_MIIMON]);
	attr_put_name(bond, "lacp_rate", tb[IFLA_BOND_AD_LACP_RATE], rates, ARRAY_SIZE(rates));
	attr_put_bool(bond, "lacp_active", tb[IFLA_BOND_AD_LACP_ACTIVE]);
	attr_put_name(bond, "xmit_hash_policy", tb[IFLA_BOND_XMIT_HASH_POLICY], policies,
		      ARRAY_SIZE(policies));
	attr_put_name(bond, "ad_select", tb[IFLA_BOND_AD_SELECT], selections,
		      ARRAY_SIZE(selections));
	attr_put_number(bond, "min_links", tb[IFLA_BOND_MIN_LINKS]);
	links_refer(dump, bond, "primary", tb[IFLA_BOND_PRIMARY]);
	links_refer(dump, bond, "active_port", tb[IFLA_BOND_ACTIVE_SLAVE]);
	if (tb[IFLA_BOND_AD_INFO]) {
		if (put_aggregator(bond, tb[IFLA_BOND_AD_INFO]) < 0)
			rc = -EBADMSG;
	} else if (!rc && attr_get_u32(tb[IFLA_BOND_MODE], &mode) && mode == BOND_MODE_8023AD) {
		/* the kernel leaves it out when no aggregator is active */
		json_obj(bond, "aggregator");
	}
	return rc;
}

int links_parse_bond_port(json_t *link, const struct nlattr *data)
{
	const struct nlattr *tb[IFLA_BOND_SLAVE_MAX + 1];
	int rc = attr_parse_nested(data, tb, IFLA_BOND_SLAVE_MAX, port_types);
	json_t *port = json_obj(link, "bond_port");

	attr_put_name(port, "state", tb[IFLA_BOND_SLAVE_STATE], port_states,
		      ARRAY_SIZE(port_states));
	attr_put_name(port, "mii", tb[IFLA_BOND_SLAVE_MII_STATUS], mii_states,
		      ARRAY_SIZE(mii_states));
	attr_put_number(port, "failures", tb[IFLA_BOND_SLAVE_LINK_FAILURE_COUNT]);
	attr_put_mac(port, "permanent_mac", tb[IFLA_BOND_SLAVE_PERM_HWADDR]);
	attr_put_number(port, "aggregator_id", tb[IFLA_BOND_SLAVE_AD_AGGREGATOR_ID]);
	attr_put_number(port, "actor_state", tb[IFLA_BOND_SLAVE_AD_ACTOR_OPER_PORT_STATE]);
	attr_put_number(port, "partner_state", tb[IFLA_BOND_SLAVE_AD_PARTNER_OPER_PORT_STATE]);
	return rc;
}
