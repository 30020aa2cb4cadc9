/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runbook of a site: one text in two forms. Each call of the writers below adds a piece to the
 * Markdown and to the page at once, so the two cannot differ.
 *
 * Everything that people read is a phrase, in English and in Korean, in runbook_phrases*.h. In a
 * phrase, `...` is code, {0} … {9} stand for arguments that are shown as code (as a link, when the
 * argument names a rendered file or folder), and {0!} for arguments shown as plain text.
 */
#pragma once

#include <stdbool.h>

#include "judge/gate.h"
#include "render/render.h"

enum phrase {
	PHRASE_NONE,
#define PHRASE(id, en, ko) PHRASE_##id,
#include "render/runbook_phrases.h"
#undef PHRASE
	PHRASES
};

/* The phrase in one of the two languages. */
const char *phrase_text(enum phrase phrase, bool korean);

/* What of the plan of record this site has. */
struct runbook_shape {
	bool rdma;		/* some node has an RDMA port */
	bool rdma_pair;		/* more than one node has */
	bool rdma_bond;		/* an RDMA port stands on a bond */
	bool ice, mlx5;		/* drivers of ports below the RDMA ports */
	bool out_of_tree;	/* drivers that are not the kernel's */
	bool rails;		/* a node has several RDMA ports */
	bool bonds, addresses, gpus, kubernetes, kubespray, gpu_operator, network_operator;
	bool pod_rdma;		/* RDMA in pods is planned */
	bool registry, qos, dcb, pfc, ecn, ecn_host, switches, storage, workload, gpudirect;
	bool storage_rdma;	/* the client library uses RDMA */
};

struct runbook {
	struct render *r;
	struct runbook_shape has;
	json_t *paths;		/* set of the paths of rendered files and their folders */
	struct strbuf *md, *html;
	unsigned step;		/* number of the current step, 0: none */
	bool in_step, in_list;
};

/* --- the two writers (runbook_doc.c) ---------------------------------------------------------- */

/* Arguments of phrases are texts; NULL ends them. */
void book_heading(struct runbook *b, unsigned level, const char *anchor, enum phrase phrase, ...)
	__attribute__((sentinel));
void book_say(struct runbook *b, enum phrase phrase, ...) __attribute__((sentinel));
/* A numbered step; commands, notes and lists that follow belong to it until the next step or
 * heading. */
void book_step(struct runbook *b, enum phrase phrase, ...) __attribute__((sentinel));
/* Shell commands, a line each. */
void book_command(struct runbook *b, const char *fmt, ...) RH_PRINTF(2, 3);
void book_item(struct runbook *b, enum phrase phrase, ...) __attribute__((sentinel));
/* The same, all of it a link to a place in the book: "#phase-3". */
void book_item_link(struct runbook *b, const char *target, enum phrase phrase, ...)
	__attribute__((sentinel));
/* An item with a text that is no phrase (a verdict, a note of another renderer), behind a code word
 * and a status, either may be NULL. */
void book_item_foreign(struct runbook *b, const char *code, const char *mark, const char *text);
void book_list_end(struct runbook *b);
/* Close what is open. */
void book_end(struct runbook *b);

/* Was a file of this path rendered (a folder, when it ends in '/')? */
bool book_has(const struct runbook *b, const char *path);

/* --- parts of the site (runbook_site.c) ------------------------------------------------------- */

enum book_where {
	WHERE_ALL,	/* every node */
	WHERE_KUBE,	/* workers of the cluster */
	WHERE_RDMA,
	WHERE_POD_RDMA,	/* workers with RDMA ports */
	WHERE_GPU,
	WHERE_STORAGE,
	WHERE_SWITCH,
};

/* What this site has, by which phases and steps are chosen. */
void runbook_shape_fill(struct runbook_shape *has, const struct render *r);
/* Is a node among those of `where`? */
bool runbook_is_at(const struct render *r, const struct site_node *node, enum book_where where);
/* First node there, or NULL. */
const struct site_node *runbook_first(const struct render *r, enum book_where where);
/* First physical port below the RDMA ports of a node, in bond order; NULL: none. */
const struct site_link *runbook_nic(const struct site_node *node);
/* Ports below the RDMA ports of a node, quoted for a shell and parted by blanks. Caller frees. */
char *runbook_nics(const struct site_node *node);
/* Bond below the RDMA ports of a node, the first one; NULL: none. Borrowed. */
const char *runbook_bond(const struct site_node *node);
/* A text as a shell word. Caller frees. */
char *runbook_quoted(const char *text);
/* A value of the site as a shell word, `fallback` when it is not declared. Caller frees. */
char *runbook_word(const struct render *r, const char *pointer, const char *fallback);

