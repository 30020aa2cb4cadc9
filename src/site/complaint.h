/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is wrong with a site file or another of that make, collected so that one run tells all of it: a line each, with
 * file, line and column. Checks go on after a complaint and stop when the list is full.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "site/site.h"

#define COMPLAINTS_MAX 20u

struct complaint {
	struct site_where where;
	char *path;	/* "nodes/gpu-node-01/bonds/bond1", "" at the top */
	char *text;
};

struct complaints {
	const char *file;	/* borrowed; name that stands before the line number */
	const char *what;	/* "a data file"; NULL: a site file */
	const char *schema;	/* what its key `schema` says; NULL: that of a site */
	struct complaint list[COMPLAINTS_MAX];
	size_t n;
};

/* Add one. `path` tells the place in the site, NULL: the place in the file says enough. The same
 * text at the same place in the file is kept once, with its first path: a profile is checked for
 * each of its nodes. `where` with line 0 names the file alone. */
void complain(struct complaints *c, struct site_where where, const char *path, const char *fmt, ...)
	RH_PRINTF(4, 5);

/* What kind of file it is, for a message. */
const char *complaints_what(const struct complaints *c);

/* Text of the file for a message: in single quotes, printable, cut when it is long. The caller
 * frees. */
char *complaint_quote(const char *text);

/* No more are kept: the caller may stop looking. */
bool complaints_full(const struct complaints *c);

/* 0 when there are none, else -EINVAL and all of them in `err`, by line, a line each. */
int complaints_tell(struct complaints *c, struct error *err);

void complaints_clear(struct complaints *c);
#define _cleanup_complaints_ __attribute__((cleanup(complaints_clear)))
