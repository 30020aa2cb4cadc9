/* SPDX-License-Identifier: Apache-2.0 */
/* Which port of which switch leads to which host: from `switch` and `switch_port` of the links. */
#include "render/switch.h"

#include <string.h>

#include "base/strings.h"
#include "render/format.h"
#include "site/schema.h"

#define VLANS 4096
/* Longest name of a switch and of its ports: one label of a host name. */
#define NAME_MAX_LENGTH 63
/* How many links a note names. */
#define NAMED 3

/* Links that have something in common, for a note. */
struct links {
	struct strbuf names;	/* of the first few */
	size_t n;
};

struct finder {
	struct switch_plan *plan;
	json_t *nodes;		/* of the document */
	json_t *devices;	/* name of a switch → its index */
	json_t *ports;		/* "switch port" → who has it */
	size_t capacity;	/* of the devices */
	unsigned next;		/* port channel */
	bool taken[SWITCH_PORT_CHANNELS];	/* port channels that are declared */
	bool vlans[VLANS];
	struct links unplaced, ambiguous, without_rdma, without_vlan, static_bond;
};

static void links_add(struct links *links, const struct site_node *node, const char *link)
{
	if (links->n++ < NAMED)
		strbuf_printf(&links->names, "%s%s %s", links->names.len ? ", " : "", node->name,
			      link);
}

static void links_note(struct finder *f, struct links *links, const char *text)
{
	if (links->n > NAMED)
		strbuf_printf(&links->names, " and %zu others", links->n - NAMED);
	if (links->n)
		strings_add(&f->plan->notes,
			    xasprintf("%s: %s", strbuf_str(&links->names), text));
	strbuf_clear(&links->names);
}

static struct switch_device *device_of(struct finder *f, const char *name)
{
	struct switch_plan *plan = f->plan;
	json_t *index = json_object_get(f->devices, name);

	if (index)
		return &plan->devices[json_integer_value(index)];
	if (!format_is_word(name) || strchr(name, '/') || name[0] == '.' ||
	    strlen(name) > NAME_MAX_LENGTH)
		render_refuse(plan->r, "switch '%s': letters, digits and any of . _ : - are "
				       "allowed in its name, up to %d",
			      name, NAME_MAX_LENGTH);
	json_put_int(f->devices, name, (int64_t)plan->n_devices);
	array_reserve(plan->devices, plan->n_devices, f->capacity);
	plan->devices[plan->n_devices] = (struct switch_device){ .name = name };
	return &plan->devices[plan->n_devices++];
}

/* Link or bond below a VLAN link, or the link itself. */
static const char *base_link(const struct site_node *node, const char *link)
{
	for (size_t depth = 0; depth <= node->n_vlans; depth++) {
		const struct site_vlan *vlan = site_vlan_find(node, link);

		if (!vlan)
			return link;
		link = vlan->link;
	}
	return link;
}

static bool carries_rdma(const struct site_node *node, const char *link)
{
	for (size_t i = 0; i < node->n_rdma; i++)
		if (!strcmp(base_link(node, node->rdma[i].link), link))
			return true;
	return false;
}

static void see_mtu(struct finder *f, struct site_number mtu)
{
	if (mtu.set && mtu.value > f->plan->host_mtu)
		f->plan->host_mtu = mtu.value;
}

