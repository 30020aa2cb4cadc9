/* SPDX-License-Identifier: Apache-2.0 */
/* Hands on the path: handshakes and frames that are changed, repeated, moved, cut, sent back. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "pair.h"
#include "prove/wire.h"

#define PATIENCE_MS 20000

/* --- handshakes ------------------------------------------------------------------------------- */

struct shake {
	struct wire_handshake connector, listener;
	struct wire_reply up, down;
};

static void shake_start(struct shake *s, uint16_t connector_min, uint16_t connector_max,
			uint16_t listener_min, uint16_t listener_max)
{
	static const uint8_t nonces[2][WIRE_NONCE_BYTES] = { { 5 }, { 6 } };

	wire_handshake_start(&s->listener, WIRE_LISTENER, listener_min, listener_max, nonces[0],
			     &s->down);
	assert_int_equal(s->down.len, 0);
	wire_handshake_start(&s->connector, WIRE_CONNECTOR, connector_min, connector_max, nonces[1],
			     &s->up);
}

static int to_listener(struct shake *s, struct error *err)
{
	return wire_handshake_feed(&s->listener, PAIR_TOKEN, s->up.body, s->up.len, &s->down, err);
}

static int to_connector(struct shake *s, struct error *err)
{
	return wire_handshake_feed(&s->connector, PAIR_TOKEN, s->down.body, s->down.len, &s->up,
				   err);
}

static void test_versions(void **state RH_UNUSED)
{
	_cleanup_error_ struct error up = {0}, down = {0};
	struct shake s;

	/* the highest of both */
	shake_start(&s, 1, 4, 2, 9);
	assert_int_equal(to_listener(&s, NULL), 0);
	assert_int_equal(to_connector(&s, NULL), 0);
	assert_int_equal(to_listener(&s, NULL), 0);
	assert_int_equal(to_connector(&s, NULL), 0);
	assert_true(s.connector.done && s.listener.done);
	assert_int_equal(s.connector.version, 4);
	assert_int_equal(s.listener.version, 4);

	/* none: each end names both */
	shake_start(&s, 1, 2, 3, 65535);
	assert_int_equal(to_listener(&s, &down), -EPROTONOSUPPORT);
	assert_string_equal(down.message, "the peer speaks versions 1 to 2 of the protocol, this "
					  "end 3 to 65535");
	assert_int_equal(to_connector(&s, &up), -EPROTONOSUPPORT);
	assert_string_equal(up.message, "the peer speaks versions 3 to 65535 of the protocol, this "
					"end 1 to 2");
	/* an empty range */
	shake_start(&s, 2, 1, 1, 2);
	assert_int_equal(to_listener(&s, &down), -EPROTONOSUPPORT);
}

/* Every bit of every body, changed on the way, keeps at least one end from being convinced. */
static void test_changed_handshake(void **state RH_UNUSED)
{
	static const size_t lens[] = { WIRE_HELLO_BYTES, WIRE_HELLO_BYTES, 1 + DIGEST_BYTES,
				       1 + DIGEST_BYTES };

	for (size_t step = 0; step < ARRAY_SIZE(lens); step++) {
		for (size_t bit = 0; bit < 8 * lens[step]; bit++) {
			struct shake s;
			int rc = 0;

			shake_start(&s, 1, 9, 1, 9);
			for (size_t i = 0; i < ARRAY_SIZE(lens) && rc == 0; i++) {
				struct wire_reply *r = i % 2 ? &s.down : &s.up;

				assert_int_equal(r->len, lens[i]);
				if (i == step)
					r->body[bit / 8] ^= (uint8_t)(1u << bit % 8);
				rc = i % 2 ? to_connector(&s, NULL) : to_listener(&s, NULL);
			}
			assert_true(rc < 0);
			assert_false(s.connector.done);
			/* the listener is only convinced by an unchanged connector */
			assert_true(!s.listener.done || step == 3);
		}
	}
}

