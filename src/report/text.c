/* SPDX-License-Identifier: Apache-2.0 */
/* The ladder as text. */
#include <string.h>

#include "report/text.h"

#define NAMES_LISTED 6u	/* nodes named in the heading */
void text_line(struct text *t, unsigned indent, enum wrap_style style, const char *text)
{
	t->w.indent = indent;
	wrap_to(&t->w, indent);
	wrap_put(&t->w, style, text);
	wrap_end(&t->w);
}

static void render_heading(struct text *t)
{
	json_t *site = json_object_get(t->document, "site"), *node;
	json_t *nodes = json_object_get(t->document, "nodes");
	const char *path = json_get_string(site, "path", NULL);
	const char *taken = json_get_string(t->document, "taken", NULL);
	bool all = t->options->verbose > 0;
	size_t i;

	t->w.indent = 2;
	wrap_putf(&t->w, WRAP_BOLD, "site %s", json_get_string(site, "name", "?"));
	if (path)
		wrap_putf(&t->w, WRAP_PLAIN, " (%s)", path);
	json_array_foreach(nodes, i, node) {
		const char *source = json_get_string(node, "source", "live");

		if (!all && i == NAMES_LISTED) {
			wrap_putf(&t->w, WRAP_PLAIN, " and %zu more", json_array_size(nodes) - i);
			break;
		}
		wrap_putf(&t->w, WRAP_PLAIN, "%s%s", i ? ", " : ": ",
			  json_get_string(node, "name", "?"));
		/* facts that no machine gave must not look as if one had */
		if (strcmp(source, "live"))
			wrap_putf(&t->w, WRAP_YELLOW, " (%s)", source);
	}
	wrap_end(&t->w);
	if (taken)
		wrap_putf(&t->w, WRAP_DIM, "facts of %s", taken);
	if (taken)
		wrap_end(&t->w);
	if (document_is_paper(t->document))
		text_line(t, 2, WRAP_DIM, "on paper: no machine was asked");
	if (json_get_bool(site, "assumed", false))
		text_line(t, 0, WRAP_YELLOW,
		     "no site was declared: what is expected is taken from what was found");
}

static void render_railhead(struct text *t)
{
	struct strbuf b = {0};
	unsigned used;

	if (t->boundary) {
		json_t *v = json_array_get(t->verdicts, t->boundary - 1);
		_cleanup_free_ char *name = document_name(t->document, v);

		strbuf_printf(&b, "railhead: %s — phase %lld", name,
			      (long long)json_get_int(v, "phase", 0));
	} else {
		strbuf_puts(&b, "railhead: nothing is proven");
	}
	_cleanup_free_ char *text = strbuf_steal(&b);
	_cleanup_free_ char *ascii = safe_ascii(text);
	const char *bar = t->w.ascii ? "=" : "━";
	used = 3 + (t->w.ascii ? width_of(ascii, strlen(ascii)) : width_of(text, strlen(text)));

	wrap_end(&t->w);
	t->w.indent = 3;
	wrap_putf(&t->w, WRAP_BOLD, "%s%s", bar, bar);
	wrap_to(&t->w, 3);
	wrap_put(&t->w, WRAP_BOLD, text);
	if (!t->w.width || used + 3 <= t->w.width) {
		/* one word, so that it is not wrapped */
		unsigned rest = t->w.width ? t->w.width - used - 1 : 2;
		while (rest--)
			strbuf_puts(&b, bar);
		wrap_putf(&t->w, WRAP_BOLD, " %s", strbuf_str(&b));
		strbuf_clear(&b);
	}
	wrap_end(&t->w);
}

/* n/a verdicts stand in the ladder only when all of it is asked for. */
static bool is_shown(const struct text *t, size_t index)
{
	json_t *v = json_array_get(t->verdicts, index);

	return t->options->verbose || document_status(v) != VERDICT_NA;
}

/* Gates that apply to some subject. */
static json_t *applying_gates(const struct text *t)
{
	json_t *gates = json_object_new(), *v;
	size_t i;

	json_array_foreach(t->verdicts, i, v) {
		if (document_status(v) != VERDICT_NA)
			json_put_bool(gates, json_get_string(v, "gate", ""), true);
	}
	return gates;
}

