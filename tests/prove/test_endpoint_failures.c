/* SPDX-License-Identifier: Apache-2.0 */
/* What an endpoint says when something goes wrong, and what it does not take from its peer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

#include "prove/link.h"

static void failures_name_what_failed(void **state RH_UNUSED)
{
	static const struct {
		enum ibv_wr_opcode opcode;
		enum ibv_wc_status status;
		int code;
		const char *name, *text;
	} rows[] = {
		{IBV_WR_RDMA_WRITE, IBV_WC_REM_ACCESS_ERR, -EACCES, "RDMA WRITE of",
		 "remote access"},
		{IBV_WR_RDMA_READ, IBV_WC_RETRY_EXC_ERR, -EHOSTUNREACH, "RDMA READ of",
		 "retry counter exceeded"},
		{IBV_WR_RDMA_WRITE, IBV_WC_LOC_PROT_ERR, -EFAULT, "RDMA WRITE of",
		 "local protection"},
		{IBV_WR_RDMA_READ, IBV_WC_REM_OP_ERR, -EREMOTEIO, "RDMA READ of",
		 "remote operation"},
		{IBV_WR_RDMA_WRITE, IBV_WC_RNR_RETRY_EXC_ERR, -ENOBUFS, "RDMA WRITE of", "RNR"},
		{IBV_WR_RDMA_WRITE, (enum ibv_wc_status)99, -EIO, "RDMA WRITE of", "unknown error"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct verbs_double_lie lie = {VERBS_DOUBLE_FAIL, .status = rows[i].status,
					       .amount = 0xdead};
		_cleanup_free_ char *qp = NULL, *status = xasprintf("status %d,", rows[i].status);
		_cleanup_error_ struct error err = {0};
		struct endpoint_op op;
		struct ibv_wc wc[4];
		struct link link;

		link_open(&link, NULL, NULL);
		op = link_op(&link.a, &link.b, rows[i].opcode, 0, 0, 8);
		qp = xasprintf("QP 0x%x to QP 0x%x on double0/1", endpoint_qpn(link.a.endpoint, 0),
			       endpoint_qpn(link.b.endpoint, 0));
		assert_int_equal(endpoint_post(link.a.endpoint, &op, &err), 0);
		verbs_double_lie(lie_always, &lie);
		op.more = true;	/* what is flushed behind it hides nothing */
		assert_int_equal(endpoint_post(link.a.endpoint, &op, &err), 0);
		assert_int_equal(endpoint_post(link.a.endpoint, &op, &err), 0);
		op.more = false;
		assert_int_equal(endpoint_post(link.a.endpoint, &op, &err), 0);
		/* the good one first, then the failure, for ever */
		assert_int_equal(endpoint_poll(link.a.endpoint, wc, 4, &err), 1);
		IS_FAILURE(endpoint_poll(link.a.endpoint, wc, 4, &err), rows[i].code, &err,
			   rows[i].name, rows[i].text, qp, status, "vendor_err 0xdead");
		error_clear(&err);
		IS_FAILURE(endpoint_post(link.a.endpoint, &op, &err), rows[i].code, &err,
			   rows[i].name);
		IS_FAILURE(link_drain(link.a.endpoint, &err), rows[i].code, &err,
			   rows[i].text);
		link_close(&link);
	}
}

