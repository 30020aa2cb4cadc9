/* SPDX-License-Identifier: Apache-2.0 */
/* The axis of a chart: from numbers to places on it, and the ticks that are easy to read. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define PLOT_TICKS_MAX 24

struct plot_axis {
	bool logarithmic;
	double from, to;	/* numbers at its ends */
	double left, right;	/* their places */
	double tick[PLOT_TICKS_MAX];
	size_t n;
};

/*
 * An axis on which `min` to `max` have their places, both finite and not negative. A linear one
 * begins at 0; a logarithmic one becomes linear when `min` is 0.
 */
void plot_axis_make(struct plot_axis *axis, bool logarithmic, double min, double max, double left,
		    double right);
/* The place of a number; numbers beyond the ends are put at them. */
double plot_axis_place(const struct plot_axis *axis, double value);
