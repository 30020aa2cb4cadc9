/* SPDX-License-Identifier: Apache-2.0 */
/* What both ends of `railhead prove` need: this machine, interrupts, and what comes of a proof. */
#pragma once

#include <sys/types.h>

#include "cmd/cmd.h"
#include "cmd/prove.h"
#include "host/verbs.h"
#include "prove/session.h"

/* Everything that a proof needs from this machine. */
struct prove_here {
	struct host *host;
	struct site *site;
	json_t *snapshot;
	const struct site_node *node;
	struct verbs verbs;
	struct prove_options options;
};

/* 0 or CMD_…, complained. The caller clears `here` either way. */
int prove_here_open(struct prove_here *here, const struct cmd_args *args);
void prove_here_clear(struct prove_here *here);
#define _cleanup_prove_here_ __attribute__((cleanup(prove_here_clear)))
/* In a process that was forked: its own doors to the machine. Of a socket of two processes each would
 * get some of the answers. */
int prove_here_again(struct prove_here *here, struct error *err);
/* A proof rests on what the machine is now, not on what it was when a listener was started. */
int prove_here_look(struct prove_here *here, const struct cmd_args *args, struct error *err);
/* This end of a session, all borrowed. */
struct session_end prove_here_end(const struct prove_here *here, struct wire *wire);
/* From now on lines of progress are of this sender, from 1. */
void prove_progress_of(unsigned sender);

/* SIGINT and SIGTERM: whatever waits for the other end at the descriptor `control` stops waiting,
 * and the proof is taken down in order. A second signal does what signals do. */
void prove_interrupts_catch(int control);
/* The same for the processes that do the work: they get the signal. `pids` is copied. */
void prove_interrupts_forward(const pid_t *pids, unsigned n);
/* The signal that came meanwhile ends the program now, as it would have then. */
void prove_interrupts_release(void);

/* Print and keep what was seen, up to the error `rc` with its text `why` too. The exit status is
 * its verdict. */
int prove_conclude(json_t *records, const struct prove_here *here, const struct cmd_args *args,
		   int rc, const struct error *why);
/* A token or a host that is none was a mistake of the caller; else nothing is proven. */
int prove_complain(int rc, const struct error *err);

/* prove_listen.c: the end that listens, for one peer after the other. */
int prove_listen(struct prove_here *here, const struct cmd_args *args);

/* Where one peer is expected. */
struct prove_seat {
	struct wire_listener *listener;
	char token[WIRE_TOKEN_CHARS + 1];
};
/* Listen for it on `port`, with the token that was given or a new one. */
int prove_seat_open(struct prove_seat *seat, const struct prove_options *o, uint16_t port,
		    struct error *err);
/* Print the command line of each of `n` peers. */
void prove_announce(const struct prove_here *here, const struct prove_seat *seats, unsigned n);
/* Print how many came to the door without the token, if any: somebody may be guessing. */
void prove_tell_refused(const struct prove_here *here, const struct wire_listener *listener);

/* prove_senders.c: for several at the same time. */
int prove_listen_senders(struct prove_here *here, const struct cmd_args *args);
