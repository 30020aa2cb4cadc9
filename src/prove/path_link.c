/* SPDX-License-Identifier: Apache-2.0 */
/* First step to a path: the link, by what was asked for, by the site, or by the route; and which of
 * its addresses. */
#include "prove/path_choice.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"

static json_t *link_object(const struct choice *c, const char *link)
{
	return json_at(c->snapshot, "/links/%s", link);
}

/* The address on the link that a peer of this family can reach; IPv4 before IPv6 for any. */
static const char *address_on_link(const struct choice *c, const char *link,
				   const struct path_address *peer)
{
	const char *found = NULL;
	json_t *entry;
	size_t i;

	json_array_foreach(json_object_get(link_object(c, link), "addresses"), i, entry) {
		const char *text = json_get_string(entry, "address", NULL);
		struct path_address address;

		if (!path_address_parse(text, &address) || path_address_is_link_local(&address) ||
		    !strcmp(json_get_string(entry, "scope", "global"), "host"))
			continue;
		if (peer ? path_address_is_ipv4(peer) == path_address_is_ipv4(&address) :
			   path_address_is_ipv4(&address))
			return text;
		if (!peer && !found)
			found = text;
	}
	return found;
}

static const char *link_of_address(const struct choice *c, const struct path_address *wanted)
{
	json_t *link, *entry;
	const char *name;
	size_t i;

	json_object_foreach(json_at(c->snapshot, "/links"), name, link) {
		json_array_foreach(json_object_get(link, "addresses"), i, entry) {
			struct path_address address;

			if (path_address_parse(json_get_string(entry, "address", NULL),
					       &address) &&
			    path_address_equal(&address, wanted))
				return name;
		}
	}
	return NULL;
}

static int take_address(struct choice *c, const char *text, const char *why)
{
	if (!path_address_parse(text, &c->address))
		return error_set(c->err, -EINVAL, "'%s' is no address", text);
	c->path->address = xstrdup(text);
	choice_reason(c, "address %s: %s", text, why);
	return 0;
}

/* The link is chosen: which of its addresses? */
static int choose_address(struct choice *c, const struct site_rdma *declared,
			  const struct path_address *peer)
{
	const char *link = c->path->link, *text;

	if (declared && declared->address) {
		struct path_address wanted;
		const char *where;

		if (!path_address_parse(declared->address, &wanted))
			return error_set(c->err, -EINVAL, "'%s' is no address", declared->address);
		where = link_of_address(c, &wanted);
		if (!where || strcmp(where, link))
			return error_set(c->err, -EADDRNOTAVAIL,
					 "%s:%u: address %s is declared for %s, and is %s%s",
					 c->request->site->path ? c->request->site->path : "site",
					 declared->where.line, declared->address, link,
					 where ? "on " : "on no link of this host",
					 where ? where : "");
		return take_address(c, declared->address, "declared in the site");
	}
	text = address_on_link(c, link, peer);
	if (!text)
		return error_set(c->err, -EADDRNOTAVAIL,
				 "%s has no %saddress that another host can route to", link,
				 !peer			      ? "" :
				 path_address_is_ipv4(peer) ? "IPv4 " :
								"IPv6 ");
	return take_address(c, text, peer ? "on that link, of the peer's family" :
					    "on that link");
}

static void take_link(struct choice *c, const char *link, const char *fmt, ...) RH_PRINTF(3, 4);
static void take_link(struct choice *c, const char *link, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	_cleanup_free_ char *why = xvasprintf(fmt, ap);
	va_end(ap);
	c->path->link = xstrdup(link);
	choice_reason(c, "link %s: %s", link, why);
}

/* The port that the site pairs with the peer's: of the same rail, else at the same place. */
static const struct site_rdma *declared_for(const struct choice *c,
					    const struct path_address *peer,
					    const struct site_node **peer_node)
{
	const struct site *site = c->request->site;
	const struct site_node *node = c->request->node;

	for (size_t i = 0; i < site->n_nodes; i++) {
		const struct site_node *other = &site->nodes[i];

		for (size_t k = 0; other != node && k < other->n_rdma; k++) {
			const struct site_rdma *port = &other->rdma[k];
			struct path_address address;

			if (!path_address_parse(port->address, &address) ||
			    !path_address_equal(&address, peer))
				continue;
			*peer_node = other;
			for (size_t m = 0; port->rail && m < node->n_rdma; m++) {
				if (node->rdma[m].rail && !strcmp(node->rdma[m].rail, port->rail))
					return &node->rdma[m];
			}
			return port->rail || k >= node->n_rdma ? NULL : &node->rdma[k];
		}
	}
	return NULL;
}

static int several_ports(struct choice *c)
{
	const struct site_node *node = c->request->node;
	_cleanup_strbuf_ struct strbuf names = {0};

	for (size_t i = 0; i < node->n_rdma; i++)
		choice_name(&names, i, "%s", node->rdma[i].link);
	return error_set(c->err, -EINVAL,
			 "%s has several RDMA ports (%s), and %s tells which one is meant: name "
			 "the link", node->name, strbuf_str(&names),
			 c->request->peer_address ? "no address of the site" : "nothing");
}

