/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "observe/pci.h"
#include "observe/pci_config.h"
#include "observe/pci_place.h"
#include "pci_space.h"
#include "tree.h"

/* --- configuration space ---------------------------------------------------------------------- */

/* From memory of exactly `len` bytes, so that a read past the end is found. */
static int parse(struct pci_config *config, const struct pci_space *space, size_t len)
{
	_cleanup_free_ uint8_t *copy = xmalloc(len ? len : 1);

	memcpy(copy, space->bytes, len);
	return pci_config_parse(config, copy, len, NULL);
}

static void finds_acs_behind_other_capabilities(void **state)
{
	struct pci_config config;
	struct pci_space s;

	(void)state;
	pci_space_start(&s, PCI_HEADER_TYPE_BRIDGE, 0x40);
	pci_capability(&s, 0x40, 0x01, 0x50);
	pci_capability(&s, 0x50, 0x05, 0x68);
	pci_express(&s, 0x68, PCI_EXP_TYPE_DOWNSTREAM);
	pci_extended(&s, 0x100, 0x0001, 0x148);
	pci_extended(&s, 0x148, 0x0003, 0xffc - 4);
	pci_acs(&s, 0xffc - 4, 0x7f, 0x1d);
	assert_int_equal(parse(&config, &s, 4096), 0);
	assert_false(config.multifunction);
	assert_int_equal(config.pcie, PCI_PRESENT);
	assert_string_equal(pci_config_port_type(&config), "downstream");
	assert_int_equal(config.acs, PCI_PRESENT);
	assert_int_equal(config.acs_cap, 0x7f);
	assert_int_equal(config.acs_ctrl, 0x1d);
}

static void names_the_port_types(void **state)
{
	static const struct {
		unsigned type;
		const char *name;
	} table[] = {
		{PCI_EXP_TYPE_ROOT_PORT, "root_port"}, {PCI_EXP_TYPE_UPSTREAM, "upstream"},
		{PCI_EXP_TYPE_DOWNSTREAM, "downstream"}, {PCI_EXP_TYPE_PCI_BRIDGE, "pcie_to_pci"},
		{PCI_EXP_TYPE_PCIE_BRIDGE, "pci_to_pcie"},
	};
	struct pci_config config;
	struct pci_space s;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		pci_space_start(&s, PCI_HEADER_TYPE_BRIDGE, 0x40);
		pci_express(&s, 0x40, table[i].type);
		assert_int_equal(parse(&config, &s, 4096), 0);
		assert_string_equal(pci_config_port_type(&config), table[i].name);
		assert_int_equal(config.acs, PCI_NONE);
	}
	pci_space_start(&s, PCI_HEADER_TYPE_BRIDGE, 0);
	assert_int_equal(parse(&config, &s, 256), 0);
	assert_string_equal(pci_config_port_type(&config), "pci");
	/* without PCI Express there is no extended space, hence no ACS */
	assert_int_equal(config.acs, PCI_NONE);
	pci_space_start(&s, PCI_HEADER_TYPE_NORMAL | 0x80, 0x40);
	pci_express(&s, 0x40, PCI_EXP_TYPE_ENDPOINT);
	assert_int_equal(parse(&config, &s, 4096), 0);
	assert_true(config.multifunction);
	assert_null(pci_config_port_type(&config));
}

static void what_is_not_readable_is_unseen(void **state)
{
	struct pci_config config;
	struct pci_space s;

	(void)state;
	pci_space_start(&s, PCI_HEADER_TYPE_BRIDGE, 0x40);
	pci_express(&s, 0x40, PCI_EXP_TYPE_ROOT_PORT);
	pci_acs(&s, 0x100, 0x7f, 0);
	/* not root: the header only */
	assert_int_equal(parse(&config, &s, 64), 0);
	assert_int_equal(config.pcie, PCI_UNSEEN);
	assert_int_equal(config.acs, PCI_UNSEEN);
	assert_null(pci_config_port_type(&config));
	/* no access to the extended space */
	assert_int_equal(parse(&config, &s, 256), 0);
	assert_string_equal(pci_config_port_type(&config), "root_port");
	assert_int_equal(config.acs, PCI_UNSEEN);
	assert_int_equal(parse(&config, &s, 4096), 0);
	assert_int_equal(config.acs, PCI_PRESENT);
}

