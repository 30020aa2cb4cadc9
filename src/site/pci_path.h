/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the PCI devices of a snapshot (/pci/devices) tell of peer-to-peer traffic: which are GPUs,
 * which bridges lie between two devices, how far they are from each other, and whether an IOMMU
 * stands between. Pure look-ups; nothing is owned but the arrays.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/json.h"

/*
 * Distance classes with the names that nvidia-smi and NCCL use, nearest first.
 * A PCIe switch is one upstream bridge with its downstream bridges.
 */
enum pci_distance {
	PCI_PIX,	/* at most one PCIe switch */
	PCI_PXB,	/* several PCIe switches, no host bridge */
	PCI_PHB,	/* through one host bridge (root complex) */
	PCI_NODE,	/* between host bridges of one NUMA node */
	PCI_CROSS,	/* between host bridges: NODE or SYS, the firmware tells no NUMA node */
	PCI_SYS,	/* between NUMA nodes */
	PCI_UNKNOWN,	/* the tree has a hole */
};

/* "PIX", "PXB", "PHB", "NODE", "NODE or SYS", "SYS", "unknown" */
const char *pci_distance_name(enum pci_distance distance);

struct pci_path {
	enum pci_distance distance;
	const char *common;	/* nearest bridge above both, NULL: they meet in the root complex */
	/* From `a` up to and with the common bridge (or the root port), then from `b` up to below
	 * the common bridge (or the root port). Borrowed BDFs; the array is the caller's. */
	const char **bridges;
	size_t n_bridges;
	const char *hole;	/* what the tree lacks, or where the parents loop */
};

/* The way from `a` to `b`, both keys of `devices` (/pci/devices). A device that is not there, a
 * parent that is not there and parents that loop give PCI_UNKNOWN with `hole`. */
void pci_path_find(struct pci_path *path, json_t *devices, const char *a, const char *b);
void pci_path_clear(struct pci_path *path);
#define _cleanup_pci_path_ __attribute__((cleanup(pci_path_clear)))

/* Is this PCI device of a snapshot an NVIDIA GPU (display or 3D controller)? */
bool pci_is_gpu(json_t *device);
/* Does an IOMMU group of this type (/sys/kernel/iommu_groups/N/type) translate addresses? "DMA",
 * "DMA-FQ" do; NULL: not observed. */
bool pci_iommu_translates(const char *type);
