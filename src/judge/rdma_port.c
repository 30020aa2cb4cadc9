/* SPDX-License-Identifier: Apache-2.0 */
/* rdma.gid, rdma.mtu: what the RDMA port of a node offers to its users. */
#include <arpa/inet.h>
#include <string.h>

#include "judge/family.h"
#include "judge/net.h"
#include "judge/rdma.h"

/* --- rdma.gid --- */

#define TYPE_V2 "RoCE v2"

static bool parse_gid(const char *text, unsigned char gid[16])
{
	return text && inet_pton(AF_INET6, text, gid) == 1;
}

/* The GID of an address: IPv6 as it is, IPv4 as ::ffff:a.b.c.d (InfiniBand Annex A17). */
static bool gid_of_address(const char *address, unsigned char gid[16])
{
	static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (strchr(address, ':'))
		return parse_gid(address, gid);
	memcpy(gid, mapped, sizeof(mapped));
	return inet_pton(AF_INET, address, gid + 12) == 1;
}

static bool is_ipv4(const unsigned char gid[16])
{
	static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };

	return !memcmp(gid, mapped, sizeof(mapped));
}

static bool is_link_local(const unsigned char gid[16])
{
	return gid[0] == 0xfe && (gid[1] & 0xc0) == 0x80;
}

/* What the GID table holds, seen from one wanted GID. */
struct gids {
	int v2_on_link;   /* array position of the wanted one, RoCE v2, on the link; -1: none */
	int v2_elsewhere; /* the wanted one, RoCE v2, on another link */
	int v1;           /* the wanted one, RoCE v1 */
	size_t n, link_local;
};

/* Links whose GIDs count for the port: the link, and for out-of-tree LAG or a PF the device's own
 * netdev. */
static bool link_counts(struct judging *g, const struct subject_rdma *rdma, const char *link)
{
	const char *own = json_get_string(rdma->port_object, "link", "");

	if (!strcmp(link, g->port->link))
		return true;
	/* a device whose netdev is a port of the bond carries the bond's GIDs under either name */
	const char *bond = subject_bond_of(g->snapshot, own);

	return bond && !strcmp(bond, g->port->link) && !strcmp(link, own);
}

static void sort_gids(struct judging *g, const struct subject_rdma *rdma, json_t *list,
		      const unsigned char want[16], bool any, struct gids *out)
{
	bool found_ipv4 = false;
	json_t *entry;
	size_t i;

	*out = (struct gids){ -1, -1, -1, 0, 0 };
	json_array_foreach(list, i, entry) {
		const char *type = json_get_string(entry, "type", "");
		const char *link = json_get_string(entry, "link", "");
		unsigned char gid[16];

		if (!parse_gid(json_get_string(entry, "gid", NULL), gid))
			continue;
		out->n++;
		out->link_local += is_link_local(gid);
		if (any ? is_link_local(gid) : memcmp(gid, want, sizeof(gid)) != 0)
			continue;
		if (strcmp(type, TYPE_V2)) {
			out->v1 = (int)i;
		} else if (!*link || link_counts(g, rdma, link)) {
			/* of any address: IPv4 where there is one */
			if (out->v2_on_link < 0 || (is_ipv4(gid) && !found_ipv4))
				out->v2_on_link = (int)i;
			found_ipv4 |= is_ipv4(gid);
		} else {
			out->v2_elsewhere = (int)i;
		}
	}
}

/* Is the address on the link? An absent address explains an absent GID. */
static bool link_has_address(struct judging *g, const char *address)
{
	unsigned char want[16], gid[16];
	json_t *entry;
	size_t i;

	json_array_foreach(peek(g, "/links/%s/addresses", g->port->link), i, entry) {
		if (gid_of_address(address, want) &&
		    gid_of_address(json_get_string(entry, "address", ""), gid) &&
		    !memcmp(want, gid, sizeof(gid)))
			return true;
	}
	return false;
}

