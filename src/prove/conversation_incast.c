/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several sessions of one listener that go on together (incast.h), as the two ends of one of them
 * tell each other:
 *
 *			<-	agreed {senders, limit_ms}
 *	then before the first step of a stage, and after each step:
 *			<-	wait	while others are not there yet, every half second
 *			<-	go
 *
 * A step counts when all sessions came to its end: whoever is missing then was no sender in it.
 */
#include "prove/conversation.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "host/clock.h"
#include "prove/incast.h"

/* Below any limit that the other end may have for an answer, the shortest of which is a second. */
#define SAY_MS 500

int conversation_incast_agree(struct conversation *c, json_t *agreed, struct error *err)
{
	struct incast *incast = c->end->incast;

	if (!incast)
		return 0;
	int rc = incast_agree(incast, &c->parameters, err);
	if (rc < 0)
		return rc;
	c->parameters.senders = incast_senders(incast);
	c->incast_ms = incast_limit_ms(incast, &c->parameters);
	json_put_int(agreed, "senders", c->parameters.senders);
	json_put_int(agreed, "limit_ms", c->incast_ms);
	return 0;
}

int conversation_incast_read(struct conversation *c, json_t *agreed, struct error *err)
{
	json_t *senders = json_object_get(agreed, "senders"),
	       *limit = json_object_get(agreed, "limit_ms");

	c->parameters.senders = 1;
	if (!senders)
		return 0;
	if (!json_is_integer(senders) || json_integer_value(senders) < INCAST_SENDERS_MIN ||
	    json_integer_value(senders) > INCAST_SENDERS_MAX)
		return error_set(err, -EPROTO, "the other end's senders is no number from %u to %u",
				 INCAST_SENDERS_MIN, INCAST_SENDERS_MAX);
	if (!json_is_integer(limit) || json_integer_value(limit) < 1 ||
	    json_integer_value(limit) > INCAST_LIMIT_MAX_MS)
		return error_set(err, -EPROTO, "the other end's limit_ms is no number from 1 to %d",
				 INCAST_LIMIT_MAX_MS);
	c->parameters.senders = (unsigned)json_integer_value(senders);
	c->incast_ms = (int)json_integer_value(limit);
	return 0;
}

static int say(const struct conversation *c, const char *type, struct error *err)
{
	_cleanup_json_ json_t *message = json_object_new();

	json_put_string(message, "type", type);
	return wire_send(c->end->wire, message, c->end->timeout_ms, err);
}

/* The peer waits to be let go: what it says meanwhile is why it goes. */
static int hear_peer(const struct conversation *c, struct error *err)
{
	_cleanup_json_ json_t *message = NULL;
	int rc = wire_receive(c->end->wire, NULL, &message, c->end->timeout_ms, err);

	return rc < 0 ? rc : error_set(err, -EPROTO, "the other end did not wait to be let go");
}

static int let_go(const struct conversation *c, struct error *err)
{
	const int64_t deadline_ms = clock_now_ms() + c->incast_ms;

	for (;;) {
		int rc = incast_wait(c->end->incast, wire_fd(c->end->wire), SAY_MS, err);

		if (!rc)
			return say(c, "go", err);
		if (rc > 0)
			return hear_peer(c, err);
		if (rc != -ETIMEDOUT || clock_now_ms() >= deadline_ms)
			return rc;
		error_clear(err);
		rc = say(c, "wait", err);
		if (rc < 0)
			return rc;
	}
}

static int wait_to_be_let_go(const struct conversation *c, struct error *err)
{
	const int64_t deadline_ms = clock_now_ms() + c->incast_ms + c->end->timeout_ms;

	for (;;) {
		_cleanup_json_ json_t *message = NULL;
		int rc = wire_receive(c->end->wire, NULL, &message, c->end->timeout_ms, err);
		const char *type = json_get_string(message, "type", "");

		if (rc < 0 || !strcmp(type, "go"))
			return rc;
		if (strcmp(type, "wait")) {
			_cleanup_free_ char *safe = text_printable(type, strlen(type));
			return error_set(err, -EPROTO, "a message \"%s\" came while others were "
					 "waited for", safe);
		}
		if (clock_now_ms() >= deadline_ms)
			return error_set(err, -ETIMEDOUT, "the other senders did not come in time");
	}
}

int conversation_go(const struct conversation *c, struct error *err)
{
	if (c->parameters.senders < INCAST_SENDERS_MIN)
		return 0;
	return c->initiator ? wait_to_be_let_go(c, err) : let_go(c, err);
}
