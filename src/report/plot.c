/* SPDX-License-Identifier: Apache-2.0 */
#include "report/plot.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "report/plot_axis.h"
#include "report/html.h"

/* Units of the viewBox, of which text takes 12. */
#define WIDTH 600.0
#define LEFT 104.0	/* labels of the rows end there */
#define RIGHT 450.0	/* names and values of the bars come behind it */
#define TOP 8.0
#define BAR 11.0
#define BAR_PITCH 15.0
#define ROW_GAP 9.0
#define AXIS_HEIGHT 38.0
#define HISTOGRAM_HEIGHT 120.0

char *plot_number(double value)
{
	/* beyond what a double counts exactly, digits would be made up */
	if (value >= 1e15 || value < 0.001)
		return xasprintf("%.3g", value);
	return value >= 100 ? xasprintf("%.0f", value) : xasprintf("%.3g", value);
}

/* --- parts that all charts have ---------------------------------------------------------------- */

static void open_chart(struct strbuf *out, const char *id, const char *title,
		       const char *description, double height)
{
	strbuf_printf(out,
		      "<svg class=\"plot\" role=\"img\" aria-labelledby=\"%s-t %s-d\" viewBox=\"0 0 %.0f "
		      "%.0f\"><title id=\"%s-t\">", id, id, WIDTH, height, id);
	html_put(out, title);
	strbuf_printf(out, "</title><desc id=\"%s-d\">", id);
	html_put(out, description);
	strbuf_puts(out, "</desc>\n");
}

