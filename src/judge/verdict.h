/* SPDX-License-Identifier: Apache-2.0 */
/* What judging gives: a ladder of verdicts. Every output format is made from this one structure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/json.h"

/* In order of weight: of several findings in one verdict the heaviest decides. */
enum verdict_status {
	VERDICT_NA,	/* this site does not have it */
	VERDICT_PASS,
	VERDICT_WARN,
	VERDICT_UNKNOWN,	/* a fact is missing */
	VERDICT_BLOCKED,	/* a gate it needs did not pass */
	VERDICT_FAIL,
};

/* "n/a", "pass", "warn", "unknown", "blocked", "fail" */
const char *verdict_status_name(enum verdict_status status);

/* One fact that a judge read, or looked for in vain. */
struct evidence {
	char *node;		/* whose snapshot; "site" for a declaration */
	char *pointer;		/* JSON pointer in it */
	json_t *value;		/* NULL: absent */
	char *missing;		/* why it is absent, from the snapshot's gaps; NULL when present */
};

/* One cause of a verdict that did not pass. */
struct cause {
	char *id;		/* stable, kebab-case: "bond-in-tree-ice" */
	char *text;		/* one sentence, with the names and values of this site */
	char *fix;		/* what to do, may be several lines; NULL: nothing can be said */
	bool candidate; /* the facts do not exclude other causes; `text` says what would tell */
	char **options;	/* NULL-terminated: ways out to choose from; NULL: none */
};

/* What a verdict takes for granted and cannot know, and the gate that will prove it. */
struct unverified {
	char *text;	/* one sentence without full stop */
	char *gate;	/* id of that gate, "proof.gdr"; NULL: no gate does, the text says who */
};

struct verdict {
	const struct gate *gate;
	unsigned phase;		/* rung of the ladder: the gate's phase; between nodes 6 or later */
	char *node; /* node name; for pairs "a ↔ b" stands in subject and this is the first */
	char *subject;		/* "bond1", "0000:1b:00.0 → ens1f0", "a ↔ b"; NULL: the node itself */
	enum verdict_status status;
	char *summary;		/* one sentence without full stop: what is */
	struct cause *causes;
	size_t n_causes;
	struct evidence *evidence;
	size_t n_evidence;
	char **assumed;		/* NULL-terminated: expectations that nobody declared; NULL: none */
	char *explained_by;	/* id of the gate (and subject) whose cause explains this failure */
	char **blocked_by;	/* NULL-terminated gate ids (with subject) that did not pass */
	char *obtain;		/* how to obtain the missing fact, for unknown */
	struct unverified *unverified;
	size_t n_unverified;
	bool double_used;	/* a test double stands behind some fact */
};

struct ladder {
	char *site_name;
	char *site_path;	/* NULL: discovered */
	char *taken;		/* RFC 3339 of the newest snapshot */
	char **nodes;		/* NULL-terminated: nodes judged */
	char **sources; /* as `nodes`: /source/kind of their snapshots ("live", "handmade", …) */
	bool assumed;		/* nothing was declared */
	struct verdict *verdicts;	/* in ladder order: phase, gate, node, subject */
	size_t n_verdicts;
	/* index of the first verdict that holds the railhead (not pass/warn/n-a); n_verdicts:
	 * none */
	size_t stopped_at;
	size_t counts[VERDICT_FAIL + 1];	/* by enum verdict_status */
};

void ladder_free(struct ladder *ladder);
static inline RH_UNUSED void cleanup_ladder_p(struct ladder **ladder)
{
	if (*ladder)
		ladder_free(*ladder);
}
#define _cleanup_ladder_ __attribute__((cleanup(cleanup_ladder_p)))

/* 0: every applicable gate passed (warn allowed); 1 otherwise. */
int ladder_exit_status(const struct ladder *ladder);

/* Last gate id that passes with all before it, NULL when the first one holds. */
const struct verdict *ladder_railhead(const struct ladder *ladder);
