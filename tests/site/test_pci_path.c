/* SPDX-License-Identifier: Apache-2.0 */
/* Distance classes and bridges between two PCI devices. */
#include <string.h>

#include "../judge/scene.h"
#include "base/strbuf.h"
#include "site/pci_path.h"

/*
 * Root a: port r1 - switch u1 with ports d1 (gpu1), d2 (nic1, both functions), d3 - switch u2 with
 * port e1 (nic2); port r2 - nic3. Root b, same node: r3 - nic4. Root c, other node: r4 - nic5.
 * Root d tells no node: nic6.
 */
#define DEVICES                                                                                \
	"{'r1': {'parent': null, 'root': 'a', 'numa_node': 0},"                                \
	" 'u1': {'parent': 'r1', 'root': 'a', 'numa_node': 0},"                                \
	" 'd1': {'parent': 'u1', 'root': 'a', 'numa_node': 0},"                                \
	" 'd2': {'parent': 'u1', 'root': 'a', 'numa_node': 0},"                                \
	" 'd3': {'parent': 'u1', 'root': 'a', 'numa_node': 0},"                                \
	" 'u2': {'parent': 'd3', 'root': 'a', 'numa_node': 0},"                                \
	" 'e1': {'parent': 'u2', 'root': 'a', 'numa_node': 0},"                                \
	" 'r2': {'parent': null, 'root': 'a', 'numa_node': 0},"                                \
	" 'r3': {'parent': null, 'root': 'b', 'numa_node': 0},"                                \
	" 'r4': {'parent': null, 'root': 'c', 'numa_node': 1},"                                \
	" 'gpu1': {'parent': 'd1', 'root': 'a', 'numa_node': 0},"                              \
	" 'nic1.0': {'parent': 'd2', 'root': 'a', 'numa_node': 0},"                            \
	" 'nic1.1': {'parent': 'd2', 'root': 'a', 'numa_node': 0},"                            \
	" 'nic2': {'parent': 'e1', 'root': 'a', 'numa_node': 0},"                              \
	" 'nic3': {'parent': 'r2', 'root': 'a', 'numa_node': 0},"                              \
	" 'nic4': {'parent': 'r3', 'root': 'b', 'numa_node': 0},"                              \
	" 'nic5': {'parent': 'r4', 'root': 'c', 'numa_node': 1},"                              \
	" 'nic6': {'parent': null, 'root': 'd', 'numa_node': -1},"                             \
	" 'loop1': {'parent': 'loop2'}, 'loop2': {'parent': 'loop1'},"                         \
	" 'self': {'parent': 'self'},"                                                         \
	" 'orphan': {'parent': 'gone'}, 'untold': {}}"

static void assert_path(const char *a, const char *b, enum pci_distance distance,
			const char *bridges)
{
	_cleanup_json_ json_t *devices = scene_json(DEVICES);
	_cleanup_pci_path_ struct pci_path path;
	_cleanup_strbuf_ struct strbuf seen = {0};

	pci_path_find(&path, devices, a, b);
	for (size_t i = 0; i < path.n_bridges; i++)
		strbuf_printf(&seen, "%s%s", i ? " " : "", path.bridges[i]);
	assert_string_equal(pci_distance_name(path.distance), pci_distance_name(distance));
	assert_string_equal(strbuf_str(&seen), bridges);
}

static void one_switch(void **state)
{
	(void)state;
	assert_path("gpu1", "nic1.0", PCI_PIX, "d1 u1 d2");
	assert_path("nic1.0", "gpu1", PCI_PIX, "d2 u1 d1");
	assert_path("nic1.0", "nic1.1", PCI_PIX, "d2");
}

static void several_switches(void **state)
{
	(void)state;
	assert_path("gpu1", "nic2", PCI_PXB, "d1 u1 e1 u2 d3");
}

static void through_the_root(void **state)
{
	(void)state;
	assert_path("gpu1", "nic3", PCI_PHB, "d1 u1 r1 r2");
	assert_path("gpu1", "nic4", PCI_NODE, "d1 u1 r1 r3");
	assert_path("gpu1", "nic5", PCI_SYS, "d1 u1 r1 r4");
	assert_path("gpu1", "nic6", PCI_CROSS, "d1 u1 r1");
}

static void common_bridge(void **state)
{
	_cleanup_json_ json_t *devices = scene_json(DEVICES);
	_cleanup_pci_path_ struct pci_path path;

	(void)state;
	pci_path_find(&path, devices, "gpu1", "nic2");
	assert_string_equal(path.common, "u1");
	pci_path_clear(&path);
	pci_path_find(&path, devices, "gpu1", "nic3");
	assert_null(path.common);
}

static void holes_and_loops_end(void **state)
{
	static const char *const bad[] = { "loop1", "self", "orphan", "untold", "not there" };
	_cleanup_json_ json_t *devices = scene_json(DEVICES);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		_cleanup_pci_path_ struct pci_path path;

		pci_path_find(&path, devices, "gpu1", bad[i]);
		assert_int_equal(path.distance, PCI_UNKNOWN);
		assert_non_null(path.hole);
		assert_int_equal(path.n_bridges, 0);
		pci_path_clear(&path);
		pci_path_find(&path, devices, bad[i], "gpu1");
		assert_int_equal(path.distance, PCI_UNKNOWN);
	}
}

static void no_tree(void **state)
{
	_cleanup_pci_path_ struct pci_path path;

	(void)state;
	pci_path_find(&path, NULL, "gpu1", "nic1.0");
	assert_int_equal(path.distance, PCI_UNKNOWN);
}

static void gpus(void **state RH_UNUSED)
{
	static const struct {
		const char *device;
		bool is;
	} rows[] = {
		{ "{'vendor': '0x10de', 'class': '0x030200'}", true },
		{ "{'vendor': '0x10de', 'class': '0x030000'}", true },
		{ "{'vendor': '0x10de', 'class': '0x068000'}", false },	/* NVSwitch */
		{ "{'vendor': '0x1002', 'class': '0x030200'}", false },
		{ "{'vendor': 5, 'class': null}", false },
		{ "7", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_json_ json_t *device = scene_json(rows[i].device);

		assert_int_equal(pci_is_gpu(device), rows[i].is);
	}
	assert_false(pci_is_gpu(NULL));
}

static void translation(void **state RH_UNUSED)
{
	assert_true(pci_iommu_translates("DMA"));
	assert_true(pci_iommu_translates("DMA-FQ"));
	assert_false(pci_iommu_translates("identity"));
	assert_false(pci_iommu_translates("unmanaged"));
	assert_false(pci_iommu_translates(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_switch),
		cmocka_unit_test(several_switches),
		cmocka_unit_test(through_the_root),
		cmocka_unit_test(common_bridge),
		cmocka_unit_test(holes_and_loops_end),
		cmocka_unit_test(no_tree),
		cmocka_unit_test(gpus),
		cmocka_unit_test(translation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
