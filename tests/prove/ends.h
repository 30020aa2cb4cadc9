/* SPDX-License-Identifier: Apache-2.0 */
/* Both ends of a run in one process: two threads, the double between them, a pair of sockets for the
 * control channel. Include after cmocka.h. */
#pragma once

#include <errno.h>
#include <pthread.h>
#include <sys/socket.h>

#include "prove/link.h"
#include "prove/pair.h"
#include "prove/run.h"

struct ends;

/* What a test runs at both ends. */
typedef int ends_run(json_t **result, struct run_end *end, const struct run_parameters *p,
		     struct error *err);

struct ends_side {
	struct run_end end;
	const struct run_parameters *p;
	ends_run *run;
	json_t *result;
	struct error err;
	int rc;
};

struct ends {
	struct ends_side a, b;	/* the one that connected, and the listener */
};

struct ends_setup {
	unsigned qps, depth;		/* 0: 1, 8 */
	size_t bytes, bytes_listener;	/* 0: 64 KiB, the same */
	uint8_t traffic_class;
	bool ud;
};

static inline void ends_side_open(struct ends_side *side, const struct ends_setup *setup,
				  const char *device, size_t bytes)
{
	struct endpoint_request request = link_request(device);
	const struct memory_request memory = { .kind = "host", .length = bytes, .numa_node = -1 };
	_cleanup_error_ struct error err = {0};

	request.qps = setup->qps ? setup->qps : 1;
	request.depth = setup->depth ? setup->depth : 8;
	request.ud = setup->ud;
	request.traffic_class = setup->traffic_class;
	assert_int_equal(endpoint_open(&side->end.endpoint, &request, &err), 0);
	assert_int_equal(memory_new(&side->end.memory, &memory, &err), 0);
	assert_int_equal(memory_register(side->end.memory, verbs_double(),
					 endpoint_pd(side->end.endpoint), &err), 0);
}

static inline void ends_open(struct ends *ends, const struct ends_setup *setup)
{
	size_t bytes = setup->bytes ? setup->bytes : 65536;

	memset(ends, 0, sizeof(*ends));
	verbs_double_reset(NULL);
	ends_side_open(&ends->a, setup, "double0", bytes);
	ends_side_open(&ends->b, setup, "double1",
		       setup->bytes_listener ? setup->bytes_listener : bytes);
	link_meet(ends->a.end.endpoint, ends->b.end.endpoint);
	link_meet(ends->b.end.endpoint, ends->a.end.endpoint);
	wire_pair(&ends->a.end.wire, &ends->b.end.wire);
	ends->a.end.initiator = true;
}

/* As a session does it: who fails says so. */
static inline void *ends_thread(void *arg)
{
	struct ends_side *side = arg;

	json_decref(side->result);
	side->result = NULL;
	error_clear(&side->err);
	side->rc = side->run(&side->result, &side->end, side->p, &side->err);
	if (side->rc < 0)
		wire_send_error(side->end.wire, &side->err);
	return NULL;
}

static inline void ends_run_two(struct ends *ends, ends_run *a, ends_run *b,
				const struct run_parameters *pa, const struct run_parameters *pb)
{
	pthread_t thread;

	ends->a.run = a;
	ends->a.p = pa;
	ends->b.run = b;
	ends->b.p = pb;
	assert_int_equal(pthread_create(&thread, NULL, ends_thread, &ends->b), 0);
	ends_thread(&ends->a);
	pthread_join(thread, NULL);
}

static inline void ends_run_both(struct ends *ends, ends_run *run, const struct run_parameters *p)
{
	ends_run_two(ends, run, run, p, p);
}

/* Both took place, and both say the same. */
static inline json_t *ends_result(const struct ends *ends)
{
	if (ends->a.rc || ends->b.rc)
		fail_msg("%s / %s", error_text(&ends->a.err), error_text(&ends->b.err));
	assert_true(json_equal(ends->a.result, ends->b.result));
	return ends->a.result;
}

static inline void ends_side_close(struct ends_side *side)
{
	wire_close(side->end.wire);
	memory_free(side->end.memory);
	endpoint_close(side->end.endpoint);
	json_decref(side->result);
	error_clear(&side->err);
}

static inline void ends_close(struct ends *ends)
{
	ends_side_close(&ends->a);
	ends_side_close(&ends->b);
	if (verbs_double_complaint())
		fail_msg("%s", verbs_double_complaint());
	assert_int_equal(verbs_double_objects(), 0);
}
