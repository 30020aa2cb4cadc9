/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory, and cleanup attributes.
 *
 * The x*() functions never return NULL: when memory is exhausted they write one line to standard
 * error and end the process with status 3. That is the only exit outside main() and cmd/, taken
 * because no caller of a short-lived program has anything better to do (as util-linux and crun).
 * Sizes that come from outside are checked by the parser that reads them, before they get here.
 */
#pragma once

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/compiler.h"

void *xmalloc(size_t size) __attribute__((malloc, returns_nonnull));
void *xcalloc(size_t n, size_t size) __attribute__((malloc, returns_nonnull));
void *xreallocarray(void *p, size_t n, size_t size) __attribute__((returns_nonnull));
char *xstrdup(const char *s) __attribute__((malloc, returns_nonnull));
char *xstrndup(const char *s, size_t n) __attribute__((malloc, returns_nonnull));
char *xasprintf(const char *fmt, ...) RH_PRINTF(1, 2) __attribute__((returns_nonnull));
char *xvasprintf(const char *fmt, va_list ap) RH_PRINTF(1, 0) __attribute__((returns_nonnull));

/* Called by the x*() functions; also for libraries that report exhaustion by NULL. */
void RH_NORETURN alloc_exhausted(void);

/* Room for one more element behind `n` used ones: grows by doubling. `array` and `capacity` are
 * lvalues. */
#define array_reserve(array, n, capacity)                                                      \
	do {                                                                                   \
		if ((n) >= (capacity)) {                                                       \
			(capacity) = (capacity) ? 2 * (capacity) : 8;                          \
			(array) = xreallocarray((array), (capacity), sizeof(*(array)));        \
		}                                                                              \
	} while (0)

/* _cleanup_free_ char *s: freed when the scope is left. */
static inline void cleanup_free_p(void *p)
{
	free(*(void **)p);
}
#define _cleanup_free_ __attribute__((cleanup(cleanup_free_p)))

static inline void cleanup_close_p(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}
#define _cleanup_close_ __attribute__((cleanup(cleanup_close_p)))

static inline void cleanup_fclose_p(FILE **f)
{
	if (*f)
		fclose(*f);
}
#define _cleanup_fclose_ __attribute__((cleanup(cleanup_fclose_p)))

/* DEFINE_CLEANUP(host, struct host *, host_close) makes _cleanup_(host) usable on a variable. */
#define DEFINE_CLEANUP(name, type, release)                                                    \
	static inline RH_UNUSED void cleanup_##name##_p(type *p)                               \
	{                                                                                      \
		if (*p)                                                                        \
			release(*p);                                                           \
	}
#define _cleanup_(name) __attribute__((cleanup(cleanup_##name##_p)))
