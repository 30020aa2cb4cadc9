/* SPDX-License-Identifier: Apache-2.0 */
/* Charts of the speeds of a pair: its records side by side. */
#include <math.h>
#include <string.h>

#include "report/plot.h"
#include "report/speeds.h"

/* Smaller messages are told by their rate: their bandwidth says little. */
#define RATE_BELOW_BYTES 4096
/* Latencies that lie further apart need a logarithmic axis. */
#define LINEAR_UP_TO 8

/* A chart: which runs it shows, and what of them. */
struct view {
	const char *name;	/* part of its id */
	const char *title, *unit, *note;
	const char *key;	/* member of the result, where it is one */
	bool (*shows)(const struct speed *speed);
	void (*fill)(struct plot_bar *bar, const struct speed *speed, const struct view *view);
	enum plot_form form;
	double unit_size;	/* numbers are divided by it */
	bool by_source;		/* one chart for each direction */
	bool of_a;		/* bytes from a; of CPU time: the machine of a */
	bool of_cpu;
};

static bool is_bulk(const struct speed *s)
{
	return !s->latency && s->size_bytes >= RATE_BELOW_BYTES;
}

static bool is_small(const struct speed *s)
{
	return !s->latency && s->size_bytes < RATE_BELOW_BYTES;
}

/* The CPU's part is told by large messages: what small ones cost, their rate tells. */
static bool is_largest(const struct speed *s)
{
	return s->largest;
}

static bool is_latency(const struct speed *s)
{
	return s->latency;
}

static void fill_rate(struct plot_bar *bar, const struct speed *speed, const struct view *view)
{
	double variation = proof_number(speed->result, "variation");

	bar->value = proof_number(speed->result, view->key) / view->unit_size;
	bar->low = fmax(bar->value * (1 - variation), 0);
	bar->high = bar->value * (1 + variation);
	if (isnan(variation))
		bar->low = bar->high = NAN;
	bar->mark = proof_number(speed->other, view->key) / view->unit_size;
}

static void fill_latency(struct plot_bar *bar, const struct speed *speed, const struct view *view)
{
	bar->value = proof_number(speed->result, "median_ns") / view->unit_size;
	bar->low = proof_number(speed->result, "min_ns") / view->unit_size;
	bar->high = proof_number(speed->result, "p99_9_ns") / view->unit_size;
	bar->mark = proof_number(speed->result, "p99_ns") / view->unit_size;
}

static void fill_cpu(struct plot_bar *bar, const struct speed *speed, const struct view *view)
{
	json_t *cpu = speed_cpu(speed, view->of_a);

	bar->value = proof_number(cpu, "host_ms_per_gb");
	bar->mark = proof_number(cpu, "process_ms_per_gb");
	bar->low = bar->high = NAN;
}

static char *row_label(const struct speed *speed, const struct view *view)
{
	_cleanup_free_ char *size = speed_size(speed);

	return xasprintf("%s%s %s", !view->of_cpu ? "" : speed->from_a == view->of_a ? "↑ " : "↓ ",
			 speed->operation, size);
}

/* What the arrays of a chart are built from; freed together. */
struct drawing {
	struct plot_row *row;
	struct plot_bar *bar;
	char **label;
	size_t n, bars;
};

static void drawing_clear(struct drawing *d)
{
	for (size_t i = 0; i < d->n; i++)
		free(d->label[i]);
	free(d->label);
	free(d->row);
	free(d->bar);
}
#define _cleanup_drawing_ __attribute__((cleanup(drawing_clear)))

static void drawing_add(struct drawing *d, const struct speed *speed, const struct view *view)
{
	struct plot_bar *bar = &d->bar[d->bars];

	*bar = (struct plot_bar){
		.series = speed->series->name,
		.colour = speed->series->colour,
		.note = speed->series->note,
	};
	view->fill(bar, speed, view);
	if (isnan(bar->value))
		return;
	char *label = row_label(speed, view);
	if (!d->n || strcmp(label, d->label[d->n - 1])) {
		d->label[d->n] = label;
		d->row[d->n++] = (struct plot_row){ .label = label, .bar = bar };
	} else {
		free(label);
	}
	d->row[d->n - 1].n++;
	d->bars++;
}

static void drawing_make(struct drawing *d, const struct speeds *speeds, const struct view *view)
{
	/* of CPU time what is sent comes first, then what is received: two rows */
	const int passes = view->of_cpu ? 2 : 1;

	*d = (struct drawing){
		.row = xcalloc(speeds->n, sizeof(*d->row)),
		.bar = xcalloc(speeds->n, sizeof(*d->bar)),
		.label = xcalloc(speeds->n, sizeof(*d->label)),
	};
	for (int pass = 0; pass < passes; pass++) {
		for (size_t i = 0; i < speeds->n; i++) {
			const struct speed *speed = &speeds->list[i];
			bool wanted = view->of_cpu ? (speed->from_a == view->of_a) == !pass :
				      !view->by_source || speed->from_a == view->of_a;

			if (wanted && view->shows(speed))
				drawing_add(d, speed, view);
		}
	}
}

