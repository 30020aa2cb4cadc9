/* SPDX-License-Identifier: Apache-2.0 */
/* Speed runs of a proof record as a table of text: a suite has some twenty of them. */
#include <math.h>
#include <string.h>

#include "report/proof.h"

/* Columns of the lines: where names begin, and where sizes end. */
#define NAME_COLUMN 4u
#define SIZE_END 17u
#define ARROW_COLUMN 19u
/* What is said below the numbers of a line, or in place of them. */
#define NOTE_COLUMN 22u

enum source {
	OF_RESULT,
	OF_INITIATOR,	/* its CPU time */
	OF_LISTENER,
	OF_PERFTEST,
};

struct column {
	const char *title, *key;
	enum source source;
	unsigned end;
	double unit;	/* numbers are divided by it */
};

/* A kind of run that is told by numbers. A column that no run has is left out. */
struct kind {
	const char *name, *head;
	struct column column[10];
};

static const struct kind kinds[] = {
	{ "bandwidth", "; CPU time of this program in ms/GB",
	  { { "Gbit/s", "gbit_per_s", OF_RESULT, 28, 1 },
	    { "messages/s", "messages_per_s", OF_RESULT, 39, 1 },
	    { "steady", "steady", OF_RESULT, 46, 1 },
	    { "initiator", "process_ms_per_gb", OF_INITIATOR, 56, 1 },
	    { "listener", "process_ms_per_gb", OF_LISTENER, 65, 1 },
	    { "perftest", "gbit_per_s", OF_PERFTEST, 74, 1 },
	    { "ratio", "ratio", OF_PERFTEST, 80, 1 } } },
	{ "latency", "; in us",
	  { { "min", "min_ns", OF_RESULT, 27, 1000 },
	    { "median", "median_ns", OF_RESULT, 34, 1000 },
	    { "99 %", "p99_ns", OF_RESULT, 41, 1000 },
	    { "99.9 %", "p99_9_ns", OF_RESULT, 48, 1000 },
	    { "max", "max_ns", OF_RESULT, 55, 1000 },
	    { "samples", "samples", OF_RESULT, 64, 1 },
	    { "perftest", "median_ns", OF_PERFTEST, 73, 1000 },
	    { "ratio", "ratio", OF_PERFTEST, 79, 1 } } },
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

static json_t *object_of(json_t *run, json_t *next, enum source source)
{
	json_t *result = json_object_get(run, "result"), *cpu = json_object_get(result, "cpu");

	switch (source) {
	case OF_RESULT:
		return result;
	case OF_INITIATOR:
		return json_object_get(cpu, "initiator");
	case OF_LISTENER:
		return json_object_get(cpu, "listener");
	case OF_PERFTEST:
		return next && is_comparison(next) ? json_object_get(next, "result") : NULL;
	}
	return NULL;
}

/* The text of a cell, NULL when the run has none. The caller frees. */
static char *cell(json_t *run, json_t *next, const struct column *column)
{
	json_t *object = object_of(run, next, column->source);
	json_t *value = json_object_get(object, column->key);
	double number = proof_number(object, column->key) / column->unit;

	if (json_is_boolean(value))
		return xstrdup(json_is_true(value) ? "yes" : "no");
	if (isnan(number))
		return NULL;
	return xasprintf(number >= 1000 ? "%.0f" : "%.3g", number);
}

/* The columns that any run of the stretch has; gives back how many. */
static size_t columns_of(const struct column **columns, const struct kind *kind, json_t *runs,
			 size_t from, size_t n)
{
	size_t count = 0;

	for (const struct column *c = kind->column; c->title; c++) {
		bool any = false;

		for (size_t i = from; i < from + n && !any; i++) {
			_cleanup_free_ char *text = cell(json_array_get(runs, i),
							 json_array_get(runs, i + 1), c);
			any = text;
		}
		if (any)
			columns[count++] = c;
	}
	return count;
}

static void put_head(struct wrap *w, json_t *record, const struct kind *kind,
		     const struct column *const *columns, size_t n)
{
	w->indent = NOTE_COLUMN;
	wrap_to(w, 2);
	wrap_put(w, WRAP_BOLD, kind->name);
	wrap_to(w, 14);
	wrap_putf(w, WRAP_PLAIN, "→ bytes from %s to %s, ← back%s",
		  json_get_string(proof_end(record, "initiator"), "node", "?"),
		  json_get_string(proof_end(record, "listener"), "node", "?"), kind->head);
	wrap_end(w);
	put_right(w, SIZE_END, "size");
	for (size_t i = 0; i < n; i++)
		put_right(w, columns[i]->end, columns[i]->title);
	wrap_end(w);
}

static void put_note(struct wrap *w, const char *text)
{
	wrap_to(w, NOTE_COLUMN);
	wrap_put(w, WRAP_YELLOW, text);
	wrap_end(w);
}

/* What the numbers do not say: it was not steady, perftest did not run. */
static void put_notes(struct wrap *w, json_t *run, json_t *next)
{
	json_t *result = json_object_get(run, "result");
	const char *error = next && is_comparison(next) ? json_get_string(next, "error", NULL) :
							  NULL;

	if (json_is_false(json_object_get(result, "steady"))) {
		_cleanup_free_ char *text =
			xasprintf("not steady: %s",
				  json_get_string(result, "steady_why", "no reason"));
		put_note(w, text);
	}
	if (error) {
		_cleanup_free_ char *text = xasprintf("perftest: %s", error);
		put_note(w, text);
	}
}

/* A run, and what perftest says of the same when the next one is that. */
static void put_row(struct wrap *w, json_t *record, json_t *run, json_t *next,
		    const struct column *const *columns, size_t n)
{
	const char *error = json_get_string(run, "error", NULL);
	json_t *result = json_object_get(run, "result");
	double size_bytes = proof_number(result, "size_bytes");
	bool forward = proof_source(record, run) == proof_end(record, "initiator");

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
			proof_put_result(w, json_get_string(run, "run", ""), result);
		wrap_end(w);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		_cleanup_free_ char *text = cell(run, next, columns[i]);

		put_right(w, columns[i]->end, text ? text : "-");
	}
	wrap_end(w);
	put_notes(w, run, next);
}

size_t proof_put_table(struct wrap *w, json_t *record, size_t from)
{
	json_t *runs = json_object_get(record, "runs"), *run = json_array_get(runs, from);
	const struct kind *kind = kind_of(run);
	size_t speeds = 0, n = kind ? stretch(runs, from, kind, &speeds) : 0;
	const struct column *columns[ARRAY_SIZE(kinds->column)];
	const char *how = json_get_string(json_object_get(run, "result"), "derivation", NULL);

	if (speeds < 2)
		return 0;
	size_t n_columns = columns_of(columns, kind, runs, from, n);
	put_head(w, record, kind, columns, n_columns);
	for (size_t i = from; i < from + n; i++) {
		run = json_array_get(runs, i);
		if (!is_comparison(run))
			put_row(w, record, run, json_array_get(runs, i + 1), columns, n_columns);
	}
	if (how) {
		w->indent = NAME_COLUMN;
		wrap_to(w, NAME_COLUMN);
		wrap_putf(w, WRAP_DIM, "the first line: %s", how);
		wrap_end(w);
	}
	return n;
}
