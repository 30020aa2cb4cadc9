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

/* gdr_memory.c: export and registration */
void judge_gdr_export(struct judging *g);
void judge_gdr_register(struct judging *g);

/* Family of the NIC's RDMA device, else of the physical link; NULL when no rule is known for it. */
const struct family *gdr_family(const struct judging *g, const char *nic);

/* Type of the IOMMU group of a PCI device, with evidence; NULL when it was not observed. */
const char *gdr_iommu_type(struct judging *g, const char *bdf);

/* Does a record of /proofs/gdr_register (or /proofs/gdr) stand for this GPU and NIC? A record that
 * names no GPU or no link stands for every one of the node. */
bool gdr_record_is_about(json_t *record, const char *gpu, const char *nic);
