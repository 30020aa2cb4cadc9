/* SPDX-License-Identifier: Apache-2.0 */
/* Text into HTML. Nothing from a document reaches the page but through html_put(). */
#include <string.h>

#include "report/html.h"

static void put_bytes(struct strbuf *out, const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		switch (s[i]) {
		case '&':
			strbuf_puts(out, "&amp;");
			break;
		case '<':
			strbuf_puts(out, "&lt;");
			break;
		case '>':
			strbuf_puts(out, "&gt;");
			break;
		case '"':
			strbuf_puts(out, "&quot;");
			break;
		case '\'':
			strbuf_puts(out, "&#39;");
			break;
		default:
			strbuf_putc(out, s[i]);
		}
	}
}

void html_put(struct strbuf *out, const char *text)
{
	put_bytes(out, text, strlen(text));
}

static void put_rich_bytes(struct strbuf *out, const char *s, size_t len)
{
	const char *end = s + len;

	while (s < end) {
		const char *open = memchr(s, '`', (size_t)(end - s));
		const char *close =
			open ? memchr(open + 1, '`', (size_t)(end - open - 1)) : NULL;

		if (!close || close == open + 1) {
			put_bytes(out, s, (size_t)(end - s));
			return;
		}
		put_bytes(out, s, (size_t)(open - s));
		strbuf_puts(out, "<code>");
		put_bytes(out, open + 1, (size_t)(close - open - 1));
		strbuf_puts(out, "</code>");
		s = close + 1;
	}
}

void html_put_rich(struct strbuf *out, const char *text)
{
	put_rich_bytes(out, text, strlen(text));
}

/* Several lines: paragraphs, and <pre> for the indented ones. */
static void put_advice(struct strbuf *out, const char *text)
{
	enum { NONE, PROSE, CODE } in = NONE;
	static const char *const closing[] = {"", "</p>", "</pre>"};

	while (*text) {
		size_t len = strcspn(text, "\n"), blanks = strspn(text, " ");

		if (blanks >= len) {	/* an empty line ends what was open */
			strbuf_puts(out, closing[in]);
			in = NONE;
		} else if (blanks >= 2) {
			if (in != CODE) {
				strbuf_puts(out, closing[in]);
				strbuf_puts(out, "<pre>");
				in = CODE;
			} else {
				strbuf_putc(out, '\n');
			}
			size_t cut = blanks < 4 ? blanks : 4;
			put_bytes(out, text + cut, len - cut);
		} else {
			if (in != PROSE)
				strbuf_puts(out, closing[in]);
			strbuf_puts(out, in == PROSE ? "<br>" : "<p>");
			in = PROSE;
			put_rich_bytes(out, text, len);
		}
		text += len + (text[len] == '\n');
	}
	strbuf_puts(out, closing[in]);
}

const char *html_class(enum verdict_status status)
{
	return status == VERDICT_NA ? "na" : verdict_status_name(status);
}

void html_put_mark(struct strbuf *out, enum verdict_status status, const char *name)
{
	strbuf_puts(out, "<svg class=\"mark\" ");
	if (name) {
		strbuf_puts(out, "role=\"img\" aria-label=\"");
		html_put(out, name);
		strbuf_puts(out, "\"");
	} else {
		strbuf_puts(out, "aria-hidden=\"true\"");
	}
	strbuf_printf(out, "><use href=\"#m-%s\"/></svg>", html_class(status));
}

/* Key of a verdict in the places. Without a node or a subject: the first one of any. */
static char *place_key(const char *gate, size_t gate_len, const char *subject, size_t subject_len,
		       const char *node)
{
	return xasprintf("%.*s\n%.*s\n%s", (int)gate_len, gate, (int)subject_len, subject, node);
}

static void put_place(json_t *places, const char *gate, const char *subject, const char *node,
		      size_t index)
{
	_cleanup_free_ char *key = place_key(gate, strlen(gate), subject, strlen(subject), node);

	if (!json_object_get(places, key))
		json_put_int(places, key, (int64_t)index);
}

