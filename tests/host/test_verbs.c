/* SPDX-License-Identifier: Apache-2.0 */
/* libibverbs of this machine; it may have no device. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "host/verbs.h"

static void the_table_is_complete(void **state RH_UNUSED)
{
	const size_t first = offsetof(struct verbs, get_device_list);
	_cleanup_error_ struct error err = {0};
	struct verbs v = {0};

	if (verbs_load(&v, &err) < 0)
		fail_msg("%s", error_text(&err));
	assert_string_equal(v.name, "libibverbs");
	assert_false(v.is_double);
	for (size_t at = first; at < sizeof(v); at += sizeof(void *)) {
		void *call = *(void **)((char *)&v + at);

		if (!call)
			fail_msg("member at offset %zu is not set", at);
	}
}

static void devices_can_be_listed(void **state RH_UNUSED)
{
	struct verbs v = {0};
	int n = -1;

	assert_int_equal(verbs_load(&v, NULL), 0);
	struct ibv_device **list = v.get_device_list(&n);
	/* without the kernel's RDMA core there is no list */
	if (!list)
		return;
	assert_true(n >= 0);
	for (int i = 0; i < n; i++)
		assert_non_null(v.get_device_name(list[i]));
	v.free_device_list(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_table_is_complete),
		cmocka_unit_test(devices_can_be_listed),
	};

	return cmocka_run_group_tests_name("libibverbs", tests, NULL, NULL);
}
