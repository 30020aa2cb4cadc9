// SPDX-License-Identifier: Apache-2.0
/*
 * labagent PORT... - run commands that arrive on virtio-serial ports (see wire.h).
 *
 * One process per port, one command at a time per port. When the host end hangs up or resets, the
 * running command's process group gets SIGTERM. When the command ends, its output so far is sent
 * and the session is over, even if something that it left in the background still holds its pipes:
 * a server can be started with one call and used with the next.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wire.h"

/*
 * The driver learns that the host has connected in a workqueue, data comes by interrupt: a request
 * can be here before its connection. So a hang-up has to last before it ends a command.
 */
enum { HANG_UP_MS = 200 };

struct session {
	pid_t pid;		/* 0: none */
	int in, out, err;	/* our ends of the command's pipes, -1: closed */
	bool ended;
	int status;
	uint8_t *stdin_data;	/* piece that the command has not read yet */
	size_t stdin_len, stdin_used;
	bool stdin_end;		/* close the pipe after that piece */
};

struct parser {
	bool escaped;
	uint8_t header[WIRE_HEADER_BYTES];
	size_t header_used;
	uint8_t *payload;
	size_t payload_len, payload_used;
};

static const char *port_name;
static int port = -1;
static int events = -1;		/* signalfd: SIGCHLD, and SIGIO for "the host (dis)connected" */
static bool hung_up;
static struct session session = { .in = -1, .out = -1, .err = -1 };
static struct parser parser;

/* What is on its way to the host. Nothing is read from the command while this is not empty, so it
 * stays bounded. */
static uint8_t out_data[4 * (WIRE_CHUNK_BYTES + WIRE_HEADER_BYTES)];
static size_t out_len, out_used;

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "labagent: %s: %s: %s\n", port_name, what, strerror(errno));
	exit(1);
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void out_raw(const uint8_t *data, size_t len)
{
	if (len > sizeof(out_data) - out_len)
		return;	/* cannot happen: at most four frames, and only into an empty buffer */
	memcpy(out_data + out_len, data, len);
	out_len += len;
}

static void out_frame(int type, const uint8_t *data, size_t len)
{
	uint8_t header[WIRE_HEADER_BYTES];

	wire_header_put(header, type, len);
	out_raw(header, sizeof(header));
	if (len > 0)
		out_raw(data, len);
}

static void session_close(void)
{
	close_fd(&session.in);
	close_fd(&session.out);
	close_fd(&session.err);
	free(session.stdin_data);
	session = (struct session){ .in = -1, .out = -1, .err = -1 };
}

static void session_abort(void)
{
	if (session.pid > 0 && !session.ended)
		kill(-session.pid, SIGTERM);
	session_close();
	out_len = out_used = 0;
}

static void parser_reset(void)
{
	free(parser.payload);
	parser = (struct parser){ 0 };
}

static _Noreturn void child_run(char **argv, const int *in, const int *out, const int *err)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	setsid();
	dup2(in[0], STDIN_FILENO);
	dup2(out[1], STDOUT_FILENO);
	dup2(err[1], STDERR_FILENO);
	execvp(argv[0], argv);
	fprintf(stderr, "labagent: %s: %s\n", argv[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

static void session_spawn(char **argv)
{
	int in[2], out[2], err[2];

	if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0)
		die("pipe");
	session.pid = fork();
	if (session.pid < 0)
		die("fork");
	if (session.pid == 0)
		child_run(argv, in, out, err);
	close(in[0]);
	close(out[1]);
	close(err[1]);
	session.in = in[1];
	session.out = out[0];
	session.err = err[0];
	fcntl(session.in, F_SETFL, O_NONBLOCK);
	fcntl(session.out, F_SETFL, O_NONBLOCK);
	fcntl(session.err, F_SETFL, O_NONBLOCK);
}

/* The payload is the nonce and then strings that each end in NUL. Takes no ownership. */
static void request_handle(uint8_t *payload, size_t len)
{
	char **argv;
	size_t count = 0, i = 0;

	session_abort();
	if (len <= WIRE_NONCE_BYTES || payload[len - 1] != '\0')
		return;
	for (size_t at = WIRE_NONCE_BYTES; at < len; at++)
		count += payload[at] == '\0';
	argv = calloc(count + 1, sizeof(*argv));
	if (!argv)
		die("request");
	for (char *arg = (char *)payload + WIRE_NONCE_BYTES; i < count; arg += strlen(arg) + 1)
		argv[i++] = arg;
	out_raw(payload, WIRE_NONCE_BYTES);
	session_spawn(argv);
	out_frame(WIRE_WANT, NULL, 0);
	free(argv);
}

static void stdin_take(uint8_t *payload, size_t len)
{
	free(session.stdin_data);
	session.stdin_data = payload;
	session.stdin_len = len;
	session.stdin_used = 0;
}

static void frame_handle(void)
{
	uint8_t *payload = parser.payload;
	size_t len = parser.payload_len;

	parser.payload = NULL;
	switch (parser.header[0]) {
	case WIRE_REQUEST:
		request_handle(payload, len);
		break;
	case WIRE_STDIN:
		stdin_take(payload, len);
		return;
	case WIRE_STDIN_END:
		session.stdin_end = true;
		break;
	}
	free(payload);
}

static void parser_header_done(void)
{
	parser.payload_len = wire_header_len(parser.header);
	if (parser.payload_len > WIRE_REQUEST_BYTES) {
		parser_reset();	/* not a frame: wait for the next reset */
		return;
	}
	parser.payload = malloc(parser.payload_len + 1);
	if (!parser.payload)
		die("frame");
}

static void parser_byte(uint8_t byte)
{
	if (parser.header_used < WIRE_HEADER_BYTES) {
		parser.header[parser.header_used++] = byte;
		if (parser.header_used == WIRE_HEADER_BYTES)
			parser_header_done();
	} else {
		parser.payload[parser.payload_used++] = byte;
	}
	if (parser.header_used == WIRE_HEADER_BYTES && parser.payload_used == parser.payload_len) {
		frame_handle();
		parser_reset();
	}
}

static void parser_unstuff(const uint8_t *data, size_t len)
{
	for (; len > 0; data++, len--) {
		if (parser.escaped) {
			parser.escaped = false;
			if (*data == WIRE_ESC) {
				parser_byte(*data);
			} else {
				parser_reset();
				session_abort();
			}
		} else if (*data == WIRE_ESC) {
			parser.escaped = true;
		} else {
			parser_byte(*data);
		}
	}
}

static void port_read(void)
{
	static uint8_t data[WIRE_CHUNK_BYTES];
	ssize_t n = read(port, data, sizeof(data));

	if (n > 0)
		parser_unstuff(data, (size_t)n);
	else if (n < 0 && errno != EAGAIN && errno != EINTR)
		die("read");
}

static void port_write(void)
{
	ssize_t n = write(port, out_data + out_used, out_len - out_used);

	if (n < 0 && errno != EAGAIN && errno != EINTR)
		die("write");
	if (n > 0)
		out_used += (size_t)n;
	if (out_used == out_len)
		out_used = out_len = 0;
}

/* Sends what the command has written. Returns true if there was anything. */
static bool output_read(int *fd, int type)
{
	static uint8_t data[WIRE_CHUNK_BYTES];
	ssize_t n = *fd < 0 ? 0 : read(*fd, data, sizeof(data));

	if (n > 0)
		out_frame(type, data, (size_t)n);
	else if (n == 0 || errno != EAGAIN)
		close_fd(fd);
	return n > 0;
}

static void stdin_write(void)
{
	ssize_t n = write(session.in, session.stdin_data + session.stdin_used,
			  session.stdin_len - session.stdin_used);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n < 0) {	/* the command reads no more: swallow the rest */
		close_fd(&session.in);
		session.stdin_used = session.stdin_len;
	} else {
		session.stdin_used += (size_t)n;
	}
	if (session.stdin_used == session.stdin_len) {
		session.stdin_used = session.stdin_len = 0;
		out_frame(WIRE_WANT, NULL, 0);
	}
}

