/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two forms of the runbook. Markdown is CommonMark; text of the site is escaped there, and in a
 * code span it stands between as many backticks as it needs. The page is HTML without a script.
 */
#include "render/runbook.h"

#include <stdarg.h>
#include <string.h>

#include "base/text.h"
#include "render/format.h"

#define ARGUMENTS_MAX 10

static const struct {
	const char *en, *ko;
} phrases[PHRASES] = {
#define PHRASE(id, english, korean) [PHRASE_##id] = { english, korean },
#include "render/runbook_phrases.h"
#undef PHRASE
};

const char *phrase_text(enum phrase phrase, bool korean)
{
	const char *text = korean ? phrases[phrase].ko : phrases[phrase].en;

	return text ? text : "";
}

bool book_has(const struct runbook *b, const char *path)
{
	return json_object_get(b->paths, path) != NULL;
}

/* --- inline ----------------------------------------------------------------------------------- */

/* Longest run of backticks. */
static size_t longest_run(const char *text)
{
	size_t longest = 0, run = 0;

	for (const char *s = text; *s; s++) {
		run = *s == '`' ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	return longest;
}

static void put_repeated(struct strbuf *b, char c, size_t n)
{
	while (n--)
		strbuf_putc(b, c);
}

/* A relative reference: what could mean something in an address is %-coded. */
static void put_address(struct strbuf *b, const char *path)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789._/-";

	for (const char *s = path; *s; s++) {
		if (strchr(plain, *s))
			strbuf_putc(b, *s);
		else
			strbuf_printf(b, "%%%02X", (unsigned char)*s);
	}
}

static void put_code(struct runbook *b, const char *text)
{
	_cleanup_free_ char *safe = text_printable(text, strlen(text));
	size_t fence = longest_run(safe) + 1;
	/* CommonMark 6.1: one blank is taken off both ends, and an edge backtick needs it */
	const char *pad = fence > 1 || safe[0] == ' ' ? " " : "";
	bool link = book_has(b, text);

	if (!safe[0])
		return;
	if (link) {
		strbuf_putc(b->md, '[');
		strbuf_puts(b->html, "<a href=\"");
		put_address(b->html, text);
		strbuf_puts(b->html, "\">");
	}
	put_repeated(b->md, '`', fence);
	strbuf_printf(b->md, "%s%s%s", pad, safe, pad);
	put_repeated(b->md, '`', fence);
	strbuf_puts(b->html, "<code>");
	format_html(b->html, safe);
	strbuf_puts(b->html, "</code>");
	if (link) {
		strbuf_puts(b->md, "](");
		put_address(b->md, text);
		strbuf_putc(b->md, ')');
		strbuf_puts(b->html, "</a>");
	}
}