static void refuses_broken_spaces(void **state)
{
	struct pci_config config;
	struct pci_space s;

	(void)state;
	memset(&s, 0xff, sizeof(s));
	assert_int_equal(parse(&config, &s, 0), -EBADMSG);
	assert_int_equal(parse(&config, &s, 63), -EBADMSG);
	assert_int_equal(parse(&config, &s, 4096), -ENODEV);

	pci_space_start(&s, PCI_HEADER_TYPE_BRIDGE, 0x40);
	pci_capability(&s, 0x40, 0x01, 0x50);
	pci_capability(&s, 0x50, 0x01, 0x40);
	assert_int_equal(parse(&config, &s, 4096), -EBADMSG);

	pci_space_start(&s, PCI_HEADER_TYPE_BRIDGE, 0x40);
	pci_capability(&s, 0x40, 0x01, 0x20);
	assert_int_equal(parse(&config, &s, 4096), -EBADMSG);

	/* the last place of the space; its flags are inside */
	pci_space_start(&s, PCI_HEADER_TYPE_BRIDGE, 0xfc);
	pci_express(&s, 0xfc, PCI_EXP_TYPE_UPSTREAM);
	assert_int_equal(parse(&config, &s, 256), 0);
	assert_string_equal(pci_config_port_type(&config), "upstream");

	pci_space_start(&s, PCI_HEADER_TYPE_BRIDGE, 0x40);
	pci_express(&s, 0x40, PCI_EXP_TYPE_ROOT_PORT);
	pci_extended(&s, 0x100, 0x0001, 0x140);
	pci_extended(&s, 0x140, 0x0003, 0x100);
	assert_int_equal(parse(&config, &s, 4096), -EBADMSG);
	pci_extended(&s, 0x140, 0x0003, 0x040);
	assert_int_equal(parse(&config, &s, 4096), -EBADMSG);
	/* ACS whose control register lies behind the end */
	pci_extended(&s, 0x140, 0x0003, 0xffc);
	pci_extended(&s, 0xffc, PCI_EXT_CAP_ID_ACS, 0);
	assert_int_equal(parse(&config, &s, 4096), -EBADMSG);
}

/* --- small texts ------------------------------------------------------------------------------ */

static void keeps_the_classes_of_the_path(void **state)
{
	(void)state;
	assert_true(pci_class_of_interest(0x020000));
	assert_true(pci_class_of_interest(0x020700));
	assert_true(pci_class_of_interest(0x030200));
	assert_true(pci_class_of_interest(0x120000));
	assert_true(pci_class_of_interest(0x060400));
	assert_true(pci_class_of_interest(0x068000));
	assert_false(pci_class_of_interest(0x060000));
	assert_false(pci_class_of_interest(0x010802));
	assert_false(pci_class_of_interest(0x0c0330));
}

static void reads_speeds(void **state)
{
	double gts = 0;

	(void)state;
	assert_true(pci_speed_parse("16.0 GT/s PCIe", &gts));
	assert_true(gts > 15.9 && gts < 16.1);
	assert_true(pci_speed_parse("2.5 GT/s", &gts));
	assert_false(pci_speed_parse("Unknown", &gts));
	assert_false(pci_speed_parse("Unknown speed", &gts));
	assert_false(pci_speed_parse("8 GB/s", &gts));
	assert_false(pci_speed_parse("", &gts));
	assert_false(pci_speed_parse("inf GT/s", &gts));
}

static void finds_the_largest_bar(void **state)
{
	uint64_t bytes;

	(void)state;
	/* 64 MiB, 256 GiB prefetchable, an I/O port range, ROM and SR-IOV BARs behind the first
	 * six */
	assert_int_equal(pci_resource_parse(
		"0x0000000093000000 0x0000000096ffffff 0x0000000000040200\n"
		"0x0000380000000000 0x0000383fffffffff 0x000000000014220c\n"
		"0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
		"0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
		"0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
		"0x0000000000005000 0x000000000000507f 0x0000000000040101\n"
		"0x0000000000000000 0x00ffffffffffffff 0x0000000000046200\n", &bytes), 0);
	assert_true(bytes == 256ull << 30);
	assert_int_equal(pci_resource_parse("", &bytes), 0);
	assert_true(bytes == 0);
	assert_int_equal(pci_resource_parse("0x0 0x1\n", &bytes), -EBADMSG);
	assert_int_equal(pci_resource_parse("0x2 0x1 0x200\n", &bytes), -EBADMSG);
	assert_int_equal(pci_resource_parse("0x0 0xffffffffffffffff 0x200\n", &bytes), -EBADMSG);
	assert_int_equal(pci_resource_parse("start end flags\n", &bytes), -EBADMSG);
}

