/* SPDX-License-Identifier: Apache-2.0 */
/* RDMA devices by NETLINK_RDMA. Messages of nldev have no family header: attributes only. */
#include <errno.h>
#include <linux/netlink.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_netlink.h>
#include <string.h>

#include "observe/attr.h"
#include "observe/rdma.h"

#define ATTR_LAST (RDMA_NLDEV_ATTR_MAX - 1)

static const struct attr_type types[RDMA_NLDEV_ATTR_MAX] = {
	[RDMA_NLDEV_ATTR_DEV_INDEX] = {MNL_TYPE_U32},
	[RDMA_NLDEV_ATTR_DEV_NAME] = {MNL_TYPE_STRING, 1},
	[RDMA_NLDEV_ATTR_PORT_INDEX] = {MNL_TYPE_U32},
	[RDMA_NLDEV_ATTR_FW_VERSION] = {MNL_TYPE_STRING},
	[RDMA_NLDEV_ATTR_NODE_GUID] = {MNL_TYPE_U64},
	[RDMA_NLDEV_ATTR_SYS_IMAGE_GUID] = {MNL_TYPE_U64},
	[RDMA_NLDEV_ATTR_PORT_STATE] = {MNL_TYPE_U8},
	[RDMA_NLDEV_ATTR_PORT_PHYS_STATE] = {MNL_TYPE_U8},
	[RDMA_NLDEV_ATTR_DEV_NODE_TYPE] = {MNL_TYPE_U8},
	[RDMA_NLDEV_ATTR_RES_SUMMARY] = {MNL_TYPE_NESTED},
	[RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY] = {MNL_TYPE_NESTED},
	[RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME] = {MNL_TYPE_STRING, 1},
	[RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR] = {MNL_TYPE_U64},
	[RDMA_NLDEV_ATTR_NDEV_NAME] = {MNL_TYPE_STRING, 1},
	[RDMA_NLDEV_SYS_ATTR_NETNS_MODE] = {MNL_TYPE_U8},
	[RDMA_NLDEV_ATTR_DEV_PROTOCOL] = {MNL_TYPE_STRING, 1},
	[RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID] = {MNL_TYPE_U32},
};

static const char *name_of(const char *const *names, size_t n, uint64_t value)
{
	return value < n ? names[value] : NULL;
}

const char *rdma_port_state_name(uint64_t state)
{
	static const char *const names[] = {
		"NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER",
	};

	return name_of(names, ARRAY_SIZE(names), state);
}

const char *rdma_physical_state_name(uint64_t state)
{
	static const char *const names[] = {
		"NOP", "SLEEP", "POLLING", "DISABLED", "ARMED", "LINK_UP", "LINK_ERROR_RECOVER",
		"PHY_TEST",
	};

	return name_of(names, ARRAY_SIZE(names), state);
}

const char *rdma_node_type_name(uint64_t type)
{
	/* RDMA_NODE_IB_CA … of include/rdma/ib_verbs.h */
	static const char *const names[] = {
		NULL, "ca", "switch", "router", "rnic", "usnic", "usnic_udp", "unspecified",
	};

	return name_of(names, ARRAY_SIZE(names), type);
}

/* --- messages --------------------------------------------------------------------------------- */

static bool is_file_name(const char *s)
{
	return s && *s && !strchr(s, '/') && strcmp(s, ".") != 0 && strcmp(s, "..") != 0;
}

static void put_guid(json_t *facts, const char *key, const struct nlattr *a)
{
	uint64_t guid;

	/* Host byte order; written as sysfs and rdma(8) do. */
	if (attr_get_u64(a, &guid))
		json_put_stringf(facts, key, "%04x:%04x:%04x:%04x", (unsigned)(guid >> 48 & 0xffff),
				 (unsigned)(guid >> 32 & 0xffff), (unsigned)(guid >> 16 & 0xffff),
				 (unsigned)(guid & 0xffff));
}

