/* SPDX-License-Identifier: Apache-2.0 */
/* Text that came from outside: numbers with all of their checks, words, lines, safe printing. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"

/* Whole-string conversions: 0, or -EINVAL (not a number, trailing bytes, empty), or -ERANGE.
 * base as strtoull(3); surrounding white space (a final newline of sysfs) is accepted. */
int text_to_u64(const char *s, int base, uint64_t *value) RH_MUST_CHECK;
int text_to_i64(const char *s, int base, int64_t *value) RH_MUST_CHECK;

/* Cut white space off both ends, in place; returns the new start inside `s`. */
char *text_trim(char *s);

/* Next line of a NUL-terminated buffer, in place (the newline becomes NUL); NULL at the end.
 * `*cursor` starts at the buffer. */
char *text_next_line(char **cursor);

/* Next word (separated by blanks, tabs or newlines), in place; NULL at the end. */
char *text_next_word(char **cursor);

bool text_starts_with(const char *s, const char *prefix);
bool text_ends_with(const char *s, const char *suffix);

/* Compare dotted versions number by number, other runs as text ("580.82.07" < "580.126").
 * <0, 0, >0 as strcmp(3). A suffix after the common part counts as newer. */
int text_version_compare(const char *a, const char *b);
/* A version without the 'v' that tags begin with ("v2.31.0" -> "2.31.0"); NULL for NULL. Points
 * into `version`. */
const char *text_version_number(const char *version);

/* Copy of `s` (at most `len` bytes) as valid, printable UTF-8 without control characters: what is
 * not, becomes \xNN. For bytes of kernels, firmware and files that end up in JSON or on a terminal.
 */
char *text_printable(const char *s, size_t len);

/* True when the bytes are valid UTF-8 (RFC 3629: no surrogates, no overlong forms). */
bool text_is_utf8(const char *s, size_t len);

/* Nearest of `n` candidates by edit distance, or NULL when none is close (distance > 2 and > a
 * third). */
const char *text_nearest(const char *word, const char *const *candidates, size_t n);
