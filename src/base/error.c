/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static void error_hold(struct error *err, int code, char *message)
{
	free(err->message);
	err->code = code;
	err->message = message;
}

int error_set(struct error *err, int code, const char *fmt, ...)
{
	va_list ap;

	if (err) {
		va_start(ap, fmt);
		error_hold(err, code, xvasprintf(fmt, ap));
		va_end(ap);
	}
	return code;
}

int error_set_errno(struct error *err, int code, const char *fmt, ...)
{
	va_list ap;

	if (err) {
		va_start(ap, fmt);
		_cleanup_free_ char *text = xvasprintf(fmt, ap);
		va_end(ap);
		error_hold(err, code, xasprintf("%s: %s", text, strerror(code < 0 ? -code : code)));
	}
	return code;
}

int error_wrap(struct error *err, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return 0;
	va_start(ap, fmt);
	_cleanup_free_ char *context = xvasprintf(fmt, ap);
	va_end(ap);
	error_hold(err, err->code, xasprintf("%s: %s", context, error_text(err)));
	return err->code;
}

const char *error_text(const struct error *err)
{
	return err && err->message ? err->message : "unknown error";
}

void error_clear(struct error *err)
{
	if (!err)
		return;
	free(err->message);
	*err = (struct error){0};
}
