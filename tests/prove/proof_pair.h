/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole proof in one process: both ends of a session in two threads, on the double of a provider,
 * each with a snapshot of its own. The machine below it has no files: no counter, no kernel log.
 * Include after cmocka.h.
 */
#pragma once

#include <pthread.h>
#include <sys/socket.h>

#include "../judge/scene.h"
#include "doubles/verbs_double.h"
#include "prove/link.h"
#include "prove/pair.h"
#include "prove/records.h"
#include "prove/session.h"

struct proof_side {
	struct session_end end;
	const struct session_parameters *p;	/* NULL: the listener */
	json_t *snapshot, *records;
	struct error err;
	int rc;
};

struct proof_pair {
	struct proof_side a, b;	/* the one that connected, and the listener */
	char *root;		/* an empty folder */
};

#define PROOF_PAIR_NIC "0000:1b:00.0"

/* double0 is gpu-node-01's at 192.0.2.1, double1 aistor-01's at 192.0.2.2. */
static inline json_t *proof_pair_snapshot(unsigned number, const char *node)
{
	_cleanup_free_ char *text = xasprintf(
		"{'source': {'kind': 'handmade'}, 'node': {'hostname': '%s'}, 'links': {'eth0': "
		"{'mtu': 1500, 'addresses': [{'family': 'ipv4', 'address': '192.0.2.%u', 'prefix': "
		"24, 'scope': 'global'}]}}, 'routes': [{'family': 'ipv4', 'destination': "
		"'192.0.2.0/24', 'link': 'eth0', 'table': 'main'}], 'rdma': {'devices': {'double%u': "
		"{'protocol': 'roce', 'parent_device': '" PROOF_PAIR_NIC "', 'ports': {'1': {'link': "
		"'eth0', 'state': 'ACTIVE', 'active_mtu': 1024, 'gids': [{'index': 1, 'gid': "
		"'::ffff:192.0.2.%u', 'type': 'RoCE v2', 'link': 'eth0'}]}}}}}, 'pci': {'devices': "
		"{'" PROOF_PAIR_NIC "': {'parent': '0000:17:00.0', 'root': 'pci0000:15'}, "
		"'0000:17:00.0': {'parent': null, 'root': 'pci0000:15'}}}}",
		node, number + 1, number, number + 1);

	return scene_json(text);
}

static inline void proof_side_open(struct proof_side *side, unsigned number, const char *node,
				   const char *root)
{
	const struct host_options machine = { .root = root };
	_cleanup_error_ struct error err = {0};

	side->snapshot = proof_pair_snapshot(number, node);
	assert_int_equal(host_open(&side->end.host, &machine, &err), 0);
	side->end.verbs = verbs_double();
	side->end.want.snapshot = side->snapshot;
	side->end.want.gid_index = -1;
	side->end.timeout_ms = 20000;
}

static inline void proof_pair_open(struct proof_pair *pair, const struct verbs_double_setup *setup)
{
	struct pair_keys keys;
	int ends[2];

	*pair = (struct proof_pair){ .root = records_folder_new() };
	verbs_double_reset(setup);
	proof_side_open(&pair->a, 0, "gpu-node-01", pair->root);
	proof_side_open(&pair->b, 1, "aistor-01", pair->root);
	pair_keys(&keys);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends),
			 0);
	pair->a.end.wire = wire_new(ends[0], "192.0.2.2", &keys.connector);
	pair->b.end.wire = wire_new(ends[1], "192.0.2.1", &keys.listener);
}

static inline void *proof_thread(void *arg)
{
	struct proof_side *side = arg;

	side->rc = side->p ? session_propose(&side->records, &side->end, side->p, &side->err) :
			     session_answer(&side->records, &side->end, &side->err);
	return NULL;
}

static inline void proof_pair_run(struct proof_pair *pair, const struct session_parameters *p)
{
	pthread_t thread;

	pair->a.p = p;
	assert_int_equal(pthread_create(&thread, NULL, proof_thread, &pair->b), 0);
	proof_thread(&pair->a);
	pthread_join(thread, NULL);
}

static inline void proof_side_close(struct proof_side *side)
{
	wire_close(side->end.wire);
	host_close(side->end.host);
	json_decref(side->snapshot);
	json_decref(side->records);
	error_clear(&side->err);
}

static inline void proof_pair_close(struct proof_pair *pair)
{
	proof_side_close(&pair->a);
	proof_side_close(&pair->b);
	records_folder_remove(pair->root);
	free(pair->root);
	if (verbs_double_complaint())
		fail_msg("%s", verbs_double_complaint());
	assert_int_equal(verbs_double_objects(), 0);
}
