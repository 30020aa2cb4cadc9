/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which link, RDMA device, port, GID and MTU lead to a peer: from the facts of this host (a
 * snapshot of observe/) and, when there is one, the site. Every choice is told with its reason, and
 * every one can be overridden.
 */
#pragma once

#include "base/json.h"
#include "site/site.h"

struct path_request {
	json_t *snapshot;
	const struct site *site;	/* NULL: none */
	const struct site_node *node;
	const char *peer_address;	/* numeric; NULL on the listening end until it is known */
	/* overrides; NULL, 0 and -1: choose */
	const char *link, *device;
	unsigned port;
	int gid_index;
};

struct path {
	char *link;		/* that carries the address */
	char *address;		/* whose GID is used */
	char *device;
	unsigned port;
	int gid_index;
	char *gid;
	unsigned mtu_bytes;	/* active MTU of the port; 0: not in the facts */
	int numa_node;		/* -1: not known */
	char *pci;		/* of the NIC, NULL for software devices */
	char **reasons;		/* NULL-terminated: a line for each choice */
};

/*
 * Choose. On failure `path` is empty, and the message says what the snapshot shows instead.
 * -EINVAL: several would do, or the peer is this host; -ENETUNREACH: no route; -ENODEV: no link or
 * no device; -ENETDOWN: the port is not active; -EADDRNOTAVAIL: no address or no GID of it;
 * -EPROTONOSUPPORT: iWARP, or RoCE v1 only; -ENOENT: no GID at the index that was asked for.
 */
int path_choose(struct path *path, const struct path_request *request, struct error *err);
void path_clear(struct path *path);
