/* SPDX-License-Identifier: Apache-2.0 */
/* Places in the bytes of a file, and libyaml's complaints about them in readable form. */
#include "site/syntax.h"

#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

struct site_where syntax_where(yaml_mark_t mark)
{
	return (struct site_where){ (unsigned)mark.line + 1, (unsigned)mark.column + 1 };
}

struct site_where syntax_where_of_byte(const char *text, size_t at)
{
	struct site_where where = { 1, 1 };

	for (size_t i = 0; i < at; i++) {
		if (text[i] == '\n')
			where = (struct site_where){ where.line + 1, 1 };
		else if (((unsigned char)text[i] & 0xc0) != 0x80)
			where.column++;
	}
	return where;
}

size_t syntax_utf8_until(const char *text, size_t len)
{
	size_t at = 0;

	if (text_is_utf8(text, len))
		return len;
	while (at < len) {
		const char *end = memchr(text + at, '\n', len - at);
		size_t line = end ? (size_t)(end - text) + 1 - at : len - at;

		if (!text_is_utf8(text + at, line))
			break;
		at += line;
	}
	while (at < len) {
		size_t size = 1;

		while (size <= 4 && !(size <= len - at && text_is_utf8(text + at, size)))
			size++;
		if (size > 4)
			break;
		at += size;
	}
	return at;
}

/* First byte of the character at a mark, 0 when there is none. */
static char byte_at(const char *text, size_t len, yaml_mark_t mark)
{
	const char *line = text, *end = text + len;

	for (size_t i = 0; line && i < mark.line; i++) {
		line = memchr(line, '\n', (size_t)(end - line));
		line = line ? line + 1 : NULL;
	}
	if (!line)
		return 0;
	for (size_t column = 0; line < end; line++) {
		if (((unsigned char)*line & 0xc0) == 0x80)
			continue;
		if (column++ == mark.column)
			return *line;
	}
	return 0;
}

static const char *hint_of(const yaml_parser_t *p, const char *text, size_t len)
{
	if (byte_at(text, len, p->problem_mark) == '\t')
		return "; a tab cannot indent in YAML";
	if (p->problem && strstr(p->problem, "mapping values are not allowed"))
		return "; a value with ': ' in it needs quotes, and keys of one map begin in one "
		       "column";
	return "";
}

void syntax_complain(const yaml_parser_t *p, const char *text, size_t len, struct complaints *c)
{
	const char *problem = p->problem ? p->problem : "not YAML";
	struct site_where where = syntax_where(p->problem_mark);

	if (p->error == YAML_MEMORY_ERROR)
		alloc_exhausted();
	if (p->error == YAML_READER_ERROR) {
		size_t at = p->problem_offset < len ? p->problem_offset : len;

		complain(c, syntax_where_of_byte(text, at), NULL, "%s", problem);
		return;
	}
	const char *hint = hint_of(p, text, len);
	if (p->context && p->context_mark.line != p->problem_mark.line)
		complain(c, where, NULL, "%s (%s that begins in line %zu)%s", problem, p->context,
			 p->context_mark.line + 1, hint);
	else
		complain(c, where, NULL, "%s%s%s%s", problem, p->context ? " " : "",
			 p->context ? p->context : "", hint);
}
