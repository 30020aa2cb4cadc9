/* SPDX-License-Identifier: Apache-2.0 */
#include "judge/pairs.h"

#include <string.h>

#include "base/alloc.h"

static json_t *snapshot_of(const struct judge_input *input, const struct site_node *node)
{
	for (size_t i = 0; i < input->n_nodes; i++) {
		if (input->nodes[i].node == node)
			return input->nodes[i].snapshot;
	}
	return NULL;
}

static bool site_has_storage(const struct site *site)
{
	for (size_t i = 0; i < site->n_nodes; i++) {
		if (site->nodes[i].roles & SITE_ROLE_STORAGE)
			return true;
	}
	return false;
}

/* With storage nodes in the site the path leads to them; without, every two nodes talk. */
bool judge_pair_talks(const struct site *site, const struct site_node *a, const struct site_node *b)
{
	if (a == b || !a->n_rdma || !b->n_rdma)
		return false;
	if (!site_has_storage(site))
		return true;
	return !(a->roles & SITE_ROLE_STORAGE) != !(b->roles & SITE_ROLE_STORAGE);
}

struct judge_pair *judge_pairs(const struct judge_input *input, size_t *n)
{
	const struct site *site = input->site;
	struct judge_pair *pairs = NULL;
	size_t capacity = 0;

	*n = 0;
	for (size_t i = 0; i < input->n_nodes; i++) {
		const struct judge_node *a = &input->nodes[i];
		struct judge_pair unseen = { .a = a };

		for (size_t j = 0; j < site->n_nodes; j++) {
			const struct site_node *b = &site->nodes[j];
			json_t *snapshot = snapshot_of(input, b);

			if (!judge_pair_talks(site, a->node, b))
				continue;
			if (!snapshot) {
				if (!unseen.unseen++)
					unseen.b = b;
				continue;
			}
			/* a pair of two seen nodes comes once: site order */
			if (a->node > b)
				continue;
			array_reserve(pairs, *n, capacity);
			pairs[(*n)++] = (struct judge_pair){ .a = a, .b = b, .b_snapshot = snapshot };
		}
		if (unseen.unseen) {
			array_reserve(pairs, *n, capacity);
			pairs[(*n)++] = unseen;
		}
	}
	return pairs;
}

const struct site_rdma *judge_pair_port(const struct site_node *node, const struct site_rdma *port,
					const struct site_node *peer)
{
	if (port->rail) {
		for (size_t i = 0; i < peer->n_rdma; i++) {
			if (peer->rdma[i].rail && !strcmp(peer->rdma[i].rail, port->rail))
				return &peer->rdma[i];
		}
		return NULL;
	}
	size_t index = (size_t)(port - node->rdma);
	return index < peer->n_rdma ? &peer->rdma[index] : NULL;
}
