/* SPDX-License-Identifier: Apache-2.0 */
#include "prove/perftest_output.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/text.h"

/* Nothing that it measures is as large: more is a line that was misread. */
#define VALUE_MAX 1e15
#define COLUMNS_MAX 16u
#define REASON_LINES 3
#define REASON_BYTES 300u

/* A heading, and where its number goes; NULL headings end a table. */
struct column {
	const char *heading;
	bool kept;
	size_t offset;		/* in struct perftest_measured, of a double, or a uint64_t ... */
	double scale;		/* ... if this is 0 */
};

#define TO(member, factor)                                                                     \
	.kept = true, .offset = offsetof(struct perftest_measured, member), .scale = (factor)

static const struct column bandwidth_columns[] = {
	{ "#bytes", TO(size_bytes, 0) },
	{ "#iterations", TO(iterations, 0) },
	{ "BW peak[Gb/sec]", .kept = false },
	{ "BW average[Gb/sec]", TO(gbit_per_s, 1) },
	{ "MsgRate[Mpps]", TO(messages_per_s, 1e6) },
	{ NULL },
};

static const struct column latency_columns[] = {
	{ "#bytes", TO(size_bytes, 0) },
	{ "#iterations", TO(iterations, 0) },
	{ "t_min[usec]", TO(min_ns, 1e3) },
	{ "t_max[usec]", TO(max_ns, 1e3) },
	{ "t_typical[usec]", TO(median_ns, 1e3) },
	{ "t_avg[usec]", .kept = false },
	{ "t_stdev[usec]", .kept = false },
	{ "99% percentile[usec]", TO(p99_ns, 1e3) },
	{ "99.9% percentile[usec]", TO(p99_9_ns, 1e3) },
	{ NULL },
};

/* --- headings --------------------------------------------------------------------------------- */

static const struct column *heading_at(const struct column *columns, const char *text)
{
	for (const struct column *c = columns; c->heading; c++) {
		if (text_starts_with(text, c->heading))
			return c;
	}
	return NULL;
}

/* The columns of a line of headings in their order. Their number; 0: it is no such line, or has a
 * heading that is not known, whose number could not be told from the next one, or one twice. */
static size_t headings_read(const struct column *columns, const char *line,
			    const struct column *order[COLUMNS_MAX])
{
	size_t n = 0;

	while (*(line += strspn(line, " \t"))) {
		const struct column *c = heading_at(columns, line);

		if (!c || n == COLUMNS_MAX)
			return 0;
		for (size_t i = 0; i < n; i++) {
			if (order[i] == c)
				return 0;
		}
		order[n++] = c;
		line += strlen(c->heading);
	}
	return n;
}

static bool headings_complete(const struct column *columns, const struct column *const *order,
			      size_t n)
{
	for (const struct column *c = columns; c->heading; c++) {
		size_t i = 0;

		while (i < n && order[i] != c)
			i++;
		if (c->kept && i == n)
			return false;
	}
	return true;
}

/* --- numbers ---------------------------------------------------------------------------------- */

static bool number_read(struct perftest_measured *m, const struct column *c, const char *word)
{
	char *end;

	if (c->kept && c->scale == 0) {
		uint64_t *to = (uint64_t *)(void *)((char *)m + c->offset);

		return text_to_u64(word, 10, to) == 0 && (double)*to < VALUE_MAX;
	}
	/* neither hexadecimal nor "inf" */
	if (word[strspn(word, "0123456789.")])
		return false;
	double value = strtod(word, &end);
	if (end == word || *end || !(value < VALUE_MAX))
		return false;
	if (c->kept)
		*(double *)(void *)((char *)m + c->offset) = value * c->scale;
	return true;
}

static bool numbers_read(struct perftest_measured *m, const struct column *const *order, size_t n,
			 char *line)
{
	size_t i = 0;

	for (char *word; (word = text_next_word(&line)); i++) {
		if (i == n || !number_read(m, order[i], word))
			return false;
	}
	return i == n;
}

static bool possible(const struct perftest_measured *m, bool latency)
{
	if (!m->size_bytes || !m->iterations)
		return false;
	if (!latency)
		return m->gbit_per_s > 0 && m->messages_per_s >= 0;
	return m->min_ns >= 0 && m->min_ns <= m->median_ns && m->median_ns > 0 &&
	       m->median_ns <= m->p99_ns && m->p99_ns <= m->p99_9_ns && m->p99_9_ns <= m->max_ns;
}

int perftest_output_read(struct perftest_measured *m, bool latency, const char *text,
			 struct error *err)
{
	const struct column *columns = latency ? latency_columns : bandwidth_columns;
	const struct column *order[COLUMNS_MAX];
	_cleanup_free_ char *copy = xstrdup(text);
	size_t n = 0;

	for (char *cursor = copy, *line; (line = text_next_line(&cursor));) {
		*m = (struct perftest_measured){0};
		if (n && numbers_read(m, order, n, line))
			return possible(m, latency) ? 0 :
			       error_set(err, -EPROTO, "perftest's table has numbers that cannot be");
		n = headings_read(columns, line, order);
		if (!headings_complete(columns, order, n))
			n = 0;
	}
	return error_set(err, -EPROTO, "perftest printed no table of a result");
}

/* --- why not ---------------------------------------------------------------------------------- */

static bool is_rule(const char *line)
{
	return !line[strspn(line, "-*= \t")];
}

/* The first lines: the cause stands before what followed of it. */
static void reason_add(struct strbuf *reason, const char *text, size_t len, int lines)
{
	_cleanup_free_ char *copy = xstrndup(text, len);

	for (char *cursor = copy, *line; lines && (line = text_next_line(&cursor));) {
		line = text_trim(line);
		if (is_rule(line))
			continue;
		_cleanup_free_ char *safe = text_printable(line, strlen(line));
		strbuf_printf(reason, "%s%s", reason->len ? "; " : "", safe);
		lines--;
	}
}

/* Of standard output, which has headings and settings too, the last line. */
static const char *last_line(const char *text)
{
	size_t len = strlen(text);

	for (;;) {
		while (len && text[len - 1] == '\n')
			len--;
		size_t end = len;
		while (len && text[len - 1] != '\n')
			len--;
		_cleanup_free_ char *line = xstrndup(text + len, end - len);
		if (!len || !is_rule(line))
			return text + len;
	}
}

char *perftest_output_reason(const char *errors, const char *text)
{
	struct strbuf reason = {0};

	reason_add(&reason, errors, strnlen(errors, REASON_BYTES), REASON_LINES);
	if (!reason.len) {
		const char *line = last_line(text);

		reason_add(&reason, line, strnlen(line, REASON_BYTES), 1);
	}
	return reason.s ? strbuf_steal(&reason) : xstrdup("");
}