/* --- phases (runbook_phases.c and the files that it names) ------------------------------------ */

/*
 * In the purpose, proof and rollback of a phase, arguments are values of the site: {0} DSCP,
 * {1} priority, {2} ToS byte, {3} RDMA resource, {4} way of RDMA in pods, {5} kind of store,
 * {6} its endpoint, {7} kind of workload.
 */
struct runbook_phase {
	const char *title_ko;	/* the English one is gate_phase_title() */
	enum book_where where;
	enum phrase purpose, proof, undo;	/* `undo` PHRASE_NONE: undo_steps says it */
	/* why this site does not have it; PHRASE_NONE when it has */
	enum phrase (*absent)(const struct runbook_shape *has);
	void (*steps)(struct runbook *b);
	void (*undo_steps)(struct runbook *b);	/* commands of the rollback, NULL: none */
};

extern const struct runbook_phase runbook_phases[];

/* Title of a gate in Korean; "" for one that has none (runbook_gates.c). */
const char *runbook_gate_korean(const char *id);

#define BOOK_PART(name) void runbook_##name(struct runbook *b)
/* runbook_node.c */
BOOK_PART(paper_steps);
BOOK_PART(join_steps);
BOOK_PART(join_undo);
BOOK_PART(bonds_steps);
BOOK_PART(bonds_undo);
BOOK_PART(nic_steps);
BOOK_PART(nic_undo);
BOOK_PART(rdma_steps);
BOOK_PART(rdma_undo);
BOOK_PART(userspace_steps);
BOOK_PART(userspace_undo);
BOOK_PART(hosts_steps);
/* runbook_cluster.c */
BOOK_PART(operator_steps);
BOOK_PART(operator_undo);
BOOK_PART(module_steps);
BOOK_PART(driver_steps);
BOOK_PART(cuda_steps);
BOOK_PART(cuda_undo);
BOOK_PART(plugin_steps);
BOOK_PART(plugin_undo);
BOOK_PART(pods_steps);
BOOK_PART(pods_undo);
/* runbook_qos.c */
BOOK_PART(baseline_steps);
BOOK_PART(qos_steps);
BOOK_PART(qos_undo);
BOOK_PART(pfc_steps);
BOOK_PART(pfc_undo);
BOOK_PART(ecn_steps);
/* runbook_path.c */
BOOK_PART(topology_steps);
BOOK_PART(topology_undo);
BOOK_PART(dmabuf_steps);
BOOK_PART(gpudirect_steps);
BOOK_PART(storage_steps);
BOOK_PART(workload_steps);
BOOK_PART(workload_undo);
#undef BOOK_PART

/* Bring FOLDER/NODE to the node and run its install.sh; with arguments only that. */
void runbook_copy(struct runbook *b, const char *folder, const struct site_node *node,
		  const char *arguments);

/* --- files (runbook_files.c) ------------------------------------------------------------------ */

/* The set of the paths of all files and their folders, for runbook.paths. New reference. */
json_t *runbook_paths(const struct render *r);
/* List the files of a phase, those that differ in the node only as one; `phase` GATE_PHASES: those
 * of no phase. Nothing is written when there are none. */
void runbook_files(struct runbook *b, unsigned phase);
/* Paths of the files below a folder with this end ("" for any), sorted; the caller frees the
 * array. */
const char **runbook_files_below(const struct runbook *b, const char *folder, const char *end);

/* --- by hand (runbook_hand.c) ----------------------------------------------------------------- */

/* What verbs of railhead do not do yet, as commands to be given by hand. A verb that comes replaces
 * its function here, and no step. */

/* Set the DCB of the rendered plan on the ports of a node. */
void runbook_hand_qos(struct runbook *b, const struct site_node *node);
/* What becomes of it at the next boot. */
void runbook_hand_boot(struct runbook *b);
/* The same back to what a port has that nobody configured. */
void runbook_hand_qos_undo(struct runbook *b, const struct site_node *node);

/* --- proofs (runbook_prove.c) ----------------------------------------------------------------- */

/*
 * A step: `railhead prove` into a node, with GPUs when there is one, from `senders` others at the
 * same time; `options` are those of the senders ("" or "--suite NAME"). Arguments of the phrase: the
 * node that listens, the one that connects. Nothing when there are no two nodes with RDMA.
 */
void runbook_prove(struct runbook *b, enum phrase phrase, const char *options, unsigned senders);
/* A step: the records of it before the gates. */
void runbook_prove_judge(struct runbook *b);
