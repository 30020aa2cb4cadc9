/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host network. A link is rendered when it has an address or carries one that has: what is declared
 * without any is left to the machine, since a profile without address would take it off the
 * network.
 */
#include "render/network.h"

#include <string.h>

#include "render/format.h"

/* Routing tables of rails that share a subnet; below are those of the distribution. */
#define FIRST_TABLE 1001

/* The same remark of many nodes is one note. */
struct remark {
	char *text;
	const char *first;
	size_t nodes;
};

struct remarks {
	struct remark *remark;
	size_t n, capacity;
};

static void remark(struct remarks *remarks, const struct site_node *node, const char *fmt, ...)
	RH_PRINTF(3, 4);

static void remark(struct remarks *remarks, const struct site_node *node, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	char *text = xvasprintf(fmt, ap);
	va_end(ap);
	for (size_t i = 0; i < remarks->n; i++) {
		if (!strcmp(remarks->remark[i].text, text)) {
			remarks->remark[i].nodes++;
			free(text);
			return;
		}
	}
	array_reserve(remarks->remark, remarks->n, remarks->capacity);
	remarks->remark[remarks->n++] = (struct remark){ text, node->name, 1 };
}

static void remarks_note(struct render *r, struct remarks *remarks)
{
	for (size_t i = 0; i < remarks->n; i++) {
		struct remark *m = &remarks->remark[i];

		if (m->nodes == 1)
			render_note(r, "network/%s: %s", m->first, m->text);
		else
			render_note(r, "network/%s and %zu others: %s", m->first, m->nodes - 1,
				    m->text);
		free(m->text);
	}
	free(remarks->remark);
}

/* --- the links of a node ---------------------------------------------------------------------- */

static struct network_link *link_find(const struct network *net, const char *name)
{
	for (size_t i = 0; name && i < net->n; i++) {
		if (!strcmp(net->links[i].name, name))
			return &net->links[i];
	}
	return NULL;
}

static struct network_link *link_add(struct network *net, enum network_kind kind, const char *name,
				     char *const *addresses, const struct site_number *mtu)
{
	static const char *const maps[] = { "links", "bonds", "vlans" };
	struct network_link *link = &net->links[net->n++];

	link->kind = kind;
	link->name = name;
	link->addresses = addresses;
	link->mtu = mtu->set ? mtu->value : 0;
	link->declared =
		render_declared(net->r, "/nodes/%s/%s/%s", net->node->name, maps[kind], name);
	link->rdma = site_rdma_find(net->node, name);
	if (!format_is_word(name) || name[0] == '.')
		render_refuse(net->r, "nodes/%s/%s/%s: this name cannot be in a file name of "
			      "NetworkManager: use letters, digits and . _ -",
			      net->node->name, maps[kind], name);
	return link;
}

static void links_collect(struct network *net)
{
	const struct site_node *node = net->node;

	net->links = xcalloc(node->n_links + node->n_bonds + node->n_vlans + 1,
			     sizeof(*net->links));
	for (size_t i = 0; i < node->n_links; i++)
		link_add(net, NETWORK_PORT, node->links[i].name, node->links[i].addresses,
			 &node->links[i].mtu);
	for (size_t i = 0; i < node->n_bonds; i++)
		link_add(net, NETWORK_BOND, node->bonds[i].name, node->bonds[i].addresses,
			 &node->bonds[i].mtu)->bond = &node->bonds[i];
	for (size_t i = 0; i < node->n_vlans; i++)
		link_add(net, NETWORK_VLAN, node->vlans[i].name, node->vlans[i].addresses,
			 &node->vlans[i].mtu)->vlan = &node->vlans[i];
}

static void carry(struct network *net, struct network_link *link)
{
	if (link->rendered)
		return;
	link->rendered = true;
	if (link->vlan) {
		struct network_link *parent = link_find(net, link->vlan->link);

		if (parent)
			carry(net, parent);
	}
	for (char **port = link->bond ? link->bond->ports : NULL; port && *port; port++) {
		struct network_link *below = link_find(net, *port);

		if (!below)
			continue;
		below->master = link;
		if (!below->mtu)	/* bonding sets it anyway; said so that it is not undone */
			below->mtu = link->mtu;
		carry(net, below);
	}
}

