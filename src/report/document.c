/* SPDX-License-Identifier: Apache-2.0 */
/* A ladder as one JSON document, "railhead.report/1"; described in docs/report.md. */
#include <string.h>

#include "config.h"
#include "report/internal.h"

static const enum verdict_status all_statuses[] = {
	VERDICT_PASS, VERDICT_WARN, VERDICT_FAIL, VERDICT_BLOCKED, VERDICT_UNKNOWN, VERDICT_NA,
};

static json_t *text_new(const char *text)
{
	_cleanup_free_ char *safe = safe_text(text);
	json_t *value = json_string_nocheck(safe);

	if (!value)
		alloc_exhausted();
	return value;
}

void document_put(json_t *obj, const char *key, const char *text)
{
	if (text)
		json_put(obj, key, text_new(text));
}

/* True when no text in the value, keys included, needs to be made safe. */
static bool value_is_clean(json_t *value)
{
	const char *key;
	json_t *child;
	size_t i;

	json_object_foreach(value, key, child) {
		if (!safe_is_clean(key, strlen(key)) || !value_is_clean(child))
			return false;
	}
	json_array_foreach(value, i, child) {
		if (!value_is_clean(child))
			return false;
	}
	return !json_is_string(value) ||
	       safe_is_clean(json_string_value(value), json_string_length(value));
}

static json_t *value_copy(json_t *value)
{
	const char *key;
	json_t *child, *copy;
	size_t i;

	switch (json_typeof(value)) {
	case JSON_OBJECT:
		copy = json_object_new();
		json_object_foreach(value, key, child) {
			_cleanup_free_ char *safe = safe_text(key);
			json_put(copy, safe, value_copy(child));
		}
		return copy;
	case JSON_ARRAY:
		copy = json_array_new();
		json_array_foreach(value, i, child)
			json_append(copy, value_copy(child));
		return copy;
	case JSON_STRING: {
		_cleanup_free_ char *safe =
			safe_textn(json_string_value(value), json_string_length(value));
		return json_string_nocheck(safe);
	}
	default:
		return json_incref(value);
	}
}

json_t *document_value(json_t *value)
{
	return value_is_clean(value) ? json_incref(value) : value_copy(value);
}

static void put_texts(json_t *obj, const char *key, char **texts)
{
	for (; texts && *texts; texts++)
		json_append(json_arr(obj, key), text_new(*texts));
}

static json_t *cause_new(const struct cause *cause)
{
	json_t *obj = json_object_new();

	document_put(obj, "id", cause->id);
	document_put(obj, "text", cause->text);
	document_put(obj, "fix", cause->fix);
	json_put_bool(obj, "candidate", cause->candidate);
	put_texts(obj, "options", cause->options);
	return obj;
}

static json_t *evidence_new(const struct evidence *evidence)
{
	json_t *obj = json_object_new();

	document_put(obj, "node", evidence->node);
	document_put(obj, "pointer", evidence->pointer);
	if (evidence->value)
		json_put(obj, "value", document_value(evidence->value));
	else
		document_put(obj, "missing", evidence->missing ? evidence->missing : "absent");
	return obj;
}

static json_t *unverified_new(const struct unverified *unverified)
{
	json_t *obj = json_object_new();

	const struct gate *gate = unverified->gate ? gate_find(unverified->gate) : NULL;

	document_put(obj, "text", unverified->text);
	document_put(obj, "gate", unverified->gate);
	if (gate)
		json_put_int(obj, "phase", gate->phase);
	return obj;
}

static json_t *verdict_new(const struct verdict *v)
{
	json_t *obj = json_object_new();

	document_put(obj, "gate", v->gate->id);
	document_put(obj, "title", v->gate->title);
	json_put_int(obj, "phase", v->phase);
	json_put_int(obj, "level", v->gate->level);
	document_put(obj, "scope", gate_scope_name(v->gate->scope));
	document_put(obj, "node", v->node);
	document_put(obj, "subject", v->subject);
	document_put(obj, "status", verdict_status_name(v->status));
	document_put(obj, "summary", v->summary ? v->summary : "");
	document_put(obj, "explained_by", v->explained_by);
	put_texts(obj, "blocked_by", v->blocked_by);
	document_put(obj, "obtain", v->obtain);
	put_texts(obj, "assumed", v->assumed);
	if (v->double_used)
		json_put_bool(obj, "double", true);
	json_t *causes = json_arr(obj, "causes");
	for (size_t i = 0; i < v->n_causes; i++)
		json_append(causes, cause_new(&v->causes[i]));
	json_t *evidence = json_arr(obj, "evidence");
	for (size_t i = 0; i < v->n_evidence; i++)
		json_append(evidence, evidence_new(&v->evidence[i]));
	for (size_t i = 0; i < v->n_unverified; i++)
		json_append(json_arr(obj, "unverified"), unverified_new(&v->unverified[i]));
	return obj;
}