static void put_text(struct strbuf *out, const char *class, double x, double y, const char *text)
{
	strbuf_printf(out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", class, x, y);
	html_put(out, text);
	strbuf_puts(out, "</text>");
}

static void put_line(struct strbuf *out, const char *class, double x1, double y1, double x2,
		     double y2)
{
	strbuf_printf(out, "<path class=\"%s\" d=\"M%.1f %.1fL%.1f %.1f\"/>", class, x1, y1, x2, y2);
}

/* Lines across the chart at its ticks, their numbers below, and the unit. */
static void put_axis(struct strbuf *out, const struct plot_axis *axis, const char *unit,
		     double bottom)
{
	for (size_t i = 0; i < axis->n; i++) {
		_cleanup_free_ char *number = plot_number(axis->tick[i]);
		double x = plot_axis_place(axis, axis->tick[i]);

		put_line(out, "grid", x, TOP, x, bottom);
		put_text(out, "tick", x, bottom + 14, number);
	}
	put_text(out, "unit", (LEFT + RIGHT) / 2, bottom + 30, unit);
	strbuf_putc(out, '\n');
}

/* --- bars and ranges --------------------------------------------------------------------------- */

static void extend(double *min, double *max, double value)
{
	if (isnan(value))
		return;
	*min = fmin(*min, value);
	*max = fmax(*max, value);
}

/* The least and the greatest number of all; false when there is none. */
static bool extent(const struct plot *plot, double *min, double *max)
{
	*min = INFINITY;
	*max = 0;
	for (size_t r = 0; r < plot->n; r++) {
		for (size_t i = 0; i < plot->row[r].n; i++) {
			const struct plot_bar *bar = &plot->row[r].bar[i];

			if (isnan(bar->value))
				continue;
			extend(min, max, bar->value);
			extend(min, max, bar->low);
			extend(min, max, bar->high);
			extend(min, max, bar->mark);
		}
	}
	return !isinf(*min);
}

static void put_bar(struct strbuf *out, const struct plot_axis *axis, const struct plot_bar *bar,
		    double y)
{
	double end = plot_axis_place(axis, bar->value);

	strbuf_printf(out, "<rect class=\"bar\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>",
		      LEFT, y, fmax(end - LEFT, 0.5), BAR);
	if (!isnan(bar->low) && !isnan(bar->high))
		put_line(out, "spread", plot_axis_place(axis, bar->low), y + BAR / 2,
			 plot_axis_place(axis, bar->high), y + BAR / 2);
}

static void put_range(struct strbuf *out, const struct plot_axis *axis, const struct plot_bar *bar,
		      double y)
{
	if (!isnan(bar->low) && !isnan(bar->high))
		put_line(out, "range", plot_axis_place(axis, bar->low), y + BAR / 2,
			 plot_axis_place(axis, bar->high), y + BAR / 2);
	strbuf_printf(out, "<circle class=\"bar\" cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\"/>",
		      plot_axis_place(axis, bar->value), y + BAR / 2);
}

/* How far to the right a bar reaches: its text comes behind. */
static double end_of(const struct plot_axis *axis, const struct plot_bar *bar)
{
	double least = bar->value, greatest = bar->value;

	extend(&least, &greatest, bar->high);
	extend(&least, &greatest, bar->mark);
	return plot_axis_place(axis, greatest);
}

static void put_one(struct strbuf *out, const struct plot *plot, const struct plot_axis *axis,
		    const struct plot_bar *bar, double y)
{
	_cleanup_free_ char *number = plot_number(bar->value);
	_cleanup_free_ char *text = xasprintf("%s %s%s%s", number, bar->series,
					      bar->note ? ", " : "", bar->note ? bar->note : "");

	strbuf_printf(out, "<g class=\"%s%s\">", bar->colour, bar->note ? " hollow" : "");
	if (plot->form == PLOT_BARS)
		put_bar(out, axis, bar, y);
	else
		put_range(out, axis, bar, y);
	if (!isnan(bar->mark)) {
		double x = plot_axis_place(axis, bar->mark);

		put_line(out, "other", x, y - 1, x, y + BAR + 1);
	}
	put_text(out, "value", end_of(axis, bar) + 7, y + BAR - 1.5, text);
	strbuf_puts(out, "</g>\n");
}

void plot_put(struct strbuf *out, const struct plot *plot)
{
	double y = TOP, bottom = TOP, min, max;
	struct plot_axis axis;

	if (!extent(plot, &min, &max))
		return;
	for (size_t r = 0; r < plot->n; r++)
		bottom += (double)plot->row[r].n * BAR_PITCH + ROW_GAP;
	plot_axis_make(&axis, plot->logarithmic, min, fmax(max, plot->axis_max), LEFT, RIGHT);
	open_chart(out, plot->id, plot->title, plot->description, bottom + AXIS_HEIGHT);
	put_axis(out, &axis, plot->unit, bottom);
	for (size_t r = 0; r < plot->n; r++) {
		const struct plot_row *row = &plot->row[r];

		y += ROW_GAP / 2;
		put_text(out, "label", LEFT - 8,
			 y + ((double)row->n * BAR_PITCH - (BAR_PITCH - BAR)) / 2 + 4, row->label);
		for (size_t i = 0; i < row->n; i++, y += BAR_PITCH) {
			if (!isnan(row->bar[i].value))
				put_one(out, plot, &axis, &row->bar[i], y);
		}
		y += ROW_GAP / 2;
	}
	strbuf_puts(out, "</svg>\n");
}

/* --- histograms -------------------------------------------------------------------------------- */

void plot_put_histogram(struct strbuf *out, const struct plot_histogram *plot)
{
	const double bottom = TOP + HISTOGRAM_HEIGHT;
	struct plot_axis axis;
	double max = 0;

	for (size_t i = 0; i < plot->n; i++)
		max = fmax(max, plot->bucket[i].count);
	if (!(max > 0))
		return;
	/* 0 has no place on a logarithmic axis: a bucket from 0 begins where half of it is */
	double first = plot->bucket[0].from > 0 ? plot->bucket[0].from : plot->bucket[0].to / 2;
	plot_axis_make(&axis, true, first, plot->bucket[plot->n - 1].to, LEFT, RIGHT);
	open_chart(out, plot->id, plot->title, plot->description, bottom + AXIS_HEIGHT);
	put_axis(out, &axis, plot->unit, bottom);
	strbuf_printf(out, "<g class=\"%s%s\">", plot->colour, plot->hollow ? " hollow" : "");
	for (size_t i = 0; i < plot->n; i++) {
		const struct plot_bucket *bucket = &plot->bucket[i];
		double height = log10(1 + bucket->count) / log10(1 + max) * (HISTOGRAM_HEIGHT - 14);
		double x = plot_axis_place(&axis, fmax(bucket->from, first));
		double end = plot_axis_place(&axis, bucket->to);
		_cleanup_free_ char *count = xasprintf("%.0f", bucket->count);

		if (!(bucket->count > 0))
			continue;
		strbuf_printf(out, "<rect class=\"bar\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>",
			      x + 0.5, bottom - height, fmax(end - x - 1, 0.5), height);
		put_text(out, "count", (x + end) / 2, bottom - height - 4, count);
	}
	strbuf_puts(out, "</g>\n</svg>\n");
}
