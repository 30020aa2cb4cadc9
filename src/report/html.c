/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One self-contained page. It loads nothing: styles, signs and script are inside, and its content
 * security policy allows the texts of html/page.css and html/page.js, by hash, and nothing else.
 * Without a script all is readable; the script only adds filters and the light/dark switch.
 */
#include "report/html.h"

#include <string.h>

#include "report/page.h"
#include "report/proof.h"

#define PHASES 22	/* of the plan of record: the line shows them all, judged or not */

static const enum verdict_status status_order[] = {
	VERDICT_PASS, VERDICT_WARN, VERDICT_FAIL, VERDICT_BLOCKED, VERDICT_UNKNOWN, VERDICT_NA,
};

/* The signs, drawn once. Each is 22 units square; the railhead is a buffer stop on its track. */
static const char symbols[] =
	"<svg width=\"0\" height=\"0\" aria-hidden=\"true\" hidden><defs>\n"
	"<symbol id=\"m-pass\" viewBox=\"0 0 22 22\"><circle cx=\"11\" cy=\"11\" r=\"10\" "
	"fill=\"currentColor\"/><path d=\"M6.2 11.4l3.3 3.3 6.4-7\" fill=\"none\" "
	"stroke=\"var(--card)\" stroke-width=\"2.4\" stroke-linecap=\"round\" "
	"stroke-linejoin=\"round\"/></symbol>\n"
	"<symbol id=\"m-warn\" viewBox=\"0 0 22 22\"><path d=\"M11 1.6L21 19.6H1z\" "
	"fill=\"currentColor\" stroke=\"currentColor\" stroke-width=\"1.6\" "
	"stroke-linejoin=\"round\"/><path d=\"M11 8v5.2M11 16.4v.2\" stroke=\"var(--card)\" "
	"stroke-width=\"2.4\" stroke-linecap=\"round\"/></symbol>\n"
	"<symbol id=\"m-fail\" viewBox=\"0 0 22 22\"><circle cx=\"11\" cy=\"11\" r=\"10\" "
	"fill=\"currentColor\"/><path d=\"M7.2 7.2l7.6 7.6M14.8 7.2l-7.6 7.6\" "
	"stroke=\"var(--card)\" stroke-width=\"2.4\" stroke-linecap=\"round\"/></symbol>\n"
	"<symbol id=\"m-blocked\" viewBox=\"0 0 22 22\"><rect x=\"2\" y=\"2\" width=\"18\" "
	"height=\"18\" rx=\"3\" fill=\"none\" stroke=\"currentColor\" stroke-width=\"2\"/>"
	"<path d=\"M6.5 11h9\" stroke=\"currentColor\" stroke-width=\"2.6\" "
	"stroke-linecap=\"round\"/></symbol>\n"
	"<symbol id=\"m-unknown\" viewBox=\"0 0 22 22\"><circle cx=\"11\" cy=\"11\" r=\"9\" "
	"fill=\"none\" stroke=\"currentColor\" stroke-width=\"2\" stroke-dasharray=\"3.4 2.25\"/>"
	"<path d=\"M8.4 8.9a2.7 2.7 0 1 1 3.9 2.4c-.9.5-1.3.9-1.3 1.8M11 16v.2\" fill=\"none\" "
	"stroke=\"currentColor\" stroke-width=\"2\" stroke-linecap=\"round\"/></symbol>\n"
	"<symbol id=\"m-na\" viewBox=\"0 0 22 22\"><circle cx=\"11\" cy=\"11\" r=\"9\" fill=\"none\" "
	"stroke=\"currentColor\" stroke-width=\"1.4\"/><path d=\"M7 11h8\" stroke=\"currentColor\" "
	"stroke-width=\"1.8\" stroke-linecap=\"round\"/></symbol>\n"
	"<symbol id=\"m-railhead\" viewBox=\"0 0 40 20\"><path d=\"M4 10h32\" stroke=\"currentColor\" "
	"stroke-width=\"6\" stroke-linecap=\"round\"/><path d=\"M4 3v14M36 3v14\" "
	"stroke=\"currentColor\" stroke-width=\"5\" stroke-linecap=\"round\"/></symbol>\n"
	"<symbol id=\"m-logo\" viewBox=\"0 0 28 28\"><path d=\"M9 27V9M19 27V9\" "
	"stroke=\"currentColor\" stroke-width=\"2.6\" stroke-linecap=\"round\"/>"
	"<path d=\"M5.5 24.5h17M5.5 18.5h17M5.5 12.5h17\" stroke=\"currentColor\" "
	"stroke-width=\"1.8\" stroke-linecap=\"round\" opacity=\".55\"/><path d=\"M3.5 5.5h21\" "
	"stroke=\"currentColor\" stroke-width=\"5\" stroke-linecap=\"round\"/></symbol>\n"
	"</defs></svg>\n";

