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
	bool drop;		/* what is over `max` is dropped; otherwise it ends the child (-EFBIG) */
	struct strbuf text;
};

#define CHILD_STREAMS 2

struct child {
	pid_t pid;
	struct child_stream streams[CHILD_STREAMS];
	int status;		/* as waitpid(2), after child_collect() */
};

/* pipe2(2), O_CLOEXEC, whose ends are above 3: the child can put them on 1, 2 and 3 one by one. */
int child_pipe(int ends[2], struct error *err);

/*
 * fork(2). In the child: own process group, no standard input, signals as at program start, and it
 * dies when this process dies. Returns the pid, 0 in the child, or a negative errno.
 */
pid_t child_fork(struct error *err);

/* Close every descriptor from `first` up. For the child. */
void child_close_from(int first);

/*
 * Collect the streams until the child ends, then end what is left of its process group.
 * Returns 0, -ETIMEDOUT after `timeout_ms`, or -EFBIG; the child is gone in any case, the
 * descriptors are closed. `what` goes into the message.
 */
int child_collect(struct child *c, int timeout_ms, const char *what, struct error *err);

void child_clear(struct child *c);

/* Name of a signal with its prefix ("SIGSEGV"), or "signal 99". The caller frees. */
char *child_signal_name(int signal);