static void check_place(const char *target, const char *root, const char *parent, const char *bdf,
			const char *rest)
{
	_cleanup_pci_place_ struct pci_place p = {0};

	pci_place_parse(&p, target);
	assert_string_equal(p.root ? p.root : "-", root);
	assert_string_equal(p.parent ? p.parent : "-", parent);
	assert_string_equal(p.bdf ? p.bdf : "-", bdf);
	assert_string_equal(p.rest ? p.rest : "-", rest);
}

static void places_devices(void **state)
{
	(void)state;
	check_place("../../../devices/pci0000:00/0000:00:01.0/0000:01:00.0", "pci0000:00",
		    "0000:00:01.0", "0000:01:00.0", "");
	check_place("../../devices/pci0000:00/0000:00:03.0/virtio1/net/eth0", "pci0000:00", "-",
		    "0000:00:03.0", "virtio1/net/eth0");
	/* VMD: a root below a device */
	check_place("../../../devices/pci0000:00/0000:00:0e.0/pci10000:e0/10000:e0:06.0",
		    "pci10000:e0", "-", "10000:e0:06.0", "");
	check_place("../../devices/virtual/net/bond1", "-", "-", "-", "-");
	check_place("", "-", "-", "-", "-");
	check_place("pci0000:0/0000:00:01.8/0000:00:1.0/0000:00:01.00", "-", "-", "-", "-");
	assert_true(pci_is_bdf("0000:af:00.7"));
	assert_false(pci_is_bdf("0000:AF:00.0"));
	assert_false(pci_is_bdf("0000:af:00.8"));
	assert_false(pci_is_bdf("af:00.0"));
	assert_false(pci_is_bdf("0000:af:00.0 "));
	assert_false(pci_is_bdf("0000:af:"));
}

/* --- a tree ----------------------------------------------------------------------------------- */

static void put(struct tree *t, const char *folder, const char *file, const char *text)
{
	_cleanup_free_ char *path = xasprintf("%s/%s", folder, file);

	tree_file(t, path, text);
}

static void put_space(struct tree *t, const char *folder, const struct pci_space *s, size_t len)
{
	_cleanup_free_ char *path = xasprintf("%s/config", folder);

	tree_bytes(t, path, s->bytes, len);
}

