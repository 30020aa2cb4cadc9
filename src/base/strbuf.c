/* SPDX-License-Identifier: Apache-2.0 */
#include "base/strbuf.h"

#include <string.h>

static void strbuf_reserve(struct strbuf *b, size_t more)
{
	size_t want = b->len + more + 1;

	if (want <= b->capacity)
		return;
	size_t capacity = b->capacity ? b->capacity : 64;
	while (capacity < want)
		capacity *= 2;
	b->s = xreallocarray(b->s, capacity, 1);
	b->capacity = capacity;
}

void strbuf_add(struct strbuf *b, const void *data, size_t len)
{
	strbuf_reserve(b, len);
	if (len)
		memcpy(b->s + b->len, data, len);
	b->len += len;
	b->s[b->len] = '\0';
}

void strbuf_puts(struct strbuf *b, const char *s)
{
	strbuf_add(b, s, strlen(s));
}

void strbuf_putc(struct strbuf *b, char c)
{
	strbuf_reserve(b, 1);
	b->s[b->len++] = c;
	b->s[b->len] = '\0';
}

void strbuf_printf(struct strbuf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	_cleanup_free_ char *s = xvasprintf(fmt, ap);
	va_end(ap);
	strbuf_puts(b, s);
}

const char *strbuf_str(const struct strbuf *b)
{
	return b->s ? b->s : "";
}

char *strbuf_steal(struct strbuf *b)
{
	char *s = b->s ? b->s : xstrdup("");

	*b = (struct strbuf){0};
	return s;
}

void strbuf_clear(struct strbuf *b)
{
	free(b->s);
	*b = (struct strbuf){0};
}
