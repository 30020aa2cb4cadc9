/* SPDX-License-Identifier: Apache-2.0 */
/* Two connected endpoints on the double, each with a buffer. Include after cmocka.h. */
#pragma once

#include <sched.h>
#include <string.h>

#include "base/alloc.h"
#include "doubles/verbs_double.h"
#include "prove/endpoint_internal.h"

#define LINK_BYTES 4096u

struct link_end {
	struct endpoint *endpoint;
	struct ibv_mr *mr;
	unsigned char bytes[LINK_BYTES];
};

struct link {
	struct link_end a, b;	/* on double0 and double1 */
};

static inline struct endpoint_request link_request(const char *device)
{
	return (struct endpoint_request){
		.verbs = verbs_double(),
		.device = device,
		.port = 1,
		.gid_index = 1,
		.qps = 1,
		.depth = 8,
		.traffic_class = 26 << 2,
	};
}

static inline void link_meet(struct endpoint *endpoint, const struct endpoint *peer)
{
	_cleanup_json_ json_t *message = endpoint_describe(peer);
	_cleanup_error_ struct error err = {0};
	struct endpoint_peer read;

	assert_int_equal(endpoint_peer_read(&read, message, &err), 0);
	assert_int_equal(endpoint_connect(endpoint, &read, &err), 0);
}

static inline void link_end_open(struct link_end *end, const struct endpoint_request *request)
{
	_cleanup_error_ struct error err = {0};

	assert_int_equal(endpoint_open(&end->endpoint, request, &err), 0);
	end->mr = request->verbs->reg_mr(endpoint_pd(end->endpoint), end->bytes, LINK_BYTES,
					 IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
						 IBV_ACCESS_REMOTE_WRITE);
	assert_non_null(end->mr);
}

/* `setup` and `request` may be NULL; the request's device is not looked at. */
static inline void link_open(struct link *link, const struct verbs_double_setup *setup,
			     const struct endpoint_request *request)
{
	struct endpoint_request end;

	memset(link, 0, sizeof(*link));
	if (!request || request->verbs == verbs_double())
		verbs_double_reset(setup);
	end = request ? *request : link_request(NULL);
	end.device = "double0";
	link_end_open(&link->a, &end);
	end.device = "double1";
	link_end_open(&link->b, &end);
	link_meet(link->a.endpoint, link->b.endpoint);
	link_meet(link->b.endpoint, link->a.endpoint);
}

static inline void link_end_close(struct link_end *end)
{
	if (end->mr)
		assert_int_equal(verbs_double()->dereg_mr(end->mr), 0);
	endpoint_close(end->endpoint);
	*end = (struct link_end){0};
}

/* Nothing is left, and the program broke no rule. */
static inline void link_close(struct link *link)
{
	link_end_close(&link->a);
	link_end_close(&link->b);
	assert_null(verbs_double_complaint());
	assert_int_equal(verbs_double_objects(), 0);
}

/* `length` bytes from offset `from` of the one end to offset `to` of the other. */
/* Poll until all that was posted is done, or has failed. One at a time: receives stay, unless a send
 * waits. */
static inline RH_UNUSED int link_drain(struct endpoint *endpoint, struct error *err)
{
	for (unsigned i = 0; i < endpoint->qps; i++) {
		while (endpoint->queues[i].done < endpoint->queues[i].posted) {
			struct ibv_wc wc;
			int n = endpoint_poll(endpoint, &wc, 1, err);

			if (n < 0)
				return n;
			if (!n)
				sched_yield();
		}
	}
	return 0;
}

static inline struct endpoint_op link_op(const struct link_end *local,
					 const struct link_end *remote, enum ibv_wr_opcode opcode,
					 size_t from, size_t to, uint32_t length)
{
	return (struct endpoint_op){
		.opcode = opcode,
		.local = (uintptr_t)local->bytes + from,
		.remote = (uintptr_t)remote->bytes + to,
		.length = length,
		.lkey = local->mr->lkey,
		.rkey = remote->mr->rkey,
	};
}

/* A hook that always tells the lie that `arg` is. */
static inline struct verbs_double_lie
lie_always(void *arg, const struct verbs_double_operation *operation RH_UNUSED)
{
	return *(struct verbs_double_lie *)arg;
}

/* The code in both places, and each word in the message. */
static inline void is_failure(int rc, int code, const struct error *err, const char *const *words)
{
	assert_int_equal(rc, code);
	assert_int_equal(err->code, code);
	for (; *words; words++)
		if (!strstr(err->message, *words))
			fail_msg("no \"%s\" in \"%s\"", *words, err->message);
}
#define IS_FAILURE(rc, code, err, ...)                                                         \
	is_failure(rc, code, err, (const char *const[]){__VA_ARGS__, NULL})
