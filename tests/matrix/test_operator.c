/* SPDX-License-Identifier: Apache-2.0 */
/* Tags of images that are built for a system, as each operator makes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/json.h"
#include "matrix/operator.h"

static void test_suffix(void **state RH_UNUSED)
{
	static const struct {
		const char *rule, *os_id, *os_version, *wanted;
	} cases[] = {
		{ "none", "rhel", "10.2", "" },
		{ "none", "", "", "" },
		{ "os-major", "rhel", "10.2", "-rhel10" },
		{ "os-major", "rhel", "9.6", "-rhel9" },
		{ "os-major", "rocky", "9.7", "-rocky9" },
		{ "os-major", "ol", "9.5", "-ol9" },
		{ "os-major", "ubuntu", "24.04", "-ubuntu24.04" },
		{ "os-major-from-10", "rhel", "10.2", "-rhel10" },
		{ "os-major-from-10", "rhel", "10", "-rhel10" },
		{ "os-major-from-10", "rhel", "9.10", "-rhel9.10" },
		{ "os-major-from-10", "rhel", "8.8", "-rhel8.8" },
		{ "os-major-from-10", "rocky", "9.7", "-rocky9" },
		{ "os-major-from-10", "ol", "10.1", "-ol10.1" },
		{ "os-major-from-10", "ubuntu", "22.04", "-ubuntu22.04" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_json_ json_t *row = json_object_new();

		json_put_string(row, "suffix", cases[i].rule);
		_cleanup_free_ char *suffix =
			operator_suffix(row, cases[i].os_id, cases[i].os_version);
		assert_string_equal(suffix, cases[i].wanted);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_suffix) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