json_t *html_places_new(json_t *document)
{
	json_t *places = json_object_new(), *v;
	size_t i;

	json_array_foreach(json_object_get(document, "verdicts"), i, v) {
		const char *gate = json_get_string(v, "gate", "");
		const char *subject = json_get_string(v, "subject", "");
		const char *node = json_get_string(v, "node", "");
		enum verdict_status status = document_status(v);

		if (status == VERDICT_PASS || status == VERDICT_NA)
			continue;
		put_place(places, gate, subject, node, i);
		put_place(places, gate, subject, "", i);
		put_place(places, gate, "", node, i);
		put_place(places, gate, "", "", i);
	}
	return places;
}

/* Index of verdict "gate (subject)" or "gate", on `node` if there is one; -1 when there is none. */
static int64_t find_place(json_t *places, const char *name, const char *node)
{
	size_t gate_len = strcspn(name, " (");
	const char *open = strchr(name, '('), *close = open ? strrchr(open, ')') : NULL;
	const char *subject = close ? open + 1 : "";
	size_t subject_len = close ? (size_t)(close - subject) : 0;
	_cleanup_free_ char *here = place_key(name, gate_len, subject, subject_len, node);
	_cleanup_free_ char *any = place_key(name, gate_len, subject, subject_len, "");

	return json_get_int(places, here, json_get_int(places, any, -1));
}

void html_put_reference(struct strbuf *out, json_t *places, const char *name, const char *node)
{
	int64_t at = find_place(places, name, node);

	if (at >= 0)
		strbuf_printf(out, "<a href=\"#v%lld\">", (long long)at);
	html_put(out, name);
	if (at >= 0)
		strbuf_puts(out, "</a>");
}

void html_put_name(struct strbuf *out, json_t *document, json_t *verdict)
{
	_cleanup_free_ char *subject = document_subject(document, verdict);

	strbuf_puts(out, "<code>");
	html_put(out, json_get_string(verdict, "gate", ""));
	strbuf_puts(out, "</code>");
	if (*subject)
		strbuf_putc(out, ' ');
	html_put(out, subject);
}

void html_put_note(struct strbuf *out, const char *label, const char *rich, const char *id)
{
	if (!rich || !*rich)
		return;
	strbuf_printf(out, "<div class=\"note\"><span class=\"label\">%s</span><div class=\"advice\">",
		      label);
	put_advice(out, rich);
	if (id) {
		strbuf_puts(out, "<code class=\"id\">");
		html_put(out, id);
		strbuf_puts(out, "</code>");
	}
	strbuf_puts(out, "</div></div>\n");
}

static void put_options(struct strbuf *out, json_t *options)
{
	json_t *option;
	size_t i;

	if (!json_array_size(options))
		return;
	strbuf_puts(out, "<div class=\"note\"><span class=\"label\">options</span>"
			 "<ul class=\"options\">");
	json_array_foreach(options, i, option) {
		strbuf_puts(out, "<li>");
		html_put_rich(out, json_string_value(option));
		strbuf_puts(out, "</li>");
	}
	strbuf_puts(out, "</ul></div>\n");
}

void html_put_causes(struct strbuf *out, json_t *verdict)
{
	const char *summary = json_get_string(verdict, "summary", "");
	json_t *cause;
	size_t i;

	json_array_foreach(json_object_get(verdict, "causes"), i, cause) {
		bool candidate = json_get_bool(cause, "candidate", false);
		const char *text = json_get_string(cause, "text", "");

		if (candidate || strcmp(text, summary))
			html_put_note(out, candidate ? "maybe" : "cause", text,
				      json_get_string(cause, "id", NULL));
		html_put_note(out, candidate ? "then" : "fix",
			      json_get_string(cause, "fix", NULL), NULL);
		put_options(out, json_object_get(cause, "options"));
	}
}

void html_sum_add(struct html_sum *sum, json_t *verdict, size_t index)
{
	if (!sum->n)
		sum->first = index;
	sum->last = index;
	sum->n++;
	sum->counts[document_status(verdict)]++;
}

enum verdict_status html_sum_status(const struct html_sum *sum)
{
	static const enum verdict_status order[] = {VERDICT_FAIL, VERDICT_BLOCKED, VERDICT_UNKNOWN,
						    VERDICT_WARN, VERDICT_PASS};

	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		if (sum->counts[order[i]])
			return order[i];
	}
	return VERDICT_NA;
}
