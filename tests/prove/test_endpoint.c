/* SPDX-License-Identifier: Apache-2.0 */
/* Endpoints on the double of a provider: the rules of endpoint.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <errno.h>
#include <netinet/ip.h>
#include <pthread.h>

#include "prove/link.h"

static void fill(struct link_end *end, unsigned char first)
{
	for (size_t i = 0; i < LINK_BYTES; i++)
		end->bytes[i] = (unsigned char)(first + i % 251);
}

static struct verbs_double_qp qp_of(const struct endpoint *endpoint, unsigned qp)
{
	struct verbs_double_qp state;

	assert_int_equal(verbs_double_qp_state(endpoint_qpn(endpoint, qp), &state), 0);
	return state;
}

static void connects_with_every_count_set(void **state RH_UNUSED)
{
	const struct verbs_double_setup setup = {.mtu = {IBV_MTU_4096, IBV_MTU_2048}};
	struct endpoint_request request;
	struct link link;

	verbs_double_reset(NULL);
	request = link_request(NULL);
	request.qps = 3;
	link_open(&link, &setup, &request);
	for (unsigned i = 0; i < 3; i++) {
		struct verbs_double_qp a = qp_of(link.a.endpoint, i), b = qp_of(link.b.endpoint, i);

		assert_int_equal(a.state, IBV_QPS_RTS);
		assert_int_equal(a.init.cap.max_send_sge, 1);
		assert_int_equal(a.init.cap.max_send_wr, 8);
		assert_false(a.init.sq_sig_all);
		assert_int_equal(a.attr.path_mtu, IBV_MTU_2048);
		assert_int_equal(b.attr.path_mtu, IBV_MTU_2048);
		assert_int_equal(a.attr.timeout, 17);
		assert_int_equal(a.attr.retry_cnt, 7);
		assert_int_equal(a.attr.rnr_retry, 7);
		assert_true(a.attr.min_rnr_timer > 0);
		assert_true(a.attr.max_rd_atomic > 0);
		assert_int_equal(a.attr.ah_attr.grh.traffic_class, 26 << 2);
		assert_int_equal(a.attr.ah_attr.grh.sgid_index, 1);
		assert_true(a.attr.ah_attr.grh.hop_limit > 1);
		assert_int_equal(a.attr.dest_qp_num, endpoint_qpn(link.b.endpoint, i));
		assert_int_equal(a.attr.rq_psn, b.attr.sq_psn);
	}
	assert_int_equal(endpoint_mtu_bytes(link.a.endpoint), 2048);
	assert_int_equal(endpoint_mtu_bytes(link.b.endpoint), 2048);
	link_close(&link);

	request.timeout = 18;
	request.retries = 3;
	link_open(&link, NULL, &request);
	assert_int_equal(qp_of(link.a.endpoint, 0).attr.timeout, 18);
	assert_int_equal(qp_of(link.a.endpoint, 0).attr.retry_cnt, 3);
	link_close(&link);
}

/* Few bytes go within the WR where the provider takes that, and only those that it may copy. */
static void inlines_few_bytes(void **state RH_UNUSED)
{
	static const unsigned char words[] = "these, and not those in memory";
	_cleanup_error_ struct error err = {0};
	struct endpoint_op op;
	struct link link;

	for (int refused = 0; refused < 2; refused++) {
		const struct verbs_double_setup setup = {.no_inline = refused};
		unsigned room;

		link_open(&link, &setup, NULL);
		room = qp_of(link.a.endpoint, 0).init.cap.max_inline_data;
		assert_true(refused ? !room : room >= sizeof(words));
		fill(&link.a, 1);
		op = link_op(&link.a, &link.b, IBV_WR_RDMA_WRITE, 0, 0, sizeof(words));
		assert_false(endpoint_is_inline(link.a.endpoint, &op));
		op.bytes = words;
		assert_int_equal(endpoint_is_inline(link.a.endpoint, &op), !refused);
		assert_int_equal(endpoint_post(link.a.endpoint, &op, &err), 0);
		assert_int_equal(link_drain(link.a.endpoint, &err), 0);
		assert_memory_equal(link.b.bytes, refused ? link.a.bytes : words, sizeof(words));
		/* too many; and a READ has none */
		op.length = 200;
		assert_int_equal(endpoint_post(link.a.endpoint, &op, &err), 0);
		op.opcode = IBV_WR_RDMA_READ;
		op.length = 8;
		assert_false(endpoint_is_inline(link.a.endpoint, &op));
		assert_int_equal(endpoint_post(link.a.endpoint, &op, &err), 0);
		assert_int_equal(link_drain(link.a.endpoint, &err), 0);
		assert_memory_equal(link.b.bytes, link.a.bytes, 200);
		link_close(&link);
	}
}