static void keys_and_bounds_are_the_peers(void **state RH_UNUSED)
{
	_cleanup_error_ struct error err = {0};
	struct endpoint_op op;
	struct ibv_wc wc[4];
	struct link link;

	link_open(&link, NULL, NULL);
	assert_int_equal(endpoint_post_receive(link.b.endpoint, 0, 0, 0, 0, 0, &err), 0);
	op = link_op(&link.a, &link.b, IBV_WR_RDMA_WRITE, 0, LINK_BYTES - 7, 8);
	assert_int_equal(endpoint_post(link.a.endpoint, &op, &err), 0);
	IS_FAILURE(endpoint_poll(link.a.endpoint, wc, 4, &err), -EACCES, &err, "remote access");
	/* the end whose memory was meant sees its receives flushed */
	IS_FAILURE(endpoint_poll(link.b.endpoint, wc, 4, &err), -ECANCELED, &err, "receive of",
		   "flushed");
	link_close(&link);

	link_open(&link, NULL, NULL);
	op = link_op(&link.a, &link.b, IBV_WR_RDMA_WRITE, 0, 0, 8);
	op.rkey = link.b.mr->lkey;
	assert_int_equal(endpoint_post(link.a.endpoint, &op, &err), 0);
	IS_FAILURE(link_drain(link.a.endpoint, &err), -EACCES, &err, "remote access");
	link_close(&link);
}

static void a_peer_that_is_gone(void **state RH_UNUSED)
{
	_cleanup_error_ struct error err = {0};
	struct endpoint_op op;
	struct link link;

	link_open(&link, NULL, NULL);
	op = link_op(&link.a, &link.b, IBV_WR_RDMA_WRITE, 0, 0, 8);
	link_end_close(&link.b);
	assert_int_equal(endpoint_post(link.a.endpoint, &op, &err), 0);
	IS_FAILURE(link_drain(link.a.endpoint, &err), -EHOSTUNREACH, &err,
		   "acknowledges nothing");
	link_close(&link);
}

/* A provider that tells each completion twice. */
static int poll_twice(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	int found = verbs_double()->poll_cq(cq, n / 2, wc);

	if (found > 0)
		memcpy(wc + found, wc, (size_t)found * sizeof(*wc));
	return 2 * found;
}

static void completions_come_once(void **state RH_UNUSED)
{
	struct verbs_double_lie drop = {VERBS_DOUBLE_DROP};
	_cleanup_error_ struct error err = {0};
	struct endpoint_request request;
	struct endpoint_op op;
	struct ibv_wc wc[4];
	struct verbs twice;
	struct link link;

	verbs_double_reset(NULL);
	twice = *verbs_double();
	twice.poll_cq = poll_twice;
	request = link_request(NULL);
	request.verbs = &twice;
	link_open(&link, NULL, &request);
	op = link_op(&link.a, &link.b, IBV_WR_RDMA_WRITE, 0, 0, 8);
	assert_int_equal(endpoint_post(link.a.endpoint, &op, &err), 0);
	assert_int_equal(endpoint_poll(link.a.endpoint, wc, 4, &err), 1);
	IS_FAILURE(endpoint_poll(link.a.endpoint, wc, 4, &err), -EBADMSG, &err, "double0/1",
		   "no operation that is under way");
	link_close(&link);

	link_open(&link, NULL, NULL);
	op = link_op(&link.a, &link.b, IBV_WR_RDMA_WRITE, 0, 0, 8);
	verbs_double_lie(lie_always, &drop);
	assert_int_equal(endpoint_post(link.a.endpoint, &op, &err), 0);
	verbs_double_lie(NULL, NULL);
	assert_int_equal(endpoint_post(link.a.endpoint, &op, &err), 0);
	IS_FAILURE(link_drain(link.a.endpoint, &err), -EBADMSG, &err,
		   "its completion never came");
	link_close(&link);
}