int rdma_netlink_device(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *tb[RDMA_NLDEV_ATTR_MAX];
	json_t *devices = data;
	uint64_t type;

	if (attr_parse(nlh, 0, tb, ATTR_LAST, types) < 0)
		return -EBADMSG;
	_cleanup_free_ char *name = attr_text(tb[RDMA_NLDEV_ATTR_DEV_NAME]);
	if (!is_file_name(name) || !tb[RDMA_NLDEV_ATTR_DEV_INDEX])
		return -EBADMSG;
	json_t *facts = json_obj(devices, name);
	attr_put_number(facts, "index", tb[RDMA_NLDEV_ATTR_DEV_INDEX]);
	attr_put_text(facts, "firmware", tb[RDMA_NLDEV_ATTR_FW_VERSION]);
	put_guid(facts, "node_guid", tb[RDMA_NLDEV_ATTR_NODE_GUID]);
	put_guid(facts, "sys_image_guid", tb[RDMA_NLDEV_ATTR_SYS_IMAGE_GUID]);
	if (attr_get_u64(tb[RDMA_NLDEV_ATTR_DEV_NODE_TYPE], &type))
		json_put_string(facts, "node_type", rdma_node_type_name(type));
	/* Since Linux 5.1. */
	_cleanup_free_ char *protocol = attr_text(tb[RDMA_NLDEV_ATTR_DEV_PROTOCOL]);
	const bool iwarp = protocol && strcmp(protocol, "iw") == 0;
	json_put_string(facts, "protocol", iwarp ? "iwarp" : protocol);
	return 0;
}

int rdma_netlink_port(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *tb[RDMA_NLDEV_ATTR_MAX];
	json_t *ports = data;
	uint64_t value;

	if (attr_parse(nlh, 0, tb, ATTR_LAST, types) < 0 ||
	    !attr_get_u64(tb[RDMA_NLDEV_ATTR_PORT_INDEX], &value))
		return -EBADMSG;
	_cleanup_free_ char *number = xasprintf("%u", (unsigned)value);
	json_t *facts = json_obj(ports, number);
	if (attr_get_u64(tb[RDMA_NLDEV_ATTR_PORT_STATE], &value))
		json_put_string(facts, "state", rdma_port_state_name(value));
	if (attr_get_u64(tb[RDMA_NLDEV_ATTR_PORT_PHYS_STATE], &value))
		json_put_string(facts, "physical_state", rdma_physical_state_name(value));
	attr_put_text(facts, "link", tb[RDMA_NLDEV_ATTR_NDEV_NAME]);
	return 0;
}

int rdma_netlink_resources(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *tb[RDMA_NLDEV_ATTR_MAX], *entry = NULL;
	json_t *devices = data;

	if (attr_parse(nlh, 0, tb, ATTR_LAST, types) < 0)
		return -EBADMSG;
	_cleanup_free_ char *name = attr_text(tb[RDMA_NLDEV_ATTR_DEV_NAME]);
	json_t *facts = name ? json_object_get(devices, name) : NULL;
	const struct nlattr *summary = tb[RDMA_NLDEV_ATTR_RES_SUMMARY];
	/* A device that came after the list of devices is left to the next snapshot. */
	if (!facts || !summary)
		return 0;
	json_t *resources = json_obj(facts, "resources");
	while ((entry = attr_next_nested(summary, entry))) {
		if (attr_parse_nested(entry, tb, ATTR_LAST, types) < 0)
			return -EBADMSG;
		const struct nlattr *current = tb[RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR];
		_cleanup_free_ char *kind = attr_text(tb[RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME]);
		if (kind)
			attr_put_number(resources, kind, current);
	}
	return 0;
}

int rdma_netlink_chardev(const struct nlmsghdr *nlh, void *data)
{
	/* enum rdma_driver_id; a driver that identifies itself by PCI id tells none */
	static const char *const drivers[] = {
		[RDMA_DRIVER_MLX5] = "mlx5_ib", [RDMA_DRIVER_MLX4] = "mlx4_ib",
		[RDMA_DRIVER_CXGB4] = "iw_cxgb4", [RDMA_DRIVER_BNXT_RE] = "bnxt_re",
		[RDMA_DRIVER_IRDMA] = "irdma", [RDMA_DRIVER_QEDR] = "qedr",
		[RDMA_DRIVER_HNS] = "hns_roce", [RDMA_DRIVER_RXE] = "rdma_rxe",
		[RDMA_DRIVER_EFA] = "efa", [RDMA_DRIVER_SIW] = "siw",
	};
	const struct nlattr *tb[RDMA_NLDEV_ATTR_MAX];
	uint64_t id;

	if (attr_parse(nlh, 0, tb, ATTR_LAST, types) < 0)
		return -EBADMSG;
	if (attr_get_u64(tb[RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID], &id))
		json_put_string(data, "driver", name_of(drivers, ARRAY_SIZE(drivers), id));
	return 0;
}

