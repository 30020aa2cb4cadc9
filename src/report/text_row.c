/* SPDX-License-Identifier: Apache-2.0 */
/* One row of the text form: a verdict, or several alike, with causes, fixes and evidence below. */
#include <string.h>

#include "report/text.h"

#define LABEL_COLUMN 6u		/* "cause", "fix", … under a row */
#define DETAIL_COLUMN 14u
#define SUBJECTS_WIDTH 36u	/* of several subjects in front of one summary */
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

static void render_options(struct text *t, json_t *cause)
{
	json_t *option;
	size_t i;

	json_array_foreach(json_object_get(cause, "options"), i, option) {
		_cleanup_free_ char *item = xasprintf("- %s", json_string_value(option));

		detail(t, i ? "" : "options", item);
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
		render_options(t, cause);
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
	text_line(t, t->text_column, WRAP_DIM, b.s);
}

/* "(assumed: memlock unlimited)" behind a summary that would otherwise look like a plain pass. */
static void render_assumed(struct text *t, json_t *verdict)
{
	json_t *item, *assumed = json_object_get(verdict, "assumed");
	size_t i;

	json_array_foreach(assumed, i, item)
		wrap_putf(&t->w, WRAP_DIM, "%s%s%s", i ? " " : " (assumed: ",
			  json_string_value(item), i + 1 < json_array_size(assumed) ? ";" : ")");
}

/* "gpu-1, storage-1" when all members say literally the same and the names are short; else NULL. */
static char *joined_subjects(struct text *t, const struct group *group)
{
	const char *said = NULL;
	struct strbuf b = {0};
	bool fits = true;

	for (size_t i = 0; i < group->n && fits; i++) {
		json_t *v = json_array_get(t->verdicts, group->members[i]);
		const char *summary = json_get_string(v, "summary", "");
		_cleanup_free_ char *subject = document_subject(t->document, v);

		strbuf_printf(&b, "%s%s", i ? ", " : "", subject);
		fits = *subject && width_of(b.s, b.len) <= SUBJECTS_WIDTH &&
		       (!said || !strcmp(said, summary));
		said = summary;
	}
	if (fits)
		return strbuf_steal(&b);
	strbuf_clear(&b);
	return NULL;
}

void text_put_row(struct text *t, const struct group *group)
{
	json_t *verdict = json_array_get(t->verdicts, group->members[0]);
	enum verdict_status status = document_status(verdict);
	_cleanup_free_ char *joined = group->n > 1 ? joined_subjects(t, group) : NULL;
	_cleanup_free_ char *subject =
		joined ? xstrdup(joined) : document_subject(t->document, verdict);
	const struct look *mark = &marks[status];
	enum wrap_style style = status == VERDICT_NA ? WRAP_DIM : WRAP_PLAIN;

	t->w.indent = t->text_column;
	wrap_to(&t->w, 2);
	wrap_put(&t->w, mark->style, t->w.ascii ? mark->ascii : mark->utf8);
	wrap_to(&t->w, TEXT_ID_COLUMN);
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
	if (!joined)
		render_alike(t, group);
	render_details(t, verdict);
}