static void failures_to_post(void **state RH_UNUSED)
{
	_cleanup_error_ struct error err = {0};
	struct endpoint_op op;
	struct ibv_wc wc[4];
	struct link link;

	link_open(&link, NULL, NULL);
	op = link_op(&link.a, &link.b, IBV_WR_RDMA_READ, 0, 0, 8);
	verbs_double_fail("post_send", 1, ENOSPC);
	IS_FAILURE(endpoint_post(link.a.endpoint, &op, &err), -ENOSPC, &err, "ibv_post_send",
		   "RDMA READ", "QP 0x", strerror(ENOSPC));
	IS_FAILURE(endpoint_poll(link.a.endpoint, wc, 4, &err), -ENOSPC, &err, "ibv_post_send");
	verbs_double_fail("post_recv", 1, EFAULT);
	IS_FAILURE(endpoint_post_receive(link.b.endpoint, 0, 0, 0, 0, 0, &err), -EFAULT, &err,
		   "ibv_post_recv", "QP 0x", "double1/1");
	verbs_double_fail("poll_cq", 1, 1);
	IS_FAILURE(endpoint_poll(link.b.endpoint, wc, 4, &err), -EIO, &err, "ibv_poll_cq");
	verbs_double_fail(NULL, 0, 0);
	op.qp = 1;
	IS_FAILURE(endpoint_post(link.b.endpoint, &op, &err), -EINVAL, &err, "QP 1 of 1");
	IS_FAILURE(endpoint_post_receive(link.b.endpoint, 1, 0, 0, 0, 0, &err), -EINVAL, &err,
		   "QP 1 of 1");
	op.qp = 0;
	op.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
	IS_FAILURE(endpoint_post(link.b.endpoint, &op, &err), -EINVAL, &err, "RC");
	link_close(&link);
}

static void each_step_of_opening_can_fail(void **state RH_UNUSED)
{
	static const struct {
		const char *call, *word;
		unsigned nth;
		int code;
		bool ud;
	} rows[] = {
		{"open_device", "ibv_open_device", 1, EACCES},
		{"query_device", "ibv_query_device", 1, EIO},
		{"query_port", "ibv_query_port", 1, EIO},
		{"query_gid", "GID index 1", 1, ENODATA},
		{"alloc_pd", "ibv_alloc_pd", 1, ENOMEM},
		{"create_cq", "(sends)", 1, ENOMEM},
		{"create_cq", "(receives)", 2, EMFILE},
		{"create_qp", "ibv_create_qp (RC)", 1, ENOMEM},
		{"create_qp", "ibv_create_qp (RC)", 2, ENOMEM},
		{"modify_qp", "to INIT", 2, EINVAL},
		{"modify_qp", "to RTR", 3, ENETUNREACH},
		{"modify_qp", "to RTS", 4, EINVAL},
		{"create_qp", "ibv_create_qp (UD)", 1, EOPNOTSUPP, .ud = true},
		{"modify_qp", "to RTR", 2, EINVAL, .ud = true},
		{"create_ah", "ibv_create_ah", 1, ENETUNREACH, .ud = true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_error_ struct error err = {0};
		struct endpoint *endpoint = NULL;
		struct endpoint_request request;
		unsigned qps = rows[i].ud ? 1 : 2;
		struct endpoint_peer peer = {.ud = rows[i].ud, .mtu_bytes = 1024, .reads = 1,
					     .qps = qps, .qpn = {100, 101}};
		int rc;

		verbs_double_reset(NULL);
		request = link_request("double0");
		request.qps = qps;
		request.ud = rows[i].ud;
		verbs_double_fail(rows[i].call, rows[i].nth, rows[i].code);
		rc = endpoint_open(&endpoint, &request, &err);
		if (!rc)
			rc = endpoint_connect(endpoint, &peer, &err);
		IS_FAILURE(rc, -rows[i].code, &err, rows[i].word, "double0/1",
			   strerror(rows[i].code));
		endpoint_close(endpoint);
		assert_int_equal(verbs_double_objects(), 0);
		assert_null(verbs_double_complaint());
	}
}

static void refuses_requests(void **state RH_UNUSED)
{
	const struct verbs_double_setup down = {.port_down = true};
	static const struct {
		struct endpoint_request change;
		int code;
		const char *word;
	} rows[] = {
		{{.device = "mlx5_0"}, -ENODEV,
		 "no RDMA device mlx5_0 (double has: double0, double1)"},
		{{.port = 2}, -EINVAL, "ibv_query_port on double0/2"},
		{{.gid_index = 9}, -EINVAL, "GID index 9"},
		{{.qps = 65}, -EINVAL, "65 QPs: 1 to 64"},
		{{.depth = 65536}, -EINVAL, "65536 WRs"},
		{{.ud = true, .qps = 2}, -EINVAL, "UD has one QP"},
		{{.timeout = 32}, -EINVAL, "timeout 32"},
		{{.retries = 8}, -EINVAL, "8 retries"},
	};
	_cleanup_error_ struct error err = {0};
	struct endpoint *endpoint = NULL;
	struct endpoint_request request;

	verbs_double_reset(NULL);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct endpoint_request *change = &rows[i].change;

		request = link_request(change->device ? change->device : "double0");
		request.ud = change->ud;
		request.timeout = change->timeout;
		request.retries = change->retries;
		if (change->port)
			request.port = change->port;
		if (change->gid_index)
			request.gid_index = change->gid_index;
		if (change->qps)
			request.qps = change->qps;
		if (change->depth)
			request.depth = change->depth;
		IS_FAILURE(endpoint_open(&endpoint, &request, &err), rows[i].code, &err,
			   rows[i].word);
		assert_null(endpoint);
		assert_int_equal(verbs_double_objects(), 0);
	}
	verbs_double_reset(&down);
	request = link_request("double0");
	IS_FAILURE(endpoint_open(&endpoint, &request, &err), -ENETDOWN, &err, "double0/1");
	request.qps = 0;
	IS_FAILURE(endpoint_open(&endpoint, &request, &err), -EINVAL, &err, "0 QPs");

	/* deeper than the device is: as deep as that */
	verbs_double_reset(NULL);
	request = link_request("double0");
	request.depth = 10000;
	assert_int_equal(endpoint_open(&endpoint, &request, &err), 0);
	assert_int_equal(endpoint_depth(endpoint), 4096);
	endpoint_close(endpoint);
}

