/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gates: the registry, and what a judge function works with.
 *
 * A judge is pure: site and snapshots in, verdict out, no I/O and no clock. It reads facts only
 * through fact() and its kin, which note each value as evidence; a required fact that is missing
 * makes the verdict unknown by itself, with the pointer and the reason from the snapshot's gaps.
 * So a judge states only what decides:
 *
 *	static void judge_mtu(struct judging *g)
 *	{
 *		int64_t mtu;
 *
 *		if (!fact_int(g, &mtu, "/links/%s/mtu", g->port->link))
 *			return;
 *		if (mtu < want)
 *			judge_fail(g, "mtu-low", "ip link set …", "MTU %d, declared %d", …);
 *		else
 *			judge_pass(g, "MTU %d", …);
 *	}
 *
 * The heaviest finding decides (fail > unknown > warn > pass > n/a); a judge that finds nothing to
 * say ends as unknown "nothing was judged", never as pass.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "judge/verdict.h"
#include "matrix/matrix.h"
#include "site/site.h"

enum gate_scope {
	GATE_SITE,	/* site.yaml alone */
	GATE_NODE,
	GATE_BOND,	/* each declared bond */
	GATE_PORT,	/* each RDMA port (struct site_rdma) */
	GATE_NIC,	/* each physical link below the RDMA ports (bond members) */
	GATE_GPU,	/* each GPU on the PCI bus */
	GATE_PATH,	/* GPU × physical link */
	GATE_PAIR,	/* two nodes that talk to each other */
	GATE_CLUSTER,
};

const char *gate_scope_name(enum gate_scope scope);

#define GATE_PHASES 22	/* of the plan of record: 0…21 */

/* Title of a phase of the plan of record; "" beyond the last. */
const char *gate_phase_title(unsigned phase);

struct judging;
struct proof_index;
typedef void (*gate_judge)(struct judging *g);

struct gate {
	const char *id;		/* "net.bond" */
	unsigned phase;		/* 0…21 */
	unsigned level;		/* 1…5; 0 = on paper */
	enum gate_scope scope;
	const char *title;	/* what it asks, in a few words: "bond mode, LACP and its ports" */
	const char *needs[8];	/* ids of gates that must pass before; NULL-terminated */
	gate_judge judge;	/* NULL: the fact comes from later work; the verdict is unknown */
	gate_judge judge_pair;	/* also judged for pairs of nodes, may be NULL */
	/* Is it n/a for this subject? Returns the reason, or NULL when it applies. May be NULL. */
	const char *(*not_applicable)(struct judging *g);
	/* texts of `railhead explain` */
	const char *proves;
	const char *why;
	const char *fix;
	const char *obtain;	/* how to obtain the facts that it needs */
	const char *source;	/* documents, kernel files */
};

/* All gates in ladder order. */
const struct gate *const *gate_registry(size_t *n);
const struct gate *gate_find(const char *id);

struct judging {
	const struct gate *gate;
	const struct site *site;
	const struct matrix *matrix;	/* for gates on paper; NULL otherwise */
	const struct site_node *node;
	json_t *snapshot;	/* of `node`; NULL when nobody took one */
	/* subject, by the gate's scope; NULL otherwise */
	const struct site_bond *bond;
	const struct site_rdma *port;
	const char *nic;	/* physical link name */
	const char *gpu;	/* BDF */
	/* the second node of a pair */
	const struct site_node *peer;
	json_t *peer_snapshot;
	const struct site_rdma *peer_port;
	/* all snapshots, for rules that compare nodes of a role */
	const struct judge_node *all;
	size_t n_all;
	const struct proof_index *proofs;	/* of /proofs of all, for the gates proof.* */
	struct verdict *verdict;	/* being made; touch it through the functions below only */
	bool decided;
	char **texts;	/* of judge_text(), released after the judge has run */
};

/* A node with its snapshot. */
struct judge_node {
	const struct site_node *node;
	json_t *snapshot;
};

/* --- facts: of the judged node. Borrowed values. ---------------------------------------------- */

/* Required: missing makes the verdict unknown; NULL then. JSON null is a present value ("observed:
 * there is none") for fact(); the typed forms take a value of another type as unknown. */
json_t *fact(struct judging *g, const char *fmt, ...) RH_PRINTF(2, 3);
bool fact_int(struct judging *g, int64_t *value, const char *fmt, ...) RH_PRINTF(3, 4);
bool fact_bool(struct judging *g, bool *value, const char *fmt, ...) RH_PRINTF(3, 4);
const char *fact_string(struct judging *g, const char *fmt, ...) RH_PRINTF(2, 3);

/* Optional: absence is noted as evidence and is for the judge to weigh. */
json_t *fact_optional(struct judging *g, const char *fmt, ...) RH_PRINTF(2, 3);
int64_t fact_optional_int(struct judging *g, int64_t fallback, const char *fmt, ...)
	RH_PRINTF(3, 4);
