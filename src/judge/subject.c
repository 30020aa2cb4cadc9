/* SPDX-License-Identifier: Apache-2.0 */
#include "judge/subject.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/strings.h"
#include "base/text.h"

/* Deepest stack of links that is followed: a bond below a VLAN below a VLAN is three. */
#define STACK_MAX 16

const char *subject_base_link(json_t *snapshot, const char *link)
{
	for (unsigned depth = 0; depth < STACK_MAX; depth++) {
		json_t *l = json_at(snapshot, "/links/%s", link);
		const char *lower = json_get_string(l, "lower", NULL);

		if (!lower ||
		    (strcmp(json_get_string(l, "kind", ""), "vlan") && !json_object_get(l, "vlan")))
			break;
		link = lower;
	}
	return link;
}

static bool is_bond(json_t *snapshot, const char *link)
{
	json_t *l = json_at(snapshot, "/links/%s", link);

	return json_object_get(l, "bond") || !strcmp(json_get_string(l, "kind", ""), "bond");
}

const char *subject_bond_of(json_t *snapshot, const char *link)
{
	const char *master = json_get_string(json_at(snapshot, "/links/%s", link), "master", NULL);

	return master && is_bond(snapshot, master) ? master : NULL;
}

char **subject_physical_links(const struct site_node *node, json_t *snapshot, const char *link)
{
	const char *base = subject_base_link(snapshot, link);
	const struct site_vlan *vlan = node ? site_vlan_find(node, base) : NULL;
	char **names = NULL;
	const char *name;
	json_t *l;

	/* a VLAN that is declared and not there: its parent by the declaration */
	if (vlan && vlan->link && !json_at(snapshot, "/links/%s", base))
		base = subject_base_link(snapshot, vlan->link);

	const struct site_bond *bond = node ? site_bond_find(node, base) : NULL;

	for (char **p = bond ? bond->ports : NULL; p && *p; p++)
		strings_add_once(&names, *p);
	if (is_bond(snapshot, base)) {
		json_object_foreach(json_at(snapshot, "/links"), name, l) {
			if (!strcmp(json_get_string(l, "master", ""), base))
				strings_add_once(&names, name);
		}
	}
	if (!names)
		strings_add_once(&names, base);
	return names;
}

char **subject_nics_of_node(const struct site_node *node, json_t *snapshot)
{
	char **all = NULL;

	for (size_t i = 0; i < node->n_rdma; i++) {
		_cleanup_strings_ char **below =
			subject_physical_links(node, snapshot, node->rdma[i].link);

		for (char **n = below; n && *n; n++)
			strings_add_once(&all, *n);
	}
	return all;
}

bool subject_is_bdf(const char *s)
{
	static const char form[] = "xxxx:xx:xx.x";
	size_t i;

	for (i = 0; s && form[i]; i++) {
		if (form[i] == 'x' ? !strchr("0123456789abcdef", s[i]) || !s[i] : s[i] != form[i])
			return false;
	}
	return s && !s[i];
}

const char *subject_pci_of_link(json_t *snapshot, const char *link)
{
	json_t *l = json_at(snapshot, "/links/%s", link), *device, *name;
	const char *parent = json_get_string(l, "parent_device", NULL), *bdf;
	size_t i;

	if (parent && !strcmp(json_get_string(l, "parent_bus", ""), "pci"))
		return parent;
	json_object_foreach(json_at(snapshot, "/pci/devices"), bdf, device) {
		json_array_foreach(json_object_get(device, "links"), i, name) {
			if (!strcmp(json_string_value(name) ? json_string_value(name) : "", link))
				return bdf;
		}
	}
	bdf = json_get_string(json_object_get(l, "ethtool"), "bus_info", NULL);
	return subject_is_bdf(bdf) ? bdf : NULL;
}

/* "0000:01:00.1" -> length of "0000:01:00", which all functions of one device share. */
size_t subject_pci_slot_length(const char *bdf)
{
	const char *dot = strrchr(bdf, '.');

	return dot ? (size_t)(dot - bdf) : strlen(bdf);
}

