/* SPDX-License-Identifier: Apache-2.0 */
/* What a site says of its switch's buffers, and what is taken where it is silent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "matrix/buffers.h"

#define HEAD "schema: railhead.site/1\nname: t\n"
#define NODE "nodes: {a: {links: {p: {speed: 25G}, q: {speed: 50G}}, rdma: {p: {}}}}\n"

static struct switch_buffers buffers_of(const char *text)
{
	_cleanup_error_ struct error err = {0};
	_cleanup_site_ struct site *site = NULL;

	if (site_parse(&site, text, strlen(text), "t.yaml", &err) < 0)
		fail_msg("%s", error_text(&err));
	return switch_buffers_of(site);
}

static void test_as_declared(void **state RH_UNUSED)
{
	struct switch_buffers b = buffers_of(HEAD NODE
		"switch: {port_speed: 100G, cable_metres: 7, mtu: 9100, cell: 256, headroom: 128KiB,\n"
		"         ecn: {min: 1KiB, max: 2KiB, probability: 5%}}\n");

	assert_true(b.declared);
	assert_int_equal(b.input.speed_mbps, 100000);
	assert_int_equal(b.input.cable_metres, 7);
	assert_int_equal(b.input.port_mtu_bytes, 9100);
	/* a frame of any size that the port carries may belong to the lossless class */
	assert_int_equal(b.input.mtu_bytes, 9100);
	assert_int_equal(b.input.cell_bytes, 256);
	assert_int_equal(b.headroom_bytes, 131072);
	assert_int_equal(b.ecn_min_bytes, 1024);
	assert_int_equal(b.ecn_max_bytes, 2048);
	assert_int_equal(b.ecn_percent, 5);
	assert_false(b.speed_of_hosts || b.mtu_assumed || b.cell_unknown);
}

static void test_silent(void **state RH_UNUSED)
{
	struct switch_buffers b = buffers_of(HEAD NODE "switch: {}\n");

	assert_true(b.declared);
	assert_true(b.speed_of_hosts && b.mtu_assumed && b.cell_unknown);
	assert_int_equal(b.input.speed_mbps, 50000);
	assert_int_equal(b.input.cable_metres, 0);
	assert_int_equal(b.input.port_mtu_bytes, 9216);
	assert_int_equal(b.input.mtu_bytes, 9216);
	assert_int_equal(b.headroom_bytes, 0);
	assert_int_equal(b.ecn_percent, -1);
}

static void test_no_switch(void **state RH_UNUSED)
{
	assert_false(buffers_of(HEAD NODE).declared);
}

static void test_usual_thresholds(void **state RH_UNUSED)
{
	_cleanup_error_ struct error err = {0};
	_cleanup_matrix_ struct matrix *matrix = NULL;
	struct ecn_thresholds ecn;

	assert_int_equal(matrix_load(&matrix, NULL, &err), 0);
	assert_true(ecn_thresholds_usual(&ecn, matrix, 100000));
	int64_t min = ecn.min_bytes, max = ecn.max_bytes;

	assert_true(min > 0 && max > min && ecn.percent > 0 && !ecn.scaled);
	assert_non_null(json_object_get(ecn.row, "source"));
	/* in proportion to the speed, and as the row says when the speed is not known */
	assert_true(ecn_thresholds_usual(&ecn, matrix, 400000));
	assert_true(ecn.scaled);
	assert_int_equal(ecn.min_bytes, 4 * min);
	assert_int_equal(ecn.max_bytes, 4 * max);
	assert_true(ecn_thresholds_usual(&ecn, matrix, 0));
	assert_false(ecn.scaled);
	assert_int_equal(ecn.min_bytes, min);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_declared),
		cmocka_unit_test(test_silent),
		cmocka_unit_test(test_no_switch),
		cmocka_unit_test(test_usual_thresholds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
