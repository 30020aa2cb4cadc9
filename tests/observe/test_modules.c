/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "observe/log.h"
#include "observe/modules.h"
#include "tree.h"

static void tells_the_tree_by_the_path(void **state)
{
	(void)state;
	assert_int_equal(module_path_in_tree("/lib/modules/6.12/kernel/drivers/x/irdma.ko.xz"), 1);
	assert_int_equal(module_path_in_tree("/usr/lib/modules/6.12/kernel/drivers/ice.ko"), 1);
	assert_int_equal(module_path_in_tree("/lib/modules/6.12/updates/dkms/irdma.ko"), 0);
	assert_int_equal(module_path_in_tree("/lib/modules/6.12/weak-updates/ice/ice.ko"), 0);
	assert_int_equal(module_path_in_tree("/lib/modules/6.12/extra/irdma.ko"), 0);
	assert_int_equal(module_path_in_tree("/lib/modules/6.12/kernels/irdma.ko"), 0);
	assert_int_equal(module_path_in_tree("/root/irdma.ko"), -1);
	assert_int_equal(module_path_in_tree("/lib/modules/6.12"), -1);
}

static void reads_the_package_query(void **state)
{
	_cleanup_json_ json_t *packages = json_object(), *kernels;

	(void)state;
	packages_parse(packages, "installed rdma-core 60.0-1.el10\n"
				 "installed kernel-core 6.12.0-100.el10\n"
				 "installed kernel-core 6.12.0-124.el10\n"
				 "config-files perftest 4.5\n"
				 "installed nameonly\n"
				 "\n");
	kernels = json_object_get(packages, "kernel-core");
	assert_int_equal(json_object_size(packages), 2);
	assert_int_equal(json_array_size(kernels), 2);
	assert_string_equal(json_string_value(json_array_get(kernels, 1)), "6.12.0-124.el10");
}

static void tells_loaded_modules(void **state)
{
	struct tree t;

	(void)state;
	tree_start(&t);
	tree_file(&t, "/sys/module/irdma/initstate", "live\n");
	tree_file(&t, "/sys/module/irdma/version", "1.17.4\n");
	tree_file(&t, "/sys/module/irdma/refcnt", "2\n");
	tree_file(&t, "/sys/module/irdma/taint", "OE\n");
	tree_file(&t, "/sys/module/irdma/parameters/roce_ena", "1\n");
	tree_file(&t, "/sys/module/ice/initstate", "live\n");
	tree_file(&t, "/sys/module/ice/taint", "\n");
	tree_file(&t, "/sys/module/ice/refcnt", "many\n");
	tree_file(&t, "/sys/module/mlx5_core/initstate", "going\n");
	tree_file(&t, "/sys/module/udmabuf/parameters/size_limit_mb", "64\n");
	tree_folder(&t, "/sys/module/unrelated");
	observe_modules(&t.o);

	assert_fact(&t.o, "/os/modules/irdma",
		    "{\"loaded\": true, \"builtin\": false, \"version\": \"1.17.4\", \"refcount\": 2,"
		    " \"taint\": \"OE\", \"parameters\": {\"roce_ena\": \"1\"}, \"in_tree\": false}");
	assert_fact(&t.o, "/os/modules/ice/taint", "\"\"");
	assert_fact(&t.o, "/os/modules/ice/in_tree", "true");
	assert_absent(&t.o, "/os/modules/ice/refcount");
	assert_gap(&t.o, "/os/modules/ice/refcount");
	assert_fact(&t.o, "/os/modules/mlx5_core/loaded", "false");
	assert_fact(&t.o, "/os/modules/udmabuf/builtin", "true");
	assert_fact(&t.o, "/os/modules/udmabuf/in_tree", "true");
	assert_fact(&t.o, "/os/modules/rdma_rxe", "{\"loaded\": false}");
	assert_absent(&t.o, "/os/modules/unrelated");
	/* no /lib/modules: what a module file would say is not known */
	assert_gap(&t.o, "/os/modules");
	assert_absent(&t.o, "/os/modules/irdma/file");
	assert_gap(&t.o, "/os/packages");
	tree_end(&t);
}

static void no_file_is_null(void **state)
{
	struct tree t;

	(void)state;
	tree_start(&t);
	tree_file(&t, "/proc/sys/kernel/osrelease", "6.12\n");
	tree_folder(&t, "/sys/module");
	tree_file(&t, "/lib/modules/6.12/modules.dep", "");
	observe_modules(&t.o);
	assert_fact(&t.o, "/os/modules/irdma/file", "null");
	assert_fact(&t.o, "/os/modules/irdma/loaded", "false");
	assert_absent(&t.o, "/os/modules/irdma/in_tree");
	assert_no_gap(&t.o, "/os/modules");
	tree_end(&t);
}

static void a_tree_without_sysfs_is_a_gap(void **state)
{
	struct tree t;

	(void)state;
	tree_start(&t);
	observe_modules(&t.o);
	assert_absent(&t.o, "/os/modules");
	assert_gap(&t.o, "/os/modules");
	tree_end(&t);
}

static void log_lines_by_driver(void **state)
{
	(void)state;
	assert_true(log_line_relevant("ice 0000:31:00.0: The DDP package was successfully loaded"));
	assert_true(log_line_relevant("irdma ice.roce.0: x"));
	assert_true(log_line_relevant("[ice 0000:31:00.0]"));
	assert_true(log_line_relevant("NVRM: Xid (PCI:0000:01:00): 79"));
	assert_true(log_line_relevant("bond1: (slave ens1f0): Enslaving"));
	assert_false(log_line_relevant("usb device 1-1 found"));
	assert_false(log_line_relevant("a slice of memory"));
	assert_false(log_line_relevant("vagabond ran"));
	assert_false(log_line_relevant(""));
}

static void reads_its_own_log(void **state)
{
	struct observation o = {.snapshot = json_object()};
	const struct host_options live = {0};
	json_t *line;
	size_t i;

	(void)state;
	assert_int_equal(host_open(&o.host, &live, NULL), 0);
	observe_kernel_log(&o);
	json_t *readable = json_at(o.snapshot, "/os/log/readable");
	/* readable, or a gap that says why not */
	assert_true(json_is_true(readable) || gap_at(&o, "/os/log/lines"));
	json_array_foreach(json_at(o.snapshot, "/os/log/lines"), i, line)
		assert_true(log_line_relevant(json_get_string(line, "text", "")));
	host_close(o.host);
	json_decref(o.snapshot);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_the_tree_by_the_path),
		cmocka_unit_test(reads_the_package_query),
		cmocka_unit_test(tells_loaded_modules),
		cmocka_unit_test(no_file_is_null),
		cmocka_unit_test(a_tree_without_sysfs_is_a_gap),
		cmocka_unit_test(log_lines_by_driver),
		cmocka_unit_test(reads_its_own_log),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
