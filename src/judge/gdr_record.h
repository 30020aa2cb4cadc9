/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proof records of GPUDirect RDMA (/proofs/gdr, docs/proof.md) as the gates of level 3 look at
 * them: those that the judged node stored, by its GPU and its NIC.
 */
#pragma once

#include "judge/gate.h"

struct gdr_record {
	size_t index;	/* in /proofs/gdr */
	json_t *record;
};

/* The newest record of this node's GPU `gpu` through a link that stands on the physical link `nic`
 * (NULL: any). False: there is none. Leaves no evidence. */
bool gdr_record_newest(const struct judging *g, const char *gpu, const char *nic,
		       struct gdr_record *out);
/*
 * The same for a verdict, when the record may be judged: it is there, no test double made it, and
 * this node (with `both` the other one too) is what it was then. Else the verdict is unknown, says
 * why, and false is returned.
 */
bool gdr_record_find(struct judging *g, const char *nic, bool both, struct gdr_record *out);

/* "initiator" or "listener": which end of the record this node was. */
const char *gdr_record_role(const struct gdr_record *r);
/* Index of the run "register" of this node, -1: none. */
int64_t gdr_record_registration(const struct gdr_record *r);

/* --- attempts to register a DMA-BUF, in the records of any GPU, NIC and of udmabuf ------------- */

struct gdr_attempt {
	const char *kind;	/* "gdr", "dmabuf" */
	size_t record, run, number;
	json_t *attempt;
};
/* One of this node that ended with `code` (0: it was registered), from records that no double made
 * and that are fresh here. False: none. */
bool gdr_attempt_find(const struct judging *g, int64_t code, struct gdr_attempt *out);
/* Note it as evidence. */
void gdr_attempt_fact(struct judging *g, const struct gdr_attempt *a);
/* Is it a call of libibverbs that registers (or one that is not named), and of a DMA-BUF? */
bool gdr_attempt_registers(json_t *attempt);
bool gdr_attempt_is_dmabuf(json_t *attempt);
