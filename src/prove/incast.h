/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several senders into one receiver at the same time (incast): sessions of one listener, each in a
 * process of its own, that go on step by step together. A leader in the process above them lets all
 * of them go when each has come to the same point. A session that ends, fails or is killed is seen
 * at the end of its socket; from then on nobody waits for it, and the others are told that it is no
 * incast of that many any more: what one sender less did would not be what was asked for. Those
 * that still wait for their peer hear it then, those in a step at its end.
 *
 * Messages between a session and its leader (incast_channel.h):
 *
 *	parameters {parameters}	->	(without the seed)
 *			<-	agreed | refused {text}
 *	ready		->
 *			<-	go | gone {text}
 *	outcome {peer, records, errno, text}	->	the last
 */
#pragma once

#include "base/json.h"
#include "prove/session.h"

#define INCAST_SENDERS_MIN 2u
#define INCAST_SENDERS_MAX 16u
/* Longest wait that a listener may announce to its peers. */
#define INCAST_LIMIT_MAX_MS (48 * 3600 * 1000)

/* --- a session -------------------------------------------------------------------------------- */

struct incast;

/* `number`: which of the `senders` sessions this is, from 1. `wait_ms`: how long a peer may be in
 * coming. Takes over the socket `fd`. */
struct incast *incast_new(int fd, unsigned number, unsigned senders, int wait_ms);
/* NULL is allowed. */
void incast_free(struct incast *incast);
unsigned incast_senders(const struct incast *incast);
/* Can be read when the leader has something to say. While nothing was asked of it, this is that
 * another session is gone: incast_wait() tells which. */
int incast_fd(const struct incast *incast);
/* Is it what the others run, and does the memory of all go into SESSION_MEMORY_MAX? -EINVAL: no,
 * and the message names the difference. */
int incast_agree(struct incast *incast, const struct session_parameters *p, struct error *err);
/* Longest time that a session may wait for the others before a step. */
int incast_limit_ms(const struct incast *incast, const struct session_parameters *p);
/*
 * Wait until all are here. 0: they are; 1: the descriptor `watch` can be read. -ETIMEDOUT: not
 * within `timeout_ms`, a later call goes on with the same wait. -ECANCELED: another session is gone.
 */
int incast_wait(struct incast *incast, int watch, int timeout_ms, struct error *err);
/* What came of this session; `rc` and `why` as session_answer() gave them, `peer` may be NULL. */
int incast_tell(struct incast *incast, const char *peer, json_t *records, int rc,
		const struct error *why, struct error *err);

/* --- the leader ------------------------------------------------------------------------------- */

struct incast_outcome {
	char *peer;		/* numeric address, NULL: nobody came */
	json_t *records;	/* NULL: nothing was run */
	int rc;			/* of the session; -ECHILD: its process ended without a word */
	struct error why;
};

/* Lead `n` sessions, whose sockets `fds` are taken over, until the last one has ended. */
void incast_lead(const int *fds, unsigned n, struct incast_outcome *outcomes);
void incast_outcome_clear(struct incast_outcome *outcome);