static void judge_gid_absent(struct judging *g, const struct subject_rdma *rdma,
			     const struct gids *gids)
{
	const char *address = g->port->address, *link = g->port->link;
	const char *bdf =
		json_string_value(peek(g, "/rdma/devices/%s/parent_device", rdma->device));

	if (peek(g, "/links") && !peek(g, "/links/%s", link)) {
		judge_fail(g, "gid-link-missing", "see gate net.mtu: the GID comes with the link",
			   "%s has no GID of %s because there is no link %s", rdma->device,
			   address ? address : "its address", link);
		judge_explained_by(g, "net.mtu", link);
	} else if (address && peek(g, "/links/%s/addresses", link) &&
		   !link_has_address(g, address)) {
		fact_optional(g, "/links/%s/addresses", link);
		judge_fail(g, "gid-address-missing",
			   "see gate net.address: the GID comes with the address",
			   "%s has no GID of %s because the address is not on %s", rdma->device,
			   address, link);
		judge_explained_by(g, "net.address", NULL);
	} else if (bdf && json_is_false(family_devlink_parameter(g, bdf, "enable_roce"))) {
		judge_fail(g, "roce-parameter-off",
			   judge_text(g,
				      "devlink dev param set pci/%s name enable_roce value true "
				      "cmode driverinit && devlink dev reload pci/%s",
				      bdf, bdf),
			   "%s has no RoCE GID: the devlink parameter enable_roce of %s is off",
			   rdma->device, bdf);
	} else if (!gids->n) {
		judge_fail(g, "gid-table-empty",
			   judge_text(g,
				      "ip link set %s down && ip link set %s up; else reload the "
				      "RDMA driver",
				      link, link),
			   "the GID table of %s port %s is empty", rdma->device, rdma->port);
		judge_candidate(g, "gids-hidden",
				"look from the host's network namespace, or use the inbox ib_core",
				"an out-of-tree ib_core hides GIDs of other network namespaces: "
				"the host sees them, a pod does not");
	} else if (gids->link_local == gids->n) {
		judge_fail(g, "gid-link-local-only",
			   judge_text(g,
				      "put the address on %s itself; for a VLAN or bond see that "
				      "the RDMA device belongs to it",
				      link),
			   "%s has only link-local GIDs, none of %s", rdma->device,
			   address ? address : "an address that others can route to");
	} else {
		judge_fail(g, "gid-missing",
			   judge_text(g,
				      "ip address show dev %s; compare with `rdma link show` and "
				      "the GID table",
				      link),
			   "none of the %zu GIDs of %s is of %s", gids->n, rdma->device,
			   address ? address : "an address that others can route to");
	}
}

void judge_rdma_gid(struct judging *g)
{
	struct subject_rdma rdma;
	unsigned char want[16] = { 0 };
	bool any = !g->port->address || !gid_of_address(g->port->address, want);
	struct gids gids;

	if (!rdma_find(g, &rdma))
		return;

	json_t *list = fact(g, "/rdma/devices/%s/ports/%s/gids", rdma.device, rdma.port);

	if (!list)
		return;
	if (any)
		judge_assume(g, "any address of the link for the GID, link-local ones aside");
	else
		fact_declared(g, &g->port->where, json_text_new(g->port->address),
			      "nodes/%s/rdma/%s/address", g->node->name, g->port->link);
	sort_gids(g, &rdma, list, want, any, &gids);

	json_t *hit = json_array_get(list, (size_t)(gids.v2_on_link >= 0   ? gids.v2_on_link :
						    gids.v2_elsewhere >= 0 ? gids.v2_elsewhere :
									     gids.v1));
	const char *address =
		g->port->address ? g->port->address : json_get_string(hit, "gid", "?");

	if (gids.v2_on_link >= 0)
		judge_pass(g, "index %lld, RoCE v2, %s on %s",
			   (long long)json_get_int(hit, "index", -1), address,
			   json_get_string(hit, "link", g->port->link));
	else if (gids.v2_elsewhere >= 0)
		judge_fail(g, "gid-other-link",
			   judge_text(g, "put %s on %s, or declare the RDMA port on %s", address,
				      g->port->link, json_get_string(hit, "link", "?")),
			   "the RoCE v2 GID of %s (index %lld) belongs to %s, declared is %s",
			   address, (long long)json_get_int(hit, "index", -1),
			   json_get_string(hit, "link", "?"), g->port->link);
	else if (gids.v1 >= 0)
		judge_fail(g, "gid-v1-only",
			   "switch the adapter to RoCE v2 (cma_roce_mode, or the driver's default)",
			   "%s is in the GID table of %s as RoCE v1 only (index %lld)", address,
			   rdma.device, (long long)json_get_int(hit, "index", -1));
	else
		judge_gid_absent(g, &rdma, &gids);
}

/* --- rdma.mtu --- */

