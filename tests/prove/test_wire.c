/* SPDX-License-Identifier: Apache-2.0 */
/* Two ends of the control channel that mean well, and what they say to each other. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "pair.h"
#include "prove/wire.h"

/* For what must work: long, since a busy machine is slow. */
#define PATIENCE_MS 20000

static json_t *message(const char *type, const char *text)
{
	json_t *m = json_object_new();

	json_put_string(m, "type", type);
	json_put_string(m, "text", text);
	return m;
}

static void say(struct wire *wire, const char *type, const char *text)
{
	_cleanup_json_ json_t *m = message(type, text);
	_cleanup_error_ struct error err = {0};

	assert_int_equal(wire_send(wire, m, PATIENCE_MS, &err), 0);
}

static void hear(struct wire *wire, const char *type, const char *text)
{
	_cleanup_json_ json_t *m = NULL;
	_cleanup_error_ struct error err = {0};

	assert_int_equal(wire_receive(wire, type, &m, PATIENCE_MS, &err), 0);
	assert_string_equal(json_get_string(m, "text", ""), text);
}

/* --- meeting ---------------------------------------------------------------------------------- */

struct caller {
	const char *host;
	uint16_t port;
	struct wire *wire;
	int rc;
};

static void *call(void *data)
{
	struct caller *c = data;

	c->rc = wire_connect(&c->wire, c->host, c->port, PAIR_TOKEN, PATIENCE_MS, NULL);
	return NULL;
}

