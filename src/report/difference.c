/* SPDX-License-Identifier: Apache-2.0 */
/* What an upgrade changes, from two plans of one site. */
#include <string.h>

#include "config.h"
#include "report/internal.h"

#define DETAIL_COLUMN 14u

/* "4 fail: plan.bond-rdma, …; 11 pass, 2 warn": how a plan ends, in one line. The caller frees. */
static char *outcome(json_t *result)
{
	static const enum verdict_status order[] = {
		VERDICT_FAIL, VERDICT_BLOCKED, VERDICT_UNKNOWN, VERDICT_WARN, VERDICT_PASS,
	};
	json_t *failing = json_object_get(result, "failing"), *gate;
	const char *between = "";
	struct strbuf b = {0};
	size_t i;

	for (size_t k = 0; k < ARRAY_SIZE(order); k++) {
		const char *name = verdict_status_name(order[k]);
		int64_t n = json_get_int(json_object_get(result, "counts"), name, 0);

		if (!n)
			continue;
		strbuf_printf(&b, "%s%lld %s", between, (long long)n, name);
		between = ", ";
		json_array_foreach(order[k] == VERDICT_FAIL ? failing : NULL, i, gate)
			strbuf_printf(&b, "%s%s%s", i ? ", " : " (", json_string_value(gate),
				      i + 1 < json_array_size(failing) ? "" : ")");
	}
	return b.s ? strbuf_steal(&b) : xstrdup("no gate was judged");
}

static json_t *result_of(json_t *document)
{
	json_t *result = json_copy(json_object_get(document, "result"));
	json_t *failing = json_arr(result, "failing"), *v;
	size_t i;

	json_array_foreach(json_object_get(document, "verdicts"), i, v) {
		if (document_status(v) == VERDICT_FAIL)
			json_append_text(failing, json_get_string(v, "gate", ""));
	}
	return result;
}

json_t *report_difference_document(json_t *before, json_t *after, json_t *difference,
				   const char *const *upgrades)
{
	static const char *const lists[] = { "verdicts", "components", "buffers" };
	json_t *document = json_object_new(), *texts;

	document_put(document, "schema", REPORT_DIFFERENCE_SCHEMA);
	document_put(document, "railhead", RAILHEAD_VERSION);
	json_put(document, "site", json_incref(json_object_get(after, "site")));
	texts = json_arr(document, "upgrades");
	for (; *upgrades; upgrades++) {
		_cleanup_free_ char *safe = safe_text(*upgrades);
		json_append_text(texts, safe);
	}
	json_put(document, "before", result_of(before));
	json_put(document, "after", result_of(after));
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		json_put(document, lists[i], json_incref(json_object_get(difference, lists[i])));
	return document;
}

static void put_detail(struct wrap *w, const char *label, const char *text)
{
	if (!text || !*text)
		return;
	w->indent = DETAIL_COLUMN;
	wrap_to(w, 6);
	wrap_put(w, WRAP_DIM, label);
	wrap_to(w, DETAIL_COLUMN);
	wrap_put(w, WRAP_PLAIN, text);
	wrap_end(w);
}

/* "fail → pass", "new", "gone"; with both alike, that alone. */
static void put_change(struct wrap *w, const char *before, const char *after)
{
	if (before && after && strcmp(before, after))
		wrap_putf(w, WRAP_BOLD, "%s → %s", before, after);
	else
		wrap_put(w, WRAP_BOLD, after ? after : before ? before : "");
	wrap_end(w);
}

static void put_heading(struct wrap *w, const char *text)
{
	wrap_end(w);
	w->indent = 0;
	wrap_put(w, WRAP_BOLD, text);
	wrap_end(w);
}

static void put_ways_out(struct wrap *w, json_t *verdict)
{
	json_t *cause, *option;
	size_t i, k;

	put_detail(w, "obtain", json_get_string(verdict, "obtain", NULL));
	json_array_foreach(json_object_get(verdict, "causes"), i, cause) {
		put_detail(w, "fix", json_get_string(cause, "fix", NULL));
		json_array_foreach(json_object_get(cause, "options"), k, option) {
			_cleanup_free_ char *item = xasprintf("- %s", json_string_value(option));

			put_detail(w, k ? "" : "options", item);
		}
	}
}

