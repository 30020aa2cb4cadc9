/* SPDX-License-Identifier: Apache-2.0 */
/* Speed runs of a proof record as a table of text: a suite has some twenty of them. */
#include <math.h>
#include <string.h>

#include "report/proof.h"

/* Columns of the lines: where names begin, and where numbers end. */
#define NAME_COLUMN 4u
#define SIZE_END 17u
#define ARROW_COLUMN 19u
#define FIRST_END 28u
#define NUMBER_WIDTH 10u
/* What is said beside the numbers goes on here, when the line is full. */
#define NOTE_COLUMN 22u

/* A kind of run that is told by numbers. */
struct kind {
	const char *name, *unit;
	double unit_size;
	struct {
		const char *title, *key;
	} number[6];
	const char *compared;	/* member that perftest has too */
};

static const struct kind kinds[] = {
	{ "bandwidth", "Gbit/s", 1,
	  { { "Gbit/s", "gbit_per_s" }, { "messages/s", "messages_per_s" } },
	  "gbit_per_s" },
	{ "latency", "us", 1000,
	  { { "min us", "min_ns" }, { "median", "median_ns" },
	    { "99 %", "p99_ns" }, { "99.9 %", "p99_9_ns" },
	    { "max", "max_ns" } },
	  "median_ns" },
};

static const struct kind *kind_of(json_t *run)
{
	const char *name = json_get_string(run, "run", "");

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!strcmp(name, kinds[i].name))
			return &kinds[i];
	}
	return NULL;
}

static bool is_comparison(json_t *run)
{
	return !strcmp(json_get_string(run, "run", ""), "perftest");
}

/* How many runs from `from` on are of this kind, or comparisons with one; `*speeds`: of the kind. */
static size_t stretch(json_t *runs, size_t from, const struct kind *kind, size_t *speeds)
{
	size_t i = from;
	json_t *run;

	for (*speeds = 0; (run = json_array_get(runs, i)); i++) {
		if (kind_of(run) == kind)
			++*speeds;
		else if (!is_comparison(run))
			break;
	}
	return i - from;
}

/* A text that ends at a column. */
static void put_right(struct wrap *w, unsigned end, const char *text)
{
	unsigned width = width_of(text, strlen(text));

	wrap_to(w, end > width ? end - width : 0);
	wrap_put(w, WRAP_PLAIN, text);
}

static void put_number(struct wrap *w, unsigned end, double value)
{
	_cleanup_free_ char *text = isnan(value)  ? xstrdup("-") :
				    value >= 1000 ? xasprintf("%.0f", value) :
						    xasprintf("%.3g", value);

	put_right(w, end, text);
}

static void put_head(struct wrap *w, json_t *record, const struct kind *kind)
{
	w->indent = NOTE_COLUMN;
	wrap_to(w, 2);
	wrap_put(w, WRAP_BOLD, kind->name);
	wrap_to(w, 14);
	wrap_putf(w, WRAP_PLAIN, "→ bytes from %s to %s, ← back",
		  json_get_string(proof_end(record, "initiator"), "node", "?"),
		  json_get_string(proof_end(record, "listener"), "node", "?"));
	wrap_end(w);
	put_right(w, SIZE_END, "size");
	for (size_t i = 0; kind->number[i].title; i++)
		put_right(w, FIRST_END + (unsigned)i * NUMBER_WIDTH, kind->number[i].title);
	wrap_end(w);
}

/* CPU time of both ends, of this program: of the machine it is in the record. */
static void put_load(struct wrap *w, json_t *result)
{
	static const char *const roles[] = { "initiator", "listener" };
	const char *before = "CPU ";

	for (size_t i = 0; i < ARRAY_SIZE(roles); i++) {
		json_t *end = json_object_get(json_object_get(result, "cpu"), roles[i]);
		double ms = proof_number(end, "process_ms_per_gb");

		if (isnan(ms))
			continue;
		wrap_putf(w, WRAP_PLAIN, "%s%.3g ms/GB (%s)", before, ms, roles[i]);
		before = ", ";
	}
	wrap_put(w, WRAP_PLAIN, *before == ',' ? "; " : "");
}

