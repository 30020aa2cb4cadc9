/* SPDX-License-Identifier: Apache-2.0 */
/* The double itself: what passes on it has to mean something. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <sys/mman.h>

#include "prove/link.h"

#define LENGTH 16u
#define TARGET 100u

static struct ibv_qp *fresh_qp(struct endpoint *endpoint, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = {.max_send_wr = 2, .max_recv_wr = 2, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp *qp = verbs_double()->create_qp(endpoint_pd(endpoint), &init);

	assert_non_null(qp);
	return qp;
}

static void steps_of_a_qp(void **state RH_UNUSED)
{
	const int to_init = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
	const int to_rtr = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			   IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1}, rtr, wrong;
	const struct verbs *v;
	struct link link;
	struct ibv_cq *cq;
	struct ibv_qp *qp;

	link_open(&link, NULL, NULL);
	v = verbs_double();
	cq = v->create_cq(endpoint_pd(link.a.endpoint)->context, 8, NULL, NULL, 0);
	qp = fresh_qp(link.a.endpoint, cq);
	assert_int_equal(v->modify_qp(qp, &attr, to_init & ~IBV_QP_ACCESS_FLAGS), EINVAL);
	attr.port_num = 2;
	assert_int_equal(v->modify_qp(qp, &attr, to_init), EINVAL);
	attr.port_num = 1;
	assert_int_equal(v->modify_qp(qp, &attr, to_init), 0);
	assert_int_equal(v->modify_qp(qp, &attr, to_init), EINVAL);
	rtr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = 0x99,
		.ah_attr = {.is_global = 1, .port_num = 1, .grh.sgid_index = 1},
	};
	for (int i = 0; i < 5; i++) {
		wrong = rtr;
		if (i == 0)
			wrong.qp_state = IBV_QPS_RTS;
		if (i == 1)
			wrong.path_mtu = IBV_MTU_2048;	/* the port has 1024 */
		if (i == 2)
			wrong.dest_qp_num = 1u << 24;
		if (i == 3)
			wrong.ah_attr.is_global = 0;	/* RoCE without a GRH */
		assert_int_equal(v->modify_qp(qp, &wrong,
					      i == 4 ? to_rtr & ~IBV_QP_MIN_RNR_TIMER : to_rtr),
				 EINVAL);
	}
	assert_int_equal(v->modify_qp(qp, &rtr, to_rtr), 0);
	assert_null(verbs_double_complaint());
	assert_int_equal(v->destroy_qp(qp), 0);

	qp = fresh_qp(link.a.endpoint, cq);
	attr.qp_state = IBV_QPS_RESET;
	assert_int_equal(v->modify_qp(qp, &attr, IBV_QP_STATE), EINVAL);
	assert_non_null(strstr(verbs_double_complaint(), "RESET"));
	assert_int_equal(v->destroy_qp(qp), 0);
	assert_int_equal(v->destroy_cq(cq), 0);
	link_end_close(&link.a);
	link_end_close(&link.b);
}

/* The endpoint never lets these happen, so they are done behind its back. */
static void overflows_are_complaints(void **state RH_UNUSED)
{
	struct ibv_qp_attr broken = {.qp_state = IBV_QPS_ERR};
	struct ibv_send_wr send = {.opcode = IBV_WR_RDMA_WRITE}, *bad_send;
	struct ibv_recv_wr receive = {0}, *bad_receive;
	const struct verbs *v;

	for (int i = 0; i < 3; i++) {
		static const char *const words[] = {"send queue of 2", "2 SGEs", "CQ of 1"};
		struct link link;
		struct ibv_cq *cq;
		struct ibv_qp *qp;

		link_open(&link, NULL, NULL);
		v = verbs_double();
		cq = v->create_cq(endpoint_pd(link.a.endpoint)->context, i == 2 ? 1 : 8, NULL, NULL,
				  0);
		qp = fresh_qp(link.a.endpoint, cq);
		assert_int_equal(v->post_send(qp, &send, &bad_send), EINVAL);
		assert_int_equal(v->post_recv(qp, &receive, &bad_receive), EINVAL);
		assert_int_equal(v->modify_qp(qp, &broken, IBV_QP_STATE), 0);
		send.num_sge = i == 1 ? 2 : 0;
		assert_int_equal(v->post_send(qp, &send, &bad_send), i == 1 ? EINVAL : 0);
		send.num_sge = 0;
		if (i == 0) {
			assert_int_equal(v->post_send(qp, &send, &bad_send), 0);
			assert_null(verbs_double_complaint());
			assert_int_equal(v->post_send(qp, &send, &bad_send), ENOMEM);
			assert_ptr_equal(bad_send, &send);
		} else if (i == 2) {
			assert_null(verbs_double_complaint());
			assert_int_equal(v->post_send(qp, &send, &bad_send), 0);
		}
		assert_non_null(verbs_double_complaint());
		assert_non_null(strstr(verbs_double_complaint(), words[i]));
		assert_int_equal(v->destroy_cq(cq), EBUSY);
		v->destroy_qp(qp);
		v->destroy_cq(cq);
		link_end_close(&link.a);
		link_end_close(&link.b);
		assert_int_equal(verbs_double_objects(), 0);
	}
}

