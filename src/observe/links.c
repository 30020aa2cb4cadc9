/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /links: one RTM_GETLINK dump, one RTM_GETADDR dump, and a few sysfs reads for the ports.
 * Attributes: include/uapi/linux/if_link.h.
 */
#include "observe/links.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/if_vlan.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#include "base/alloc.h"

/* RFC 2863 states, IF_OPER_*; words as iproute2 prints them, in lower case. */
static const char *const operstates[] = {
	"unknown", "notpresent", "down", "lowerlayerdown", "testing", "dormant", "up",
};

static const struct attr_type link_types[IFLA_MAX + 1] = {
	[IFLA_IFNAME] = {MNL_TYPE_STRING, 2},
	[IFLA_MTU] = {MNL_TYPE_U32},
	[IFLA_MIN_MTU] = {MNL_TYPE_U32},
	[IFLA_MAX_MTU] = {MNL_TYPE_U32},
	[IFLA_LINK] = {MNL_TYPE_U32},
	[IFLA_LINK_NETNSID] = {MNL_TYPE_U32},
	[IFLA_MASTER] = {MNL_TYPE_U32},
	[IFLA_OPERSTATE] = {MNL_TYPE_U8},
	[IFLA_CARRIER] = {MNL_TYPE_U8},
	[IFLA_LINKINFO] = {MNL_TYPE_NESTED},
	[IFLA_PROP_LIST] = {MNL_TYPE_NESTED},
	/* up to tx_dropped; the struct has grown since */
	[IFLA_STATS64] = {MNL_TYPE_BINARY, 8 * sizeof(uint64_t)},
};

static const struct attr_type info_types[IFLA_INFO_MAX + 1] = {
	[IFLA_INFO_KIND] = {MNL_TYPE_STRING, 1},
	[IFLA_INFO_DATA] = {MNL_TYPE_NESTED},
	[IFLA_INFO_SLAVE_KIND] = {MNL_TYPE_STRING, 1},
	[IFLA_INFO_SLAVE_DATA] = {MNL_TYPE_NESTED},
};

static const struct attr_type vlan_types[IFLA_VLAN_MAX + 1] = {
	[IFLA_VLAN_ID] = {MNL_TYPE_U16},
	[IFLA_VLAN_PROTOCOL] = {MNL_TYPE_U16},
	[IFLA_VLAN_EGRESS_QOS] = {MNL_TYPE_NESTED},
	[IFLA_VLAN_INGRESS_QOS] = {MNL_TYPE_NESTED},
};

void links_refer(struct links_dump *dump, json_t *obj, const char *key, const struct nlattr *index)
{
	uint32_t value;

	if (!attr_get_u32(index, &value) || !value)
		return;
	array_reserve(dump->references, dump->n, dump->capacity);
	dump->references[dump->n++] =
		(struct link_reference){.obj = json_incref(obj), .key = key, .index = value};
}

void links_resolve(struct links_dump *dump)
{
	_cleanup_link_table_ struct link_table table;

	link_table_load(&table, dump->o->snapshot);
	for (size_t i = 0; i < dump->n; i++) {
		const struct link_reference *r = &dump->references[i];
		const struct link_entry *e = link_table_find(&table, r->index);

		if (e)
			json_put_string(r->obj, r->key, e->name);
	}
}

void links_dump_clear(struct links_dump *dump)
{
	for (size_t i = 0; i < dump->n; i++)
		json_decref(dump->references[i].obj);
	free(dump->references);
	*dump = (struct links_dump){0};
}

static void put_statistics(json_t *link, const struct nlattr *a)
{
	uint64_t v[8]; /* head of struct rtnl_link_stats64 */
	json_t *s;

	if (!attr_get_struct(a, v, sizeof(v)))
		return;
	s = json_obj(link, "statistics");
	json_put_u64(s, "rx_bytes", v[2]);
	json_put_u64(s, "tx_bytes", v[3]);
	json_put_u64(s, "rx_packets", v[0]);
	json_put_u64(s, "tx_packets", v[1]);
	json_put_u64(s, "rx_errors", v[4]);
	json_put_u64(s, "tx_errors", v[5]);
	json_put_u64(s, "rx_dropped", v[6]);
	json_put_u64(s, "tx_dropped", v[7]);
}

/* A list of mappings. The kernel sends no list when there are none; a broken one is not put. */
static int put_vlan_map(json_t *vlan, const char *key, const struct nlattr *list)
{
	_cleanup_json_ json_t *map = json_object_new();

	for (const struct nlattr *a = NULL; (a = attr_next_nested(list, a));) {
		struct ifla_vlan_qos_mapping m;
		_cleanup_free_ char *from = NULL;

		if (mnl_attr_get_type(a) != IFLA_VLAN_QOS_MAPPING)
			continue;
		if (!attr_get_struct(a, &m, sizeof(m)))
			return -EBADMSG;
		from = xasprintf("%u", m.from);
		json_put_int(map, from, m.to);
	}
	json_put(vlan, key, json_incref(map));
	return 0;
}

