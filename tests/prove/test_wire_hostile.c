/* SPDX-License-Identifier: Apache-2.0 */
/* Strangers before a listener: what they say, how many they are, how slow, when they die. */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "host/clock.h"
#include "recorded.h"
#include "prove/wire.h"

#define PATIENCE_MS 30000
#define OTHER_TOKEN "bbcdefghijklmnopqrstuvwxyz"

/* --- a listener and who comes ----------------------------------------------------------------- */

static struct wire_listener *listener_new(void)
{
	struct wire_listener *listener;

	assert_int_equal(wire_listen(&listener, "127.0.0.1", 0, PAIR_TOKEN, NULL), 0);
	return listener;
}

static int stranger(uint16_t port)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	return fd;
}

static void throw(int fd, const void *data, size_t len)
{
	assert_int_equal(send(fd, data, len, MSG_NOSIGNAL), len);
}

/* Let the listener work until the stranger hears something, or the end. */
static ssize_t answer(struct wire_listener *listener, int fd, void *data, size_t len)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct wire *wire;
	int64_t deadline_ms = clock_now_ms() + PATIENCE_MS;

	while (poll(&p, 1, 0) == 0) {
		assert_true(clock_now_ms() < deadline_ms);
		assert_int_equal(wire_accept(&wire, listener, 5, NULL), -ETIMEDOUT);
	}
	ssize_t n = recv(fd, data, len, 0);
	return n < 0 ? -errno : n;
}

static void assert_thrown_out(struct wire_listener *listener, int fd)
{
	char byte;
	ssize_t n = answer(listener, fd, &byte, 1);

	assert_true(n == 0 || n == -ECONNRESET);
	close(fd);
}

struct caller {
	uint16_t port;
	const char *token;
	int timeout_ms, rc;
	struct error err;
	struct wire *wire;
};

static void *call(void *data)
{
	struct caller *c = data;

	c->rc = wire_connect(&c->wire, "127.0.0.1", c->port, c->token, c->timeout_ms, &c->err);
	return NULL;
}

/* The right peer comes and is served within its limit. Ends the listener. */
static void assert_serves_within(struct wire_listener *listener, int timeout_ms)
{
	struct caller caller = { .port = wire_listener_port(listener), .token = PAIR_TOKEN,
				 .timeout_ms = timeout_ms };
	_cleanup_error_ struct error err = {0};
	struct wire *wire;
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, call, &caller), 0);
	assert_int_equal(wire_accept(&wire, listener, timeout_ms, &err), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(caller.rc, 0);
	wire_close(wire);
	wire_close(caller.wire);
	wire_listener_close(listener);
}

static void assert_serves(struct wire_listener *listener)
{
	assert_serves_within(listener, PATIENCE_MS);
}

/* --- strangers -------------------------------------------------------------------------------- */