/* By the site: `*port` is the declared port, NULL when the route has to tell. */
static int choose_declared(struct choice *c, const struct path_address *peer,
			   const struct site_rdma **port)
{
	const struct site_node *node = c->request->node, *other = NULL;

	*port = peer ? declared_for(c, peer, &other) : NULL;
	if (*port) {
		if ((*port)->rail)
			take_link(c, (*port)->link, "declared for %s, the rail of %s (%s)",
				  (*port)->rail, c->request->peer_address, other->name);
		else
			take_link(c, (*port)->link, "declared in the site, the pair of %s (%s)",
				  c->request->peer_address, other->name);
		return 0;
	}
	if (other)
		return error_set(c->err, -EINVAL,
				 "%s has no RDMA port for %s: the site pairs none with it",
				 node->name, c->request->peer_address);
	if (node->n_rdma == 1) {
		*port = &node->rdma[0];
		take_link(c, (*port)->link, "the RDMA port that the site declares for %s",
			  node->name);
		return 0;
	}

	json_t *route = peer ? path_route(c->snapshot, peer) : NULL;

	for (size_t i = 0; route && i < node->n_rdma; i++) {
		if (!path_route_uses(route, node->rdma[i].link))
			continue;
		*port = &node->rdma[i];
		take_link(c, (*port)->link, "of the declared RDMA ports, the one of the route to "
					    "%s", c->request->peer_address);
		return 0;
	}
	return several_ports(c);
}

/* Without a site and without a peer there must be one link with an address and an RDMA device. */
static int choose_only_link(struct choice *c)
{
	_cleanup_strbuf_ struct strbuf names = {0};
	_cleanup_strings_ char **links = NULL;
	json_t *device, *port, *entry;
	const char *name, *number;
	size_t i, n = 0;

	json_object_foreach(json_at(c->snapshot, "/rdma/devices"), name, device) {
		json_object_foreach(json_object_get(device, "ports"), number, port) {
			json_array_foreach(json_object_get(port, "gids"), i, entry) {
				const char *link = json_get_string(entry, "link", NULL);

				if (link && address_on_link(c, link, NULL))
					strings_add_once(&links, link);
			}
		}
	}
	for (n = 0; links && links[n]; n++)
		choice_name(&names, n, "%s", links[n]);
	if (n == 1) {
		take_link(c, links[0], "the only one with an address and an RDMA device");
		return 0;
	}
	return n ? error_set(c->err, -EINVAL,
			     "several links have an address and an RDMA device (%s): name the link",
			     strbuf_str(&names)) :
		   error_set(c->err, -ENODEV,
			     "no link has both an address and an RDMA device with its GID");
}

static int choose_by_route(struct choice *c, const struct path_address *peer)
{
	const char *peer_text = c->request->peer_address;
	json_t *route = path_route(c->snapshot, peer);
	const char *link = path_route_link(route);

	if (!link)
		return error_set(c->err, -ENETUNREACH, "no route leads to %s", peer_text);
	take_link(c, link, "the route to %s leaves by it (%s)", peer_text,
		  json_get_string(route, "destination", "?"));
	return 0;
}

/* The link of a device that was asked for: that of its first GID which others can route to. */
static int link_of_device(struct choice *c)
{
	const char *device = c->request->device, *number;
	json_t *ports = json_at(c->snapshot, "/rdma/devices/%s/ports", device), *port, *entry;
	const char *own = NULL;
	size_t i;

	json_object_foreach(ports, number, port) {
		if (c->request->port && strtoul(number, NULL, 10) != c->request->port)
			continue;
		own = own ? own : json_get_string(port, "link", NULL);
		json_array_foreach(json_object_get(port, "gids"), i, entry) {
			const char *link = json_get_string(entry, "link", NULL);

			if (link && address_on_link(c, link, NULL)) {
				take_link(c, link, "%s has a GID of it", device);
				return 0;
			}
		}
	}
	if (!own)
		return error_set(c->err, -ENODEV, "there is no RDMA device %s, or it has no link",
				 device);
	take_link(c, own, "of %s", device);
	return 0;
}

int choice_link(struct choice *c)
{
	const struct path_request *r = c->request;
	struct path_address parsed, *peer = r->peer_address ? &parsed : NULL;
	const struct site_rdma *declared = NULL;
	bool by_site = r->site && r->node && r->node->n_rdma;
	const char *own;
	int rc = 0;

	if (peer && !path_address_parse(r->peer_address, peer))
		return error_set(c->err, -EINVAL, "'%s' is no address", r->peer_address);
	own = peer && !r->link && !r->device ? link_of_address(c, peer) : NULL;
	if (own)
		return error_set(c->err, -EINVAL,
				 "%s is an address of this host (%s): a proof needs two hosts",
				 r->peer_address, own);
	if (r->link) {
		take_link(c, r->link, "asked for");
		declared = by_site ? site_rdma_find(r->node, r->link) : NULL;
	} else if (r->device) {
		rc = link_of_device(c);
	} else if (by_site) {
		rc = choose_declared(c, peer, &declared);
	} else {
		rc = peer ? choose_by_route(c, peer) : choose_only_link(c);
	}
	if (rc < 0)
		return rc;
	if (!link_object(c, c->path->link))
		return error_set(c->err, -ENODEV, "there is no link %s", c->path->link);

	json_t *route = peer ? path_route(c->snapshot, peer) : NULL;
	const char *leaves = path_route_link(route);

	if (route && !path_route_uses(route, c->path->link))
		choice_reason(c, "warning: the route to %s leaves by %s, not by %s", r->peer_address,
		       leaves ? leaves : "?", c->path->link);
	return choose_address(c, declared, peer);
}