/* What a later version appends to its hello is covered too. */
static void test_longer_hello(void **state RH_UNUSED)
{
	struct shake s;

	shake_start(&s, 1, 1, 1, 1);
	s.up.body[s.up.len++] = 'x';	/* on the way: the connector did not say it */
	assert_int_equal(to_listener(&s, NULL), 0);
	assert_int_equal(to_connector(&s, NULL), 0);
	assert_int_equal(to_listener(&s, NULL), -EACCES);
	assert_int_equal(s.down.len, 2);
	/* longer than the frame of a stranger may be */
	uint8_t long_body[WIRE_BODY_SMALL + 1] = {0};
	shake_start(&s, 1, 1, 1, 1);
	memcpy(long_body, s.up.body, s.up.len);
	assert_int_equal(wire_handshake_feed(&s.listener, PAIR_TOKEN, long_body, sizeof(long_body),
					     &s.down, NULL), -EPROTO);
}

/* A listener's words are no connector's: a stranger gains nothing by letting two ends talk. */
static void test_reflection(void **state RH_UNUSED)
{
	struct shake s;
	struct wire_reply reply;

	shake_start(&s, 1, 1, 1, 1);
	assert_int_equal(wire_handshake_feed(&s.connector, PAIR_TOKEN, s.up.body, s.up.len, &reply,
					     NULL), -EPROTO);
	shake_start(&s, 1, 1, 1, 1);
	assert_int_equal(to_listener(&s, NULL), 0);
	assert_int_equal(to_connector(&s, NULL), 0);
	/* its own proof back to the connector */
	assert_int_equal(wire_handshake_feed(&s.connector, PAIR_TOKEN, s.up.body, s.up.len, &reply,
					     NULL), -EACCES);
	/* the listener's hello to a listener */
	struct wire_handshake other;
	wire_handshake_start(&other, WIRE_LISTENER, 1, 1, (const uint8_t[WIRE_NONCE_BYTES]){ 7 },
			     &reply);
	assert_int_equal(wire_handshake_feed(&other, PAIR_TOKEN, s.listener.hello,
					     WIRE_HELLO_BYTES, &reply, NULL), -EPROTO);
	assert_int_equal(reply.len, 0);
}

/* --- frames ----------------------------------------------------------------------------------- */

static const char text[] = "{\"type\":\"x\",\"n\":1}";

/* A wire whose peer is the test, which writes what it likes. */
struct path {
	struct wire *wire;
	int fd;
	struct pair_keys keys;
	struct error err;
};

static void path_open(struct path *p)
{
	int ends[2];

	*p = (struct path){0};
	pair_keys(&p->keys);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
	p->wire = wire_new(ends[0], "peer", &p->keys.connector);
	p->fd = ends[1];
}

static void path_close(struct path *p)
{
	wire_close(p->wire);
	if (p->fd >= 0)
		close(p->fd);
	error_clear(&p->err);
}

static uint8_t *sealed(const struct path *p, uint64_t sequence, const char *what, size_t *len)
{
	uint8_t *frame;

	assert_int_equal(wire_frame_seal(&frame, len, p->keys.listener.send, sequence, what,
					 strlen(what), NULL), 0);
	return frame;
}

static void put(struct path *p, const uint8_t *frame, size_t len)
{
	assert_int_equal(send(p->fd, frame, len, MSG_NOSIGNAL), len);
}

static int get(struct path *p)
{
	_cleanup_json_ json_t *m = NULL;
	int rc = wire_receive(p->wire, "x", &m, PATIENCE_MS, &p->err);

	assert_int_equal(!!m, rc == 0);
	return rc;
}

