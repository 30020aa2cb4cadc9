/* SPDX-License-Identifier: Apache-2.0 */
/* Proof records (docs/proof.md) as text: what was proven, between whom, and what counters say. */
#include <inttypes.h>
#include <string.h>

#include "report/internal.h"
#include "report/proof.h"
#include "report/proof_errors.h"

#define END_COLUMN 4u
#define RUN_COLUMN 14u

static enum wrap_style status_style(const char *status)
{
	return !strcmp(status, "pass") ? WRAP_GREEN :
	       !strcmp(status, "fail") ? WRAP_RED :
					 WRAP_YELLOW;
}

static const char *node_in_role(json_t *record, const char *role)
{
	return json_get_string(proof_end(record, role), "node", "?");
}

static void put_end(struct wrap *w, json_t *end)
{
	json_t *path = json_object_get(end, "path"), *memory = json_object_get(end, "memory");
	json_t *reason;
	size_t i;

	w->indent = END_COLUMN + 2;
	wrap_to(w, 2);
	wrap_put(w, WRAP_BOLD, json_get_string(end, "node", "?"));
	wrap_putf(w, WRAP_PLAIN, ": %s %s, device %s port %d, GID index %d, MTU %d",
		  json_get_string(path, "link", "?"), json_get_string(path, "address", "?"),
		  json_get_string(path, "device", "?"), (int)json_get_int(path, "port", 0),
		  (int)json_get_int(path, "gid_index", 0), (int)json_get_int(path, "mtu_bytes", 0));
	if (memory)
		wrap_putf(w, WRAP_PLAIN, "; %s memory%s", json_get_string(memory, "kind", "?"),
			  json_get_bool(memory, "double", false) ? " (a test double)" : "");
	wrap_end(w);
	json_array_foreach(json_object_get(path, "reasons"), i, reason) {
		wrap_to(w, END_COLUMN);
		wrap_put(w, WRAP_DIM, json_string_value(reason) ? json_string_value(reason) : "");
		wrap_end(w);
	}
}

static void put_run(struct wrap *w, json_t *record, json_t *run)
{
	const char *kind = json_get_string(run, "run", "");
	const char *error = json_get_string(run, "error", NULL);
	const char *operation = json_get_string(run, "operation", "");
	json_t *result = json_object_get(run, "result");
	bool back = proof_source(record, run) != proof_end(record, "initiator");
	bool wrong = json_is_false(json_object_get(result, "verified"));

	w->indent = RUN_COLUMN + 2;
	wrap_to(w, 2);
	wrap_put(w, wrong ? WRAP_RED : WRAP_BOLD, kind);
	wrap_to(w, RUN_COLUMN);
	if (!strcmp(kind, "register"))	/* of one end; nothing moves */
		wrap_putf(w, WRAP_PLAIN, "%s: ",
			  node_in_role(record, json_get_string(run, "end", "initiator")));
	else
		wrap_putf(w, WRAP_PLAIN, "%s%s%s → %s: ", strcmp(kind, "marking") ? operation : "",
			  strcmp(kind, "marking") ? ", " : "",
			  node_in_role(record, back ? "listener" : "initiator"),
			  node_in_role(record, back ? "initiator" : "listener"));
	if (error)
		wrap_put(w, WRAP_YELLOW, error);
	else
		proof_put_result(w, kind, result);
	wrap_end(w);
}

/* What got lost or came twice on the way: right bytes may have had a high price. */
static void put_errors(struct wrap *w, json_t *end)
{
	_cleanup_strbuf_ struct strbuf grown = {0};
	size_t known = proof_errors(&grown, end);

	if (!json_at(end, "/counters/difference"))
		return;
	w->indent = RUN_COLUMN;
	wrap_to(w, 2);
	wrap_put(w, WRAP_BOLD, "errors");
	wrap_to(w, RUN_COLUMN);
	wrap_putf(w, WRAP_PLAIN, "%s: ", json_get_string(end, "node", "?"));
	if (grown.len)
		wrap_put(w, WRAP_YELLOW, grown.s);
	else if (known)
		wrap_putf(w, WRAP_PLAIN, "none of %zu counters of errors and drops grew", known);
	else
		wrap_put(w, WRAP_PLAIN, "no counter of errors or drops is known");
	wrap_end(w);
}

