/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The listener's door. Strangers come in any number and say anything, or nothing: each has a slot
 * of fixed size, a time limit, and may be pushed out by newer ones, so that the one who knows the
 * token gets through at once whatever the others do.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>

#include "host/tcp.h"
#include "prove/wire.h"
#include "prove/wire_auth.h"
#include "prove/wire_frame.h"

/* Handshakes at a time. */
#define GUESTS_MAX 128
/* Connections taken before the guests are heard again: who came is heard at least once. */
#define GUESTS_PER_ROUND (GUESTS_MAX / 2)
/* For a whole handshake, two round trips: enough for a lost packet or two. */
#define GUEST_MS 5000

struct guest {
	int fd;			/* -1: the slot is free */
	char *peer;
	int64_t deadline_ms;
	uint64_t number;	/* order of arrival */
	struct wire_handshake handshake;
	uint8_t frame[WIRE_LENGTH_BYTES + WIRE_BODY_SMALL];
	size_t have;
};

struct wire_listener {
	int fd;			/* -1: the token is used up */
	int watch;		/* -1: none */
	uint16_t port;
	char token[WIRE_TOKEN_CHARS + 1];
	struct guest guests[GUESTS_MAX];
	uint64_t came, refused;
	struct error last;	/* why the last one was refused */
};

int wire_listen(struct wire_listener **listener, const char *address, uint16_t port,
		const char *token, struct error *err)
{
	char checked[WIRE_TOKEN_CHARS + 1];
	int rc = wire_token_check(checked, token, err);
	int fd = rc < 0 ? rc : tcp_listen(address, port, err);

	if (fd < 0)
		return fd;
	struct wire_listener *l = xcalloc(1, sizeof(*l));
	l->fd = fd;
	l->watch = -1;
	l->port = tcp_port(fd);
	memcpy(l->token, checked, sizeof(checked));
	for (size_t i = 0; i < GUESTS_MAX; i++)
		l->guests[i].fd = -1;
	*listener = l;
	return 0;
}

uint16_t wire_listener_port(const struct wire_listener *listener)
{
	return listener->port;
}

void wire_listener_watch(struct wire_listener *listener, int fd)
{
	listener->watch = fd;
}

uint64_t wire_listener_refused(const struct wire_listener *l, const char **last)
{
	*last = l->refused ? error_text(&l->last) : NULL;
	return l->refused;
}

static void guest_clear(struct guest *g)
{
	if (g->fd >= 0)
		close(g->fd);
	free(g->peer);
	*g = (struct guest){ .fd = -1 };
}

void wire_listener_close(struct wire_listener *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < GUESTS_MAX; i++)
		guest_clear(&l->guests[i]);
	if (l->fd >= 0)
		close(l->fd);
	error_clear(&l->last);
	explicit_bzero(l->token, sizeof(l->token));
	free(l);
}

/* `why` is emptied. */
static void guest_refuse(struct wire_listener *l, struct guest *g, struct error *why)
{
	l->refused++;
	error_wrap(why, "%s", g->peer);
	error_clear(&l->last);
	l->last = *why;
	*why = (struct error){0};
	guest_clear(g);
}

/* All at once or not: the buffer of a new connection has room for a handshake. */
static int guest_send(struct guest *g, const struct wire_reply *reply, struct error *err)
{
	uint8_t frame[WIRE_LENGTH_BYTES + WIRE_BODY_SMALL];
	size_t len = WIRE_LENGTH_BYTES + reply->len;

	if (!reply->len)
		return 0;
	wire_frame_prefix(frame, reply->len);
	memcpy(frame + WIRE_LENGTH_BYTES, reply->body, reply->len);
	ssize_t n = tcp_write(g->fd, frame, len, 0, err);
	if (n >= 0 && (size_t)n < len)
		return error_set(err, -EPROTO, "the peer takes no data");
	return n < 0 ? (int)n : 0;
}

/* Take what has come. 0, also when the handshake is not through; negative: refuse. */
static int guest_hear(struct wire_listener *l, struct guest *g, struct error *err)
{
	while (!g->handshake.done) {
		struct wire_reply reply;
		size_t len = 0;
		int rc = 0;

		if (g->have >= WIRE_LENGTH_BYTES)
			rc = wire_frame_length(g->frame, WIRE_BODY_SMALL, &len, err);
		if (rc < 0)
			return rc;
		ssize_t n = tcp_read(g->fd, g->frame + g->have, WIRE_LENGTH_BYTES + len - g->have,
				     0, err);
		if (n == -ETIMEDOUT)
			return 0;
		if (n < 0)
			return (int)n;
		g->have += (size_t)n;
		if (!len || g->have < WIRE_LENGTH_BYTES + len)
			continue;
		g->have = 0;
		rc = wire_handshake_feed(&g->handshake, l->token, g->frame + WIRE_LENGTH_BYTES, len,
					 &reply, err);
		int sent = guest_send(g, &reply, rc < 0 ? NULL : err);
		if (rc < 0 || sent < 0)
			return rc < 0 ? rc : sent;
	}
	return 0;
}

/* A free slot, or that of the guest who came first. */
static struct guest *slot(struct wire_listener *l)
{
	struct guest *oldest = &l->guests[0];

	for (size_t i = 0; i < GUESTS_MAX; i++) {
		if (l->guests[i].fd < 0)
			return &l->guests[i];
		if (l->guests[i].number < oldest->number)
			oldest = &l->guests[i];
	}
	return oldest;
}

