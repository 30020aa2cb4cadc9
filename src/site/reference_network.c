/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What cannot be true of the network that a site declares: next hops outside of their networks, a
 * second default route, VLANs and MTUs that the kernel refuses, one cable in two nodes. Works on
 * merged nodes, after site_check_references() found that their names lead somewhere.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "site/schema.h"

/* An address or network; scalars were checked to be one. */
struct network {
	int family;
	unsigned bits;		/* of an address of the family */
	unsigned prefix;	/* `bits` when none is written */
	unsigned char address[sizeof(struct in6_addr)];
};

struct network_checker {
	struct complaints *complaints;
	const struct tree *switches;	/* switch/names, may be NULL */
	const char *node;
	const struct tree *links, *bonds, *vlans;	/* of the node; may be NULL */
	const struct tree *default_route[2];	/* of the node: IPv4, IPv6; NULL: none yet */
	/* over the whole site: value -> "who (line N)" */
	json_t *addresses, *node_ips, *logins, *switch_ports;
};

static struct network network_of(const char *text)
{
	_cleanup_free_ char *address = xstrndup(text, strcspn(text, "/"));
	const char *slash = strchr(text, '/');
	struct network n = { .family = strchr(text, ':') ? AF_INET6 : AF_INET };

	inet_pton(n.family, address, n.address);
	n.bits = n.family == AF_INET6 ? 128 : 32;
	n.prefix = slash ? (unsigned)strtoul(slash + 1, NULL, 10) : n.bits;
	return n;
}

/* Are the first `prefix` bits the same? */
static bool same_bits(const struct network *a, const struct network *b, unsigned prefix)
{
	unsigned bytes = prefix / 8, rest = prefix % 8;

	return a->family == b->family && !memcmp(a->address, b->address, bytes) &&
	       (!rest || !((a->address[bytes] ^ b->address[bytes]) >> (8 - rest)));
}

/* Are all bits after the prefix `bit`? */
static bool rest_is(const struct network *n, unsigned bit)
{
	for (unsigned i = n->prefix; i < n->bits; i++)
		if ((n->address[i / 8] >> (7 - i % 8) & 1u) != bit)
			return false;
	return true;
}

static bool is_link_local(const struct network *n)
{
	return n->family == AF_INET6 && n->address[0] == 0xfe && (n->address[1] & 0xc0) == 0x80;
}

static char *path_of(const struct network_checker *k, const char *section, const char *name)
{
	return xasprintf("nodes/%s/%s/%s", k->node, section, name);
}

/* `value` may be there once in the site. `what` begins the message. */
static void take_once(struct network_checker *k, json_t *taken, const char *key, const char *what,
		      const struct tree *value, const char *section, const char *link)
{
	_cleanup_free_ char *path = link ? path_of(k, section, link) :
					   xasprintf("nodes/%s/%s", k->node, section);
	const char *before = json_get_string(taken, key, NULL);

	if (before)
		complain(k->complaints, value->where, path, "%s belongs to %s already", what,
			 before);
	else
		json_put_stringf(taken, key, "%s%s%s (line %u)", k->node, link ? "/" : "",
				 link ? link : "", value->where.line);
}

/* --- addresses and routes --------------------------------------------------------------------- */

static void check_address(struct network_checker *k, const char *path, const struct tree *value)
{
	struct network n = network_of(value->text);
	_cleanup_free_ char *key = site_canonical_address(value->text);

	json_put_string(k->addresses, key, k->node);
	/* RFC 3021: a /31 has neither */
	if (n.family != AF_INET || n.prefix > 30)
		return;
	if (rest_is(&n, 0) || rest_is(&n, 1))
		complain(k->complaints, value->where, path, "%s is the %s of its network",
			 value->text, rest_is(&n, 0) ? "name" : "broadcast address");
}

/* A next hop has to be a neighbour. A link without addresses is told by others. */
static void check_next_hop(struct network_checker *k, const char *path, const char *what,
			   const struct tree *hop, const struct tree *addresses)
{
	struct network to = network_of(hop->text);

	if (!addresses || !addresses->n || is_link_local(&to))
		return;
	for (size_t i = 0; i < addresses->n; i++) {
		struct network own = network_of(addresses->items[i]->text);

		if (same_bits(&own, &to, own.bits)) {
			complain(k->complaints, hop->where, path, "%s %s is the link's own address",
				 what, hop->text);
			return;
		}
		/* of an address without a network the neighbour cannot be told */
		if (same_bits(&own, &to, own.prefix) ||
		    (own.family == to.family && own.prefix == own.bits))
			return;
	}
	/* without the line of the addresses: what a profile has wrong for all is told once */
	complain(k->complaints, hop->where, path,
		 "%s %s is in none of the link's networks", what, hop->text);
}

