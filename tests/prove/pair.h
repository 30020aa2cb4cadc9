/* SPDX-License-Identifier: Apache-2.0 */
/* Two ends of a control channel in one process. Include after cmocka.h. */
#pragma once

#include <string.h>
#include <sys/socket.h>

#include "prove/wire_auth.h"

#define PAIR_TOKEN "abcdefghijklmnopqrstuvwxyz"

struct pair_keys {
	struct wire_keys connector, listener;
};

/* Both sides of a handshake, without sockets. */
static inline RH_UNUSED void pair_keys(struct pair_keys *keys)
{
	static const uint8_t nonces[2][WIRE_NONCE_BYTES] = { { 1 }, { 2 } };
	struct wire_handshake connector, listener;
	struct wire_reply up, down;

	wire_handshake_start(&listener, WIRE_LISTENER, WIRE_VERSION_MIN, WIRE_VERSION_MAX,
			     nonces[0], &down);
	wire_handshake_start(&connector, WIRE_CONNECTOR, WIRE_VERSION_MIN, WIRE_VERSION_MAX,
			     nonces[1], &up);
	while (!connector.done) {
		assert_int_equal(wire_handshake_feed(&listener, PAIR_TOKEN, up.body, up.len, &down,
						     NULL), 0);
		assert_int_equal(wire_handshake_feed(&connector, PAIR_TOKEN, down.body, down.len,
						     &up, NULL), 0);
	}
	assert_true(listener.done);
	wire_handshake_keys(&connector, PAIR_TOKEN, &keys->connector);
	wire_handshake_keys(&listener, PAIR_TOKEN, &keys->listener);
}

/* Two connected wires, which the caller closes. */
static inline RH_UNUSED void wire_pair(struct wire **connector, struct wire **listener)
{
	struct pair_keys keys;
	int ends[2];

	pair_keys(&keys);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends),
			 0);
	*connector = wire_new(ends[0], "listener", &keys.connector);
	*listener = wire_new(ends[1], "connector", &keys.listener);
}
