/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names in a site that must lead somewhere, and things that may be there once only. Works on merged
 * nodes; the marks still tell the line where a value was written, which may be in a profile.
 */
#include <arpa/inet.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "site/schema.h"

/* MAX_NEST_DEV of include/linux/netdevice.h: the kernel stacks no more links than that. */
#define VLAN_DEPTH_MAX 8u

struct checker {
	struct complaints *complaints;
	const char *node;		/* name of the node that is looked at */
	const struct tree *links, *bonds, *vlans;	/* of it; may be NULL */
	json_t *seen;			/* address -> "node/link (line N)", over the whole site */
};

static const struct tree_pair *link_pair(const struct checker *k, const char *name)
{
	const struct tree_pair *pair = tree_pair(k->links, name);

	if (!pair)
		pair = tree_pair(k->bonds, name);
	return pair ? pair : tree_pair(k->vlans, name);
}

static char *nearest_link(const struct checker *k, const char *name)
{
	const struct tree *maps[] = { k->links, k->bonds, k->vlans };

	return site_nearest_key(name, maps, ARRAY_SIZE(maps));
}

/* "nodes/NODE/SECTION/NAME"; NULL `name`: the section. The caller frees. */
static char *path_of(const struct checker *k, const char *section, const char *name)
{
	return xasprintf("nodes/%s/%s%s%s", k->node, section, name ? "/" : "", name ? name : "");
}

/* A name is a link, a bond, or a VLAN. */
static void check_name_once(struct checker *k, const struct tree *map, const char *section,
			    const struct tree *const *others, size_t n)
{
	for (size_t i = 0; map && i < map->n; i++) {
		const struct tree *key = map->pairs[i].key;

		for (size_t j = 0; j < n; j++) {
			const struct tree_pair *other = tree_pair(others[j], key->text);

			if (!other)
				continue;
			_cleanup_free_ char *path = path_of(k, section, NULL);
			complain(k->complaints, key->where, path,
				 "'%s' is declared as another kind of link in line %u", key->text,
				 other->key->where.line);
		}
	}
}

static void check_bond_port(struct checker *k, const char *path, const char *bond,
			    const struct tree *port, json_t *taken)
{
	const char *before = json_get_string(taken, port->text, NULL);

	if (!tree_pair(k->links, port->text)) {
		_cleanup_free_ char *hint = site_nearest_key(port->text, &k->links, 1);

		complain(k->complaints, port->where, path, "port '%s' is not declared in links%s",
			 port->text, hint);
	} else if (before) {
		complain(k->complaints, port->where, path, "port '%s' is in bond '%s' already",
			 port->text, before);
	}
	json_put_string(taken, port->text, bond);
}

static void check_bonds(struct checker *k)
{
	_cleanup_json_ json_t *taken = json_object_new();

	for (size_t i = 0; k->bonds && i < k->bonds->n && !complaints_full(k->complaints); i++) {
		const struct tree_pair *bond = &k->bonds->pairs[i];
		const struct tree *ports = tree_get(bond->value, "ports");
		const struct tree *rate = tree_get(bond->value, "lacp_rate");
		const char *mode = tree_text(bond->value, "mode");
		_cleanup_free_ char *path = path_of(k, "bonds", bond->key->text);

		for (size_t j = 0; ports && j < ports->n; j++)
			check_bond_port(k, path, bond->key->text, ports->items[j], taken);
		if (ports && !ports->n)
			complain(k->complaints, ports->where, path, "a bond without ports");
		if (rate && mode && strcmp(mode, "802.3ad"))
			complain(k->complaints, rate->where, path,
				 "lacp_rate belongs to mode 802.3ad, this one is %s", mode);
	}
}

static void check_vlan(struct checker *k, const struct tree_pair *vlan)
{
	_cleanup_free_ char *path = path_of(k, "vlans", vlan->key->text);
	const struct tree *link = tree_get(vlan->value, "link");
	const struct tree *at = link;

	if (!link)
		return;
	if (!link_pair(k, link->text)) {
		_cleanup_free_ char *hint = nearest_link(k, link->text);

		complain(k->complaints, link->where, path, "link '%s' is not declared%s",
			 link->text, hint);
		return;
	}
	/* `depth`: VLANs so far, this one included */
	for (unsigned depth = 1; at && tree_pair(k->vlans, at->text); depth++) {
		if (!strcmp(at->text, vlan->key->text)) {
			complain(k->complaints, link->where, path, "the VLAN stands on itself");
			return;
		}
		if (depth == VLAN_DEPTH_MAX) {
			complain(k->complaints, link->where, path,
				 "more than %u VLANs on one another", VLAN_DEPTH_MAX);
			return;
		}
		at = tree_get(tree_get(k->vlans, at->text), "link");
	}
}

char *site_canonical_address(const char *text)
{
	_cleanup_free_ char *address = xstrndup(text, strcspn(text, "/"));
	unsigned char binary[sizeof(struct in6_addr)];
	char out[INET6_ADDRSTRLEN];
	int family = strchr(address, ':') ? AF_INET6 : AF_INET;

	if (inet_pton(family, address, binary) != 1 || !inet_ntop(family, binary, out, sizeof(out)))
		return xstrdup(address);
	return xstrdup(out);
}