const char *fact_optional_string(struct judging *g, const char *fmt, ...) RH_PRINTF(2, 3);

/* The same of the peer's snapshot, for pair judges. */
bool fact_peer_int(struct judging *g, int64_t *value, const char *fmt, ...) RH_PRINTF(3, 4);
const char *fact_peer_string(struct judging *g, const char *fmt, ...) RH_PRINTF(2, 3);
json_t *fact_peer_optional(struct judging *g, const char *fmt, ...) RH_PRINTF(2, 3);

/* Note a declaration of the site as evidence: pointer-like name, e.g.
 * "nodes/gpu-1/bonds/bond1/mode". */
void fact_declared(struct judging *g, const struct site_where *where, json_t *value,
		   const char *fmt, ...) RH_PRINTF(4, 5);

/*
 * Value of the site file at a pointer of its document ("/gpu_operator/driver/rdma/enabled"), noted
 * as evidence with its line; NULL when it is not declared, which is noted too. Borrowed.
 */
json_t *declared(struct judging *g, const char *fmt, ...) RH_PRINTF(2, 3);
json_t *declared_at(struct judging *g, const char *pointer);	/* a pointer that was made before */
const char *declared_string(struct judging *g, const char *fmt, ...) RH_PRINTF(2, 3);
bool declared_bool(struct judging *g, bool fallback, const char *fmt, ...) RH_PRINTF(3, 4);

/* Note a row of the support matrix as evidence, with its place, source and date. */
void fact_row(struct judging *g, json_t *row);

/*
 * Look without leaving evidence: to choose which facts matter (walk a list, pick a device by its
 * link). What decides must then be read with fact().
 */
json_t *peek(const struct judging *g, const char *fmt, ...) RH_PRINTF(2, 3);
/* Why the fact at this pointer is absent, from /gaps (borrowed), or NULL. */
const char *peek_gap(const struct judging *g, const char *fmt, ...) RH_PRINTF(2, 3);

/* --- findings --------------------------------------------------------------------------------- */

void judge_pass(struct judging *g, const char *fmt, ...) RH_PRINTF(2, 3);
void judge_na(struct judging *g, const char *fmt, ...) RH_PRINTF(2, 3);
/* `obtain`: how to get the missing fact, may be NULL (the gate's own text is used). */
void judge_unknown(struct judging *g, const char *obtain, const char *fmt, ...) RH_PRINTF(3, 4);
/* `cause` is a stable id; `fix` may be NULL; the format is both summary and cause text. Several
 * calls in one judge add several causes; the first one of the heaviest kind gives the summary. */
void judge_warn(struct judging *g, const char *cause, const char *fix, const char *fmt, ...)
	RH_PRINTF(4, 5);
void judge_fail(struct judging *g, const char *cause, const char *fix, const char *fmt, ...)
	RH_PRINTF(4, 5);
/* The verdict already fails (or warns): one of several causes that the facts do not tell apart. */
void judge_candidate(struct judging *g, const char *cause, const char *fix, const char *fmt, ...)
	RH_PRINTF(4, 5);
/* A way out of the last cause, one of several to choose from. */
void judge_option(struct judging *g, const char *fmt, ...) RH_PRINTF(2, 3);
/* What stays open whatever the verdict: nobody has seen it, and `gate_id` will (NULL: no gate
 * does, and the text says who can). Does not change the status. */
void judge_unverified(struct judging *g, const char *gate_id, const char *fmt, ...)
	RH_PRINTF(3, 4);
/* The failure is a consequence: `gate_id` (subject in parentheses when it has one) has the
 * cause. */
void judge_explained_by(struct judging *g, const char *gate_id, const char *subject);
/* Replace the summary line (the status stays). */
void judge_summary(struct judging *g, const char *fmt, ...) RH_PRINTF(2, 3);
/* An expectation that the site does not declare: "memlock unlimited". */
void judge_assume(struct judging *g, const char *fmt, ...) RH_PRINTF(2, 3);
/* For fixes with values in them: a text that lives until the judge returns. */
const char *judge_text(struct judging *g, const char *fmt, ...) RH_PRINTF(2, 3);

/* --- the engine ------------------------------------------------------------------------------- */

struct judge_input {
	const struct site *site;
	const struct judge_node *nodes;	/* nodes with snapshots */
	size_t n_nodes;
	bool paper;	/* the gates on paper (GATE_SITE) and no others: plan */
	const struct matrix *matrix;	/* support matrix, for those */
	const struct gate *const *gates;	/* in ladder order; NULL: the registry */
	size_t n_gates;
};

/* Judge all gates; `*ladder` is owned by the caller. */
int judge_all(struct ladder **ladder, const struct judge_input *input, struct error *err);
