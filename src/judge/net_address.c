/* SPDX-License-Identifier: Apache-2.0 */
/* net.address: each declared address on its link, and the way to the peers leaves by that link. */
#include <arpa/inet.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "judge/net.h"
#include "judge/pairs.h"
#include "judge/subject.h"

/* An address, or a network when only the first `prefix` bits count. */
struct address {
	int family;		/* AF_INET, AF_INET6 */
	unsigned char bytes[16];
	unsigned bits;		/* 32 or 128 */
	unsigned prefix;
};

/* One declared address. */
struct declared {
	const char *link;
	const char *text;	/* as declared, with or without prefix */
	bool has_prefix;
	const struct site_where *where;
	struct address address;
};

struct check {
	struct judging *g;
	struct declared *d;
	size_t n, capacity;
};

static bool address_parse(const char *text, struct address *a)
{
	const char *slash = strchr(text, '/');
	_cleanup_free_ char *host = xstrndup(text, slash ? (size_t)(slash - text) : strlen(text));
	uint64_t prefix;

	*a = (struct address){ .family = strchr(host, ':') ? AF_INET6 : AF_INET };
	a->bits = a->prefix = a->family == AF_INET ? 32 : 128;
	if (inet_pton(a->family, host, a->bytes) != 1)
		return false;
	if (!slash)
		return true;
	if (text_to_u64(slash + 1, 10, &prefix) < 0 || prefix > a->bits)
		return false;
	a->prefix = (unsigned)prefix;
	return true;
}

/* Do the first `bits` bits agree? */
static bool same_bits(const struct address *a, const struct address *b, unsigned bits)
{
	if (a->family != b->family || memcmp(a->bytes, b->bytes, bits / 8))
		return false;
	if (!(bits % 8))
		return true;

	unsigned mask = 0xffu << (8 - bits % 8) & 0xffu;

	return (a->bytes[bits / 8] & mask) == (b->bytes[bits / 8] & mask);
}

static bool same_address(const struct address *a, const struct address *b)
{
	return same_bits(a, b, a->bits);
}

static unsigned shorter(const struct address *a, const struct address *b)
{
	return a->prefix < b->prefix ? a->prefix : b->prefix;
}

/* --- what is declared -------------------------------------------------------------------------------- */

static void add(struct check *c, const char *link, const char *text, const struct site_where *where)
{
	struct declared d = { .link = link, .text = text, .where = where,
			      .has_prefix = strchr(text, '/') != NULL };

	if (!address_parse(text, &d.address))
		return;		/* the site parser has refused it */
	for (size_t i = 0; i < c->n; i++) {
		if (!strcmp(c->d[i].link, link) && same_address(&c->d[i].address, &d.address))
			return;
	}
	array_reserve(c->d, c->n, c->capacity);
	c->d[c->n++] = d;
}

static void add_all(struct check *c, const char *link, char *const *texts, const struct site_where *where)
{
	for (; texts && *texts; texts++)
		add(c, link, *texts, where);
}

static void collect(struct check *c, const struct site_node *node)
{
	for (size_t i = 0; i < node->n_links; i++)
		add_all(c, node->links[i].name, node->links[i].addresses, &node->links[i].where);
	for (size_t i = 0; i < node->n_bonds; i++)
		add_all(c, node->bonds[i].name, node->bonds[i].addresses, &node->bonds[i].where);
	for (size_t i = 0; i < node->n_vlans; i++)
		add_all(c, node->vlans[i].name, node->vlans[i].addresses, &node->vlans[i].where);
	for (size_t i = 0; i < node->n_rdma; i++) {
		if (node->rdma[i].address)
			add(c, node->rdma[i].link, node->rdma[i].address, &node->rdma[i].where);
	}
}

/* --- on its link? --------------------------------------------------------------------------------------- */

/* The entry of /links/LINK/addresses with this address, or NULL. */
static json_t *entry_on(struct judging *g, const char *link, const struct address *want)
{
	json_t *entry;
	size_t i;

	json_array_foreach(peek(g, "/links/%s/addresses", link), i, entry) {
		struct address a;
		const char *text = json_get_string(entry, "address", NULL);

		if (text && address_parse(text, &a) && same_address(&a, want))
			return entry;
	}
	return NULL;
}

static const char *other_link_with(struct judging *g, const struct address *want, const char *link)
{
	const char *name;
	json_t *l;

	json_object_foreach(peek(g, "/links"), name, l) {
		if (strcmp(name, link) && entry_on(g, name, want))
			return name;
	}
	return NULL;
}

static bool has_flag(json_t *entry, const char *flag)
{
	json_t *f;
	size_t i;

	json_array_foreach(json_object_get(entry, "flags"), i, f) {
		if (json_is_string(f) && !strcmp(json_string_value(f), flag))
			return true;
	}
	return false;
}

