/* SPDX-License-Identifier: Apache-2.0 */
/* What the two ends of one session of an incast tell each other, and what neither believes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "prove/conversation.h"
#include "prove/incast.h"
#include "prove/incast_channel.h"
#include "prove/pair.h"

#define ANSWER_MS 5000

/* --- how many --------------------------------------------------------------------------------- */

static void agreed(void **state)
{
	struct conversation c = {0};

	(void)state;
	_cleanup_json_ json_t *one = json_object_new(),
			      *two = json_pack("{s:i, s:i}", "senders", 2, "limit_ms", 600000);
	assert_int_equal(conversation_incast_read(&c, one, NULL), 0);
	assert_int_equal(c.parameters.senders, 1);
	assert_int_equal(conversation_incast_read(&c, two, NULL), 0);
	assert_int_equal(c.parameters.senders, 2);
	assert_int_equal(c.incast_ms, 600000);
}

static void hostile(void **state)
{
	static const char *const bad[] = {
		"{\"senders\": 0, \"limit_ms\": 1000}",
		"{\"senders\": 1, \"limit_ms\": 1000}",
		"{\"senders\": 17, \"limit_ms\": 1000}",
		"{\"senders\": -2, \"limit_ms\": 1000}",
		"{\"senders\": 4294967298, \"limit_ms\": 1000}",
		"{\"senders\": \"2\", \"limit_ms\": 1000}",
		"{\"senders\": 2.0, \"limit_ms\": 1000}",
		"{\"senders\": null, \"limit_ms\": 1000}",
		"{\"senders\": 2}",
		"{\"senders\": 2, \"limit_ms\": 0}",
		"{\"senders\": 2, \"limit_ms\": -1}",
		"{\"senders\": 2, \"limit_ms\": 4294967297000}",
		"{\"senders\": 2, \"limit_ms\": \"long\"}",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		_cleanup_json_ json_t *message = json_loads(bad[i], 0, NULL);
		_cleanup_error_ struct error err = {0};
		struct conversation c = {0};

		assert_non_null(message);
		if (conversation_incast_read(&c, message, &err) != -EPROTO)
			fail_msg("%s was taken", bad[i]);
		assert_int_equal(c.parameters.senders, 1);
	}
}

/* A record of several senders says how many; one of a single sender is as ever. */
static void recorded(void **state)
{
	struct session_parameters p = { .dscp = -1 };

	(void)state;
	for (p.senders = 0; p.senders <= 2; p.senders++) {
		_cleanup_json_ json_t *message = session_parameters_message(&p);

		assert_int_equal(json_get_int(message, "senders", 1), p.senders == 2 ? 2 : 1);
	}
}

/* --- waiting ---------------------------------------------------------------------------------- */

struct talk {
	struct wire *connector, *listener;
	struct session_end end;	/* the one that is tested */
	struct conversation c;
	struct incast_channel leader;
};

static void talk_open(struct talk *talk, bool initiator)
{
	*talk = (struct talk){ .leader.fd = -1 };
	wire_pair(&talk->connector, &talk->listener);
	talk->end = (struct session_end){
		.wire = initiator ? talk->connector : talk->listener,
		.timeout_ms = ANSWER_MS,
	};
	talk->c = (struct conversation){
		.end = &talk->end,
		.initiator = initiator,
		.parameters.senders = 2,
		.incast_ms = ANSWER_MS,
	};
	if (!initiator) {
		int fds[2];

		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
		talk->leader.fd = fds[0];
		talk->end.incast = incast_new(fds[1], 1, 2, ANSWER_MS);
	}
}

static void talk_close(struct talk *talk)
{
	wire_close(talk->connector);
	wire_close(talk->listener);
	incast_channel_close(&talk->leader);
	incast_free(talk->end.incast);
}

static void say(struct wire *wire, const char *type)
{
	_cleanup_json_ json_t *message = json_pack("{s:s}", "type", type);

	assert_int_equal(wire_send(wire, message, ANSWER_MS, NULL), 0);
}

