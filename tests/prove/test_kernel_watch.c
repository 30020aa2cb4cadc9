/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel logs during a proof: new lines only, faults of the IOMMU counted, and why when
 * the log cannot be read. The door is scripted. */
#include <errno.h>
#include <string.h>

#include "../judge/scene.h"
#include "base/alloc.h"
#include "prove/kernel_watch.h"

static const char *scripted;	/* JSON with ' for ", NULL: may not be read */

int __wrap_host_kernel_log(struct host *host, const char *const *needles, json_t **lines,
			   struct error *err);
int __wrap_host_kernel_log(struct host *host RH_UNUSED, const char *const *needles, json_t **lines,
			   struct error *err)
{
	assert_non_null(needles[0]);
	if (!scripted)
		return error_set(err, -EPERM, "/dev/kmsg: not permitted");
	*lines = scene_json(scripted);
	return 0;
}

#define OLD "{'time_us': 5, 'text': 'DMAR: [DMA Write] fault addr 1'}"
#define NEW_1 "{'time_us': 7, 'text': 'DMAR: DRHD: handling fault status reg 2'}"
#define NEW_2                                                                                \
	"{'time_us': 7, 'text': 'DMAR: [DMA Write NO_PASID] Request device [1b:00.0] fault addr " \
	"0x1'}"
#define NEW_3 "{'time_us': 9, 'text': 'AMD-Vi: Event logged [IO_PAGE_FAULT device=1b:00.0]'}"
#define NEW_4 "{'time_us': 9, 'text': 'NVRM: PCI topology not supported for dma-buf'}"

static void new_lines_only(void **state)
{
	_cleanup_kernel_watch_ struct kernel_watch watch;
	int64_t faults = 0;

	(void)state;
	scripted = "[" OLD "]";
	kernel_watch_begin(&watch, NULL);
	_cleanup_json_ json_t *none = kernel_watch_take(&watch, 8, &faults);
	assert_int_equal(json_array_size(none), 0);
	assert_int_equal(faults, 0);

	scripted = "[" OLD "," NEW_1 "," NEW_2 "," NEW_3 "," NEW_4 "]";
	_cleanup_json_ json_t *two = kernel_watch_take(&watch, 2, &faults);
	/* those that are left out are counted, and a fault of two lines is one */
	assert_int_equal(json_array_size(two), 2);
	assert_int_equal(faults, 2);
	assert_string_equal(json_string_value(json_array_get(two, 0)),
			    "DMAR: DRHD: handling fault status reg 2");
	/* and not once more */
	_cleanup_json_ json_t *again = kernel_watch_take(&watch, 8, &faults);
	assert_int_equal(json_array_size(again), 0);
	assert_int_equal(faults, 2);
}

static void facts(void **state)
{
	_cleanup_kernel_watch_ struct kernel_watch watch;

	(void)state;
	scripted = "[]";
	kernel_watch_begin(&watch, NULL);
	scripted = "[" NEW_2 "]";
	_cleanup_json_ json_t *is = kernel_watch_facts(&watch);
	assert_int_equal(json_get_int(is, "iommu_faults", -1), 1);
	assert_int_equal(json_array_size(json_object_get(is, "lines")), 1);
	assert_null(json_object_get(is, "why"));
}

/* No number where nothing was read, also when it could be read at the beginning. */
static void unreadable(void **state)
{
	(void)state;
	for (int later = 0; later < 2; later++) {
		_cleanup_kernel_watch_ struct kernel_watch watch;

		scripted = later ? "[]" : NULL;
		kernel_watch_begin(&watch, NULL);
		scripted = NULL;
		_cleanup_json_ json_t *is = kernel_watch_facts(&watch);
		assert_null(json_object_get(is, "iommu_faults"));
		assert_non_null(strstr(json_get_string(is, "why", ""),
				       "not permitted; root may read it"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(new_lines_only),
		cmocka_unit_test(facts),
		cmocka_unit_test(unreadable),
	};

	return cmocka_run_group_tests_name("kernel_watch", tests, NULL, NULL);
}
