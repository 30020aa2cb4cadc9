/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Charts as SVG inside the page: rows of bars or of ranges along one axis, and histograms. Colours
 * come from the page's style by class, sizes are those of the viewBox. The same numbers give the
 * same bytes. Nothing is drawn for a number that is not there (NAN).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"

enum plot_form {
	PLOT_BARS,	/* from 0 to the value; low…high is its spread */
	PLOT_RANGES,	/* from low to high, with a dot at the value */
};

struct plot_bar {
	const char *series;	/* its name, shown beside it */
	const char *colour;	/* class that sets --series */
	const char *note;	/* why it is no proof ("stale"): drawn hollow; NULL: it is one */
	double value;		/* finite and not negative, or NAN; so the others */
	double low, high;
	double mark;		/* a tick: another number to compare with */
};

struct plot_row {
	const char *label;
	struct plot_bar *bar;
	size_t n;
};

struct plot {
	const char *id;		/* unique on the page, of a-z, 0-9 and '-' */
	const char *title;
	const char *description;	/* for those who do not see it */
	const char *unit;
	enum plot_form form;
	bool logarithmic;	/* the axis; falls back to linear when a number is 0 */
	double axis_max;	/* at least up to there, so that charts can be compared; 0: no matter */
	const struct plot_row *row;
	size_t n;
};

/* Nothing when no bar has a value. */
void plot_put(struct strbuf *out, const struct plot *plot);

struct plot_bucket {
	double from, to;	/* from < to */
	double count;
};

struct plot_histogram {
	const char *id, *title, *description, *unit;
	const char *colour;
	bool hollow;		/* it is no proof */
	const struct plot_bucket *bucket;	/* in ascending order */
	size_t n;
};

/* Columns over a logarithmic axis; their height is logarithmic too, since it is the few slow ones
 * that matter. */
void plot_put_histogram(struct strbuf *out, const struct plot_histogram *plot);

/* "96.1", "1230": three digits, and all of a whole number. The caller frees. */
char *plot_number(double value);
