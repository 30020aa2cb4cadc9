/* SPDX-License-Identifier: Apache-2.0 */
/* A whole handshake as someone on the path writes it down. Include after cmocka.h. */
#pragma once

#include "pair.h"

struct script {
	uint8_t bytes[1024];
	size_t len;
};

static inline void script_add(struct script *s, const struct wire_reply *reply)
{
	wire_frame_prefix(s->bytes + s->len, reply->len);
	memcpy(s->bytes + s->len + WIRE_LENGTH_BYTES, reply->body, reply->len);
	s->len += WIRE_LENGTH_BYTES + reply->len;
}

/* Up what the connector says, down what the listener says. */
static inline RH_UNUSED void session(struct script *up, struct script *down, const char *token)
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
