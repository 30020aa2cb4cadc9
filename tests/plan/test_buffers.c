/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers of the switch: what goes into the formula, and what is said when something is missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "plan/plan.h"

static json_t *buffers_of(const char *links, const char *rest)
{
	_cleanup_matrix_ struct matrix *matrix = NULL;
	_cleanup_error_ struct error err = {0};
	_cleanup_site_ struct site *site = NULL;
	_cleanup_free_ char *text = xasprintf("schema: railhead.site/1\nname: test\n"
					      "nodes: {a: {links: {eth0: %s}, rdma: {eth0: {}}}}\n%s",
					      links, rest);

	if (site_parse(&site, text, strlen(text), "site.yaml", &err) ||
	    matrix_load(&matrix, RAILHEAD_SOURCE "/data", &err))
		fail_msg("%s", error_text(&err));
	return plan_buffers(site, matrix);
}

static json_t *number(json_t *buffers, const char *name)
{
	json_t *one;
	size_t i;

	json_array_foreach(json_object_get(buffers, "numbers"), i, one)
		if (!strcmp(json_get_string(one, "name", ""), name))
			return one;
	return NULL;
}

static void test_headroom(void **state)
{
	_cleanup_json_ json_t *b = buffers_of(
		"{mtu: 9000}",
		"switch: {port_speed: 100G, cable_metres: 5, mtu: 9216, headroom: 128KiB}\n");
	json_t *headroom = number(b, "PFC headroom");

	(void)state;
	/* 9216 + (9216 + 2 * 5 m * 62.5 + 800 + 394 * 64) * 1 to 2 */
	assert_int_equal(json_get_int(headroom, "low_bytes", 0), 2 * 9216 + 625 + 800 + 25216);
	assert_int_equal(json_get_int(headroom, "high_bytes", 0),
			 9216 + 2 * (9216 + 625 + 800 + 25216));
	assert_string_equal(json_get_string(headroom, "declared", ""), "128KiB");
	assert_int_equal(json_get_int(headroom, "declared_bytes", 0), 128 << 10);
	assert_non_null(strstr(json_get_string(headroom, "formula", ""), "394 quanta"));
	/* nobody wants marking */
	assert_null(number(b, "ECN minimum"));
}

static void test_speed_of_the_hosts(void **state)
{
	_cleanup_json_ json_t *b = buffers_of(
		"{speed: 400G}", "switch: {cable_metres: 5}\nqos: {ecn: true}\n");

	(void)state;
	assert_int_equal(json_get_int(b, "speed_mbps", 0), 400000);
	/* what common switches carry, when nothing is declared */
	assert_int_equal(json_get_int(b, "mtu_bytes", 0), 9216);
	assert_int_equal(json_get_int(number(b, "ECN minimum"), "low_bytes", 0), 600000);
	assert_int_equal(json_get_int(number(b, "ECN maximum"), "low_bytes", 0), 6000000);
	assert_non_null(strstr(json_get_string(number(b, "ECN minimum"), "formula", ""),
			       "inferred"));
}

static void test_what_is_missing(void **state)
{
	static const struct {
		const char *section, *expected;
	} cases[] = {
		{ "switch: {cable_metres: 5, mtu: 9216}\n",
		  "not computed: declare switch/port_speed" },
		{ "switch: {port_speed: 100G, mtu: 9216}\n",
		  "not computed: declare switch/cable_metres" },
		{ "switch: {port_speed: 77G, cable_metres: 5, mtu: 9216}\n",
		  "not computed: the support matrix has no pause quanta for 77000 Mb/s" },
	};
	_cleanup_json_ json_t *none = buffers_of("{}", "");

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_json_ json_t *b = buffers_of("{}", cases[i].section);

		assert_string_equal(json_get_string(number(b, "PFC headroom"), "value", ""),
				    cases[i].expected);
	}
	assert_null(none);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_headroom),
		cmocka_unit_test(test_speed_of_the_hosts),
		cmocka_unit_test(test_what_is_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
