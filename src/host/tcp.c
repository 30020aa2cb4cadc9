/* SPDX-License-Identifier: Apache-2.0 */
#include "host/tcp.h"

#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "base/text.h"
#include "host/resolve.h"

/* A name to listen on is looked up for so long at most. */
#define LISTEN_NAME_MS 10000

/* Numeric text of an address, without the IPv6 clothes of an IPv4 one. */
static char *address_text(const struct resolved *a)
{
	char text[NI_MAXHOST];

	if (getnameinfo((const struct sockaddr *)&a->address, a->len, text, sizeof(text), NULL, 0,
			NI_NUMERICHOST) != 0)
		return xstrdup("an unknown address");
	return xstrdup(text_starts_with(text, "::ffff:") && strchr(text, '.') ? text + 7 : text);
}

static void set_option(int fd, int level, int option, int value)
{
	/* each makes things better where the kernel has it; none is needed to be right */
	(void)setsockopt(fd, level, option, &value, sizeof(value));
}

static void watch_peer(int fd)
{
	set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, 5);
	set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, 2);
	set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, 5);
	set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, TCP_PEER_GONE_MS);
}

static int socket_new(int family)
{
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);

	return fd < 0 ? -errno : fd;
}

static int listen_on(const struct resolved *a)
{
	_cleanup_close_ int fd = socket_new(a->address.ss_family);
	int listening = fd;

	if (fd < 0)
		return fd;
	set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	if (a->address.ss_family == AF_INET6)
		set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0);
	if (bind(fd, (const struct sockaddr *)&a->address, a->len) < 0 ||
	    listen(fd, SOMAXCONN) < 0)
		return -errno;
	fd = -1;
	return listening;
}

int tcp_listen(const char *address, uint16_t port, struct error *err)
{
	_cleanup_free_ struct resolved *list = NULL;
	size_t n;
	/* all addresses: the IPv6 socket also takes IPv4, where the kernel has IPv6 */
	int rc = resolve(&list, &n, address ? address : "::", port,
			 clock_now_ms() + LISTEN_NAME_MS, err);

	if (rc < 0)
		return rc;
	rc = -EADDRNOTAVAIL;
	for (size_t i = 0; i < n && rc < 0; i++)
		rc = listen_on(&list[i]);
	if (!address && (rc == -EAFNOSUPPORT || rc == -EADDRNOTAVAIL))
		return tcp_listen("0.0.0.0", port, err);
	if (rc < 0)
		return error_set_errno(err, rc, "listening on %s port %u",
				       address ? address : "all addresses", port);
	return rc;
}

uint16_t tcp_port(int fd)
{
	struct sockaddr_storage address = {0};
	socklen_t len = sizeof(address);

	if (getsockname(fd, (struct sockaddr *)&address, &len) < 0)
		return 0;
	if (address.ss_family == AF_INET6)
		return ntohs(((struct sockaddr_in6 *)&address)->sin6_port);
	return address.ss_family == AF_INET ? ntohs(((struct sockaddr_in *)&address)->sin_port) : 0;
}

int tcp_accept(int listener, char **peer, struct error *err)
{
	struct resolved from = { .len = sizeof(from.address) };
	int fd = accept4(listener, (struct sockaddr *)&from.address, &from.len,
			 SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd >= 0) {
		watch_peer(fd);
		*peer = address_text(&from);
		return fd;
	}
	switch (errno) {
	/* errors of the connection, not of the listener: accept(2) */
	case EINTR:
	case ECONNABORTED:
	case ENETDOWN:
	case EPROTO:
	case ENOPROTOOPT:
	case EHOSTDOWN:
	case ENONET:
	case EHOSTUNREACH:
	case EOPNOTSUPP:
	case ENETUNREACH:
	case EPERM:		/* by a firewall rule */
		return error_set_errno(err, -EAGAIN, "accept");
	default:
		return error_set_errno(err, -errno, "accept");
	}
}

/* Wait for `events`. 0, -ETIMEDOUT. */
static int wait_for(int fd, short events, int64_t deadline_ms)
{
	for (;;) {
		struct pollfd p = { .fd = fd, .events = events };
		int64_t left = deadline_ms - clock_now_ms();
		int n = poll(&p, 1, left < 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left);

		if (n > 0)
			return 0;
		/* also when poll(2) fails: EINTR, or memory that is short for now */
		if (left <= 0)
			return -ETIMEDOUT;
	}
}

static int connect_to(const struct resolved *a, int64_t deadline_ms)
{
	_cleanup_close_ int fd = socket_new(a->address.ss_family);
	int connected = fd, code = 0;
	socklen_t len = sizeof(code);

	if (fd < 0)
		return fd;
	watch_peer(fd);
	/* EINTR: the kernel goes on connecting, as with EINPROGRESS */
	if (connect(fd, (const struct sockaddr *)&a->address, a->len) < 0) {
		if (errno != EINPROGRESS && errno != EINTR)
			return -errno;
		int rc = wait_for(fd, POLLOUT, deadline_ms);
		if (rc < 0)
			return rc;
		if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &len) < 0)
			return -errno;
		if (code)
			return -code;
	}
	fd = -1;
	return connected;
}

int tcp_connect(const char *host, uint16_t port, int64_t deadline_ms, char **peer,
		struct error *err)
{
	_cleanup_free_ struct resolved *list = NULL;
	size_t n;
	int rc = resolve(&list, &n, host, port, deadline_ms, err);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < n; i++) {
		/* an address that answers nothing leaves time for the others */
		int64_t now = clock_now_ms();

		rc = connect_to(&list[i], now + (deadline_ms - now) / (int64_t)(n - i));
		if (rc >= 0) {
			*peer = address_text(&list[i]);
			return rc;
		}
	}
	return error_set_errno(err, rc, "connecting to %s port %u", host, port);
}

/* 0: try again once the descriptor is ready. */
static int transfer_failed(int code, const char *what, struct error *err)
{
	switch (code) {
	case EINTR:
	case EAGAIN:
		return 0;
	case ECONNRESET:
	case EPIPE:
	case ETIMEDOUT:		/* of keepalive or TCP_USER_TIMEOUT, not ours */
	case EHOSTUNREACH:
	case ENETUNREACH:
	case ENETDOWN:
	case ECONNREFUSED:
		return error_set(err, -ECONNRESET, "the peer is gone (%s)", strerror(code));
	default:
		return error_set_errno(err, -code, "%s a socket", what);
	}
}

ssize_t tcp_read(int fd, void *data, size_t len, int64_t deadline_ms, struct error *err)
{
	for (;;) {
		ssize_t n = recv(fd, data, len, 0);

		if (n > 0)
			return n;
		if (n == 0)
			return error_set(err, -ECONNRESET, "the peer closed the connection");
		int rc = transfer_failed(errno, "reading", err);
		if (rc < 0)
			return rc;
		rc = wait_for(fd, POLLIN, deadline_ms);
		if (rc < 0)
			return error_set(err, rc, "nothing came from the peer in time");
	}
}

ssize_t tcp_write(int fd, const void *data, size_t len, int64_t deadline_ms, struct error *err)
{
	for (;;) {
		ssize_t n = send(fd, data, len, MSG_NOSIGNAL);

		if (n > 0)
			return n;
		int rc = transfer_failed(errno, "writing", err);
		if (rc < 0)
			return rc;
		rc = wait_for(fd, POLLOUT, deadline_ms);
		if (rc < 0)
			return error_set(err, rc, "the peer takes no data");
	}
}