static void hears(struct wire *wire, const char *type)
{
	_cleanup_json_ json_t *message = NULL;

	assert_int_equal(wire_receive(wire, type, &message, ANSWER_MS, NULL), 0);
}

static void initiator_waits(void **state)
{
	static const struct {
		const char *said[4];
		int rc;
	} cases[] = {
		{ { "go" }, 0 },
		{ { "wait", "wait", "go" }, 0 },
		{ { "wait", "outcome" }, -EPROTO },
		{ { "\033[2J" }, -EPROTO },
		{ { "wait", "error" }, -EREMOTEIO },
		{ { "wait" }, -ETIMEDOUT },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_error_ struct error err = {0};
		struct talk talk;

		talk_open(&talk, true);
		for (const char *const *said = cases[i].said; *said; said++)
			say(talk.listener, *said);
		if (cases[i].rc == -ETIMEDOUT)
			talk.end.timeout_ms = 1;
		assert_int_equal(conversation_go(&talk.c, &err), cases[i].rc);
		assert_null(strchr(error_text(&err), '\033'));
		talk_close(&talk);
	}
}

/* A listener that says "wait" for ever is left. */
static void initiator_has_a_limit(void **state)
{
	_cleanup_error_ struct error err = {0};
	struct talk talk;

	(void)state;
	talk_open(&talk, true);
	talk.c.incast_ms = -ANSWER_MS;
	say(talk.listener, "wait");
	say(talk.listener, "go");
	assert_int_equal(conversation_go(&talk.c, &err), -ETIMEDOUT);
	assert_non_null(strstr(error_text(&err), "did not come in time"));
	talk_close(&talk);
}

static void lead(struct talk *talk, const char *type)
{
	_cleanup_json_ json_t *message = json_pack("{s:s, s:s}", "type", type, "text",
						   "sender 2 of 2 is gone");

	assert_int_equal(incast_channel_send(&talk->leader, message, NULL), 0);
}

static void listener_lets_go(void **state)
{
	_cleanup_error_ struct error err = {0};
	struct talk talk;

	(void)state;
	talk_open(&talk, false);
	lead(&talk, "go");
	assert_int_equal(conversation_go(&talk.c, &err), 0);
	hears(talk.connector, "go");
	lead(&talk, "gone");
	assert_int_equal(conversation_go(&talk.c, &err), -ECANCELED);
	assert_non_null(strstr(error_text(&err), "sender 2 of 2 is gone"));
	talk_close(&talk);
}

/* Its peer hears of it while it waits, and it has a limit. */
static void listener_says_wait(void **state)
{
	_cleanup_error_ struct error err = {0};
	struct talk talk;

	(void)state;
	talk_open(&talk, false);
	talk.c.incast_ms = 600;
	assert_int_equal(conversation_go(&talk.c, &err), -ETIMEDOUT);
	hears(talk.connector, "wait");
	talk_close(&talk);
}

/* The peer goes, or says what it has no turn for, while others are waited for. */
static void listener_watches_its_peer(void **state)
{
	struct talk talk;

	(void)state;
	talk_open(&talk, false);
	say(talk.connector, "done");
	assert_int_equal(conversation_go(&talk.c, NULL), -EPROTO);
	wire_close(talk.connector);
	talk.connector = NULL;
	assert_int_equal(conversation_go(&talk.c, NULL), -ECONNRESET);
	talk_close(&talk);
}

static void one_waits_for_nobody(void **state)
{
	struct conversation c = { .parameters.senders = 1 };

	(void)state;
	assert_int_equal(conversation_go(&c, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agreed),
		cmocka_unit_test(hostile),
		cmocka_unit_test(recorded),
		cmocka_unit_test(initiator_waits),
		cmocka_unit_test(initiator_has_a_limit),
		cmocka_unit_test(listener_lets_go),
		cmocka_unit_test(listener_says_wait),
		cmocka_unit_test(listener_watches_its_peer),
		cmocka_unit_test(one_waits_for_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
