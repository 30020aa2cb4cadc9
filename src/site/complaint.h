/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is wrong with a site file, collected so that one run tells all of it: a line each, with
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
	const char *fmt;	/* borrowed literal: with `where`, what makes two complaints the same */
	char *text;
};

struct complaints {
	const char *file;	/* borrowed; name that stands before the line number */
	struct complaint list[COMPLAINTS_MAX];
	size_t n;
};

/* Add one; the same format at the same place is kept once (a profile is checked for each of its
 * nodes). `where` with line 0 names the file alone. `fmt` must be a literal. */
void complain(struct complaints *c, struct site_where where, const char *fmt, ...) RH_PRINTF(3, 4);

/* Text of the file for a message: in single quotes, printable, cut when it is long. The caller frees. */
char *complaint_quote(const char *text);

/* No more are kept: the caller may stop looking. */
bool complaints_full(const struct complaints *c);

/* 0 when there are none, else -EINVAL and all of them in `err`, by line, a line each. */
int complaints_tell(struct complaints *c, struct error *err);

void complaints_clear(struct complaints *c);
#define _cleanup_complaints_ __attribute__((cleanup(complaints_clear)))
