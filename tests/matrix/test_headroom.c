/* SPDX-License-Identifier: Apache-2.0 */
/* The headroom formula against numbers that were computed or published elsewhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "matrix/headroom.h"
#include "matrix/tables.h"

static struct matrix *matrix;

static int load(void **state RH_UNUSED)
{
	return matrix_load_from(&matrix, NULL, NULL, NULL);
}

static int unload(void **state RH_UNUSED)
{
	matrix_free(matrix);
	return 0;
}

static int64_t kib(int64_t bytes)
{
	return (bytes + 512) / 1024;
}

/* 100G, MTU 9216 for both, MAC and PHY 0.8 KB, cell occupancy 1 to 2, by hand. */
static void test_100g(void **state RH_UNUSED)
{
	static const struct {
		int64_t metres, low_kib, high_kib;
	} rows[] = {
		{ 5, 44, 79 },
		{ 40, 48, 88 },
		{ 100, 56, 102 },
		{ 300, 80, 151 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct headroom_input in = {
			.speed_mbps = 100000, .cable_metres = rows[i].metres, .mtu_bytes = 9216,
			.port_mtu_bytes = 9216 };
		struct headroom h = headroom_compute(matrix, &in);

		assert_true(h.known);
		assert_int_equal(kib(h.low_bytes), rows[i].low_kib);
		assert_int_equal(kib(h.high_bytes), rows[i].high_kib);
	}
}

/* mlxsw, commit edf777f55a: 101.6 KB recommended at 100G and 100 m; it lies within. */
static void test_mlxsw(void **state RH_UNUSED)
{
	struct headroom_input in = { .speed_mbps = 100000, .cable_metres = 100, .mtu_bytes = 9216,
				     .port_mtu_bytes = 9216 };
	struct headroom h = headroom_compute(matrix, &in);

	assert_in_range(101600, h.low_bytes, h.high_bytes);
}

static void test_parts(void **state RH_UNUSED)
{
	struct headroom_input in = { .speed_mbps = 100000, .cable_metres = 5, .mtu_bytes = 4096,
				     .port_mtu_bytes = 9216 };
	struct headroom h = headroom_compute(matrix, &in);

	assert_int_equal(h.quanta, 394);
	assert_int_equal(h.response_bytes, 25216);
	assert_int_equal(h.cable_bytes, 625);
	assert_int_equal(h.phy_bytes, 800);
	assert_int_equal(h.low_bytes, 4096 + 9216 + 625 + 800 + 25216);
	assert_int_equal(h.high_bytes, 4096 + 2 * (9216 + 625 + 800 + 25216));
	assert_string_equal(json_get_string(h.row, "speed", ""), "100G");
}

/* A part of a byte on the cable is a byte. */
static void test_rounding(void **state RH_UNUSED)
{
	struct headroom_input in = { .speed_mbps = 10000, .cable_metres = 1, .mtu_bytes = 1500,
				     .port_mtu_bytes = 1500 };

	assert_int_equal(headroom_compute(matrix, &in).cable_bytes, 13);	/* 12.5 */
}

static void test_cells(void **state RH_UNUSED)
{
	struct headroom_input in = { .speed_mbps = 100000, .cable_metres = 5, .mtu_bytes = 9216,
				     .port_mtu_bytes = 9216, .cell_bytes = 208 };
	struct headroom h = headroom_compute(matrix, &in);
	int64_t delay = 9216 + 625 + 800 + 25216;

	/* a stream of 64-byte frames, a cell each */
	assert_int_equal(h.worst_numerator, 208);
	assert_int_equal(h.worst_denominator, 64);
	assert_int_equal(h.low_bytes, (9216 + delay + 207) / 208 * 208);
	assert_int_equal(h.high_bytes, (9216 + (delay * 208 + 63) / 64 + 207) / 208 * 208);
	/* a stream of frames one byte larger than a cell */
	in.cell_bytes = 96;
	h = headroom_compute(matrix, &in);
	assert_int_equal(h.worst_numerator, 192);
	assert_int_equal(h.worst_denominator, 97);
	assert_int_equal(h.high_bytes, (9216 + (delay * 192 + 96) / 97 + 95) / 96 * 96);
}

static void test_unknown_speed(void **state RH_UNUSED)
{
	struct headroom_input in = { .speed_mbps = 123, .cable_metres = 5, .mtu_bytes = 9216,
				     .port_mtu_bytes = 9216 };
	struct headroom h = headroom_compute(matrix, &in);
	_cleanup_free_ char *text = headroom_text(&in, &h);

	assert_false(h.known);
	assert_null(h.row);
	assert_string_equal(text,
			    "not computed: the support matrix has no pause quanta for 123 Mb/s");
}

/* The site may declare any size of a cell. */
static void test_huge(void **state RH_UNUSED)
{
	struct headroom_input in = { .speed_mbps = 400000, .cable_metres = 40000,
				     .mtu_bytes = 65536, .port_mtu_bytes = 65536,
				     .cell_bytes = INT64_MAX };
	struct headroom h = headroom_compute(matrix, &in);

	assert_true(h.known);
	assert_int_equal(h.low_bytes, INT64_MAX);
	assert_int_equal(h.high_bytes, INT64_MAX);
}

static void test_text(void **state RH_UNUSED)
{
	struct headroom_input in = { .speed_mbps = 100000, .cable_metres = 5, .mtu_bytes = 9216,
				     .port_mtu_bytes = 9216 };
	struct headroom h = headroom_compute(matrix, &in);
	_cleanup_free_ char *usual = headroom_text(&in, &h);

	assert_string_equal(usual, "9216 + (9216 + 625 for 5 m of cable + 800 MAC and PHY + "
				   "394 quanta * 64) * 1 to 2 = 45073 to 80930 bytes");
	in.cell_bytes = 208;
	h = headroom_compute(matrix, &in);
	_cleanup_free_ char *cells = headroom_text(&in, &h);
	assert_string_equal(cells, "9216 + (9216 + 625 for 5 m of cable + 800 MAC and PHY + "
				   "394 quanta * 64) * 1 to 208/64 in cells of 208 "
				   "= 45136 to 125840 bytes");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_100g),	   cmocka_unit_test(test_mlxsw),
		cmocka_unit_test(test_parts),	   cmocka_unit_test(test_rounding),
		cmocka_unit_test(test_cells),	   cmocka_unit_test(test_unknown_speed),
		cmocka_unit_test(test_huge),	   cmocka_unit_test(test_text),
	};

	return cmocka_run_group_tests(tests, load, unload);
}