static void put_head(struct strbuf *out, const char *title, const char *description,
		     const char *version, const char *first)
{
	strbuf_puts(out,
		    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		    "img-src data:; style-src '" PAGE_CSS_HASH "'; script-src '" PAGE_JS_HASH
		    "'; base-uri 'none'; form-action 'none'\">\n"
		    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		    "<meta name=\"referrer\" content=\"no-referrer\">\n"
		    "<meta name=\"color-scheme\" content=\"light dark\">\n"
		    "<link rel=\"icon\" href=\"data:,\">\n<meta name=\"description\" content=\"");
	html_put(out, description);
	strbuf_puts(out, "\">\n<title>");
	html_put(out, title);
	strbuf_puts(out, " — railhead</title>\n<style>");
	strbuf_puts(out, PAGE_CSS);
	strbuf_puts(out, "</style>\n</head>\n<body>\n");
	strbuf_puts(out, symbols);
	strbuf_printf(out, "<a class=\"skip\" href=\"#%s\">Skip to the %s</a>\n"
			   "<header class=\"top\"><p class=\"brand\"><svg aria-hidden=\"true\">"
			   "<use href=\"#m-logo\"/></svg>railhead <small>", first, first);
	html_put(out, version);
	strbuf_puts(out, "</small></p><button type=\"button\" id=\"theme\" hidden></button></header>\n"
			 "<main>\n");
}

static void put_context(struct strbuf *out, json_t *document)
{
	json_t *site = json_object_get(document, "site"), *node;
	const char *path = json_get_string(site, "path", NULL);
	const char *taken = json_get_string(document, "taken", NULL);
	size_t i;

	strbuf_puts(out, "<p class=\"context\">");
	json_array_foreach(json_object_get(document, "nodes"), i, node) {
		const char *source = json_get_string(node, "source", "live");

		strbuf_puts(out, i ? ", " : "");
		html_put(out, json_get_string(node, "name", ""));
		if (strcmp(source, "live")) {
			strbuf_puts(out, "<span class=\"badge\">");
			html_put(out, source);
			strbuf_puts(out, "</span>");
		}
	}
	if (taken) {
		strbuf_printf(out, "%sfacts of <time datetime=\"", i ? " · " : "");
		html_put(out, taken);
		strbuf_puts(out, "\">");
		html_put(out, taken);
		strbuf_puts(out, "</time>");
	}
	if (path) {
		strbuf_printf(out, "%sdeclared in ", i || taken ? " · " : "");
		html_put(out, path);
	}
	strbuf_puts(out, "</p>\n");
	if (document_is_paper(document))
		strbuf_puts(out, "<p class=\"assumption\">Judged on paper: no machine was asked.</p>\n");
	if (json_get_bool(site, "assumed", false))
		strbuf_puts(out, "<p class=\"assumption\">No site was declared: what is expected is taken "
				 "from what was found.</p>\n");
}

/* "Stopped by" or "First failure", with all that helps to mend it. */
static void put_obstacle(struct strbuf *out, json_t *document, json_t *places, const char *term,
			 size_t index)
{
	json_t *v = json_array_get(json_object_get(document, "verdicts"), index);
	const char *because = json_get_string(v, "explained_by", NULL);

	strbuf_printf(out, "<dt>%s</dt><dd><p class=\"lead\"><a href=\"#v%zu\">", term, index);
	html_put_name(out, document, v);
	strbuf_puts(out, "</a></p><p>");
	html_put_rich(out, json_get_string(v, "summary", ""));
	strbuf_puts(out, "</p>");
	html_put_causes(out, v);
	if (because) {
		strbuf_puts(out, "<p>Explained by ");
		html_put_reference(out, places, because, json_get_string(v, "node", ""));
		strbuf_puts(out, "</p>");
	}
	html_put_note(out, "obtain", json_get_string(v, "obtain", NULL), NULL);
	strbuf_puts(out, "</dd>\n");
}

static void put_state(struct strbuf *out, json_t *document, json_t *places)
{
	json_t *verdicts = json_object_get(document, "verdicts");
	size_t n = json_array_size(verdicts), railhead = document_index(document, "railhead"),
	       stopped = document_index(document, "stopped_by"),
	       failure = document_root_failure(document);
	json_t *reached = json_array_get(verdicts, railhead);

	strbuf_puts(out, "<dl class=\"state\"><dt>Proven up to</dt><dd><p class=\"lead\">");
	if (railhead < n) {
		strbuf_printf(out, "<a href=\"#v%zu\">", railhead);
		html_put_name(out, document, reached);
		strbuf_printf(out, "</a></p><p>phase %lld, ",
			      (long long)json_get_int(reached, "phase", 0));
		html_put(out, report_phase_title((unsigned)json_get_int(reached, "phase", 0)));
		strbuf_puts(out, "</p>");
	} else {
		strbuf_puts(out, "nothing yet</p>");
	}
	strbuf_puts(out, "</dd>\n");
	if (stopped < n)
		put_obstacle(out, document, places, "Stopped by", stopped);
	else if (n)
		strbuf_puts(out, "<dt>Stopped by</dt><dd><p class=\"lead\">nothing that was judged"
				 "</p></dd>\n");
	if (failure < n && failure != stopped)
		put_obstacle(out, document, places, "First failure", failure);
	strbuf_puts(out, "</dl>\n");
}

