/* SPDX-License-Identifier: Apache-2.0 */
/* One session of an incast, as its own process sees it. */
#include "prove/incast.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "base/alloc.h"
#include "host/clock.h"
#include "prove/incast_channel.h"

/* The leader answers at once: what it has to do is compare. */
#define ANSWER_MS 10000
/* A step goes through its memory for each of up to 27 sizes, filled and checked. */
#define PASSES 64u

struct incast {
	struct incast_channel channel;
	unsigned number, senders;
	int wait_ms;
	bool waiting;	/* the leader knows that this session is ready */
};

struct incast *incast_new(int fd, unsigned number, unsigned senders, int wait_ms)
{
	struct incast *incast = xcalloc(1, sizeof(*incast));

	incast->channel.fd = fd;
	incast->number = number;
	incast->senders = senders;
	incast->wait_ms = wait_ms;
	return incast;
}

void incast_free(struct incast *incast)
{
	if (!incast)
		return;
	incast_channel_close(&incast->channel);
	free(incast);
}

int incast_fd(const struct incast *incast)
{
	return incast->channel.fd;
}

unsigned incast_senders(const struct incast *incast)
{
	return incast->senders;
}

int incast_limit_ms(const struct incast *incast, const struct session_parameters *p)
{
	/* a millisecond for each KiB that moves, as each run allows */
	const double ms = incast->wait_ms + p->seconds * 1000 +
			  (double)(session_memory_bytes(p) >> 10) * PASSES;

	return ms < INCAST_LIMIT_MAX_MS ? (int)ms : INCAST_LIMIT_MAX_MS;
}

/* The leader's answer, `watch` (-1: none) readable (1), or -ETIMEDOUT. */
static int hear(struct incast *incast, json_t **answer, int watch, int timeout_ms,
		struct error *err)
{
	const int64_t deadline_ms = clock_now_ms() + timeout_ms;
	struct pollfd polled[] = {
		{ .fd = incast->channel.fd, .events = POLLIN },
		{ .fd = watch, .events = POLLIN | POLLRDHUP },
	};

	for (;;) {
		int rc = incast_channel_take(&incast->channel, answer, err);
		int64_t left = deadline_ms - clock_now_ms();

		if (rc)
			return rc < 0 ? rc : 0;
		if (polled[1].revents)
			return 1;
		if (left <= 0)
			return error_set(err, -ETIMEDOUT, "the other senders are not there yet");
		(void)poll(polled, ARRAY_SIZE(polled), (int)left);
	}
}

static int say(struct incast *incast, const char *type, struct error *err)
{
	_cleanup_json_ json_t *message = json_object_new();

	json_put_string(message, "type", type);
	return incast_channel_send(&incast->channel, message, err);
}

static int check_memory(const struct incast *incast, const struct session_parameters *p,
			struct error *err)
{
	const size_t bytes = session_memory_bytes(p);

	if (bytes <= SESSION_MEMORY_MAX / incast->senders)
		return 0;
	return error_set(err, -EINVAL,
			 "%u senders with %zu bytes each: at most %zu bytes of memory are "
			 "registered for all of them; take fewer queue pairs, a smaller depth or "
			 "smaller messages",
			 incast->senders, bytes, SESSION_MEMORY_MAX);
}

int incast_agree(struct incast *incast, const struct session_parameters *p, struct error *err)
{
	_cleanup_json_ json_t *message = json_object_new(), *answer = NULL;
	json_t *parameters = session_parameters_message(p);

	json_object_del(parameters, "type");
	json_object_del(parameters, "seed");
	json_put_string(message, "type", "parameters");
	json_put(message, "parameters", parameters);
	int rc = check_memory(incast, p, err);
	if (!rc && p->compare)
		rc = error_set(err, -EINVAL,
			       "perftest serves one sender: --compare does not go with --senders");
	if (!rc)
		rc = incast_channel_send(&incast->channel, message, err);
	if (!rc)
		rc = hear(incast, &answer, -1, ANSWER_MS, err);
	if (rc < 0)
		return rc;
	const char *type = json_get_string(answer, "type", "");
	if (!strcmp(type, "agreed"))
		return 0;
	return error_set(err, strcmp(type, "gone") ? -EINVAL : -ECANCELED, "%s",
			 json_get_string(answer, "text", "refused"));
}

int incast_wait(struct incast *incast, int watch, int timeout_ms, struct error *err)
{
	_cleanup_json_ json_t *answer = NULL;
	int rc = incast->waiting ? 0 : say(incast, "ready", err);

	if (rc < 0)
		return rc;
	incast->waiting = true;
	rc = hear(incast, &answer, watch, timeout_ms, err);
	if (rc)
		return rc;
	incast->waiting = false;
	if (!strcmp(json_get_string(answer, "type", ""), "go"))
		return 0;
	return error_set(err, -ECANCELED, "%s", json_get_string(answer, "text", "it is over"));
}

int incast_tell(struct incast *incast, const char *peer, json_t *records, int rc,
		const struct error *why, struct error *err)
{
	_cleanup_json_ json_t *message = json_object_new();

	json_put_string(message, "type", "outcome");
	json_put_string(message, "peer", peer);
	json_put(message, "records", json_incref(records));
	json_put_int(message, "errno", rc < 0 ? -rc : 0);
	if (rc < 0)
		json_put_string(message, "text", error_text(why));
	return incast_channel_send(&incast->channel, message, err);
}
