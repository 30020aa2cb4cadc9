/* SPDX-License-Identifier: Apache-2.0 */
#include "prove/path_links.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/text.h"

/* --- addresses -------------------------------------------------------------------------------- */

#define IPV4_PREFIX 96u	/* bits of ::ffff:0:0/96 */

static const unsigned char ipv4_mapped[12] = { [10] = 0xff, [11] = 0xff };

bool path_address_parse(const char *text, struct path_address *address)
{
	const char *slash = text ? strchr(text, '/') : NULL;
	_cleanup_free_ char *host =
		text ? xstrndup(text, slash ? (size_t)(slash - text) : strlen(text)) : NULL;
	uint64_t prefix;

	*address = (struct path_address){ .prefix = 128 };
	if (!host)
		return false;

	bool v6 = strchr(host, ':') != NULL;

	if (!v6)
		memcpy(address->gid, ipv4_mapped, sizeof(ipv4_mapped));
	if (inet_pton(v6 ? AF_INET6 : AF_INET, host, address->gid + (v6 ? 0 : 12)) != 1)
		return false;
	if (!slash)
		return true;
	if (text_to_u64(slash + 1, 10, &prefix) < 0 || prefix > (v6 ? 128 : 32))
		return false;
	address->prefix = (unsigned)prefix + (v6 ? 0 : IPV4_PREFIX);
	return true;
}

bool path_address_is_ipv4(const struct path_address *address)
{
	return !memcmp(address->gid, ipv4_mapped, sizeof(ipv4_mapped));
}

bool path_address_is_link_local(const struct path_address *address)
{
	/* fe80::/10 */
	return address->gid[0] == 0xfe && (address->gid[1] & 0xc0) == 0x80;
}

bool path_address_equal(const struct path_address *a, const struct path_address *b)
{
	return !memcmp(a->gid, b->gid, sizeof(a->gid));
}

static bool same_bits(const struct path_address *a, const struct path_address *b, unsigned bits)
{
	unsigned bytes = bits / 8, rest = bits % 8;

	if (memcmp(a->gid, b->gid, bytes))
		return false;
	return !rest || !((a->gid[bytes] ^ b->gid[bytes]) >> (8 - rest));
}

/* --- links ------------------------------------------------------------------------------------ */

/* Deepest stack of links that is followed: a bond below a VLAN below a VLAN is three. */
#define STACK_MAX 16

const char *path_base_link(json_t *snapshot, const char *link)
{
	for (unsigned depth = 0; depth < STACK_MAX; depth++) {
		json_t *l = json_at(snapshot, "/links/%s", link);
		const char *lower = json_get_string(l, "lower", NULL);

		if (!lower || strcmp(json_get_string(l, "kind", ""), "vlan"))
			break;
		link = lower;
	}
	return link;
}

char **path_physical_links(json_t *snapshot, const char *link)
{
	const char *base = path_base_link(snapshot, link), *name;
	char **names = NULL;
	json_t *l;

	if (!strcmp(json_get_string(json_at(snapshot, "/links/%s", base), "kind", ""), "bond")) {
		json_object_foreach(json_at(snapshot, "/links"), name, l) {
			if (!strcmp(json_get_string(l, "master", ""), base))
				strings_add_once(&names, name);
		}
	}
	if (!names)
		strings_add_once(&names, base);
	return names;
}

const char *path_pci_of_link(json_t *snapshot, const char *link)
{
	json_t *l = json_at(snapshot, "/links/%s", link);

	return strcmp(json_get_string(l, "parent_bus", ""), "pci") ?
		       NULL :
		       json_get_string(l, "parent_device", NULL);
}

/* --- routes ----------------------------------------------------------------------------------- */

/* The rules lead to the main and the local table unless somebody changed them. */
static bool in_usual_table(json_t *route)
{
	json_t *table = json_object_get(route, "table");
	const char *name = json_string_value(table);

	if (json_is_integer(table))
		return json_integer_value(table) == 254 || json_integer_value(table) == 255;
	return !name || !strcmp(name, "main") || !strcmp(name, "local");
}

static bool route_leads_to(json_t *route, const struct path_address *to, unsigned *prefix)
{
	const char *destination = json_get_string(route, "destination", "");
	bool v4 = strcmp(json_get_string(route, "family", "ipv4"), "ipv6") != 0;
	struct path_address net;

	if (!in_usual_table(route) || v4 != path_address_is_ipv4(to))
		return false;
	if (!strcmp(destination, "default")) {
		*prefix = 0;
		return true;
	}
	if (!path_address_parse(destination, &net) || !same_bits(&net, to, net.prefix))
		return false;
	*prefix = net.prefix;
	return true;
}

json_t *path_route(json_t *snapshot, const struct path_address *to)
{
	json_t *route, *best = NULL;
	unsigned prefix, best_prefix = 0;
	size_t i;

	json_array_foreach(json_at(snapshot, "/routes"), i, route) {
		if (!route_leads_to(route, to, &prefix))
			continue;
		if (!best || prefix > best_prefix ||
		    (prefix == best_prefix &&
		     json_get_int(route, "metric", 0) < json_get_int(best, "metric", 0))) {
			best = route;
			best_prefix = prefix;
		}
	}
	return best;
}

const char *path_route_link(json_t *route)
{
	json_t *first = json_array_get(json_object_get(route, "nexthops"), 0);

	return json_get_string(route, "link", json_get_string(first, "link", NULL));
}

bool path_route_uses(json_t *route, const char *link)
{
	json_t *hop;
	size_t i;

	json_array_foreach(json_object_get(route, "nexthops"), i, hop) {
		if (!strcmp(json_get_string(hop, "link", ""), link))
			return true;
	}
	return !strcmp(json_get_string(route, "link", ""), link);
}
