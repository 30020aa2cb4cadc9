/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TCP sockets, set up so that a peer that is gone is noticed: without Nagle's delay, with
 * keepalive, and with a limit on unacknowledged data. All are close-on-exec and never block;
 * deadlines are of clock_now_ms().
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "host/clock.h"

/* A peer that acknowledges nothing for so long is gone: its power may be off. */
#define TCP_PEER_GONE_MS 15000

/* Listen on `address` (a name or a number; NULL: all, IPv6 and IPv4) and `port` (0: any). Returns
 * the descriptor. */
int tcp_listen(const char *address, uint16_t port, struct error *err);
/* The port that a socket is bound to; 0 when it is none. */
uint16_t tcp_port(int fd);
/* Take a waiting connection. -EAGAIN: none; -EMFILE, -ENFILE, -ENOBUFS, -ENOMEM: no room for it.
 * `*peer` is its numeric address, the caller's. */
int tcp_accept(int listener, char **peer, struct error *err);
/* Connect to a name or number, each of its addresses in turn. -ETIMEDOUT; -ENOENT: no such name.
 * `*peer` is the numeric address that answered, the caller's. */
int tcp_connect(const char *host, uint16_t port, int64_t deadline_ms, char **peer,
		struct error *err);

/* Bytes read or written, at least one, before the deadline. -ETIMEDOUT; -ECONNRESET: the peer is
 * gone, whatever the kernel calls it (for a read also: it closed). A deadline in the past: only
 * what works at once. */
ssize_t tcp_read(int fd, void *data, size_t len, int64_t deadline_ms, struct error *err);
ssize_t tcp_write(int fd, const void *data, size_t len, int64_t deadline_ms, struct error *err);
