/* SPDX-License-Identifier: Apache-2.0 */
/* What the judges of proof records between two nodes share. */
#pragma once

#include "judge/gate.h"

/* The newest record of a kind between a port of the judged node and its peer's. */
struct proof_record {
	const char *kind;
	size_t index;	/* in /proofs/KIND */
	bool of_peer;	/* of the peer's snapshot: "local" is the peer then */
	json_t *record;
	const struct site_rdma *port, *peer_port;
};

/*
 * The record for a port, when it may be judged: it is there, no test double made it, and it is
 * fresh at both ends. Else the verdict is unknown, says why, and false is returned.
 */
bool proof_record_find(struct judging *g, const char *kind, const struct site_rdma *port,
		       struct proof_record *out);

/* Member of the record, noted as evidence of the node whose snapshot has it; `b` and `c` may be
 * NULL. NULL: absent. Borrowed. */
json_t *proof_record_fact(struct judging *g, const struct proof_record *p, const char *a,
			  const char *b, const char *c);
/* The same of a run. */
json_t *proof_record_run_fact(struct judging *g, const struct proof_record *p, size_t run,
			      const char *name);

/* A counter of an end ("local", "peer"): group "rdma" with its name in `a`, or "pause" with link
 * and name. */
json_t *proof_record_counter_fact(struct judging *g, const struct proof_record *p, const char *end,
				  const char *group, const char *a, const char *b);

/* "gpu-node-01/bond1 ↔ aistor-01/bond1" */
const char *proof_record_name(struct judging *g, const struct proof_record *p);
/* Host name of an end, 0: local, 1: peer. Borrowed. */
const char *proof_record_node(const struct proof_record *p, int end);
/* "integrity of write by gpu-node-01": which run, and who moved. */
const char *proof_record_run_name(struct judging *g, const struct proof_record *p, size_t run);

/* Node that moves in a run of a record: the end that connected, unless it is reversed. Borrowed. */
const char *proof_record_mover(json_t *record, json_t *run);
/* Ends that sent to one listener at the same time, noted as evidence. */
int64_t proof_record_senders(struct judging *g, const struct proof_record *p);

/* Runs that saw wrong bytes, or did not take place, become findings. True: there was none. */
bool proof_record_judge_runs(struct judging *g, const struct proof_record *p);
/* Were all bytes of write and read verified, both ways? */
bool proof_record_judge_complete(struct judging *g, const struct proof_record *p);
/* Did RDMA carry the payload at both ends, and TCP did not? */
bool proof_record_judge_counters(struct judging *g, const struct proof_record *p);
