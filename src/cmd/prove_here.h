/* SPDX-License-Identifier: Apache-2.0 */
/* What both ends of `railhead prove` need: this machine, interrupts, and what comes of a proof. */
#pragma once

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
/* A proof rests on what the machine is now, not on what it was when a listener was started. */
int prove_here_look(struct prove_here *here, const struct cmd_args *args, struct error *err);
/* This end of a session, all borrowed. */
struct session_end prove_here_end(const struct prove_here *here, struct wire *wire);

/* SIGINT and SIGTERM: whatever waits for the other end at the descriptor `control` stops waiting,
 * and the proof is taken down in order. A second signal does what signals do. */
void prove_interrupts_catch(int control);
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
