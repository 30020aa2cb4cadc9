/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The choice of a path, in four steps: link and address, RDMA device and port, GID, MTU. Each step
 * tells what it chose and why, or fails with what the snapshot shows instead.
 */
#include "prove/path_choice.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"

/* Names that a message lists; the rest is left out. */
#define NAMED_MAX 8u

void choice_reason(struct choice *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	strings_add(&c->path->reasons, xvasprintf(fmt, ap));
	va_end(ap);
}

void choice_name(struct strbuf *b, size_t n, const char *fmt, ...)
{
	va_list ap;

	if (n > NAMED_MAX)
		return;
	if (n == NAMED_MAX) {
		strbuf_puts(b, ", …");
		return;
	}
	va_start(ap, fmt);
	_cleanup_free_ char *name = xvasprintf(fmt, ap);
	va_end(ap);
	strbuf_printf(b, "%s%s", n ? ", " : "", name);
}

/* --- device and port -------------------------------------------------------------------------- */

enum fit {
	FIT_NONE,
	FIT_BELOW,	/* its network interface lies below the link */
	FIT_LINK,	/* its network interface is the link */
	FIT_GID,	/* it has the GID of the address on the link */
};

static json_t *find_gid(const struct choice *c, json_t *port, const char *type)
{
	json_t *entry, *found = NULL;
	size_t i;

	json_array_foreach(json_object_get(port, "gids"), i, entry) {
		struct path_address gid;

		if (!path_address_parse(json_get_string(entry, "gid", NULL), &gid) ||
		    !path_address_equal(&gid, &c->address) ||
		    strcmp(json_get_string(entry, "type", ""), type))
			continue;
		if (!strcmp(json_get_string(entry, "link", ""), c->path->link))
			return entry;
		found = found ? found : entry;
	}
	return found;
}

static enum fit fit_of(const struct choice *c, json_t *port, char *const *below)
{
	const char *link = json_get_string(port, "link", NULL);

	if (find_gid(c, port, "RoCE v2"))
		return FIT_GID;
	if (link && !strcmp(link, c->path->link))
		return FIT_LINK;
	return link && (strings_have(below, link) ||
			!strcmp(link, path_base_link(c->snapshot, c->path->link))) ?
		       FIT_BELOW :
		       FIT_NONE;
}

static bool is_active(json_t *port)
{
	return !strcmp(json_get_string(port, "state", ""), "ACTIVE");
}

static int no_device(struct choice *c)
{
	_cleanup_strbuf_ struct strbuf names = {0};
	json_t *devices = json_at(c->snapshot, "/rdma/devices"), *device, *port;
	const char *name, *number;
	size_t n = 0;

	json_object_foreach(devices, name, device) {
		json_object_foreach(json_object_get(device, "ports"), number, port)
			choice_name(&names, n++, "%s of %s", name,
				 json_get_string(port, "link", "no link"));
	}
	if (c->request->device && json_object_get(devices, c->request->device))
		return error_set(c->err, -ENODEV, "RDMA device %s has no port %u",
				 c->request->device, c->request->port);
	if (c->request->device)
		return error_set(c->err, -ENODEV, "there is no RDMA device %s%s%s",
				 c->request->device, n ? "; there is " : "", strbuf_str(&names));
	return error_set(c->err, -ENODEV, "no RDMA device belongs to %s%s%s", c->path->link,
			 n ? "; there is " : ": this host has none", strbuf_str(&names));
}

static void take_device(struct choice *c, const char *device, const char *number, enum fit fit)
{
	const char *own = json_get_string(c->port, "link", "?");

	c->path->device = xstrdup(device);
	c->path->port = (unsigned)strtoul(number, NULL, 10);
	if (c->request->device)
		choice_reason(c, "device %s port %s: asked for", device, number);
	else if (fit == FIT_GID)
		choice_reason(c, "device %s port %s: it has the GID of %s", device, number,
		       c->path->address);
	else if (fit == FIT_LINK)
		choice_reason(c, "device %s port %s: its link is %s", device, number, own);
	else
		choice_reason(c, "device %s port %s: its link %s lies below %s", device, number, own,
		       c->path->link);
}

/* What makes the chosen port useless, whatever its GIDs. */
static int check_port(struct choice *c)
{
	const char *device = c->path->device;
	const char *protocol =
		json_get_string(json_at(c->snapshot, "/rdma/devices/%s", device), "protocol", "");
	const char *state = json_get_string(c->port, "state", NULL);

	if (!strcmp(protocol, "iwarp") || !strcmp(protocol, "ib"))
		return error_set(c->err, -EPROTONOSUPPORT, "%s speaks %s, not RoCE", device,
				 *protocol == 'i' && protocol[1] == 'w' ? "iWARP" : "InfiniBand");
	if (state && !is_active(c->port))
		return error_set(c->err, -ENETDOWN, "port %u of %s is %s, not ACTIVE",
				 c->path->port, device, state);
	return 0;
}

