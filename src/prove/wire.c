/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control channel, version 1.
 *
 * Framing. TCP carries frames: a length as 32 bits, big endian, and a body of that many bytes, at
 * least one; at most 256 until the peer has proved that it knows the token, at most 1 MiB after.
 *
 * Handshake. The first byte of a body is its kind; numbers are big endian.
 *
 *	connector	listener
 *	hello ->			1, "RHPROVE", 'C', lowest version (16 bits), highest
 *					version (16 bits), nonce (32 bytes)
 *			<- hello	the same with 'L'
 *	proof ->			2, 32 bytes
 *			<- proof	2, 32 bytes
 *			<- refusal	3, reason (1 the token is wrong, 2 busy): instead of a
 *					hello or a proof
 *
 * The version is the highest that both speak. A later version may append to its hello and not
 * change what is there. Keys come from HKDF-SHA256 (RFC 5869): the secret is the token, the salt
 * is the SHA-256 of the SHA-256s of both hellos, the connector's first, the info is a text for
 * each purpose (wire_auth.c). A proof is the key for the purpose of its role. Both nonces, both
 * ranges of versions and the role are thus under each proof: a recorded handshake, one reflected
 * to its sender, and one whose versions were changed on the way all fail. The connector proves
 * first: a stranger gets nothing from a listener but its versions and a nonce. The token has 128
 * random bits, so that recorded proofs do not lead to it, and opens one session.
 *
 * Messages. Then a body is a JSON text followed by a MAC: HMAC-SHA256 over the number of the frame
 * (64 bits, from 0, not sent), the length prefix, and the text, under a key of the direction. A
 * frame that is changed, injected, left out, repeated, moved, or sent back ends the session.
 *
 * Trust. Who has the token may run the test; the token reaches the other node by the hand of the
 * operator. Nobody else on the network can take part or change anything. Nothing is encrypted, so
 * who can read the path reads facts of both nodes, results, and rkeys, QP and packet numbers. An
 * rkey stands in the clear in each RDMA request as well, and RoCE authenticates no packet: who can
 * read and inject on the path can forge RDMA whatever happens here. What bounds the harm is that
 * only memory of the test is registered, it holds a pattern and nothing else, and registration and
 * queue pairs end with the session.
 */
#include "prove/wire.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "base/text.h"
#include "host/tcp.h"
#include "prove/wire_auth.h"
#include "prove/wire_frame.h"

/* To tell the peer why we stop, when it may not be listening any more. */
#define SEND_ERROR_MS 1000

struct wire {
	int fd;
	char *peer;
	struct wire_keys keys;
	uint64_t sent, received;	/* frames */
	json_t *detail;			/* of the peer's error */
	bool broken;			/* a frame is half sent, or was not the peer's */
	/* the frame that is coming in */
	uint8_t prefix[WIRE_LENGTH_BYTES];
	uint8_t *body;			/* NULL until its length is known */
	size_t body_len;
	size_t have;			/* bytes of prefix and body */
};

int wire_nonce_new(uint8_t nonce[WIRE_NONCE_BYTES], struct error *err)
{
	if (getrandom(nonce, WIRE_NONCE_BYTES, 0) != WIRE_NONCE_BYTES)
		return error_set_errno(err, -errno, "getrandom");
	return 0;
}

int wire_token_new(char token[WIRE_TOKEN_CHARS + 1], struct error *err)
{
	uint8_t random[WIRE_TOKEN_BYTES];

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return error_set_errno(err, -errno, "getrandom");
	wire_token_encode(token, random);
	explicit_bzero(random, sizeof(random));
	return 0;
}

struct wire *wire_new(int fd, const char *peer, const struct wire_keys *keys)
{
	struct wire *wire = xcalloc(1, sizeof(*wire));

	wire->fd = fd;
	wire->peer = xstrdup(peer);
	wire->keys = *keys;
	return wire;
}

void wire_close(struct wire *wire)
{
	if (!wire)
		return;
	close(wire->fd);
	free(wire->peer);
	free(wire->body);
	json_decref(wire->detail);
	explicit_bzero(&wire->keys, sizeof(wire->keys));
	free(wire);
}

int wire_fd(const struct wire *wire)
{
	return wire->fd;
}

