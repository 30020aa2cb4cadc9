/* SPDX-License-Identifier: Apache-2.0 */
/* The judges of level 3, GPUDirect RDMA; the table with their texts is gates_gdr.c. */
#pragma once

#include "judge/family.h"
#include "judge/gate.h"

/* gdr_path.c: the way between GPU and NIC */
void judge_gdr_topology(struct judging *g);
void judge_gdr_acs(struct judging *g);
void judge_gdr_iommu(struct judging *g);

/* First bridge between the judged GPU and NIC, below a switch in common, that redirects peer
 * traffic; with evidence. NULL: none, or not observed. */
const char *gdr_acs_redirect(struct judging *g);

/* gdr_kernel.c: what the kernel brings */
void judge_gdr_kernel(struct judging *g);
void judge_gdr_peermem(struct judging *g);

/* gdr_export.c, gdr_register.c */
void judge_gdr_export(struct judging *g);
void judge_gdr_register(struct judging *g);

/* Lines by which the NVIDIA driver says why it refuses a DMA-BUF: in the kernel log of the snapshot
 * and in that of an attempt (docs/proof.md). True: they were found, and are causes of a failure. */
bool gdr_judge_nvrm_lines(struct judging *g, json_t *attempt);

/* Family of the NIC's RDMA device, else of the physical link; NULL when no rule is known for it. */
const struct family *gdr_family(const struct judging *g, const char *nic);

/* Type of the IOMMU group of a PCI device, with evidence; NULL when it was not observed. */
const char *gdr_iommu_type(struct judging *g, const char *bdf);