int rdma_netlink_system(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *tb[RDMA_NLDEV_ATTR_MAX];
	uint64_t shared;

	if (attr_parse(nlh, 0, tb, ATTR_LAST, types) < 0)
		return -EBADMSG;
	if (attr_get_u64(tb[RDMA_NLDEV_SYS_ATTR_NETNS_MODE], &shared))
		json_put_string(data, "netns_mode", shared ? "shared" : "exclusive");
	return 0;
}

/* --- requests --------------------------------------------------------------------------------- */

struct request {
	_Alignas(struct nlmsghdr) char bytes[HOST_NETLINK_REQUEST_MAX];
};

static struct nlmsghdr *request_begin(struct request *request, int command, uint16_t flags)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(request->bytes);

	nlh->nlmsg_type = (uint16_t)RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command);
	nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	return nlh;
}

static void observe_ports(struct observation *o, const char *name, json_t *facts)
{
	_cleanup_error_ struct error err = {0};
	struct request request;
	struct nlmsghdr *nlh = request_begin(&request, RDMA_NLDEV_CMD_PORT_GET,
					     NLM_F_DUMP | NLM_F_ACK);

	mnl_attr_put_u32(nlh, RDMA_NLDEV_ATTR_DEV_INDEX, (uint32_t)json_get_int(facts, "index", 0));
	int rc = host_netlink(o->host, NETLINK_RDMA, nlh, rdma_netlink_port,
			      json_obj(facts, "ports"), &err);
	if (rc < 0)
		observe_gap(o, rc, NULL, error_text(&err), "/rdma/devices/%s/ports", name);
}

static void observe_driver(struct observation *o, const char *name, json_t *facts)
{
	_cleanup_error_ struct error err = {0};
	struct request request;
	struct nlmsghdr *nlh = request_begin(&request, RDMA_NLDEV_CMD_GET_CHARDEV, NLM_F_ACK);

	mnl_attr_put_u32(nlh, RDMA_NLDEV_ATTR_DEV_INDEX, (uint32_t)json_get_int(facts, "index", 0));
	mnl_attr_put_strz(nlh, RDMA_NLDEV_ATTR_CHARDEV_TYPE, "uverbs");
	int rc = host_netlink(o->host, NETLINK_RDMA, nlh, rdma_netlink_chardev, facts, &err);
	/* Kernels before 5.3 do not know the command: sysfs helps. */
	if (rc < 0 && rc != -EINVAL && rc != -EOPNOTSUPP)
		observe_gap(o, rc, NULL, error_text(&err), "/rdma/devices/%s/driver", name);
}

int rdma_netlink_observe(struct observation *o, json_t *rdma, bool uverbs, struct error *err)
{
	_cleanup_error_ struct error part = {0};
	_cleanup_json_ json_t *devices = json_object_new();
	struct request request;
	const char *name;
	json_t *facts;
	int rc;

	rc = host_netlink(o->host, NETLINK_RDMA,
			  request_begin(&request, RDMA_NLDEV_CMD_GET, NLM_F_DUMP | NLM_F_ACK),
			  rdma_netlink_device, devices, err);
	if (rc < 0)
		return rc;
	json_put(rdma, "devices", json_incref(devices));

	rc = host_netlink(o->host, NETLINK_RDMA,
			  request_begin(&request, RDMA_NLDEV_CMD_SYS_GET, NLM_F_ACK),
			  rdma_netlink_system, rdma, &part);
	if (rc < 0)
		observe_gap(o, rc, NULL, error_text(&part), "/rdma/netns_mode");

	json_object_foreach(devices, name, facts) {
		observe_ports(o, name, facts);
		if (uverbs)
			observe_driver(o, name, facts);
	}
	if (!json_object_size(devices))
		return 0;
	rc = host_netlink(o->host, NETLINK_RDMA,
			  request_begin(&request, RDMA_NLDEV_CMD_RES_GET, NLM_F_DUMP | NLM_F_ACK),
			  rdma_netlink_resources, devices, &part);
	if (rc < 0) {
		json_object_foreach(devices, name, facts)
			observe_gap(o, rc, NULL, error_text(&part), "/rdma/devices/%s/resources",
				    name);
	}
	return 0;
}