const char *wire_peer(const struct wire *wire)
{
	return wire->peer;
}

static int write_all(int fd, const uint8_t *data, size_t len, int64_t deadline_ms,
		     struct error *err)
{
	while (len) {
		ssize_t n = tcp_write(fd, data, len, deadline_ms, err);

		if (n < 0)
			return (int)n;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

static int read_all(int fd, uint8_t *data, size_t len, int64_t deadline_ms, struct error *err)
{
	while (len) {
		ssize_t n = tcp_read(fd, data, len, deadline_ms, err);

		if (n < 0)
			return (int)n;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

/* --- connecting ------------------------------------------------------------------------------- */

static int send_reply(int fd, const struct wire_reply *reply, int64_t deadline_ms,
		      struct error *err)
{
	uint8_t frame[WIRE_LENGTH_BYTES + WIRE_BODY_SMALL];

	if (!reply->len)
		return 0;
	wire_frame_prefix(frame, reply->len);
	memcpy(frame + WIRE_LENGTH_BYTES, reply->body, reply->len);
	return write_all(fd, frame, WIRE_LENGTH_BYTES + reply->len, deadline_ms, err);
}

static int shake_hands(int fd, struct wire_handshake *h, struct wire_reply *reply,
		       const char *token, int64_t deadline_ms, struct error *err)
{
	uint8_t prefix[WIRE_LENGTH_BYTES], body[WIRE_BODY_SMALL];
	size_t len;
	int rc = send_reply(fd, reply, deadline_ms, err);

	while (rc == 0 && !h->done) {
		rc = read_all(fd, prefix, sizeof(prefix), deadline_ms, err);
		if (rc == 0)
			rc = wire_frame_length(prefix, sizeof(body), &len, err);
		if (rc == 0)
			rc = read_all(fd, body, len, deadline_ms, err);
		if (rc == 0)
			rc = wire_handshake_feed(h, token, body, len, reply, err);
		if (rc == 0)
			rc = send_reply(fd, reply, deadline_ms, err);
	}
	return rc;
}

int wire_connect(struct wire **wire, const char *host, uint16_t port, const char *token,
		 int timeout_ms, struct error *err)
{
	int64_t deadline_ms = clock_now_ms() + timeout_ms;
	uint8_t nonce[WIRE_NONCE_BYTES];
	char checked[WIRE_TOKEN_CHARS + 1];
	struct wire_handshake h;
	struct wire_reply reply;
	struct wire_keys keys;
	_cleanup_free_ char *peer = NULL;
	int rc = wire_token_check(checked, token, err);

	if (rc == 0)
		rc = wire_nonce_new(nonce, err);
	if (rc < 0)
		return rc;
	_cleanup_close_ int fd = tcp_connect(host, port, deadline_ms, &peer, err);
	if (fd < 0)
		return fd;
	wire_handshake_start(&h, WIRE_CONNECTOR, WIRE_VERSION_MIN, WIRE_VERSION_MAX, nonce, &reply);
	rc = shake_hands(fd, &h, &reply, checked, deadline_ms, err);
	if (rc < 0) {
		error_wrap(err, "%s port %u", host, port);
		return rc;
	}
	wire_handshake_keys(&h, checked, &keys);
	*wire = wire_new(fd, peer, &keys);
	fd = -1;
	explicit_bzero(&keys, sizeof(keys));
	return 0;
}

/* --- messages --------------------------------------------------------------------------------- */

static int check_usable(const struct wire *wire, struct error *err)
{
	if (wire->broken)
		return error_set(err, -ENOTCONN, "the control channel failed before");
	return 0;
}

static int read_frame(struct wire *wire, int64_t deadline_ms, struct error *err)
{
	while (!wire->body || wire->have < WIRE_LENGTH_BYTES + wire->body_len) {
		size_t have = wire->have - (wire->body ? WIRE_LENGTH_BYTES : 0);
		size_t want = wire->body ? wire->body_len : WIRE_LENGTH_BYTES;
		uint8_t *into = wire->body ? wire->body : wire->prefix;
		ssize_t n = tcp_read(wire->fd, into + have, want - have, deadline_ms, err);

		if (n < 0)
			return (int)n;
		wire->have += (size_t)n;
		if (wire->body || wire->have < WIRE_LENGTH_BYTES)
			continue;
		int rc = wire_frame_length(wire->prefix, WIRE_BODY_LARGE, &wire->body_len, err);
		if (rc < 0)
			return rc;
		wire->body = xmalloc(wire->body_len);
	}
	return 0;
}

static int read_message(struct wire *wire, json_t **message, int64_t deadline_ms, struct error *err)
{
	int rc = read_frame(wire, deadline_ms, err);

	if (rc == -ETIMEDOUT)
		return rc;
	_cleanup_free_ uint8_t *body = wire->body;
	size_t len = wire->body_len;

	wire->body = NULL;
	wire->have = 0;
	if (rc == 0)
		rc = wire_frame_open(wire->keys.receive, wire->received++, body, &len, err);
	if (rc < 0) {
		wire->broken = true;
		return rc;
	}
	return wire_message_parse(message, body, len, err);
}

static int take_message(struct wire *wire, const char *type, json_t **message, int64_t deadline_ms,
			struct error *err)
{
	_cleanup_json_ json_t *came = NULL;
	int rc = check_usable(wire, err);

	if (rc == 0)
		rc = read_message(wire, &came, deadline_ms, err);
	if (rc < 0)
		return rc;

	const char *is = json_get_string(came, "type", "");
	if (strcmp(is, "error") == 0) {
		const char *text = json_get_string(came, "text", "an error without a text");
		_cleanup_free_ char *safe = text_printable(text, strlen(text));

		json_decref(wire->detail);
		wire->detail = json_incref(json_object_get(came, "detail"));
		return error_set(err, -EREMOTEIO, "the other end: %s", safe);
	}
	if (type && strcmp(is, type) != 0) {
		_cleanup_free_ char *safe = text_printable(is, strlen(is));
		return error_set(err, -EPROTO, "a message \"%s\" came where \"%s\" was expected",
				 safe, type);
	}
	*message = came;
	came = NULL;
	return 0;
}

int wire_receive(struct wire *wire, const char *type, json_t **message, int timeout_ms,
		 struct error *err)
{
	int rc = take_message(wire, type, message, clock_now_ms() + timeout_ms, err);

	if (rc < 0)
		error_wrap(err, "control channel to %s", wire->peer);
	return rc;
}

/* Why the peer went, when it said so before. */
static int last_words(struct wire *wire, struct error *err)
{
	_cleanup_json_ json_t *message = NULL;
	_cleanup_error_ struct error found = {0};
	int64_t now = clock_now_ms();
	int rc;

	do {
		json_decref(message);
		message = NULL;
		rc = take_message(wire, NULL, &message, now, &found);
	} while (rc == 0);
	return rc == -EREMOTEIO ? error_set(err, rc, "%s", found.message) : -ECONNRESET;
}

int wire_send(struct wire *wire, json_t *message, int timeout_ms, struct error *err)
{
	int64_t deadline_ms = clock_now_ms() + timeout_ms;
	_cleanup_free_ char *text = json_to_text(message, false);
	_cleanup_free_ uint8_t *frame = NULL;
	size_t len;
	int rc = check_usable(wire, err);

	if (rc == 0)
		rc = wire_frame_seal(&frame, &len, wire->keys.send, wire->sent, text, strlen(text),
				     err);
	if (rc == 0) {
		wire->sent++;
		rc = write_all(wire->fd, frame, len, deadline_ms, err);
		if (rc == -ECONNRESET)
			rc = last_words(wire, err);
		if (rc < 0)
			wire->broken = true;
	}
	if (rc < 0)
		error_wrap(err, "control channel to %s", wire->peer);
	return rc;
}

json_t *wire_error_detail(const struct wire *wire)
{
	return wire->detail;
}

void wire_send_error(struct wire *wire, const struct error *why)
{
	wire_send_error_detail(wire, why, NULL);
}

void wire_send_error_detail(struct wire *wire, const struct error *why, json_t *detail)
{
	_cleanup_json_ json_t *message = json_object_new();

	json_put_string(message, "type", "error");
	json_put_string(message, "text", error_text(why));
	json_put(message, "detail", json_incref(detail));
	wire_send(wire, message, SEND_ERROR_MS, NULL);
}
