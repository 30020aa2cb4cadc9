/* SPDX-License-Identifier: Apache-2.0 */
/* Which netlink attributes hold a name: one table for each message, ended by RULE_END. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum rule_kind {
	RULE_END,
	RULE_NEST,	/* attributes within */
	RULE_KIND,	/* name of a link kind; RULE_NEST_KIND behind it takes its table by that */
	RULE_NEST_KIND,
	RULE_MAC,	/* 6 bytes; 20: IPoIB address, its last 8 are a GUID */
	RULE_VF_MAC,	/* struct ifla_vf_mac */
	RULE_ADDRESS,	/* 4 or 16 bytes */
	RULE_NETWORK,	/* RULE_ADDRESS whose prefix length stands in the message's header */
	RULE_VIA,	/* struct rtvia */
	RULE_NEXTHOPS,	/* struct rtnexthop, each with attributes */
	RULE_SOCKADDR,
	RULE_GUID_HOST,	/* u64 in host byte order */
	RULE_OPAQUE,	/* 6 bytes: MAC, 8: GUID, else any bytes */
	RULE_TEXT,
};

#define ANY_TYPE 0xffff

struct rule {
	uint16_t type;
	uint8_t kind;
	const struct rule *inner;
};

extern const struct rule netlink_link_rules[];
extern const struct rule netlink_address_rules[];
extern const struct rule netlink_route_rules[];
extern const struct rule netlink_neighbour_rules[];
extern const struct rule netlink_nldev_rules[];
extern const struct rule netlink_devlink_rules[];

/* Table for IFLA_INFO_DATA or IFLA_INFO_SLAVE_DATA (`attribute`) of a link kind; an empty table for
 * a kind that holds no name. */
const struct rule *netlink_rules_of_kind(const char *kind, size_t len, uint16_t attribute);