static int parse_vlan(json_t *link, const struct nlattr *data)
{
	const struct nlattr *tb[IFLA_VLAN_MAX + 1];
	int rc = attr_parse_nested(data, tb, IFLA_VLAN_MAX, vlan_types);
	json_t *vlan = json_obj(link, "vlan");
	uint32_t protocol;

	attr_put_number(vlan, "id", tb[IFLA_VLAN_ID]);
	if (attr_get_u32(tb[IFLA_VLAN_PROTOCOL], &protocol)) {
		protocol = ntohs((uint16_t)protocol);
		if (protocol == 0x8100)
			json_put_string(vlan, "protocol", "802.1Q");
		else if (protocol == 0x88a8)
			json_put_string(vlan, "protocol", "802.1ad");
		else
			json_put_stringf(vlan, "protocol", "0x%04x", protocol);
	}
	if (rc < 0)
		return rc; /* the dropped attribute may be a list: do not call it empty */
	rc = put_vlan_map(vlan, "egress", tb[IFLA_VLAN_EGRESS_QOS]);
	if (put_vlan_map(vlan, "ingress", tb[IFLA_VLAN_INGRESS_QOS]) < 0)
		rc = -EBADMSG;
	return rc;
}

static int parse_info(struct links_dump *dump, json_t *link, const struct nlattr *info)
{
	const struct nlattr *tb[IFLA_INFO_MAX + 1];
	int rc = attr_parse_nested(info, tb, IFLA_INFO_MAX, info_types);
	_cleanup_free_ char *kind = attr_text(tb[IFLA_INFO_KIND]);
	_cleanup_free_ char *port_kind = attr_text(tb[IFLA_INFO_SLAVE_KIND]);
	int more = 0;

	if (rc == 0 || kind)
		json_put_string(link, "kind", kind ? kind : "");
	if (kind && !strcmp(kind, "bond"))
		more = links_parse_bond(dump, link, tb[IFLA_INFO_DATA]);
	else if (kind && !strcmp(kind, "vlan"))
		more = parse_vlan(link, tb[IFLA_INFO_DATA]);
	if (more < 0)
		rc = more;
	if (port_kind && !strcmp(port_kind, "bond"))
		more = links_parse_bond_port(link, tb[IFLA_INFO_SLAVE_DATA]);
	return more < 0 ? more : rc;
}

static void put_alternative_names(json_t *link, const struct nlattr *list)
{
	json_t *names = json_arr(link, "alternative_names");

	for (const struct nlattr *a = NULL; (a = attr_next_nested(list, a));) {
		_cleanup_free_ char *name = NULL;

		if (mnl_attr_get_type(a) != IFLA_ALT_IFNAME)
			continue;
		name = attr_text(a);
		if (name)
			json_append_text(names, name);
	}
}

int links_parse_link(const struct nlmsghdr *nlh, void *data)
{
	struct links_dump *dump = data;
	const struct ifinfomsg *ifi = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *tb[IFLA_MAX + 1];
	_cleanup_free_ char *name = NULL;
	uint32_t lower;
	json_t *link;
	int rc;

	if (nlh->nlmsg_type != RTM_NEWLINK)
		return 0;
	rc = attr_parse(nlh, sizeof(*ifi), tb, IFLA_MAX, link_types);
	name = attr_text(tb[IFLA_IFNAME]);
	if (!name || ifi->ifi_index <= 0) {
		observe_gap(dump->o, -EBADMSG, NULL, "the kernel described a link without a name",
			    "/links");
		return 0;
	}
	link = json_object_new();
	json_put(json_obj(dump->o->snapshot, "links"), name, link);

	json_put_int(link, "index", ifi->ifi_index);
	attr_put_number(link, "mtu", tb[IFLA_MTU]);
	attr_put_number(link, "min_mtu", tb[IFLA_MIN_MTU]);
	attr_put_number(link, "max_mtu", tb[IFLA_MAX_MTU]);
	attr_put_mac(link, "mac", tb[IFLA_ADDRESS]);
	attr_put_mac(link, "permanent_mac", tb[IFLA_PERM_ADDRESS]);
	if (tb[IFLA_LINKINFO]) {
		if (parse_info(dump, link, tb[IFLA_LINKINFO]) < 0)
			rc = -EBADMSG;
	} else if (!rc) {
		json_put_string(link, "kind", "");
	}
	attr_put_text(link, "parent_bus", tb[IFLA_PARENT_DEV_BUS_NAME]);
	attr_put_text(link, "parent_device", tb[IFLA_PARENT_DEV_NAME]);
	attr_put_text(link, "port_name", tb[IFLA_PHYS_PORT_NAME]);
	json_put_bool(link, "up", ifi->ifi_flags & IFF_UP);
	attr_put_bool(link, "carrier", tb[IFLA_CARRIER]);
	attr_put_name(link, "operstate", tb[IFLA_OPERSTATE], operstates, ARRAY_SIZE(operstates));
	links_refer(dump, link, "master", tb[IFLA_MASTER]);
	/* with a namespace id the index counts there; some devices name themselves */
	if (!tb[IFLA_LINK_NETNSID] && attr_get_u32(tb[IFLA_LINK], &lower) &&
	    lower != (uint32_t)ifi->ifi_index)
		links_refer(dump, link, "lower", tb[IFLA_LINK]);
	put_alternative_names(link, tb[IFLA_PROP_LIST]);
	put_statistics(link, tb[IFLA_STATS64]);
	if (rc < 0)
		observe_gap(dump->o, rc, NULL,
			    "the kernel's description has an attribute of unknown form",
			    "/links/%s", name);
	return 0;
}

