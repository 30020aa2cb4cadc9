/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parsers of the generic netlink family "devlink" for /devlink/BUS/DEVICE. Each is a
 * host_netlink_cb, a pure function of one message; `data` is a struct devlink_context. Always 0.
 */
#pragma once

#include "observe/attr.h"
#include "observe/observe.h"

struct devlink_context {
	struct observation *o;
};

/* Reply to DEVLINK_CMD_GET: makes the object of the device. */
int devlink_parse_handle(const struct nlmsghdr *nlh, void *data);
/* Reply to DEVLINK_CMD_INFO_GET: driver, serial number, versions. */
int devlink_parse_info(const struct nlmsghdr *nlh, void *data);
/* Reply to DEVLINK_CMD_PARAM_GET: one parameter with its values. */
int devlink_parse_param(const struct nlmsghdr *nlh, void *data);
