/* SPDX-License-Identifier: Apache-2.0 */
/* Quoting of shell words, keyfile values, HTML text and comments. */
#include "render/format.h"

#include <string.h>

#include "base/alloc.h"

#define LETTERS_AND_DIGITS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

bool format_is_word(const char *text)
{
	return text[0] && text[0] != '-' && !text[strspn(text, LETTERS_AND_DIGITS "._/:-")];
}

void format_shell(struct strbuf *b, const char *text)
{
	/* POSIX.1-2017 XCU 2.2: none of these is special anywhere in a word */
	if (text[0] && !text[strspn(text, LETTERS_AND_DIGITS "._/:,+@%-")]) {
		strbuf_puts(b, text);
		return;
	}
	strbuf_putc(b, '\'');
	for (const char *s = text; *s; s++) {
		if (*s == '\'')
			strbuf_puts(b, "'\\''");
		else
			strbuf_putc(b, *s);
	}
	strbuf_putc(b, '\'');
}

/* glib/gkeyfile.c, g_key_file_parse_string_as_value(): blanks are escaped where they lead */
void format_keyfile(struct strbuf *b, const char *key, const char *value)
{
	bool leading = true;

	strbuf_printf(b, "%s=", key);
	for (const char *s = value; *s; s++) {
		bool blank = *s == ' ' || *s == '\t';

		if (blank && leading)
			strbuf_puts(b, *s == ' ' ? "\\s" : "\\t");
		else if (*s == '\n')
			strbuf_puts(b, "\\n");
		else if (*s == '\r')
			strbuf_puts(b, "\\r");
		else if (*s == '\\')
			strbuf_puts(b, "\\\\");
		else
			strbuf_putc(b, *s);
		leading = leading && blank;
	}
	strbuf_putc(b, '\n');
}

void format_html(struct strbuf *b, const char *text)
{
	for (const char *s = text; *s; s++) {
		switch (*s) {
		case '&':
			strbuf_puts(b, "&amp;");
			break;
		case '<':
			strbuf_puts(b, "&lt;");
			break;
		case '>':
			strbuf_puts(b, "&gt;");
			break;
		case '"':
			strbuf_puts(b, "&quot;");
			break;
		case '\'':
			strbuf_puts(b, "&#39;");
			break;
		default:
			strbuf_putc(b, *s);
		}
	}
}

/* Bytes of a character that ends a line for some reader (YAML 1.1: NEL, LS and PS) or that a
 * terminal would obey; 0 for any other. */
static size_t comment_breaker(const char *s)
{
	const unsigned char *u = (const unsigned char *)s;

	if ((u[0] < 0x20 && u[0] != '\t') || u[0] == 0x7f)
		return 1;
	if (u[0] == 0xc2 && u[1] >= 0x80 && u[1] < 0xa0)
		return 2;
	return u[0] == 0xe2 && u[1] == 0x80 && (u[2] == 0xa8 || u[2] == 0xa9) ? 3 : 0;
}

void format_comment(struct strbuf *b, const char *text)
{
	do {
		size_t len = strcspn(text, "\n");
		const char *end = text + len;

		strbuf_puts(b, len ? "# " : "#");
		while (text < end) {
			size_t n = comment_breaker(text);

			if (n)
				strbuf_putc(b, '?');
			else
				strbuf_putc(b, *text);
			text += n ? n : 1;
		}
		strbuf_putc(b, '\n');
		text = *end ? end + 1 : end;
	} while (*text);
}