/* False when the address is not where it belongs; the cause is said then. */
static bool judge_placed(struct check *c, struct declared *d)
{
	struct judging *g = c->g;
	const char *fix = judge_text(g, "nmcli connection modify %s +ipv%c.addresses %s && nmcli connection up %s",
				     d->link, d->address.family == AF_INET ? '4' : '6', d->text, d->link);
	const char *other = other_link_with(g, &d->address, d->link);

	fact_declared(g, d->where, json_text_new(d->text), "nodes/%s/%s/address", g->node->name, d->link);
	if (!peek(g, "/links/%s", d->link)) {
		judge_fail(g, "address-link-missing", "create the link first (bond, VLAN); see its own gates",
			   "there is no link %s, so %s is nowhere", d->link, d->text);
		return false;
	}
	if (!fact(g, "/links/%s/addresses", d->link))
		return false;

	json_t *entry = entry_on(g, d->link, &d->address);

	if (!entry && other) {
		fact_optional(g, "/links/%s/addresses", other);
		judge_fail(g, "address-on-other-link", fix, "%s is on %s, declared is %s", d->text, other, d->link);
	} else if (!entry) {
		judge_fail(g, "address-missing", fix, "%s is not on %s", d->text, d->link);
	} else if (d->has_prefix && json_get_int(entry, "prefix", -1) != d->address.prefix) {
		judge_fail(g, "address-prefix", fix, "%s has prefix /%lld on %s", d->text,
			   (long long)json_get_int(entry, "prefix", -1), d->link);
	} else if (has_flag(entry, "dadfailed")) {
		judge_fail(g, "address-duplicate", "find the other machine with this address",
			   "%s on %s: another machine uses this address (dadfailed)", d->text, d->link);
	} else if (other) {
		fact_optional(g, "/links/%s/addresses", other);
		judge_fail(g, "address-twice", judge_text(g, "ip address del %s dev %s", d->text, other),
			   "%s is on %s and also on %s", d->text, d->link, other);
	} else {
		if (!d->has_prefix)
			d->address.prefix = (unsigned)json_get_int(entry, "prefix", d->address.bits);
		return d->address.prefix <= d->address.bits;
	}
	return false;
}

/* --- subnets ------------------------------------------------------------------------------------------------ */

static bool arp_is_strict(struct judging *g)
{
	const char *ignore = fact_optional_string(g, "/os/sysctl/net.ipv4.conf.all.arp_ignore");
	const char *announce = fact_optional_string(g, "/os/sysctl/net.ipv4.conf.all.arp_announce");

	return ignore && strcmp(ignore, "0") && announce && !strcmp(announce, "2");
}

/* Two links in one subnet: the kernel takes one of them for both, ARP answers on either. */
static bool judge_overlaps(struct check *c)
{
	struct judging *g = c->g;
	bool any = false;

	for (size_t i = 0; i < c->n; i++) {
		for (size_t k = i + 1; k < c->n; k++) {
			const struct declared *a = &c->d[i], *b = &c->d[k];
			unsigned prefix = shorter(&a->address, &b->address);

			if (!strcmp(a->link, b->link) || prefix == a->address.bits ||
			    !same_bits(&a->address, &b->address, prefix))
				continue;
			any = true;
			if (arp_is_strict(g))
				judge_warn(g, "subnet-overlap", "give each rail a subnet of its own",
					   "%s (%s) and %s (%s) share a subnet; ARP is strict, routing must be by "
					   "source", a->link, a->text, b->link, b->text);
			else
				judge_fail(g, "subnet-overlap", "give each rail a subnet of its own",
					   "%s (%s) and %s (%s) share a subnet: traffic of both leaves by one link",
					   a->link, a->text, b->link, b->text);
		}
	}
	return any;
}

/* --- routes ------------------------------------------------------------------------------------------------- */

static bool in_main_table(json_t *route)
{
	json_t *table = json_object_get(route, "table");

	if (json_is_integer(table))
		return json_integer_value(table) == 254;	/* RT_TABLE_MAIN */
	return !json_is_string(table) || !strcmp(json_string_value(table), "main");
}

static bool route_network(json_t *route, int family, struct address *net)
{
	const char *to = json_get_string(route, "destination", NULL);
	bool v6 = !strcmp(json_get_string(route, "family", "ipv4"), "ipv6");

	if (!to || !in_main_table(route) || v6 != (family == AF_INET6))
		return false;
	if (!strcmp(to, "default")) {
		*net = (struct address){ .family = family, .bits = family == AF_INET ? 32 : 128 };
		return true;
	}
	return address_parse(to, net);
}

static bool route_uses(json_t *route, const char *link)
{
	json_t *hop;
	size_t i;

	json_array_foreach(json_object_get(route, "nexthops"), i, hop) {
		if (!strcmp(json_get_string(hop, "link", ""), link))
			return true;
	}
	return !strcmp(json_get_string(route, "link", ""), link);
}

static const char *route_link(json_t *route)
{
	const char *link = json_get_string(route, "link", NULL);

	if (!link)
		link = json_get_string(json_array_get(json_object_get(route, "nexthops"), 0), "link", "?");
	return link;
}

