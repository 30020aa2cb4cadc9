/* SPDX-License-Identifier: Apache-2.0 */
/* Parser of dcbnl's answers for /links/NAME/dcb. */
#pragma once

#include "observe/attr.h"
#include "observe/observe.h"

/* One link being asked. */
struct dcb_context {
	struct observation *o;
	const char *name;	/* of the link, for gaps */
	json_t *link;		/* value in /links */
};

/* Reply to DCB_CMD_IEEE_GET or DCB_CMD_GDCBX. A host_netlink_cb, a pure function of the message;
 * `data` is a struct dcb_context. Always 0. */
int dcb_parse(const struct nlmsghdr *nlh, void *data);