#define PEER_QP "{\"qpn\": 17, \"psn\": 0}"
#define PEER(gid, mtu, reads, qps) \
	"{\"transport\": \"RC\", \"gid\": " gid ", \"mtu\": " mtu ", \"reads\": " reads \
	", \"qps\": " qps "}"
#define GOOD_GID "\"::ffff:192.0.2.9\""

static void hostile_peers_are_refused(void **state RH_UNUSED)
{
	static const struct {
		const char *text, *word;
	} rows[] = {
		{"[]", "transport"},
		{"{}", "transport"},
		{"{\"transport\": 7}", "transport"},
		{"{\"transport\": \"XRC\"}", "transport"},
		{PEER("7", "1024", "1", "[" PEER_QP "]"), "no text"},
		{PEER("\"192.0.2.9\"", "1024", "1", "[" PEER_QP "]"), "not an IPv6 address"},
		{PEER("\"::\"", "1024", "1", "[" PEER_QP "]"), "empty"},
		{PEER("\"ff02::1\"", "1024", "1", "[" PEER_QP "]"), "multicast"},
		{PEER(GOOD_GID, "3", "1", "[" PEER_QP "]"), "\"mtu\" is 3"},
		{PEER(GOOD_GID, "1500", "1", "[" PEER_QP "]"), "1500 does not exist"},
		{PEER(GOOD_GID, "8192", "1", "[" PEER_QP "]"), "8192"},
		{PEER(GOOD_GID, "\"1024\"", "1", "[" PEER_QP "]"), "\"mtu\" is not an integer"},
		{PEER(GOOD_GID, "1024.0", "1", "[" PEER_QP "]"), "\"mtu\" is not an integer"},
		{PEER(GOOD_GID, "null", "1", "[" PEER_QP "]"), "\"mtu\" is not an integer"},
		{PEER(GOOD_GID, "1024", "256", "[" PEER_QP "]"), "\"reads\" is 256"},
		{PEER(GOOD_GID, "1024", "-1", "[" PEER_QP "]"), "\"reads\" is -1"},
		{PEER(GOOD_GID, "1024", "1", "{}"), "no array of 1 to 64"},
		{PEER(GOOD_GID, "1024", "1", "[]"), "no array of 1 to 64"},
		{PEER(GOOD_GID, "1024", "1", "[17]"), "\"qpn\" is missing"},
		{PEER(GOOD_GID, "1024", "1", "[{\"qpn\": 17}]"), "\"psn\" is missing"},
		{PEER(GOOD_GID, "1024", "1", "[{\"qpn\": \"17\", \"psn\": 0}]"),
		 "\"qpn\" is not an integer"},
		{PEER(GOOD_GID, "1024", "1", "[{\"qpn\": 16777216, \"psn\": 0}]"),
		 "\"qpn\" is 16777216"},
		{PEER(GOOD_GID, "1024", "1", "[{\"qpn\": 1, \"psn\": 0}]"), "\"qpn\" is 1"},
		{PEER(GOOD_GID, "1024", "1", "[{\"qpn\": 4294967313, \"psn\": 0}]"),
		 "\"qpn\" is 4294967313"},
		{PEER(GOOD_GID, "1024", "1", "[{\"qpn\": 17, \"psn\": 16777216}]"),
		 "\"psn\" is 16777216"},
		{PEER(GOOD_GID, "1024", "1", "[" PEER_QP "," PEER_QP "]"),
		 "QP 0x11 is there twice"},
	};
	_cleanup_json_ json_t *many = NULL;
	_cleanup_error_ struct error err = {0};
	struct endpoint_peer peer;
	json_t *qps;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_json_ json_t *message = json_loads(rows[i].text, 0, NULL);

		assert_non_null(message);
		IS_FAILURE(endpoint_peer_read(&peer, message, &err), -EPROTO, &err, rows[i].word);
	}
	many = json_loads(PEER(GOOD_GID, "1024", "1", "[]"), 0, NULL);
	qps = json_object_get(many, "qps");
	for (int i = 0; i < 65; i++) {
		json_t *qp = json_object_new();

		json_put_int(qp, "qpn", 0xffffff - i);
		json_put_int(qp, "psn", 0xffffff);
		json_append(qps, qp);
	}
	IS_FAILURE(endpoint_peer_read(&peer, many, &err), -EPROTO, &err, "1 to 64");
	json_array_remove(qps, 64);
	assert_int_equal(endpoint_peer_read(&peer, many, &err), 0);
	assert_int_equal(peer.qps, 64);
	assert_int_equal(peer.qpn[0], 0xffffff);
	assert_int_equal(peer.mtu_bytes, 1024);
}

