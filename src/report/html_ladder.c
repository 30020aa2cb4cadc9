/* SPDX-License-Identifier: Apache-2.0 */
/* The ladder of the page: phases, verdicts on the track, the railhead. */
#include <string.h>

#include "report/html.h"

#define EVIDENCE_BYTES 2000u	/* of one value; the JSON form has all of it */

#define ALIKE_NAMED 4u

struct page {
	struct strbuf *out;
	json_t *document, *verdicts, *places;
	size_t boundary;	/* verdicts before it are proven; SIZE_MAX: judged on paper */
};

static bool is_proven(const struct page *p, size_t index)
{
	return p->boundary != SIZE_MAX && index < p->boundary;
}

static void put_evidence(struct page *p, json_t *verdict)
{
	json_t *list = json_object_get(verdict, "evidence"), *item;
	struct strbuf *out = p->out;
	size_t i;

	if (!json_array_size(list))
		return;
	strbuf_printf(out, "<details class=\"evidence\"><summary>evidence (%zu)</summary>\n"
			   "<table><tr><th scope=\"col\">node</th><th scope=\"col\">fact</th>"
			   "<th scope=\"col\">value</th></tr>\n",
		      json_array_size(list));
	json_array_foreach(list, i, item) {
		bool present = json_object_get(item, "value");
		_cleanup_free_ char *value = document_evidence_text(item, EVIDENCE_BYTES);

		strbuf_puts(out, "<tr><td>");
		html_put(out, json_get_string(item, "node", ""));
		strbuf_puts(out, "</td><td><code>");
		html_put(out, json_get_string(item, "pointer", ""));
		strbuf_puts(out, present ? "</code></td><td><code>" : "</code></td><td class=\"absent\">");
		html_put(out, value);
		strbuf_puts(out, present ? "</code></td></tr>\n" : "</td></tr>\n");
	}
	strbuf_puts(out, "</table></details>\n");
}

static void put_references(struct page *p, json_t *verdict)
{
	json_t *blocked = json_object_get(verdict, "blocked_by"), *item;
	const char *because = json_get_string(verdict, "explained_by", NULL);
	const char *node = json_get_string(verdict, "node", "");
	size_t i;

	if (because) {
		strbuf_puts(p->out, "<div class=\"note\"><span class=\"label\">see</span><p>");
		html_put_reference(p->out, p->places, because, node);
		strbuf_puts(p->out, " explains this</p></div>\n");
	}
	if (!json_array_size(blocked))
		return;
	strbuf_puts(p->out, "<div class=\"note\"><span class=\"label\">needs</span><p>");
	json_array_foreach(blocked, i, item) {
		strbuf_puts(p->out, i ? ", " : "");
		html_put_reference(p->out, p->places, json_string_value(item), node);
	}
	strbuf_puts(p->out, "</p></div>\n");
}

static void put_assumed(struct page *p, json_t *verdict)
{
	json_t *item;
	size_t i;

	json_array_foreach(json_object_get(verdict, "assumed"), i, item)
		html_put_note(p->out, "assumed", json_string_value(item), NULL);
}

static void put_verdict(struct page *p, size_t index, const char *element_class)
{
	json_t *v = json_array_get(p->verdicts, index);
	enum verdict_status status = document_status(v);
	_cleanup_free_ char *subject = document_subject(p->document, v);
	struct strbuf *out = p->out;

	strbuf_printf(out, "<li class=\"verdict %s%s\" id=\"v%zu\" data-status=\"%s\" data-level=\"%lld\" "
			   "data-node=\"",
		      html_class(status), element_class, index, html_class(status),
		      (long long)json_get_int(v, "level", 0));
	html_put(out, json_get_string(v, "node", ""));
	strbuf_puts(out, "\">");
	html_put_mark(out, status, verdict_status_name(status));
	strbuf_puts(out, "<div class=\"row\"><div class=\"name\"><code class=\"gate\" title=\"");
	html_put(out, json_get_string(v, "title", ""));
	strbuf_puts(out, "\">");
	html_put(out, json_get_string(v, "gate", ""));
	strbuf_puts(out, "</code>");
	if (*subject) {
		strbuf_puts(out, " <span class=\"subject\">");
		html_put(out, subject);
		strbuf_puts(out, "</span>");
	}
	strbuf_puts(out, "</div>\n<div class=\"said\"><p class=\"summary\">");
	html_put_rich(out, json_get_string(v, "summary", ""));
	if (json_get_bool(v, "double", false))
		strbuf_puts(out, " <span class=\"badge\">from a test double</span>");
	strbuf_puts(out, "</p>\n");
	html_put_causes(out, v);
	put_references(p, v);
	html_put_note(out, "obtain", json_get_string(v, "obtain", NULL), NULL);
	put_assumed(p, v);
	put_evidence(p, v);
	strbuf_puts(out, "</div></div></li>\n");
}

