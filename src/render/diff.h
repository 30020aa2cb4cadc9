/* SPDX-License-Identifier: Apache-2.0 */
/* Differences between two texts, as `diff -u` writes them. */
#pragma once

#include "base/strbuf.h"

struct diff_text {
	const char *name;	/* of the header line; NULL: the file is not there */
	const char *data;
	size_t len;
};

/*
 * Append the unified difference, with three lines of context, that turns `before` into `after`;
 * nothing when they are equal. `patch -p1` applies it when the names begin with "a/" and "b/". The
 * shortest edit script where it has at most some thousand lines (Myers 1986, O(ND)); beyond that
 * the middle part that differs is replaced as a whole.
 */
void diff_unified(struct strbuf *out, const struct diff_text *before,
		  const struct diff_text *after);