static void take_address(struct checker *k, const char *section, const char *link,
			 const struct tree *value)
{
	_cleanup_free_ char *address = site_canonical_address(value->text);
	const char *before = json_get_string(k->seen, address, NULL);

	if (before) {
		_cleanup_free_ char *path = path_of(k, section, link);

		complain(k->complaints, value->where, path, "address %s belongs to %s already",
			 address, before);
	} else {
		json_put_stringf(k->seen, address, "%s/%s (line %u)", k->node, link,
				 value->where.line);
	}
}

static void take_addresses(struct checker *k, const char *section, const struct tree *map)
{
	for (size_t i = 0; map && i < map->n && !complaints_full(k->complaints); i++) {
		const struct tree *list = tree_get(map->pairs[i].value, "addresses");

		for (size_t j = 0; list && j < list->n; j++)
			take_address(k, section, map->pairs[i].key->text, list->items[j]);
	}
}

static void check_rdma(struct checker *k, const struct tree_pair *rdma)
{
	const struct tree_pair *link = link_pair(k, rdma->key->text);
	const struct tree *address = tree_get(rdma->value, "address");

	if (!link) {
		_cleanup_free_ char *path = path_of(k, "rdma", NULL);
		_cleanup_free_ char *hint = nearest_link(k, rdma->key->text);

		complain(k->complaints, rdma->key->where, path, "link '%s' is not declared%s",
			 rdma->key->text, hint);
		return;
	}
	if (!address)
		return;
	const struct tree *list = tree_get(link->value, "addresses");
	if (!list) {
		take_address(k, "rdma", rdma->key->text, address);
		return;
	}
	_cleanup_free_ char *wanted = site_canonical_address(address->text);
	for (size_t i = 0; i < list->n; i++) {
		_cleanup_free_ char *has = site_canonical_address(list->items[i]->text);

		if (!strcmp(wanted, has))
			return;
	}
	_cleanup_free_ char *path = path_of(k, "rdma", rdma->key->text);
	complain(k->complaints, address->where, path,
		 "address %s is none of the link's (line %u)", wanted, list->where.line);
}

static void check_pci_once(struct checker *k)
{
	_cleanup_json_ json_t *taken = json_object_new();

	for (size_t i = 0; k->links && i < k->links->n; i++) {
		const struct tree_pair *link = &k->links->pairs[i];
		const struct tree *pci = tree_get(link->value, "pci");
		const char *before = pci ? json_get_string(taken, pci->text, NULL) : NULL;

		if (before) {
			_cleanup_free_ char *path = path_of(k, "links", link->key->text);

			complain(k->complaints, pci->where, path, "%s is the port of '%s' already",
				 pci->text, before);
		} else if (pci) {
			json_put_string(taken, pci->text, link->key->text);
		}
	}
}

static void check_node(struct checker *k, const struct tree_pair *node)
{
	const struct tree *rdma = tree_get(node->value, "rdma");

	k->node = node->key->text;
	k->links = tree_get(node->value, "links");
	k->bonds = tree_get(node->value, "bonds");
	k->vlans = tree_get(node->value, "vlans");
	check_name_once(k, k->bonds, "bonds", &k->links, 1);
	check_name_once(k, k->vlans, "vlans", (const struct tree *[]){ k->links, k->bonds }, 2);
	check_pci_once(k);
	check_bonds(k);
	for (size_t i = 0; k->vlans && i < k->vlans->n && !complaints_full(k->complaints); i++)
		check_vlan(k, &k->vlans->pairs[i]);
	take_addresses(k, "links", k->links);
	take_addresses(k, "bonds", k->bonds);
	take_addresses(k, "vlans", k->vlans);
	for (size_t i = 0; rdma && i < rdma->n && !complaints_full(k->complaints); i++)
		check_rdma(k, &rdma->pairs[i]);
}

/* Names of a list, each once; of `nodes` unless that is NULL. */
static void check_names(struct complaints *c, const char *section, const struct tree *names,
			const struct tree *nodes)
{
	_cleanup_json_ json_t *seen = json_object_new();

	for (size_t i = 0; names && i < names->n && !complaints_full(c); i++) {
		_cleanup_free_ char *found = complaint_quote(names->items[i]->text);

		if (json_object_get(seen, names->items[i]->text))
			complain(c, names->items[i]->where, section, "%s stands here already",
				 found);
		json_put_bool(seen, names->items[i]->text, true);
		if (!nodes || tree_pair(nodes, names->items[i]->text))
			continue;
		_cleanup_free_ char *hint = site_nearest_key(names->items[i]->text, &nodes, 1);

		complain(c, names->items[i]->where, section, "there is no node %s%s", found, hint);
	}
}

void site_check_references(const struct tree *root, const struct tree *nodes, struct complaints *c)
{
	_cleanup_json_ json_t *seen = json_object_new();
	struct checker k = { .complaints = c, .seen = seen };

	for (size_t i = 0; i < nodes->n && !complaints_full(c); i++)
		check_node(&k, &nodes->pairs[i]);
	check_names(c, "storage/nodes", tree_get(tree_get(root, "storage"), "nodes"), nodes);
	check_names(c, "kubernetes/control_plane",
		    tree_get(tree_get(root, "kubernetes"), "control_plane"), nodes);
	check_names(c, "switch/names", tree_get(tree_get(root, "switch"), "names"), NULL);
}