/* Some drivers round the link MTU itself down and keep no room for headers: then this much is right
 * too. */
static int64_t power_of_two_below(int64_t mtu)
{
	int64_t roce = 4096;

	while (roce >= 256 && roce > mtu)
		roce /= 2;
	return roce;
}

void judge_rdma_mtu(struct judging *g)
{
	struct subject_rdma rdma;
	int64_t active, mtu;

	if (!rdma_find(g, &rdma) ||
	    !fact_int(g, &active, "/rdma/devices/%s/ports/%s/active_mtu", rdma.device, rdma.port))
		return;

	const char *own = json_get_string(rdma.port_object, "link", g->port->link);
	int64_t want = g->port->roce_mtu.set ? g->port->roce_mtu.value : 0;

	if (!fact_int(g, &mtu, "/links/%s/mtu", own))
		return;

	int64_t fits = roce_mtu_of_link(mtu);

	if (want) {
		fact_declared(g, &g->port->where, json_integer(want), "nodes/%s/rdma/%s/roce_mtu",
			      g->node->name, g->port->link);
		if (active < want && fits < want) {
			judge_fail(g, "roce-mtu-link-mtu",
				   judge_text(g,
					      "set the MTU of %s, what is below it and the switch "
					      "to %lld or more (9000 is usual)",
					      own, (long long)roce_mtu_needs_link(want)),
				   "RoCE MTU of %s is %lld, declared is %lld: the MTU of %s is "
				   "%lld and %lld needs at least %lld",
				   rdma.device, (long long)active, (long long)want, own,
				   (long long)mtu, (long long)want,
				   (long long)roce_mtu_needs_link(want));
			judge_explained_by(g, "net.mtu", g->port->link);
			return;
		}
	}
	if (active > fits && active > power_of_two_below(mtu))
		judge_fail(g, "roce-mtu-above-link",
			   judge_text(g, "ip link set %s mtu %lld", own,
				      (long long)roce_mtu_needs_link(active)),
			   "RoCE MTU of %s is %lld, and the MTU %lld of %s carries %lld only",
			   rdma.device, (long long)active, (long long)mtu, own, (long long)fits);
	else if (active < fits)
		judge_fail(g, "roce-mtu-below-link",
			   judge_text(g,
				      "ip link set %s down && ip link set %s up, or reload the "
				      "RDMA driver: it keeps the MTU of its start",
				      own, own),
			   "RoCE MTU of %s is %lld, and the MTU %lld of %s allows %lld",
			   rdma.device, (long long)active, (long long)mtu, own, (long long)fits);
	else
		judge_pass(g, "RoCE MTU %lld, link MTU %lld", (long long)active, (long long)mtu);
}

void judge_rdma_mtu_pair(struct judging *g)
{
	struct subject_rdma own, peer;
	int64_t a, b;

	if (!g->port || !g->peer_port || !rdma_find(g, &own))
		return;
	if (!subject_rdma_of_port(g->peer_snapshot, g->peer, g->peer_port, &peer)) {
		judge_unknown(g, NULL, "%s of %s has no RDMA device", g->peer_port->link,
			      g->peer->name);
		return;
	}
	if (!fact_int(g, &a, "/rdma/devices/%s/ports/%s/active_mtu", own.device, own.port) ||
	    !fact_peer_int(g, &b, "/rdma/devices/%s/ports/%s/active_mtu", peer.device, peer.port))
		return;
	if (a == b) {
		judge_pass(g, "RoCE MTU %lld on both", (long long)a);
		return;
	}
	judge_fail(g, "roce-mtu-pair",
		   "give both links one MTU; programs must use the smaller of both RoCE MTUs until "
		   "then",
		   "RoCE MTU of %s on %s is %lld, of %s on %s %lld", own.device, g->node->name,
		   (long long)a, peer.device, g->peer->name, (long long)b);

	/* unequal link MTUs give unequal RoCE MTUs: that is the cause */
	json_t *x = peek(g, "/links/%s/mtu", g->port->link);
	json_t *y = json_at(g->peer_snapshot, "/links/%s/mtu", g->peer_port->link);

	if (json_is_integer(x) && json_is_integer(y) && json_integer_value(x) != json_integer_value(y) &&
	    (a < b) == (json_integer_value(x) < json_integer_value(y)))
		judge_explained_by(g, "net.mtu", NULL);
}
