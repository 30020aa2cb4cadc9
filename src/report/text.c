/* SPDX-License-Identifier: Apache-2.0 */
/* The ladder as text. */
#include <string.h>

#include "report/internal.h"

#define ID_COLUMN 4u		/* after "  ✓ " */
#define LABEL_COLUMN 6u		/* "cause", "fix", … under a row */
#define DETAIL_COLUMN 14u
#define NAMES_LISTED 6u		/* nodes named in the heading */
#define EVIDENCE_BYTES 160u	/* of one value with -v; -vv shows all */

struct look {
	const char *utf8, *ascii;
	enum wrap_style style;
};

static const struct look marks[] = {
	[VERDICT_PASS] = {"✓", "+", WRAP_GREEN},
	[VERDICT_WARN] = {"!", "!", WRAP_YELLOW},
	[VERDICT_UNKNOWN] = {"?", "?", WRAP_MAGENTA},
	[VERDICT_BLOCKED] = {"■", "#", WRAP_BLUE},
	[VERDICT_FAIL] = {"✗", "X", WRAP_RED},
	[VERDICT_NA] = {"–", "-", WRAP_DIM},
};

struct text {
	struct wrap w;
	json_t *document, *verdicts;
	const struct report_options *options;
	unsigned text_column;	/* of the summaries */
	size_t boundary;	/* the railhead stands before this verdict */
};

static void line(struct text *t, unsigned indent, enum wrap_style style, const char *text)
{
	t->w.indent = indent;
	wrap_to(&t->w, indent);
	wrap_put(&t->w, style, text);
	wrap_end(&t->w);
}