/* Is it a virtual function of another? How many has it? */
static void observe_functions(struct observation *o, const char *name, json_t *link)
{
	const char *device = json_get_string(link, "parent_device", "");
	_cleanup_error_ struct error err = {0};
	_cleanup_free_ char *pf = NULL;
	int64_t n;
	int rc;

	if (strcmp(json_get_string(link, "parent_bus", ""), "pci") != 0)
		return;
	rc = host_readlink(o->host, &pf, &err, "/sys/bus/pci/devices/%s/physfn", device);
	if (rc < 0 && rc != -ENOENT) {
		observe_gap(o, rc, NULL, error_text(&err), "/links/%s/virtual_function", name);
		return;
	}
	json_put_bool(link, "virtual_function", rc >= 0);
	/* IFLA_NUM_VF would cost a table of all functions in the dump (RTEXT_FILTER_VF) */
	if (rc < 0 && !host_read_int(o->host, &n, NULL, "/sys/bus/pci/devices/%s/sriov_numvfs",
				     device))
		json_put_int(link, "vfs", n);
}

/* Parent device from sysfs: IFLA_PARENT_DEV_NAME came with Linux 5.14. */
static void observe_parent(struct observation *o, const char *name, json_t *link)
{
	if (link_has_parent(link) || *json_get_string(link, "kind", "-"))
		return;
	_cleanup_free_ char *parent = host_readlink_base(o->host, "/sys/class/net/%s/device", name);
	_cleanup_free_ char *bus = host_readlink_base(o->host,
						      "/sys/class/net/%s/device/subsystem", name);

	json_put_string(link, "parent_device", parent);
	json_put_string(link, "parent_bus", bus);
}

/* One dump. The request's only attribute asks the kernel to leave out what is not used here. */
static int dump(struct observation *o, uint16_t type, host_netlink_cb cb, void *data,
		struct error *err)
{
	char buffer[HOST_NETLINK_REQUEST_MAX] = {0};
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer);

	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	if (type == RTM_GETLINK) {
		mnl_nlmsg_put_extra_header(nlh, sizeof(struct ifinfomsg));
		/* no per-link IPv6 counters: half of the dump on a node with hundreds of links */
		mnl_attr_put_u32(nlh, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
	} else {
		mnl_nlmsg_put_extra_header(nlh, sizeof(struct ifaddrmsg));
	}
	return host_netlink(o->host, NETLINK_ROUTE, nlh, cb, data, err);
}

static void observe_addresses(struct observation *o, const struct link_table *table)
{
	_cleanup_error_ struct error err = {0};
	struct links_context c = {.o = o, .table = table};
	int rc;

	/* made empty only when the kernel answered: an absent list is "not observed" */
	rc = dump(o, RTM_GETADDR, links_parse_address, &c, &err);
	for (size_t i = 0; i < table->n; i++) {
		if (rc < 0)
			observe_gap(o, rc, NULL, error_text(&err), "/links/%s/addresses",
				    table->entries[i].name);
		else
			json_arr(table->entries[i].link, "addresses");
	}
}

void observe_links(struct observation *o)
{
	_cleanup_error_ struct error err = {0};
	_cleanup_link_table_ struct link_table table = {0};
	struct links_dump state = {.o = o};
	const char *name;
	json_t *link;
	int rc;

	rc = dump(o, RTM_GETLINK, links_parse_link, &state, &err);
	if (rc < 0) {
		observe_gap(o, rc, NULL, error_text(&err), "/links");
		observe_gap(o, rc, NULL, error_text(&err), "/routes");
		links_dump_clear(&state);
		return;
	}
	links_resolve(&state);
	links_dump_clear(&state);
	json_object_foreach(json_obj(o->snapshot, "links"), name, link) {
		observe_parent(o, name, link);
		observe_functions(o, name, link);
	}
	links_observe_bond_text(o);

	link_table_load(&table, o->snapshot);
	observe_addresses(o, &table);
	routes_observe(o, &table);
}
