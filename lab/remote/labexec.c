// SPDX-License-Identifier: Apache-2.0
/*
 * labexec RUN NODE COMMAND [ARG...] - run one command in a guest of the lab.
 *
 * Standard input, output and error pass through unchanged and the exit status is the command's. 255
 * means that the guest could not be reached. Each guest has several exec ports; a port carries one
 * command at a time, and a lock file beside its socket tells which are free, so calls from
 * different programs run side by side.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "wire.h"

enum {
	EXIT_UNREACHABLE = 255,
	PORT_SEARCH_MS = 20,
	/* a guest under TCG on a busy machine may be slow, a dead one is found here */
	ANSWER_MS = 20 * 1000,
};

static const char *node;

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "labexec: %s: %s\n", node, what);
	exit(EXIT_UNREACHABLE);
}

static _Noreturn void die_errno(const char *what)
{
	fprintf(stderr, "labexec: %s: %s: %s\n", node, what, strerror(errno));
	exit(EXIT_UNREACHABLE);
}

static void write_all(int fd, const uint8_t *data, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			die_errno(fd == STDOUT_FILENO || fd == STDERR_FILENO ?
					  "cannot pass output on" : "port");
		data += n;
		len -= (size_t)n;
	}
}

/* Returns the connected socket of a free port, or -1 with errno when the port of that number is
 * busy or absent. */
static int port_try(unsigned int number)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	char lock_name[sizeof(addr.sun_path) + 8];
	int lock, fd, saved;

	if (snprintf(addr.sun_path, sizeof(addr.sun_path), "%s.exec%u", node, number) >=
	    (int)sizeof(addr.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	if (access(addr.sun_path, F_OK) < 0)
		return -1;
	snprintf(lock_name, sizeof(lock_name), "%s.lock", addr.sun_path);
	lock = open(lock_name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (lock < 0)
		return -1;
	if (flock(lock, LOCK_EX | LOCK_NB) < 0)
		goto fail;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		goto fail;
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)) == 0)
		return fd;	/* the lock stays open, and held, until this process ends */
	saved = errno;
	close(fd);
	errno = saved;
fail:
	saved = errno;
	close(lock);
	errno = saved;
	return -1;
}

static int port_open(void)
{
	for (;;) {
		for (unsigned int number = 0; ; number++) {
			int fd = port_try(number);

			if (fd >= 0)
				return fd;
			if (errno == ENOENT && number == 0)
				die("not running (no exec port)");
			if (errno == ENOENT)
				break;
			if (errno != EWOULDBLOCK)
				die_errno("exec port");
		}
		nanosleep(&(struct timespec){ .tv_nsec = PORT_SEARCH_MS * 1000000L }, NULL);
	}
}

static void send_stuffed(int fd, const uint8_t *data, size_t len)
{
	uint8_t out[2 * 4096];

	while (len > 0) {
		size_t used = 0;

		for (; len > 0 && used + 2 <= sizeof(out); data++, len--) {
			if (*data == WIRE_ESC)
				out[used++] = WIRE_ESC;
			out[used++] = *data;
		}
		write_all(fd, out, used);
	}
}

static void send_frame(int fd, int type, const uint8_t *data, size_t len)
{
	uint8_t header[WIRE_HEADER_BYTES];

	wire_header_put(header, type, len);
	send_stuffed(fd, header, sizeof(header));
	send_stuffed(fd, data, len);
}

static void send_request(int fd, const uint8_t *nonce, char **argv)
{
	static const uint8_t reset[] = { WIRE_ESC, WIRE_RESET };
	static uint8_t request[WIRE_REQUEST_BYTES];
	size_t used = WIRE_NONCE_BYTES;

	memcpy(request, nonce, WIRE_NONCE_BYTES);
	for (; *argv; argv++) {
		size_t len = strlen(*argv) + 1;

		if (len > sizeof(request) - used)
			die("command line too long");
		memcpy(request + used, *argv, len);
		used += len;
	}
	write_all(fd, reset, sizeof(reset));
	send_frame(fd, WIRE_REQUEST, request, used);
}