static int choose_device(struct choice *c)
{
	const struct path_request *r = c->request;
	_cleanup_strings_ char **below = path_physical_links(c->snapshot, c->path->link);
	const char *name, *number, *best_name = NULL, *best_number = NULL;
	enum fit best = FIT_NONE;
	json_t *device, *port;

	json_object_foreach(json_at(c->snapshot, "/rdma/devices"), name, device) {
		if (r->device && strcmp(r->device, name))
			continue;
		json_object_foreach(json_object_get(device, "ports"), number, port) {
			enum fit fit = fit_of(c, port, below);

			if (r->port && strtoul(number, NULL, 10) != r->port)
				continue;
			if (best_name && (fit < best || (fit == best && (is_active(c->port) ||
									 !is_active(port)))))
				continue;
			if (!r->device && fit == FIT_NONE)
				continue;
			best = fit;
			best_name = name;
			best_number = number;
			c->port = port;
		}
	}
	if (!best_name)
		return no_device(c);
	take_device(c, best_name, best_number, best);
	return check_port(c);
}

/* --- GID -------------------------------------------------------------------------------------- */

static int take_gid(struct choice *c, json_t *entry, const char *why)
{
	struct path *p = c->path;
	const char *gid = json_get_string(entry, "gid", "?");

	p->gid_index = (int)json_get_int(entry, "index", 0);
	p->gid = xstrdup(gid);
	choice_reason(c, "GID index %d: %s, %s, %s", p->gid_index, why,
	       json_get_string(entry, "type", "of unknown type"), gid);
	return 0;
}

static int gid_as_asked(struct choice *c)
{
	_cleanup_strbuf_ struct strbuf table = {0};
	json_t *entry;
	size_t i;

	json_array_foreach(json_object_get(c->port, "gids"), i, entry) {
		if (json_get_int(entry, "index", -1) == c->request->gid_index)
			return take_gid(c, entry, "asked for");
		choice_name(&table, i, "%lld: %s", (long long)json_get_int(entry, "index", -1),
			 json_get_string(entry, "gid", "?"));
	}
	return error_set(c->err, -ENOENT, "%s port %u has no GID at index %d%s%s", c->path->device,
			 c->path->port, c->request->gid_index, table.len ? "; it has " : "",
			 strbuf_str(&table));
}

static int choose_gid(struct choice *c)
{
	const struct path *p = c->path;
	json_t *entry, *hit;
	size_t i, n = 0, link_local = 0;

	if (c->request->gid_index >= 0)
		return gid_as_asked(c);
	hit = find_gid(c, c->port, "RoCE v2");
	if (hit)
		return take_gid(c, hit, "that of the address");
	if (find_gid(c, c->port, "IB/RoCE v1"))
		return error_set(c->err, -EPROTONOSUPPORT,
				 "the GID of %s is in the table of %s port %u as RoCE v1 only, "
				 "which is not routed and has no DSCP", p->address, p->device,
				 p->port);
	json_array_foreach(json_object_get(c->port, "gids"), i, entry) {
		struct path_address gid;

		if (!path_address_parse(json_get_string(entry, "gid", NULL), &gid))
			continue;
		n++;
		link_local += path_address_is_link_local(&gid);
	}
	if (!n)
		return error_set(c->err, -EADDRNOTAVAIL, "the GID table of %s port %u is empty",
				 p->device, p->port);
	if (link_local == n)
		return error_set(c->err, -EADDRNOTAVAIL,
				 "%s port %u has only link-local GIDs, none of %s: the device does "
				 "not belong to %s", p->device, p->port, p->address, p->link);
	return error_set(c->err, -EADDRNOTAVAIL, "none of the %zu GIDs of %s port %u is of %s", n,
			 p->device, p->port, p->address);
}

/* --- MTU and place ---------------------------------------------------------------------------- */

static void choose_rest(struct choice *c)
{
	struct path *p = c->path;
	json_t *device = json_at(c->snapshot, "/rdma/devices/%s", p->device);
	const char *pci = json_get_string(device, "parent_device", NULL);
	int64_t mtu = json_get_int(c->port, "active_mtu", 0);

	if (mtu > 0 && mtu <= 4096)
		p->mtu_bytes = (unsigned)mtu;
	if (p->mtu_bytes)
		choice_reason(c, "RoCE MTU %u: active MTU of the port; the smaller of both ends' is used",
		       p->mtu_bytes);
	else
		choice_reason(c, "RoCE MTU: not seen in the facts; the device is asked when it is opened");
	p->numa_node = -1;
	if (!pci)
		return;
	p->pci = xstrdup(pci);
	p->numa_node = (int)json_get_int(json_at(c->snapshot, "/pci/devices/%s", pci), "numa_node",
					 -1);
}

int path_choose(struct path *path, const struct path_request *request, struct error *err)
{
	struct choice c = {
		.request = request,
		.snapshot = request->snapshot,
		.path = path,
		.err = err,
	};
	int rc;

	*path = (struct path){ .gid_index = -1, .numa_node = -1 };
	rc = choice_link(&c);
	if (!rc)
		rc = choose_device(&c);
	if (!rc)
		rc = choose_gid(&c);
	if (rc < 0) {
		path_clear(path);
		return rc;
	}
	choose_rest(&c);
	return 0;
}

void path_clear(struct path *path)
{
	free(path->link);
	free(path->address);
	free(path->device);
	free(path->gid);
	free(path->pci);
	strings_free(path->reasons);
	*path = (struct path){ .gid_index = -1, .numa_node = -1 };
}
