/* SPDX-License-Identifier: Apache-2.0 */
#include "site/complaint.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/text.h"

#define QUOTE_MAX 60u	/* bytes */

void complain(struct complaints *c, struct site_where where, const char *path, const char *fmt, ...)
{
	va_list ap;

	if (complaints_full(c))
		return;
	va_start(ap, fmt);
	char *text = xvasprintf(fmt, ap);
	va_end(ap);
	for (size_t i = 0; i < c->n; i++) {
		const struct complaint *old = &c->list[i];

		if (old->where.line == where.line && old->where.column == where.column &&
		    !strcmp(old->text, text)) {
			free(text);
			return;
		}
	}
	c->list[c->n++] = (struct complaint){ where, xstrdup(path ? path : ""), text };
}

const char *complaints_what(const struct complaints *c)
{
	return c->what ? c->what : "a site file";
}

char *complaint_quote(const char *text)
{
	size_t len = strnlen(text, QUOTE_MAX + 1), shown = len;

	if (len > QUOTE_MAX) {
		shown = QUOTE_MAX - 3;
		/* not in the middle of a character */
		while (shown && ((unsigned char)text[shown] & 0xc0) == 0x80)
			shown--;
	}
	_cleanup_free_ char *safe = text_printable(text, shown);
	return xasprintf("'%s%s'", safe, len > QUOTE_MAX ? "..." : "");
}

bool complaints_full(const struct complaints *c)
{
	return c->n == COMPLAINTS_MAX;
}

static int by_place(const void *a, const void *b)
{
	const struct complaint *x = a, *y = b;

	if (x->where.line != y->where.line)
		return x->where.line < y->where.line ? -1 : 1;
	if (x->where.column != y->where.column)
		return x->where.column < y->where.column ? -1 : 1;
	return strcmp(x->text, y->text);
}

int complaints_tell(struct complaints *c, struct error *err)
{
	_cleanup_strbuf_ struct strbuf b = {0};

	if (!c->n)
		return 0;
	qsort(c->list, c->n, sizeof(*c->list), by_place);
	for (size_t i = 0; i < c->n; i++) {
		const struct complaint *one = &c->list[i];

		strbuf_printf(&b, "%s%s", i ? "\n" : "", c->file);
		if (one->where.line)
			strbuf_printf(&b, ":%u:%u", one->where.line, one->where.column);
		if (one->path[0])
			strbuf_printf(&b, ": %s", one->path);
		strbuf_printf(&b, ": %s", one->text);
	}
	if (complaints_full(c))
		strbuf_printf(&b, "\n%s: %u errors are enough: correct these and try again",
			      c->file, COMPLAINTS_MAX);
	return error_set(err, -EINVAL, "%s", strbuf_str(&b));
}

void complaints_clear(struct complaints *c)
{
	for (size_t i = 0; i < c->n; i++) {
		free(c->list[i].path);
		free(c->list[i].text);
	}
	c->n = 0;
}