static size_t receive_some(int fd, uint8_t *data, size_t size)
{
	ssize_t n;

	do
		n = read(fd, data, size);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		die_errno("port");
	if (n == 0)
		die("guest went away");
	return (size_t)n;
}

static void receive_all(int fd, uint8_t *data, size_t len)
{
	while (len > 0) {
		size_t n = receive_some(fd, data, len);

		data += n;
		len -= n;
	}
}

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

/* Drops what an earlier session left in the stream, up to and including the nonce of this one. */
static void await_nonce(int fd, const uint8_t *nonce)
{
	uint8_t seen[WIRE_NONCE_BYTES] = { 0 };
	int64_t deadline = now_ms() + ANSWER_MS;

	do {
		struct pollfd pfd = { .fd = fd, .events = POLLIN };
		int64_t left = deadline - now_ms();

		if (left <= 0 || poll(&pfd, 1, (int)left) == 0)
			die("does not answer");
		memmove(seen, seen + 1, sizeof(seen) - 1);
		receive_all(fd, seen + sizeof(seen) - 1, 1);
	} while (memcmp(seen, nonce, sizeof(seen)) != 0);
}

/* Returns true while there may be more standard input. */
static int send_stdin(int fd)
{
	static uint8_t data[WIRE_CHUNK_BYTES];
	ssize_t n;

	do
		n = read(STDIN_FILENO, data, sizeof(data));
	while (n < 0 && errno == EINTR);
	if (n <= 0) {
		send_frame(fd, WIRE_STDIN_END, NULL, 0);
		return 0;
	}
	send_frame(fd, WIRE_STDIN, data, (size_t)n);
	return 1;
}

/* Handles one frame of the guest. Returns the exit status, or -1 while the command runs. */
static int receive_frame(int fd, int *wanted)
{
	static uint8_t data[WIRE_CHUNK_BYTES];
	uint8_t header[WIRE_HEADER_BYTES];
	size_t len;

	receive_all(fd, header, sizeof(header));
	len = wire_header_len(header);
	if (len > sizeof(data))
		die("protocol error: frame too long");
	receive_all(fd, data, len);
	switch (header[0]) {
	case WIRE_STDOUT:
		write_all(STDOUT_FILENO, data, len);
		return -1;
	case WIRE_STDERR:
		write_all(STDERR_FILENO, data, len);
		return -1;
	case WIRE_WANT:
		*wanted = 1;
		return -1;
	case WIRE_EXIT:
		if (len == 1)
			return data[0];
		break;
	}
	die("protocol error: unexpected frame");
}

static int session(int fd)
{
	int more_stdin = 1, wanted = 0, status;

	for (;;) {
		struct pollfd pfds[] = {
			{ .fd = fd, .events = POLLIN },
			{ .fd = more_stdin && wanted ? STDIN_FILENO : -1, .events = POLLIN },
		};

		if (poll(pfds, 2, -1) < 0) {
			if (errno == EINTR)
				continue;
			die_errno("poll");
		}
		if (pfds[1].revents) {
			more_stdin = send_stdin(fd);
			wanted = 0;
		}
		if (pfds[0].revents) {
			status = receive_frame(fd, &wanted);
			if (status >= 0)
				return status;
		}
	}
}

int main(int argc, char **argv)
{
	uint8_t nonce[WIRE_NONCE_BYTES];
	int fd;

	if (argc < 4) {
		fputs("usage: labexec RUN NODE COMMAND [ARG...]\n", stderr);
		return EXIT_UNREACHABLE;
	}
	node = argv[2];
	/* Socket names are relative to RUN, because sun_path is too short for a deep build
	 * folder. */
	if (chdir(argv[1]) < 0)
		die("the lab is not up");
	fd = port_open();
	if (getrandom(nonce, sizeof(nonce), 0) != sizeof(nonce))
		die_errno("getrandom");
	send_request(fd, nonce, argv + 3);
	await_nonce(fd, nonce);
	return session(fd);
}
