/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which attributes of which messages hold a name. One table for each message; lengths are checked,
 * because a recording that is anonymized may come from anywhere. Attribute layouts: if_link.h,
 * if_addr.h, rtnetlink.h, neighbour.h, rdma_netlink.h, devlink.h of the kernel's UAPI.
 */
#include <arpa/inet.h>
#include <linux/devlink.h>
#include <linux/genetlink.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <rdma/rdma_netlink.h>
#include <string.h>
#include <sys/socket.h>

#include "host/anonymize_netlink.h"
#include "host/anonymize_text.h"

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

static const struct rule any_address[] = { { ANY_TYPE, RULE_ADDRESS }, {0} };

static const struct rule bond_ad_rules[] = { { IFLA_BOND_AD_INFO_PARTNER_MAC, RULE_MAC }, {0} };
static const struct rule bond_rules[] = {
	{ IFLA_BOND_AD_INFO, RULE_NEST, bond_ad_rules },
	{ IFLA_BOND_AD_ACTOR_SYSTEM, RULE_MAC },
	{ IFLA_BOND_ARP_IP_TARGET, RULE_NEST, any_address },
	{ IFLA_BOND_NS_IP6_TARGET, RULE_NEST, any_address },
	{0}
};
static const struct rule bond_port_rules[] = { { IFLA_BOND_SLAVE_PERM_HWADDR, RULE_MAC }, {0} };
static const struct rule vxlan_rules[] = {
	{ IFLA_VXLAN_GROUP, RULE_ADDRESS },
	{ IFLA_VXLAN_GROUP6, RULE_ADDRESS },
	{ IFLA_VXLAN_LOCAL, RULE_ADDRESS },
	{ IFLA_VXLAN_LOCAL6, RULE_ADDRESS },
	{0}
};
/* IFLA_INFO_DATA and IFLA_INFO_SLAVE_DATA mean something else for each kind */
static const struct {
	const char *kind;
	bool port;
	const struct rule *rules;
} kinds[] = {
	{ "bond", false, bond_rules },
	{ "bond", true, bond_port_rules },
	{ "vxlan", false, vxlan_rules },
};
static const struct rule link_info_rules[] = {
	{ IFLA_INFO_KIND, RULE_KIND },
	{ IFLA_INFO_DATA, RULE_NEST_KIND },
	{ IFLA_INFO_SLAVE_KIND, RULE_KIND },
	{ IFLA_INFO_SLAVE_DATA, RULE_NEST_KIND },
	{0}
};
static const struct rule vf_rules[] = {
	{ IFLA_VF_MAC, RULE_VF_MAC },
	{ IFLA_VF_BROADCAST, RULE_VF_MAC },
	{0}
};
static const struct rule vf_list_rules[] = { { IFLA_VF_INFO, RULE_NEST, vf_rules }, {0} };
static const struct rule inet6_rules[] = { { IFLA_INET6_TOKEN, RULE_ADDRESS }, {0} };
static const struct rule family_rules[] = { { AF_INET6, RULE_NEST, inet6_rules }, {0} };
static const struct rule link_rules[] = {
	{ IFLA_ADDRESS, RULE_MAC },
	{ IFLA_BROADCAST, RULE_MAC },
	{ IFLA_PERM_ADDRESS, RULE_MAC },
	{ IFLA_IFALIAS, RULE_TEXT },
	{ IFLA_PHYS_PORT_ID, RULE_OPAQUE },
	{ IFLA_PHYS_SWITCH_ID, RULE_OPAQUE },
	{ IFLA_LINKINFO, RULE_NEST, link_info_rules },
	{ IFLA_VFINFO_LIST, RULE_NEST, vf_list_rules },
	{ IFLA_AF_SPEC, RULE_NEST, family_rules },
	{0}
};
static const struct rule address_rules[] = {
	{ IFA_ADDRESS, RULE_NETWORK },
	{ IFA_LOCAL, RULE_NETWORK },
	{ IFA_BROADCAST, RULE_ADDRESS },
	{ IFA_ANYCAST, RULE_ADDRESS },
	{0}
};
static const struct rule route_rules[] = {
	{ RTA_DST, RULE_NETWORK },
	{ RTA_SRC, RULE_ADDRESS },
	{ RTA_GATEWAY, RULE_ADDRESS },
	{ RTA_PREFSRC, RULE_ADDRESS },
	{ RTA_NEWDST, RULE_ADDRESS },
	{ RTA_VIA, RULE_VIA },
	{ RTA_MULTIPATH, RULE_NEXTHOPS },
	{0}
};
static const struct rule neighbour_rules[] = {
	{ NDA_DST, RULE_ADDRESS },
	{ NDA_LLADDR, RULE_MAC },
	{0}
};
static const struct rule resource_rules[] = {
	{ RDMA_NLDEV_ATTR_RES_SRC_ADDR, RULE_SOCKADDR },
	{ RDMA_NLDEV_ATTR_RES_DST_ADDR, RULE_SOCKADDR },
	{0}
};
static const struct rule resource_list_rules[] = {
	{ RDMA_NLDEV_ATTR_RES_CM_ID_ENTRY, RULE_NEST, resource_rules },
	{0}
};
static const struct rule nldev_rules[] = {
	{ RDMA_NLDEV_ATTR_NODE_GUID, RULE_GUID_HOST },
	{ RDMA_NLDEV_ATTR_SYS_IMAGE_GUID, RULE_GUID_HOST },
	{ RDMA_NLDEV_ATTR_RES_CM_ID, RULE_NEST, resource_list_rules },
	{0}
};
static const struct rule port_function_rules[] = {
	{ DEVLINK_PORT_FUNCTION_ATTR_HW_ADDR, RULE_MAC },
	{0}
};
static const struct rule devlink_rules[] = {
	{ DEVLINK_ATTR_INFO_SERIAL_NUMBER, RULE_TEXT },
	{ DEVLINK_ATTR_INFO_BOARD_SERIAL_NUMBER, RULE_TEXT },
	{ DEVLINK_ATTR_PORT_FUNCTION, RULE_NEST, port_function_rules },
	{0}
};

