/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pure half of the netlink transport: datagrams in, whole messages and a verdict out. It
 * touches no socket, so that tests and the fuzz target feed it any bytes.
 */
#pragma once

#include <linux/netlink.h>

#include "base/strbuf.h"
#include "host/host.h"

/* Longest reply that is collected. A full route table of the Internet is about 100 MiB; a node that
 * carries one is not what this program looks at. */
#define NETLINK_REPLY_MAX (32u << 20)

struct netlink_reply {
	uint32_t seq;		/* of the request: other messages are left-overs and passed over */
	uint32_t portid;	/* of the socket */
	bool dump;
	bool interrupted;	/* NLM_F_DUMP_INTR was seen */
	struct strbuf messages;	/* the payload messages one behind the other, each padded to
				 * NLMSG_ALIGNTO, nlmsg_seq and nlmsg_pid zeroed */
};

/*
 * Take one datagram. Returns 1 when the reply is complete, 0 when more must come, or
 * -EINTR: complete, but the kernel flagged the dump as inconsistent; -EBADMSG: lengths do not fit;
 * -EFBIG; -ENOBUFS: the kernel lost messages; else the errno of an NLMSG_ERROR, with the extack
 * text.
 */
int netlink_reply_add(struct netlink_reply *reply, const void *datagram, size_t len,
		      struct error *err);

/* Hand each message of such a buffer to `cb`, lengths checked first for all of them. */
int netlink_messages_walk(const void *messages, size_t len, host_netlink_cb cb, void *data,
			  struct error *err);

void netlink_reply_clear(struct netlink_reply *reply);