static void push_out(struct wire_listener *l, struct guest *g)
{
	struct error why = {0};

	if (g->fd < 0)
		return;
	error_set(&why, -ETIMEDOUT, "made room for others before it proved to know the token");
	guest_refuse(l, g, &why);
}

static bool frees_descriptor(struct wire_listener *l)
{
	struct guest *oldest = NULL;

	for (size_t i = 0; i < GUESTS_MAX; i++) {
		struct guest *g = &l->guests[i];

		if (g->fd >= 0 && (!oldest || g->number < oldest->number))
			oldest = g;
	}
	if (oldest)
		push_out(l, oldest);
	return oldest;
}

/* Take up to a round of new connections. */
static int let_in(struct wire_listener *l, struct error *err)
{
	uint8_t nonce[WIRE_NONCE_BYTES];
	struct wire_reply reply;

	for (int i = 0; i < GUESTS_PER_ROUND; i++) {
		char *peer;
		int fd = tcp_accept(l->fd, &peer, err);

		if (fd == -EAGAIN)
			break;
		if (fd < 0 && frees_descriptor(l))
			continue;
		if (fd < 0)
			return fd;
		struct guest *g = slot(l);
		push_out(l, g);
		*g = (struct guest){
			.fd = fd, .peer = peer, .number = l->came++,
			.deadline_ms = clock_now_ms() + GUEST_MS,
		};
		int rc = wire_nonce_new(nonce, err);
		if (rc < 0)
			return rc;
		wire_handshake_start(&g->handshake, WIRE_LISTENER, WIRE_VERSION_MIN,
				     WIRE_VERSION_MAX, nonce, &reply);
	}
	error_clear(err);
	return 0;
}

/* Hear each guest; the one whose handshake is through, or NULL. */
static struct guest *hear_all(struct wire_listener *l)
{
	for (size_t i = 0; i < GUESTS_MAX; i++) {
		struct guest *g = &l->guests[i];
		struct error why = {0};

		if (g->fd < 0)
			continue;
		if (guest_hear(l, g, &why) < 0) {
			guest_refuse(l, g, &why);
			continue;
		}
		error_clear(&why);
		if (g->handshake.done)
			return g;
		if (clock_now_ms() >= g->deadline_ms) {
			error_set(&why, -ETIMEDOUT, "did not prove in time to know the token");
			guest_refuse(l, g, &why);
		}
	}
	return NULL;
}

/* Sleep until something happens, a guest's time is over, or `deadline_ms`. False: what is watched
 * has something to say. */
static bool wait_for_any(const struct wire_listener *l, int64_t deadline_ms)
{
	struct pollfd polled[2 + GUESTS_MAX] = {
		{ .fd = l->watch, .events = POLLIN },
		{ .fd = l->fd, .events = POLLIN },
	};
	nfds_t n = 2;

	for (size_t i = 0; i < GUESTS_MAX; i++) {
		const struct guest *g = &l->guests[i];

		if (g->fd < 0)
			continue;
		polled[n++] = (struct pollfd){ .fd = g->fd, .events = POLLIN };
		if (g->deadline_ms < deadline_ms)
			deadline_ms = g->deadline_ms;
	}
	int64_t left = deadline_ms - clock_now_ms();
	/* an error is found again, and told, by who reads next */
	(void)poll(polled, n, left < 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left);
	return !polled[0].revents;
}

/* The token is used up: nobody else is heard. */
static struct wire *serve(struct wire_listener *l, struct guest *chosen)
{
	struct wire_reply busy;
	struct wire_keys keys;

	wire_handshake_keys(&chosen->handshake, l->token, &keys);
	struct wire *wire = wire_new(chosen->fd, chosen->peer, &keys);
	explicit_bzero(&keys, sizeof(keys));
	chosen->fd = -1;
	guest_clear(chosen);
	wire_refuse(&busy, WIRE_REFUSED_BUSY);
	for (size_t i = 0; i < GUESTS_MAX; i++) {
		if (l->guests[i].fd >= 0)
			guest_send(&l->guests[i], &busy, NULL);
		guest_clear(&l->guests[i]);
	}
	close(l->fd);
	l->fd = -1;
	explicit_bzero(l->token, sizeof(l->token));
	return wire;
}

int wire_accept(struct wire **wire, struct wire_listener *l, int timeout_ms, struct error *err)
{
	int64_t deadline_ms = clock_now_ms() + timeout_ms;

	if (l->fd < 0)
		return error_set(err, -EKEYEXPIRED, "the token is used up");
	for (;;) {
		struct guest *chosen;
		int rc = let_in(l, err);

		if (rc < 0)
			return rc;
		chosen = hear_all(l);
		if (chosen) {
			*wire = serve(l, chosen);
			return 0;
		}
		if (clock_now_ms() >= deadline_ms)
			break;
		if (!wait_for_any(l, deadline_ms))
			return error_set(err, -ECANCELED, "nobody is expected on port %u any more",
					 l->port);
	}
	if (!l->refused)
		return error_set(err, -ETIMEDOUT, "nobody came to port %u in time", l->port);
	return error_set(err, -ETIMEDOUT,
			 "nobody who knows the token came to port %u in time; %llu refused, the "
			 "last: %s",
			 l->port, (unsigned long long)l->refused, error_text(&l->last));
}