struct walk {
	struct pseudonyms *p;
	unsigned prefix;	/* of RULE_NETWORK */
	const char *kind;	/* of RULE_KIND, in the message */
	size_t kind_len;
};

static void take_address(struct walk *w, uint8_t *bytes, size_t len, bool network)
{
	int family = len == 4 ? AF_INET : AF_INET6;

	if (len != 4 && len != 16)
		return;
	if (network)
		pseudonyms_learn_prefix(w->p, family, bytes, w->prefix);
	if (len == 4) {
		pseudonyms_learn_ipv4(w->p, bytes);
		pseudonym_ipv4(w->p, bytes);
	} else {
		pseudonym_ipv6(w->p, bytes);
	}
}

static void take_hardware(struct walk *w, uint8_t *bytes, size_t len)
{
	if (len == 6)
		pseudonym_mac(w->p, bytes);
	else if (len == 20)
		pseudonym_guid(w->p, bytes + 12);
}

static void take_host_guid(struct walk *w, uint8_t *bytes, size_t len)
{
	uint8_t guid[8];
	uint64_t value;

	if (len != sizeof(value))
		return;
	memcpy(&value, bytes, sizeof(value));
	for (size_t i = 0; i < 8; i++)
		guid[i] = (uint8_t)(value >> (56 - 8 * i));
	pseudonym_guid(w->p, guid);
	value = 0;
	for (size_t i = 0; i < 8; i++)
		value = value << 8 | guid[i];
	memcpy(bytes, &value, sizeof(value));
}

static void take_sockaddr(struct walk *w, uint8_t *bytes, size_t len)
{
	sa_family_t family;

	if (len < sizeof(family))
		return;
	memcpy(&family, bytes, sizeof(family));
	if (family == AF_INET && len >= sizeof(struct sockaddr_in))
		take_address(w, bytes + offsetof(struct sockaddr_in, sin_addr), 4, false);
	else if (family == AF_INET6 && len >= sizeof(struct sockaddr_in6))
		take_address(w, bytes + offsetof(struct sockaddr_in6, sin6_addr), 16, false);
}

/* A serial number in text may be a MAC or an EUI-64 with separators; else it is any text. */
static void take_text(struct walk *w, uint8_t *bytes, size_t len)
{
	size_t n = strnlen((const char *)bytes, len);
	_cleanup_free_ char *text = xstrndup((const char *)bytes, n);
	_cleanup_free_ char *named = anonymize_text(w->p, text, false);

	if (w->p->collecting)
		return;
	if (strlen(named) == n && strcmp(named, text) != 0)
		memcpy(bytes, named, n);
	else
		pseudonym_text(w->p, (char *)bytes, n, false);
}