bool subject_same_pci_device(const char *a, const char *b)
{
	size_t len = subject_pci_slot_length(a);

	return len == subject_pci_slot_length(b) && !strncmp(a, b, len);
}

const char *subject_driver_of_link(json_t *snapshot, const char *link)
{
	json_t *l = json_at(snapshot, "/links/%s", link);
	const char *driver = json_get_string(json_object_get(l, "ethtool"), "driver", NULL);
	const char *bdf;

	if (driver)
		return driver;
	bdf = subject_pci_of_link(snapshot, link);
	return bdf ? json_get_string(json_at(snapshot, "/pci/devices/%s", bdf), "driver", NULL) :
		     NULL;
}

bool subject_is_virtual_driver(const char *driver)
{
	/* drivers of links without a PCI link, firmware and LLDP agent of their own */
	static const char *const drivers[] = { "virtio_net", "veth",      "dummy",
					       "tun",        "bridge",    "netdevsim",
					       "vmxnet3",    "hv_netvsc", "xen_netfront" };

	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++) {
		if (!strcmp(driver, drivers[i]))
			return true;
	}
	return false;
}

const char *subject_virtual_driver(json_t *snapshot, const char *link)
{
	const char *driver = subject_driver_of_link(snapshot, link);

	return driver && subject_is_virtual_driver(driver) ? driver : NULL;
}

/* Which port of which device has this network interface? */
static bool rdma_of_netdev(json_t *snapshot, const char *link, struct subject_rdma *out)
{
	const char *device, *port;
	json_t *d, *p;

	json_object_foreach(json_at(snapshot, "/rdma/devices"), device, d) {
		json_object_foreach(json_object_get(d, "ports"), port, p) {
			if (strcmp(json_get_string(p, "link", ""), link))
				continue;
			*out = (struct subject_rdma){ device, port, p };
			return true;
		}
	}
	return false;
}

static bool rdma_of_pci(json_t *snapshot, const char *bdf, struct subject_rdma *out)
{
	const char *device, *port;
	json_t *d, *p;

	json_object_foreach(json_at(snapshot, "/rdma/devices"), device, d) {
		if (strcmp(json_get_string(d, "parent_device", ""), bdf))
			continue;
		json_object_foreach(json_object_get(d, "ports"), port, p) {
			*out = (struct subject_rdma){ device, port, p };
			return true;
		}
	}
	return false;
}

static bool rdma_of_name(json_t *snapshot, const char *name, struct subject_rdma *out)
{
	json_t *ports = json_at(snapshot, "/rdma/devices/%s/ports", name), *p;
	const char *port;

	json_object_foreach(ports, port, p) {
		*out = (struct subject_rdma){ name, port, p };
		return true;
	}
	return false;
}

bool subject_rdma_of_link(json_t *snapshot, const struct site_node *node, const char *link,
			  struct subject_rdma *out)
{
	const char *base = subject_base_link(snapshot, link);
	bool found = rdma_of_netdev(snapshot, link, out) || rdma_of_netdev(snapshot, base, out);
	char **nics = subject_physical_links(node, snapshot, link);

	for (char **n = nics; !found && *n; n++)
		found = rdma_of_netdev(snapshot, *n, out);
	for (char **n = nics; !found && *n; n++) {
		const char *bdf = subject_pci_of_link(snapshot, *n);

		found = bdf && rdma_of_pci(snapshot, bdf, out);
	}
	strings_free(nics);
	return found;
}

bool subject_rdma_of_port(json_t *snapshot, const struct site_node *node,
			  const struct site_rdma *port, struct subject_rdma *out)
{
	*out = (struct subject_rdma){ 0 };
	if (port->device && rdma_of_name(snapshot, port->device, out))
		return true;
	return subject_rdma_of_link(snapshot, node, port->link, out);
}