static void receives_too_short(void **state RH_UNUSED)
{
	_cleanup_error_ struct error err = {0};
	struct endpoint_op op;
	struct link link;
	struct ibv_wc wc;

	link_open(&link, NULL, NULL);
	op = link_op(&link.a, &link.b, IBV_WR_SEND, 0, 0, LENGTH);
	assert_int_equal(endpoint_post_receive(link.b.endpoint, 0, (uintptr_t)link.b.bytes,
					       LENGTH - 1, link.b.mr->lkey, 0, &err), 0);
	assert_int_equal(endpoint_post(link.a.endpoint, &op, &err), 0);
	IS_FAILURE(endpoint_poll(link.a.endpoint, &wc, 1, &err), -EREMOTEIO, &err,
		   "invalid request");
	IS_FAILURE(endpoint_poll(link.b.endpoint, &wc, 1, &err), -EMSGSIZE, &err, "receive of",
		   "local length");
	link_close(&link);
}

static void rights_of_memory(void **state RH_UNUSED)
{
	_cleanup_error_ struct error err = {0};
	const struct verbs *v;
	struct endpoint_op op;
	struct link link;

	link_open(&link, NULL, NULL);
	v = verbs_double();
	assert_null(v->reg_mr(endpoint_pd(link.b.endpoint), link.b.bytes, 8,
			      IBV_ACCESS_REMOTE_WRITE));
	assert_int_equal(v->dereg_mr(link.b.mr), 0);
	link.b.mr = v->reg_mr(endpoint_pd(link.b.endpoint), link.b.bytes, LINK_BYTES,
			      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	op = link_op(&link.a, &link.b, IBV_WR_RDMA_WRITE, 0, 0, LENGTH);
	assert_int_equal(endpoint_post(link.a.endpoint, &op, &err), 0);
	assert_int_equal(link_drain(link.a.endpoint, &err), 0);
	op.opcode = IBV_WR_RDMA_READ;
	assert_int_equal(endpoint_post(link.a.endpoint, &op, &err), 0);
	IS_FAILURE(link_drain(link.a.endpoint, &err), -EACCES, &err, "remote access");
	link_close(&link);
}

static void dma_bufs_are_addressed_by_iova(void **state RH_UNUSED)
{
	const struct verbs_double_setup refuses = {.dmabuf_errno = EOPNOTSUPP},
					old = {.no_dmabuf = true};
	const uint64_t iova = 0x7f0000000000;
	const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	_cleanup_error_ struct error err = {0};
	_cleanup_close_ int fd = memfd_create("double", MFD_CLOEXEC);
	const struct verbs *v;
	struct endpoint_op op;
	unsigned char got[LENGTH];
	struct link link;
	struct ibv_mr *mr;

	assert_int_equal(ftruncate(fd, 8192), 0);
	link_open(&link, NULL, NULL);
	v = verbs_double();
	mr = v->reg_dmabuf_mr(endpoint_pd(link.b.endpoint), 4096, 4096, iova, fd, access);
	assert_non_null(mr);
	assert_int_equal((uintptr_t)mr->addr, 4096);
	memset(link.a.bytes, 0x5a, LENGTH);
	op = link_op(&link.a, &link.b, IBV_WR_RDMA_WRITE, 0, 0, LENGTH);
	op.remote = iova + 4096 - LENGTH;
	op.rkey = mr->rkey;
	assert_int_equal(endpoint_post(link.a.endpoint, &op, &err), 0);
	assert_int_equal(link_drain(link.a.endpoint, &err), 0);
	assert_int_equal(pread(fd, got, LENGTH, 8192 - LENGTH), LENGTH);
	assert_memory_equal(got, link.a.bytes, LENGTH);
	assert_int_equal(v->dereg_mr(mr), 0);
	link_close(&link);

	link_open(&link, &refuses, NULL);
	assert_null(v->reg_dmabuf_mr(endpoint_pd(link.b.endpoint), 0, 4096, iova, fd, access));
	assert_int_equal(errno, EOPNOTSUPP);
	link_close(&link);
	verbs_double_reset(&old);
	assert_null(verbs_double()->reg_dmabuf_mr);
}

/* Tells `lie` of the operation with the number `of`, and else the truth. */
struct liar {
	struct verbs_double_lie lie;
	uint64_t of;
};

static struct verbs_double_lie lie_once(void *arg, const struct verbs_double_operation *operation)
{
	const struct liar *liar = arg;
	struct verbs_double_lie honest = {VERBS_DOUBLE_HONEST};

	return operation->serial == liar->of ? liar->lie : honest;
}

/*
 * Three WRITEs of 'a', 'b' and 'c' go to the same place, one after the other; the second is lied
 * about. What is there after the second and after the third.
 */
static void lies_look_like_this(void **state RH_UNUSED)
{
	static const struct {
		struct verbs_double_lie lie;
		const char *second, *third;	/* from TARGET - 1 on, 0 as '.' */
	} rows[] = {
		{{VERBS_DOUBLE_HONEST}, ".bbbbbbbbbbbbbbbb.", ".cccccccccccccccc."},
		{{VERBS_DOUBLE_LOSE}, ".aaaaaaaaaaaaaaaa.", ".cccccccccccccccc."},
		{{VERBS_DOUBLE_DUPLICATE}, ".bbbbbbbbbbbbbbbb.", ".bbbbbbbbbbbbbbbb."},
		{{VERBS_DOUBLE_SHIFT}, ".abbbbbbbbbbbbbbbb", ".ccccccccccccccccb"},
		{{VERBS_DOUBLE_TRUNCATE, .amount = 3}, ".bbbbbbbbbbbbbaaa.", ".cccccccccccccccc."},
		{{VERBS_DOUBLE_STALE}, ".aaaaaaaaaaaaaaaa.", ".cccccccccccccccc."},
		{{VERBS_DOUBLE_CORRUPT, .amount = 2}, ".bbrbbbbbbbbbbbbb.", ".cccccccccccccccc."},
		{{VERBS_DOUBLE_REMARK, .tos = 1}, ".bbbbbbbbbbbbbbbb.", ".cccccccccccccccc."},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct liar liar = {.lie = rows[i].lie, .of = 1};
		_cleanup_error_ struct error err = {0};
		struct endpoint_op op;
		struct link link;

		link_open(&link, NULL, NULL);
		memset(link.b.bytes, '.', LINK_BYTES);
		verbs_double_lie(lie_once, &liar);
		op = link_op(&link.a, &link.b, IBV_WR_RDMA_WRITE, 0, TARGET, LENGTH);
		for (int letter = 'a'; letter <= 'c'; letter++) {
			memset(link.a.bytes, letter, LENGTH);
			assert_int_equal(endpoint_post(link.a.endpoint, &op, &err), 0);
			assert_int_equal(link_drain(link.a.endpoint, &err), 0);
			if (letter == 'b')
				assert_memory_equal(link.b.bytes + TARGET - 1, rows[i].second,
						    LENGTH + 2);
		}
		assert_memory_equal(link.b.bytes + TARGET - 1, rows[i].third, LENGTH + 2);
		link_close(&link);
	}
}

static void a_duplicate_send_takes_a_second_receive(void **state RH_UNUSED)
{
	struct liar liar = {.lie = {VERBS_DOUBLE_DUPLICATE, .amount = 100}, .of = 0};
	_cleanup_error_ struct error err = {0};
	struct ibv_wc wc[4];
	struct endpoint_op op;
	struct link link;

	link_open(&link, NULL, NULL);
	verbs_double_lie(lie_once, &liar);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(endpoint_post_receive(link.b.endpoint, 0,
						       (uintptr_t)link.b.bytes + i * LENGTH, LENGTH,
						       link.b.mr->lkey, i, &err), 0);
	memset(link.a.bytes, 'x', LENGTH);
	op = link_op(&link.a, &link.b, IBV_WR_SEND, 0, 0, LENGTH);
	assert_int_equal(endpoint_post(link.a.endpoint, &op, &err), 0);
	assert_int_equal(link_drain(link.a.endpoint, &err), 0);
	assert_int_equal(endpoint_poll(link.b.endpoint, wc, 4, &err), 2);
	assert_memory_equal(link.b.bytes, link.a.bytes, LENGTH);
	assert_memory_equal(link.b.bytes + LENGTH, link.a.bytes, LENGTH);
	assert_int_equal(link.b.bytes[2 * LENGTH], 0);
	link_close(&link);
}

/* Other PSNs are another connection. */
static void connections_are_exact(void **state RH_UNUSED)
{
	for (int i = 0; i < 2; i++) {
		_cleanup_error_ struct error err = {0};
		struct endpoint_request request;
		struct endpoint_op op;
		struct link link = {0};

		verbs_double_reset(NULL);
		request = link_request("double0");
		link_end_open(&link.a, &request);
		request.device = "double1";
		link_end_open(&link.b, &request);
		for (int end = 0; end < 2; end++) {
			struct endpoint *to = end ? link.a.endpoint : link.b.endpoint;
			_cleanup_json_ json_t *message = endpoint_describe(to);
			struct endpoint_peer peer;

			assert_int_equal(endpoint_peer_read(&peer, message, &err), 0);
			peer.psn[0] ^= i && end;
			assert_int_equal(endpoint_connect(end ? link.b.endpoint : link.a.endpoint,
							  &peer, &err), 0);
		}
		op = link_op(&link.a, &link.b, IBV_WR_RDMA_WRITE, 0, 0, LENGTH);
		assert_int_equal(endpoint_post(link.a.endpoint, &op, &err), 0);
		assert_int_equal(link_drain(link.a.endpoint, &err),
				 i ? -EHOSTUNREACH : 0);
		link_close(&link);
	}
}

static int modify_impatient(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	if (mask & IBV_QP_RNR_RETRY)
		attr->rnr_retry = 2;
	return verbs_double()->modify_qp(qp, attr, mask);
}

static void a_send_waits_for_a_receive(void **state RH_UNUSED)
{
	_cleanup_error_ struct error err = {0};
	struct endpoint_request request;
	struct verbs impatient;
	struct endpoint_op op;
	struct link link;
	struct ibv_wc wc;

	link_open(&link, NULL, NULL);
	op = link_op(&link.a, &link.b, IBV_WR_SEND, 0, 0, LENGTH);
	assert_int_equal(endpoint_post(link.a.endpoint, &op, &err), 0);
	for (int i = 0; i < 50; i++)
		assert_int_equal(endpoint_poll(link.a.endpoint, &wc, 1, &err), 0);
	assert_int_equal(endpoint_post_receive(link.b.endpoint, 0, (uintptr_t)link.b.bytes, LENGTH,
					       link.b.mr->lkey, 0, &err), 0);
	assert_int_equal(endpoint_poll(link.a.endpoint, &wc, 1, &err), 1);
	link_close(&link);

	verbs_double_reset(NULL);
	impatient = *verbs_double();
	impatient.modify_qp = modify_impatient;
	request = link_request(NULL);
	request.verbs = &impatient;
	link_open(&link, NULL, &request);
	op = link_op(&link.a, &link.b, IBV_WR_SEND, 0, 0, LENGTH);
	assert_int_equal(endpoint_post(link.a.endpoint, &op, &err), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(endpoint_poll(link.a.endpoint, &wc, 1, &err), 0);
	IS_FAILURE(endpoint_poll(link.a.endpoint, &wc, 1, &err), -ENOBUFS, &err, "SEND of", "RNR");
	link_close(&link);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steps_of_a_qp),
		cmocka_unit_test(overflows_are_complaints),
		cmocka_unit_test(receives_too_short),
		cmocka_unit_test(rights_of_memory),
		cmocka_unit_test(dma_bufs_are_addressed_by_iova),
		cmocka_unit_test(lies_look_like_this),
		cmocka_unit_test(a_duplicate_send_takes_a_second_receive),
		cmocka_unit_test(connections_are_exact),
		cmocka_unit_test(a_send_waits_for_a_receive),
	};

	return cmocka_run_group_tests_name("double of a provider", tests, NULL, NULL);
}