static void moves_bytes(void **state RH_UNUSED)
{
	_cleanup_error_ struct error err = {0};
	struct endpoint_op op;
	struct ibv_wc wc[4];
	struct link link;

	link_open(&link, NULL, NULL);
	fill(&link.a, 1);
	op = link_op(&link.a, &link.b, IBV_WR_RDMA_WRITE, 0, 1000, 1500);
	op.id = 77;
	assert_int_equal(endpoint_post(link.a.endpoint, &op, &err), 0);
	assert_int_equal(endpoint_poll(link.a.endpoint, wc, 4, &err), 1);
	assert_int_equal(wc[0].wr_id, 77);
	assert_memory_equal(link.b.bytes + 1000, link.a.bytes, 1500);
	assert_int_equal(link.b.bytes[2500], 0);

	op = link_op(&link.b, &link.a, IBV_WR_RDMA_READ, 0, 5, 900);
	assert_int_equal(endpoint_post(link.b.endpoint, &op, &err), 0);
	assert_int_equal(link_drain(link.b.endpoint, &err), 0);
	assert_memory_equal(link.b.bytes, link.a.bytes + 5, 900);

	assert_int_equal(endpoint_post_receive(link.b.endpoint, 0, (uintptr_t)link.b.bytes, 100,
					       link.b.mr->lkey, 5, &err), 0);
	op = link_op(&link.a, &link.b, IBV_WR_SEND_WITH_IMM, 50, 0, 100);
	op.imm = 0x01020304;
	assert_int_equal(endpoint_post(link.a.endpoint, &op, &err), 0);
	assert_int_equal(endpoint_poll(link.b.endpoint, wc, 4, &err), 1);
	assert_int_equal(wc[0].wr_id, 5);
	assert_int_equal(wc[0].opcode, IBV_WC_RECV);
	assert_int_equal(wc[0].byte_len, 100);
	assert_int_equal(ntohl(wc[0].imm_data), 0x01020304);
	assert_memory_equal(link.b.bytes, link.a.bytes + 50, 100);
	assert_int_equal(link_drain(link.a.endpoint, &err), 0);

	/* nothing to move, only the event */
	assert_int_equal(endpoint_post_receive(link.b.endpoint, 0, 0, 0, 0, 6, &err), 0);
	op = link_op(&link.a, &link.b, IBV_WR_RDMA_WRITE_WITH_IMM, 0, 0, 0);
	assert_int_equal(endpoint_post(link.a.endpoint, &op, &err), 0);
	assert_int_equal(endpoint_poll(link.b.endpoint, wc, 4, &err), 1);
	assert_int_equal(wc[0].opcode, IBV_WC_RECV_RDMA_WITH_IMM);
	assert_int_equal(wc[0].wr_id, 6);
	link_close(&link);
}

static void asks_for_a_completion_each_half_queue(void **state RH_UNUSED)
{
	static const unsigned depths[] = {1, 2, 3, 8, 33, 128};
	_cleanup_error_ struct error err = {0};
	struct endpoint_request request;
	struct ibv_wc wc[16];
	struct link link;

	for (size_t d = 0; d < ARRAY_SIZE(depths); d++) {
		struct verbs_double_qp qp;
		struct endpoint_op op;
		unsigned posted = 0;
		int rc;

		verbs_double_reset(NULL);
		request = link_request(NULL);
		request.depth = depths[d];
		link_open(&link, NULL, &request);
		op = link_op(&link.a, &link.b, IBV_WR_RDMA_WRITE, 0, 0, 8);
		op.more = true;
		/* ten times round the rings */
		while (posted < 10 * depths[d]) {
			rc = endpoint_post(link.a.endpoint, &op, &err);
			if (rc == -EAGAIN)
				assert_true(endpoint_poll(link.a.endpoint, wc, 16, &err) > 0);
			else
				posted += !rc;
			assert_true(!rc || rc == -EAGAIN);
			assert_true(posted - endpoint_completed(link.a.endpoint, 0) <= depths[d]);
		}
		op.more = false;
		while ((rc = endpoint_post(link.a.endpoint, &op, &err)) == -EAGAIN)
			assert_true(endpoint_poll(link.a.endpoint, wc, 16, &err) > 0);
		assert_int_equal(rc, 0);
		assert_int_equal(link_drain(link.a.endpoint, &err), 0);
		assert_int_equal(endpoint_completed(link.a.endpoint, 0), posted + 1);
		qp = qp_of(link.a.endpoint, 0);
		assert_int_equal(qp.posted, posted + 1);
		assert_true(2 * qp.longest_unsignalled < depths[d] || depths[d] == 1);
		assert_true(depths[d] < 8 || qp.signalled < qp.posted / 2);
		link_close(&link);
	}
}

