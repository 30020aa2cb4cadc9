/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One rule for errors.
 *
 * A function that can fail returns 0 or a negative errno, takes `struct error *err` as its last
 * argument, and fills it where the failure is seen: with the path, device or attribute in the text.
 * Callers may add context with error_wrap() and pass the code on. A NULL `err` is allowed: then
 * only the code travels. Messages begin in lower case, carry no final full stop and no newline.
 *
 *	_cleanup_error_ struct error err = {0};
 *	int rc = site_load(&site, path, &err);
 *	if (rc < 0)
 *		fprintf(stderr, "railhead: %s\n", err.message);
 */
#pragma once

#include "base/compiler.h"

struct error {
	int code;	/* negative errno, 0 while no error is held */
	char *message;	/* owned; NULL while no error is held */
};

/* Hold `code` (negative errno) and the formatted message; an earlier message is replaced.
 * Returns `code`, so that it can be the operand of a return statement. */
int error_set(struct error *err, int code, const char *fmt, ...) RH_PRINTF(3, 4);

/* As error_set(), and append ": " and the text of errno `code`. */
int error_set_errno(struct error *err, int code, const char *fmt, ...) RH_PRINTF(3, 4);

/* Put context in front of the held message: "context: message". Returns the held code. */
int error_wrap(struct error *err, const char *fmt, ...) RH_PRINTF(2, 3);

/* Text of the held error, never NULL ("unknown error" when none is held). */
const char *error_text(const struct error *err);

/* Release the message and make the object empty. NULL is allowed. */
void error_clear(struct error *err);

#define _cleanup_error_ __attribute__((cleanup(error_clear)))