/* Keys and a frame as another implementation of wire.c's description has them. */
static void test_vectors(void **state RH_UNUSED)
{
	static const uint8_t key[DIGEST_BYTES] = {
		0x1f, 0x66, 0xb4, 0xda, 0xc8, 0xab, 0x54, 0xb1, 0x1b, 0x78, 0x35, 0xfe, 0x73, 0x3e,
		0x97, 0x3a, 0x12, 0x85, 0x64, 0x94, 0xc8, 0x2e, 0x46, 0xdf, 0x90, 0xee, 0x16, 0x43,
		0xf3, 0x49, 0x8d, 0x09,
	};
	static const uint8_t mac[DIGEST_BYTES] = {
		0xbe, 0xe9, 0xc6, 0xc5, 0xd0, 0x0a, 0x3a, 0x6b, 0x5f, 0xc4, 0xa9, 0x9e, 0xd1, 0x85,
		0xe0, 0x86, 0x78, 0x14, 0xd4, 0xee, 0x92, 0xcb, 0x65, 0xa6, 0x78, 0xd6, 0xc5, 0xcb,
		0xc9, 0x57, 0xa8, 0xbd,
	};
	static const char short_text[] = "{\"type\":\"x\"}";
	_cleanup_free_ uint8_t *frame = NULL;
	struct pair_keys keys;
	size_t len;

	pair_keys(&keys);
	assert_memory_equal(keys.connector.send, key, sizeof(key));
	assert_memory_equal(keys.listener.receive, key, sizeof(key));
	assert_int_equal(wire_frame_seal(&frame, &len, key, 7, short_text, strlen(short_text),
					 NULL), 0);
	assert_int_equal(len, WIRE_LENGTH_BYTES + strlen(short_text) + DIGEST_BYTES);
	assert_memory_equal(frame, "\0\0\0\x2c", WIRE_LENGTH_BYTES);
	assert_memory_equal(frame + WIRE_LENGTH_BYTES, short_text, strlen(short_text));
	assert_memory_equal(frame + len - DIGEST_BYTES, mac, sizeof(mac));
}

static void test_changed_frame(void **state RH_UNUSED)
{
	struct path p;
	size_t len;

	path_open(&p);
	_cleanup_free_ uint8_t *frame = sealed(&p, 0, text, &len);
	put(&p, frame, len);
	assert_int_equal(get(&p), 0);
	path_close(&p);
	for (size_t bit = 0; bit < 8 * len; bit++) {
		path_open(&p);
		frame[bit / 8] ^= (uint8_t)(1u << bit % 8);
		put(&p, frame, len);
		frame[bit / 8] ^= (uint8_t)(1u << bit % 8);
		shutdown(p.fd, SHUT_WR);
		int rc = get(&p);
		/* a length that was raised: the rest does not come, or none of that length may */
		if (bit < 32)
			assert_true(rc == -EBADMSG || rc == -ECONNRESET || rc == -EPROTO);
		else
			assert_int_equal(rc, -EBADMSG);
		assert_int_equal(get(&p), -ENOTCONN);
		path_close(&p);
	}
}

static void test_order(void **state RH_UNUSED)
{
	struct path p;
	size_t len[3];
	uint8_t *frames[3];

	path_open(&p);
	for (size_t i = 0; i < 3; i++)
		frames[i] = sealed(&p, i, text, &len[i]);
	put(&p, frames[0], len[0]);	/* twice */
	put(&p, frames[0], len[0]);
	assert_int_equal(get(&p), 0);
	assert_int_equal(get(&p), -EBADMSG);
	assert_non_null(strstr(p.err.message, "frame 1"));
	path_close(&p);

	path_open(&p);
	put(&p, frames[0], len[0]);	/* one left out */
	put(&p, frames[2], len[2]);
	assert_int_equal(get(&p), 0);
	assert_int_equal(get(&p), -EBADMSG);
	path_close(&p);

	path_open(&p);
	put(&p, frames[0], len[0]);
	put(&p, frames[1], len[1]);
	put(&p, frames[2], len[2]);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(get(&p), 0);
	path_close(&p);
	for (size_t i = 0; i < 3; i++)
		free(frames[i]);
}

/* A frame that comes back to its sender. */
static void test_frame_reflected(void **state RH_UNUSED)
{
	_cleanup_json_ json_t *m = json_pack("{s:s}", "type", "x");
	uint8_t frame[256];
	struct path p;

	path_open(&p);
	assert_int_equal(wire_send(p.wire, m, PATIENCE_MS, &p.err), 0);
	ssize_t len = recv(p.fd, frame, sizeof(frame), 0);
	assert_true(len > DIGEST_BYTES);
	put(&p, frame, (size_t)len);
	assert_int_equal(get(&p), -EBADMSG);
	path_close(&p);
}