/* Over TCP. The caller closes both. */
static void tcp_pair(struct wire **connector, struct wire **listening)
{
	_cleanup_(wire_listener) struct wire_listener *listener = NULL;
	struct caller caller = { .host = "127.0.0.1" };
	pthread_t thread;

	assert_int_equal(wire_listen(&listener, "127.0.0.1", 0, PAIR_TOKEN, NULL), 0);
	caller.port = wire_listener_port(listener);
	assert_int_equal(pthread_create(&thread, NULL, call, &caller), 0);
	assert_int_equal(wire_accept(listening, listener, PATIENCE_MS, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(caller.rc, 0);
	*connector = caller.wire;
}

static void meet(const char *address, const char *host, const char *peer)
{
	_cleanup_(wire_listener) struct wire_listener *listener = NULL;
	_cleanup_(wire) struct wire *listening = NULL, *again = NULL;
	_cleanup_error_ struct error err = {0};
	struct caller caller = { .host = host };
	pthread_t thread;

	assert_int_equal(wire_listen(&listener, address, 0, PAIR_TOKEN, &err), 0);
	caller.port = wire_listener_port(listener);
	assert_true(caller.port > 0);
	assert_int_equal(pthread_create(&thread, NULL, call, &caller), 0);
	assert_int_equal(wire_accept(&listening, listener, PATIENCE_MS, &err), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(caller.rc, 0);
	_cleanup_(wire) struct wire *connected = caller.wire;
	assert_string_equal(wire_peer(listening), peer);
	assert_string_equal(wire_peer(connected), peer);
	assert_true(wire_fd(connected) >= 0 && wire_fd(listening) >= 0);

	say(connected, "hello", "up");
	say(listening, "hello", "down");
	hear(connected, "hello", "down");
	hear(listening, NULL, "up");

	/* a token opens one session */
	assert_int_equal(wire_accept(&again, listener, 0, &err), -EKEYEXPIRED);
	assert_int_equal(wire_connect(&again, host, caller.port, PAIR_TOKEN, PATIENCE_MS, &err),
			 -ECONNREFUSED);
}

static void test_meet(void **state RH_UNUSED)
{
	meet("127.0.0.1", "127.0.0.1", "127.0.0.1");
	meet(NULL, "127.0.0.1", "127.0.0.1");
	meet("127.0.0.1", "localhost", "127.0.0.1");
}

static void test_meet_ipv6(void **state RH_UNUSED)
{
	struct wire_listener *listener;

	if (wire_listen(&listener, "::1", 0, PAIR_TOKEN, NULL) < 0)
		skip();
	wire_listener_close(listener);
	meet("::1", "::1", "::1");
	meet(NULL, "::1", "::1");
}

/* Nobody is expected any more. */
static void test_called_off(void **state RH_UNUSED)
{
	_cleanup_(wire_listener) struct wire_listener *listener = NULL;
	_cleanup_error_ struct error err = {0};
	struct wire *wire;
	int ends[2];

	assert_int_equal(wire_listen(&listener, "127.0.0.1", 0, PAIR_TOKEN, &err), 0);
	assert_int_equal(pipe(ends), 0);
	wire_listener_watch(listener, ends[0]);
	assert_int_equal(wire_accept(&wire, listener, 10, &err), -ETIMEDOUT);
	error_clear(&err);
	close(ends[1]);
	assert_int_equal(wire_accept(&wire, listener, PATIENCE_MS, &err), -ECANCELED);
	assert_non_null(strstr(error_text(&err), "nobody is expected"));
	close(ends[0]);
}

static void test_nobody(void **state RH_UNUSED)
{
	_cleanup_(wire_listener) struct wire_listener *listener = NULL, *second = NULL;
	_cleanup_(wire) struct wire *wire = NULL;
	_cleanup_error_ struct error err = {0};

	assert_int_equal(wire_listen(&listener, "127.0.0.1", 0, PAIR_TOKEN, &err), 0);
	assert_int_equal(wire_accept(&wire, listener, 10, &err), -ETIMEDOUT);
	assert_non_null(strstr(err.message, "nobody came"));
	/* nobody answers within the limit: the connection stands, the handshake does not */
	assert_int_equal(wire_connect(&wire, "127.0.0.1", wire_listener_port(listener), PAIR_TOKEN,
				      50, &err), -ETIMEDOUT);
	assert_non_null(strstr(err.message, "127.0.0.1 port"));
	assert_int_equal(wire_listen(&second, "127.0.0.1", wire_listener_port(listener), PAIR_TOKEN,
				     &err), -EADDRINUSE);
	assert_int_equal(wire_listen(&second, "192.0.2.1", 0, PAIR_TOKEN, &err), -EADDRNOTAVAIL);
	assert_non_null(strstr(err.message, "192.0.2.1"));
	/* -EAGAIN where no name server answers */
	int rc = wire_connect(&wire, "host.invalid", 1, PAIR_TOKEN, PATIENCE_MS, &err);
	assert_true(rc == -ENOENT || rc == -EAGAIN);
	assert_non_null(strstr(err.message, "host.invalid"));
	assert_int_equal(wire_connect(&wire, "localhost", 1, PAIR_TOKEN, 0, &err), -ETIMEDOUT);
	assert_non_null(strstr(err.message, "looking up localhost"));
}

static void test_token(void **state RH_UNUSED)
{
	static const uint8_t counted[WIRE_TOKEN_BYTES] = {
		0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255,
	};
	static const char *const wrong[] = {
		"", "abc", "abcdefghijklmnopqrstuvwxy", "abcdefghijklmnopqrstuvwxyza",
		"abcdefghijklmnopqrstuvwxy1", "abcdefghijklmnopqrstuvwxy ",
		"abcdefghijklmnopqrstuvwx\xc3\xa4",
	};
	char token[WIRE_TOKEN_CHARS + 1], other[WIRE_TOKEN_CHARS + 1];
	_cleanup_error_ struct error err = {0};
	struct wire_listener *listener;
	struct wire *wire;

	wire_token_encode(token, counted);
	assert_string_equal(token, "aaaqeayeaudaocajbifqydio74");	/* as base32(1) has it */
	assert_int_equal(wire_token_new(token, &err), 0);
	assert_int_equal(wire_token_new(other, &err), 0);
	assert_string_not_equal(token, other);
	assert_int_equal(wire_token_check(other, token, &err), 0);
	assert_string_equal(token, other);
	assert_int_equal(wire_token_check(other, "ABCDEFGHIJKLMNOPQRSTUVWXYZ", &err), 0);
	assert_string_equal(other, "abcdefghijklmnopqrstuvwxyz");
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		assert_int_equal(wire_token_check(other, wrong[i], &err), -EINVAL);
		assert_int_equal(wire_connect(&wire, "127.0.0.1", 1, wrong[i], 0, &err), -EINVAL);
		assert_int_equal(wire_listen(&listener, NULL, 0, wrong[i], &err), -EINVAL);
		/* a token with a slip in it is a token all the same */
		assert_true(!wrong[i][0] || !strstr(err.message, wrong[i]));
	}
}

/* --- messages --------------------------------------------------------------------------------- */

static void test_messages(void **state RH_UNUSED)
{
	struct wire *a, *b;
	_cleanup_json_ json_t *m = NULL;
	_cleanup_error_ struct error err = {0}, why = {0};

	wire_pair(&a, &b);
	for (int i = 0; i < 100; i++)
		say(a, "step", "one");
	for (int i = 0; i < 100; i++)
		hear(b, "step", "one");

	say(a, "other", "");
	assert_int_equal(wire_receive(b, "step", &m, PATIENCE_MS, &err), -EPROTO);
	assert_non_null(strstr(err.message, "\"other\""));
	assert_non_null(strstr(err.message, "\"step\""));
	assert_null(m);

	error_set(&why, -ENOMEM, "registering memory: not enough\033[2J");
	wire_send_error(a, &why);
	assert_int_equal(wire_receive(b, "step", &m, PATIENCE_MS, &err), -EREMOTEIO);
	assert_non_null(strstr(err.message, "registering memory: not enough"));
	assert_null(strchr(err.message, '\033'));
	/* the channel still stands */
	say(b, "bye", "x");
	hear(a, "bye", "x");
	wire_close(a);
	assert_int_equal(wire_receive(b, NULL, &m, PATIENCE_MS, &err), -ECONNRESET);
	assert_int_equal(wire_receive(b, NULL, &m, PATIENCE_MS, &err), -ENOTCONN);
	wire_close(b);
}

static void test_sizes(void **state RH_UNUSED)
{
	/* {"type":"big","text":""} and the MAC */
	size_t room = WIRE_BODY_LARGE - DIGEST_BYTES - 24;
	_cleanup_free_ char *text = xmalloc(room + 2);
	_cleanup_json_ json_t *over = NULL;
	_cleanup_error_ struct error err = {0};
	struct wire *a, *b;

	memset(text, 'x', room + 2);
	text[room + 1] = '\0';
	over = message("big", text);
	text[room] = '\0';
	tcp_pair(&a, &b);
	assert_int_equal(wire_send(b, over, PATIENCE_MS, &err), -EMSGSIZE);
	/* nothing of it went out; the largest arrives whole */
	say(b, "big", text);
	hear(a, "big", text);
	wire_close(a);
	wire_close(b);
}

/* A time limit does not lose what has come. */
static void test_late(void **state RH_UNUSED)
{
	struct pair_keys keys;
	_cleanup_json_ json_t *m = NULL;
	_cleanup_free_ uint8_t *frame = NULL;
	_cleanup_error_ struct error err = {0};
	static const char text[] = "{\"type\":\"x\",\"text\":\"late\"}";
	size_t len;
	int ends[2];

	pair_keys(&keys);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
	struct wire *wire = wire_new(ends[0], "peer", &keys.connector);
	assert_int_equal(wire_frame_seal(&frame, &len, keys.listener.send, 0, text, strlen(text),
					 &err), 0);
	for (size_t i = 0; i < len; i++) {
		assert_int_equal(wire_receive(wire, "x", &m, 0, &err), -ETIMEDOUT);
		assert_int_equal(write(ends[1], frame + i, 1), 1);
	}
	hear(wire, "x", "late");
	wire_close(wire);
	close(ends[1]);
}

/* Fill the channel until the peer, which reads nothing, takes no more. */
static void test_stalled(void **state RH_UNUSED)
{
	_cleanup_free_ char *text = xmalloc(100001);
	_cleanup_error_ struct error err = {0};
	struct wire *a, *b;
	int rc = 0;

	memset(text, 'x', 100000);
	text[100000] = '\0';
	_cleanup_json_ json_t *m = message("x", text);
	wire_pair(&a, &b);
	for (int i = 0; i < 1000 && rc == 0; i++)
		rc = wire_send(a, m, 20, &err);
	assert_int_equal(rc, -ETIMEDOUT);
	/* part of a frame is out: nothing sensible can follow it */
	assert_int_equal(wire_send(a, m, 20, &err), -ENOTCONN);
	wire_close(a);
	wire_close(b);
}

/* Who goes with a word is quoted, also to an end that was about to speak. */
static void test_last_words(void **state RH_UNUSED)
{
	_cleanup_error_ struct error err = {0}, why = {0};
	_cleanup_json_ json_t *m = message("x", "y");
	struct wire *a, *b;

	wire_pair(&a, &b);
	error_set(&why, -ENODEV, "the link went down");
	say(b, "progress", "1");
	wire_send_error(b, &why);
	wire_close(b);
	assert_int_equal(wire_send(a, m, PATIENCE_MS, &err), -EREMOTEIO);
	assert_non_null(strstr(err.message, "the link went down"));
	wire_close(a);

	wire_pair(&a, &b);
	wire_close(b);
	assert_int_equal(wire_send(a, m, PATIENCE_MS, &err), -ECONNRESET);
	wire_close(a);
}

/* The same over TCP, where an end that closes with words unread resets the connection. */
static void test_last_words_tcp(void **state RH_UNUSED)
{
	_cleanup_error_ struct error err = {0}, why = {0};
	_cleanup_json_ json_t *m = NULL;
	struct wire *a, *b;

	tcp_pair(&a, &b);
	say(a, "unread", "x");
	hear(b, NULL, "x");
	say(a, "unread", "y");
	error_set(&why, -ENODEV, "the link went down");
	wire_send_error(b, &why);
	wire_close(b);
	assert_int_equal(wire_receive(a, "result", &m, PATIENCE_MS, &err), -EREMOTEIO);
	assert_non_null(strstr(err.message, "the link went down"));
	assert_int_equal(wire_receive(a, "result", &m, PATIENCE_MS, &err), -ECONNRESET);
	wire_close(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_meet),
		cmocka_unit_test(test_meet_ipv6),
		cmocka_unit_test(test_called_off),
		cmocka_unit_test(test_nobody),
		cmocka_unit_test(test_token),
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_stalled),
		cmocka_unit_test(test_last_words),
		cmocka_unit_test(test_last_words_tcp),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