static void children_reap(void)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid != session.pid)
			continue;
		session.ended = true;
		session.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	}
}

static void session_finish(void)
{
	uint8_t status = (uint8_t)session.status;

	out_frame(WIRE_EXIT, &status, 1);
	session_close();
}

static void signals_drain(void)
{
	struct signalfd_siginfo info;

	while (read(events, &info, sizeof(info)) > 0)
		;
	hung_up = false;	/* SIGIO: look at the port again */
	children_reap();
}

static void command_serve(const struct pollfd *out, const struct pollfd *err,
			  const struct pollfd *in)
{
	bool any = false;

	if (out->revents || session.ended)
		any |= output_read(&session.out, WIRE_STDOUT);
	if (err->revents || session.ended)
		any |= output_read(&session.err, WIRE_STDERR);
	if (in->revents)
		stdin_write();
	if (session.stdin_end && session.stdin_len == 0)
		close_fd(&session.in);
	if (session.ended && !any)
		session_finish();
}

static void serve_once(void)
{
	bool idle = out_len == 0;
	bool feed = idle && session.stdin_len > 0;
	int ready, wait_ms = idle && session.ended ? 0 : -1;
	struct pollfd pfds[] = {
		{ .fd = events, .events = POLLIN },
		{ .fd = hung_up ? -1 : port, .events = (short)(POLLIN | (idle ? 0 : POLLOUT)) },
		{ .fd = idle ? session.out : -1, .events = POLLIN },
		{ .fd = idle ? session.err : -1, .events = POLLIN },
		{ .fd = feed ? session.in : -1, .events = POLLOUT },
	};

	if (hung_up && session.pid > 0)
		wait_ms = HANG_UP_MS;
	ready = poll(pfds, 5, wait_ms);
	if (ready < 0 && errno != EINTR)
		die("poll");
	if (ready == 0 && hung_up) {
		session_abort();
		parser_reset();
	}
	if (pfds[0].revents & POLLIN)
		signals_drain();
	if (pfds[1].revents & POLLIN)
		port_read();
	if (pfds[1].revents & POLLOUT && out_len > 0)
		port_write();
	if (pfds[1].revents & POLLHUP)
		/* poll() would report it for ever: the port is left out until SIGIO tells of a
		 * change */
		hung_up = true;
	if (idle && out_len == 0 && session.pid > 0)
		command_serve(&pfds[2], &pfds[3], &pfds[4]);
}

static _Noreturn void serve(void)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	sigaddset(&mask, SIGIO);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	signal(SIGPIPE, SIG_IGN);
	events = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (events < 0)
		die("signalfd");
	port = open(port_name, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (port < 0)
		die("open");
	if (fcntl(port, F_SETOWN, getpid()) < 0 || fcntl(port, F_SETFL, O_NONBLOCK | O_ASYNC) < 0)
		die("fcntl");
	for (;;)
		serve_once();
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fputs("usage: labagent PORT...\n", stderr);
		return 2;
	}
	for (int i = 1; i < argc; i++) {
		pid_t pid = fork();

		port_name = argv[i];
		if (pid < 0)
			die("fork");
		if (pid == 0)
			serve();
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
