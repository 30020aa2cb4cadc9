/* SPDX-License-Identifier: Apache-2.0 */
#include "records.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "doubles/verbs_double.h"
#include "host/clock.h"
#include "nodes.h"
#include "pair.h"
#include "prove/record.h"
#include "tree.h"

/* Nothing takes that long; whoever hangs fails the test instead of standing there. */
#define PATIENCE_MS 120000

/* --- a node ----------------------------------------------------------------------------------- */

/* What the counters of a node are before the runs, and after them: the device counts 32-bit words. */
static void put_counters(const char *root, unsigned number, bool after)
{
	_cleanup_free_ char *port = xasprintf("/sys/class/infiniband/double%u/ports/1/counters",
					      number);
	_cleanup_free_ char *out = xasprintf("%s/port_xmit_data", port);
	_cleanup_free_ char *in = xasprintf("%s/port_rcv_data", port);

	tree_put(root, out, after ? "9000000000000\n" : "1000\n");
	tree_put(root, in, after ? "9000000000000\n" : "1000\n");
	tree_put(root, "/sys/class/net/roce0/statistics/tx_bytes", after ? "5000\n" : "1000\n");
	tree_put(root, "/sys/class/net/roce0/statistics/rx_bytes", after ? "5000\n" : "1000\n");
	tree_put(root, "/proc/stat", after ? "cpu  9 0 9 9 9 0 0 0 0 0\n" : "cpu  1 0 1 1 1 0 0 0 0 0\n");
}

#define SNAPSHOT                                                                                   \
	"{\"source\": {\"kind\": \"live\"}, \"node\": {\"hostname\": \"node-%u\"},"                 \
	" \"links\": {\"roce0\": {\"kind\": \"physical\", \"mtu\": 1500, \"addresses\":"            \
	" [{\"family\": \"ipv4\", \"address\": \"192.0.2.%u\", \"scope\": \"global\"}]}},"          \
	" \"routes\": [{\"family\": \"ipv4\", \"destination\": \"192.0.2.0/24\","                   \
	" \"link\": \"roce0\", \"table\": \"main\"}],"                                              \
	" \"rdma\": {\"devices\": {\"double%u\": {\"driver\": \"double\", \"ports\": {\"1\":"       \
	" {\"state\": \"ACTIVE\", \"link\": \"roce0\", \"active_mtu\": 1024, \"gids\": [{\"index\":"\
	" 1, \"gid\": \"::ffff:192.0.2.%u\", \"type\": \"RoCE v2\", \"link\": \"roce0\"}]}}}}}}"

static void node_open(struct node *node, unsigned number)
{
	_cleanup_free_ char *text = xasprintf(SNAPSHOT, number, number + 1, number, number + 1);
	struct host_options options = {0};

	node->root = records_folder_new();
	tree_put(node->root, "/sys/class/net/roce0/mtu", "1500\n");
	tree_put(node->root, "/proc/net/snmp", "Tcp: InSegs OutSegs\nTcp: 5 5\n");
	put_counters(node->root, number, false);
	assert_int_equal(json_parse(&node->snapshot, text, strlen(text), "snapshot", NULL), 0);
	options.root = node->root;
	assert_int_equal(host_open(&node->host, &options, NULL), 0);
}

static void node_close(struct node *node)
{
	host_close(node->host);
	json_decref(node->snapshot);
	records_folder_remove(node->root);
	free(node->root);
}

/* Of the session that runs: its counters grow once the runs have begun. */
static struct nodes *present;

static void progress(const char *line RH_UNUSED)
{
	put_counters(present->initiator.root, 0, true);
	put_counters(present->listener.root, 1, true);
}

static void node_begin(struct nodes *nodes, struct node *node, struct wire *wire)
{
	node->end = (struct session_end){
		.wire = wire,
		.host = node->host,
		.verbs = &nodes->verbs,
		.want = { .snapshot = node->snapshot, .gid_index = -1 },
		.timeout_ms = nodes->timeout_ms ? nodes->timeout_ms : PATIENCE_MS,
		/* one of both is enough, and they may not both write at a time */
		.progress = node == &nodes->initiator ? progress : NULL,
	};
	put_counters(node->root, node == &nodes->listener, false);
}

int nodes_open(void **state)
{
	struct nodes *nodes = xcalloc(1, sizeof(*nodes));

	nodes->verbs = *verbs_double();
	nodes->verbs.is_double = false;
	node_open(&nodes->initiator, 0);
	node_open(&nodes->listener, 1);
	*state = nodes;
	return 0;
}

int nodes_close(void **state)
{
	struct nodes *nodes = *state;

	nodes_clear(nodes);
	node_close(&nodes->initiator);
	node_close(&nodes->listener);
	free(nodes);
	return 0;
}

/* --- the one in the middle -------------------------------------------------------------------- */

