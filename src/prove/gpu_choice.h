/* SPDX-License-Identifier: Apache-2.0 */
/* Which GPU: those of this host by their distance to the NIC in the PCIe tree of the snapshot. */
#pragma once

#include <stddef.h>

#include "base/json.h"

struct gpu_candidate {
	char *bdf;	/* as sysfs writes it */
	char *distance;	/* for people: "PIX from NIC 0000:1b:00.0" */
};

/* Nearest first: below one PCIe switch, at one root complex, on one NUMA node, then the others;
 * among equals in the order of the snapshot. */
struct gpu_choice {
	struct gpu_candidate *list;
	size_t n, capacity;
};

/* `nic`: PCI address of the NIC, NULL for one that has none; all GPUs are equally near then. */
void gpu_choice_make(struct gpu_choice *choice, json_t *snapshot, const char *nic);
void gpu_choice_clear(struct gpu_choice *choice);
#define _cleanup_gpu_choice_ __attribute__((cleanup(gpu_choice_clear)))

/* The candidate at `bdf`, in any case of letters, or NULL. */
const struct gpu_candidate *gpu_choice_find(const struct gpu_choice *choice, const char *bdf);
