/* SPDX-License-Identifier: Apache-2.0 */
/* Which nodes talk to each other, and through which ports. */
#pragma once

#include "judge/gate.h"

struct judge_pair {
	const struct judge_node *a;	/* has a snapshot */
	const struct site_node *b;
	json_t *b_snapshot;		/* NULL: nobody took one */
	size_t unseen;			/* with b_snapshot NULL: how many peers have none (b is the first) */
};

/* All pairs with at least one snapshot. Peers without one are counted in a single pair per node.
 * The caller frees the array. */
struct judge_pair *judge_pairs(const struct judge_input *input, size_t *n);

/* Do these two nodes talk to each other: to storage where the site has any, else each to each? */
bool judge_pair_talks(const struct site *site, const struct site_node *a, const struct site_node *b);

/* The peer's port for a port: of the same rail, else at the same place of the list, else NULL. */
const struct site_rdma *judge_pair_port(const struct site_node *node, const struct site_rdma *port,
					const struct site_node *peer);
