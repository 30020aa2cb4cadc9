/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as one generic netlink message. Families have no fixed numbers, so here the message's
 * type is an index of the parsers of ethtool and devlink.
 */
#include <string.h>

#include "base/alloc.h"
#include "observe/devlink.h"
#include "observe/ethtool.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const host_netlink_cb ethtool[] = {
		ethtool_parse_linkmodes, ethtool_parse_linkstate, ethtool_parse_fec,
		ethtool_parse_pause, ethtool_parse_privflags,
	};
	static const host_netlink_cb devlink[] = {
		devlink_parse_handle, devlink_parse_info, devlink_parse_param,
	};
	_cleanup_json_ json_t *snapshot = json_object();
	struct observation o = {.snapshot = snapshot};
	_cleanup_link_table_ struct link_table table = {0};
	_cleanup_free_ struct nlmsghdr *nlh = NULL;
	bool answered = false;
	struct ethtool_context ethtool_context = {.o = &o, .table = &table, .answered = &answered};
	struct devlink_context devlink_context = {.o = &o};

	if (size < sizeof(*nlh))
		return 0;
	nlh = xmalloc(size);
	memcpy(nlh, data, size);
	nlh->nlmsg_len = (uint32_t)size;
	json_put_int(json_obj(json_obj(snapshot, "links"), "ens1f0"), "index", 7);
	link_table_load(&table, snapshot);

	if (nlh->nlmsg_type < ARRAY_SIZE(ethtool))
		ethtool[nlh->nlmsg_type](nlh, &ethtool_context);
	else if (nlh->nlmsg_type < ARRAY_SIZE(ethtool) + ARRAY_SIZE(devlink))
		devlink[nlh->nlmsg_type - ARRAY_SIZE(ethtool)](nlh, &devlink_context);

	/* whatever was made of it can be printed */
	_cleanup_free_ RH_UNUSED char *text = json_to_text(snapshot, false);
	return 0;
}