/* The schema has no metric, so which one of two wins would be chance. */
static void check_default_route(struct network_checker *k, const char *path,
				const struct tree *hop)
{
	bool ipv6 = network_of(hop->text).family == AF_INET6;
	const struct tree *before = k->default_route[ipv6];

	if (before)
		complain(k->complaints, hop->where, path,
			 "the node has a default route of IPv%c already, by %s (line %u)",
			 ipv6 ? '6' : '4', before->text, before->where.line);
	else
		k->default_route[ipv6] = hop;
}

static void check_route(struct network_checker *k, const char *path, const struct tree *route,
			const struct tree *addresses)
{
	const struct tree *to = tree_get(route, "to"), *via = tree_get(route, "via");

	if (!to || !via)
		return;
	struct network target = network_of(to->text);
	if (target.family != network_of(via->text).family) {
		complain(k->complaints, via->where, path,
			 "the next hop %s is of another family than %s", via->text, to->text);
		return;
	}
	check_next_hop(k, path, "next hop", via, addresses);
	if (!target.prefix)
		check_default_route(k, path, via);
}

static void check_addresses(struct network_checker *k, const char *section, const struct tree *map)
{
	for (size_t i = 0; map && i < map->n && !complaints_full(k->complaints); i++) {
		const struct tree *link = map->pairs[i].value;
		const struct tree *addresses = tree_get(link, "addresses");
		const struct tree *gateway = tree_get(link, "gateway");
		const struct tree *routes = tree_get(link, "routes");
		_cleanup_free_ char *path = path_of(k, section, map->pairs[i].key->text);

		for (size_t j = 0; addresses && j < addresses->n; j++)
			check_address(k, path, addresses->items[j]);
		if (gateway) {
			check_next_hop(k, path, "gateway", gateway, addresses);
			check_default_route(k, path, gateway);
		}
		for (size_t j = 0; routes && j < routes->n; j++)
			check_route(k, path, routes->items[j], addresses);
	}
}

/* --- VLANs, bonds and their MTU --------------------------------------------------------------- */

static int64_t mtu_of(const struct tree *link)
{
	const char *text = tree_text(link, "mtu");

	return text ? strtoll(text, NULL, 10) : 0;
}

/* net/8021q: an id stands on a link once, and its MTU fits in the link's. */
static void check_vlans(struct network_checker *k)
{
	_cleanup_json_ json_t *taken = json_object_new();

	for (size_t i = 0; k->vlans && i < k->vlans->n && !complaints_full(k->complaints); i++) {
		const struct tree_pair *vlan = &k->vlans->pairs[i];
		const struct tree *id = tree_get(vlan->value, "id");
		const char *below = tree_text(vlan->value, "link");

		if (!id || !below)
			continue;
		_cleanup_free_ char *path = path_of(k, "vlans", vlan->key->text);
		_cleanup_free_ char *key = xasprintf("%s/%s", below, id->text);
		const char *before = json_get_string(taken, key, NULL);
		const struct tree *parent = tree_get(k->links, below);

		if (before)
			complain(k->complaints, id->where, path, "VLAN %s of '%s' is '%s' already",
				 id->text, below, before);
		json_put_string(taken, key, vlan->key->text);
		parent = parent ? parent : tree_get(k->bonds, below);
		parent = parent ? parent : tree_get(k->vlans, below);
		if (mtu_of(parent) && mtu_of(vlan->value) > mtu_of(parent))
			complain(k->complaints, tree_get(vlan->value, "mtu")->where, path,
				 "MTU %s is larger than that of '%s', %s (line %u)",
				 tree_text(vlan->value, "mtu"), below, tree_text(parent, "mtu"),
				 tree_get(parent, "mtu")->where.line);
	}
}

/* drivers/net/bonding: ports take the MTU of the bond, and what they receive is the bond's. */
static void check_bond_port(struct network_checker *k, const struct tree_pair *bond,
			    const char *name)
{
	const struct tree *port = tree_get(k->links, name);
	const struct tree *addresses = tree_get(port, "addresses");
	_cleanup_free_ char *path = path_of(k, "links", name);

	if (addresses && addresses->n)
		complain(k->complaints, addresses->where, path,
			 "a port of bond '%s' has no addresses of its own", bond->key->text);
	if (mtu_of(port) && mtu_of(bond->value) && mtu_of(port) != mtu_of(bond->value))
		complain(k->complaints, tree_get(port, "mtu")->where, path,
			 "MTU %s is not that of bond '%s', %s (line %u), which its ports take",
			 tree_text(port, "mtu"), bond->key->text, tree_text(bond->value, "mtu"),
			 tree_get(bond->value, "mtu")->where.line);
}

