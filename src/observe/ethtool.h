/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parsers of the generic netlink family "ethtool" for /links/NAME/ethtool. Each is a
 * host_netlink_cb, a pure function of one message (`data` is a struct ethtool_context) that finds
 * its link by the interface index in the message. Always 0.
 * Attributes: include/uapi/linux/ethtool_netlink.h.
 */
#pragma once

#include "observe/attr.h"
#include "observe/link_table.h"
#include "observe/observe.h"

struct ethtool_context {
	struct observation *o;
	const struct link_table *table;
	bool *answered;		/* one for each entry of `table`: this dump had a message of it */
};

int ethtool_parse_linkmodes(const struct nlmsghdr *nlh, void *data);
int ethtool_parse_linkstate(const struct nlmsghdr *nlh, void *data);
int ethtool_parse_fec(const struct nlmsghdr *nlh, void *data);
int ethtool_parse_pause(const struct nlmsghdr *nlh, void *data);
int ethtool_parse_privflags(const struct nlmsghdr *nlh, void *data);

/* Called for each bit that a bitset tells of: `name` is printable, or NULL in the compact form. */
typedef void (*ethtool_bit_cb)(uint32_t index, const char *name, bool value, void *data);

/*
 * Walk a bitset (ETHTOOL_A_BITSET_*) of either form: compact (words of 32 bits) or a list of bits
 * with names. 0, or -EBADMSG when its words are shorter than its size, or it is of neither form.
 */
int ethtool_bitset_walk(const struct nlattr *bitset, ethtool_bit_cb cb, void *data);