static void test_garbage(void **state RH_UNUSED)
{
	static const struct {
		const char *bytes;
		size_t len;
	} garbage[] = {
		{ "GET / HTTP/1.1\r\nHost: a\r\n\r\n", 28 },
		{ "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11 },	/* TLS */
		{ "SSH-2.0-OpenSSH_9.2\r\n", 21 },
		{ "\0\0\0\0", 4 },
		{ "\0\0\1\1", 4 },				/* one byte too long */
		{ "\xff\xff\xff\xff", 4 },
		{ "\x7f\xff\xff\xff{}", 6 },
		{ "\0\0\0\1\1", 5 },
		{ "\0\0\0\1\3", 5 },				/* refuses the listener */
		{ "\0\0\0\2\3\2", 6 },
		{ "\0\0\0\x21\2" "01234567890123456789012345678901", 37 }, /* proof at once */
		{ "\0\0\0\x2d\1RHPROVEL\0\1\0\1" "01234567890123456789012345678901", 49 },
		{ "\0\0\0\x2d\1RHPROVEX\0\1\0\1" "01234567890123456789012345678901", 49 },
		{ "\0\0\0\x2c\1RHPROVEC\0\1\0\1" "0123456789012345678901234567890", 48 },
	};
	struct wire_listener *listener = listener_new();

	for (size_t i = 0; i < ARRAY_SIZE(garbage); i++) {
		int fd = stranger(wire_listener_port(listener));

		throw(fd, garbage[i].bytes, garbage[i].len);
		assert_thrown_out(listener, fd);
	}
	assert_serves(listener);
}

static void test_wrong_token(void **state RH_UNUSED)
{
	struct wire_listener *listener = listener_new();
	struct caller caller = { .port = wire_listener_port(listener), .token = OTHER_TOKEN,
				 .timeout_ms = PATIENCE_MS };
	_cleanup_error_ struct error err = {0};
	struct wire *wire;
	pthread_t thread;
	int rc;

	assert_int_equal(pthread_create(&thread, NULL, call, &caller), 0);
	do {
		rc = wire_accept(&wire, listener, 20, &err);
		assert_int_equal(rc, -ETIMEDOUT);
	} while (!strstr(err.message, "127.0.0.1: the peer does not know the token"));
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(caller.rc, -EACCES);
	assert_non_null(strstr(caller.err.message, "token"));
	error_clear(&caller.err);
	assert_serves(listener);
}

/* What was heard once is worth nothing to a listener, even one with the same token. */
static void test_replay(void **state RH_UNUSED)
{
	struct wire_listener *listener = listener_new();
	struct script up, down;
	uint8_t heard[256];
	int fd = stranger(wire_listener_port(listener));

	session(&up, &down, PAIR_TOKEN);
	throw(fd, up.bytes, up.len);
	assert_int_equal(answer(listener, fd, heard, 49), 49);
	/* refused, without a proof of the listener */
	assert_int_equal(answer(listener, fd, heard, sizeof(heard)), 6);
	assert_memory_equal(heard, "\0\0\0\2\3\1", 6);
	assert_thrown_out(listener, fd);
	assert_serves(listener);
}

static void test_dies_at_every_step(void **state RH_UNUSED)
{
	struct wire_listener *listener = listener_new();
	struct script up, down;

	session(&up, &down, PAIR_TOKEN);
	for (size_t n = 0; n < up.len; n++) {
		int fd = stranger(wire_listener_port(listener));

		throw(fd, up.bytes, n);
		shutdown(fd, SHUT_WR);
		for (ssize_t got = 1; got > 0;) {
			uint8_t byte;

			got = answer(listener, fd, &byte, 1);
			assert_true(got >= 0 || got == -ECONNRESET);
		}
		close(fd);
	}
	assert_serves(listener);
}

/* A byte now and then keeps nobody in: the limit is for the whole handshake. */
static void test_slow(void **state RH_UNUSED)
{
	struct wire_listener *listener = listener_new();
	_cleanup_error_ struct error err = {0};
	struct script up, down;
	struct wire *wire;
	int fd = stranger(wire_listener_port(listener));
	int silent = stranger(wire_listener_port(listener));
	int64_t deadline_ms = clock_now_ms() + PATIENCE_MS;
	size_t n = 0;

	session(&up, &down, PAIR_TOKEN);
	do {
		/* one that is thrown out may not take it */
		(void)!send(fd, up.bytes + n++, 1, MSG_NOSIGNAL);
		assert_true(n < 45);	/* of 49: it still speaks when its time is over */
		assert_int_equal(wire_accept(&wire, listener, 200, &err), -ETIMEDOUT);
		assert_true(clock_now_ms() < deadline_ms);
	} while (!strstr(err.message, "2 refused"));
	assert_non_null(strstr(err.message, "did not prove in time"));
	assert_thrown_out(listener, fd);
	assert_thrown_out(listener, silent);
	assert_serves(listener);
}

static size_t open_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

#define CROWD 1000

static void test_crowd(void **state RH_UNUSED)
{
	struct rlimit limit;
	struct script up, down;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	if (limit.rlim_max < CROWD + 400)
		skip();

	struct wire_listener *listener = listener_new();
	struct wire *wire;
	int fds[CROWD];
	size_t before;

	session(&up, &down, OTHER_TOKEN);
	for (size_t i = 0; i < CROWD; i++) {
		fds[i] = stranger(wire_listener_port(listener));
		/* some say nothing, some a part, some a whole hello */
		throw(fds[i], up.bytes, (i % 3) * 20 + (i % 3 == 2) * 9);
	}
	before = open_descriptors();
	for (int i = 0; i < 50; i++) {
		assert_int_equal(wire_accept(&wire, listener, 1, NULL), -ETIMEDOUT);
		assert_true(open_descriptors() <= before + 130);
	}
	/* the crowd still stands there, and would for a second more */
	assert_serves_within(listener, 4000);
	for (size_t i = 0; i < CROWD; i++)
		close(fds[i]);
}

/* Who came first makes room, so that a newcomer has time to speak whoever comes behind it. */
static void test_room(void **state RH_UNUSED)
{
	struct wire_listener *listener = listener_new();
	struct script up, down;
	int before[150], behind[100];
	uint8_t heard[64];

	session(&up, &down, PAIR_TOKEN);
	for (size_t i = 0; i < ARRAY_SIZE(before); i++)
		before[i] = stranger(wire_listener_port(listener));
	int fd = stranger(wire_listener_port(listener));
	for (size_t i = 0; i < ARRAY_SIZE(behind); i++)
		behind[i] = stranger(wire_listener_port(listener));
	/* all have been let in once these two are out */
	assert_thrown_out(listener, before[0]);
	assert_int_equal(answer(listener, before[122], heard, 1), 0);
	throw(fd, up.bytes, WIRE_LENGTH_BYTES + WIRE_HELLO_BYTES);
	assert_int_equal(answer(listener, fd, heard, sizeof(heard)),
			 WIRE_LENGTH_BYTES + WIRE_HELLO_BYTES);
	close(fd);
	for (size_t i = 1; i < ARRAY_SIZE(before); i++)
		close(before[i]);
	for (size_t i = 0; i < ARRAY_SIZE(behind); i++)
		close(behind[i]);
	assert_serves(listener);
}

/* More come than are heard, all the time. */
static void *crowd_on(void *data)
{
	uint16_t port = *(uint16_t *)data;
	int fds[64];
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		fds[i] = -1;
	for (;;) {
		struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port),
					  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
		size_t at = n++ % ARRAY_SIZE(fds);

		if (fds[at] >= 0)
			close(fds[at]);
		fds[at] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (connect(fds[at], (struct sockaddr *)&to, sizeof(to)) < 0)
			break;	/* the right one was served: nobody listens any more */
	}
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	return NULL;
}

static void test_stampede(void **state RH_UNUSED)
{
	struct wire_listener *listener = listener_new();
	uint16_t port = wire_listener_port(listener);
	pthread_t threads[4];

	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, crowd_on, &port), 0);
	assert_serves(listener);
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
}

/* Who waits while another is served is told so. */
static void test_busy(void **state RH_UNUSED)
{
	struct wire_listener *listener = listener_new();
	int fd = stranger(wire_listener_port(listener));
	struct wire *wire;
	char heard[8];

	assert_int_equal(wire_accept(&wire, listener, 20, NULL), -ETIMEDOUT);
	assert_serves(listener);
	assert_int_equal(recv(fd, heard, sizeof(heard), 0), 6);
	assert_memory_equal(heard, "\0\0\0\2\3\2", 6);
	assert_int_equal(recv(fd, heard, sizeof(heard), 0), 0);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_wrong_token),
		cmocka_unit_test(test_replay),
		cmocka_unit_test(test_dies_at_every_step),
		cmocka_unit_test(test_slow),
		cmocka_unit_test(test_crowd),
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_stampede),
		cmocka_unit_test(test_busy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