static void extent_of(const struct drawing *d, double *low, double *high)
{
	for (size_t r = 0; r < d->n; r++) {
		for (size_t i = 0; i < d->row[r].n; i++) {
			const struct plot_bar *bar = &d->row[r].bar[i];

			*low = fmin(*low, fmin(bar->low, bar->value));
			*high = fmax(*high, fmax(fmax(bar->high, bar->mark), bar->value));
		}
	}
}

static void put_view(struct strbuf *out, const struct proof_pair *pair,
		     const struct speeds *speeds, const struct view *view, double axis_max)
{
	_cleanup_drawing_ struct drawing d;
	_cleanup_free_ char *id = xasprintf("pair%zu-%s-%d", pair->number, view->name, view->of_a);
	const char *from = view->of_a ? pair->a : pair->b, *to = view->of_a ? pair->b : pair->a;
	_cleanup_free_ char *title =
		view->of_cpu	? xasprintf("%s, %s", view->title, from) :
		view->by_source ? xasprintf("%s, %s → %s", view->title, from, to) :
				  xstrdup(view->title);
	double low = INFINITY, high = 0;

	drawing_make(&d, speeds, view);
	if (!d.n)
		return;
	extent_of(&d, &low, &high);
	const struct plot plot = {
		.id = id,
		.title = title,
		.description = view->note,
		.unit = view->unit,
		.form = view->form,
		.logarithmic = view->form == PLOT_RANGES && high > low * LINEAR_UP_TO,
		.axis_max = axis_max,
		.row = d.row,
		.n = d.n,
	};
	strbuf_puts(out, "<figure><figcaption>");
	html_put(out, title);
	strbuf_puts(out, "<small>");
	html_put(out, view->note);
	strbuf_puts(out, "</small></figcaption>\n");
	plot_put(out, &plot);
	strbuf_puts(out, "</figure>\n");
}

/* Both directions, or both machines, on one scale. */
static void put_both(struct strbuf *out, const struct proof_pair *pair,
		     const struct speeds *speeds, struct view view)
{
	double low = INFINITY, high = 0;

	for (int b = 0; b < 2; b++) {
		_cleanup_drawing_ struct drawing d;

		view.of_a = !b;
		drawing_make(&d, speeds, &view);
		extent_of(&d, &low, &high);
	}
	for (int b = 0; b < 2; b++) {
		view.of_a = !b;
		put_view(out, pair, speeds, &view, high);
	}
}

static void put_charts(struct strbuf *out, const struct proof_pair *pair,
		       const struct speeds *speeds)
{
	static const char varied[] =
		"Line: how much it varied. Tick: perftest, where it was run.";
	static const struct view bandwidth = {
		.name = "bandwidth", .title = "Bandwidth", .unit = "Gbit/s of payload",
		.note = varied, .key = "gbit_per_s", .shows = is_bulk, .fill = fill_rate,
		.unit_size = 1, .by_source = true,
	};
	static const struct view rate = {
		.name = "rate", .title = "Message rate", .unit = "1,000 messages/s",
		.note = varied, .key = "messages_per_s", .shows = is_small, .fill = fill_rate,
		.unit_size = 1000, .by_source = true,
	};
	static const struct view latency = {
		.name = "latency", .title = "Latency", .unit = "µs",
		.note = "From the least to 99.9 %; dot: median; tick: 99 %.",
		.shows = is_latency, .fill = fill_latency, .form = PLOT_RANGES,
		.unit_size = 1000, .of_a = true,
	};
	static const struct view cpu = {
		.name = "cpu", .title = "CPU time", .unit = "ms by 10⁹ bytes of payload",
		.note = "↑ it sends, ↓ it receives. Bar: all that the machine did; tick: this "
			"program alone.",
		.shows = is_largest, .fill = fill_cpu, .unit_size = 1, .of_cpu = true,
	};

	put_both(out, pair, speeds, bandwidth);
	put_both(out, pair, speeds, rate);
	put_both(out, pair, speeds, cpu);
	put_view(out, pair, speeds, &latency, 0);
}

void html_put_speed(struct strbuf *out, const struct proof_pair *pair)
{
	_cleanup_speeds_ struct speeds speeds;

	speeds_collect(&speeds, pair);
	if (!speeds.n)
		return;
	strbuf_puts(out, "<div class=\"charts\">\n");
	put_charts(out, pair, &speeds);
	html_put_histograms(out, pair, &speeds);
	strbuf_puts(out, "</div>\n");
	html_put_numbers(out, pair, &speeds);
}