/* Which verdict, so that a reader of the JSON need not count. */
static json_t *reference_new(json_t *verdicts, size_t index)
{
	json_t *v = json_array_get(verdicts, index), *obj;

	if (!v)
		return json_null();
	obj = json_object_new();
	json_put_int(obj, "verdict", (int64_t)index);
	json_put(obj, "gate", json_incref(json_object_get(v, "gate")));
	json_put(obj, "node", json_incref(json_object_get(v, "node")));
	json_put(obj, "subject", json_incref(json_object_get(v, "subject")));
	json_put_int(obj, "phase", json_get_int(v, "phase", 0));
	return obj;
}

/* Fill document["result"] from its verdicts; indexes as in struct ladder, `n` = none. */
static void put_result(json_t *document, size_t railhead, size_t stopped, bool passed)
{
	json_t *result = json_obj(document, "result"), *verdicts = json_arr(document, "verdicts");
	json_t *counts = json_obj(result, "counts"), *v;
	size_t n[VERDICT_FAIL + 1] = {0}, i;

	json_array_foreach(verdicts, i, v)
		n[document_status(v)]++;
	for (i = 0; i < ARRAY_SIZE(all_statuses); i++)
		json_put_int(counts, verdict_status_name(all_statuses[i]),
			     (int64_t)n[all_statuses[i]]);
	json_put_bool(result, "passed", passed);
	json_put(result, "railhead", reference_new(verdicts, railhead));
	json_put(result, "stopped_by", reference_new(verdicts, stopped));
}

json_t *report_document(const struct ladder *ladder)
{
	json_t *document = json_object_new(), *site, *nodes, *verdicts;
	const struct verdict *railhead = ladder_railhead(ladder);

	document_put(document, "schema", REPORT_SCHEMA);
	document_put(document, "railhead", RAILHEAD_VERSION);
	document_put(document, "taken", ladder->taken);
	site = json_obj(document, "site");
	document_put(site, "name", ladder->site_name);
	document_put(site, "path", ladder->site_path);
	json_put_bool(site, "assumed", ladder->assumed);
	nodes = json_arr(document, "nodes");
	for (size_t i = 0; ladder->nodes && ladder->nodes[i]; i++) {
		json_t *node = json_object_new();

		document_put(node, "name", ladder->nodes[i]);
		if (ladder->sources)
			document_put(node, "source", ladder->sources[i]);
		json_append(nodes, node);
	}
	json_obj(document, "result");	/* before the verdicts; filled by put_result() */
	verdicts = json_arr(document, "verdicts");
	for (size_t i = 0; i < ladder->n_verdicts; i++)
		json_append(verdicts, verdict_new(&ladder->verdicts[i]));
	put_result(document, railhead ? (size_t)(railhead - ladder->verdicts) : ladder->n_verdicts,
		   ladder->stopped_at, ladder_exit_status(ladder) == 0);
	return document;
}

json_t *report_plan_document(const struct ladder *ladder, json_t *components, json_t *buffers)
{
	json_t *document = report_document(ladder);

	json_put_bool(document, "paper", true);
	if (components)
		json_put(document, "components", document_value(components));
	if (buffers)
		json_put(document, "buffers", document_value(buffers));
	return document;
}

/* --- look-ups that the forms share ------------------------------------------------------------ */

enum verdict_status document_status(json_t *verdict)
{
	const char *name = json_get_string(verdict, "status", "");

	for (size_t i = 0; i < ARRAY_SIZE(all_statuses); i++) {
		if (!strcmp(name, verdict_status_name(all_statuses[i])))
			return all_statuses[i];
	}
	return VERDICT_UNKNOWN;	/* not reached: report_read() has looked */
}

size_t document_index(json_t *document, const char *key)
{
	json_t *reference = json_object_get(json_object_get(document, "result"), key);
	size_t n = json_array_size(json_object_get(document, "verdicts"));
	int64_t index = json_get_int(reference, "verdict", -1);

	return index >= 0 && (uint64_t)index < n ? (size_t)index : n;
}

size_t document_boundary(json_t *document)
{
	size_t n = json_array_size(json_object_get(document, "verdicts"));
	size_t railhead = document_index(document, "railhead");

	return railhead < n ? railhead + 1 : 0;
}

char *document_subject(json_t *document, json_t *verdict)
{
	const char *node = json_get_string(verdict, "node", NULL);
	const char *subject = json_get_string(verdict, "subject", NULL);
	bool one_node = json_array_size(json_object_get(document, "nodes")) < 2;

	/* the subject of a pair names both of its nodes */
	if (subject && (one_node || !node || strstr(subject, "↔")))
		return xstrdup(subject);
	if (subject)
		return xasprintf("%s %s", node, subject);
	return xstrdup(node && !one_node ? node : "");
}

char *document_name(json_t *document, json_t *verdict)
{
	_cleanup_free_ char *subject = document_subject(document, verdict);
	const char *gate = json_get_string(verdict, "gate", "");

	return *subject ? xasprintf("%s %s", gate, subject) : xstrdup(gate);
}

