/* SPDX-License-Identifier: Apache-2.0 */
/* Axes whose ticks are easy to read, and charts that have only what they were given. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "report/plot.h"
#include "report/plot_axis.h"

static void expect_ticks(bool logarithmic, double min, double max, const char *ticks)
{
	_cleanup_strbuf_ struct strbuf seen = {0};
	struct plot_axis axis;

	plot_axis_make(&axis, logarithmic, min, max, 0, 100);
	for (size_t i = 0; i < axis.n; i++) {
		strbuf_printf(&seen, "%s%.6g", i ? " " : "", axis.tick[i]);
		/* in order, and on the picture */
		assert_true(!i || axis.tick[i] > axis.tick[i - 1]);
		assert_true(plot_axis_place(&axis, axis.tick[i]) >= 0);
		assert_true(plot_axis_place(&axis, axis.tick[i]) <= 100);
	}
	assert_string_equal(strbuf_str(&seen), ticks);
	assert_true(axis.from <= min && axis.to >= max && axis.to > axis.from);
}

static void linear(void **state)
{
	(void)state;
	expect_ticks(false, 0, 0, "0 0.2");
	expect_ticks(false, 3, 96.6, "0 20 40 60 80 100");
	expect_ticks(false, 0, 100, "0 20 40 60 80 100");
	expect_ticks(false, 0, 101, "0 50 100 150");
	expect_ticks(false, 0, 5266, "0 2000 4000 6000");
	expect_ticks(false, 0, 0.00032, "0 0.0001 0.0002 0.0003 0.0004");
	expect_ticks(false, 0, 1e15, "0 2e+14 4e+14 6e+14 8e+14 1e+15");
	expect_ticks(false, 0, 1e-9, "0 2e-10 4e-10 6e-10 8e-10 1e-09");
}

static void logarithmic(void **state)
{
	(void)state;
	expect_ticks(true, 1.98, 36.2, "1 2 5 10 20 50");
	expect_ticks(true, 2, 36.2, "2 5 10 20 50");
	expect_ticks(true, 1, 1, "1 10");
	expect_ticks(true, 7, 7, "5 10");
	expect_ticks(true, 1, 40000, "1 10 100 1000 10000 100000");
	/* 0 has no logarithm */
	expect_ticks(true, 0, 100, "0 20 40 60 80 100");
	expect_ticks(true, 1e-9, 1e15, "1e-09 1e-05 0.1 1000 1e+07 1e+11 1e+15");
}

static void places(void **state)
{
	struct plot_axis axis;

	(void)state;
	plot_axis_make(&axis, false, 0, 100, 100, 300);
	assert_float_equal(plot_axis_place(&axis, 25), 150, 1e-9);
	/* what is beyond is put at the end */
	assert_float_equal(plot_axis_place(&axis, 1e15), 300, 1e-9);
	plot_axis_make(&axis, true, 1, 100, 0, 200);
	assert_float_equal(plot_axis_place(&axis, 10), 100, 1e-9);
	assert_float_equal(plot_axis_place(&axis, 0), 0, 1e-9);
}

static void numbers(void **state)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = { { 0, "0" },	  { 96.64, "96.6" }, { 0.337, "0.337" }, { 100, "100" },
		      { 5265.6, "5266" }, { 1e15, "1e+15" }, { 1e-9, "1e-09" },	 { 2.5, "2.5" } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *text = plot_number(cases[i].value);

		assert_string_equal(text, cases[i].text);
	}
}

static void nothing_of_nothing(void **state)
{
	struct plot_bar bars[] = {
		{ "pfc", "s-pfc", NULL, NAN, NAN, NAN, NAN },
		{ "a<b", "s-ecn", "stale", 5, NAN, NAN, NAN },
	};
	const struct plot_row row = { "write", bars, 1 };
	struct plot plot = { .id = "x", .title = "<t>", .description = "d", .unit = "u", .row = &row,
			     .n = 1 };
	struct plot_histogram none = { .id = "y", .title = "t", .description = "d", .unit = "u" };
	_cleanup_strbuf_ struct strbuf out = {0};

	(void)state;
	plot_put(&out, &plot);
	plot_put_histogram(&out, &none);
	assert_int_equal(out.len, 0);
	const struct plot_row both = { "write", bars, 2 };
	plot.row = &both;
	plot_put(&out, &plot);
	assert_non_null(strstr(out.s, "a&lt;b, stale"));
	assert_non_null(strstr(out.s, "&lt;t&gt;"));
	assert_null(strstr(out.s, "nan"));
	assert_null(strstr(out.s, "s-pfc"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(linear),  cmocka_unit_test(logarithmic),
		cmocka_unit_test(places),  cmocka_unit_test(numbers),
		cmocka_unit_test(nothing_of_nothing),
	};

	return cmocka_run_group_tests_name("plot", tests, NULL, NULL);
}
