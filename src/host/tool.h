/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that runs beside the caller: started, watched, ended when the caller wants it. It is no
 * door: what it does cannot be recorded. Without a shell, in a process group of its own, and dead
 * when this process dies.
 */
#pragma once

#include <stdbool.h>

#include "base/alloc.h"
#include "base/error.h"

/* What is kept of its output, each of standard output and standard error. */
#define TOOL_OUTPUT_MAX (256u << 10)

struct tool;

/* argv[0] is the absolute path of the program. A program that cannot be executed ends at once, and
 * tells why on its standard error. */
int tool_start(struct tool **tool, const char *const argv[], struct error *err);

/*
 * Wait until it has ended (1) or the descriptor `watch` (-1: none) can be read (0). -ETIMEDOUT: it
 * runs on after `timeout_ms`; -EFBIG: it wrote more than TOOL_OUTPUT_MAX, and is ended.
 */
int tool_wait(struct tool *tool, int watch, int timeout_ms, struct error *err);

/* End it, if it runs, with all that it started. What it wrote stays. */
void tool_end(struct tool *tool);

/* How it ended: "exit status 1", "SIGSEGV"; NULL: with status 0, or it runs. The caller frees. */
char *tool_failure(const struct tool *tool);
/* What it wrote so far, whatever the bytes; valid until tool_free(). */
const char *tool_output(const struct tool *tool);
const char *tool_errors(const struct tool *tool);

/* Ends it too. NULL is allowed. */
void tool_free(struct tool *tool);
DEFINE_CLEANUP(tool, struct tool *, tool_free)