static void tells_a_bridge_and_a_nic(void **state)
{
	struct pci_space s;
	struct tree t;

	(void)state;
	tree_start(&t);
	_cleanup_free_ char *port = tree_pci(&t, "pci0000:30/0000:30:01.0", "0x060400\n");
	pci_space_start(&s, PCI_HEADER_TYPE_BRIDGE, 0x40);
	pci_express(&s, 0x40, PCI_EXP_TYPE_ROOT_PORT);
	pci_acs(&s, 0x100, 0x5f, 0x1d);
	put_space(&t, port, &s, 4096);
	_cleanup_free_ char *nic = tree_pci(&t, "pci0000:30/0000:30:01.0/0000:31:00.0", "0x020000\n");
	pci_space_start(&s, PCI_HEADER_TYPE_NORMAL | 0x80, 0x40);
	pci_express(&s, 0x40, PCI_EXP_TYPE_ENDPOINT);
	put_space(&t, nic, &s, 4096);
	put(&t, nic, "vendor", "0x8086\n");
	put(&t, nic, "device", "0x1592\n");
	put(&t, nic, "numa_node", "1\n");
	put(&t, nic, "sriov_numvfs", "2\n");
	put(&t, nic, "current_link_speed", "8.0 GT/s PCIe\n");
	put(&t, nic, "max_link_speed", "16.0 GT/s PCIe\n");
	put(&t, nic, "current_link_width", "8\n");
	put(&t, nic, "max_link_width", "16\n");
	put(&t, nic, "resource", "0x1000 0x1fff 0x40200\n");
	_cleanup_free_ char *net = xasprintf("%s/net/ens1f0", nic);
	tree_folder(&t, net);
	tree_link(&t, "/sys/class/net/ens1f0", "../../devices/pci0000:30/0000:30:01.0/0000:31:00.0/net/ens1f0");
	tree_link(&t, "/sys/class/net/sf1",
		  "../../devices/pci0000:30/0000:30:01.0/0000:31:00.0/mlx5_core.sf.4/net/sf1");
	tree_link(&t, "/sys/class/net/eth0", "../../devices/pci0000:30/0000:30:03.0/virtio1/net/eth0");
	_cleanup_free_ char *virtio = tree_pci(&t, "pci0000:30/0000:30:03.0", "0x020000\n");
	pci_space_start(&s, PCI_HEADER_TYPE_NORMAL, 0);
	put_space(&t, virtio, &s, 256);
	tree_link(&t, "/sys/class/net/bond1", "../../devices/virtual/net/bond1");
	tree_file(&t, "/sys/class/net/bonding_masters", "bond1\n");
	tree_link(&t, "/sys/class/infiniband/rocep49s0f0",
		  "../../devices/pci0000:30/0000:30:01.0/0000:31:00.0/infiniband/rocep49s0f0");
	_cleanup_free_ char *driver = xasprintf("%s/driver", nic);
	tree_link(&t, driver, "../../../../bus/pci/drivers/ice");
	_cleanup_free_ char *group = xasprintf("%s/iommu_group", nic);
	tree_link(&t, group, "../../../../kernel/iommu_groups/12");
	tree_file(&t, "/sys/kernel/iommu_groups/12/type", "identity\n");
	tree_file(&t, "/sys/kernel/iommu_groups/3/type", "DMA-FQ\n");
	tree_file(&t, "/sys/kernel/iommu_groups/4/type", "identity\n");
	_cleanup_free_ char *vf = tree_pci(&t, "pci0000:30/0000:30:01.0/0000:31:01.0", "0x020000\n");
	_cleanup_free_ char *physfn = xasprintf("%s/physfn", vf);
	tree_link(&t, physfn, "../0000:31:00.0");
	_cleanup_free_ char *disk RH_UNUSED = tree_pci(&t, "pci0000:30/0000:30:02.0", "0x010802\n");
	tree_folder(&t, "/sys/devices/pci0000:30/0000:30:01.0/0000:31:00.0/ice.roce.0");
	tree_link(&t, "/sys/bus/auxiliary/devices/ice.roce.0",
		  "../../../devices/pci0000:30/0000:30:01.0/0000:31:00.0/ice.roce.0");
	tree_link(&t, "/sys/devices/pci0000:30/0000:30:01.0/0000:31:00.0/ice.roce.0/driver",
		  "../../../../../bus/auxiliary/drivers/irdma.gen_2");
	observe_pci(&t.o);

	assert_fact(&t.o, "/pci/devices/0000:30:01.0",
		    "{\"class\": \"0x060400\", \"driver\": null, \"parent\": null, \"root\": \"pci0000:30\","
		    " \"acs\": {\"cap\": \"0x005f\", \"ctrl\": \"0x001d\", \"source_validation\": true,"
		    " \"translation_blocking\": false, \"request_redirect\": true,"
		    " \"completion_redirect\": true, \"upstream_forwarding\": true,"
		    " \"egress_control\": false, \"direct_translated\": false},"
		    " \"port_type\": \"root_port\"}");
	assert_fact(&t.o, "/pci/devices/0000:31:00.0",
		    "{\"vendor\": \"0x8086\", \"device\": \"0x1592\", \"class\": \"0x020000\","
		    " \"driver\": \"ice\", \"numa_node\": 1, \"parent\": \"0000:30:01.0\","
		    " \"root\": \"pci0000:30\", \"iommu_group\": 12, \"iommu_type\": \"identity\","
		    " \"link\": {\"speed_gts\": 8.0, \"width\": 8, \"max_speed_gts\": 16.0, \"max_width\": 16},"
		    " \"acs\": null, \"links\": [\"ens1f0\"], \"rdma\": [\"rocep49s0f0\"], \"vfs\": 2,"
		    " \"bar_max_bytes\": 4096}");
	assert_fact(&t.o, "/pci/devices/0000:31:01.0",
		    "{\"class\": \"0x020000\", \"driver\": null, \"parent\": \"0000:30:01.0\","
		    " \"root\": \"pci0000:30\", \"links\": [], \"rdma\": [], \"physfn\": \"0000:31:00.0\"}");
	assert_fact(&t.o, "/pci/devices/0000:30:03.0/links", "[\"eth0\"]");
	assert_absent(&t.o, "/pci/devices/0000:30:02.0");
	assert_fact(&t.o, "/pci/auxiliary",
		    "{\"ice.roce.0\": {\"parent\": \"0000:31:00.0\", \"driver\": \"irdma.gen_2\"}}");
	assert_fact(&t.o, "/os/iommu", "{\"groups\": 3, \"types\": [\"DMA-FQ\", \"identity\"]}");
	assert_int_equal(gaps(&t.o), 0);
	tree_end(&t);
}

