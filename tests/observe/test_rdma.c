/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_netlink.h>

#include "observe/rdma.h"
#include "tree.h"

/* --- netlink ---------------------------------------------------------------------------------- */

static void start(struct message *m, int command)
{
	message_start(m, (uint16_t)RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command), 0);
}

static void reads_a_device(void **state)
{
	struct message m;
	struct observation o;

	(void)state;
	observation_start(&o);
	start(&m, RDMA_NLDEV_CMD_GET);
	mnl_attr_put_u32(m.nlh, RDMA_NLDEV_ATTR_DEV_INDEX, 3);
	mnl_attr_put_strz(m.nlh, RDMA_NLDEV_ATTR_DEV_NAME, "rocep49s0f0");
	mnl_attr_put_u32(m.nlh, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	mnl_attr_put_strz(m.nlh, RDMA_NLDEV_ATTR_FW_VERSION, "1.71");
	mnl_attr_put_u64(m.nlh, RDMA_NLDEV_ATTR_NODE_GUID, 0x505400fffe123456ull);
	mnl_attr_put_u64(m.nlh, RDMA_NLDEV_ATTR_SYS_IMAGE_GUID, 0x1ull);
	mnl_attr_put_u8(m.nlh, RDMA_NLDEV_ATTR_DEV_NODE_TYPE, 1);
	mnl_attr_put_strz(m.nlh, RDMA_NLDEV_ATTR_DEV_PROTOCOL, "roce");
	mnl_attr_put_u32(m.nlh, 4000, 1);
	assert_int_equal(message_parse(&m, 0, rdma_netlink_device, o.snapshot), 0);
	assert_fact(&o, "/rocep49s0f0",
		    "{\"index\": 3, \"firmware\": \"1.71\", \"node_guid\": \"5054:00ff:fe12:3456\","
		    " \"sys_image_guid\": \"0000:0000:0000:0001\", \"node_type\": \"ca\","
		    " \"protocol\": \"roce\"}");
	message_parse_cut(&m, &o, rdma_netlink_device, o.snapshot);

	start(&m, RDMA_NLDEV_CMD_GET);
	mnl_attr_put_u32(m.nlh, RDMA_NLDEV_ATTR_DEV_INDEX, 4);
	mnl_attr_put_strz(m.nlh, RDMA_NLDEV_ATTR_DEV_NAME, "iwp1");
	mnl_attr_put_strz(m.nlh, RDMA_NLDEV_ATTR_DEV_PROTOCOL, "iw");
	assert_int_equal(message_parse(&m, 0, rdma_netlink_device, o.snapshot), 0);
	assert_fact(&o, "/iwp1", "{\"index\": 4, \"protocol\": \"iwarp\"}");
	observation_end(&o);
}

static int device_named(const char *name, json_t *devices)
{
	struct message m;

	start(&m, RDMA_NLDEV_CMD_GET);
	mnl_attr_put_u32(m.nlh, RDMA_NLDEV_ATTR_DEV_INDEX, 3);
	if (name)
		mnl_attr_put_strz(m.nlh, RDMA_NLDEV_ATTR_DEV_NAME, name);
	return message_parse(&m, 0, rdma_netlink_device, devices);
}

static void refuses_names_that_are_paths(void **state)
{
	_cleanup_json_ json_t *devices = json_object();
	struct message m;

	(void)state;
	assert_int_equal(device_named("..", devices), -EBADMSG);
	assert_int_equal(device_named("a/../../etc", devices), -EBADMSG);
	assert_int_equal(device_named("", devices), -EBADMSG);
	assert_int_equal(device_named(NULL, devices), -EBADMSG);
	start(&m, RDMA_NLDEV_CMD_GET);
	mnl_attr_put_strz(m.nlh, RDMA_NLDEV_ATTR_DEV_NAME, "rxe0");
	assert_int_equal(message_parse(&m, 0, rdma_netlink_device, devices), -EBADMSG);
	assert_int_equal(json_object_size(devices), 0);
	assert_int_equal(device_named("rxe0", devices), 0);
}

static void reads_a_port(void **state)
{
	struct message m;
	struct observation o;

	(void)state;
	observation_start(&o);
	start(&m, RDMA_NLDEV_CMD_PORT_GET);
	mnl_attr_put_u32(m.nlh, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	mnl_attr_put_u8(m.nlh, RDMA_NLDEV_ATTR_PORT_STATE, 4);
	mnl_attr_put_u8(m.nlh, RDMA_NLDEV_ATTR_PORT_PHYS_STATE, 5);
	mnl_attr_put_u32(m.nlh, RDMA_NLDEV_ATTR_NDEV_INDEX, 9);
	mnl_attr_put_strz(m.nlh, RDMA_NLDEV_ATTR_NDEV_NAME, "bond1");
	assert_int_equal(message_parse(&m, 0, rdma_netlink_port, o.snapshot), 0);
	assert_fact(&o, "/1", "{\"state\": \"ACTIVE\", \"physical_state\": \"LINK_UP\", \"link\": \"bond1\"}");
	message_parse_cut(&m, &o, rdma_netlink_port, o.snapshot);

	/* a state that is newer than this program is not told */
	start(&m, RDMA_NLDEV_CMD_PORT_GET);
	mnl_attr_put_u32(m.nlh, RDMA_NLDEV_ATTR_PORT_INDEX, 2);
	mnl_attr_put_u8(m.nlh, RDMA_NLDEV_ATTR_PORT_STATE, 77);
	assert_int_equal(message_parse(&m, 0, rdma_netlink_port, o.snapshot), 0);
	assert_fact(&o, "/2", "{}");

	start(&m, RDMA_NLDEV_CMD_PORT_GET);
	mnl_attr_put_u8(m.nlh, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	assert_int_equal(message_parse(&m, 0, rdma_netlink_port, o.snapshot), -EBADMSG);
	observation_end(&o);
}

static void put_resource(struct nlmsghdr *nlh, const char *name, uint64_t current)
{
	struct nlattr *entry = mnl_attr_nest_start(nlh, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY);

	mnl_attr_put_strz(nlh, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME, name);
	mnl_attr_put_u64(nlh, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR, current);
	mnl_attr_nest_end(nlh, entry);
}

static void reads_resources(void **state)
{
	struct message m;
	struct observation o;

	(void)state;
	observation_start(&o);
	json_obj(o.snapshot, "rxe0");
	start(&m, RDMA_NLDEV_CMD_RES_GET);
	mnl_attr_put_u32(m.nlh, RDMA_NLDEV_ATTR_DEV_INDEX, 0);
	mnl_attr_put_strz(m.nlh, RDMA_NLDEV_ATTR_DEV_NAME, "rxe0");
	struct nlattr *summary = mnl_attr_nest_start(m.nlh, RDMA_NLDEV_ATTR_RES_SUMMARY);
	put_resource(m.nlh, "qp", 2);
	put_resource(m.nlh, "cm_id", 0);
	mnl_attr_nest_end(m.nlh, summary);
	assert_int_equal(message_parse(&m, 0, rdma_netlink_resources, o.snapshot), 0);
	assert_fact(&o, "/rxe0/resources", "{\"qp\": 2, \"cm_id\": 0}");
	message_parse_cut(&m, &o, rdma_netlink_resources, o.snapshot);
	/* of a device that is not known */
	json_object_clear(o.snapshot);
	assert_int_equal(message_parse(&m, 0, rdma_netlink_resources, o.snapshot), 0);
	assert_int_equal(json_object_size(o.snapshot), 0);
	observation_end(&o);
}

static void reads_the_driver(void **state)
{
	struct message m;
	struct observation o;

	(void)state;
	observation_start(&o);
	start(&m, RDMA_NLDEV_CMD_GET_CHARDEV);
	mnl_attr_put_u32(m.nlh, RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID, RDMA_DRIVER_IRDMA);
	assert_int_equal(message_parse(&m, 0, rdma_netlink_chardev, o.snapshot), 0);
	assert_fact(&o, "/driver", "\"irdma\"");
	message_parse_cut(&m, &o, rdma_netlink_chardev, o.snapshot);
	json_object_clear(o.snapshot);
	start(&m, RDMA_NLDEV_CMD_GET_CHARDEV);
	mnl_attr_put_u32(m.nlh, RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID, 0x7fffffff);
	assert_int_equal(message_parse(&m, 0, rdma_netlink_chardev, o.snapshot), 0);
	assert_absent(&o, "/driver");
	observation_end(&o);
}

/* --- sysfs ------------------------------------------------------------------------------------ */

static void reads_small_texts(void **state)
{
	double gbps = 0;

	(void)state;
	assert_true(rdma_rate_parse("100 Gb/sec (4X EDR)", &gbps));
	assert_true(gbps > 99.9 && gbps < 100.1);
	assert_true(rdma_rate_parse("2.5 Gb/sec (1X SDR)", &gbps));
	assert_false(rdma_rate_parse("fast", &gbps));
	assert_false(rdma_rate_parse("100 Mb/sec", &gbps));
	assert_int_equal(rdma_numbered_parse("4: ACTIVE"), 4);
	assert_int_equal(rdma_numbered_parse("4"), -1);
	assert_int_equal(rdma_numbered_parse(": ACTIVE"), -1);
	assert_int_equal(rdma_numbered_parse("-4: x"), -1);
}

#define PORT "/sys/devices/pci0000:30/0000:30:01.0/0000:31:00.0/infiniband/rocep49s0f0/ports/1"
#define DEVICE "/sys/devices/pci0000:30/0000:30:01.0/0000:31:00.0/infiniband/rocep49s0f0"

static void put_gid(struct tree *t, unsigned index, const char *gid, const char *type,
		    const char *link)
{
	_cleanup_free_ char *at = xasprintf(PORT "/gids/%u", index);
	_cleanup_free_ char *type_at = xasprintf(PORT "/gid_attrs/types/%u", index);
	_cleanup_free_ char *link_at = xasprintf(PORT "/gid_attrs/ndevs/%u", index);

	tree_file(t, at, gid);
	if (type)
		tree_file(t, type_at, type);
	if (link)
		tree_file(t, link_at, link);
}

static void put_device(struct tree *t)
{
	tree_link(t, "/sys/class/infiniband/rocep49s0f0",
		  "../../devices/pci0000:30/0000:30:01.0/0000:31:00.0/infiniband/rocep49s0f0");
	tree_link(t, DEVICE "/device", "../../../0000:31:00.0");
	tree_link(t, "/sys/devices/pci0000:30/0000:30:01.0/0000:31:00.0/driver",
		  "../../../../bus/pci/drivers/ice");
	tree_file(t, DEVICE "/node_type", "1: CA\n");
	tree_file(t, DEVICE "/node_guid", "5054:00ff:fe12:3456\n");
	tree_file(t, DEVICE "/fw_ver", "1.71\n");
	tree_file(t, PORT "/state", "4: ACTIVE\n");
	tree_file(t, PORT "/phys_state", "5: LinkUp\n");
	tree_file(t, PORT "/link_layer", "Ethernet\n");
	tree_file(t, PORT "/rate", "100 Gb/sec (4X EDR)\n");
	put_gid(t, 0, "fe80:0000:0000:0000:5054:00ff:fe12:3456\n", "RoCE v2\n", "ens1f0\n");
	put_gid(t, 1, "0000:0000:0000:0000:0000:0000:0000:0000\n", NULL, NULL);
	/* index 10 comes after 2 in the order of names, not of numbers */
	put_gid(t, 2, "0000:0000:0000:0000:0000:ffff:0a00:0001\n", "RoCE v2\n", "ens1f0\n");
	put_gid(t, 10, "0000:0000:0000:0000:0000:ffff:0a00:0002\n", "IB/RoCE v1\n", "ens1f0\n");
}

static void a_tree_without_netlink(void **state)
{
	struct tree t;

	(void)state;
	tree_start(&t);
	put_device(&t);
	tree_file(&t, PORT "/hw_counters/RxECNMrkd", "12\n");
	tree_file(&t, PORT "/hw_counters/lifespan", "10\n");
	tree_file(&t, PORT "/counters/port_xmit_data", "18446744073709551615\n");
	tree_file(&t, PORT "/counters/excessive", "N/A (no PMA)\n");
	tree_file(&t, "/sys/class/infiniband_verbs/uverbs0/ibdev", "rocep49s0f0\n");
	tree_file(&t, "/sys/class/infiniband_verbs/uverbs0/abi_version", "5\n");
	tree_file(&t, "/sys/class/infiniband_verbs/abi_version", "6\n");
	tree_file(&t, "/sys/kernel/config/rdma_cm/rocep49s0f0/ports/1/default_roce_tos", "96\n");
	tree_file(&t, "/sys/kernel/config/rdma_cm/rocep49s0f0/ports/1/default_roce_mode", "RoCE v2\n");
	observe_rdma(&t.o);

	assert_fact(&t.o, "/rdma/devices/rocep49s0f0",
		    "{\"node_type\": \"ca\", \"node_guid\": \"5054:00ff:fe12:3456\", \"firmware\": \"1.71\","
		    " \"parent_device\": \"0000:31:00.0\", \"protocol\": \"roce\", \"driver\": \"irdma\","
		    " \"uverbs\": \"uverbs0\", \"abi_version\": 5,"
		    " \"cm\": {\"1\": {\"default_roce_tos\": 96, \"default_roce_mode\": \"RoCE v2\"}},"
		    " \"ports\": {\"1\": {\"state\": \"ACTIVE\", \"physical_state\": \"LINK_UP\","
		    "  \"link_layer\": \"Ethernet\", \"speed_gbps\": 100.0,"
		    "  \"gids\": ["
		    "   {\"index\": 0, \"gid\": \"fe80:0000:0000:0000:5054:00ff:fe12:3456\","
		    "    \"type\": \"RoCE v2\", \"link\": \"ens1f0\"},"
		    "   {\"index\": 2, \"gid\": \"0000:0000:0000:0000:0000:ffff:0a00:0001\","
		    "    \"type\": \"RoCE v2\", \"link\": \"ens1f0\"},"
		    "   {\"index\": 10, \"gid\": \"0000:0000:0000:0000:0000:ffff:0a00:0002\","
		    "    \"type\": \"IB/RoCE v1\", \"link\": \"ens1f0\"}],"
		    "  \"counters\": {\"port_xmit_data\": \"18446744073709551615\"},"
		    "  \"hw_counters\": {\"RxECNMrkd\": 12}}}}");
	/* netlink is not available below a root: not asked, which is not the same as "no" */
	assert_absent(&t.o, "/rdma/netlink");
	assert_gap(&t.o, "/rdma/netlink");
	assert_gap(&t.o, "/rdma/netns_mode");
	assert_gap(&t.o, "/rdma/devices/rocep49s0f0/ports/1/link");
	assert_fact(&t.o, "/rdma/chardev",
		    "{\"rdma_cm\": {\"present\": false}, \"uverbs0\": {\"present\": false}}");
	tree_end(&t);
}

static void damage_gives_gaps(void **state)
{
	struct tree t;

	(void)state;
	tree_start(&t);
	put_device(&t);
	tree_folder(&t, "/sys/kernel/config/rdma_cm/other");
	tree_folder(&t, "/sys/class/infiniband/odd");
	tree_file(&t, "/sys/class/infiniband/odd/ports/1/state", "working\n");
	tree_folder(&t, "/sys/class/infiniband/odd/ports/1/rate");
	tree_folder(&t, "/sys/class/infiniband/odd/ports/1/gids/0");
	tree_folder(&t, "/sys/class/infiniband/odd/ports/x");
	tree_file(&t, "/dev/infiniband/rdma_cm", "not a device");
	observe_rdma(&t.o);

	/* nothing was set through rdma_cm since the device came */
	assert_fact(&t.o, "/rdma/devices/rocep49s0f0/cm", "null");
	assert_fact(&t.o, "/rdma/devices/odd/ports", "{\"1\": {\"gids\": []}}");
	assert_gap(&t.o, "/rdma/devices/odd/ports/1/speed_gbps");
	assert_gap(&t.o, "/rdma/devices/odd/ports/1/gids");
	assert_gap(&t.o, "/rdma/devices/odd/parent_device");
	assert_fact(&t.o, "/rdma/chardev/rdma_cm", "{\"present\": false}");
	tree_end(&t);
}

static void no_rdma_core(void **state)
{
	struct tree t;

	(void)state;
	tree_start(&t);
	tree_folder(&t, "/sys/class");
	observe_rdma(&t.o);
	assert_fact(&t.o, "/rdma",
		    "{\"netlink\": false, \"devices\": {}, \"chardev\": {\"rdma_cm\": {\"present\": false}}}");
	assert_int_equal(gaps(&t.o), 0);
	tree_end(&t);

	tree_start(&t);
	observe_rdma(&t.o);
	assert_fact(&t.o, "/rdma", "{}");
	assert_gap(&t.o, "/rdma");
	tree_end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_a_device),
		cmocka_unit_test(refuses_names_that_are_paths),
		cmocka_unit_test(reads_a_port),
		cmocka_unit_test(reads_resources),
		cmocka_unit_test(reads_the_driver),
		cmocka_unit_test(reads_small_texts),
		cmocka_unit_test(a_tree_without_netlink),
		cmocka_unit_test(damage_gives_gaps),
		cmocka_unit_test(no_rdma_core),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
