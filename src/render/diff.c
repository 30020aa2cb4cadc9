/* SPDX-License-Identifier: Apache-2.0 */
#include "render/diff.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"

#define CONTEXT 3
/* Lines deleted and inserted of a script that is searched for; its trace has half the square of
 * it. */
#define EDITS_MAX 1000

struct line {
	const char *s;
	size_t len;	/* with its newline, which the last line may lack */
};

struct lines {
	struct line *line;
	size_t n, capacity;
};

/* What becomes of the lines: `gone` of the text before, `new` of the text after. */
struct edits {
	struct lines before, after;
	bool *gone, *new;
};

static void lines_split(struct lines *lines, const struct diff_text *text)
{
	const char *s = text->data, *end = text->data + text->len;

	while (s < end) {
		const char *newline = memchr(s, '\n', (size_t)(end - s));
		size_t len = newline ? (size_t)(newline - s) + 1 : (size_t)(end - s);

		array_reserve(lines->line, lines->n, lines->capacity);
		lines->line[lines->n++] = (struct line){ s, len };
		s += len;
	}
}

static bool same(const struct edits *e, size_t i, size_t j)
{
	const struct line *a = &e->before.line[i], *b = &e->after.line[j];

	return a->len == b->len && !memcmp(a->s, b->s, a->len);
}

/* Walk back along the furthest paths that were noted for each number of edits. `i` and `j` are
 * offsets of the part that is compared. */
static void trace_back(struct edits *e, int **trace, int edits, int x, int y, size_t i, size_t j)
{
	for (int d = edits; d > 0; d--) {
		const int *v = trace[d - 1] + d - 1;	/* diagonals -(d-1) … d-1 */
		int k = x - y;
		bool down = k == -d || (k != d && v[k - 1] < v[k + 1]);
		int before = down ? k + 1 : k - 1;

		x = v[before];
		y = x - before;
		if (down)
			e->new[j + (size_t)y] = true;
		else
			e->gone[i + (size_t)x] = true;
	}
}

/* Myers' greedy search on lines [i, i+n) and [j, j+m). False: more than EDITS_MAX edits. */
static bool search(struct edits *e, size_t i, int n, size_t j, int m)
{
	int limit = n + m < EDITS_MAX ? n + m : EDITS_MAX;
	int **trace = xcalloc((size_t)limit + 1, sizeof(*trace));
	bool found = false;
	int d;

	for (d = 0; d <= limit && !found; d++) {
		int *v = xcalloc(2 * (size_t)d + 1, sizeof(*v));
		const int *last = d ? trace[d - 1] + d - 1 : NULL;

		trace[d] = v;
		v += d;
		for (int k = -d; k <= d; k += 2) {
			int x = 0;

			if (d) {
				bool down = k == -d || (k != d && last[k - 1] < last[k + 1]);

				x = down ? last[k + 1] : last[k - 1] + 1;
			}
			while (x < n && x - k < m && same(e, i + (size_t)x, j + (size_t)(x - k)))
				x++;
			v[k] = x;
			if (x == n && x - k == m) {
				found = true;
				trace_back(e, trace, d, x, x - k, i, j);
				break;
			}
		}
	}
	for (int t = 0; t < d; t++)
		free(trace[t]);
	free(trace);
	return found;
}

static void compare(struct edits *e)
{
	size_t n = e->before.n, m = e->after.n, head = 0;

	while (head < n && head < m && same(e, head, head))
		head++;
	while (n > head && m > head && same(e, n - 1, m - 1))
		n--, m--;
	n -= head;
	m -= head;
	if (n <= INT32_MAX / 4 && m <= INT32_MAX / 4 && search(e, head, (int)n, head, (int)m))
		return;
	memset(e->gone + head, true, n);
	memset(e->new + head, true, m);
}

static void print_line(struct strbuf *out, char sign, const struct line *line)
{
	strbuf_putc(out, sign);
	strbuf_add(out, line->s, line->len);
	if (line->s[line->len - 1] != '\n')
		strbuf_puts(out, "\n\\ No newline at end of file\n");
}

/* "3", "3,2"; an empty range stands behind the line before it. */
static void print_range(struct strbuf *out, char sign, size_t start, size_t n)
{
	strbuf_printf(out, "%c%zu", sign, n ? start + 1 : start);
	if (n != 1)
		strbuf_printf(out, ",%zu", n);
}

static bool equal_at(const struct edits *e, size_t i, size_t j)
{
	return i < e->before.n && j < e->after.n && !e->gone[i] && !e->new[j];
}

/* The end of the hunk that begins at i, j: where more equal lines follow than two contexts. */
static void hunk_end(const struct edits *e, size_t *i, size_t *j)
{
	while (*i < e->before.n || *j < e->after.n) {
		size_t equal = 0;

		while (equal_at(e, *i + equal, *j + equal))
			equal++;
		bool last = *i + equal == e->before.n && *j + equal == e->after.n;
		if (equal > 2 * CONTEXT || last) {
			equal = equal < CONTEXT ? equal : CONTEXT;
			*i += equal;
			*j += equal;
			return;
		}
		*i += equal;
		*j += equal;
		while (*i < e->before.n && e->gone[*i])
			++*i;
		while (*j < e->after.n && e->new[*j])
			++*j;
	}
}

static void print_hunk(struct strbuf *out, const struct edits *e, size_t i, size_t j, size_t i_end,
		       size_t j_end)
{
	strbuf_puts(out, "@@ ");
	print_range(out, '-', i, i_end - i);
	strbuf_putc(out, ' ');
	print_range(out, '+', j, j_end - j);
	strbuf_puts(out, " @@\n");
	while (i < i_end || j < j_end) {
		if (i < i_end && e->gone[i]) {
			print_line(out, '-', &e->before.line[i++]);
		} else if (j < j_end && e->new[j]) {
			print_line(out, '+', &e->after.line[j++]);
		} else {
			print_line(out, ' ', &e->before.line[i++]);
			j++;
		}
	}
}

void diff_unified(struct strbuf *out, const struct diff_text *before, const struct diff_text *after)
{
	struct edits e = {0};
	size_t i = 0, j = 0;

	if (before->len == after->len && !memcmp(before->data, after->data, before->len))
		return;
	lines_split(&e.before, before);
	lines_split(&e.after, after);
	e.gone = xcalloc(e.before.n + 1, sizeof(*e.gone));
	e.new = xcalloc(e.after.n + 1, sizeof(*e.new));
	compare(&e);
	strbuf_printf(out, "--- %s\n+++ %s\n", before->name ? before->name : "/dev/null",
		      after->name ? after->name : "/dev/null");
	while (i < e.before.n || j < e.after.n) {
		if (equal_at(&e, i, j)) {
			i++;
			j++;
			continue;
		}
		size_t context = i < j ? i : j;

		context = context < CONTEXT ? context : CONTEXT;
		i -= context;
		j -= context;
		size_t i_end = i, j_end = j;
		hunk_end(&e, &i_end, &j_end);
		print_hunk(out, &e, i, j, i_end, j_end);
		i = i_end;
		j = j_end;
	}
	free(e.before.line);
	free(e.after.line);
	free(e.gone);
	free(e.new);
}