static void a_full_queue_says_so(void **state RH_UNUSED)
{
	_cleanup_error_ struct error err = {0};
	struct endpoint_op op;
	struct link link;

	link_open(&link, NULL, NULL);
	op = link_op(&link.a, &link.b, IBV_WR_RDMA_WRITE, 0, 0, 8);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(endpoint_post(link.a.endpoint, &op, &err), 0);
	assert_int_equal(endpoint_post(link.a.endpoint, &op, &err), -EAGAIN);
	assert_null(err.message);
	assert_int_equal(qp_of(link.a.endpoint, 0).signalled, 8);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(endpoint_post_receive(link.a.endpoint, 0, 0, 0, 0, i, &err), 0);
	assert_int_equal(endpoint_post_receive(link.a.endpoint, 0, 0, 0, 0, 8, &err), -EAGAIN);
	assert_null(err.message);
	assert_int_equal(link_drain(link.a.endpoint, &err), 0);
	assert_int_equal(endpoint_post(link.a.endpoint, &op, &err), 0);
	link_close(&link);
}

static void what_waits_for_more_goes_with_a_poll(void **state RH_UNUSED)
{
	_cleanup_error_ struct error err = {0};
	struct endpoint_op op;
	struct ibv_wc wc[4];
	struct link link;

	link_open(&link, NULL, NULL);
	fill(&link.a, 9);
	op = link_op(&link.a, &link.b, IBV_WR_RDMA_WRITE, 0, 0, 64);
	op.more = true;
	assert_int_equal(endpoint_post(link.a.endpoint, &op, &err), 0);
	assert_int_equal(endpoint_poll(link.a.endpoint, wc, 4, &err), 0);
	assert_memory_equal(link.b.bytes, link.a.bytes, 64);
	op.more = false;
	assert_int_equal(endpoint_post(link.a.endpoint, &op, &err), 0);
	assert_int_equal(link_drain(link.a.endpoint, &err), 0);
	assert_int_equal(endpoint_completed(link.a.endpoint, 0), 2);
	link_close(&link);
}

static void a_send_waits_for_a_receive(void **state RH_UNUSED)
{
	_cleanup_error_ struct error err = {0};
	struct endpoint_op op;
	struct ibv_wc wc[4];
	struct link link;

	link_open(&link, NULL, NULL);
	op = link_op(&link.b, &link.a, IBV_WR_SEND, 0, 0, 8);
	assert_int_equal(endpoint_post(link.b.endpoint, &op, &err), 0);
	assert_int_equal(endpoint_poll(link.b.endpoint, wc, 4, &err), 0);
	assert_int_equal(endpoint_completed(link.b.endpoint, 0), 0);
	assert_int_equal(endpoint_post_receive(link.a.endpoint, 0, (uintptr_t)link.a.bytes, 8,
					       link.a.mr->lkey, 3, &err), 0);
	assert_int_equal(link_drain(link.b.endpoint, &err), 0);
	op = link_op(&link.a, &link.b, IBV_WR_RDMA_WRITE, 0, 0, 8);
	assert_int_equal(endpoint_post(link.a.endpoint, &op, &err), 0);
	assert_int_equal(link_drain(link.a.endpoint, &err), 0);
	assert_int_equal(endpoint_poll(link.a.endpoint, wc, 4, &err), 1);
	assert_int_equal(wc[0].wr_id, 3);
	link_close(&link);
}

/* The IPv4 header of a delivered UD message. */
static struct iphdr arrived(const struct link_end *end)
{
	struct iphdr ip;

	memcpy(&ip, end->bytes + 20, sizeof(ip));
	assert_int_equal(ip.version, 4);
	assert_int_equal(ip.protocol, IPPROTO_UDP);
	return ip;
}

