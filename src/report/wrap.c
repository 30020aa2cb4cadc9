/* SPDX-License-Identifier: Apache-2.0 */
/* Text in lines of a given number of columns, with a hanging indent. */
#include <string.h>

#include "report/internal.h"

static const char *const sgr[] = {
	[WRAP_PLAIN] = "",	[WRAP_BOLD] = "\033[1m",   [WRAP_DIM] = "\033[2m",
	[WRAP_GREEN] = "\033[32m",  [WRAP_YELLOW] = "\033[33m", [WRAP_RED] = "\033[1;31m",
	[WRAP_BLUE] = "\033[34m", [WRAP_MAGENTA] = "\033[35m",
};

struct wrap wrap_of(struct strbuf *out, const struct report_options *options)
{
	return (struct wrap){
		.out = out,
		/* below 40 columns the indents alone would fill the line */
		.width = options->width && options->width < 40 ? 40 : options->width,
		.colour = options->colour,
		.ascii = options->ascii,
	};
}

static void put_blanks(struct wrap *w, unsigned n)
{
	w->column += n;
	while (n--)
		strbuf_putc(w->out, ' ');
}

static void break_line(struct wrap *w, unsigned indent)
{
	strbuf_putc(w->out, '\n');
	w->column = 0;
	w->blanks = indent;
}

static void put_styled(struct wrap *w, enum wrap_style style, const char *s, size_t len)
{
	bool colour = w->colour && style != WRAP_PLAIN;

	if (colour)
		strbuf_puts(w->out, sgr[style]);
	strbuf_add(w->out, s, len);
	if (colour)
		strbuf_puts(w->out, "\033[0m");
	w->column += width_of(s, len);
}

/* Bytes of `s` that fit into `columns`; at least one character. Combining ones stay with theirs. */
static size_t fitting(const char *s, size_t len, unsigned columns)
{
	size_t fit = 0;

	for (size_t i = 0; i < len;) {
		size_t n = 1;

		while (i + n < len && ((unsigned char)s[i + n] & 0xc0) == 0x80)
			n++;
		if (fit && width_of(s, i + n) > columns)
			break;
		i += n;
		fit = i;
	}
	/* a path is best cut in front of one of its slashes */
	for (size_t i = fit; i > fit / 4 && fit < len; i--) {
		if (s[i] == '/')
			return i;
	}
	return fit;
}

static void put_word(struct wrap *w, enum wrap_style style, const char *s, size_t len,
		     unsigned indent)
{
	unsigned columns = width_of(s, len);
	bool at_start = w->column == 0;

	if (w->width && !at_start && w->column + w->blanks + columns > w->width &&
	    w->column > indent)
		break_line(w, indent);
	put_blanks(w, w->blanks);
	w->blanks = 0;
	/* longer than a whole line: there is no good place to break it */
	while (w->width && w->column + columns > w->width && w->column < w->width) {
		size_t n = fitting(s, len, w->width - w->column);

		if (n >= len)
			break;
		put_styled(w, style, s, n);
		s += n;
		len -= n;
		columns = width_of(s, len);
		break_line(w, indent);
		put_blanks(w, w->blanks);
		w->blanks = 0;
	}
	put_styled(w, style, s, len);
}

void wrap_put(struct wrap *w, enum wrap_style style, const char *text)
{
	_cleanup_free_ char *ascii = w->ascii ? safe_ascii(text) : NULL;
	const char *s = ascii ? ascii : text;
	unsigned indent = w->indent;

	while (*s) {
		size_t n = strcspn(s, " \n");

		if (n) {
			put_word(w, style, s, n, indent);
			s += n;
		} else if (*s == '\n') {
			n = strspn(s + 1, " ");
			/* the indent of a line of the text holds for its continuations too */
			indent = w->indent + (unsigned)(n < 24 ? n : 24);
			break_line(w, indent);
			s += 1 + n;
		} else {
			w->blanks++;
			s++;
		}
	}
}

void wrap_putf(struct wrap *w, enum wrap_style style, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	_cleanup_free_ char *text = xvasprintf(fmt, ap);
	va_end(ap);
	wrap_put(w, style, text);
}

void wrap_to(struct wrap *w, unsigned column)
{
	if (w->column + w->blanks < column)
		w->blanks = column - w->column;
	else if (w->column && !w->blanks)
		w->blanks = 1;
}

void wrap_end(struct wrap *w)
{
	strbuf_putc(w->out, '\n');
	w->column = 0;
	w->blanks = 0;
}
