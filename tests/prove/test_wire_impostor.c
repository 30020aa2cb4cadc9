/* SPDX-License-Identifier: Apache-2.0 */
/* Listeners that are none, before one that connects. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "prove/wire.h"
#include "recorded.h"

#define PATIENCE_MS 30000

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
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
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

static void test_strange(void **state RH_UNUSED)
{
	static const struct {
		const char *bytes;
		size_t len;
		int rc;
	} says[] = {
		{ "SSH-2.0-OpenSSH_9.2\r\n", 21, -EPROTO },
		{ "\0\0\0\2\3\1", 6, -EACCES },
		{ "\0\0\0\2\3\2", 6, -EBUSY },
		{ "\0\0\0\2\3\7", 6, -EPROTO },	/* a reason of a later version */
		{ "\0\0\0\1\3", 5, -EPROTO },
		{ "\0\0\1\1", 4, -EPROTO },
		{ "", 0, -ECONNRESET },
	};
	_cleanup_error_ struct error err = {0};

	for (size_t i = 0; i < ARRAY_SIZE(says); i++) {
		struct impostor impostor = { .bytes = (const uint8_t *)says[i].bytes,
					     .len = says[i].len };

		assert_int_equal(call_impostor(&impostor, PATIENCE_MS, &err), says[i].rc);
		assert_non_null(strstr(err.message, "127.0.0.1 port"));
	}
}

/* Its hello is longer than ours, and its versions are others: both are named. */
static void test_later_version(void **state RH_UNUSED)
{
	static const uint8_t later[] =
		"\0\0\0\x30\1RHPROVEL\0\2\0\3" "01234567890123456789012345678901" "new";
	struct impostor impostor = { .bytes = later, .len = sizeof(later) - 1 };
	_cleanup_error_ struct error err = {0};

	assert_int_equal(call_impostor(&impostor, PATIENCE_MS, &err), -EPROTONOSUPPORT);
	assert_non_null(strstr(err.message, "versions 2 to 3"));
	assert_non_null(strstr(err.message, "this end 1 to 1"));
}

static void test_mirror(void **state RH_UNUSED)
{
	struct impostor impostor = {0};

	assert_int_equal(call_impostor(&impostor, PATIENCE_MS, NULL), -EPROTO);
}

/* The proof of a recorded listener is of another session; and one that dies at every byte. */
static void test_recorded(void **state RH_UNUSED)
{
	struct script up, down;
	struct impostor impostor;

	session(&up, &down, PAIR_TOKEN);
	impostor = (struct impostor){ .bytes = down.bytes, .len = down.len };
	assert_int_equal(call_impostor(&impostor, PATIENCE_MS, NULL), -EACCES);
	for (size_t n = 0; n < down.len; n++) {
		impostor = (struct impostor){ .bytes = down.bytes, .len = n };
		assert_int_equal(call_impostor(&impostor, PATIENCE_MS, NULL), -ECONNRESET);
	}
}

static void test_slow(void **state RH_UNUSED)
{
	struct script up, down;
	struct impostor impostor;

	session(&up, &down, PAIR_TOKEN);
	impostor = (struct impostor){ .bytes = down.bytes, .len = down.len, .pause_us = 50000 };
	assert_int_equal(call_impostor(&impostor, 200, NULL), -ETIMEDOUT);
	/* it takes the connection and says nothing */
	impostor = (struct impostor){ .bytes = down.bytes, .hold = true };
	assert_int_equal(call_impostor(&impostor, 50, NULL), -ETIMEDOUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strange),
		cmocka_unit_test(test_later_version),
		cmocka_unit_test(test_mirror),
		cmocka_unit_test(test_recorded),
		cmocka_unit_test(test_slow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
