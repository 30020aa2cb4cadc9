/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parsers of rtnetlink's answers for /links and /routes. Each is a host_netlink_cb, a pure function
 * of one message: it reads the message, writes the snapshot, and opens no door.
 */
#pragma once

#include "observe/attr.h"
#include "observe/link_table.h"
#include "observe/observe.h"

/* obj[key] = name of the link with `index`, once all names are known. */
struct link_reference {
	json_t *obj; /* held: a second message of the same name replaces it in the snapshot */
	const char *key;	/* literal */
	uint32_t index;
};

/* State of one RTM_GETLINK dump. */
struct links_dump {
	struct observation *o;
	struct link_reference *references; /* owned */
	size_t n, capacity;
};

/* RTM_NEWLINK -> /links/NAME. `data` is a struct links_dump. Always 0. */
int links_parse_link(const struct nlmsghdr *nlh, void *data);
/* Remember that obj[key] is the name of the link `index` (0: no link). */
void links_refer(struct links_dump *dump, json_t *obj, const char *key, const struct nlattr *index);
/* Fill in the remembered names; indices without a link (in another namespace) are left out. */
void links_resolve(struct links_dump *dump);
void links_dump_clear(struct links_dump *dump);

/* IFLA_INFO_DATA of a bond -> link["bond"], of a bond's port (IFLA_INFO_SLAVE_DATA) ->
 * link["bond_port"]. 0, or -EBADMSG when something in it did not fit. */
int links_parse_bond(struct links_dump *dump, json_t *link, const struct nlattr *data);
int links_parse_bond_port(json_t *link, const struct nlattr *data);

/* State of a dump of what belongs to links. */
struct links_context {
	struct observation *o;
	const struct link_table *table;
	size_t dropped;		/* routes beyond ROUTES_MAX */
	bool nexthop_objects;	/* a route names a nexthop object and no nexthop */
};

/* RTM_NEWADDR -> /links/NAME/addresses. `data` is a struct links_context. Always 0. */
int links_parse_address(const struct nlmsghdr *nlh, void *data);

/* "ipv4", "ipv6", or NULL for another AF_*. */
const char *links_family_name(int family);
/* obj["scope"] = word for an RT_SCOPE_*. */
void links_put_scope(json_t *obj, uint8_t scope);

/* Routes that are kept in a snapshot: a node that carries a full routing table shall not make it
 * unreadable. */
#define ROUTES_MAX 20000u
/* Numbers of other tables that are kept: enough to see that there are some. */
#define ROUTE_TABLES_MAX 64u
/* RTM_NEWROUTE of the main and local tables -> /routes, the numbers of other tables ->
 * /route_tables. `data` as above. Always 0. */
int routes_parse_route(const struct nlmsghdr *nlh, void *data);
/* Ask for the routes of both families. */
void routes_observe(struct observation *o, const struct link_table *table);

/*
 * Text of /proc/net/bonding/BOND -> members of /links/PORT/bond_port of its ports. `text` is
 * overwritten. Returns the number of ports whose LACPDU details were in the text (the kernel shows
 * them only to CAP_NET_ADMIN), or a negative errno: -EBADMSG when it is not such a file.
 */
int links_parse_bond_text(json_t *links, char *text);
/* Read that file for every bond of /links; gaps where it cannot be read. */
void links_observe_bond_text(struct observation *o);