static void take_opaque(struct walk *w, uint8_t *bytes, size_t len)
{
	if (len == 6)
		pseudonym_mac(w->p, bytes);
	else if (len == 8)
		pseudonym_guid(w->p, bytes);
	else
		pseudonym_bytes(w->p, bytes, len);
}

static void walk_attributes(struct walk *w, const struct rule *rules, uint8_t *bytes, size_t len,
			    unsigned depth);

static void take_nexthops(struct walk *w, uint8_t *bytes, size_t len, unsigned depth)
{
	struct rtnexthop hop;

	while (len >= sizeof(hop)) {
		memcpy(&hop, bytes, sizeof(hop));
		if (hop.rtnh_len < sizeof(hop) || hop.rtnh_len > len)
			return;
		walk_attributes(w, route_rules, bytes + sizeof(hop), hop.rtnh_len - sizeof(hop), depth);
		size_t step = RTNH_ALIGN((size_t)hop.rtnh_len);
		if (step >= len)
			return;
		bytes += step;
		len -= step;
	}
}

static void take_kind_data(struct walk *w, bool port, uint8_t *bytes, size_t len, unsigned depth)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (kinds[i].port == port && w->kind && strlen(kinds[i].kind) == w->kind_len &&
		    memcmp(kinds[i].kind, w->kind, w->kind_len) == 0)
			walk_attributes(w, kinds[i].rules, bytes, len, depth);
}

static void take_attribute(struct walk *w, const struct rule *rule, uint8_t *bytes, size_t len,
			   unsigned depth)
{
	switch ((enum rule_kind)rule->kind) {
	case RULE_END:
		return;
	case RULE_NEST:
		walk_attributes(w, rule->inner, bytes, len, depth + 1);
		return;
	case RULE_KIND:
		w->kind = (const char *)bytes;
		w->kind_len = strnlen(w->kind, len);
		return;
	case RULE_NEST_KIND:
		take_kind_data(w, rule->type == IFLA_INFO_SLAVE_DATA, bytes, len, depth + 1);
		return;
	case RULE_MAC:
		take_hardware(w, bytes, len);
		return;
	case RULE_VF_MAC:
		if (len >= sizeof(uint32_t) + 6)
			pseudonym_mac(w->p, bytes + sizeof(uint32_t));
		return;
	case RULE_ADDRESS:
		take_address(w, bytes, len, false);
		return;
	case RULE_NETWORK:
		take_address(w, bytes, len, true);
		return;
	case RULE_VIA:
		if (len > sizeof(struct rtvia))
			take_address(w, bytes + sizeof(struct rtvia), len - sizeof(struct rtvia), false);
		return;
	case RULE_NEXTHOPS:
		take_nexthops(w, bytes, len, depth + 1);
		return;
	case RULE_SOCKADDR:
		take_sockaddr(w, bytes, len);
		return;
	case RULE_GUID_HOST:
		take_host_guid(w, bytes, len);
		return;
	case RULE_OPAQUE:
		take_opaque(w, bytes, len);
		return;
	case RULE_TEXT:
		take_text(w, bytes, len);
		return;
	}
}

/* Deeper than any table above; next hops within next hops end here. */
#define DEPTH_MAX 8

static void walk_attributes(struct walk *w, const struct rule *rules, uint8_t *bytes, size_t len,
			    unsigned depth)
{
	struct nlattr attr;

	if (depth > DEPTH_MAX)
		return;
	while (len >= sizeof(attr)) {
		memcpy(&attr, bytes, sizeof(attr));
		if (attr.nla_len < sizeof(attr) || attr.nla_len > len)
			return;
		for (const struct rule *rule = rules; rule->kind != RULE_END; rule++)
			if (rule->type == ANY_TYPE || rule->type == (attr.nla_type & NLA_TYPE_MASK))
				take_attribute(w, rule, bytes + sizeof(attr),
					       attr.nla_len - sizeof(attr), depth);
		size_t step = NLA_ALIGN(attr.nla_len);
		if (step >= len)
			return;
		bytes += step;
		len -= step;
	}
}