static void peers_must_fit(void **state RH_UNUSED)
{
	_cleanup_error_ struct error err = {0};
	struct endpoint *endpoint = NULL;
	struct endpoint_request request;
	struct endpoint_peer peer = {.mtu_bytes = 1024, .qps = 2, .qpn = {100, 101}};

	verbs_double_reset(NULL);
	request = link_request("double0");
	assert_int_equal(endpoint_open(&endpoint, &request, &err), 0);
	IS_FAILURE(endpoint_connect(endpoint, &peer, &err), -EPROTO, &err, "2 QPs", "has 1");
	peer.qps = 1;
	peer.ud = true;
	IS_FAILURE(endpoint_connect(endpoint, &peer, &err), -EPROTO, &err, "is UD", "is RC");
	endpoint_close(endpoint);
	assert_int_equal(verbs_double_objects(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(failures_name_what_failed),
		cmocka_unit_test(keys_and_bounds_are_the_peers),
		cmocka_unit_test(a_peer_that_is_gone),
		cmocka_unit_test(completions_come_once),
		cmocka_unit_test(failures_to_post),
		cmocka_unit_test(each_step_of_opening_can_fail),
		cmocka_unit_test(refuses_requests),
		cmocka_unit_test(hostile_peers_are_refused),
		cmocka_unit_test(peers_must_fit),
	};

	return cmocka_run_group_tests_name("endpoint failures", tests, NULL, NULL);
}
