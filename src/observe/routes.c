/* SPDX-License-Identifier: Apache-2.0 */
/* /routes: RTM_GETROUTE dumps of both families. Attributes: include/uapi/linux/rtnetlink.h. */
#include "observe/links.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#include "base/alloc.h"

static const char *const route_kinds[] = {
	[RTN_UNSPEC] = "unspecified", [RTN_UNICAST] = "unicast",     [RTN_LOCAL] = "local",
	[RTN_BROADCAST] = "broadcast", [RTN_ANYCAST] = "anycast",     [RTN_MULTICAST] = "multicast",
	[RTN_BLACKHOLE] = "blackhole", [RTN_UNREACHABLE] = "unreachable",
	[RTN_PROHIBIT] = "prohibit",  [RTN_THROW] = "throw",         [RTN_NAT] = "nat",
};

static const struct attr_type route_types[RTA_MAX + 1] = {
	[RTA_OIF] = {MNL_TYPE_U32},
	[RTA_PRIORITY] = {MNL_TYPE_U32},
	[RTA_TABLE] = {MNL_TYPE_U32},
	[RTA_NH_ID] = {MNL_TYPE_U32},
	[RTA_VIA] = {MNL_TYPE_BINARY, sizeof(struct rtvia)},
};

/* RTA_GATEWAY, or RTA_VIA: a gateway of another family (IPv4 by an IPv6 neighbour). */
static void put_gateway(json_t *obj, const struct nlattr *const *tb, int family)
{
	_cleanup_free_ char *text = attr_ip(tb[RTA_GATEWAY], family);
	struct rtvia via;

	if (!text && attr_get_struct(tb[RTA_VIA], &via, sizeof(via))) {
		uint16_t len = mnl_attr_get_payload_len(tb[RTA_VIA]) - (uint16_t)sizeof(via);
		const uint8_t *address = (const uint8_t *)mnl_attr_get_payload(tb[RTA_VIA]) +
					 sizeof(via);

		text = attr_ip_bytes(via.rtvia_family, address, len);
	}
	json_put_string(obj, "gateway", text);
}

static void put_link(json_t *obj, const struct link_table *table, uint32_t index)
{
	const struct link_entry *e = link_table_find(table, index);

	if (e)
		json_put_string(obj, "link", e->name);
}

/* RTA_MULTIPATH: a row of struct rtnexthop, each with its own length and attributes. False when the
 * lengths do not fit. */
static bool put_nexthops(json_t *route, const struct links_context *c, const struct nlattr *list,
			 int family)
{
	const char *p = mnl_attr_get_payload(list);
	size_t left = mnl_attr_get_payload_len(list);
	json_t *nexthops = json_arr(route, "nexthops");

	while (left) {
		const struct nlattr *tb[RTA_MAX + 1];
		struct rtnexthop nh;
		json_t *entry;
		size_t step;

		if (left < sizeof(nh))
			return false;
		memcpy(&nh, p, sizeof(nh));
		if (nh.rtnh_len < sizeof(nh) || nh.rtnh_len > left)
			return false;
		attr_parse_bytes(p + sizeof(nh), nh.rtnh_len - sizeof(nh), tb, RTA_MAX,
				 route_types);
		entry = json_object_new();
		json_append(nexthops, entry);
		put_gateway(entry, tb, family);
		put_link(entry, c->table, (uint32_t)nh.rtnh_ifindex);
		json_put_int(entry, "weight", nh.rtnh_hops + 1);
		step = RTNH_ALIGN(nh.rtnh_len);
		if (step > left)
			step = left;
		p += step;
		left -= step;
	}
	return true;
}

static void put_destination(json_t *route, const struct rtmsg *rtm, const struct nlattr *dst)
{
	_cleanup_free_ char *text = attr_ip(dst, rtm->rtm_family);

	if (text)
		json_put_stringf(route, "destination", "%s/%u", text, rtm->rtm_dst_len);
	else if (!dst && !rtm->rtm_dst_len)
		json_put_string(route, "destination", "default");
}

/* Tables that only a rule leads to are named, not read: a judge of the main table then knows that
 * this table alone does not decide. In order of their numbers. */
static void put_other_table(json_t *snapshot, uint32_t table)
{
	json_t *tables = json_arr(snapshot, "route_tables");
	size_t i = 0;

	while (i < json_array_size(tables) && json_integer_value(json_array_get(tables, i)) < table)
		i++;
	if (i < json_array_size(tables) && json_integer_value(json_array_get(tables, i)) == table)
		return;
	if (json_array_size(tables) < ROUTE_TABLES_MAX)
		json_array_insert_new(tables, i, json_integer(table));
}

