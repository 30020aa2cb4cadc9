/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walk through messages by the tables of anonymize_rules.c. Lengths are checked, because a
 * recording that is anonymized may come from anywhere.
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
#include "host/anonymize_rules.h"
#include "host/anonymize_text.h"

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
		walk_attributes(w, netlink_route_rules, bytes + sizeof(hop),
				hop.rtnh_len - sizeof(hop), depth);
		size_t step = RTNH_ALIGN((size_t)hop.rtnh_len);
		if (step >= len)
			return;
		bytes += step;
		len -= step;
	}
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
		walk_attributes(w, netlink_rules_of_kind(w->kind, w->kind_len, rule->type), bytes,
				len, depth + 1);
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
			take_address(w, bytes + sizeof(struct rtvia), len - sizeof(struct rtvia),
				     false);
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
		rules = netlink_link_rules;
		header = sizeof(struct ifinfomsg);
		break;
	case RTM_NEWADDR:
		rules = netlink_address_rules;
		header = sizeof(struct ifaddrmsg);
		w->prefix = len > offsetof(struct ifaddrmsg, ifa_prefixlen) ?
			    payload[offsetof(struct ifaddrmsg, ifa_prefixlen)] : 0;
		break;
	case RTM_NEWROUTE:
		rules = netlink_route_rules;
		header = sizeof(struct rtmsg);
		w->prefix = len > offsetof(struct rtmsg, rtm_dst_len) ?
			    payload[offsetof(struct rtmsg, rtm_dst_len)] : 0;
		break;
	case RTM_NEWNEIGH:
		rules = netlink_neighbour_rules;
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

static void walk_generic(struct walk *w, json_t *families, uint16_t type, uint8_t *payload,
			 size_t len)
{
	_cleanup_free_ char *id = xasprintf("%u", type);

	if (len <= GENL_HDRLEN)
		return;
	if (type == GENL_ID_CTRL && w->p->collecting)
		learn_family(families, payload + GENL_HDRLEN, len - GENL_HDRLEN);
	else if (strcmp(json_get_string(families, id, ""), DEVLINK_GENL_NAME) == 0)
		walk_attributes(w, netlink_devlink_rules, payload + GENL_HDRLEN, len - GENL_HDRLEN,
				0);
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
			walk_attributes(&w, netlink_nldev_rules, payload, size, 0);
		size_t step = NLMSG_ALIGN((size_t)header.nlmsg_len);
		if (step >= left)
			break;
		bytes += step;
		left -= step;
	}
	/* what the tables do not name: a MAC in a driver's own attribute, a link named after its
	 * MAC */
	anonymize_known(p, messages, len);
}
