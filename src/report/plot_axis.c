/* SPDX-License-Identifier: Apache-2.0 */
#include "report/plot_axis.h"

#include <math.h>

/* Ticks of a linear axis, about; of a logarithmic one, at most. */
#define TICKS_LINEAR 5
#define TICKS_LOGARITHMIC 7

static void add(struct plot_axis *axis, double tick)
{
	if (axis->n < PLOT_TICKS_MAX)
		axis->tick[axis->n++] = tick;
}

/* 1, 2 or 5 times a power of ten, the least that is not below `wanted`. */
static double round_step(double wanted)
{
	double power = pow(10, floor(log10(wanted)));
	double times = wanted / power;

	/* a little above is what dividing leaves over */
	return power * (times <= 1.000001 ? 1 : times <= 2.000001 ? 2 : times <= 5.000001 ? 5 : 10);
}

static void make_linear(struct plot_axis *axis, double max)
{
	double step = round_step((max > 0 ? max : 1) / TICKS_LINEAR);
	double steps = fmax(ceil(max / step - 1e-9), 1);

	axis->from = 0;
	axis->to = steps * step;
	for (double i = 0; i <= steps; i++)
		add(axis, i * step);
}

/* Powers of ten; every second, third, … where there are many; 2 and 5 times them where few. */
static void make_logarithmic(struct plot_axis *axis, double min, double max)
{
	static const double between[] = { 1, 2, 5 };
	double first = floor(log10(min) + 1e-9), last = ceil(log10(max) - 1e-9);
	double every = fmax(ceil((last - first) / TICKS_LOGARITHMIC), 1);
	const size_t n = last - first <= 2 ? sizeof(between) / sizeof(*between) : 1;
	double from = 0, to = 0;

	for (double power = first; power <= last; power += every) {
		for (size_t i = 0; i < n; i++) {
			double tick = between[i] * pow(10, power);

			if (to <= 0 || to < max * (1 - 1e-9))
				add(axis, to = tick);
			/* the axis begins at the last tick that is not above the least number */
			if (tick <= min * (1 + 1e-9)) {
				from = tick;
				axis->n = 1;
				axis->tick[0] = tick;
			}
		}
	}
	if (to <= from)	/* one number, and it is a tick */
		add(axis, to = from * 10);
	axis->from = from;
	axis->to = fmax(to, max);
}

void plot_axis_make(struct plot_axis *axis, bool logarithmic, double min, double max, double left,
		    double right)
{
	*axis = (struct plot_axis){
		.logarithmic = logarithmic && min > 0,
		.left = left,
		.right = right,
	};
	if (axis->logarithmic)
		make_logarithmic(axis, min, max);
	else
		make_linear(axis, max);
}

double plot_axis_place(const struct plot_axis *axis, double value)
{
	double part = axis->logarithmic ?
			      log(fmax(value, axis->from) / axis->from) / log(axis->to / axis->from) :
			      (value - axis->from) / (axis->to - axis->from);

	return axis->left + fmin(fmax(part, 0), 1) * (axis->right - axis->left);
}
