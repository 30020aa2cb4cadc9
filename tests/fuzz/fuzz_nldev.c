/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as one message of NETLINK_RDMA: its command chooses the parser. The transport
 * guarantees the length, so it is set to that of the input.
 */
#include <rdma/rdma_netlink.h>
#include <stdint.h>
#include <string.h>

#include "observe/rdma.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_json_ json_t *devices = json_object();
	_cleanup_free_ struct nlmsghdr *nlh = NULL;
	json_t *device = json_obj(devices, "rxe0");

	if (size < sizeof(*nlh))
		return 0;
	nlh = xmalloc(size);
	memcpy(nlh, data, size);
	nlh->nlmsg_len = (uint32_t)size;

	switch (RDMA_NL_GET_OP(nlh->nlmsg_type)) {
	case RDMA_NLDEV_CMD_GET:
		rdma_netlink_device(nlh, devices);
		break;
	case RDMA_NLDEV_CMD_PORT_GET:
		rdma_netlink_port(nlh, json_obj(device, "ports"));
		break;
	case RDMA_NLDEV_CMD_RES_GET:
		rdma_netlink_resources(nlh, devices);
		break;
	case RDMA_NLDEV_CMD_GET_CHARDEV:
		rdma_netlink_chardev(nlh, device);
		break;
	case RDMA_NLDEV_CMD_SYS_GET:
		rdma_netlink_system(nlh, devices);
		break;
	}

	/* whatever was made of it can be printed */
	_cleanup_free_ RH_UNUSED char *text = json_to_text(devices, false);
	return 0;
}
