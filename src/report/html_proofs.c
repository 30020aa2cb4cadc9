/* SPDX-License-Identifier: Apache-2.0 */
/* Proof records on the page: for each pair of ports what was proven, and the suites side by side. */
#include "report/html_proofs.h"

#include <string.h>

/* Charts of a pair take some 50 KiB; a page with all pairs of a large site could not be opened. */
#define PAIRS_DRAWN 32u

/* In the order of the phases that make them. */
static const struct {
	const char *kind, *colour;
} kinds[] = {
	{ "host", "s-host" }, { "marking", "s-marking" }, { "baseline", "s-baseline" },
	{ "pfc", "s-pfc" },   { "ecn", "s-ecn" },	  { "dmabuf", "s-dmabuf" },
	{ "gdr", "s-gdr" },
};

/* --- pairs ------------------------------------------------------------------------------------ */

bool proof_pair_is_a(const struct proof_pair *pair, json_t *record, json_t *end)
{
	_cleanup_free_ char *port = proof_port(end);

	if (!strcmp(pair->a, pair->b))	/* a port with itself: its ends differ in the role only */
		return end == json_object_get(record, "local");
	return !strcmp(port, pair->a);
}

static void pair_clear(struct proof_pair *pair)
{
	for (size_t i = 0; i < pair->n; i++)
		free(pair->series[i].name);
	free(pair->series);
	free(pair->a);
	free(pair->b);
}
#define _cleanup_pair_ __attribute__((cleanup(pair_clear)))

static const char *gpu_of(json_t *record)
{
	static const char *const ends[] = { "local", "peer" };
	const char *bdf = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(ends) && !bdf; i++)
		bdf = json_get_string(json_at(record, "/%s/memory/gpu", ends[i]), "bdf", NULL);
	return bdf;
}

static size_t count_of(json_t *records, const char *kind)
{
	json_t *record;
	size_t i, n = 0;

	json_array_foreach(records, i, record)
		n += !strcmp(json_get_string(record, "kind", ""), kind);
	return n;
}

static void add(struct proof_pair *pair, json_t *records, json_t *record, const char *colour)
{
	const char *kind = json_get_string(record, "kind", "?"), *gpu = gpu_of(record);
	bool several = gpu && count_of(records, kind) > 1;

	pair->series[pair->n++] = (struct proof_series){
		.record = record,
		.name = several ? xasprintf("%s %s", kind, gpu) : xstrdup(kind),
		.colour = colour,
		.note = proof_note(record),
	};
}

static size_t rank_of(json_t *record)
{
	const char *kind = json_get_string(record, "kind", "");
	size_t i = 0;

	while (i < ARRAY_SIZE(kinds) && strcmp(kinds[i].kind, kind))
		i++;
	return i;
}

static void pair_make(struct proof_pair *pair, json_t *records, size_t number)
{
	json_t *first = json_array_get(records, 0), *record;
	size_t i;

	*pair = (struct proof_pair){
		.number = number,
		.a = proof_port(json_object_get(first, "local")),
		.b = proof_port(json_object_get(first, "peer")),
		.series = xcalloc(json_array_size(records), sizeof(*pair->series)),
	};
	for (size_t rank = 0; rank <= ARRAY_SIZE(kinds); rank++) {
		json_array_foreach(records, i, record) {
			if (rank_of(record) == rank)
				add(pair, records, record,
				    rank < ARRAY_SIZE(kinds) ? kinds[rank].colour : "s-other");
		}
	}
}

/* Lists of records by pair, in the order in which they come. New reference. */
static json_t *by_pair(json_t *records)
{
	json_t *pairs = json_object_new(), *record;
	size_t i;

	json_array_foreach(records, i, record) {
		_cleanup_free_ char *local = proof_port(json_object_get(record, "local"));
		_cleanup_free_ char *peer = proof_port(json_object_get(record, "peer"));
		_cleanup_free_ char *key = xasprintf("%s\n%s", local, peer);
		_cleanup_free_ char *other = xasprintf("%s\n%s", peer, local);
		bool turned = json_object_get(pairs, other);

		json_append(json_arr(pairs, turned ? other : key), json_incref(record));
	}
	return pairs;
}

/* --- what was proven -------------------------------------------------------------------------- */

static void put_ends(struct strbuf *out, json_t *record)
{
	static const char *const roles[] = { "initiator", "listener" };

	for (size_t i = 0; i < ARRAY_SIZE(roles); i++) {
		json_t *end = proof_end(record, roles[i]);
		json_t *memory = json_object_get(end, "memory");
		const char *gpu = json_get_string(json_object_get(memory, "gpu"), "bdf", NULL);

		strbuf_puts(out, i ? " → " : "");
		html_put(out, json_get_string(end, "node", "?"));
		strbuf_puts(out, " (");
		html_put(out, json_get_string(memory, "kind", "memory not told"));
		strbuf_puts(out, gpu ? " " : "");
		html_put(out, gpu ? gpu : "");
		strbuf_puts(out, ")");
	}
}

/* How it was run, as far as the record tells. */
static void put_parameters(struct strbuf *out, json_t *parameters)
{
	static const struct {
		const char *key, *name;
	} told[] = { { "qps", "QPs" }, { "depth", "depth" }, { "dscp", "DSCP" },
		     { "senders", "senders" } };
	const char *between = "";

	for (size_t i = 0; i < ARRAY_SIZE(told); i++) {
		json_t *value = json_object_get(parameters, told[i].key);

		if (!json_is_integer(value))
			continue;
		strbuf_printf(out, "%s%s %lld", between, told[i].name,
			      (long long)json_integer_value(value));
		between = ", ";
	}
	if (json_get_bool(parameters, "ecn", false))
		strbuf_printf(out, "%sECN capable", between);
}