static void put_comparison(struct wrap *w, json_t *run, const struct kind *kind)
{
	const char *error = json_get_string(run, "error", NULL);
	json_t *result = json_object_get(run, "result");
	double value = proof_number(result, kind->compared), ratio = proof_number(result, "ratio");

	wrap_putf(w, WRAP_PLAIN, "; %s: ", json_get_string(result, "tool", "perftest"));
	if (error)
		wrap_put(w, WRAP_YELLOW, error);
	else if (isnan(value))
		wrap_put(w, WRAP_YELLOW, "no number");
	else
		wrap_putf(w, WRAP_PLAIN, "%.3g %s", value / kind->unit_size, kind->unit);
	if (!isnan(ratio))
		wrap_putf(w, WRAP_PLAIN, ", railhead ÷ perftest %.2f", ratio);
}

static void put_note(struct wrap *w, json_t *result)
{
	put_load(w, result);
	if (json_is_true(json_object_get(result, "steady")))
		wrap_put(w, WRAP_PLAIN, "steady");
	else if (json_is_false(json_object_get(result, "steady")))
		wrap_putf(w, WRAP_YELLOW, "not steady: %s",
			  json_get_string(result, "steady_why", "no reason"));
	else
		wrap_putf(w, WRAP_PLAIN, "%lld samples",
			  (long long)json_get_int(result, "samples", 0));
}

/* A run, and what perftest says of the same when the next one is that. */
static void put_row(struct wrap *w, json_t *record, json_t *run, json_t *next,
		    const struct kind *kind)
{
	const char *error = json_get_string(run, "error", NULL);
	json_t *result = json_object_get(run, "result");
	double size_bytes = proof_number(result, "size_bytes");
	bool forward = proof_source(record, run) == proof_end(record, "initiator");
	unsigned end = FIRST_END;

	wrap_to(w, NAME_COLUMN);
	wrap_put(w, WRAP_PLAIN, json_get_string(run, "operation", "?"));
	if (!isnan(size_bytes)) {
		_cleanup_free_ char *size = proof_size(size_bytes);

		put_right(w, SIZE_END, size);
	}
	wrap_to(w, ARROW_COLUMN);
	wrap_put(w, WRAP_PLAIN, forward ? "→" : "←");
	if (error || proof_has_fault(result)) {
		wrap_to(w, NOTE_COLUMN);
		if (error)
			wrap_put(w, WRAP_YELLOW, error);
		else
			proof_put_result(w, kind->name, result);
		wrap_end(w);
		return;
	}
	for (size_t i = 0; kind->number[i].title; i++, end += NUMBER_WIDTH)
		put_number(w, end, proof_number(result, kind->number[i].key) / kind->unit_size);
	wrap_to(w, end - NUMBER_WIDTH + 2);
	put_note(w, result);
	if (next && is_comparison(next))
		put_comparison(w, next, kind);
	wrap_end(w);
}

size_t proof_put_table(struct wrap *w, json_t *record, size_t from)
{
	json_t *runs = json_object_get(record, "runs"), *run = json_array_get(runs, from);
	const struct kind *kind = kind_of(run);
	size_t speeds = 0, n = kind ? stretch(runs, from, kind, &speeds) : 0;
	const char *how = json_get_string(json_object_get(run, "result"), "derivation", NULL);

	if (speeds < 2)
		return 0;
	put_head(w, record, kind);
	for (size_t i = from; i < from + n; i++) {
		run = json_array_get(runs, i);
		if (!is_comparison(run))
			put_row(w, record, run,
				i + 1 < from + n ? json_array_get(runs, i + 1) : NULL, kind);
	}
	if (how) {
		w->indent = NAME_COLUMN;
		wrap_to(w, NAME_COLUMN);
		wrap_putf(w, WRAP_DIM, "the first line: %s", how);
		wrap_end(w);
	}
	return n;
}