/* The n/a verdicts by their reason: a site without Kubernetes has a dozen with the same one. */
static void render_not_applicable(struct text *t)
{
	_cleanup_json_ json_t *reasons = json_object_new(), *applying = applying_gates(t);
	size_t n = json_array_size(t->verdicts);
	json_t *names, *name;
	const char *reason;

	for (size_t from = 0, to; from < n; from = to) {
		_cleanup_groups_ struct groups groups = {0};

		to = group_run_end(t->verdicts, from, t->boundary);
		group_verdicts(&groups, t->verdicts, from, to);
		for (size_t i = 0; i < groups.n; i++) {
			json_t *v = json_array_get(t->verdicts, groups.list[i].members[0]);
			const char *gate = json_get_string(v, "gate", "");

			if (is_shown(t, groups.list[i].members[0]))
				continue;
			/* for some subjects only: which */
			_cleanup_free_ char *full = json_object_get(applying, gate) ?
							    document_name(t->document, v) :
							    xstrdup(gate);
			_cleanup_free_ char *text =
				strcmp(full, gate) && groups.list[i].n > 1 ?
					xasprintf("%s and %zu alike", full, groups.list[i].n - 1) :
					xstrdup(full);
			json_append_text(json_arr(reasons, json_get_string(v, "summary", "")),
					 text);
		}
	}
	if (!json_object_size(reasons))
		return;
	wrap_end(&t->w);
	text_line(t, 0, WRAP_BOLD, "Not applicable");
	json_object_foreach(reasons, reason, names) {
		size_t i;

		t->w.indent = TEXT_ID_COLUMN;
		wrap_to(&t->w, 2);
		wrap_putf(&t->w, WRAP_DIM, "– %s: ", reason);
		json_array_foreach(names, i, name)
			wrap_putf(&t->w, WRAP_DIM, "%s%s", i ? ", " : "", json_string_value(name));
		wrap_end(&t->w);
	}
}

static bool any_shown(const struct text *t, size_t from, size_t to)
{
	for (; from < to; from++) {
		if (is_shown(t, from))
			return true;
	}
	return false;
}

static void render_run(struct text *t, size_t from, size_t to)
{
	_cleanup_groups_ struct groups groups = {0};

	if (t->options->verbose) {
		for (size_t i = from; i < to; i++)
			text_put_row(t, &(struct group){.members = &i, .n = 1});
		return;
	}
	group_verdicts(&groups, t->verdicts, from, to);
	for (size_t i = 0; i < groups.n; i++) {
		if (is_shown(t, groups.list[i].members[0]))
			text_put_row(t, &groups.list[i]);
	}
}

static void render_phase(struct text *t, int64_t phase, bool continued)
{
	wrap_end(&t->w);
	wrap_putf(&t->w, WRAP_BOLD, "Phase %lld — %s%s", (long long)phase,
		  report_phase_title((unsigned)phase), continued ? ", continued" : "");
	wrap_end(&t->w);
}

static void render_ladder(struct text *t)
{
	size_t n = json_array_size(t->verdicts);
	int64_t phase = -1;
	bool headed = false;	/* the phase's heading stands above the next row */

	for (size_t from = 0, to; from < n; from = to) {
		int64_t own = json_get_int(json_array_get(t->verdicts, from), "phase", 0);

		to = group_run_end(t->verdicts, from, t->boundary);
		if (from && from == t->boundary) {
			render_railhead(t);
			headed = false;
		}
		if (!any_shown(t, from, to))
			continue;
		if (own != phase || !headed)
			render_phase(t, own, own == phase);
		phase = own;
		headed = true;
		render_run(t, from, to);
	}
	if (t->boundary == n && n)
		render_railhead(t);
}

/* Where summaries begin: behind the longest gate id, but not beyond the middle. */
static unsigned summary_column(json_t *verdicts, unsigned width)
{
	unsigned longest = 0;
	json_t *v;
	size_t i;

	json_array_foreach(verdicts, i, v) {
		const char *id = json_get_string(v, "gate", "");
		unsigned w = width_of(id, strlen(id));

		longest = w > longest ? w : longest;
	}
	if (longest > 24)
		longest = 24;
	return width && TEXT_ID_COLUMN + longest + 2 > width / 2 ? width / 2 :
							       TEXT_ID_COLUMN + longest + 2;
}

void text_render(struct strbuf *out, json_t *document, const struct report_options *options)
{
	/* below 40 columns the indents alone would fill the line */
	unsigned width = options->quiet || !options->width ? 0 :
			 options->width < 40		   ? 40 :
							     options->width;
	struct width_scope scope;
	struct text t = {
		.w = {
			.out = out,
			.width = width,
			.colour = options->colour,
			.ascii = options->ascii,
		},
		.document = document,
		.verdicts = json_object_get(document, "verdicts"),
		.options = options,
		.boundary = document_is_paper(document) ? SIZE_MAX : document_boundary(document),
	};
	_cleanup_free_ char *closing = document_closing(document, options->quiet ? "; " : "\n");

	width_enter(&scope);
	t.text_column = summary_column(t.verdicts, width);
	if (!options->quiet) {
		render_heading(&t);
		if (!t.boundary)
			render_railhead(&t);
		render_ladder(&t);
		render_not_applicable(&t);
		text_put_plan(&t);
		wrap_end(&t.w);
	}
	text_line(&t, 0, WRAP_BOLD, closing);
	width_leave(&scope);
}
