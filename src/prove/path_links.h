/* SPDX-License-Identifier: Apache-2.0 */
/* Look-ups in a snapshot that the choice of a path and the fingerprint share: what lies below a
 * link, and which route an address takes. Borrowed texts. */
#pragma once

#include "base/json.h"
#include "base/strings.h"

/* An address as its RoCE GID has it (InfiniBand Annex A17): IPv6 as it is, IPv4 as ::ffff:a.b.c.d.
 * So the two families never match each other. */
struct path_address {
	unsigned char gid[16];
	unsigned prefix;	/* of 128; all of them without "/N" */
};

/* "198.51.100.11", "198.51.100.0/24", "fd00::1"; false when it is no address. */
bool path_address_parse(const char *text, struct path_address *address);
bool path_address_is_ipv4(const struct path_address *address);
bool path_address_is_link_local(const struct path_address *address);
bool path_address_equal(const struct path_address *a, const struct path_address *b);

/* The link below VLANs: "bond1.100" -> "bond1". Loops end. */
const char *path_base_link(json_t *snapshot, const char *link);
/* Members of the bond below `link`, or the link below it, or itself. A list of base/strings.h that
 * the caller frees. */
char **path_physical_links(json_t *snapshot, const char *link);
/* PCI address of a physical link, NULL: none. */
const char *path_pci_of_link(json_t *snapshot, const char *link);

/* Route of the main or local table that the address takes: longest prefix, then lowest metric.
 * NULL: none. */
json_t *path_route(json_t *snapshot, const struct path_address *to);
/* The link of a route (of its first next hop), or NULL. */
const char *path_route_link(json_t *route);
bool path_route_uses(json_t *route, const char *link);
