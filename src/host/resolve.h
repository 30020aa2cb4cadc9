/* SPDX-License-Identifier: Apache-2.0 */
/* Names of hosts to addresses, within a time limit. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/error.h"

struct resolved {
	struct sockaddr_storage address;
	socklen_t len;
};

/*
 * Addresses of a name or number with `port` in them, best first. Names are looked up in a child,
 * since getaddrinfo(3) waits for name servers as long as it likes. -ENOENT: no such name; -EAGAIN:
 * the name servers do not answer; -ETIMEDOUT. The caller frees `*list`; there is at least one.
 */
int resolve(struct resolved **list, size_t *n, const char *host, uint16_t port,
	    int64_t deadline_ms, struct error *err);
