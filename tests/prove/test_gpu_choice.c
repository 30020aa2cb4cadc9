/* SPDX-License-Identifier: Apache-2.0 */
/* GPUs of a host in the order of their distance to the NIC. */
#include <string.h>

#include "prove/gpu_choice.h"
#include "records.h"

#define NIC "0000:1b:00.0"

static void nearest_first(void **state)
{
	_cleanup_json_ json_t *snapshot = records_snapshot("e810-b300-healthy.json");
	_cleanup_gpu_choice_ struct gpu_choice choice;
	static const char *const distances[] = { "PIX", "PIX", "NODE", "NODE", "SYS", "SYS", "SYS",
						 "SYS" };

	(void)state;
	gpu_choice_make(&choice, snapshot, NIC);
	assert_int_equal(choice.n, 8);
	for (size_t i = 0; i < choice.n; i++) {
		_cleanup_free_ char *text = xasprintf("%s from NIC " NIC, distances[i]);

		assert_string_equal(choice.list[i].distance, text);
	}
	assert_string_equal(choice.list[0].bdf, "0000:1c:00.0");
	assert_string_equal(choice.list[1].bdf, "0000:1d:00.0");
	assert_ptr_equal(gpu_choice_find(&choice, "0000:1D:00.0"), &choice.list[1]);
	assert_null(gpu_choice_find(&choice, "0000:99:00.0"));
	assert_null(gpu_choice_find(NULL, "0000:1c:00.0"));
}

/* A NIC far from the first GPUs of the snapshot. */
static void other_socket(void **state)
{
	_cleanup_json_ json_t *snapshot = records_snapshot("e810-b300-healthy.json");
	_cleanup_gpu_choice_ struct gpu_choice choice;

	(void)state;
	gpu_choice_make(&choice, snapshot, "0000:9d:00.0");
	assert_string_equal(choice.list[0].bdf, "0000:9d:00.0");
	assert_non_null(strstr(choice.list[7].distance, "SYS"));
}

/* A software device, a snapshot without PCI, one that holds nonsense. */
static void nothing_to_go_by(void **state)
{
	_cleanup_json_ json_t *snapshot = records_snapshot("e810-b300-healthy.json");
	_cleanup_json_ json_t *odd = json_pack("{s:{s:{s:i}}}", "pci", "devices", "x", 7);
	_cleanup_gpu_choice_ struct gpu_choice none, bare, strange;

	(void)state;
	gpu_choice_make(&none, snapshot, NULL);
	assert_int_equal(none.n, 8);
	assert_string_equal(none.list[0].bdf, "0000:1c:00.0");
	gpu_choice_make(&bare, NULL, NIC);
	assert_int_equal(bare.n, 0);
	gpu_choice_make(&strange, odd, NIC);
	assert_int_equal(strange.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nearest_first),
		cmocka_unit_test(other_socket),
		cmocka_unit_test(nothing_to_go_by),
	};

	return cmocka_run_group_tests_name("gpu_choice", tests, NULL, NULL);
}
