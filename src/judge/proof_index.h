/* SPDX-License-Identifier: Apache-2.0 */
/* The newest record of each kind and pair of links, looked up once for a whole ladder. */
#pragma once

#include "judge/gate.h"

/* Of all records below /proofs of the snapshots, which must outlive it. Never NULL. */
struct proof_index *proof_index_new(const struct judge_node *nodes, size_t n);
void proof_index_free(struct proof_index *index);

/* Of two records of one list: the order of the folder, whatever clocks said; then `taken`. */
bool proof_is_newer(json_t *a, json_t *b);

/*
 * The newest record among /proofs/KIND of a snapshot (one of those the index was made of) from its
 * link to the peer's; `*at` is its place in that list. NULL: there is none. Borrowed.
 */
json_t *proof_index_find(const struct proof_index *index, json_t *snapshot, const char *kind,
			 const char *link, const char *peer_hostname, const char *peer_link,
			 size_t *at);
