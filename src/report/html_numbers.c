/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of the charts as tables, and histograms of latency. */
#include <math.h>
#include <string.h>

#include "report/plot.h"
#include "report/speeds.h"

/* --- histograms ------------------------------------------------------------------------------- */

static size_t read_buckets(struct plot_bucket *bucket, json_t *histogram)
{
	json_t *item;
	size_t i, n = 0;

	json_array_foreach(histogram, i, item) {
		struct plot_bucket b = {
			.from = proof_number(item, "from_ns") / 1000,
			.to = (proof_number(item, "to_ns") + 1) / 1000,
			.count = proof_number(item, "count"),
		};

		/* one that is out of order has no place */
		if (b.from < b.to && b.count >= 0 && (!n || b.from >= bucket[n - 1].to - 1e-6))
			bucket[n++] = b;
	}
	return n;
}

static const struct proof_series *newest_of(const struct speeds *speeds)
{
	const struct proof_series *newest = NULL;
	const char *latest = "";

	for (size_t i = 0; i < speeds->n; i++) {
		const struct speed *s = &speeds->list[i];
		const char *taken = json_get_string(s->series->record, "taken", "");

		if (json_array_size(json_object_get(s->result, "histogram")) &&
		    strcmp(taken, latest) >= 0) {
			newest = s->series;
			latest = taken;
		}
	}
	return newest;
}

void html_put_histograms(struct strbuf *out, const struct proof_pair *pair,
			   const struct speeds *speeds)
{
	const struct proof_series *newest = newest_of(speeds);

	for (size_t i = 0; i < speeds->n; i++) {
		const struct speed *s = &speeds->list[i];
		json_t *histogram = json_object_get(s->result, "histogram");
		_cleanup_free_ struct plot_bucket *bucket =
			xcalloc(json_array_size(histogram) + 1, sizeof(*bucket));
		size_t n = s->series == newest ? read_buckets(bucket, histogram) : 0;

		if (!n)
			continue;
		_cleanup_free_ char *id = xasprintf("pair%zu-histogram-%zu", pair->number, i);
		_cleanup_free_ char *title = xasprintf("Latency of %s, %s", s->operation,
						       s->series->name);
		const struct plot_histogram plot = {
			.id = id, .title = title, .unit = "µs",
			.description = "How many messages took how long; heights are logarithmic.",
			.colour = s->series->colour, .hollow = s->series->note,
			.bucket = bucket, .n = n,
		};
		strbuf_puts(out, "<figure><figcaption>");
		html_put(out, title);
		strbuf_printf(out, "<small>%s</small></figcaption>\n", plot.description);
		plot_put_histogram(out, &plot);
		strbuf_puts(out, "</figure>\n");
	}
}

/* --- tables ----------------------------------------------------------------------------------- */

/* A number of a cell; what was not recorded is a dash. */
static void put_number(struct strbuf *out, double value)
{
	_cleanup_free_ char *text = isnan(value) ? xstrdup("–") : plot_number(value);

	strbuf_printf(out, "<td class=\"number\">%s</td>", text);
}

static void put_run(struct strbuf *out, const struct proof_pair *pair, const struct speed *s)
{
	_cleanup_free_ char *size = speed_size(s);

	strbuf_puts(out, "<tr><th scope=\"row\">");
	html_put(out, s->operation);
	strbuf_printf(out, " %s</th><td>", size);
	html_put(out, s->series->name);
	if (s->series->note) {
		strbuf_puts(out, "<span class=\"badge\">");
		html_put(out, s->series->note);
		strbuf_puts(out, "</span>");
	}
	strbuf_puts(out, "</td><td>");
	html_put(out, s->from_a ? pair->a : pair->b);
	strbuf_puts(out, "</td>");
}

static void put_bandwidth(struct strbuf *out, const struct proof_pair *pair, const struct speed *s)
{
	json_t *from = speed_cpu(s, s->from_a), *to = speed_cpu(s, !s->from_a);

	put_run(out, pair, s);
	put_number(out, proof_number(s->result, "gbit_per_s"));
	put_number(out, proof_number(s->result, "messages_per_s"));
	put_number(out, proof_number(s->result, "variation") * 100);
	strbuf_puts(out, "<td>");
	if (json_is_boolean(json_object_get(s->result, "steady")))
		strbuf_puts(out, json_get_bool(s->result, "steady", false) ? "yes" : "no");
	strbuf_puts(out, "</td>");
	put_number(out, proof_number(from, "host_ms_per_gb"));
	put_number(out, proof_number(from, "process_ms_per_gb"));
	put_number(out, proof_number(to, "host_ms_per_gb"));
	put_number(out, proof_number(to, "process_ms_per_gb"));
	put_number(out, proof_number(s->other, "gbit_per_s"));
	put_number(out, proof_number(s->other, "ratio"));
	strbuf_puts(out, "</tr>\n");
}

static void put_latency(struct strbuf *out, const struct proof_pair *pair, const struct speed *s)
{
	static const char *const keys[] = { "min_ns", "median_ns", "p99_ns", "p99_9_ns", "max_ns" };

	put_run(out, pair, s);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		put_number(out, proof_number(s->result, keys[i]) / 1000);
	put_number(out, proof_number(s->result, "samples"));
	put_number(out, proof_number(s->other, "median_ns") / 1000);
	put_number(out, proof_number(s->other, "ratio"));
	strbuf_puts(out, "</tr>\n");
}

static void put_table(struct strbuf *out, const struct proof_pair *pair,
		      const struct speeds *speeds, bool latency, const char *caption,
		      const char *const *columns)
{
	size_t rows = 0;

	for (size_t i = 0; i < speeds->n; i++)
		rows += speeds->list[i].latency == latency;
	if (!rows)
		return;
	strbuf_printf(out, "<table class=\"plan\"><caption>%s</caption><thead><tr>", caption);
	for (; *columns; columns++)
		strbuf_printf(out, "<th scope=\"col\">%s</th>", *columns);
	strbuf_puts(out, "</tr></thead><tbody>\n");
	for (size_t i = 0; i < speeds->n; i++) {
		if (speeds->list[i].latency != latency)
			continue;
		if (latency)
			put_latency(out, pair, &speeds->list[i]);
		else
			put_bandwidth(out, pair, &speeds->list[i]);
	}
	strbuf_puts(out, "</tbody></table>\n");
}

void html_put_numbers(struct strbuf *out, const struct proof_pair *pair,
		      const struct speeds *speeds)
{
	static const char *const bandwidth[] = {
		"run", "record", "bytes from", "Gbit/s", "messages/s", "varied by %", "steady",
		"CPU ms/GB, from", "of it this program", "CPU ms/GB, to", "of it this program",
		"perftest Gbit/s", "railhead ÷ perftest", NULL
	};
	static const char *const latency[] = {
		"run", "record", "bytes from", "least", "median", "99 %", "99.9 %", "most",
		"samples", "perftest median", "railhead ÷ perftest", NULL
	};

	strbuf_puts(out, "<details class=\"numbers\"><summary>The numbers of the charts</summary>\n");
	put_table(out, pair, speeds, false, "Bandwidth, message rate, CPU time", bandwidth);
	put_table(out, pair, speeds, true, "Latency in µs", latency);
	strbuf_puts(out, "</details>\n");
}
