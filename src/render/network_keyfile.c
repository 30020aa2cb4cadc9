/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NetworkManager profiles in keyfile format: nm-settings-keyfile(5), nm-settings-nmcli(5). Keys are
 * those of NetworkManager 1.42 (Debian 12), which later versions read too: `master` rather than
 * `controller`, which came with 1.46.
 */
#include <arpa/inet.h>
#include <string.h>

#include "base/digest.h"
#include "base/text.h"
#include "render/format.h"
#include "render/network.h"

/* Profiles of an installer or of hand have 0: these win. */
#define PRIORITY "100"

static void put(struct strbuf *text, const char *key, const char *value)
{
	format_keyfile(text, key, value);
}

static void putf(struct strbuf *text, const char *key, const char *fmt, ...) RH_PRINTF(3, 4);

static void putf(struct strbuf *text, const char *key, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	_cleanup_free_ char *value = xvasprintf(fmt, ap);
	va_end(ap);
	put(text, key, value);
}

/* A UUID that stays: of site, node and link. RFC 9562, version 8. */
static void put_uuid(struct strbuf *text, const struct network *net, const char *link)
{
	_cleanup_strbuf_ struct strbuf name = {0};
	unsigned char d[DIGEST_BYTES];
	const char *const parts[] = { "railhead", net->r->site->name, net->node->name, link };

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		strbuf_add(&name, parts[i], strlen(parts[i]) + 1);
	digest_sha256(d, name.s, name.len);
	d[6] = (unsigned char)(0x80 | (d[6] & 0x0f));
	d[8] = (unsigned char)(0x80 | (d[8] & 0x3f));
	putf(text, "uuid",
	     "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", d[0], d[1],
	     d[2], d[3], d[4], d[5], d[6], d[7], d[8], d[9], d[10], d[11], d[12], d[13], d[14],
	     d[15]);
}

static void put_connection(struct strbuf *text, const struct network *net,
			   const struct network_link *link)
{
	static const char *const types[] = { "ethernet", "bond", "vlan" };

	strbuf_puts(text, "\n[connection]\n");
	put(text, "id", link->name);
	put_uuid(text, net, link->name);
	put(text, "type", types[link->kind]);
	put(text, "interface-name", link->name);
	put(text, "autoconnect", "true");
	put(text, "autoconnect-priority", PRIORITY);
	if (link->bond)
		put(text, "autoconnect-slaves", "1");
	if (link->master) {
		put(text, "master", link->master->name);
		put(text, "slave-type", "bond");
	}
	if (link->mtu) {
		strbuf_puts(text, "\n[ethernet]\n");
		putf(text, "mtu", "%lld", (long long)link->mtu);
	}
}

/* Options that the kernel takes in this mode only: drivers/net/bonding/bond_options.c. */
static void put_bond(struct strbuf *text, const struct site_bond *bond)
{
	bool hashes = !strcmp(bond->mode, "802.3ad") || !strcmp(bond->mode, "balance-xor") ||
		      !strcmp(bond->mode, "balance-tlb");

	strbuf_puts(text, "\n[bond]\n");
	put(text, "mode", bond->mode);
	put(text, "miimon", "100");
	if (bond->lacp_rate && !strcmp(bond->mode, "802.3ad"))
		put(text, "lacp_rate", bond->lacp_rate);
	if (bond->xmit_hash_policy && hashes)
		put(text, "xmit_hash_policy", bond->xmit_hash_policy);
}

/* RoCE over a VLAN takes its priority from the egress map: irdma asks it after the DSCP map. */
static void put_vlan(struct strbuf *text, const struct network *net,
		     const struct network_link *link)
{
	const struct site_qos *qos = &net->r->site->qos;
	_cleanup_strbuf_ struct strbuf map = {0};

	for (int p = 0; p < 8; p++) {
		int pcp = link->vlan->egress[p];

		if (pcp < 0 && link->rdma && qos->priority.set && qos->priority.value == p)
			pcp = p;
		if (pcp >= 0)
			strbuf_printf(&map, "%d:%d;", p, pcp);
	}
	strbuf_puts(text, "\n[vlan]\n");
	put(text, "parent", link->vlan->link);
	putf(text, "id", "%lld", (long long)link->vlan->id.value);
	put(text, "flags", "1");	/* REORDER_HDR, the kernel's default */
	if (map.len)
		put(text, "egress-priority-map", map.s);
}

/* --- addresses and routes --------------------------------------------------------------------- */

static int family_of(const char *text)
{
	return strchr(text, ':') ? AF_INET6 : AF_INET;
}

/* Network of an address, "10.10.1.0/24". The caller frees. */
static char *network_of(const struct address *a)
{
	unsigned char bytes[sizeof(a->bytes)];
	char text[INET6_ADDRSTRLEN];

	for (unsigned i = 0; i < sizeof(bytes); i++) {
		unsigned kept = a->prefix <= 8 * i ? 0 : a->prefix - 8 * i;

		bytes[i] = kept >= 8 ? a->bytes[i] :
				       (unsigned char)(a->bytes[i] & (0xff00 >> kept));
	}
	inet_ntop(a->family, bytes, text, sizeof(text));
	return xasprintf("%s/%u", text, a->prefix);
}

