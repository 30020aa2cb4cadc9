/* SPDX-License-Identifier: Apache-2.0 */
/* Strangers before a listener, listeners that are none, peers that die, and hands on the path. */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
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
#include "pair.h"
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

/* The right peer comes and is served. Ends the listener. */
static void assert_serves(struct wire_listener *listener)
{
	struct caller caller = { .port = wire_listener_port(listener), .token = PAIR_TOKEN,
				 .timeout_ms = PATIENCE_MS };
	_cleanup_error_ struct error err = {0};
	struct wire *wire;
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, call, &caller), 0);
	assert_int_equal(wire_accept(&wire, listener, PATIENCE_MS, &err), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(caller.rc, 0);
	wire_close(wire);
	wire_close(caller.wire);
	wire_listener_close(listener);
}

/* Frames that a connector with these nonces would send. */
struct script {
	uint8_t bytes[1024];
	size_t len;
};

static void script_add(struct script *s, const struct wire_reply *reply)
{
	wire_frame_prefix(s->bytes + s->len, reply->len);
	memcpy(s->bytes + s->len + WIRE_LENGTH_BYTES, reply->body, reply->len);
	s->len += WIRE_LENGTH_BYTES + reply->len;
}

/* A whole session as someone on the path writes it down: up what the connector says, down what the
 * listener says. */
static void session(struct script *up, struct script *down, const char *token)
{
	static const uint8_t nonces[2][WIRE_NONCE_BYTES] = { { 3 }, { 4 } };
	struct wire_handshake c, l;
	struct wire_reply from_c, from_l;

	*up = *down = (struct script){0};
	wire_handshake_start(&l, WIRE_LISTENER, 1, 1, nonces[0], &from_l);
	wire_handshake_start(&c, WIRE_CONNECTOR, 1, 1, nonces[1], &from_c);
	while (!c.done) {
		script_add(up, &from_c);
		wire_handshake_feed(&l, token, from_c.body, from_c.len, &from_l, NULL);
		script_add(down, &from_l);
		wire_handshake_feed(&c, token, from_l.body, from_l.len, &from_c, NULL);
	}
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
	int fd = stranger(wire_listener_port(listener)), silent = stranger(wire_listener_port(listener));
	int64_t deadline_ms = clock_now_ms() + PATIENCE_MS;
	size_t n = 0;

	session(&up, &down, PAIR_TOKEN);
	do {
		/* one that is thrown out may not take it */
		if (n < 40)
			(void)!send(fd, up.bytes + n++, 1, MSG_NOSIGNAL);
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
	/* the crowd still stands there */
	assert_serves(listener);
	for (size_t i = 0; i < CROWD; i++)
		close(fds[i]);
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

/* --- listeners that are none ------------------------------------------------------------------ */

struct impostor {
	int listening;
	const uint8_t *bytes;	/* NULL: what comes in goes back */
	size_t len;
	useconds_t pause_us;	/* after each byte */
	bool hold;		/* do not close when all is said */
};

static void *impose(void *data)
{
	struct impostor *i = data;
	int fd = accept(i->listening, NULL, NULL);
	uint8_t byte;

	if (!i->bytes)
		while (recv(fd, &byte, 1, 0) == 1 && send(fd, &byte, 1, MSG_NOSIGNAL) == 1)
			;
	for (size_t n = 0; n < i->len && send(fd, i->bytes + n, 1, MSG_NOSIGNAL) == 1; n++)
		if (i->pause_us)
			usleep(i->pause_us);
	/* what the caller says is taken until it goes: this end must not look like a reset */
	if (!i->hold)
		shutdown(fd, SHUT_WR);
	while (recv(fd, &byte, 1, 0) == 1)
		;
	close(fd);
	return NULL;
}

static int call_impostor(struct impostor *i, int timeout_ms, struct error *err)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);
	struct wire *wire;
	pthread_t thread;

	i->listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(i->listening, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(i->listening, 1), 0);
	assert_int_equal(getsockname(i->listening, (struct sockaddr *)&at, &len), 0);
	assert_int_equal(pthread_create(&thread, NULL, impose, i), 0);
	int rc = wire_connect(&wire, "127.0.0.1", ntohs(at.sin_port), PAIR_TOKEN, timeout_ms, err);
	assert_int_equal(pthread_join(thread, NULL), 0);
	close(i->listening);
	return rc;
}

static void test_impostors(void **state RH_UNUSED)
{
	static const uint8_t ssh[] = "SSH-2.0-OpenSSH_9.2\r\n";
	static const uint8_t later[] =
		"\0\0\0\x30\1RHPROVEL\0\2\0\3" "01234567890123456789012345678901" "new";
	static const uint8_t busy[] = "\0\0\0\2\3\2", refused[] = "\0\0\0\2\3\1",
			     strange[] = "\0\0\0\2\3\7";
	_cleanup_error_ struct error err = {0};
	struct script up, down;
	struct impostor i = { .bytes = ssh, .len = sizeof(ssh) - 1 };

	assert_int_equal(call_impostor(&i, PATIENCE_MS, &err), -EPROTO);
	/* both ends of the versions are named */
	i = (struct impostor){ .bytes = later, .len = sizeof(later) - 1 };
	assert_int_equal(call_impostor(&i, PATIENCE_MS, &err), -EPROTONOSUPPORT);
	assert_non_null(strstr(err.message, "versions 2 to 3"));
	assert_non_null(strstr(err.message, "this end 1 to 1"));
	i = (struct impostor){ .bytes = busy, .len = 6 };
	assert_int_equal(call_impostor(&i, PATIENCE_MS, &err), -EBUSY);
	i = (struct impostor){ .bytes = refused, .len = 6 };
	assert_int_equal(call_impostor(&i, PATIENCE_MS, &err), -EACCES);
	i = (struct impostor){ .bytes = strange, .len = 6 };
	assert_int_equal(call_impostor(&i, PATIENCE_MS, &err), -EPROTO);
	/* a mirror */
	i = (struct impostor){0};
	assert_int_equal(call_impostor(&i, PATIENCE_MS, &err), -EPROTO);
	/* a recorded listener, whole: its proof is of another session */
	session(&up, &down, PAIR_TOKEN);
	i = (struct impostor){ .bytes = down.bytes, .len = down.len };
	assert_int_equal(call_impostor(&i, PATIENCE_MS, &err), -EACCES);
	/* and ending at every byte */
	for (size_t n = 0; n < down.len; n++) {
		i = (struct impostor){ .bytes = down.bytes, .len = n };
		assert_int_equal(call_impostor(&i, PATIENCE_MS, &err), -ECONNRESET);
	}
	/* slow, and silent */
	i = (struct impostor){ .bytes = down.bytes, .len = down.len, .pause_us = 50000 };
	assert_int_equal(call_impostor(&i, 200, &err), -ETIMEDOUT);
	i = (struct impostor){ .bytes = down.bytes, .len = 0, .hold = true };
	assert_int_equal(call_impostor(&i, 50, &err), -ETIMEDOUT);
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
		cmocka_unit_test(test_stampede),
		cmocka_unit_test(test_busy),
		cmocka_unit_test(test_impostors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
