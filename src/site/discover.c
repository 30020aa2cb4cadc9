/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A site made from snapshots, for a check without site.yaml. It says which links matter, so that
 * there are subjects to judge; it declares no expectation beyond that, because what a machine has
 * now is no statement of what it should have. Exceptions: the mode and ports of bonds, and the
 * number of GPUs, without which bonds and GPUs could not be judged at all.
 */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "site/pci_path.h"
#include "site/schema.h"

struct finder {
	json_t *links;		/* /links of the snapshot */
	json_t *pci;		/* /pci/devices */
	json_t *routes;		/* /routes */
	struct site_node *node;
};

static bool text_is(json_t *object, const char *key, const char *wanted)
{
	return !strcmp(json_get_string(object, key, ""), wanted);
}

static json_t *link_object(const struct finder *f, const char *name)
{
	return json_object_get(f->links, name);
}

/* The first IPv4 address, on an IPv6-only link the first of that. */
static const char *first_address(json_t *link)
{
	const char *found = NULL;
	json_t *address;
	size_t i;

	json_array_foreach(json_object_get(link, "addresses"), i, address) {
		if (!text_is(address, "scope", "global"))
			continue;
		if (text_is(address, "family", "ipv4"))
			return json_get_string(address, "address", NULL);
		if (!found)
			found = json_get_string(address, "address", NULL);
	}
	return found;
}

/* Not switched off and forgotten: such a port says nothing about the path. */
static bool in_use(json_t *link)
{
	return json_get_bool(link, "up", true) || json_object_get(link, "master") ||
	       first_address(link);
}

/* The bond that carries the addresses of `name`, or `name`. */
static const char *top_link(const struct finder *f, const char *name)
{
	const char *master = json_get_string(link_object(f, name), "master", NULL);

	if (master && text_is(link_object(f, master), "kind", "bond"))
		return master;
	return name;
}

/* The one VLAN on `name` that has an address, or NULL: then the GID of the port is the VLAN's. */
static const char *only_vlan_on(const struct finder *f, const char *name)
{
	const char *vlan, *found = NULL;
	json_t *link;

	json_object_foreach(f->links, vlan, link) {
		if (!text_is(link, "kind", "vlan") || !text_is(link, "lower", name) ||
		    !first_address(link))
			continue;
		if (found)
			return NULL;
		found = vlan;
	}
	return found;
}

static void add_link(struct finder *f, const char *name)
{
	struct site_node *node = f->node;
	json_t *link = link_object(f, name);

	if (!link || site_link_find(node, name))
		return;
	node->links = xreallocarray(node->links, node->n_links + 1, sizeof(*node->links));
	struct site_link *one = &node->links[node->n_links++];
	*one = (struct site_link){ .name = xstrdup(name) };
	if (text_is(link, "parent_bus", "pci") && json_get_string(link, "parent_device", NULL))
		one->pci = xstrdup(json_get_string(link, "parent_device", NULL));
}

static int by_index(const void *a, const void *b, void *arg)
{
	const struct finder *f = arg;
	const char *x = *(char *const *)a, *y = *(char *const *)b;
	int64_t ix = json_get_int(link_object(f, x), "index", INT64_MAX);
	int64_t iy = json_get_int(link_object(f, y), "index", INT64_MAX);

	return ix != iy ? (ix < iy ? -1 : 1) : strcmp(x, y);
}

/* The kernel does not tell the enslave order; ports are given in order of their index. */
static char **bond_ports(struct finder *f, const char *bond)
{
	char **ports = xcalloc(1, sizeof(*ports));
	const char *name;
	json_t *link;
	size_t n = 0;

	json_object_foreach(f->links, name, link) {
		if (!text_is(link, "master", bond))
			continue;
		ports = xreallocarray(ports, n + 2, sizeof(*ports));
		ports[n++] = xstrdup(name);
		ports[n] = NULL;
	}
	qsort_r(ports, n, sizeof(*ports), by_index, f);
	return ports;
}