/* "and 63 alike: ens1f1, ens2f0, …" */
static void put_alike_summary(struct page *p, const struct group *group)
{
	strbuf_printf(p->out, "and %zu alike: ", group->n - 1);
	for (size_t i = 1; i < group->n && i <= ALIKE_NAMED; i++) {
		json_t *v = json_array_get(p->verdicts, group->members[i]);
		_cleanup_free_ char *subject = document_subject(p->document, v);

		strbuf_puts(p->out, i > 1 ? ", " : "");
		html_put(p->out, subject);
	}
	strbuf_puts(p->out, group->n - 1 > ALIKE_NAMED ? ", …" : "");
}

/* One row for each kind of verdict of a gate; those alike unfold below it. */
static void put_run(struct page *p, size_t from, size_t to)
{
	_cleanup_groups_ struct groups groups = {0};
	const char *proven = is_proven(p, from) ? " proven" : "";

	group_verdicts(&groups, p->verdicts, from, to);
	for (size_t i = 0; i < groups.n; i++) {
		const struct group *g = &groups.list[i];

		put_verdict(p, g->members[0], proven);
		if (g->n < 2)
			continue;
		strbuf_printf(p->out, "<li class=\"alike%s\"><details><summary>", proven);
		put_alike_summary(p, g);
		strbuf_puts(p->out, "</summary><ul>\n");
		for (size_t k = 1; k < g->n; k++)
			put_verdict(p, g->members[k], "");
		strbuf_puts(p->out, "</ul></details></li>\n");
	}
}

static void put_railhead(struct page *p)
{
	json_t *v = json_array_get(p->verdicts, p->boundary - 1);
	struct strbuf *out = p->out;

	strbuf_printf(out, "<li class=\"railhead%s\"><svg aria-hidden=\"true\"><use href=\"#m-railhead\"/>"
			   "</svg><p><span>railhead</span> ",
		      p->boundary ? "" : " start");
	if (p->boundary) {
		strbuf_puts(out, "<span>");
		html_put_name(out, p->document, v);
		strbuf_printf(out, "</span> <small>phase %lld</small>",
			      (long long)json_get_int(v, "phase", 0));
	} else {
		strbuf_puts(out, "<span>nothing is proven</span>");
	}
	strbuf_puts(out, "</p></li>\n");
}

static void open_phase(struct page *p, int64_t phase, bool proven)
{
	strbuf_printf(p->out, "<section class=\"phase\" aria-labelledby=\"p%lld\">"
			      "<h3 id=\"p%lld\"%s><span class=\"number\">%lld</span> ",
		      (long long)phase, (long long)phase, proven ? " class=\"proven\"" : "",
		      (long long)phase);
	html_put(p->out, report_phase_title((unsigned)phase));
	strbuf_puts(p->out, "</h3>\n<ol class=\"rungs\">\n");
}

void html_put_ladder(struct strbuf *out, json_t *document, json_t *places)
{
	struct page p = {
		.out = out,
		.document = document,
		.verdicts = json_object_get(document, "verdicts"),
		.places = places,
		.boundary = document_is_paper(document) ? SIZE_MAX : document_boundary(document),
	};
	size_t n = json_array_size(p.verdicts);
	int64_t phase = -1;

	if (!n)
		strbuf_puts(out, "<p>No gate was judged.</p>\n");
	for (size_t from = 0, to; from < n; from = to) {
		int64_t own = json_get_int(json_array_get(p.verdicts, from), "phase", 0);

		if (own != phase) {
			if (phase >= 0)
				strbuf_puts(out, "</ol></section>\n");
			open_phase(&p, own, is_proven(&p, from));
			phase = own;
		}
		if (!from && !p.boundary)
			put_railhead(&p);
		to = group_run_end(p.verdicts, from, p.boundary);
		put_run(&p, from, to);
		if (to == p.boundary)
			put_railhead(&p);
	}
	if (n)
		strbuf_puts(out, "</ol></section>\n");
}
