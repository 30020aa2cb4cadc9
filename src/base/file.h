/* SPDX-License-Identifier: Apache-2.0 */
/* Files that the user names: opened to be read, and written as a whole. */
#pragma once

#include "base/error.h"
#include "base/strbuf.h"

/* At the start of the program: a standard stream that is closed gets a descriptor on which reading
 * and writing fail (EBADF). Else the next file would take its number, and messages would go into
 * it. */
void file_hold_streams(void);

/*
 * Open `path` to read it. Waits for nobody: a FIFO that no process writes to is at its end at once.
 * Returns the descriptor, which reads as usual (blocking), or a negative errno.
 */
int file_open(const char *path, struct error *err);

/*
 * Add the text of `path` to `text`. Reading ends behind `max` bytes, at most one block behind: more
 * than `max` in `text` means that the file is larger. 0 or a negative errno.
 */
int file_read(struct strbuf *text, const char *path, size_t max, struct error *err);

/* Names in the folder `path` in strcmp() order, without those that begin with '.': a list of
 * base/strings.h, the caller's. 0 or a negative errno. */
int file_list(char ***names, const char *path, struct error *err);

/* Make the folder `path`, if it is not there. -ENOENT: neither is the one above. */
int file_make_folder(const char *path, struct error *err);

/* Writes the content to `fd`, which stays open. 0, or a negative errno without a message. */
typedef int (*file_writer)(int fd, void *data);

/*
 * Write `path` ("-": standard output) with `writer`. A new file beside it takes its place when it
 * is complete, so that a reader sees the old one or the new one, and a full disk or an interrupt
 * (SIGINT, SIGTERM and SIGHUP are held back meanwhile) leaves no half file. A file that is there
 * keeps its permission bits, and must be writable; a symbolic link keeps its place. What cannot be
 * replaced is written to as it is: a device, a pipe, a file in a folder that is not writable or
 * mounted alone.
 */
int file_write(const char *path, file_writer writer, void *data, struct error *err);

/* All of `data` to `fd`, as a file_writer would. */
int file_write_all(int fd, const char *data, size_t len);
