/* SPDX-License-Identifier: Apache-2.0 */
#include "proofs.h"

#include <string.h>

int proofs_open(void **state)
{
	struct proofs_test *t = xcalloc(1, sizeof(*t));

	scene_open((void **)&t->s);
	t->s->snapshots[1] = records_snapshot("e810-storage-healthy.json");
	memcpy(t->peer_ports, t->s->ports, sizeof(t->peer_ports));
	t->s->nodes[1].rdma = t->peer_ports;
	t->s->nodes[0].n_rdma = t->s->nodes[1].n_rdma = 1;
	t->proofs = json_object_new();
	*state = t;
	return 0;
}

int proofs_close(void **state)
{
	struct proofs_test *t = *state;
	void *scene = t->s;

	scene_close(&scene);
	json_decref(t->proofs);
	free(t);
	return 0;
}

void proofs_again(void **state)
{
	proofs_close(state);
	proofs_open(state);
}

json_t *proofs_add(struct proofs_test *t, struct records_form form)
{
	form.local_snapshot = t->s->snapshots[0];
	form.peer_snapshot = t->s->snapshots[1];
	json_t *record = records_make(&form);

	json_append(json_arr(t->proofs, form.kind ? form.kind : "host"), record);
	return record;
}

void proofs_turn(json_t *record)
{
	json_t *local = json_incref(json_object_get(record, "local"));

	json_put(record, "local", json_incref(json_object_get(record, "peer")));
	json_put(record, "peer", local);
}

const struct verdict *proofs_judge(struct proofs_test *t, const char *gate)
{
	proof_attach(t->s->snapshots, 2, t->proofs);
	return scene_verdict(scene_judge(t->s, gates_later, n_gates_later), gate, NULL);
}
