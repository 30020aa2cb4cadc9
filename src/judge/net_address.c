/* SPDX-License-Identifier: Apache-2.0 */
/* net.address: each declared address on its link, and the way to the peers leaves by that link. */
#include <arpa/inet.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "judge/net.h"
#include "judge/net_address.h"

bool address_parse(const char *text, struct address *a)
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

bool address_same_bits(const struct address *a, const struct address *b, unsigned bits)
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
	return address_same_bits(a, b, a->bits);
}

/* --- what is declared --- */

static void add(struct address_check *c, const char *link, const char *text,
		const struct site_where *where)
{
	struct declared d = {
		.link = link, .text = text, .where = where, .has_prefix = strchr(text, '/') != NULL
	};

	if (!address_parse(text, &d.address))
		return; /* the site parser has refused it */
	for (size_t i = 0; i < c->n; i++) {
		if (!strcmp(c->d[i].link, link) && same_address(&c->d[i].address, &d.address))
			return;
	}
	array_reserve(c->d, c->n, c->capacity);
	c->d[c->n++] = d;
}

static void add_all(struct address_check *c, const char *link, char *const *texts,
		    const struct site_where *where)
{
	for (; texts && *texts; texts++)
		add(c, link, *texts, where);
}

static void collect(struct address_check *c, const struct site_node *node)
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

/* --- on its link? --- */

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
static bool judge_placed(struct address_check *c, struct declared *d)
{
	struct judging *g = c->g;
	const char *fix = judge_text(
		g, "nmcli connection modify %s +ipv%c.addresses %s && nmcli connection up %s",
		d->link, d->address.family == AF_INET ? '4' : '6', d->text, d->link);
	const char *other = other_link_with(g, &d->address, d->link);

	fact_declared(g, d->where, json_text_new(d->text), "nodes/%s/%s/address", g->node->name,
		      d->link);
	if (!peek(g, "/links/%s", d->link)) {
		judge_fail(g, "address-link-missing",
			   "create the link first (bond, VLAN); see its own gates",
			   "there is no link %s, so %s is nowhere", d->link, d->text);
		net_explain_missing(g, d->link);
		return false;
	}
	if (!fact(g, "/links/%s/addresses", d->link))
		return false;

	json_t *entry = entry_on(g, d->link, &d->address);

	if (!entry && other) {
		fact_optional(g, "/links/%s/addresses", other);
		judge_fail(g, "address-on-other-link", fix, "%s is on %s, declared is %s", d->text,
			   other, d->link);
	} else if (!entry) {
		judge_fail(g, "address-missing", fix, "%s is not on %s", d->text, d->link);
	} else if (d->has_prefix && json_get_int(entry, "prefix", -1) != d->address.prefix) {
		judge_fail(g, "address-prefix", fix, "%s has prefix /%lld on %s", d->text,
			   (long long)json_get_int(entry, "prefix", -1), d->link);
	} else if (has_flag(entry, "dadfailed")) {
		judge_fail(g, "address-duplicate", "find the other machine with this address",
			   "%s on %s: another machine uses this address (dadfailed)", d->text,
			   d->link);
	} else if (other) {
		fact_optional(g, "/links/%s/addresses", other);
		judge_fail(g, "address-twice",
			   judge_text(g, "ip address del %s dev %s", d->text, other),
			   "%s is on %s and also on %s", d->text, d->link, other);
	} else {
		if (!d->has_prefix)
			d->address.prefix =
				(unsigned)json_get_int(entry, "prefix", d->address.bits);
		return d->address.prefix <= d->address.bits;
	}
	return false;
}

/* --- the whole --- */

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
	struct address_check c = { .g = g };
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
	if (placed && !judge_address_overlaps(&c))
		judge_address_routes(&c);
	judge_pass(g, "%zu declared address%s in place%s%s", c.n, c.n == 1 ? "" : "es",
		   c.n == 1 ? ": " : "", c.n == 1 ? c.d[0].text : "");
	free(c.d);
}