struct ip {
	struct strbuf *text;
	const struct network_link *link;
	int family;
	unsigned routes, rules;
	bool has_default;
};

static void put_route(struct ip *ip, const char *to, const char *via, unsigned table)
{
	_cleanup_free_ char *key = xasprintf("route%u", ++ip->routes);

	putf(ip->text, key, "%s%s%s", to, via ? "," : "", via ? via : "");
	if (table) {
		_cleanup_free_ char *options = xasprintf("route%u_options", ip->routes);

		putf(ip->text, options, "table=%u", table);
	}
}

static void put_routes(struct ip *ip)
{
	json_t *route;
	size_t i;

	json_array_foreach(json_object_get(ip->link->declared, "routes"), i, route) {
		const char *to = json_get_string(route, "to", "");
		const char *via = json_get_string(route, "via", "");

		if (family_of(to) != ip->family)
			continue;
		put_route(ip, to, via, 0);
		if (ip->link->table)
			put_route(ip, to, via, ip->link->table);
		ip->has_default |= text_ends_with(to, "/0");
	}
}

/* A table of its own for what comes from this rail. */
static void put_source_routing(struct ip *ip)
{
	for (char *const *s = ip->link->addresses; ip->link->table && s && *s; s++) {
		struct address a;

		if (!address_parse(*s, &a) || a.family != ip->family || a.prefix == a.bits)
			continue;
		_cleanup_free_ char *network = network_of(&a);
		_cleanup_free_ char *key = xasprintf("routing-rule%u", ++ip->rules);

		put_route(ip, network, NULL, ip->link->table);
		putf(ip->text, key, "priority %u from %.*s table %u", ip->link->table,
		     (int)strcspn(*s, "/"), *s, ip->link->table);
	}
}

static void put_ip(struct strbuf *text, const struct network_link *link, int family,
		   json_t *dns)
{
	const char *gateway = json_get_string(link->declared, "gateway", NULL);
	struct ip ip = { .text = text, .link = link, .family = family };
	_cleanup_strbuf_ struct strbuf servers = {0};
	unsigned n = 0;
	json_t *server;
	size_t i;

	strbuf_printf(text, "\n[ipv%c]\n", family == AF_INET ? '4' : '6');
	for (char *const *s = link->addresses; s && *s; s++)
		n += family_of(*s) == family;
	if (!n) {
		/* no router advertisement is listened to; a link without any address has no IP */
		put(text, "method",
		    family == AF_INET6 && link->addresses && *link->addresses ? "link-local" :
										"disabled");
		return;
	}
	put(text, "method", "manual");
	n = 0;
	for (char *const *s = link->addresses; s && *s; s++) {
		_cleanup_free_ char *key = NULL;

		if (family_of(*s) != family)
			continue;
		key = xasprintf("address%u", ++n);
		put(text, key, *s);
	}
	if (gateway && family_of(gateway) == family) {
		put(text, "gateway", gateway);
		ip.has_default = true;
	}
	put_routes(&ip);
	put_source_routing(&ip);
	if (!ip.has_default)
		put(text, "never-default", "true");
	json_array_foreach(dns, i, server) {
		if (family_of(json_string_value(server)) == family)
			strbuf_printf(&servers, "%s;", json_string_value(server));
	}
	if (servers.len)
		put(text, "dns", servers.s);
}

/* --- profiles --------------------------------------------------------------------------------- */

/* The link that gets the name servers: the one with a gateway, else the first with an address
 * that is no RDMA port. */
static const struct network_link *dns_link(const struct network *net)
{
	const struct network_link *first = NULL;

	for (size_t i = 0; i < net->n; i++) {
		const struct network_link *link = &net->links[i];

		if (!link->rendered || !link->addresses || !*link->addresses)
			continue;
		if (json_object_get(link->declared, "gateway"))
			return link;
		if (!first && !link->rdma)
			first = link;
	}
	return first;
}

void network_keyfiles(struct network *net)
{
	static const char *const what[] = { "port", "bond", "VLAN" };
	const struct network_link *dns = dns_link(net);
	json_t *servers = render_declared(net->r, "/nodes/%s/dns", net->node->name);

	for (size_t i = 0; i < net->n; i++) {
		const struct network_link *link = &net->links[i];

		if (!link->rendered)
			continue;
		_cleanup_free_ char *name = xasprintf("%s.nmconnection", link->name);
		_cleanup_free_ char *profile = xasprintf("profile of %s %s", what[link->kind],
							 link->name);
		_cleanup_free_ char *comment = xasprintf("%s of %s, rendered for site %s",
							 profile, net->node->name,
							 net->r->site->name);
		struct strbuf *text =
			&network_file(net, 0600, profile, name,
				      "/etc/NetworkManager/system-connections/%s", name)->text;

		format_comment(text, comment);
		put_connection(text, net, link);
		if (link->bond)
			put_bond(text, link->bond);
		if (link->vlan)
			put_vlan(text, net, link);
		if (link->master)	/* a port has no IP of its own */
			continue;
		put_ip(text, link, AF_INET, link == dns ? servers : NULL);
		put_ip(text, link, AF_INET6, link == dns ? servers : NULL);
	}
}
