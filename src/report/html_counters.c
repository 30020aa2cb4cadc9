/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of a pair: what memory could be registered, the marks that arrived, and the counters of
 * pause, loss and congestion. */
#include <inttypes.h>
#include <string.h>

#include "report/html_proofs.h"

static void open_table(struct strbuf *out, const char *caption)
{
	strbuf_printf(out, "<table class=\"plan\"><caption>%s</caption><thead><tr>", caption);
}

/* --- registration ----------------------------------------------------------------------------- */

static void put_size(struct strbuf *out, double bytes)
{
	_cleanup_free_ char *size = bytes >= 0 ? proof_size(bytes) : xstrdup("?");

	strbuf_puts(out, size);
}

static void put_registration(struct strbuf *out, const struct proof_series *series, json_t *run)
{
	json_t *end = proof_end(series->record, json_get_string(run, "end", "initiator"));
	json_t *result = json_object_get(run, "result"), *attempt;
	size_t i;

	strbuf_puts(out, "<tr><th scope=\"row\">");
	html_put(out, series->name);
	strbuf_puts(out, "</th><td>");
	html_put(out, json_get_string(end, "node", "?"));
	strbuf_puts(out, "</td><td>");
	html_put(out, json_get_string(json_object_get(end, "memory"), "kind", "?"));
	strbuf_puts(out, "</td><td>");
	put_size(out, proof_number(result, "largest_bytes"));
	strbuf_puts(out, "</td><td>");
	html_put(out, json_get_string(result, "stopped", ""));
	json_array_foreach(json_object_get(result, "tried"), i, attempt) {
		int64_t number = json_get_int(attempt, "errno", 0);

		if (!number)
			continue;
		strbuf_puts(out, "<small>");
		html_put(out, json_get_string(attempt, "call", "?"));
		strbuf_puts(out, " of ");
		put_size(out, proof_number(attempt, "length_bytes"));
		strbuf_printf(out, ": errno %lld, ", (long long)number);
		html_put(out, json_get_string(attempt, "text", ""));
		strbuf_puts(out, "</small>");
	}
	strbuf_puts(out, "</td></tr>\n");
}

void html_put_registrations(struct strbuf *out, const struct proof_pair *pair)
{
	json_t *run;
	size_t i, n = 0;

	for (size_t k = 0; k < pair->n; k++) {
		json_array_foreach(json_object_get(pair->series[k].record, "runs"), i, run) {
			if (strcmp(json_get_string(run, "run", ""), "register") ||
			    !json_object_get(run, "result"))
				continue;
			if (!n++) {
				open_table(out, "Registration of memory");
				strbuf_puts(out, "<th scope=\"col\">record</th><th scope=\"col\">node"
						 "</th><th scope=\"col\">memory</th><th scope=\"col\">"
						 "up to</th><th scope=\"col\">why no more</th></tr>"
						 "</thead><tbody>\n");
			}
			put_registration(out, &pair->series[k], run);
		}
	}
	strbuf_puts(out, n ? "</tbody></table>\n" : "");
}

/* --- marks ------------------------------------------------------------------------------------ */

/* The marking of a suite is in its record, and in one of its own. */
static bool is_told_by_suite(const struct proof_pair *pair, const struct proof_series *series)
{
	const char *run = json_get_string(series->record, "run", "");

	if (strcmp(json_get_string(series->record, "kind", ""), "marking"))
		return false;
	for (size_t i = 0; i < pair->n; i++) {
		json_t *record = pair->series[i].record, *one;
		size_t k;

		if (&pair->series[i] == series || strcmp(json_get_string(record, "run", "?"), run))
			continue;
		json_array_foreach(json_object_get(record, "runs"), k, one) {
			if (!strcmp(json_get_string(one, "run", ""), "marking"))
				return true;
		}
	}
	return false;
}

static void put_class(struct strbuf *out, json_t *class)
{
	json_t *dscp = json_object_get(class, "dscp"), *ecn = json_object_get(class, "ecn");

	if (!json_is_integer(dscp) || !json_is_integer(ecn))
		strbuf_puts(out, "?");
	else
		strbuf_printf(out, "DSCP %lld, ECN %lld", (long long)json_integer_value(dscp),
			      (long long)json_integer_value(ecn));
}

static void put_mark(struct strbuf *out, const struct proof_pair *pair,
		     const struct proof_series *series, json_t *run)
{
	json_t *result = json_object_get(run, "result"), *class;
	bool from_a = proof_pair_is_a(pair, series->record, proof_source(series->record, run));
	size_t i;

	strbuf_puts(out, "<tr><th scope=\"row\">");
	html_put(out, series->name);
	strbuf_puts(out, "</th><td>");
	html_put(out, from_a ? pair->a : pair->b);
	strbuf_puts(out, "</td><td>");
	put_class(out, json_object_get(result, "sent"));
	strbuf_printf(out, " (%lld messages)</td><td>",
		      (long long)json_get_int(result, "messages", 0));
	json_array_foreach(json_object_get(result, "arrived"), i, class) {
		strbuf_printf(out, "%s%lld with ", i ? "; " : "",
			      (long long)json_get_int(class, "messages", 0));
		put_class(out, class);
	}
	if (!i)
		strbuf_puts(out, "–");
	strbuf_puts(out, "</td></tr>\n");
}

