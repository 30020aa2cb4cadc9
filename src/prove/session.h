/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole proof between two ends over a control channel that stands: who each one is, what is to be
 * run, how it can be reached, the runs in their order, what both saw, and one record at both ends.
 *
 * The end that connected proposes, the listening one accepts or refuses. Integrity is run for every
 * operation before any speed, and a proof ends at the first byte that is wrong.
 */
#pragma once

#include "host/host.h"
#include "prove/path.h"
#include "prove/wire.h"

struct verbs;

#define SESSION_PORT 18516	/* next to that of perftest, so that both may run */
#define SESSION_SIZE_MAX (64u << 20)
#define SESSION_MEMORY_MAX ((size_t)4 << 30)	/* what a peer may make the other end register */
#define SESSION_DEPTH_MAX 4096u
#define SESSION_SECONDS_MAX 3600.0
#define SESSION_MARK_BYTES 256u	/* of a marking message: goes into any MTU */
#define SESSION_MARK_MESSAGES 32u
#define SESSION_ITERATIONS 2u	/* of an integrity run: one fill each, so that stale bytes show */

enum session_operation {
	SESSION_WRITE = 1 << 0,
	SESSION_READ = 1 << 1,
	SESSION_SEND = 1 << 2,
};
#define SESSION_OPERATIONS 3u

struct session_operation_name {
	unsigned bit;
	const char *name;
};
extern const struct session_operation_name session_operation_names[SESSION_OPERATIONS];

enum session_suite {
	SESSION_NO_SUITE,
	SESSION_BASELINE,	/* before QoS: PFC and ECN off */
	SESSION_PFC,
	SESSION_ECN,
	SESSION_GDR,
};
#define SESSION_SUITES 5u
/* Their names; that of SESSION_NO_SUITE is NULL. */
extern const char *const session_suite_names[SESSION_SUITES];

struct session_parameters {
	enum session_suite suite;	/* what is run, suite.h */
	bool compare;		/* each speed run is followed by one of perftest */
	unsigned operations;	/* bits of enum session_operation */
	size_t size_min, size_max;	/* bytes of a message; sizes double between them */
	unsigned qps, depth;
	double seconds;		/* of each speed run, 0: none */
	int dscp;		/* -1: packets are not marked */
	bool ecn;		/* with `dscp`: ECT(0) too */
	char memory[2][16];	/* kinds of the connecting end and of the listening one */
	uint64_t seed;
	/* Sessions of the listener at the same time, which it alone knows (incast.h); 0 and 1: one. */
	unsigned senders;
};

struct session_end {
	struct wire *wire;
	struct host *host;
	const struct verbs *verbs;
	struct path_request want;	/* `peer_address` is found by the session */
	int timeout_ms;		/* of each step in which the other end has to answer */
	const char *gpu;	/* BDF of the GPU of "cuda" memory; NULL: choose */
	bool dmabuf_double;	/* struct memory_request */
	struct incast *incast;	/* of a listener with several senders (incast.h); NULL: one */
	bool compare;		/* perftest may be run at this end: its handshake knows no token */
	const char *const *perftest_folders;	/* perftest_find(); NULL: those of the system */
	/* Called before each step with a line for people. NULL: nobody looks. */
	void (*progress)(const char *line);
};

/* "write,read,send" in any order. -EINVAL names the word that is none. */
int session_operations_read(unsigned *operations, const char *list, struct error *err);
/* -EINVAL: which parameter is out of its range. */
int session_parameters_check(const struct session_parameters *p, struct error *err);
/* As a message; new reference. */
json_t *session_parameters_message(const struct session_parameters *p);
/* From the peer's message: nothing of it is believed. -EPROTO. */
int session_parameters_read(struct session_parameters *p, json_t *message, struct error *err);
/* Usable bytes of each end's memory. */
size_t session_memory_bytes(const struct session_parameters *p);

/*
 * The connecting end and the listening one. 0: all was run, `*records` (new reference) is the list
 * of what was seen, each with its verdict (record.h). A negative errno: it could not be run, or not
 * to its end, and the peer was told why, if it was there; `*records` then has what was run before,
 * or is NULL when nothing was.
 */
int session_propose(json_t **records, const struct session_end *end,
		    const struct session_parameters *p, struct error *err);
int session_answer(json_t **records, const struct session_end *end, struct error *err);
