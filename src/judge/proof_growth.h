/* SPDX-License-Identifier: Apache-2.0 */
/* What counters of both ends say of congestion: which of them grew during the runs of a record. */
#pragma once

#include "base/strbuf.h"
#include "judge/proof_record.h"

#define PROOF_PRIORITIES 8

/* Counters that mean one thing, whatever a driver calls them. */
struct proof_class {
	bool known[2];		/* at the local end, at the peer: there is such a counter */
	uint64_t sum;		/* growth at both ends */
	struct strbuf text;	/* those that grew: "gpu-node-01 ens1f0 rx_prio3_pause +12, …" */
};

enum proof_meaning {
	PROOF_LINK_PAUSE,	/* frames that stop a whole link (802.3x) */
	PROOF_DISCARD,		/* packets that a port threw away */
	PROOF_RETRANSMIT,	/* packets of RDMA that were lost on the way and sent again */
	PROOF_CE_MARKED,	/* packets with Congestion Experienced that arrived */
	PROOF_CNP_SENT,		/* congestion notifications, by the end that got such packets */
	PROOF_CNP_HANDLED,	/* and by the end that has to slow down */
	PROOF_CNP_IGNORED,
	PROOF_MEANINGS,
};

struct proof_growth {
	struct proof_class pfc[PROOF_PRIORITIES];	/* frames of priority flow control */
	struct proof_class of[PROOF_MEANINGS];
};

/* Read them from a record; each counter that grew is noted as evidence. */
void proof_growth_read(struct judging *g, const struct proof_record *p, struct proof_growth *out);
void proof_growth_clear(struct proof_growth *growth);
#define _cleanup_proof_growth_ __attribute__((cleanup(proof_growth_clear)))

/* Frames of all priorities, and has each end counters of them? */
uint64_t proof_growth_pfc(const struct proof_growth *growth);
bool proof_growth_pfc_known(const struct proof_growth *growth, int end);
/* Has it counters of packets that were dropped, or sent again? */
bool proof_growth_loss_known(const struct proof_growth *growth, int end);