/* On paper nothing is proven, and all that fails stands against the plan. */
static void put_state_on_paper(struct strbuf *out, json_t *document, json_t *places)
{
	json_t *verdicts = json_object_get(document, "verdicts"), *v;
	size_t n = json_array_size(verdicts), i;
	const char *term = "Stopped by";

	strbuf_puts(out, "<dl class=\"state\">");
	json_array_foreach(verdicts, i, v) {
		if (document_status(v) != VERDICT_FAIL)
			continue;
		put_obstacle(out, document, places, term, i);
		term = "and by";
	}
	i = document_index(document, "stopped_by");
	if (document_root_failure(document) == n && i < n)
		put_obstacle(out, document, places, "Not decided", i);
	else if (document_root_failure(document) == n)
		strbuf_puts(out, "<dt>On paper</dt><dd><p class=\"lead\">nothing stands against it</p>"
				 "</dd>\n");
	strbuf_puts(out, "</dl>\n");
}

static void put_headline(struct strbuf *out, json_t *document, json_t *places)
{
	json_t *counts = json_object_get(json_object_get(document, "result"), "counts");
	json_t *verdicts = json_object_get(document, "verdicts");
	json_t *stop = json_array_get(verdicts, document_index(document, "stopped_by"));
	bool fails = document_root_failure(document) < json_array_size(verdicts);

	strbuf_printf(out, "<section class=\"headline %s\" aria-label=\"Result\"><h1>",
		      fails ? "fail" : stop ? html_class(document_status(stop)) :
			      json_array_size(verdicts) ? "pass" : "unknown");
	html_put(out, json_get_string(json_object_get(document, "site"), "name", ""));
	strbuf_puts(out, "</h1>\n");
	put_context(out, document);
	if (document_is_paper(document))
		put_state_on_paper(out, document, places);
	else
		put_state(out, document, places);
	strbuf_puts(out, "<ul class=\"counts\" aria-label=\"Verdicts\">");
	for (size_t i = 0; i < ARRAY_SIZE(status_order); i++) {
		const char *name = verdict_status_name(status_order[i]);

		strbuf_printf(out, "<li class=\"%s\">", html_class(status_order[i]));
		html_put_mark(out, status_order[i], NULL);
		strbuf_printf(out, "<span><b>%lld</b> %s</span></li>",
			      (long long)json_get_int(counts, name, 0), name);
	}
	strbuf_puts(out, "</ul></section>\n");
}

static void put_levels(struct strbuf *out, json_t *document)
{
	struct html_sum sums[6] = {0};
	json_t *v;
	size_t i;

	json_array_foreach(json_object_get(document, "verdicts"), i, v) {
		int64_t level = json_get_int(v, "level", 0);

		if (level < (int64_t)ARRAY_SIZE(sums))
			html_sum_add(&sums[level], v, i);
	}
	strbuf_puts(out, "<h2 class=\"section\">Levels</h2>\n<ul class=\"levels\">\n");
	for (i = 0; i < ARRAY_SIZE(sums); i++) {
		enum verdict_status status = html_sum_status(&sums[i]);
		const char *between = "";

		if (!sums[i].n)
			continue;
		strbuf_printf(out, "<li class=\"%s\">", html_class(status));
		html_put_mark(out, status, verdict_status_name(status));
		strbuf_printf(out, "<div><b>%zu · %s</b><small>", i,
			      report_level_title((unsigned)i));
		for (size_t k = 0; k < ARRAY_SIZE(status_order); k++) {
			if (!sums[i].counts[status_order[k]])
				continue;
			strbuf_printf(out, "%s%zu %s", between, sums[i].counts[status_order[k]],
				      verdict_status_name(status_order[k]));
			between = ", ";
		}
		strbuf_puts(out, "</small></div></li>\n");
	}
	strbuf_puts(out, "</ul>\n");
}