void html_put_marks(struct strbuf *out, const struct proof_pair *pair)
{
	json_t *run;
	size_t i, n = 0;

	for (size_t k = 0; k < pair->n; k++) {
		const struct proof_series *series = &pair->series[k];

		if (is_told_by_suite(pair, series))
			continue;
		json_array_foreach(json_object_get(series->record, "runs"), i, run) {
			if (strcmp(json_get_string(run, "run", ""), "marking") ||
			    !json_object_get(run, "result"))
				continue;
			if (!n++) {
				open_table(out, "Marks of the packets");
				strbuf_puts(out, "<th scope=\"col\">record</th><th scope=\"col\">from"
						 "</th><th scope=\"col\">sent</th><th scope=\"col\">"
						 "arrived</th></tr></thead><tbody>\n");
			}
			put_mark(out, pair, series, run);
		}
	}
	strbuf_puts(out, n ? "</tbody></table>\n" : "");
}

/* --- counters --------------------------------------------------------------------------------- */

/* "aistor-01\nens1f0 rx_priority_3_xoff.nic" → a list with what each record has, or null. */
struct counters {
	json_t *rows;
	size_t series, n;
	size_t still;	/* of these counters, how many did not grow */
};

static void add(struct counters *c, const char *node, const char *part, json_t *values)
{
	const char *name;
	json_t *value;

	json_object_foreach(values, name, value) {
		uint64_t number;

		if (!json_u64(value, &number))
			continue;
		_cleanup_free_ char *key = xasprintf("%s\n%s %s", node, part, name);
		json_t *row = json_arr(c->rows, key);

		while (json_array_size(row) < c->n)
			json_append(row, json_null());
		if (json_array_set_new(row, c->series, json_incref(value)) < 0)
			alloc_exhausted();
	}
}

static bool has_grown(json_t *row)
{
	json_t *value;
	size_t i;

	json_array_foreach(row, i, value) {
		uint64_t number;

		if (json_u64(value, &number) && number)
			return true;
	}
	return false;
}

static void put_row(struct strbuf *out, const char *key, json_t *row)
{
	const char *name = strchr(key, '\n');
	_cleanup_free_ char *node = xstrndup(key, (size_t)(name - key));
	json_t *value;
	size_t i;

	strbuf_puts(out, "<tr><th scope=\"row\"><code>");
	html_put(out, name + 1);
	strbuf_puts(out, "</code></th><td>");
	html_put(out, node);
	strbuf_puts(out, "</td>");
	json_array_foreach(row, i, value) {
		uint64_t number;

		if (json_u64(value, &number))
			strbuf_printf(out, "<td class=\"number\">%" PRIu64 "</td>", number);
		else
			strbuf_puts(out, "<td class=\"number\">–</td>");
	}
	strbuf_puts(out, "</tr>\n");
}

static void collect(struct counters *c, const struct proof_pair *pair)
{
	static const char *const ends[] = { "local", "peer" };
	static const char *const parts[] = { "rdma", "link", "tcp" };
	const char *nic;
	json_t *values;

	for (c->series = 0; c->series < pair->n; c->series++) {
		json_t *record = pair->series[c->series].record;

		for (size_t e = 0; e < ARRAY_SIZE(ends); e++) {
			json_t *end = json_object_get(record, ends[e]);
			json_t *all = json_at(end, "/counters/difference");

			const char *node = json_get_string(end, "node", "?");

			for (size_t p = 0; p < ARRAY_SIZE(parts); p++)
				add(c, node, parts[p], json_object_get(all, parts[p]));
			json_object_foreach(json_object_get(all, "pause"), nic, values)
				add(c, node, nic, values);
		}
	}
}

void html_put_counters(struct strbuf *out, const struct proof_pair *pair)
{
	_cleanup_json_ json_t *rows = json_object_new();
	struct counters c = { .rows = rows, .n = pair->n };
	const char *key;
	json_t *row;
	size_t shown = 0;

	collect(&c, pair);
	json_object_foreach(rows, key, row) {
		if (!has_grown(row)) {
			c.still++;
			continue;
		}
		if (!shown++) {
			open_table(out, "Counters of pause, loss and congestion: what grew during the runs");
			strbuf_puts(out, "<th scope=\"col\">counter</th><th scope=\"col\">node</th>");
			for (size_t i = 0; i < pair->n; i++) {
				strbuf_puts(out, "<th scope=\"col\">");
				html_put(out, pair->series[i].name);
				strbuf_puts(out, "</th>");
			}
			strbuf_puts(out, "</tr></thead><tbody>\n");
		}
		put_row(out, key, row);
	}
	strbuf_puts(out, shown ? "</tbody></table>\n" : "");
	if (c.still)
		strbuf_printf(out, "<p class=\"context\">%zu %scounters of pause, loss and congestion did "
				   "not grow.</p>\n", c.still, shown ? "more " : "");
}