int routes_parse_route(const struct nlmsghdr *nlh, void *data)
{
	struct links_context *c = data;
	const struct rtmsg *rtm = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *tb[RTA_MAX + 1];
	_cleanup_json_ json_t *route = NULL;
	_cleanup_free_ char *source = NULL;
	uint32_t table, link;
	json_t *routes;
	bool right;

	if (nlh->nlmsg_type != RTM_NEWROUTE || nlh->nlmsg_len < MNL_NLMSG_HDRLEN + sizeof(*rtm))
		return 0;
	if (!links_family_name(rtm->rtm_family) || rtm->rtm_flags & RTM_F_CLONED)
		return 0;
	right = attr_parse(nlh, sizeof(*rtm), tb, RTA_MAX, route_types) == 0;
	if (!attr_get_u32(tb[RTA_TABLE], &table))
		table = rtm->rtm_table;
	if (table != RT_TABLE_MAIN && table != RT_TABLE_LOCAL) {
		put_other_table(c->o->snapshot, table);
		return 0;
	}
	routes = json_arr(c->o->snapshot, "routes");
	if (json_array_size(routes) >= ROUTES_MAX) {
		c->dropped++;
		return 0;
	}
	route = json_object_new();
	json_put_string(route, "family", links_family_name(rtm->rtm_family));
	put_destination(route, rtm, tb[RTA_DST]);
	put_gateway(route, tb, rtm->rtm_family);
	if (attr_get_u32(tb[RTA_OIF], &link))
		put_link(route, c->table, link);
	source = attr_ip(tb[RTA_PREFSRC], rtm->rtm_family);
	json_put_string(route, "source", source);
	attr_put_number(route, "metric", tb[RTA_PRIORITY]);
	json_put_string(route, "table", table == RT_TABLE_MAIN ? "main" : "local");
	if (rtm->rtm_type < ARRAY_SIZE(route_kinds))
		json_put_string(route, "type", route_kinds[rtm->rtm_type]);
	else
		json_put_stringf(route, "type", "%u", rtm->rtm_type);
	links_put_scope(route, rtm->rtm_scope);
	attr_put_number(route, "nexthop_id", tb[RTA_NH_ID]);
	if (tb[RTA_MULTIPATH] && !put_nexthops(route, c, tb[RTA_MULTIPATH], rtm->rtm_family))
		right = false;
	/* net.ipv4.nexthop_compat_mode = 0: the kernel does not spell the object out */
	if (tb[RTA_NH_ID] && !tb[RTA_OIF] && !tb[RTA_MULTIPATH])
		c->nexthop_objects = true;
	/* without an attribute that did not fit it would be another route */
	if (right)
		json_append(routes, json_incref(route));
	else
		observe_gap(c->o, -EBADMSG, NULL, "the kernel described a route in an unknown form",
			    "/routes");
	return 0;
}

static int dump(struct links_context *c, uint8_t family, struct error *err)
{
	char buffer[HOST_NETLINK_REQUEST_MAX] = {0};
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer);
	struct rtmsg *rtm;

	nlh->nlmsg_type = RTM_GETROUTE;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	rtm = mnl_nlmsg_put_extra_header(nlh, sizeof(*rtm));
	rtm->rtm_family = family;
	return host_netlink(c->o->host, NETLINK_ROUTE, nlh, routes_parse_route, c, err);
}

void routes_observe(struct observation *o, const struct link_table *table)
{
	struct links_context c = {.o = o, .table = table};
	static const uint8_t families[] = {AF_INET, AF_INET6};

	for (size_t i = 0; i < ARRAY_SIZE(families); i++) {
		_cleanup_error_ struct error err = {0};
		int rc = dump(&c, families[i], &err);

		if (rc >= 0)
			json_arr(o->snapshot, "routes");
		else
			observe_gap(o, rc, NULL, error_text(&err), "/routes");
	}
	if (c.dropped) {
		_cleanup_free_ char *reason = xasprintf(
			"%zu routes beyond the first %u are left out", c.dropped, ROUTES_MAX);

		observe_gap(o, -E2BIG, "ip route show table main", reason, "/routes");
	}
	if (c.nexthop_objects)
		observe_gap(o, -ENODATA,
			    "sysctl net.ipv4.nexthop_compat_mode=1, or ip nexthop show",
			    "routes name nexthop objects that the kernel does not spell out",
			    "/routes");
}