/* The whole line on one look: a station for each phase, solid track up to the railhead. */
static void put_line(struct strbuf *out, json_t *document)
{
	struct html_sum sums[PHASES] = {0};
	size_t boundary = document_boundary(document), i, here = PHASES;
	json_t *v;

	json_array_foreach(json_object_get(document, "verdicts"), i, v) {
		int64_t phase = json_get_int(v, "phase", 0);

		if (phase < PHASES)
			html_sum_add(&sums[phase], v, i);
		if (i + 1 == boundary && phase < PHASES)
			here = (size_t)phase;
	}
	strbuf_puts(out, "<h2 class=\"section\">The line</h2>\n<ol class=\"line\">\n");
	for (i = 0; i < PHASES; i++) {
		enum verdict_status status = html_sum_status(&sums[i]);
		bool any = sums[i].n > 0;

		strbuf_printf(out, "<li class=\"%s%s%s%s\">", any ? html_class(status) : "none",
			      here < PHASES && i <= here ? " reached" : "",
			      here < PHASES && i < here ? " passed" : "", i == here ? " here" : "");
		if (i == here)
			strbuf_puts(out, "<span class=\"flag\">railhead</span>");
		if (any)
			strbuf_printf(out, "<a class=\"stop\" href=\"#p%zu\" aria-label=\"phase %zu: %s\">"
					   "%zu</a>",
				      i, i, verdict_status_name(status), i);
		else
			strbuf_printf(out, "<span class=\"stop\">%zu</span>", i);
		strbuf_printf(out, "<span class=\"name\">%s%s</span></li>\n", report_phase_title((unsigned)i),
			      any ? "" : "<span class=\"unseen\">: not judged</span>");
	}
	strbuf_puts(out, "</ol>\n");
}

static void put_filters(struct strbuf *out, json_t *document)
{
	json_t *node;
	size_t i;

	strbuf_puts(out, "<form class=\"filters\" id=\"filters\" aria-label=\"Filter the ladder\" hidden>\n"
			 "<fieldset><legend>Verdict</legend>");
	for (i = 0; i < ARRAY_SIZE(status_order); i++)
		strbuf_printf(out, "<label class=\"choice %s\"><input type=\"checkbox\" name=\"status\" "
				   "value=\"%s\" checked>%s</label>",
			      html_class(status_order[i]), html_class(status_order[i]),
			      verdict_status_name(status_order[i]));
	strbuf_puts(out, "</fieldset>\n<label>Level<select name=\"level\"><option value=\"\">all</option>");
	for (unsigned level = 0; *report_level_title(level); level++)
		strbuf_printf(out, "<option value=\"%u\">%u · %s</option>", level, level,
			      report_level_title(level));
	strbuf_puts(out, "</select></label>\n<label>Node<select name=\"node\"><option value=\"\">all</option>");
	json_array_foreach(json_object_get(document, "nodes"), i, node) {
		strbuf_puts(out, "<option>");
		html_put(out, json_get_string(node, "name", ""));
		strbuf_puts(out, "</option>");
	}
	strbuf_puts(out, "</select></label>\n<label>Text<input type=\"search\" name=\"text\" "
			 "autocomplete=\"off\"></label>\n<button type=\"reset\">Reset</button>\n"
			 "<output id=\"shown\" aria-live=\"polite\"></output>\n</form>\n");
}

static void put_foot(struct strbuf *out)
{
	strbuf_puts(out, "</main>\n<footer><p>Only a pass is a pass: what was not executed is "
			 "unknown or blocked. A lower level never implies the next one.</p></footer>\n"
			 "<script>");
	strbuf_puts(out, PAGE_JS);
	strbuf_puts(out, "</script>\n</body>\n</html>\n");
}

void html_render(struct strbuf *out, json_t *document)
{
	_cleanup_json_ json_t *places = html_places_new(document);
	_cleanup_free_ char *closing = document_closing(document, "; ");

	put_head(out, json_get_string(json_object_get(document, "site"), "name", ""), closing,
		 json_get_string(document, "railhead", ""), "ladder");
	put_headline(out, document, places);
	if (!document_is_paper(document)) {
		put_levels(out, document);
		put_line(out, document);
	}
	put_filters(out, document);
	strbuf_puts(out, "<section id=\"ladder\" aria-label=\"The ladder\">\n");
	html_put_ladder(out, document, places);
	strbuf_puts(out, "</section>\n");
	html_put_proofs(out, json_object_get(document, "proofs"));
	html_put_plan(out, document);
	put_foot(out);
}

void html_render_proofs(struct strbuf *out, json_t *records)
{
	json_t *first = json_array_get(records, 0);
	_cleanup_free_ char *a = proof_port(json_object_get(first, "local"));
	_cleanup_free_ char *b = proof_port(json_object_get(first, "peer"));
	_cleanup_free_ char *title = xasprintf("%s ↔ %s", a, b);

	put_head(out, title, "Proof of RDMA between two ports",
		 json_get_string(first, "railhead", ""), "proofs");
	html_put_proofs(out, records);
	put_foot(out);
}
