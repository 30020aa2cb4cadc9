/* SPDX-License-Identifier: Apache-2.0 */
/* The leader of an incast: holds each session until all have come to the same point. */
#include "prove/incast.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "base/alloc.h"
#include "prove/incast_channel.h"

struct member {
	struct incast_channel channel;
	struct incast_outcome *outcome;
	bool ready;	/* waits for the others */
	bool told;	/* its outcome is known: it waits for nobody any more */
};

struct lead {
	struct member *members;
	unsigned n;
	json_t *parameters;	/* of the first that came; the others have the same */
	bool warned;		/* all know that one is gone */
};

/* How a parameter of a later session differs from the first one's, as "size_max is 4096, and
 * 1048576 for those before"; NULL: it does not. The caller frees. */
static char *difference(json_t *first, json_t *later)
{
	_cleanup_json_ json_t *both = json_copy(first);
	const char *key;
	json_t *value;

	json_object_update_missing(both, later);
	json_object_foreach(both, key, value) {
		json_t *a = json_object_get(first, key), *b = json_object_get(later, key);
		_cleanup_free_ char *then = a ? json_dumps(a, JSON_ENCODE_ANY) : NULL;
		_cleanup_free_ char *now = b ? json_dumps(b, JSON_ENCODE_ANY) : NULL;

		if (!then || !now || strcmp(then, now))
			return xasprintf("%s is %s, and %s for the sender that came first", key,
					 now ? now : "absent", then ? then : "absent");
	}
	return NULL;
}

/* A session that is gone does not hear it; that is seen when it is read. */
static void answer(struct member *m, const char *type, const char *text)
{
	_cleanup_json_ json_t *message = json_object_new();

	json_put_string(message, "type", type);
	json_put_string(message, "text", text);
	incast_channel_send(&m->channel, message, NULL);
}

static void compare(struct lead *lead, struct member *m, json_t *parameters)
{
	if (!lead->parameters)
		lead->parameters = json_incref(parameters);
	_cleanup_free_ char *text = difference(lead->parameters, parameters);

	if (!text) {
		answer(m, "agreed", NULL);
		return;
	}
	_cleanup_free_ char *refusal = xasprintf("all senders run the same: %s", text);
	answer(m, "refused", refusal);
}

static void keep(struct member *m, json_t *message)
{
	struct incast_outcome *outcome = m->outcome;
	const char *peer = json_get_string(message, "peer", NULL);
	json_t *records = json_object_get(message, "records");

	m->told = true;
	m->ready = false;
	outcome->peer = peer ? xstrdup(peer) : NULL;
	outcome->records = json_incref(records);
	outcome->rc = -(int)json_get_int(message, "errno", 0);
	if (outcome->rc < 0)
		error_set(&outcome->why, outcome->rc, "%s", json_get_string(message, "text", ""));
}

static void handle(struct lead *lead, struct member *m, json_t *message)
{
	const char *type = json_get_string(message, "type", "");

	if (m->told)
		return;
	if (!strcmp(type, "parameters"))
		compare(lead, m, json_object_get(message, "parameters"));
	else if (!strcmp(type, "ready"))
		m->ready = true;
	else if (!strcmp(type, "outcome"))
		keep(m, message);
}

/* All that it has said, up to its end. */
static void listen_to(struct lead *lead, struct member *m)
{
	_cleanup_error_ struct error err = {0};
	int rc;

	do {
		_cleanup_json_ json_t *message = NULL;

		rc = incast_channel_take(&m->channel, &message, &err);
		if (rc > 0)
			handle(lead, m, message);
	} while (rc > 0);
	if (rc == 0)
		return;
	incast_channel_close(&m->channel);
	m->ready = false;
	if (!m->told)
		m->outcome->rc = error_set(&m->outcome->why, -ECHILD,
					   "the process that served it ended without a word");
	m->told = true;
}

/* Somebody never comes again: tell all others, also those that do not wait for them yet. */
static void warn(struct lead *lead, const struct member *gone)
{
	const struct incast_outcome *outcome = gone->outcome;
	_cleanup_free_ char *text =
		xasprintf("sender %u of %u is gone%s%s", (unsigned)(gone - lead->members) + 1,
			  lead->n, outcome->rc < 0 ? ": " : "",
			  outcome->rc < 0 ? error_text(&outcome->why) : "");

	for (unsigned i = 0; i < lead->n; i++)
		if (!lead->members[i].told)
			answer(&lead->members[i], "gone", text);
	lead->warned = true;
}

/* Let all go, when nobody is missing. */
static void let_go(struct lead *lead)
{
	const struct member *gone = NULL;
	unsigned ready = 0;

	for (unsigned i = 0; i < lead->n; i++) {
		ready += lead->members[i].ready;
		if (lead->members[i].told && (!gone || lead->members[i].outcome->rc < 0))
			gone = &lead->members[i];
	}
	if (gone && !lead->warned)
		warn(lead, gone);
	if (gone || ready < lead->n)
		return;
	for (unsigned i = 0; i < lead->n; i++) {
		lead->members[i].ready = false;
		answer(&lead->members[i], "go", NULL);
	}
}

/* False: all have ended. */
static bool wait_for_any(const struct lead *lead, struct pollfd *polled)
{
	bool any = false;

	for (unsigned i = 0; i < lead->n; i++) {
		polled[i] = (struct pollfd){ .fd = lead->members[i].channel.fd, .events = POLLIN };
		any |= polled[i].fd >= 0;
	}
	/* interrupted: those who end by that are heard next */
	if (any && poll(polled, lead->n, -1) < 0)
		memset(polled, 0, lead->n * sizeof(*polled));
	return any;
}

void incast_lead(const int *fds, unsigned n, struct incast_outcome *outcomes)
{
	struct lead lead = { .members = xcalloc(n, sizeof(*lead.members)), .n = n };
	_cleanup_free_ struct pollfd *polled = xcalloc(n, sizeof(*polled));

	for (unsigned i = 0; i < n; i++) {
		outcomes[i] = (struct incast_outcome){0};
		lead.members[i].channel.fd = fds[i];
		lead.members[i].outcome = &outcomes[i];
	}
	while (wait_for_any(&lead, polled)) {
		for (unsigned i = 0; i < n; i++) {
			if (polled[i].revents)
				listen_to(&lead, &lead.members[i]);
		}
		let_go(&lead);
	}
	json_decref(lead.parameters);
	free(lead.members);
}

void incast_outcome_clear(struct incast_outcome *outcome)
{
	free(outcome->peer);
	json_decref(outcome->records);
	error_clear(&outcome->why);
	*outcome = (struct incast_outcome){0};
}