static bool is_alphanumeric(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Would Markdown take the character at `at` for more than itself? What begins a block matters where
 * the text begins; '_' inside a word does not. */
static bool is_markup(const char *text, const char *at)
{
	if (strchr("\\`*[]<&|~$", *at))
		return true;
	if (*at == '_')
		return at == text || !is_alphanumeric(at[-1]) || !is_alphanumeric(at[1]);
	if (*at == '.' || *at == ')')
		return at > text && strspn(text, "0123456789") == (size_t)(at - text);
	return at == text && strchr("#>+-=", *at);
}

/* Text that is no phrase. CommonMark 2.4: any ASCII punctuation may be escaped. */
static void put_foreign(struct runbook *b, const char *text)
{
	_cleanup_free_ char *safe = text_printable(text, strlen(text));

	for (const char *s = safe; *s; s++) {
		if (is_markup(safe, s))
			strbuf_putc(b->md, '\\');
		strbuf_putc(b->md, *s);
	}
	format_html(b->html, safe);
}

/* A phrase with the arguments of the call, up to NULL. */
static void put_phrase(struct runbook *b, enum phrase phrase, va_list ap)
{
	const char *arguments[ARGUMENTS_MAX] = {0};
	const char *s = phrase_text(phrase, b->r->korean);
	size_t n = 0;

	for (const char *arg; (arg = va_arg(ap, const char *));) {
		if (n < ARGUMENTS_MAX)
			arguments[n++] = arg;
	}
	while (*s) {
		size_t len = strcspn(s, "`{");
		const char *end;

		_cleanup_free_ char *plain = xstrndup(s, len);

		put_foreign(b, plain);
		s += len;
		if (*s == '`' && (end = strchr(s + 1, '`'))) {
			_cleanup_free_ char *code = xasprintf("%.*s", (int)(end - s - 1), s + 1);

			put_code(b, code);
			s = end + 1;
		} else if (*s == '{') {
			unsigned index = (unsigned)(s[1] - '0');
			const char *arg = index < n ? arguments[index] : "";

			if (s[2] == '!')
				put_foreign(b, arg);
			else
				put_code(b, arg);
			s = strchr(s, '}') + 1;
		}
	}
}

/* --- blocks ----------------------------------------------------------------------------------- */

void book_list_end(struct runbook *b)
{
	if (!b->in_list)
		return;
	strbuf_puts(b->md, "\n");
	strbuf_puts(b->html, "</ul>\n");
	b->in_list = false;
}

static void step_end(struct runbook *b)
{
	book_list_end(b);
	if (b->in_step)
		strbuf_puts(b->html, "</li>\n");
	b->in_step = false;
}

static void steps_end(struct runbook *b)
{
	step_end(b);
	if (b->step)
		strbuf_puts(b->html, "</ol>\n");
	b->step = 0;
}

/* What belongs to a numbered step is indented below it: CommonMark 5.2. */
static const char *indent(const struct runbook *b)
{
	return b->in_step ? (b->step > 9 ? "    " : "   ") : "";
}

void book_end(struct runbook *b)
{
	steps_end(b);
}

void book_heading(struct runbook *b, unsigned level, const char *anchor, enum phrase phrase, ...)
{
	va_list ap;

	steps_end(b);
	if (anchor)
		strbuf_printf(b->html, "<h%u id=\"%s\">", level, anchor);
	else
		strbuf_printf(b->html, "<h%u>", level);
	if (anchor)
		strbuf_printf(b->md, "<a id=\"%s\"></a>\n\n", anchor);
	put_repeated(b->md, '#', level);
	strbuf_putc(b->md, ' ');
	va_start(ap, phrase);
	put_phrase(b, phrase, ap);
	va_end(ap);
	strbuf_puts(b->md, "\n\n");
	strbuf_printf(b->html, "</h%u>\n", level);
}

void book_say(struct runbook *b, enum phrase phrase, ...)
{
	va_list ap;

	book_list_end(b);
	strbuf_puts(b->md, indent(b));
	strbuf_puts(b->html, "<p>");
	va_start(ap, phrase);
	put_phrase(b, phrase, ap);
	va_end(ap);
	strbuf_puts(b->md, "\n\n");
	strbuf_puts(b->html, "</p>\n");
}

void book_step(struct runbook *b, enum phrase phrase, ...)
{
	va_list ap;

	step_end(b);
	if (!b->step++)
		strbuf_puts(b->html, "<ol>\n");
	strbuf_printf(b->md, "%u. ", b->step);
	strbuf_puts(b->html, "<li><p>");
	va_start(ap, phrase);
	put_phrase(b, phrase, ap);
	va_end(ap);
	strbuf_puts(b->md, "\n\n");
	strbuf_puts(b->html, "</p>\n");
	b->in_step = true;
}

void book_command(struct runbook *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	_cleanup_free_ char *text = xvasprintf(fmt, ap);
	va_end(ap);
	size_t run = longest_run(text);
	size_t fence = run < 3 ? 3 : run + 1;
	const char *margin = indent(b);
	char *cursor = text, *line;

	book_list_end(b);
	strbuf_puts(b->html, "<pre><code>");
	format_html(b->html, text);
	strbuf_puts(b->html, "</code></pre>\n");
	strbuf_puts(b->md, margin);
	put_repeated(b->md, '`', fence);
	strbuf_puts(b->md, "sh\n");
	while ((line = text_next_line(&cursor)))
		strbuf_printf(b->md, "%s%s\n", *line ? margin : "", line);
	strbuf_puts(b->md, margin);
	put_repeated(b->md, '`', fence);
	strbuf_puts(b->md, "\n\n");
}

static void item_begin(struct runbook *b)
{
	if (!b->in_list)
		strbuf_puts(b->html, "<ul>\n");
	b->in_list = true;
	strbuf_printf(b->md, "%s- ", indent(b));
	strbuf_puts(b->html, "<li>");
}

static void item_end(struct runbook *b)
{
	strbuf_puts(b->md, "\n");
	strbuf_puts(b->html, "</li>\n");
}

void book_item(struct runbook *b, enum phrase phrase, ...)
{
	va_list ap;

	item_begin(b);
	va_start(ap, phrase);
	put_phrase(b, phrase, ap);
	va_end(ap);
	item_end(b);
}

void book_item_link(struct runbook *b, const char *target, enum phrase phrase, ...)
{
	va_list ap;

	item_begin(b);
	strbuf_putc(b->md, '[');
	strbuf_printf(b->html, "<a href=\"%s\">", target);
	va_start(ap, phrase);
	put_phrase(b, phrase, ap);
	va_end(ap);
	strbuf_printf(b->md, "](%s)", target);
	strbuf_puts(b->html, "</a>");
	item_end(b);
}

void book_item_foreign(struct runbook *b, const char *code, const char *mark, const char *text)
{
	item_begin(b);
	if (code) {
		put_code(b, code);
		strbuf_putc(b->md, ' ');
		strbuf_putc(b->html, ' ');
	}
	if (mark) {
		strbuf_printf(b->md, "**%s** ", mark);
		strbuf_printf(b->html, "<strong class=\"%s\">%s</strong> ",
			      strcmp(mark, "n/a") ? mark : "na", mark);
	}
	/* judges and renderers write English */
	strbuf_puts(b->html, b->r->korean ? "<span lang=\"en\">" : "<span>");
	put_foreign(b, text);
	strbuf_puts(b->html, "</span>");
	item_end(b);
}