/* rtnetlink's types come in fours: NEW, DEL, GET, SET (rtnetlink.h) */
static void walk_route(struct walk *w, uint16_t type, uint8_t *payload, size_t len)
{
	const struct rule *rules;
	size_t header;

	switch (type & ~3u) {
	case RTM_NEWLINK:
		rules = link_rules;
		header = sizeof(struct ifinfomsg);
		break;
	case RTM_NEWADDR:
		rules = address_rules;
		header = sizeof(struct ifaddrmsg);
		w->prefix = len > offsetof(struct ifaddrmsg, ifa_prefixlen) ?
			    payload[offsetof(struct ifaddrmsg, ifa_prefixlen)] : 0;
		break;
	case RTM_NEWROUTE:
		rules = route_rules;
		header = sizeof(struct rtmsg);
		w->prefix = len > offsetof(struct rtmsg, rtm_dst_len) ?
			    payload[offsetof(struct rtmsg, rtm_dst_len)] : 0;
		break;
	case RTM_NEWNEIGH:
		rules = neighbour_rules;
		header = sizeof(struct ndmsg);
		break;
	default:
		return;
	}
	header = NLMSG_ALIGN(header);
	if (len > header)
		walk_attributes(w, rules, payload + header, len - header, 0);
}

/* The answer to CTRL_CMD_GETFAMILY tells which message type belongs to which family. */
static void learn_family(json_t *families, const uint8_t *bytes, size_t len)
{
	_cleanup_free_ char *name = NULL, *id = NULL;
	struct nlattr attr;
	uint16_t value;

	while (len >= sizeof(attr)) {
		memcpy(&attr, bytes, sizeof(attr));
		if (attr.nla_len < sizeof(attr) || attr.nla_len > len)
			return;
		size_t size = attr.nla_len - sizeof(attr);
		if (attr.nla_type == CTRL_ATTR_FAMILY_ID && size == sizeof(value) && !id) {
			memcpy(&value, bytes + sizeof(attr), sizeof(value));
			id = xasprintf("%u", value);
		} else if (attr.nla_type == CTRL_ATTR_FAMILY_NAME && !name) {
			name = xstrndup((const char *)bytes + sizeof(attr), size);
		}
		size_t step = NLA_ALIGN(attr.nla_len);
		if (step >= len)
			break;
		bytes += step;
		len -= step;
	}
	if (name && id)
		json_put_string(families, id, name);
}

static void walk_generic(struct walk *w, json_t *families, uint16_t type, uint8_t *payload, size_t len)
{
	_cleanup_free_ char *id = xasprintf("%u", type);

	if (len <= GENL_HDRLEN)
		return;
	if (type == GENL_ID_CTRL && w->p->collecting)
		learn_family(families, payload + GENL_HDRLEN, len - GENL_HDRLEN);
	else if (strcmp(json_get_string(families, id, ""), DEVLINK_GENL_NAME) == 0)
		walk_attributes(w, devlink_rules, payload + GENL_HDRLEN, len - GENL_HDRLEN, 0);
}

void anonymize_netlink(struct pseudonyms *p, json_t *families, const char *protocol, void *messages,
		       size_t len)
{
	uint8_t *bytes = messages;
	struct nlmsghdr header;
	size_t left = len;

	while (left >= sizeof(header)) {
		struct walk w = { .p = p };

		memcpy(&header, bytes, sizeof(header));
		if (header.nlmsg_len < sizeof(header) || header.nlmsg_len > left)
			break;
		uint8_t *payload = bytes + NLMSG_HDRLEN;
		size_t size = header.nlmsg_len - NLMSG_HDRLEN;
		if (strcmp(protocol, "route") == 0)
			walk_route(&w, header.nlmsg_type, payload, size);
		else if (strcmp(protocol, "generic") == 0)
			walk_generic(&w, families, header.nlmsg_type, payload, size);
		else if (RDMA_NL_GET_CLIENT(header.nlmsg_type) == RDMA_NL_NLDEV)
			walk_attributes(&w, nldev_rules, payload, size, 0);
		size_t step = NLMSG_ALIGN((size_t)header.nlmsg_len);
		if (step >= left)
			break;
		bytes += step;
		left -= step;
	}
	/* what the tables do not name: a MAC in a driver's own attribute, a link named after its MAC */
	anonymize_known(p, messages, len);
}
