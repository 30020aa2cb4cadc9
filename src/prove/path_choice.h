/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that choose a path: path.c (device, GID, MTU) and path_link.c (link and
 * address). */
#pragma once

#include "base/strbuf.h"
#include "prove/path.h"
#include "prove/path_links.h"

struct choice {
	const struct path_request *request;
	json_t *snapshot;
	struct path *path;
	struct path_address address;	/* whose GID is wanted */
	json_t *port;			/* /rdma/devices/D/ports/P, once it is chosen */
	struct error *err;
};

/* A line of path.reasons. */
void choice_reason(struct choice *c, const char *fmt, ...) RH_PRINTF(2, 3);
/* Add name number `n` to a list in a message: a few, then an ellipsis. */
void choice_name(struct strbuf *b, size_t n, const char *fmt, ...) RH_PRINTF(3, 4);

/* First step: path.link and path.address. */
int choice_link(struct choice *c);