static int by_number(const void *a, const void *b)
{
	const unsigned *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* VLANs that stand on a link, ascending. */
static void find_vlans(struct finder *f, const struct site_node *node,
		       struct switch_interface *interface)
{
	size_t capacity = 0, n = 1;

	for (size_t i = 0; i < node->n_vlans; i++) {
		const struct site_vlan *vlan = &node->vlans[i];

		if (strcmp(vlan->link, interface->link) != 0)
			continue;
		see_mtu(f, vlan->mtu);
		if (vlan->id.value == f->plan->vlan)
			render_refuse(f->plan->r,
				      "nodes/%s/vlans/%s: VLAN %lld is tagged here and untagged "
				      "on the switch (switch/vlan)",
				      node->name, vlan->name, (long long)vlan->id.value);
		f->vlans[vlan->id.value] = true;
		array_reserve(interface->vlans, interface->n_vlans, capacity);
		interface->vlans[interface->n_vlans++] = (unsigned)vlan->id.value;
	}
	if (!interface->n_vlans)
		return;
	qsort(interface->vlans, interface->n_vlans, sizeof(*interface->vlans), by_number);
	/* two VLAN links may have one id */
	for (size_t i = 1; i < interface->n_vlans; i++)
		if (interface->vlans[i] != interface->vlans[n - 1])
			interface->vlans[n++] = interface->vlans[i];
	interface->n_vlans = n;
}

static void refuse_words(struct finder *f, const struct site_node *node, const char *link,
			 const char *port)
{
	if (!format_is_word(node->name) || !format_is_word(link))
		render_refuse(f->plan->r,
			      "nodes/%s/links/%s: this name cannot stand in a switch "
			      "configuration",
			      node->name, link);
	if (!format_is_word(port) || strlen(port) > NAME_MAX_LENGTH)
		render_refuse(f->plan->r,
			      "nodes/%s/links/%s/switch_port: '%s' cannot be a port of a switch",
			      node->name, link, port);
}

/* The switch of a link, and its port in `*port`; NULL when they are not declared. */
static struct switch_device *place_of(struct finder *f, const struct site_node *node,
				      const char *link, const char **port)
{
	json_t *declared = json_at(json_object_get(f->nodes, node->name), "/links/%s", link);
	const char *name = json_get_string(declared, "switch", NULL);

	*port = json_get_string(declared, "switch_port", NULL);
	if (!*port) {
		links_add(&f->unplaced, node, link);
		return NULL;
	}
	if (!name && f->plan->n_devices != 1) {
		links_add(&f->ambiguous, node, link);
		return NULL;
	}
	return name ? device_of(f, name) : &f->plan->devices[0];
}

/* Put a port to the interface of a host; returns that, NULL when the port is not declared. */
static struct switch_interface *add_port(struct finder *f, const struct site_node *node,
					 const char *of, unsigned number, const char *link)
{
	const char *port;
	struct switch_device *device = place_of(f, node, link, &port);
	struct switch_interface *interface = NULL;
	size_t last;

	if (!device)
		return NULL;
	refuse_words(f, node, link, port);

	_cleanup_free_ char *key = xasprintf("%s %s", device->name, port);
	_cleanup_free_ char *who = xasprintf("%s %s", node->name, link);
	const char *other = json_get_string(f->ports, key, NULL);

	if (other)
		render_refuse(f->plan->r, "port %s of %s is declared for %s and for %s", port,
			      device->name, other, who);
	json_put_string(f->ports, key, who);

	/* members of a bundle follow each other */
	last = device->n_interfaces;
	if (number && last && device->interfaces[last - 1].number == number &&
	    device->interfaces[last - 1].node == node->name)
		interface = &device->interfaces[last - 1];
	if (!interface) {
		array_reserve(device->interfaces, device->n_interfaces, device->capacity);
		interface = &device->interfaces[device->n_interfaces++];
		*interface = (struct switch_interface){
			.node = node->name, .link = of, .number = number };
		find_vlans(f, node, interface);
	}
	interface->members = xreallocarray(interface->members, interface->n_members + 1,
					   sizeof(*interface->members));
	interface->members[interface->n_members++] =
		(struct switch_member){ .link = link, .port = port };
	return interface;
}

static unsigned port_channel(struct finder *f, const struct site_node *node, const char *bond)
{
	json_t *number = json_at(json_object_get(f->nodes, node->name), "/bonds/%s/port_channel",
				 bond);

	if (json_is_integer(number))
		return (unsigned)json_integer_value(number);
	while (f->next < SWITCH_PORT_CHANNELS && f->taken[f->next])
		f->next++;
	return f->next++;
}

static void add_bundle(struct finder *f, const struct site_node *node,
		       const struct site_bond *bond)
{
	unsigned number = port_channel(f, node, bond->name);
	size_t switches = 0;

	if (number >= SWITCH_PORT_CHANNELS) {
		render_refuse(f->plan->r, "nodes/%s/bonds/%s: no number up to %d is left for its "
					  "port channel",
			      node->name, bond->name, SWITCH_PORT_CHANNELS - 1);
		return;
	}
	for (char **port = bond->ports; port && *port; port++) {
		const struct switch_interface *interface =
			add_port(f, node, bond->name, number, *port);

		switches += interface && interface->n_members == 1;
	}
	if (switches < 2)
		return;
	/* the last interface of every switch that has one of its ports */
	for (size_t i = 0; i < f->plan->n_devices; i++) {
		struct switch_device *device = &f->plan->devices[i];
		struct switch_interface *last = device->interfaces + device->n_interfaces - 1;

		if (device->n_interfaces && last->number == number && last->node == node->name)
			last->pair = true;
	}
	if (switches > 2)
		render_refuse(f->plan->r, "nodes/%s/bonds/%s: its ports are on %zu switches; a "
					  "bundle spans two at most",
			      node->name, bond->name, switches);
}

static void see_vlans(struct finder *f, const struct site_node *node, const char *link)
{
	bool any = f->plan->vlan;

	for (size_t i = 0; i < node->n_vlans && !any; i++)
		any = !strcmp(node->vlans[i].link, link);
	if (!any)
		links_add(&f->without_vlan, node, link);
}

static void find_bond(struct finder *f, const struct site_node *node, const struct site_bond *bond)
{
	see_mtu(f, bond->mtu);
	see_vlans(f, node, bond->name);
	if (!strcmp(bond->mode, "802.3ad")) {
		add_bundle(f, node, bond);
		return;
	}
	/* these need nothing of the switch: Documentation/networking/bonding.rst, "Switch
	 * Configuration" */
	if (!strcmp(bond->mode, "active-backup") || !strcmp(bond->mode, "balance-tlb") ||
	    !strcmp(bond->mode, "balance-alb")) {
		for (char **port = bond->ports; port && *port; port++)
			add_port(f, node, bond->name, 0, *port);
		return;
	}
	links_add(&f->static_bond, node, bond->name);
}

static void find_node(struct finder *f, const struct site_node *node)
{
	for (size_t i = 0; i < node->n_bonds; i++)
		if (carries_rdma(node, node->bonds[i].name))
			find_bond(f, node, &node->bonds[i]);
	for (size_t i = 0; i < node->n_links; i++) {
		const struct site_link *link = &node->links[i];
		json_t *declared = json_at(json_object_get(f->nodes, node->name), "/links/%s",
					   link->name);
		bool rdma = carries_rdma(node, link->name), member = false;

		if (rdma) {
			see_mtu(f, link->mtu);
			see_vlans(f, node, link->name);
			add_port(f, node, link->name, 0, link->name);
			continue;
		}
		for (size_t j = 0; j < node->n_bonds && !member; j++)
			member = carries_rdma(node, node->bonds[j].name) &&
				 strings_have(node->bonds[j].ports, link->name);
		if (member)
			see_mtu(f, link->mtu);
		else if (json_object_get(declared, "switch_port"))
			links_add(&f->without_rdma, node, link->name);
	}
}

/* Declared numbers are not given to other bundles. */
static void find_taken(struct finder *f)
{
	const struct site *site = f->plan->r->site;

	for (size_t i = 0; i < site->n_nodes; i++) {
		json_t *bonds = json_at(json_object_get(f->nodes, site->nodes[i].name), "/bonds");
		const char *name;
		json_t *bond;

		json_object_foreach (bonds, name, bond) {
			json_t *number = json_object_get(bond, "port_channel");

			if (json_is_integer(number))
				f->taken[json_integer_value(number)] = true;
		}
	}
}

static void collect_vlans(struct finder *f)
{
	struct switch_plan *plan = f->plan;
	size_t capacity = 0;

	if (plan->vlan)
		f->vlans[plan->vlan] = true;
	for (unsigned vlan = 1; vlan < VLANS; vlan++) {
		if (!f->vlans[vlan])
			continue;
		array_reserve(plan->vlans, plan->n_vlans, capacity);
		plan->vlans[plan->n_vlans++] = vlan;
	}
}

void switch_ports_find(struct switch_plan *plan)
{
	_cleanup_free_ struct finder *f = xcalloc(1, sizeof(*f));
	const struct site *site = plan->r->site;
	json_t *names = render_declared(plan->r, "/switch/names"), *name;
	int64_t first = switch_number(plan, "port_channel_first");
	size_t i;

	f->plan = plan;
	f->nodes = render_declared(plan->r, "/nodes");
	f->devices = json_object_new();
	f->ports = json_object_new();
	f->next = first ? (unsigned)first : 1;
	json_array_foreach (names, i, name)
		device_of(f, json_string_value(name));
	find_taken(f);
	for (i = 0; i < site->n_nodes; i++)
		find_node(f, &site->nodes[i]);
	if (!plan->n_devices && render_declared(plan->r, "/switch"))
		device_of(f, "switch");
	collect_vlans(f);
	links_note(f, &f->unplaced, "no switch_port is declared: not configured");
	links_note(f, &f->ambiguous,
		   "a switch_port without its switch, and there is not exactly one: not "
		   "configured");
	links_note(f, &f->without_rdma, "a switch_port, but no RDMA on it: not configured");
	links_note(f, &f->without_vlan,
		   "no VLAN is declared (switch/vlan, vlans of the node): the port keeps its own");
	links_note(f, &f->static_bond,
		   "a bond whose mode needs a static bundle: not configured; 802.3ad detects "
		   "a wrong cable");
	json_decref(f->devices);
	json_decref(f->ports);
}

void switch_ports_clear(struct switch_plan *plan)
{
	for (size_t i = 0; i < plan->n_devices; i++) {
		struct switch_device *device = &plan->devices[i];

		for (size_t j = 0; j < device->n_interfaces; j++) {
			free(device->interfaces[j].members);
			free(device->interfaces[j].vlans);
		}
		free(device->interfaces);
	}
	free(plan->devices);
	free(plan->vlans);
}
