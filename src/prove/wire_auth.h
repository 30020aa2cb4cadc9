/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The handshake of the control channel as a function on bytes: bodies of frames go in, bodies of
 * frames come out. No sockets, no clock. Format: wire.c.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/error.h"
#include "prove/wire.h"
#include "prove/wire_frame.h"

#define WIRE_NONCE_BYTES 32
#define WIRE_HELLO_BYTES (1 + 8 + 2 + 2 + WIRE_NONCE_BYTES)

enum wire_role { WIRE_CONNECTOR = 'C', WIRE_LISTENER = 'L' };

/* Why an end refuses the other, as one byte in a refusal. */
enum wire_refusal { WIRE_REFUSED_TOKEN = 1, WIRE_REFUSED_BUSY = 2 };

struct wire_handshake {
	enum wire_role role;
	uint16_t version_min, version_max;	/* that this end speaks */
	uint8_t hello[WIRE_HELLO_BYTES];	/* own */
	uint8_t peer_hello[WIRE_BODY_SMALL];
	size_t peer_hello_len;			/* 0: it has not come */
	uint16_t version;			/* agreed on */
	bool done;
};

/* What is to be sent: the body of a frame. */
struct wire_reply {
	uint8_t body[WIRE_BODY_SMALL];
	size_t len;		/* 0: nothing */
};

/* Keys of the two directions, once the handshake is done. */
struct wire_keys {
	uint8_t send[DIGEST_BYTES], receive[DIGEST_BYTES];
};

/* `nonce` is random. `reply`: the connector's hello, nothing for the listener. */
void wire_handshake_start(struct wire_handshake *h, enum wire_role role, uint16_t version_min,
			  uint16_t version_max, const uint8_t nonce[WIRE_NONCE_BYTES],
			  struct wire_reply *reply);
/*
 * Take the body of the peer's next frame. 0: send `reply`, if any, and look at h->done. Negative:
 * send `reply`, if any, and close. -EACCES, -EPROTONOSUPPORT and -EBUSY as in wire_connect();
 * -EPROTO: no railhead, or one that does not keep to the protocol.
 */
int wire_handshake_feed(struct wire_handshake *h, const char *token, const void *body, size_t len,
			struct wire_reply *reply, struct error *err);
/* Valid once h->done. */
void wire_handshake_keys(const struct wire_handshake *h, const char *token, struct wire_keys *keys);

/* Body of a refusal, for a peer that is not even asked. */
void wire_refuse(struct wire_reply *reply, enum wire_refusal why);

#define WIRE_TOKEN_BYTES 16
void wire_token_encode(char token[WIRE_TOKEN_CHARS + 1], const uint8_t random[WIRE_TOKEN_BYTES]);
/* The token as it goes into the keys: capital letters become small. -EINVAL. */
int wire_token_check(char token[WIRE_TOKEN_CHARS + 1], const char *given, struct error *err);

/* A wire over a connected descriptor, which becomes its own, as it stands after the handshake. */
struct wire *wire_new(int fd, const char *peer, const struct wire_keys *keys);
/* Nonce of a handshake, from getrandom(2). */
int wire_nonce_new(uint8_t nonce[WIRE_NONCE_BYTES], struct error *err);