static void ud_messages_bring_their_header(void **state RH_UNUSED)
{
	struct verbs_double_lie remark = {VERBS_DOUBLE_REMARK, .tos = 3};
	_cleanup_error_ struct error err = {0};
	struct endpoint_request request;
	struct endpoint_op op;
	struct ibv_wc wc[4];
	struct link link;

	verbs_double_reset(NULL);
	request = link_request(NULL);
	request.ud = true;
	request.traffic_class = 24 << 2 | 2;
	link_open(&link, NULL, &request);
	fill(&link.a, 3);
	op = link_op(&link.a, &link.b, IBV_WR_SEND, 0, 0, 100);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(endpoint_post_receive(link.b.endpoint, 0, (uintptr_t)link.b.bytes,
						       140, link.b.mr->lkey, 1, &err), 0);
		assert_int_equal(endpoint_post(link.a.endpoint, &op, &err), 0);
		assert_int_equal(link_drain(link.a.endpoint, &err), 0);
		assert_int_equal(endpoint_poll(link.b.endpoint, wc, 4, &err), 1);
		assert_int_equal(wc[0].byte_len, 140);
		assert_true(wc[0].wc_flags & IBV_WC_GRH);
		assert_memory_equal(link.b.bytes + 40, link.a.bytes, 100);
		assert_int_equal(arrived(&link.b).tos, i ? 3 : 24 << 2 | 2);
		verbs_double_lie(lie_always, &remark);
	}
	op.length = 1025;
	IS_FAILURE(endpoint_post(link.a.endpoint, &op, &err), -EMSGSIZE, &err, "1025", "1024");
	op.length = 8;
	op.opcode = IBV_WR_RDMA_WRITE;
	IS_FAILURE(endpoint_post(link.a.endpoint, &op, &err), -EINVAL, &err, "UD");
	link_close(&link);

	/* nobody listens: nobody is told */
	verbs_double_lie(NULL, NULL);
	link_open(&link, NULL, &request);
	op = link_op(&link.a, &link.b, IBV_WR_SEND, 0, 0, 8);
	assert_int_equal(endpoint_post(link.a.endpoint, &op, &err), 0);
	assert_int_equal(link_drain(link.a.endpoint, &err), 0);
	link_close(&link);
}

#define ROUNDS 2000

struct echo {
	struct link *link;
	const char *failed;
};

/* Sends back each message that comes, until all have. */
static void *echo(void *arg)
{
	struct echo *e = arg;
	struct link *link = e->link;
	struct ibv_wc wc[8];
	unsigned done = 0;

	while (done < ROUNDS) {
		int n = endpoint_poll(link->b.endpoint, wc, 8, NULL);

		if (n < 0) {
			e->failed = "poll";
			return NULL;
		}
		for (int i = 0; i < n; i++) {
			struct endpoint_op op = link_op(&link->b, &link->a, IBV_WR_SEND, 0, 0, 16);

			if (wc[i].opcode != IBV_WC_RECV)
				continue;
			if (endpoint_post_receive(link->b.endpoint, 0, (uintptr_t)link->b.bytes, 16,
						  link->b.mr->lkey, 0, NULL) ||
			    endpoint_post(link->b.endpoint, &op, NULL)) {
				e->failed = "post";
				return NULL;
			}
			done++;
		}
	}
	if (link_drain(link->b.endpoint, NULL))
		e->failed = "drain";
	return NULL;
}

static void two_threads_talk(void **state RH_UNUSED)
{
	_cleanup_error_ struct error err = {0};
	struct ibv_wc wc[8];
	struct link link;
	struct echo other = {.link = &link};
	pthread_t thread;

	link_open(&link, NULL, NULL);
	assert_int_equal(endpoint_post_receive(link.b.endpoint, 0, (uintptr_t)link.b.bytes, 16,
					       link.b.mr->lkey, 0, &err), 0);
	assert_int_equal(pthread_create(&thread, NULL, echo, &other), 0);
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct endpoint_op op = link_op(&link.a, &link.b, IBV_WR_SEND, 0, 0, 16);
		bool back = false;

		memset(link.a.bytes, (int)(round % 256), 16);
		assert_int_equal(endpoint_post_receive(link.a.endpoint, 0,
						       (uintptr_t)link.a.bytes + 64, 16,
						       link.a.mr->lkey, 0, &err), 0);
		assert_int_equal(endpoint_post(link.a.endpoint, &op, &err), 0);
		while (!back) {
			int n = endpoint_poll(link.a.endpoint, wc, 8, &err);

			assert_true(n >= 0);
			for (int i = 0; i < n; i++)
				back |= wc[i].opcode == IBV_WC_RECV;
		}
		assert_memory_equal(link.a.bytes, link.a.bytes + 64, 16);
	}
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_null(other.failed);
	link_close(&link);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(connects_with_every_count_set),
		cmocka_unit_test(inlines_few_bytes),
		cmocka_unit_test(moves_bytes),
		cmocka_unit_test(asks_for_a_completion_each_half_queue),
		cmocka_unit_test(a_full_queue_says_so),
		cmocka_unit_test(what_waits_for_more_goes_with_a_poll),
		cmocka_unit_test(a_send_waits_for_a_receive),
		cmocka_unit_test(ud_messages_bring_their_header),
		cmocka_unit_test(two_threads_talk),
	};

	return cmocka_run_group_tests_name("endpoint", tests, NULL, NULL);
}