static void damage_gives_gaps(void **state)
{
	struct pci_space s;
	struct tree t;

	(void)state;
	tree_start(&t);
	_cleanup_free_ char *seen = tree_pci(&t, "pci0000:00/0000:00:01.0", "0x060400\n");
	pci_space_start(&s, PCI_HEADER_TYPE_BRIDGE, 0x40);
	put_space(&t, seen, &s, 64);
	put(&t, seen, "current_link_speed", "Unknown\n");
	put(&t, seen, "current_link_width", "0\n");
	put(&t, seen, "max_link_width", "255\n");
	put(&t, seen, "numa_node", "\n");
	_cleanup_free_ char *empty = tree_pci(&t, "pci0000:00/0000:00:02.0", "0x030200\n");
	put_space(&t, empty, &s, 0);
	put(&t, empty, "resource", "damaged\n");
	_cleanup_free_ char *odd RH_UNUSED = tree_pci(&t, "pci0000:00/0000:00:03.0", "network\n");
	_cleanup_free_ char *folder = tree_pci(&t, "pci0000:00/0000:00:04.0", "0x020000\n");
	_cleanup_free_ char *vendor = xasprintf("%s/vendor", folder);
	tree_folder(&t, vendor);
	tree_link(&t, "/sys/bus/pci/devices/0000:00:05.0", "../../../devices/gone");
	tree_folder(&t, "/sys/kernel/iommu_groups/0");
	observe_pci(&t.o);

	assert_absent(&t.o, "/pci/devices/0000:00:01.0/acs");
	assert_absent(&t.o, "/pci/devices/0000:00:01.0/link");
	assert_absent(&t.o, "/pci/devices/0000:00:01.0/port_type");
	assert_string_equal(json_get_string(gap_at(&t.o, "/pci/devices/0000:00:01.0/acs"), "hint", ""),
			    "run as root");
	assert_gap(&t.o, "/pci/devices/0000:00:01.0/port_type");
	assert_gap(&t.o, "/pci/devices/0000:00:01.0/numa_node");
	assert_gap(&t.o, "/pci/devices/0000:00:02.0/acs");
	assert_gap(&t.o, "/pci/devices/0000:00:02.0/bar_max_bytes");
	assert_gap(&t.o, "/pci/devices/0000:00:03.0");
	assert_gap(&t.o, "/pci/devices/0000:00:04.0/vendor");
	assert_gap(&t.o, "/pci/devices/0000:00:05.0");
	assert_fact(&t.o, "/os/iommu", "{\"groups\": 1}");
	assert_gap(&t.o, "/os/iommu/types");
	tree_end(&t);
}

static void a_machine_without_pci(void **state)
{
	struct tree t;

	(void)state;
	tree_start(&t);
	observe_pci(&t.o);
	assert_fact(&t.o, "/pci", "{}");
	assert_gap(&t.o, "/pci/devices");
	assert_gap(&t.o, "/pci/auxiliary");
	assert_gap(&t.o, "/os/iommu");
	tree_end(&t);

	tree_start(&t);
	tree_folder(&t, "/sys/bus");
	tree_folder(&t, "/sys/kernel");
	observe_pci(&t.o);
	assert_fact(&t.o, "/pci", "{\"devices\": {}, \"auxiliary\": {}}");
	assert_fact(&t.o, "/os/iommu", "{\"groups\": 0, \"types\": []}");
	assert_int_equal(gaps(&t.o), 0);
	tree_end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_acs_behind_other_capabilities),
		cmocka_unit_test(names_the_port_types),
		cmocka_unit_test(what_is_not_readable_is_unseen),
		cmocka_unit_test(refuses_broken_spaces),
		cmocka_unit_test(keeps_the_classes_of_the_path),
		cmocka_unit_test(reads_speeds),
		cmocka_unit_test(finds_the_largest_bar),
		cmocka_unit_test(places_devices),
		cmocka_unit_test(tells_a_bridge_and_a_nic),
		cmocka_unit_test(damage_gives_gaps),
		cmocka_unit_test(a_machine_without_pci),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