static void check_bonds(struct network_checker *k)
{
	for (size_t i = 0; k->bonds && i < k->bonds->n && !complaints_full(k->complaints); i++) {
		const struct tree *ports = tree_get(k->bonds->pairs[i].value, "ports");

		for (size_t j = 0; ports && j < ports->n; j++)
			check_bond_port(k, &k->bonds->pairs[i], ports->items[j]->text);
	}
}

/* --- cables ----------------------------------------------------------------------------------- */

static bool is_among(const struct tree *names, const char *name)
{
	for (size_t i = 0; i < names->n; i++)
		if (!strcmp(names->items[i]->text, name))
			return true;
	return false;
}

static void check_cables(struct network_checker *k)
{
	for (size_t i = 0; k->links && i < k->links->n && !complaints_full(k->complaints); i++) {
		const struct tree_pair *link = &k->links->pairs[i];
		const struct tree *at = tree_get(link->value, "switch");
		const struct tree *port = tree_get(link->value, "switch_port");
		const char *name = at ? at->text : NULL;
		bool known = k->switches && k->switches->n;

		if (at && known && !is_among(k->switches, name)) {
			_cleanup_free_ char *path = path_of(k, "links", link->key->text);
			_cleanup_free_ char *found = complaint_quote(name);

			complain(k->complaints, at->where, path,
				 "switch %s is not one of switch/names (line %u)", found,
				 k->switches->where.line);
		}
		if (!name && known && k->switches->n == 1)
			name = k->switches->items[0]->text;
		if (!name || !port)
			continue;
		_cleanup_free_ char *key = xasprintf("%s %s", name, port->text);
		_cleanup_free_ char *what = xasprintf("port %s of %s", port->text, name);

		take_once(k, k->switch_ports, key, what, port, "links", link->key->text);
	}
}

/* --- nodes ------------------------------------------------------------------------------------ */

static void check_identity(struct network_checker *k, const struct tree *node)
{
	const struct tree *node_ip = tree_get(node, "node_ip");
	const struct tree *ssh = tree_get(tree_get(node, "ssh"), "address");
	const char *port = tree_text(tree_get(node, "ssh"), "port");
	_cleanup_free_ char *ip = node_ip ? site_canonical_address(node_ip->text) : NULL;
	const char *owner = ip ? json_get_string(k->addresses, ip, NULL) : NULL;

	if (owner && strcmp(owner, k->node) != 0) {
		_cleanup_free_ char *path = xasprintf("nodes/%s/node_ip", k->node);

		complain(k->complaints, node_ip->where, path, "%s is an address of %s",
			 node_ip->text, owner);
	} else if (node_ip) {
		take_once(k, k->node_ips, ip, ip, node_ip, "node_ip", NULL);
	}
	if (ssh) {
		/* behind one address there may be several machines, at a port each */
		_cleanup_free_ char *login = xasprintf("%s %s", ssh->text, port ? port : "22");
		_cleanup_free_ char *what = xasprintf("the login at %s", ssh->text);

		take_once(k, k->logins, login, what, ssh, "ssh/address", NULL);
	}
}

static void check_node(struct network_checker *k, const struct tree_pair *node)
{
	k->node = node->key->text;
	k->links = tree_get(node->value, "links");
	k->bonds = tree_get(node->value, "bonds");
	k->vlans = tree_get(node->value, "vlans");
	k->default_route[0] = k->default_route[1] = NULL;
	check_addresses(k, "links", k->links);
	check_addresses(k, "bonds", k->bonds);
	check_addresses(k, "vlans", k->vlans);
	check_vlans(k);
	check_bonds(k);
	check_cables(k);
}

void site_check_network(const struct tree *root, const struct tree *nodes, struct complaints *c)
{
	_cleanup_json_ json_t *addresses = json_object_new(), *node_ips = json_object_new();
	_cleanup_json_ json_t *logins = json_object_new(), *switch_ports = json_object_new();
	struct network_checker k = {
		.complaints = c, .switches = tree_get(tree_get(root, "switch"), "names"),
		.addresses = addresses, .node_ips = node_ips, .logins = logins,
		.switch_ports = switch_ports,
	};

	for (size_t i = 0; i < nodes->n && !complaints_full(c); i++)
		check_node(&k, &nodes->pairs[i]);
	/* when the addresses of all nodes are known */
	for (size_t i = 0; i < nodes->n && !complaints_full(c); i++) {
		k.node = nodes->pairs[i].key->text;
		check_identity(&k, nodes->pairs[i].value);
	}
}