static void add_bonds(struct finder *f)
{
	struct site_node *node = f->node;
	const char *name;
	json_t *link;

	json_object_foreach(f->links, name, link) {
		const char *mode = json_get_string(json_object_get(link, "bond"), "mode", NULL);

		/* loading the bonding module makes a bond0 that nobody asked for */
		if (!text_is(link, "kind", "bond") || !in_use(link))
			continue;
		node->bonds = xreallocarray(node->bonds, node->n_bonds + 1, sizeof(*node->bonds));
		struct site_bond *bond = &node->bonds[node->n_bonds++];
		*bond = (struct site_bond){
			.name = xstrdup(name),
			.mode = mode ? xstrdup(mode) : NULL,
			.ports = bond_ports(f, name),
		};
		for (char **port = bond->ports; *port; port++)
			add_link(f, *port);
	}
}

static void add_vlan(struct finder *f, const char *name)
{
	struct site_node *node = f->node;
	json_t *link = link_object(f, name);
	int64_t id = json_get_int(json_object_get(link, "vlan"), "id", -1);

	if (site_vlan_find(node, name))
		return;
	node->vlans = xreallocarray(node->vlans, node->n_vlans + 1, sizeof(*node->vlans));
	struct site_vlan *vlan = &node->vlans[node->n_vlans++];
	*vlan = (struct site_vlan){
		.name = xstrdup(name),
		.link = xstrdup(json_get_string(link, "lower", "")),
		.id = { id >= 0, id },
	};
	for (size_t i = 0; i < ARRAY_SIZE(vlan->egress); i++)
		vlan->egress[i] = -1;
}

/* One RDMA port for each link that carries an address; several devices below a bond are one. */
static void add_rdma(struct finder *f, const char *link)
{
	struct site_node *node = f->node;
	const char *carrier = top_link(f, link);
	const char *address;

	/* software RDMA may stand on a bond or a VLAN itself */
	if (text_is(link_object(f, link), "kind", "vlan"))
		add_vlan(f, link);
	else if (!text_is(link_object(f, link), "kind", "bond"))
		add_link(f, link);
	if (!first_address(link_object(f, carrier))) {
		const char *vlan = only_vlan_on(f, carrier);

		if (vlan) {
			add_vlan(f, vlan);
			carrier = vlan;
		}
	}
	if (site_rdma_find(node, carrier))
		return;
	address = first_address(link_object(f, carrier));
	node->rdma = xreallocarray(node->rdma, node->n_rdma + 1, sizeof(*node->rdma));
	node->rdma[node->n_rdma++] = (struct site_rdma){
		.link = xstrdup(carrier),
		.address = address ? xstrdup(address) : NULL,
		.protocol = xstrdup("roce"),
	};
}

/* The link of a device port; where the port does not tell (its link is in another network
 * namespace), the link of its PCI device. NULL when there is none. */
static const char *port_link(const struct finder *f, json_t *device, json_t *port)
{
	const char *link = json_get_string(port, "link", NULL);
	const char *bdf = json_get_string(device, "parent_device", NULL);

	if (link || !bdf)
		return link;
	return json_string_value(
		json_array_get(json_object_get(json_object_get(f->pci, bdf), "links"), 0));
}

static void add_rdma_devices(struct finder *f, json_t *devices)
{
	const char *name, *number;
	json_t *device, *port;

	json_object_foreach(devices, name, device) {
		if (text_is(device, "protocol", "ib"))
			continue;	/* InfiniBand has no part in a RoCE path */
		json_object_foreach(json_object_get(device, "ports"), number, port) {
			const char *link = port_link(f, device, port);

			if (!link)
				continue;
			if (text_is(port, "state", "ACTIVE") || in_use(link_object(f, link)))
				add_rdma(f, link);
		}
	}
}

#define PCI_CLASS_INFINIBAND "0x0207"

/* Adapters whose RDMA device can be missing: the families that have one, VFs aside. */
static bool is_rdma_capable(const struct finder *f, json_t *link)
{
	static const char *const drivers[] = { "ice", "mlx5_core", "bnxt_en" };
	json_t *device = json_object_get(f->pci, json_get_string(link, "parent_device", ""));
	const char *driver = json_get_string(json_object_get(link, "ethtool"), "driver", NULL);

	if (!driver)
		driver = json_get_string(device, "driver", "");
	if (!text_is(link, "kind", "") || json_get_string(device, "physfn", NULL) ||
	    text_starts_with(json_get_string(device, "class", ""), PCI_CLASS_INFINIBAND))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++)
		if (!strcmp(driver, drivers[i]))
			return true;
	return false;
}