static void put_counters(struct wrap *w, json_t *end, const struct report_options *options)
{
	json_t *counters = json_object_get(end, "counters"), *why;
	size_t i;

	json_array_foreach(json_object_get(counters, "why"), i, why) {
		w->indent = RUN_COLUMN;
		wrap_to(w, 2);
		wrap_put(w, WRAP_BOLD, "counters");
		wrap_to(w, RUN_COLUMN);
		wrap_putf(w, WRAP_PLAIN, "%s: %s", json_get_string(end, "node", "?"),
			  json_string_value(why) ? json_string_value(why) : "");
		wrap_end(w);
	}
	put_errors(w, end);
	if (!options->verbose)
		return;
	w->indent = RUN_COLUMN;
	_cleanup_free_ char *all = json_dumps(json_object_get(counters, "difference"),
					      JSON_SORT_KEYS | JSON_ENCODE_ANY);
	wrap_to(w, RUN_COLUMN);
	wrap_put(w, WRAP_DIM, all ? all : "none");
	wrap_end(w);
}

static void put_closing(struct wrap *w, json_t *record)
{
	json_t *verdict = json_object_get(record, "verdict"), *why;
	const char *status = json_get_string(verdict, "status", "unknown");
	size_t i;

	w->indent = 2;
	wrap_put(w, status_style(status),
		 !strcmp(status, "pass") ? "PROVEN" :
		 !strcmp(status, "fail") ? "FAILED" :
					   "NOT PROVEN");
	wrap_putf(w, WRAP_PLAIN, " proof.%s: %s and %s", json_get_string(record, "kind", "?"),
		  node_in_role(record, "initiator"), node_in_role(record, "listener"));
	json_array_foreach(json_object_get(verdict, "why"), i, why) {
		wrap_put(w, WRAP_PLAIN, "; ");
		wrap_put(w, WRAP_PLAIN, json_string_value(why) ? json_string_value(why) : "");
	}
	wrap_end(w);
}

/* `told`: the ends and their counters stand in the record before this one, of the same run. */
static void put_record(struct wrap *w, json_t *record, bool told,
		       const struct report_options *options)
{
	static const char *const ends[] = { "local", "peer" };
	json_t *runs = json_object_get(record, "runs"), *run;

	w->indent = 0;
	if (options->quiet) {
		put_closing(w, record);
		return;
	}
	for (size_t k = 0; k < ARRAY_SIZE(ends) && !told; k++)
		put_end(w, json_object_get(record, ends[k]));
	if (!told)
		wrap_end(w);
	for (size_t i = 0; (run = json_array_get(runs, i));) {
		/* -v: each for itself, with how its numbers were got */
		size_t n = options->verbose ? 0 : proof_put_table(w, record, i);

		if (!n)
			put_run(w, record, run);
		i += n ? n : 1;
	}
	for (size_t k = 0; k < ARRAY_SIZE(ends) && !told; k++)
		put_counters(w, json_object_get(record, ends[k]), options);
	put_closing(w, record);
}

static void render(struct strbuf *out, json_t *document, const struct report_options *options)
{
	_cleanup_json_ json_t *safe = document_value(document);
	struct wrap w = wrap_of(out, options);
	const char *before = "";
	json_t *record;
	size_t i;

	json_array_foreach(safe, i, record) {
		const char *run = json_get_string(record, "run", "");

		if (i && !options->quiet)
			wrap_end(&w);
		put_record(&w, record, !strcmp(run, before), options);
		before = run;
	}
}

int report_proofs(FILE *out, json_t *records, const struct report_options *options,
		  struct error *err)
{
	if (options->format == REPORT_HTML) {
		_cleanup_json_ json_t *safe = document_value(records);
		_cleanup_strbuf_ struct strbuf page = {0};

		html_render_proofs(&page, safe);
		return report_emit(out, &page, err);
	}
	return report_text_or_json(out, records, "proofs", render, options, err);
}
