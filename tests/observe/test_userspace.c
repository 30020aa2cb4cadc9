/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "observe/modules.h"
#include "observe/userspace.h"
#include "tree.h"

static void check_version(const char *file, const char *expected)
{
	_cleanup_free_ char *version = rdma_core_version(file);

	assert_string_equal(version ? version : "-", expected);
}

static void reads_versions_of_file_names(void **state)
{
	(void)state;
	check_version("libibverbs.so.1.14.44.0", "44.0");
	check_version("libibverbs.so.1.15.60.1", "60.1");
	check_version("libibverbs.so.1.14.2410.0.68", "2410.0.68");
	/* before rdma-core */
	check_version("libibverbs.so.1.0.0", "-");
	check_version("libibverbs.so.1.14", "-");
	check_version("libibverbs.so.1.14.", "-");
	check_version("libibverbs.so.1", "-");
	check_version("libibverbs.so.1.14.44.x", "-");
	check_version("libmlx5.so.1.24.44.0", "-");
	check_version("", "-");
}

static void check_provider(const char *file, const char *expected)
{
	_cleanup_free_ char *name = rdma_provider_name(file);

	assert_string_equal(name ? name : "-", expected);
}

static void reads_providers_of_file_names(void **state)
{
	(void)state;
	check_provider("libirdma-rdmav34.so", "irdma");
	check_provider("libmlx5-rdmav57.so", "mlx5");
	check_provider("lib-rdmav34.so", "-");
	check_provider("libirdma.so", "-");
	check_provider("libirdma-rdmav34.so.bak", "-");
	check_provider("irdma-rdmav34.so", "-");
	check_provider("-rdmav", "-");
	check_provider("lib", "-");
}

static void a_provider_needs_its_line(void **state)
{
	struct tree t;

	(void)state;
	tree_start(&t);
	tree_file(&t, "/usr/lib64/libibverbs.so.1.15.60.0", "");
	tree_link(&t, "/usr/lib64/libibverbs.so.1", "libibverbs.so.1.15.60.0");
	tree_file(&t, "/usr/lib64/libibverbs/libirdma-rdmav57.so", "");
	tree_file(&t, "/usr/lib64/libibverbs/libmlx5-rdmav57.so", "");
	tree_file(&t, "/usr/lib64/libibverbs/libsiw-rdmav57.so", "");
	tree_file(&t, "/usr/lib64/libibverbs/README", "");
	tree_file(&t, "/etc/libibverbs.d/irdma.driver", "driver irdma\n");
	tree_file(&t, "/etc/libibverbs.d/mlx5.driver", "# none\ndriver\n  driver mlx5 x\n");
	tree_file(&t, "/etc/libibverbs.d/siw.driver.rpmsave", "driver siw\n");
	tree_folder(&t, "/etc/libibverbs.d/odd.driver");
	observe_userspace(&t.o);
	assert_fact(&t.o, "/userspace", "{\"rdma_core\": \"60.0\", \"providers\": [\"irdma\", \"mlx5\"]}");
	assert_int_equal(gaps(&t.o), 0);
	tree_end(&t);
}

static void a_library_without_providers(void **state)
{
	struct tree t;

	(void)state;
	tree_start(&t);
	tree_file(&t, "/usr/lib/x86_64-linux-gnu/libibverbs.so.1.0.0", "");
	tree_link(&t, "/usr/lib/x86_64-linux-gnu/libibverbs.so.1", "libibverbs.so.1.0.0");
	json_obj(json_obj(json_obj(t.o.snapshot, "rdma"), "devices"), "rxe0");
	observe_userspace(&t.o);
	assert_fact(&t.o, "/userspace", "{\"providers\": []}");
	assert_gap(&t.o, "/userspace/rdma_core");
	/* there is a device, and no probe below a root */
	assert_gap(&t.o, "/userspace/opened");
	tree_end(&t);
}

/* As in images that copy the library instead of its link. */
static void a_copy_is_asked_for_at_the_packages(void **state)
{
	struct tree t;

	(void)state;
	tree_start(&t);
	tree_file(&t, "/usr/lib/x86_64-linux-gnu/libibverbs.so.1", "");
	json_t *packages = json_obj(json_obj(t.o.snapshot, "os"), "packages");
	packages_parse(packages, "installed libibverbs1 1:44.0-2\ninstalled rdma-core 50.0-1\n");
	observe_userspace(&t.o);
	assert_fact(&t.o, "/userspace/rdma_core", "\"44.0\"");
	packages_parse(packages, "installed libibverbs1 45.0-1\n");
	json_object_del(t.o.snapshot, "userspace");
	observe_userspace(&t.o);
	assert_absent(&t.o, "/userspace/rdma_core");
	assert_gap(&t.o, "/userspace/rdma_core");
	tree_end(&t);
}

static void no_library(void **state)
{
	struct tree t;

	(void)state;
	tree_start(&t);
	json_obj(json_obj(json_obj(t.o.snapshot, "rdma"), "devices"), "rxe0");
	observe_userspace(&t.o);
	assert_fact(&t.o, "/userspace", "{}");
	assert_gap(&t.o, "/userspace/rdma_core");
	assert_no_gap(&t.o, "/userspace/opened");
	tree_end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_versions_of_file_names),
		cmocka_unit_test(reads_providers_of_file_names),
		cmocka_unit_test(a_provider_needs_its_line),
		cmocka_unit_test(a_library_without_providers),
		cmocka_unit_test(a_copy_is_asked_for_at_the_packages),
		cmocka_unit_test(no_library),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
