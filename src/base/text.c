/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/strbuf.h"

static bool only_space(const char *s)
{
	while (isspace((unsigned char)*s))
		s++;
	return !*s;
}

int text_to_u64(const char *s, int base, uint64_t *value)
{
	char *end;

	while (isspace((unsigned char)*s))
		s++;
	if (*s == '-')
		return -EINVAL;	/* strtoull would wrap it around */
	errno = 0;
	unsigned long long v = strtoull(s, &end, base);
	if (end == s || !only_space(end))
		return -EINVAL;
	if (errno)
		return -ERANGE;
	*value = v;
	return 0;
}

int text_to_i64(const char *s, int base, int64_t *value)
{
	char *end;

	errno = 0;
	long long v = strtoll(s, &end, base);
	if (end == s || !only_space(end))
		return -EINVAL;
	if (errno)
		return -ERANGE;
	*value = v;
	return 0;
}

char *text_trim(char *s)
{
	while (isspace((unsigned char)*s))
		s++;
	size_t len = strlen(s);
	while (len && isspace((unsigned char)s[len - 1]))
		s[--len] = '\0';
	return s;
}

char *text_next_line(char **cursor)
{
	char *line = *cursor;

	if (!line || !*line)
		return NULL;
	char *end = strchr(line, '\n');
	if (end) {
		*end = '\0';
		*cursor = end + 1;
	} else {
		*cursor = line + strlen(line);
	}
	return line;
}

char *text_next_word(char **cursor)
{
	char *s = *cursor;

	while (isspace((unsigned char)*s))
		s++;
	if (!*s) {
		*cursor = s;
		return NULL;
	}
	char *word = s;
	while (*s && !isspace((unsigned char)*s))
		s++;
	if (*s)
		*s++ = '\0';
	*cursor = s;
	return word;
}

bool text_starts_with(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

bool text_ends_with(const char *s, const char *suffix)
{
	size_t len = strlen(s), n = strlen(suffix);

	return len >= n && !strcmp(s + len - n, suffix);
}

/* Length of a run of digits without leading zeros; `*start` is moved past them. */
static size_t digits(const char **start)
{
	size_t n = 0;

	while (**start == '0' && isdigit((unsigned char)(*start)[1]))
		(*start)++;
	while (isdigit((unsigned char)(*start)[n]))
		n++;
	return n;
}

int text_version_compare(const char *a, const char *b)
{
	while (*a && *b) {
		if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
			size_t na = digits(&a), nb = digits(&b);

			if (na != nb)
				return na < nb ? -1 : 1;
			int d = strncmp(a, b, na);
			if (d)
				return d;
			a += na;
			b += nb;
		} else {
			if (*a != *b)
				return (unsigned char)*a - (unsigned char)*b;
			a++;
			b++;
		}
	}
	return (unsigned char)*a - (unsigned char)*b;
}

const char *text_version_number(const char *version)
{
	return version && version[0] == 'v' ? version + 1 : version;
}

/* Length of the UTF-8 sequence at `s` (RFC 3629), 0 when it is not valid. Fills `*code`. */
static size_t utf8_sequence(const unsigned char *s, size_t len, uint32_t *code)
{
	static const struct {
		unsigned char mask, lead;
		uint32_t lowest;
	} forms[] = {
		{ 0x80, 0x00, 0 },
		{ 0xe0, 0xc0, 0x80 },
		{ 0xf0, 0xe0, 0x800 },
		{ 0xf8, 0xf0, 0x10000 },
	};

	for (size_t n = 1; n <= ARRAY_SIZE(forms); n++) {
		if ((s[0] & forms[n - 1].mask) != forms[n - 1].lead)
			continue;
		if (n > len)
			return 0;
		uint32_t c = s[0] & (unsigned char)~forms[n - 1].mask;
		for (size_t i = 1; i < n; i++) {
			if ((s[i] & 0xc0) != 0x80)
				return 0;
			c = c << 6 | (s[i] & 0x3fu);
		}
		if (c < forms[n - 1].lowest || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
			return 0;
		*code = c;
		return n;
	}
	return 0;
}

bool text_is_utf8(const char *s, size_t len)
{
	uint32_t code;

	while (len) {
		size_t n = utf8_sequence((const unsigned char *)s, len, &code);

		if (!n)
			return false;
		s += n;
		len -= n;
	}
	return true;
}

char *text_printable(const char *s, size_t len)
{
	struct strbuf out = {0};

	while (len) {
		uint32_t code = 0;
		size_t n = utf8_sequence((const unsigned char *)s, len, &code);
		/* C0, DEL and C1: a terminal would obey them */
		bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);

		if (n && (!control || code == '\n' || code == '\t')) {
			strbuf_add(&out, s, n);
		} else {
			n = n ? n : 1;
			for (size_t i = 0; i < n; i++)
				strbuf_printf(&out, "\\x%02x", (unsigned char)s[i]);
		}
		s += n;
		len -= n;
	}
	return strbuf_steal(&out);
}

/* Optimal string alignment distance (one transposition counts 1), of short words. */
static size_t distance(const char *a, const char *b)
{
	size_t la = strlen(a), lb = strlen(b);
	size_t width = lb + 1;
	_cleanup_free_ size_t *d = xcalloc((la + 1) * width, sizeof(*d));

	for (size_t i = 0; i <= la; i++)
		d[i * width] = i;
	for (size_t j = 0; j <= lb; j++)
		d[j] = j;
	for (size_t i = 1; i <= la; i++) {
		for (size_t j = 1; j <= lb; j++) {
			size_t cost = a[i - 1] == b[j - 1] ? 0 : 1;
			size_t best = d[(i - 1) * width + j - 1] + cost;

			if (d[(i - 1) * width + j] + 1 < best)
				best = d[(i - 1) * width + j] + 1;
			if (d[i * width + j - 1] + 1 < best)
				best = d[i * width + j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    d[(i - 2) * width + j - 2] + 1 < best)
				best = d[(i - 2) * width + j - 2] + 1;
			d[i * width + j] = best;
		}
	}
	return d[la * width + lb];
}

const char *text_nearest(const char *word, const char *const *candidates, size_t n)
{
	const char *best = NULL;
	size_t best_distance = 0;

	if (strlen(word) > 64)
		return NULL;	/* no key is that long; keeps the distance table small */
	for (size_t i = 0; i < n; i++) {
		size_t d = distance(word, candidates[i]);

		if (!best || d < best_distance) {
			best = candidates[i];
			best_distance = d;
		}
	}
	/* a short word with every letter replaced is another word */
	if (!best || best_distance >= strlen(best) ||
	    (best_distance > 2 && best_distance * 3 > strlen(best)))
		return NULL;
	return best;
}
