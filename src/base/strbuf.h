/* SPDX-License-Identifier: Apache-2.0 */
/* A growing, always NUL-terminated string. `struct strbuf b = {0};` is a valid empty one. */
#pragma once

#include "base/alloc.h"

struct strbuf {
	char *s;	/* owned; NULL while nothing was added: read it through strbuf_str() */
	size_t len;	/* bytes without the final NUL */
	size_t capacity;
};

void strbuf_add(struct strbuf *b, const void *data, size_t len);
void strbuf_puts(struct strbuf *b, const char *s);
void strbuf_putc(struct strbuf *b, char c);
void strbuf_printf(struct strbuf *b, const char *fmt, ...) RH_PRINTF(2, 3);

/* The text so far; "" when empty. Valid until the next change. */
const char *strbuf_str(const struct strbuf *b);

/* Hand the text to the caller, who frees it; the buffer is empty afterwards. */
char *strbuf_steal(struct strbuf *b);

void strbuf_clear(struct strbuf *b);
#define _cleanup_strbuf_ __attribute__((cleanup(strbuf_clear)))