size_t document_root_failure(json_t *document)
{
	json_t *verdicts = json_object_get(document, "verdicts"), *v;
	size_t first = json_array_size(verdicts), n = first, i;

	json_array_foreach(verdicts, i, v) {
		if (document_status(v) != VERDICT_FAIL)
			continue;
		if (!json_object_get(v, "explained_by"))
			return i;
		if (first == n)
			first = i;
	}
	return first;
}

static void put_statement(struct strbuf *b, json_t *document, const char *lead, size_t index)
{
	json_t *v = json_array_get(json_object_get(document, "verdicts"), index);
	_cleanup_free_ char *name = document_name(document, v);
	const char *because = json_get_string(v, "explained_by", NULL);

	strbuf_printf(b, "%s %s: %s", lead, name, json_get_string(v, "summary", ""));
	if (because)
		strbuf_printf(b, " (explained by %s)", because);
}

static void put_counts(struct strbuf *b, json_t *counts)
{
	bool any = false;

	for (size_t i = 0; i < ARRAY_SIZE(all_statuses); i++) {
		const char *name = verdict_status_name(all_statuses[i]);
		int64_t n = json_get_int(counts, name, 0);

		if (!n)
			continue;
		strbuf_printf(b, "%s%lld %s", any ? ", " : "", (long long)n, name);
		any = true;
	}
}

/* On paper nothing is proven and no gate waits for another: all that fail are named, the first one
 * with its summary. */
static char *closing_on_paper(json_t *document, const char *between)
{
	json_t *verdicts = json_object_get(document, "verdicts"), *v;
	size_t n = json_array_size(verdicts), stopped = document_index(document, "stopped_by"), i;
	struct strbuf b = {0};
	size_t failed = 0;

	json_array_foreach(verdicts, i, v) {
		if (document_status(v) != VERDICT_FAIL)
			continue;
		if (!failed++)
			put_statement(&b, document, "stopped by", i);
		else
			strbuf_printf(&b, "%s%s", failed == 2 ? between : ", ",
				      failed == 2 ? "and by " : "");
		if (failed > 1)
			strbuf_puts(&b, json_get_string(v, "gate", ""));
	}
	if (!failed && stopped < n)
		put_statement(&b, document, "not decided:", stopped);
	else if (!failed)
		strbuf_puts(&b, "nothing on paper stands against it");
	strbuf_puts(&b, between);
	put_counts(&b, json_object_get(json_object_get(document, "result"), "counts"));
	return strbuf_steal(&b);
}

bool document_is_paper(json_t *document)
{
	return json_get_bool(document, "paper", false);
}

char *document_closing(json_t *document, const char *between)
{
	json_t *verdicts = json_object_get(document, "verdicts");
	size_t n = json_array_size(verdicts), railhead = document_index(document, "railhead"),
	       stopped = document_index(document, "stopped_by"),
	       failure = document_root_failure(document);
	struct strbuf b = {0};

	if (!n)
		return xstrdup("no gate was judged: nothing is proven");
	if (document_is_paper(document))
		return closing_on_paper(document, between);
	if (railhead < n) {
		json_t *v = json_array_get(verdicts, railhead);
		_cleanup_free_ char *name = document_name(document, v);

		strbuf_printf(&b, "proven up to %s (phase %lld)", name,
			      (long long)json_get_int(v, "phase", 0));
	} else {
		strbuf_puts(&b, "nothing is proven");
	}
	if (stopped < n) {
		strbuf_puts(&b, between);
		put_statement(&b, document, "stopped by", stopped);
		if (failure < n && failure != stopped) {
			strbuf_puts(&b, between);
			put_statement(&b, document, "first failure", failure);
		}
	} else if (railhead < n) {
		strbuf_printf(&b, "%snothing that was judged stops it", between);
	}
	strbuf_puts(&b, between);
	put_counts(&b, json_object_get(json_object_get(document, "result"), "counts"));
	return strbuf_steal(&b);
}

char *document_evidence_text(json_t *evidence, size_t limit)
{
	json_t *value = json_object_get(evidence, "value");
	_cleanup_free_ char *text = NULL;
	struct strbuf b = {0};
	size_t n;

	if (!value)
		return xasprintf("absent: %s", json_get_string(evidence, "missing", ""));
	/* a string without its quotes reads better, when that leaves no doubt */
	if (json_is_string(value) && json_string_length(value))
		text = xstrdup(json_string_value(value));
	else
		text = json_to_text(value, false);
	for (char *p = text; *p; p++) {
		if (*p == '\n')
			*p = ' ';
	}
	n = strlen(text);
	if (!limit || n <= limit)
		return xstrdup(text);
	while (limit && ((unsigned char)text[limit] & 0xc0) == 0x80)
		limit--;
	strbuf_add(&b, text, limit);
	strbuf_printf(&b, "… (%zu bytes)", n);
	return strbuf_steal(&b);
}
