/* SPDX-License-Identifier: Apache-2.0 */
/* Both healthy E810 nodes with one rail each, and records between them. */
#pragma once

#include "../prove/records.h"
#include "judge/registry.h"
#include "scene.h"

struct proofs_test {
	struct scene *s;
	struct site_rdma peer_ports[2];
	json_t *proofs;
};

/* For cmocka_unit_test_setup_teardown(). */
int proofs_open(void **state);
int proofs_close(void **state);
/* Begin anew, for the next row of a table. */
void proofs_again(void **state);

/* A record of the first node's side; borrowed. */
json_t *proofs_add(struct proofs_test *t, struct records_form form);
/* The same record as the peer stored it. */
void proofs_turn(json_t *record);
/* The verdict of a gate on the pair. */
const struct verdict *proofs_judge(struct proofs_test *t, const char *gate);