static void test_cut(void **state RH_UNUSED)
{
	struct path p;
	size_t len;

	path_open(&p);
	_cleanup_free_ uint8_t *frame = sealed(&p, 0, text, &len);
	path_close(&p);
	for (size_t n = 0; n < len; n++) {
		path_open(&p);
		put(&p, frame, n);
		close(p.fd);
		p.fd = -1;
		assert_int_equal(get(&p), -ECONNRESET);
		path_close(&p);
	}
}

static void test_lengths(void **state RH_UNUSED)
{
	static const struct {
		uint8_t prefix[WIRE_LENGTH_BYTES];
		int rc;
	} lengths[] = {
		{ { 0, 0, 0, 0 }, -EPROTO },
		{ { 0, 0, 0, 31 }, -EBADMSG },		/* less than a MAC */
		{ { 0, 0, 0, 32 }, -EBADMSG },
		{ { 0, 0x10, 0, 0 }, -ECONNRESET },	/* 1 MiB, which does not come */
		{ { 0, 0x10, 0, 1 }, -EPROTO },
		{ { 0xff, 0xff, 0xff, 0xff }, -EPROTO },
	};
	static const uint8_t zeros[32];

	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		struct path p;

		path_open(&p);
		put(&p, lengths[i].prefix, WIRE_LENGTH_BYTES);
		put(&p, zeros, sizeof(zeros));
		shutdown(p.fd, SHUT_WR);
		assert_int_equal(get(&p), lengths[i].rc);
		path_close(&p);
	}
}

/* A peer that knows the token and means no good. */
static void test_messages(void **state RH_UNUSED)
{
	_cleanup_strbuf_ struct strbuf deep = {0}, wide = {0};
	const char *wrong[] = {
		"", "x", "[]", "{}", "{\"type\":1}", "{\"type\":\"x\"}}", "{\"type\":\"x\\u0000\"}",
		"{\"type\":\"x\",\"type\":\"x\"}", "{\"type\":\"\xff\"}", NULL, NULL,
	};
	struct path p;
	size_t len;

	strbuf_puts(&deep, "{\"type\":\"x\",\"a\":");
	for (int i = 0; i < 10000; i++)
		strbuf_putc(&deep, '[');
	strbuf_puts(&wide, "{\"type\":\"x\",\"a\":[");
	for (size_t i = 0; i < WIRE_VALUES_MAX; i++)
		strbuf_puts(&wide, "[],");
	strbuf_puts(&wide, "0]}");
	wrong[ARRAY_SIZE(wrong) - 2] = deep.s;
	wrong[ARRAY_SIZE(wrong) - 1] = wide.s;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		path_open(&p);
		_cleanup_free_ uint8_t *frame = sealed(&p, 0, wrong[i], &len);
		_cleanup_free_ uint8_t *next = sealed(&p, 1, text, &len);
		size_t first = WIRE_LENGTH_BYTES + strlen(wrong[i]) + DIGEST_BYTES;

		/* a socket of this kind takes about 200 KB at once */
		for (size_t at = 0; at < first;) {
			_cleanup_json_ json_t *m = NULL;
			ssize_t n = send(p.fd, frame + at, first - at, MSG_NOSIGNAL);

			if (n > 0)
				at += (size_t)n;
			else
				assert_int_equal(wire_receive(p.wire, "x", &m, 0, &p.err),
						 -ETIMEDOUT);
		}
		assert_int_equal(get(&p), -EPROTO);
		/* the frame was the peer's: the channel stands */
		put(&p, next, len);
		assert_int_equal(get(&p), 0);
		path_close(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_changed_handshake),
		cmocka_unit_test(test_longer_hello),
		cmocka_unit_test(test_reflection),
		cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_changed_frame),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_frame_reflected),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