static bool shares_subnet(const struct network_link *a, const struct network_link *b)
{
	struct address x, y;

	for (char *const *s = a->addresses; s && *s; s++) {
		for (char *const *t = b->addresses; t && *t; t++) {
			if (!address_parse(*s, &x) || !address_parse(*t, &y))
				continue;
			unsigned prefix = x.prefix < y.prefix ? x.prefix : y.prefix;

			if (prefix != x.bits && address_same_bits(&x, &y, prefix))
				return true;
		}
	}
	return false;
}

/* Rails in one subnet: the main table would send all by one of them, so each gets its own. */
static void tables_assign(struct network *net)
{
	unsigned table = FIRST_TABLE;

	for (size_t i = 0; i < net->n; i++) {
		struct network_link *link = &net->links[i];
		bool shares = false;

		for (size_t k = 0; link->rdma && !shares && k < net->n; k++)
			shares = k != i && net->links[k].rdma &&
				 shares_subnet(link, &net->links[k]);
		if (shares)
			link->table = table++;
	}
}

size_t network_rails(const struct network *net)
{
	size_t n = 0;

	for (size_t i = 0; i < net->n; i++)
		n += net->links[i].rdma && net->links[i].addresses && *net->links[i].addresses;
	return n;
}

/* --- remarks ---------------------------------------------------------------------------------- */

/* Does RoCE run over this bond, or a VLAN on it, with a driver that looks at the order of ports? */
static bool order_matters(const struct network *net, const struct network_link *bond)
{
	const struct site_link *port =
		bond->bond->ports ? site_link_find(net->node, bond->bond->ports[0]) : NULL;
	bool rdma = bond->rdma != NULL;

	for (size_t i = 0; i < net->n; i++)
		rdma |= net->links[i].rdma && net->links[i].vlan &&
			!strcmp(net->links[i].vlan->link, bond->name);
	return rdma && port && port->driver && !strcmp(port->driver, "ice");
}

static void remark_links(struct network *net, struct remarks *remarks)
{
	for (size_t i = 0; i < net->n; i++) {
		const struct network_link *link = &net->links[i];

		if (!link->rendered && (link->kind != NETWORK_PORT || link->rdma))
			remark(remarks, net->node,
			       "%s has no address and nothing above it has: it was left out",
			       link->name);
		if (!link->rendered || !link->bond || !order_matters(net, link))
			continue;
		for (char **port = link->bond->ports; port[0] && port[1]; port++) {
			if (strcmp(port[0], port[1]) <= 0)
				continue;
			remark(remarks, net->node,
			       "NetworkManager takes ports into %s by name, not in the declared "
			       "order (%s before %s): with ice the first one carries the RDMA "
			       "device",
			       link->name, port[0], port[1]);
			break;
		}
	}
}

/* --- one node --------------------------------------------------------------------------------- */

struct render_file *network_file(struct network *net, unsigned mode, const char *what,
				 const char *name, const char *target, ...)
{
	va_list ap;

	va_start(ap, target);
	_cleanup_free_ char *path = xvasprintf(target, ap);
	va_end(ap);
	_cleanup_free_ char *text = xasprintf("%s, for %s", what, path);
	installer_add(&net->installer, mode, name, "%s", path);
	return render_file_add(net->r, mode, text, "network/%s/%s", net->node->name, name);
}

static const char next_steps[] =
	"Nothing was activated. The profiles hold from the next boot, or now with\n"
	"`nmcli connection up NAME` for each bond or port; that can cut this login, so do it from\n"
	"a console. Not done either: installing packages (packages.txt), loading modules, sysctl,\n"
	"restarting containerd. QoS of the ports has to be set before they join a bond.";

static void render_node(struct render *r, const struct site_node *node, struct remarks *remarks)
{
	struct network net = {
		.r = r,
		.node = node,
		.installer = { .node = node,
			       .key = "network",
			       .reload = "nmcli connection reload",
			       .next = next_steps },
	};
	_cleanup_free_ char *folder = xasprintf("network/%s", node->name);

	links_collect(&net);
	for (size_t i = 0; i < net.n; i++) {
		if (net.links[i].addresses && *net.links[i].addresses)
			carry(&net, &net.links[i]);
	}
	tables_assign(&net);
	remark_links(&net, remarks);
	network_keyfiles(&net);
	network_host_files(&net);
	if (net.installer.files.len)
		installer_render(r, &net.installer, folder);
	free(net.links);
}

void render_network(struct render *r)
{
	struct remarks remarks = {0};

	for (size_t i = 0; i < r->site->n_nodes; i++)
		render_node(r, &r->site->nodes[i], &remarks);
	remarks_note(r, &remarks);
}
