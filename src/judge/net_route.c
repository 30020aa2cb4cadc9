/* SPDX-License-Identifier: Apache-2.0 */
/* net.address: subnets of the declared addresses, and the routes to their peers. */
#include <arpa/inet.h>
#include <string.h>

#include "base/strbuf.h"
#include "judge/net_address.h"
#include "judge/pairs.h"
#include "judge/subject.h"

static unsigned shorter(const struct address *a, const struct address *b)
{
	return a->prefix < b->prefix ? a->prefix : b->prefix;
}

/* --- subnets --- */

static bool arp_is_strict(struct judging *g)
{
	const char *ignore = fact_optional_string(g, "/os/sysctl/net.ipv4.conf.all.arp_ignore");
	const char *announce = fact_optional_string(g, "/os/sysctl/net.ipv4.conf.all.arp_announce");

	return ignore && strcmp(ignore, "0") && announce && !strcmp(announce, "2");
}

static bool share_subnet(const struct declared *a, const struct declared *b)
{
	unsigned prefix = shorter(&a->address, &b->address);

	return strcmp(a->link, b->link) != 0 && prefix != a->address.bits &&
	       address_same_bits(&a->address, &b->address, prefix);
}

/* Two links in one subnet: the kernel takes one of them for both, ARP answers on either. */
bool judge_address_overlaps(struct address_check *c)
{
	struct judging *g = c->g;
	bool any = false;

	for (size_t i = 0; i < c->n; i++) {
		_cleanup_strbuf_ struct strbuf sharing = {0};

		bool told = false; /* with the first of them */

		for (size_t k = 0; k < i; k++)
			told |= share_subnet(&c->d[k], &c->d[i]);
		if (told)
			continue;
		for (size_t k = i + 1; k < c->n; k++) {
			if (share_subnet(&c->d[i], &c->d[k]))
				strbuf_printf(&sharing, ", %s (%s)", c->d[k].link, c->d[k].text);
		}
		if (!sharing.len)
			continue;
		any = true;
		if (arp_is_strict(g))
			judge_warn(g, "subnet-overlap", "give each rail a subnet of its own",
				   "%s (%s)%s share a subnet; ARP is strict, routing must be by "
				   "source",
				   c->d[i].link, c->d[i].text, strbuf_str(&sharing));
		else
			judge_fail(g, "subnet-overlap", "give each rail a subnet of its own",
				   "%s (%s)%s share a subnet: traffic of all leaves by one link",
				   c->d[i].link, c->d[i].text, strbuf_str(&sharing));
	}
	return any;
}

/* --- routes --- */

static bool in_main_table(json_t *route)
{
	json_t *table = json_object_get(route, "table");

	if (json_is_integer(table))
		return json_integer_value(table) == 254; /* RT_TABLE_MAIN */
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
		link = json_get_string(json_array_get(json_object_get(route, "nexthops"), 0),
				       "link", "?");
	return link;
}

/* Index of the route of the main table that an address takes (longest prefix, lowest metric), or
 * -1. */
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

		if (!route_network(route, to->family, &net) ||
		    !address_same_bits(&net, to, net.prefix))
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

/* An address as text, without prefix. */
static const char *host_text(struct judging *g, const struct address *a)
{
	char text[INET6_ADDRSTRLEN];

	return judge_text(g, "%s", inet_ntop(a->family, a->bytes, text, sizeof(text)) ?: "?");
}

/* Does what goes from the address `own` of `link` to `to` leave by `link`? */
static void judge_route(struct judging *g, const char *link, const struct address *own,
			const struct address *to, const char *what)
{
	const char *address = host_text(g, to), *from = host_text(g, own);
	int best = best_route(g, to);
	json_t *route = best < 0 ? NULL : fact(g, "/routes/%d", best);
	const char *bond = down_bond(g, link);

	if (route && route_uses(route, link))
		return;
	if (json_array_size(peek(g, "/route_tables"))) {
		fact(g, "/route_tables");
		judge_unknown(g,
			      judge_text(g,
					 "ask the kernel: `ip route get %s from %s`, and `ip rule`",
					 address, from),
			      "%s %s by the main table, but other tables have routes too, and the "
			      "rules that lead to them were not read",
			      what, route ? judge_text(g, "leaves by %s", route_link(route)) :
					    "has no route");
		return;
	}
	if (route)
		judge_fail(g, "route-other-link",
			   judge_text(g,
				      "remove the route by %s, or add one by %s; `ip route get` "
				      "shows which is taken",
				      route_link(route), link),
			   "the route to %s leaves by %s, declared is %s", what, route_link(route),
			   link);
	else
		judge_fail(
			g, "route-missing",
			judge_text(g, "ip route show dev %s; nmcli connection up %s", link, link),
			"no route leads to %s", what);
	if (bond)
		judge_explained_by(g, "net.bond", bond);
}

void judge_address_routes(struct address_check *c)
{
	struct judging *g = c->g;

	if (!fact(g, "/routes"))
		return;
	for (size_t i = 0; i < c->n; i++) {
		const struct declared *d = &c->d[i];
		struct address neighbour = d->address;
		unsigned last = d->address.bits / 8 - 1;

		if (d->address.prefix + 2 > d->address.bits)
			continue; /* a host or point-to-point address has no subnet to reach */
		neighbour.bytes[last] ^= 1; /* another address of the subnet */
		judge_route(g, d->link, &d->address, &neighbour,
			    judge_text(g, "the subnet of %s", d->text));
	}
	for (size_t i = 0; i < g->site->n_nodes; i++) {
		const struct site_node *peer = &g->site->nodes[i];

		for (size_t k = 0; peer != g->node && k < g->node->n_rdma; k++) {
			const struct site_rdma *port = &g->node->rdma[k];
			const struct site_rdma *other = judge_pair_port(g->node, port, peer);
			struct address to, own;

			if (other && other->address && port->address &&
			    address_parse(other->address, &to) &&
			    address_parse(port->address, &own))
				judge_route(g, port->link, &own, &to,
					    judge_text(g, "%s (%s)", peer->name, other->address));
		}
	}
}