/* Index of the route of the main table that an address takes (longest prefix, lowest metric), or -1. */
static int best_route(struct judging *g, const struct address *to)
{
	json_t *route;
	size_t i;
	int best = -1;
	unsigned best_prefix = 0;
	int64_t best_metric = 0;

	json_array_foreach(peek(g, "/routes"), i, route) {
		struct address net;
		int64_t metric = json_get_int(route, "metric", 0);

		if (!route_network(route, to->family, &net) || !same_bits(&net, to, net.prefix))
			continue;
		if (best < 0 || net.prefix > best_prefix ||
		    (net.prefix == best_prefix && metric < best_metric)) {
			best = (int)i;
			best_prefix = net.prefix;
			best_metric = metric;
		}
	}
	return best;
}

static const char *down_bond(struct judging *g, const char *link)
{
	const char *base = subject_base_link(g->snapshot, link);

	if (!site_bond_find(g->node, base) || json_is_true(peek(g, "/links/%s/carrier", base)))
		return NULL;
	return base;
}

/* Does what goes to `to` leave by `link`? */
static void judge_route(struct judging *g, const char *link, const struct address *to, const char *what)
{
	int best = best_route(g, to);
	json_t *route = best < 0 ? NULL : fact(g, "/routes/%d", best);
	const char *bond = down_bond(g, link);

	if (route && route_uses(route, link))
		return;
	if (route)
		judge_fail(g, "route-other-link",
			   judge_text(g, "remove the route by %s, or add one by %s; `ip route get` shows which is "
					 "taken", route_link(route), link),
			   "the route to %s leaves by %s, declared is %s", what, route_link(route), link);
	else
		judge_fail(g, "route-missing", judge_text(g, "ip route show dev %s; nmcli connection up %s", link, link),
			   "no route leads to %s", what);
	if (bond)
		judge_explained_by(g, "net.bond", bond);
}

static void judge_routes(struct check *c)
{
	struct judging *g = c->g;

	if (!fact(g, "/routes"))
		return;
	for (size_t i = 0; i < c->n; i++) {
		const struct declared *d = &c->d[i];
		struct address neighbour = d->address;
		unsigned last = d->address.bits / 8 - 1;

		if (d->address.prefix + 2 > d->address.bits)
			continue;	/* a host or point-to-point address has no subnet to reach */
		neighbour.bytes[last] ^= 1;	/* another address of the subnet */
		judge_route(g, d->link, &neighbour,
			    judge_text(g, "the subnet of %s", d->text));
	}
	for (size_t i = 0; i < g->site->n_nodes; i++) {
		const struct site_node *peer = &g->site->nodes[i];

		for (size_t k = 0; peer != g->node && k < g->node->n_rdma; k++) {
			const struct site_rdma *port = &g->node->rdma[k];
			const struct site_rdma *other = judge_pair_port(g->node, port, peer);
			struct address to;

			if (other && other->address && port->address && address_parse(other->address, &to))
				judge_route(g, port->link, &to,
					    judge_text(g, "%s (%s)", peer->name, other->address));
		}
	}
}

/* --- the whole ---------------------------------------------------------------------------------------------- */

/* Nothing is declared: an RDMA port needs some address of its own. */
static void judge_undeclared(struct judging *g)
{
	if (!g->node->n_rdma) {
		judge_na(g, "no address is declared, and there is no RDMA port");
		return;
	}
	for (size_t i = 0; i < g->node->n_rdma; i++) {
		const char *link = g->node->rdma[i].link;
		json_t *entry, *addresses = fact(g, "/links/%s/addresses", link);
		const char *found = NULL;
		size_t k;

		json_array_foreach(addresses, k, entry) {
			if (!found && !strcmp(json_get_string(entry, "scope", ""), "global"))
				found = json_get_string(entry, "address", NULL);
		}
		if (found) {
			judge_assume(g, "%s is the address wanted on %s", found, link);
			judge_pass(g, "%s on %s", found, link);
		} else if (addresses) {
			judge_unknown(g, "declare the address in site.yaml",
				      "%s has no address, and none is declared", link);
		}
	}
}

void judge_net_address(struct judging *g)
{
	struct check c = { .g = g };
	bool placed = true;

	if (!fact(g, "/links"))
		return;
	collect(&c, g->node);
	if (!c.n) {
		judge_undeclared(g);
		return;
	}
	if (g->site->assumed)
		judge_assume(g, "the addresses as they are");
	for (size_t i = 0; i < c.n; i++)
		placed &= judge_placed(&c, &c.d[i]);
	/* a wrong place or a shared subnet explains what the routes would say */
	if (placed && !judge_overlaps(&c))
		judge_routes(&c);
	judge_pass(g, "%zu declared address%s in place%s%s", c.n, c.n == 1 ? "" : "es",
		   c.n == 1 ? ": " : "", c.n == 1 ? c.d[0].text : "");
	free(c.d);
}
