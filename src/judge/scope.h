/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Subjects: what a gate is judged for on one node, by its scope, and how subjects relate. A port
 * concerns its physical links and its bond; a gate on the port therefore waits for gates on those.
 */
#pragma once

#include "judge/gate.h"

struct subject {
	enum gate_scope scope;
	char *name;			/* as printed; NULL for the node itself */
	const struct site_bond *bond;
	const struct site_rdma *port;
	const char *nic;		/* one of `nics` */
	const char *gpu;		/* key of the snapshot */
	/* Everything that this subject touches, NULL-terminated; NULL = it touches all of the
	 * node. */
	char **bonds, **ports, **nics, **gpus;
};

/* Subjects of `scope` on a node with its snapshot. The caller frees with subjects_free(). */
struct subject *subjects_of(enum gate_scope scope, const struct site_node *node, json_t *snapshot,
			    size_t *n);
void subjects_free(struct subject *subjects, size_t n);

/* Must `subject` wait for a verdict on `other` (of the same node)? */
bool subject_concerns(const struct subject *subject, const struct subject *other);
