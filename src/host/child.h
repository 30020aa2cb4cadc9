/* SPDX-License-Identifier: Apache-2.0 */
/* A child process with bounds: its own process group, a time limit, limits on what it writes. */
#pragma once

#include <sys/types.h>

#include "base/strbuf.h"
#include "host/door.h"

/* A stream of the child that is collected. */
struct child_stream {
	int fd;			/* read end; -1: none, or at its end */
	size_t max;		/* bytes kept */
	bool drop; /* what is over `max` is dropped; otherwise it ends the child (-EFBIG) */
	struct strbuf text;
};

#define CHILD_STREAMS 2

struct child {
	pid_t pid;
	struct child_stream streams[CHILD_STREAMS];
	int pidfd;		/* -1: this kernel has none */
	int status;		/* as waitpid(2), after child_end() */
};

/*
 * fork(2) with a pipe for each stream. In the child, where 0 is returned: own process group, no
 * standard input, signals as at program start, and it dies when this process dies; `ends` are the
 * pipes to write to, all above 3, so that they can be put on 1, 2 and 3 one by one. Here: c->pid
 * and the streams are set. Returns the pid, or a negative errno with nothing left open.
 */
pid_t child_start(struct child *c, int ends[CHILD_STREAMS], struct error *err);

/*
 * fork(2) for a child that goes on with this program's own work: as with child_start(), but its
 * standard output and error stay, and a socket joins the two: `*channel`, a close-on-exec stream,
 * is this process's end at each side. Returns 0 in the child, its pid here, or a negative errno.
 */
pid_t child_fork(int *channel, struct error *err);
/* Wait for its end, then end what is left of its process group. Status as waitpid(2). */
int child_reap(pid_t pid);

/* Close every descriptor from `first` up. For the child. */
void child_close_from(int first);

/*
 * Collect the streams until the child ends (1), or `watch` (-1: none) can be read (0). -ETIMEDOUT:
 * `timeout_ms` is over; -EFBIG: a stream is longer than its limit. In every case the child is still
 * to be ended. May be called again.
 */
int child_wait(struct child *c, int watch, int timeout_ms);
/* End the child and what is left of its process group, close the descriptors. */
void child_end(struct child *c);

/*
 * Collect the streams until the child ends, then end what is left of its process group.
 * Returns 0, -ETIMEDOUT after `timeout_ms`, or -EFBIG; the child is gone in any case, the
 * descriptors are closed. `what` goes into the message.
 */
int child_collect(struct child *c, int timeout_ms, const char *what, struct error *err);

void child_clear(struct child *c);

/* Name of a signal with its prefix ("SIGSEGV"), or "signal 99". The caller frees. */
char *child_signal_name(int signal);
