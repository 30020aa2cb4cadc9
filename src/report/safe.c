/* SPDX-License-Identifier: Apache-2.0 */
/* Text that is safe to show, and the columns it takes. */
#include <langinfo.h>
#include <locale.h>
#include <stdint.h>
#include <string.h>
#include <wchar.h>

#include "report/internal.h"

/*
 * One character of UTF-8 (RFC 3629: no overlong forms, no surrogates, at most U+10FFFF). Returns
 * its length in bytes, 0 when the bytes are not UTF-8.
 */
static size_t decode(const char *s, size_t len, uint32_t *out)
{
	const unsigned char *b = (const unsigned char *)s;
	static const uint32_t lowest[] = {0, 0, 0x80, 0x800, 0x10000};
	uint32_t c;
	size_t n;

	if (!len)
		return 0;
	if (b[0] < 0x80) {
		*out = b[0];
		return 1;
	}
	if (b[0] >= 0xc2 && b[0] <= 0xdf) {
		n = 2;
		c = b[0] & 0x1fu;
	} else if ((b[0] & 0xf0) == 0xe0) {
		n = 3;
		c = b[0] & 0x0fu;
	} else if (b[0] >= 0xf0 && b[0] <= 0xf4) {
		n = 4;
		c = b[0] & 0x07u;
	} else {
		return 0;
	}
	if (len < n)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if ((b[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (b[i] & 0x3fu);
	}
	if (c < lowest[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*out = c;
	return n;
}

/* Characters beyond ASCII that act on their surroundings instead of being seen. */
static bool acts(uint32_t c)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{0x80, 0x9f},		/* C1 controls: U+009B is CSI to many terminals */
		{0x61c, 0x61c},		/* Arabic letter mark */
		{0x200e, 0x200f},	/* direction marks */
		{0x2028, 0x202e},	/* separators, embeddings, overrides */
		{0x2060, 0x206f},	/* invisible operators, isolates */
		{0xfeff, 0xfeff},	/* byte order mark */
		{0xfff9, 0xfffb},	/* annotation */
		{0xfffe, 0xffff},	/* noncharacters, which XML 1.0 refuses */
		{0xe0000, 0xe0fff},	/* tags, invisible */
	};

	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++) {
		if (c >= ranges[i].first && c <= ranges[i].last)
			return true;
	}
	return (c & 0xfffe) == 0xfffe;	/* the last two of every plane */
}

bool safe_is_clean(const char *s, size_t len)
{
	for (size_t i = 0; i < len;) {
		uint32_t c;
		size_t n = decode(s + i, len - i, &c);

		if (!n || (c < 0x20 && c != '\n') || c == 0x7f || (c > 0x7f && acts(c)))
			return false;
		i += n;
	}
	return true;
}

char *safe_textn(const char *s, size_t len)
{
	struct strbuf b = {0};

	for (size_t i = 0; i < len;) {
		uint32_t c;
		size_t n = decode(s + i, len - i, &c);

		if (!n) {
			strbuf_printf(&b, "\\x%02x", (unsigned char)s[i]);
			n = 1;
		} else if (c == '\t') {
			strbuf_putc(&b, ' ');
		} else if (c == '\r' && i + 1 < len && s[i + 1] == '\n') {
			/* the newline follows */
		} else if ((c < 0x20 && c != '\n') || c == 0x7f) {
			strbuf_printf(&b, "\\x%02x", (unsigned)c);
		} else if (c > 0x7f && acts(c)) {
			strbuf_printf(&b, "\\u{%04x}", (unsigned)c);
		} else {
			strbuf_add(&b, s + i, n);
		}
		i += n;
	}
	return strbuf_steal(&b);
}

char *safe_text(const char *s)
{
	return safe_textn(s ? s : "", s ? strlen(s) : 0);
}

char *safe_ascii(const char *s)
{
	static const struct {
		uint32_t c;
		const char *ascii;
	} spellings[] = {
		{0xa0, " "},	   {0xb7, "-"},	     {0xd7, "x"},      {0x2013, "-"},
		{0x2014, "-"},	   {0x2018, "'"},    {0x2019, "'"},    {0x201c, "\""},
		{0x201d, "\""},	   {0x2026, "..."},  {0x2190, "<-"},   {0x2192, "->"},
		{0x2194, "<->"},   {0x2264, "<="},   {0x2265, ">="},   {0x2260, "!="},
	};
	struct strbuf b = {0};
	size_t len = strlen(s);

	for (size_t i = 0; i < len;) {
		uint32_t c = 0;
		size_t n = decode(s + i, len - i, &c), k = 0;

		while (k < ARRAY_SIZE(spellings) && spellings[k].c != c)
			k++;
		if (!n) {
			strbuf_printf(&b, "\\x%02x", (unsigned char)s[i]);
			n = 1;
		} else if (c < 0x80) {
			strbuf_putc(&b, (char)c);
		} else if (k < ARRAY_SIZE(spellings)) {
			strbuf_puts(&b, spellings[k].ascii);
		} else {
			strbuf_printf(&b, "\\u{%04x}", (unsigned)c);
		}
		i += n;
	}
	return strbuf_steal(&b);
}

void width_enter(struct width_scope *scope)
{
	locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);

	scope->utf8 = utf8;
	scope->previous = utf8 ? uselocale(utf8) : NULL;
}

void width_leave(struct width_scope *scope)
{
	if (!scope->utf8)
		return;
	uselocale((locale_t)scope->previous);
	freelocale((locale_t)scope->utf8);
	scope->utf8 = NULL;
}

unsigned width_of(const char *s, size_t len)
{
	unsigned columns = 0;

	for (size_t i = 0; i < len;) {
		uint32_t c;
		size_t n = decode(s + i, len - i, &c);
		int w = 1;

		if (n > 1)
			w = wcwidth((wchar_t)c);
		/* -1: a character newer than this C library; terminals show most of them in one */
		columns += w < 0 ? 1 : (unsigned)w;
		i += n ? n : 1;
	}
	return columns;
}

bool report_locale_is_utf8(void)
{
	locale_t here = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	bool utf8;

	if (!here)
		return false;
	utf8 = strcmp(nl_langinfo_l(CODESET, here), "UTF-8") == 0;
	freelocale(here);
	return utf8;
}