/* Does the default route leave by this link, or by a VLAN on it? */
static bool has_default_route(const struct finder *f, const char *link)
{
	json_t *route;
	size_t i;

	json_array_foreach(f->routes, i, route) {
		const char *out = json_get_string(route, "link", "");

		if (text_is(route, "destination", "default") &&
		    (!strcmp(out, link) || text_is(link_object(f, out), "lower", link)))
			return true;
	}
	return false;
}

/*
 * Links that could have an RDMA device and have none. On a node that has RDMA elsewhere, the one
 * with the default route is taken for its way to the world, of which nobody wants RDMA.
 */
static void add_capable_links(struct finder *f)
{
	bool has_rdma = f->node->n_rdma > 0;
	const char *name;
	json_t *link;

	json_object_foreach(f->links, name, link) {
		if (!is_rdma_capable(f, link) || !in_use(link) ||
		    (has_rdma && has_default_route(f, top_link(f, name))))
			continue;
		add_rdma(f, name);
	}
}

static void add_gpu(struct site_node *node, const char *id, const char *model)
{
	for (size_t i = 0; i < node->n_gpus; i++) {
		if (!strcmp(node->gpus[i].pci_id, id)) {
			node->gpus[i].count.value++;
			return;
		}
	}
	node->gpus = xreallocarray(node->gpus, node->n_gpus + 1, sizeof(*node->gpus));
	node->gpus[node->n_gpus++] = (struct site_gpu){
		.model = xstrdup(model ? model : id),
		.pci_id = xstrdup(id),
		.count = { true, 1 },
	};
}

static void add_gpus(struct finder *f, json_t *driver_devices)
{
	const char *bdf;
	json_t *device;

	json_object_foreach(f->pci, bdf, device) {
		const char *id = json_get_string(device, "device", "");

		if (!pci_is_gpu(device) || !text_starts_with(id, "0x"))
			continue;
		_cleanup_free_ char *pci_id = xasprintf("10de:%s", id + 2);
		add_gpu(f->node, pci_id,
			json_get_string(json_object_get(driver_devices, bdf), "model", NULL));
	}
}

static void discover_node(struct site_node *node, json_t *snapshot, size_t number)
{
	const char *name = json_get_string(json_object_get(snapshot, "node"), "hostname", NULL);
	struct finder f = {
		.links = json_object_get(snapshot, "links"),
		.pci = json_object_get(json_object_get(snapshot, "pci"), "devices"),
		.routes = json_object_get(snapshot, "routes"),
		.node = node,
	};

	node->name = name && name[0] ? xstrdup(name) : xasprintf("node-%zu", number + 1);
	add_bonds(&f);
	add_rdma_devices(&f, json_object_get(json_object_get(snapshot, "rdma"), "devices"));
	add_capable_links(&f);
	add_gpus(&f, json_object_get(json_object_get(snapshot, "gpu"), "devices"));
	node->roles = node->n_gpus ? SITE_ROLE_GPU : SITE_ROLE_CLIENT;
}

int site_discover(struct site **site, json_t *const *snapshots, size_t n, struct error *err)
{
	struct site *made;

	*site = NULL;
	if (!n)
		return error_set(err, -EINVAL, "no snapshot to discover a site from");
	made = xcalloc(1, sizeof(*made));
	schema_bind(&schema_site, NULL, made);
	made->name = xstrdup("discovered");
	made->assumed = true;
	made->nodes = xcalloc(n, sizeof(*made->nodes));
	made->n_nodes = n;
	for (size_t i = 0; i < n; i++) {
		discover_node(&made->nodes[i], snapshots[i], i);
		made->gpudirect = made->gpudirect || made->nodes[i].n_gpus;
	}
	*site = made;
	return 0;
}
