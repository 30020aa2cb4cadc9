/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The observers of network interfaces on the kernel that runs the test, as far as any kernel has
 * the same; test_against_ip.py has the rest.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "observe/observe.h"
#include "tests/observe/message.h"

static void observe(struct observation *o)
{
	_cleanup_error_ struct error err = {0};
	struct host_options options = {0};

	observation_start(o);
	assert_int_equal(host_open(&o->host, &options, &err), 0);
	observe_links(o);
	observe_ethtool(o);
	observe_dcb(o);
	observe_devlink(o);
	host_close(o->host);
}

static void test_loopback(void **state RH_UNUSED)
{
	struct observation o;

	observe(&o);
	assert_fact(&o, "/links/lo/index", "1");
	assert_fact(&o, "/links/lo/mtu", "65536");
	assert_fact(&o, "/links/lo/mac", "\"00:00:00:00:00:00\"");
	assert_fact(&o, "/links/lo/kind", "\"\"");
	assert_non_null(json_pointer_get(o.snapshot, "/links/lo/addresses"));
	assert_non_null(json_pointer_get(o.snapshot, "/links/lo/statistics/rx_bytes"));
	assert_non_null(json_pointer_get(o.snapshot, "/routes"));
	assert_absent(&o, "/links/lo/parent_device");
	assert_absent(&o, "/links/lo/dcb");
	observation_end(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loopback),
	};

	return cmocka_run_group_tests_name("observe/links_live", tests, NULL, NULL);
}