/* "cause   the in-tree driver …"; the label once, continuation lines under the text. */
static void detail(struct text *t, const char *label, const char *text)
{
	if (!*text)
		return;
	t->w.indent = DETAIL_COLUMN;
	wrap_to(&t->w, LABEL_COLUMN);
	wrap_put(&t->w, WRAP_DIM, label);
	wrap_to(&t->w, DETAIL_COLUMN);
	wrap_put(&t->w, WRAP_PLAIN, text);
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
	if (json_get_bool(site, "assumed", false))
		line(t, 0, WRAP_YELLOW,
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

static void render_evidence(struct text *t, json_t *verdict)
{
	const char *label = "saw";
	json_t *evidence;
	size_t i;

	json_array_foreach(json_object_get(verdict, "evidence"), i, evidence) {
		const char *node = json_get_string(evidence, "node", "");
		const char *own = json_get_string(verdict, "node", "");
		bool same = !strcmp(node, own);
		_cleanup_free_ char *value = document_evidence_text(
			evidence, t->options->verbose > 1 ? 0 : EVIDENCE_BYTES);
		_cleanup_free_ char *text =
			xasprintf("%s%s%s %s %s", same ? "" : node, same ? "" : " ",
				  json_get_string(evidence, "pointer", ""),
				  json_object_get(evidence, "value") ? "=" : "—", value);
		detail(t, label, text);
		label = "";
	}
}

static void render_causes(struct text *t, json_t *verdict)
{
	const char *summary = json_get_string(verdict, "summary", "");
	json_t *cause;
	size_t i;

	json_array_foreach(json_object_get(verdict, "causes"), i, cause) {
		bool candidate = json_get_bool(cause, "candidate", false);
		const char *text = json_get_string(cause, "text", "");
		_cleanup_free_ char *with_id =
			t->options->verbose ?
				xasprintf("%s [%s]", text, json_get_string(cause, "id", "")) :
				NULL;

		/* a judge's finding is its summary; once is enough */
		if (with_id || candidate || strcmp(text, summary))
			detail(t, candidate ? "maybe" : "cause", with_id ? with_id : text);
		detail(t, candidate ? "then" : "fix", json_get_string(cause, "fix", ""));
	}
}

static void render_details(struct text *t, json_t *verdict)
{
	json_t *blocked = json_object_get(verdict, "blocked_by"), *item;
	enum verdict_status status = document_status(verdict);
	bool passed = status == VERDICT_PASS || status == VERDICT_NA;
	struct strbuf b = {0};
	size_t i;

	render_causes(t, verdict);
	if (json_object_get(verdict, "explained_by")) {
		strbuf_printf(&b, "%s explains this", json_get_string(verdict, "explained_by", ""));
		detail(t, "see", strbuf_str(&b));
		strbuf_clear(&b);
	}
	/* the summary names the first one */
	if (json_array_size(blocked) > 1) {
		json_array_foreach(blocked, i, item)
			strbuf_printf(&b, "%s%s", i ? ", " : "", json_string_value(item));
		detail(t, "needs", strbuf_str(&b));
		strbuf_clear(&b);
	}
	detail(t, "obtain", json_get_string(verdict, "obtain", ""));
	json_array_foreach(json_object_get(verdict, "assumed"), i, item) {
		if (!passed || t->options->verbose)
			detail(t, "assumed", json_string_value(item));
	}
	if (t->options->verbose)
		render_evidence(t, verdict);
}

/* "and 63 alike: ens1f1, …": as many names as two lines hold. */
static void render_alike(struct text *t, const struct group *group)
{
	size_t room = t->w.width ? 2 * (t->w.width - t->text_column) : SIZE_MAX, i;
	_cleanup_strbuf_ struct strbuf b = {0};

	if (group->n < 2)
		return;
	strbuf_printf(&b, "and %zu alike: ", group->n - 1);
	for (i = 1; i < group->n; i++) {
		json_t *v = json_array_get(t->verdicts, group->members[i]);
		_cleanup_free_ char *subject = document_subject(t->document, v);

		if (i > 1 && width_of(b.s, b.len) + width_of(subject, strlen(subject)) + 16 > room)
			break;
		strbuf_printf(&b, "%s%s", i > 1 ? ", " : "", subject);
	}
	if (i < group->n)
		strbuf_printf(&b, ", … (%zu more)", group->n - i);
	line(t, t->text_column, WRAP_DIM, b.s);
}

/* "(assumed: memlock unlimited)" behind a summary that would otherwise look like a plain pass. */
static void render_assumed(struct text *t, json_t *verdict)
{
	json_t *item;
	size_t i;

	json_array_foreach(json_object_get(verdict, "assumed"), i, item)
		wrap_putf(&t->w, WRAP_DIM, "%s%s", i ? "; " : " (assumed: ",
			  json_string_value(item));
	if (i)
		wrap_put(&t->w, WRAP_DIM, ")");
}

static void render_row(struct text *t, const struct group *group)
{
	json_t *verdict = json_array_get(t->verdicts, group->members[0]);
	enum verdict_status status = document_status(verdict);
	_cleanup_free_ char *subject = document_subject(t->document, verdict);
	const struct look *mark = &marks[status];
	enum wrap_style style = status == VERDICT_NA ? WRAP_DIM : WRAP_PLAIN;

	t->w.indent = t->text_column;
	wrap_to(&t->w, 2);
	wrap_put(&t->w, mark->style, t->w.ascii ? mark->ascii : mark->utf8);
	wrap_to(&t->w, ID_COLUMN);
	wrap_put(&t->w, status == VERDICT_NA ? WRAP_DIM : WRAP_BOLD,
		 json_get_string(verdict, "gate", "?"));
	wrap_to(&t->w, t->text_column);
	if (*subject)
		wrap_putf(&t->w, status == VERDICT_FAIL ? WRAP_BOLD : style, "%s: ", subject);
	wrap_put(&t->w, style, json_get_string(verdict, "summary", ""));
	if (json_get_bool(verdict, "double", false))
		wrap_put(&t->w, WRAP_YELLOW, " (from a test double)");
	if (!t->options->verbose && (status == VERDICT_PASS || status == VERDICT_NA))
		render_assumed(t, verdict);
	wrap_end(&t->w);
	render_alike(t, group);
	render_details(t, verdict);
}

static void render_run(struct text *t, size_t from, size_t to)
{
	_cleanup_groups_ struct groups groups = {0};

	if (t->options->verbose) {
		for (size_t i = from; i < to; i++)
			render_row(t, &(struct group){.members = &i, .n = 1});
		return;
	}
	group_verdicts(&groups, t->verdicts, from, to);
	for (size_t i = 0; i < groups.n; i++)
		render_row(t, &groups.list[i]);
}

static void render_ladder(struct text *t)
{
	size_t n = json_array_size(t->verdicts);
	int64_t phase = -1;

	for (size_t from = 0, to; from < n; from = to) {
		json_t *v = json_array_get(t->verdicts, from);
		int64_t own = json_get_int(v, "phase", 0);

		if (from == t->boundary && from)
			render_railhead(t);
		if (own != phase || from == t->boundary) {
			wrap_end(&t->w);
			wrap_putf(&t->w, WRAP_BOLD, "Phase %lld — %s%s", (long long)own,
				  report_phase_title((unsigned)own),
				  own == phase ? ", continued" : "");
			wrap_end(&t->w);
			phase = own;
		}
		to = group_run_end(t->verdicts, from, t->boundary);
		render_run(t, from, to);
	}
	if (t->boundary == n && n)
		render_railhead(t);
}

/* Where summaries begin: behind the longest gate id, but not beyond the middle. */
static unsigned text_column(json_t *verdicts, unsigned width)
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
	return width && ID_COLUMN + longest + 2 > width / 2 ? width / 2 :
							       ID_COLUMN + longest + 2;
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
		.boundary = document_boundary(document),
	};
	_cleanup_free_ char *closing = document_closing(document, options->quiet ? "; " : "\n");

	width_enter(&scope);
	t.text_column = text_column(t.verdicts, width);
	if (!options->quiet) {
		render_heading(&t);
		if (!t.boundary)
			render_railhead(&t);
		render_ladder(&t);
		wrap_end(&t.w);
	}
	line(&t, 0, WRAP_BOLD, closing);
	width_leave(&scope);
}
