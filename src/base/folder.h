/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A folder that the user names, and files below it. What is below is reached from a descriptor,
 * one component after the other, and symbolic links are not followed: nothing outside is read or
 * written, whoever owns a part of the folder. (The folder itself may be reached by a link.)
 *
 * New files are collected in a tree, `.railhead-new` inside it, and then put in place by rename(2),
 * a whole folder at once where there is none yet. So a full disk is found out before anything is
 * replaced. The signals SIGINT, SIGTERM and SIGHUP are held back from the first folder_stage() to
 * folder_close(); a long collection looks for them with folder_interrupted(). Nothing is
 * synchronized to the disk: what was rendered can be rendered again, and the manifest tells when a
 * power failure came in between.
 *
 * Paths are relative, with components other than "", "." and "..". Messages name folder and path.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct folder;

enum folder_kind {
	FOLDER_NOTHING,
	FOLDER_FILE,	/* a regular file */
	FOLDER_OTHER,	/* a folder, a link, a device, … */
};

struct folder_entry {
	enum folder_kind kind;
	mode_t mode;	/* permission bits */
	uint64_t size;	/* of a file, in bytes */
	/* nothing is there, and nothing can be: a component before the last is no folder */
	bool blocked;
};

/* Open it to read. -ENOENT: there is no such folder. */
int folder_open(struct folder **folder, const char *path, struct error *err);
/* Open it to write, made if it is not there (its parent must be), and lock it against other
 * writers until it is closed. -EBUSY: another one is writing. */
int folder_open_to_write(struct folder **folder, const char *path, struct error *err);
/* Removes what was staged and not put in place; held back signals are delivered. */
void folder_close(struct folder *folder);

static inline RH_UNUSED void cleanup_folder_p(struct folder **folder)
{
	if (*folder)
		folder_close(*folder);
}
#define _cleanup_folder_ __attribute__((cleanup(cleanup_folder_p)))

/* What stands at `path`. */
int folder_look(struct folder *folder, const char *path, struct folder_entry *entry,
		struct error *err);
/* A regular file of at most `max` bytes (-EFBIG), with an added NUL. The caller frees. */
int folder_read(struct folder *folder, const char *path, size_t max, char **data, size_t *len,
		struct error *err);

/* Collect a file with these permission bits for `path`; folders above are made with it. */
int folder_stage(struct folder *folder, const char *path, const void *data, size_t len,
		 mode_t mode, struct error *err);
/* Put all that was collected in place, over the files that are there; the file `last`, beside the
 * others, comes last. */
int folder_place(struct folder *folder, const char *last, struct error *err);
/* One of the held back signals has come. */
bool folder_interrupted(const struct folder *folder);

/* Remove a file, and the folders above that became empty. Nothing there is no error. */
int folder_remove(struct folder *folder, const char *path, struct error *err);
/* Rename `path`, whatever it is, to PATH.orig, or PATH.orig.2, … if that is taken. `*kept` is the
 * new path; the caller frees. */
int folder_keep(struct folder *folder, const char *path, char **kept, struct error *err);
