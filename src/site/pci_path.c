/* SPDX-License-Identifier: Apache-2.0 */
#include "site/pci_path.h"

#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

const char *pci_distance_name(enum pci_distance distance)
{
	static const char *const names[] = {
		[PCI_PIX] = "PIX",   [PCI_PXB] = "PXB",		  [PCI_PHB] = "PHB",
		[PCI_NODE] = "NODE", [PCI_CROSS] = "NODE or SYS", [PCI_SYS] = "SYS",
		[PCI_UNKNOWN] = "unknown",
	};

	return names[distance];
}

/* Bridges above a device, nearest first. */
struct chain {
	const char **bridges;
	size_t n, capacity;
	const char *hole;
};

static struct chain chain_of(json_t *devices, const char *device)
{
	struct chain c = {0};
	const char *at = device;

	for (;;) {
		json_t *object = json_object_get(devices, at);
		json_t *parent = json_object_get(object, "parent");

		/* "parent": null is the root bus; a member that is absent was not observed */
		if (!object || !parent) {
			c.hole = at;
			return c;
		}
		if (!json_is_string(parent))
			return c;
		at = json_string_value(parent);
		/* more bridges than the tree has devices: the parents loop */
		if (c.n > json_object_size(devices)) {
			c.hole = at;
			return c;
		}
		array_reserve(c.bridges, c.n, c.capacity);
		c.bridges[c.n++] = at;
	}
}

static size_t chain_find(const struct chain *c, const char *bridge)
{
	size_t i = 0;

	while (i < c->n && strcmp(c->bridges[i], bridge))
		i++;
	return i;
}

static int64_t numa_node(json_t *devices, const char *device)
{
	return json_get_int(json_object_get(devices, device), "numa_node", -1);
}

/* No bridge in common: the roots and the NUMA nodes decide. */
static enum pci_distance distance_by_root(json_t *devices, const char *a, const char *b)
{
	const char *root_a = json_get_string(json_object_get(devices, a), "root", NULL);
	const char *root_b = json_get_string(json_object_get(devices, b), "root", NULL);
	int64_t node_a = numa_node(devices, a), node_b = numa_node(devices, b);

	if (root_a && root_b && !strcmp(root_a, root_b))
		return PCI_PHB;
	if (node_a >= 0 && node_b >= 0)
		return node_a != node_b ? PCI_SYS : root_a && root_b ? PCI_NODE : PCI_UNKNOWN;
	return root_a && root_b ? PCI_CROSS : PCI_UNKNOWN;
}

void pci_path_find(struct pci_path *path, json_t *devices, const char *a, const char *b)
{
	struct chain up = chain_of(devices, a), down = chain_of(devices, b);
	size_t n_up = up.n, n_down = down.n;

	*path = (struct pci_path){ .distance = PCI_UNKNOWN,
				   .hole = up.hole ? up.hole : down.hole };
	if (path->hole)
		goto out;
	for (size_t i = 0; i < up.n && !path->common; i++) {
		size_t at = chain_find(&down, up.bridges[i]);

		if (at == down.n)
			continue;
		path->common = up.bridges[i];
		n_up = i + 1;
		n_down = at;
	}
	/* One switch = one downstream bridge on each side below the common upstream bridge. */
	if (path->common)
		path->distance = n_up <= 2 && n_down <= 1 ? PCI_PIX : PCI_PXB;
	else
		path->distance = distance_by_root(devices, a, b);

	path->n_bridges = n_up + n_down;
	path->bridges = xcalloc(path->n_bridges + 1, sizeof(*path->bridges));
	for (size_t i = 0; i < n_up; i++)
		path->bridges[i] = up.bridges[i];
	for (size_t i = 0; i < n_down; i++)
		path->bridges[n_up + i] = down.bridges[i];
out:
	free(up.bridges);
	free(down.bridges);
}

void pci_path_clear(struct pci_path *path)
{
	free(path->bridges);
	*path = (struct pci_path){ .distance = PCI_UNKNOWN };
}

bool pci_is_gpu(json_t *device)
{
	const char *class = json_get_string(device, "class", "");

	return !strcmp(json_get_string(device, "vendor", ""), "0x10de") &&
	       (text_starts_with(class, "0x0300") || text_starts_with(class, "0x0302"));
}

bool pci_iommu_translates(const char *type)
{
	return type && text_starts_with(type, "DMA");
}