static void put_verdicts(struct wrap *w, json_t *changes)
{
	json_t *change;
	size_t i;

	if (json_array_size(changes))
		put_heading(w, "Verdicts");
	json_array_foreach(changes, i, change) {
		json_t *before = json_object_get(change, "before");
		json_t *after = json_object_get(change, "after");

		w->indent = DETAIL_COLUMN;
		wrap_to(w, 2);
		wrap_putf(w, WRAP_PLAIN, "%s: ", json_get_string(change, "gate", ""));
		put_change(w, json_get_string(before, "status", "new"),
			   json_get_string(after, "status", "gone"));
		put_detail(w, "before", json_get_string(before, "summary", NULL));
		put_detail(w, "after", json_get_string(after, "summary", NULL));
		put_ways_out(w, after);
	}
}

/* Of a component: version and need; "-" where there is none. The caller frees. */
static char *state_of(json_t *component)
{
	const char *version = json_get_string(component, "version", NULL);
	const char *need = json_get_string(component, "need", "");

	if (!component)
		return NULL;
	return version ? xasprintf("%s, %s", version, need) : xstrdup(need);
}

static void put_components(struct wrap *w, json_t *changes)
{
	json_t *change;
	size_t i;

	if (json_array_size(changes))
		put_heading(w, "Components");
	json_array_foreach(changes, i, change) {
		json_t *before = json_object_get(change, "before");
		json_t *after = json_object_get(change, "after");
		const char *was = json_get_string(before, "why", "");
		const char *why = json_get_string(after, "why", "");
		_cleanup_free_ char *old = state_of(before), *new = state_of(after);

		w->indent = DETAIL_COLUMN;
		wrap_to(w, 2);
		wrap_putf(w, WRAP_PLAIN, "%s (%s): ", json_get_string(change, "component", ""),
			  json_get_string(change, "where", ""));
		put_change(w, old ? old : "new", new ? new : "gone");
		if (strcmp(was, why))
			put_detail(w, "why", why);
	}
}

static void put_buffers(struct wrap *w, json_t *changes)
{
	json_t *change;
	size_t i;

	if (json_array_size(changes))
		put_heading(w, "Buffers of the switch");
	json_array_foreach(changes, i, change) {
		json_t *before = json_object_get(change, "before");
		json_t *after = json_object_get(change, "after");

		w->indent = DETAIL_COLUMN;
		wrap_to(w, 2);
		wrap_putf(w, WRAP_PLAIN, "%s: ", json_get_string(change, "name", ""));
		put_change(w, json_get_string(before, "value", "new"),
			   json_get_string(after, "value", "gone"));
		put_detail(w, "formula", json_get_string(after, "formula", NULL));
	}
}

static void render(struct strbuf *out, json_t *document, const struct report_options *options)
{
	json_t *upgrades = json_object_get(document, "upgrades"), *upgrade;
	json_t *verdicts = json_object_get(document, "verdicts");
	json_t *components = json_object_get(document, "components");
	json_t *buffers = json_object_get(document, "buffers");
	_cleanup_free_ char *before = outcome(json_object_get(document, "before"));
	_cleanup_free_ char *after = outcome(json_object_get(document, "after"));
	struct wrap w = wrap_of(out, options);
	size_t i;

	w.indent = 2;
	wrap_putf(&w, WRAP_BOLD, "site %s",
		  json_get_string(json_object_get(document, "site"), "name", ""));
	json_array_foreach(upgrades, i, upgrade)
		wrap_putf(&w, WRAP_PLAIN, "%s%s", i ? ", " : " with ", json_string_value(upgrade));
	wrap_end(&w);
	put_verdicts(&w, verdicts);
	put_components(&w, components);
	put_buffers(&w, buffers);
	if (!json_array_size(verdicts) && !json_array_size(components) &&
	    !json_array_size(buffers)) {
		w.indent = 0;
		wrap_put(&w, WRAP_PLAIN, "nothing changes");
		wrap_end(&w);
	}
	put_heading(&w, "The plan");
	put_detail(&w, "before", before);
	put_detail(&w, "after", after);
}

int report_difference(FILE *out, json_t *document, const struct report_options *options,
		      struct error *err)
{
	return report_text_or_json(out, document, "changes", render, options, err);
}