/* 0, or negative: nothing more is handed on. */
static int hand_on(struct nodes *nodes, bool of_initiator)
{
	struct wire *from = of_initiator ? nodes->to_initiator : nodes->to_listener;
	struct wire *to = of_initiator ? nodes->to_listener : nodes->to_initiator;
	_cleanup_json_ json_t *message = NULL;
	_cleanup_error_ struct error err = {0};
	enum middle_does does = MIDDLE_HANDS_ON;

	int rc = wire_receive(from, NULL, &message, PATIENCE_MS, &err);
	if (rc == -EREMOTEIO) {
		wire_send_error(to, &err);
		return 0;
	}
	if (rc < 0)
		return rc;
	if (nodes->hook)
		does = nodes->hook(nodes->arg, nodes->messages, of_initiator, message);
	nodes->messages++;
	if (does == MIDDLE_CUTS)
		return -ECANCELED;
	rc = does == MIDDLE_KEEPS ? 0 : wire_send(to, message, PATIENCE_MS, &err);
	if (rc != -EREMOTEIO)
		return rc;
	/* gone, and left word */
	wire_send_error(from, &err);
	return 0;
}

static void *middle(void *arg)
{
	struct nodes *nodes = arg;
	int rc = 0;

	while (!rc) {
		struct pollfd polled[] = {
			{ .fd = wire_fd(nodes->to_initiator), .events = POLLIN },
			{ .fd = wire_fd(nodes->to_listener), .events = POLLIN },
		};

		if (poll(polled, 2, PATIENCE_MS) <= 0)
			break;
		for (int i = 0; i < 2 && !rc; i++) {
			if (polled[i].revents)
				rc = hand_on(nodes, i == 0);
		}
	}
	shutdown(wire_fd(nodes->to_initiator), SHUT_RDWR);
	shutdown(wire_fd(nodes->to_listener), SHUT_RDWR);
	return NULL;
}

/* --- a session -------------------------------------------------------------------------------- */

static void *answer(void *arg)
{
	struct node *node = arg;

	node->rc = session_answer(&node->records, &node->end, &node->err);
	/* as the program does it when it is through */
	shutdown(wire_fd(node->end.wire), SHUT_RDWR);
	return NULL;
}

void nodes_run(struct nodes *nodes, const struct session_parameters *p, middle_hook *hook,
	       void *arg)
{
	struct node *a = &nodes->initiator, *b = &nodes->listener;
	pthread_t threads[2];
	struct pair_keys keys;
	int up[2], down[2];

	nodes_clear(nodes);
	verbs_double_reset(NULL);
	pair_keys(&keys);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, up), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, down), 0);
	node_begin(nodes, a, wire_new(up[0], "192.0.2.2", &keys.connector));
	node_begin(nodes, b, wire_new(down[1], "192.0.2.1", &keys.listener));
	nodes->to_initiator = wire_new(up[1], "initiator", &keys.listener);
	nodes->to_listener = wire_new(down[0], "listener", &keys.connector);
	nodes->hook = hook;
	nodes->arg = arg;
	nodes->messages = 0;
	present = nodes;
	assert_int_equal(pthread_create(&threads[0], NULL, middle, nodes), 0);
	assert_int_equal(pthread_create(&threads[1], NULL, answer, b), 0);
	a->rc = session_propose(&a->records, &a->end, p, &a->err);
	shutdown(wire_fd(a->end.wire), SHUT_RDWR);
	pthread_join(threads[1], NULL);
	pthread_join(threads[0], NULL);
	wire_close(a->end.wire);
	wire_close(b->end.wire);
	wire_close(nodes->to_initiator);
	wire_close(nodes->to_listener);
	if (verbs_double_complaint())
		fail_msg("%s", verbs_double_complaint());
	assert_int_equal(verbs_double_objects(), 0);
}

static void node_clear(struct node *node)
{
	json_decref(node->records);
	node->records = NULL;
	error_clear(&node->err);
	node->rc = 0;
}

void nodes_clear(struct nodes *nodes)
{
	node_clear(&nodes->initiator);
	node_clear(&nodes->listener);
}

json_t *node_record(const struct node *node, const char *kind)
{
	json_t *record;
	size_t i;

	json_array_foreach(node->records, i, record) {
		if (!strcmp(json_get_string(record, "kind", ""), kind))
			return record;
	}
	fail_msg("there is no record \"%s\": %s", kind, error_text(&node->err));
	return NULL;
}

struct session_parameters nodes_parameters(void)
{
	return (struct session_parameters){
		.operations = SESSION_WRITE,
		.size_min = 64,
		.size_max = 64,
		.qps = 1,
		.depth = 4,
		.dscp = -1,
		.memory = { "host", "host" },
		.seed = 0x1122334455667788,
	};
}
