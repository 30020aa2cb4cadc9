/* SPDX-License-Identifier: Apache-2.0 */
/* The registry as a table, and one gate in full. */
#include <errno.h>
#include <string.h>

#include "report/internal.h"

static json_t *gate_document(const struct gate *gate)
{
	json_t *obj = json_object_new();

	document_put(obj, "id", gate->id);
	json_put_int(obj, "phase", gate->phase);
	json_put_int(obj, "level", gate->level);
	document_put(obj, "scope", gate_scope_name(gate->scope));
	document_put(obj, "title", gate->title);
	json_t *needs = json_arr(obj, "needs");
	for (size_t i = 0; i < ARRAY_SIZE(gate->needs) && gate->needs[i]; i++)
		json_append_text(needs, gate->needs[i]);
	document_put(obj, "proves", gate->proves);
	document_put(obj, "why", gate->why);
	document_put(obj, "fix", gate->fix);
	document_put(obj, "obtain", gate->obtain);
	document_put(obj, "source", gate->source);
	return obj;
}

static json_t *gates_document(const struct gate *const *gates, size_t n)
{
	json_t *document = json_object_new(), *list;

	document_put(document, "schema", REPORT_GATES_SCHEMA);
	list = json_arr(document, "gates");
	for (size_t i = 0; i < n; i++) {
		json_append(list, gate_document(gates[i]));
	}
	return document;
}

static void table_render(struct strbuf *out, json_t *document, const struct report_options *options)
{
	json_t *gates = json_object_get(document, "gates"), *gate;
	unsigned id_width = 4, scope_width = 7;
	struct wrap w = wrap_of(out, options);
	size_t i;

	json_array_foreach(gates, i, gate) {
		size_t len = strlen(json_get_string(gate, "id", ""));

		id_width = len > id_width ? (unsigned)len : id_width;
	}
	const unsigned phase = id_width + 2, level = phase + 7, scope = level + 7,
		       title = scope + scope_width + 2;

	w.indent = title;
	wrap_put(&w, WRAP_BOLD, "gate");
	wrap_to(&w, phase);
	wrap_put(&w, WRAP_BOLD, "phase");
	wrap_to(&w, level);
	wrap_put(&w, WRAP_BOLD, "level");
	wrap_to(&w, scope);
	wrap_put(&w, WRAP_BOLD, "scope");
	wrap_to(&w, title);
	wrap_put(&w, WRAP_BOLD, "question");
	wrap_end(&w);
	json_array_foreach(gates, i, gate) {
		wrap_put(&w, WRAP_PLAIN, json_get_string(gate, "id", ""));
		wrap_to(&w, phase);
		wrap_putf(&w, WRAP_PLAIN, "%5lld", (long long)json_get_int(gate, "phase", 0));
		wrap_to(&w, level);
		wrap_putf(&w, WRAP_PLAIN, "%5lld", (long long)json_get_int(gate, "level", 0));
		wrap_to(&w, scope);
		wrap_put(&w, WRAP_PLAIN, json_get_string(gate, "scope", ""));
		wrap_to(&w, title);
		wrap_put(&w, WRAP_PLAIN, json_get_string(gate, "title", ""));
		wrap_end(&w);
	}
}

static void explain_render(struct strbuf *out, json_t *document,
			   const struct report_options *options)
{
	json_t *gate = json_array_get(json_object_get(document, "gates"), 0);
	static const struct {
		const char *key, *heading;
	} parts[] = {
		{"proves", "What it proves"}, {"why", "Why it matters"},
		{"fix", "When it fails"},     {"obtain", "Where the facts come from"},
		{"source", "Sources"},
	};
	long long phase = json_get_int(gate, "phase", 0), level = json_get_int(gate, "level", 0);
	json_t *needs = json_object_get(gate, "needs"), *need;
	struct wrap w = wrap_of(out, options);
	size_t i;

	w.indent = 2;
	wrap_put(&w, WRAP_BOLD, json_get_string(gate, "id", ""));
	wrap_putf(&w, WRAP_PLAIN, " — %s", json_get_string(gate, "title", ""));
	wrap_end(&w);
	wrap_putf(&w, WRAP_DIM, "phase %lld (%s), level %lld (%s), judged per %s", phase,
		  report_phase_title((unsigned)phase), level, report_level_title((unsigned)level),
		  json_get_string(gate, "scope", ""));
	wrap_end(&w);
	json_array_foreach(needs, i, need)
		wrap_putf(&w, WRAP_PLAIN, "%s%s", i ? ", " : "needs ", json_string_value(need));
	if (json_array_size(needs))
		wrap_end(&w);
	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		const char *text = json_get_string(gate, parts[i].key, NULL);

		if (!text)
			continue;
		wrap_end(&w);
		wrap_put(&w, WRAP_BOLD, parts[i].heading);
		wrap_end(&w);
		wrap_to(&w, 2);
		wrap_put(&w, WRAP_PLAIN, text);
		wrap_end(&w);
	}
}

int report_gates(FILE *out, const struct gate *const *gates, size_t n,
		 const struct report_options *options, struct error *err)
{
	_cleanup_json_ json_t *document = gates_document(gates, n);

	return report_text_or_json(out, document, "gates", table_render, options, err);
}

int report_explain(FILE *out, const struct gate *gate, const struct report_options *options,
		   struct error *err)
{
	_cleanup_json_ json_t *document = gates_document(&gate, 1);

	return report_text_or_json(out, document, "gates", explain_render, options, err);
}
