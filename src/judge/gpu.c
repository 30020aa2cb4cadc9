/* SPDX-License-Identifier: Apache-2.0 */
#include "judge/gpu.h"
#include "site/pci_path.h"

#include <string.h>


size_t gpu_count(const struct judging *g)
{
	const char *bdf;
	json_t *device;
	size_t n = 0;

	json_object_foreach(peek(g, "/pci/devices"), bdf, device)
		n += pci_is_gpu(device);
	return n;
}

/* An assumed site has both from what was seen. */
bool gpu_declared(const struct judging *g)
{
	return g->node && (g->node->n_gpus || (g->node->roles & SITE_ROLE_GPU));
}

const char *gpu_absent(struct judging *g)
{
	if (gpu_declared(g))
		return NULL;
	if (!peek(g, "/pci/devices") || gpu_count(g))
		return NULL;
	return "this node has no GPU and the site declares none for it";
}

const char *gpu_direct_absent(struct judging *g)
{
	if (!g->site->gpudirect && !g->site->assumed)
		return "the site does not ask for GPUDirect RDMA";
	return gpu_absent(g);
}

const char *gpu_model_name(const char *device_id)
{
	/* NVIDIA open-gpu-kernel-modules README, table of compatible GPUs (B300 from 580.82.07) */
	static const struct {
		const char *id, *name;
	} models[] = {
		{ "0x3182", "B300 SXM6 AC" },
		{ "0x31c2", "GB300" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(models); i++) {
		if (!strcmp(models[i].id, device_id))
			return models[i].name;
	}
	return NULL;
}
