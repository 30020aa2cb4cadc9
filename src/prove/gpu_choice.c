/* SPDX-License-Identifier: Apache-2.0 */
#include "prove/gpu_choice.h"

#include <strings.h>

#include "base/alloc.h"
#include "site/pci_path.h"

static char *distance_text(enum pci_distance distance, const char *nic)
{
	if (!nic)
		return xstrdup("the NIC has no PCI address to be near to");
	return xasprintf("%s from NIC %s", pci_distance_name(distance), nic);
}

static void add(struct gpu_choice *choice, size_t at, const char *bdf, enum pci_distance distance,
		const char *nic)
{
	array_reserve(choice->list, choice->n, choice->capacity);
	for (size_t i = choice->n++; i > at; i--)
		choice->list[i] = choice->list[i - 1];
	choice->list[at] = (struct gpu_candidate){ xstrdup(bdf), distance_text(distance, nic) };
}

void gpu_choice_make(struct gpu_choice *choice, json_t *snapshot, const char *nic)
{
	json_t *devices = json_at(snapshot, "/pci/devices"), *device;
	size_t behind[PCI_UNKNOWN + 1] = {0};	/* where the next of each distance goes */
	const char *bdf;

	*choice = (struct gpu_choice){0};
	json_object_foreach(devices, bdf, device) {
		_cleanup_pci_path_ struct pci_path path = { .distance = PCI_UNKNOWN };

		if (!pci_is_gpu(device))
			continue;
		if (nic)
			pci_path_find(&path, devices, bdf, nic);
		add(choice, behind[path.distance], bdf, path.distance, nic);
		for (size_t d = path.distance; d <= PCI_UNKNOWN; d++)
			behind[d]++;
	}
}

void gpu_choice_clear(struct gpu_choice *choice)
{
	for (size_t i = 0; i < choice->n; i++) {
		free(choice->list[i].bdf);
		free(choice->list[i].distance);
	}
	free(choice->list);
	*choice = (struct gpu_choice){0};
}

const struct gpu_candidate *gpu_choice_find(const struct gpu_choice *choice, const char *bdf)
{
	for (size_t i = 0; choice && i < choice->n; i++) {
		if (!strcasecmp(choice->list[i].bdf, bdf))
			return &choice->list[i];
	}
	return NULL;
}
