/* SPDX-License-Identifier: Apache-2.0 */
/* The support matrix: each table with where it came from, as columns or, too wide, as lines. */
#include <string.h>

#include "report/internal.h"

#define COLUMNS_MAX 16u
#define GAP 2u
#define LONG_LIST 6u	/* more entries are counted and not shown, unless -v */

/* Told below a row or, with -v, behind it; the rest of a row is its table's own. */
static const char *const provenance[] = { "source", "date", "confidence", "note", "at" };

struct columns {
	const char *keys[COLUMNS_MAX];
	unsigned width[COLUMNS_MAX];
	size_t n;
};

static bool is_provenance(const char *key)
{
	for (size_t i = 0; i < ARRAY_SIZE(provenance); i++)
		if (!strcmp(key, provenance[i]))
			return true;
	return false;
}

static void put_value(struct strbuf *b, json_t *value, bool all);

static void put_members(struct strbuf *b, json_t *value, bool all)
{
	const char *min = json_get_string(value, "min", NULL);
	const char *max = json_get_string(value, "max", NULL);
	const char *key, *between = "";
	json_t *member;

	if (min && max) {
		strbuf_printf(b, "%s to %s", min, max);
		between = ", ";
	}
	json_object_foreach(value, key, member) {
		if (min && max && (member == json_object_get(value, "min") ||
				   member == json_object_get(value, "max")))
			continue;
		/* a list within a list needs its own ends */
		bool list = json_is_array(member);

		strbuf_printf(b, "%s%s %s", between, key, list ? "(" : "");
		put_value(b, member, all);
		strbuf_puts(b, list ? ")" : "");
		between = ", ";
	}
}

static void put_value(struct strbuf *b, json_t *value, bool all)
{
	json_t *item;
	size_t i, n = json_is_array(value) ? json_array_size(value) : json_object_size(value);

	if (!all && n > LONG_LIST && !json_is_string(value)) {
		strbuf_printf(b, "(%zu)", n);
	} else if (json_is_object(value)) {
		put_members(b, value, all);
	} else if (json_is_array(value)) {
		json_array_foreach(value, i, item) {
			strbuf_puts(b, i ? ", " : "");
			put_value(b, item, all);
		}
	} else if (json_is_boolean(value)) {
		strbuf_puts(b, json_is_true(value) ? "yes" : "no");
	} else if (json_is_string(value)) {
		strbuf_puts(b, json_string_value(value));
	} else {
		_cleanup_free_ char *text = json_to_text(value, false);
		strbuf_puts(b, text);
	}
}

/* The caller frees. */
static char *cell(json_t *row, const char *key, const struct report_options *options)
{
	json_t *value = json_object_get(row, key);
	struct strbuf b = {0};

	if (!value)
		return xstrdup("-");
	put_value(&b, value, options->verbose > 0);
	return b.s ? strbuf_steal(&b) : xstrdup("");
}

/* Keys of all rows in the order in which they first stand, and how wide their cells are. */
static void measure(struct columns *c, json_t *rows, const struct report_options *options)
{
	json_t *row, *value;
	const char *key;
	size_t i, k;

	json_array_foreach(rows, i, row) {
		json_object_foreach(row, key, value) {
			for (k = 0; k < c->n && strcmp(c->keys[k], key); k++)
				;
			if (k < c->n || c->n == COLUMNS_MAX || is_provenance(key))
				continue;
			c->keys[c->n] = key;
			c->width[c->n++] = (unsigned)strlen(key);
		}
	}
	json_array_foreach(rows, i, row) {
		for (k = 0; k < c->n; k++) {
			_cleanup_free_ char *text = cell(row, c->keys[k], options);
			unsigned width = width_of(text, strlen(text));

			c->width[k] = width > c->width[k] ? width : c->width[k];
		}
	}
}

/* What a reader must not overlook stands behind the row; the rest of it with -v. */
static void put_provenance(struct wrap *w, json_t *row, unsigned indent,
			   const struct report_options *options)
{
	const char *confidence = json_get_string(row, "confidence", "");
	const char *note = json_get_string(row, "note", NULL);

	if (strcmp(confidence, "read"))
		wrap_putf(w, WRAP_YELLOW, " (%s)", confidence);
	wrap_end(w);
	if (!options->verbose)
		return;
	w->indent = indent + 2;
	wrap_to(w, indent + 2);
	wrap_putf(w, WRAP_DIM, "%s: %s, seen %s%s%s", json_get_string(row, "at", ""),
		  json_get_string(row, "source", ""), json_get_string(row, "date", ""),
		  note ? "; " : "", note ? note : "");
	wrap_end(w);
}

static void put_as_columns(struct wrap *w, const struct columns *c, json_t *rows,
			   const struct report_options *options)
{
	unsigned at = 2;
	json_t *row;
	size_t i;

	for (size_t k = 0; k < c->n; k++) {
		wrap_to(w, at);
		wrap_put(w, WRAP_DIM, c->keys[k]);
		at += c->width[k] + GAP;
	}
	wrap_end(w);
	json_array_foreach(rows, i, row) {
		at = 2;
		for (size_t k = 0; k < c->n; k++) {
			_cleanup_free_ char *text = cell(row, c->keys[k], options);

			wrap_to(w, at);
			wrap_put(w, WRAP_PLAIN, text);
			at += c->width[k] + GAP;
		}
		put_provenance(w, row, 2, options);
	}
}

static void put_as_lines(struct wrap *w, const struct columns *c, json_t *rows,
			 const struct report_options *options)
{
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row) {
		size_t last = 0;

		for (size_t k = 0; k < c->n; k++)
			last = json_object_get(row, c->keys[k]) ? k : last;
		w->indent = 6;
		wrap_to(w, 2);
		for (size_t k = 0; k <= last; k++) {
			_cleanup_free_ char *text = cell(row, c->keys[k], options);

			if (!json_object_get(row, c->keys[k]))
				continue;
			wrap_putf(w, WRAP_DIM, "%s ", c->keys[k]);
			wrap_putf(w, WRAP_PLAIN, "%s%s", text, k < last ? "; " : "");
		}
		put_provenance(w, row, 2, options);
	}
}

static void put_table(struct wrap *w, const char *name, json_t *table,
		      const struct report_options *options)
{
	json_t *rows = json_object_get(table, "rows");
	struct columns c = {0};
	unsigned width = 2;

	measure(&c, rows, options);
	for (size_t k = 0; k < c.n; k++)
		width += c.width[k] + GAP;
	w->indent = 2;
	wrap_put(w, WRAP_BOLD, name);
	wrap_putf(w, WRAP_PLAIN, ": %zu rows (%s)", json_array_size(rows),
		  json_get_string(table, "origin", ""));
	wrap_end(w);
	/* room for "(unverified)" behind the last cell */
	if (!w->width || width + 14 <= w->width)
		put_as_columns(w, &c, rows, options);
	else
		put_as_lines(w, &c, rows, options);
}

static void render(struct strbuf *out, json_t *document, const struct report_options *options)
{
	struct wrap w = wrap_of(out, options);
	const char *name;
	json_t *table;

	json_object_foreach(json_object_get(document, "tables"), name, table) {
		if (out->len)
			wrap_end(&w);
		put_table(&w, name, table, options);
	}
}

int report_matrix(FILE *out, json_t *document, const struct report_options *options,
		  struct error *err)
{
	/* rows may come from a folder of others */
	_cleanup_json_ json_t *safe = document_value(document);

	return report_text_or_json(out, safe, "support matrix", render, options, err);
}