static void put_why(struct strbuf *out, json_t *record)
{
	static const char *const ends[] = { "local", "peer" };
	json_t *why;
	size_t i;

	for (size_t k = 0; k < ARRAY_SIZE(ends); k++) {
		json_t *end = json_at(record, "/freshness/%s", ends[k]);
		const char *changed = json_get_string(end, "changed", NULL);

		if (!changed)
			continue;
		strbuf_puts(out, "<small>");
		html_put(out, json_get_string(json_object_get(record, ends[k]), "node", "?"));
		strbuf_puts(out, " has changed: ");
		html_put(out, changed);
		strbuf_puts(out, "</small>");
	}
	json_array_foreach(json_object_get(json_object_get(record, "verdict"), "why"), i, why) {
		strbuf_puts(out, "<small>");
		html_put(out, json_string_value(why) ? json_string_value(why) : "");
		strbuf_puts(out, "</small>");
	}
}

static void put_series(struct strbuf *out, const struct proof_series *s)
{
	json_t *record = s->record;
	const char *status =
		json_get_string(json_object_get(record, "verdict"), "status", "unknown");

	strbuf_printf(out, "<tr><th scope=\"row\" class=\"kind\"><span class=\"swatch %s%s\"></span>", s->colour,
		      s->note ? " hollow" : "");
	html_put(out, s->name);
	strbuf_puts(out, "</th><td class=\"taken\">");
	html_put(out, json_get_string(record, "taken", "?"));
	strbuf_puts(out, "</td><td>");
	put_ends(out, record);
	strbuf_puts(out, "<small>");
	put_parameters(out, json_object_get(record, "parameters"));
	strbuf_puts(out, "</small></td><td>");
	html_put(out, status);
	if (s->note) {
		strbuf_puts(out, "<span class=\"badge\">");
		html_put(out, s->note);
		strbuf_puts(out, "</span>");
	}
	put_why(out, record);
	strbuf_puts(out, "</td></tr>\n");
}

/* Runs that saw wrong bytes, or did not end. */
static void put_errors(struct strbuf *out, const struct proof_pair *pair)
{
	json_t *run;
	size_t i, n = 0;

	for (size_t k = 0; k < pair->n; k++) {
		json_array_foreach(json_object_get(pair->series[k].record, "runs"), i, run) {
			json_t *result = json_object_get(run, "result");
			const char *text = json_get_string(run, "error", NULL);

			if (!text && json_is_false(json_object_get(result, "verified")))
				text = json_get_string(json_object_get(result, "fault"), "text",
						       "not what was sent arrived");
			if (!text)
				continue;
			strbuf_puts(out, n++ ? "<li>" : "<ul class=\"errors\"><li>");
			html_put(out, pair->series[k].name);
			strbuf_puts(out, ", ");
			html_put(out, json_get_string(run, "run", "?"));
			strbuf_puts(out, " of ");
			html_put(out, json_get_string(run, "operation",
						      json_get_string(run, "end", "?")));
			strbuf_puts(out, ": ");
			html_put(out, text);
			strbuf_puts(out, "</li>");
		}
	}
	strbuf_puts(out, n ? "</ul>\n" : "");
}

static void put_pair(struct strbuf *out, json_t *records, size_t number)
{
	_cleanup_pair_ struct proof_pair pair;

	pair_make(&pair, records, number);
	strbuf_printf(out, "<article class=\"proof\" id=\"pair%zu\"><h3>", number);
	html_put(out, pair.a);
	strbuf_puts(out, " ↔ ");
	html_put(out, pair.b);
	strbuf_puts(out, "</h3>\n<table class=\"plan\"><thead><tr><th scope=\"col\">record</th>"
			 "<th scope=\"col\">taken</th><th scope=\"col\">from, to (memory)</th>"
			 "<th scope=\"col\">verdict</th></tr></thead><tbody>\n");
	for (size_t i = 0; i < pair.n; i++)
		put_series(out, &pair.series[i]);
	strbuf_puts(out, "</tbody></table>\n");
	if (number < PAIRS_DRAWN) {
		put_errors(out, &pair);
		html_put_speed(out, &pair);
		html_put_registrations(out, &pair);
		html_put_marks(out, &pair);
		html_put_counters(out, &pair);
	}
	strbuf_puts(out, "</article>\n");
}

void html_put_proofs(struct strbuf *out, json_t *records)
{
	_cleanup_json_ json_t *pairs = by_pair(records);
	const char *key;
	json_t *list;
	size_t n = 0;

	if (!json_object_size(pairs))
		return;
	strbuf_puts(out, "<section aria-labelledby=\"proofs\"><h2 class=\"section\" id=\"proofs\">Proofs"
			 "</h2>\n<p class=\"context\">The newest record of each kind. What is drawn hollow "
			 "proves nothing now; its label says why.</p>\n");
	if (json_object_size(pairs) > PAIRS_DRAWN)
		strbuf_printf(out, "<p class=\"assumption\">Charts of the first %u of %zu pairs; the JSON "
				   "form has the numbers of all.</p>\n",
			      PAIRS_DRAWN, json_object_size(pairs));
	json_object_foreach(pairs, key, list)
		put_pair(out, list, n++);
	strbuf_puts(out, "</section>\n");
}
