/* SPDX-License-Identifier: Apache-2.0 */
#include "prove/wire_auth.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "base/text.h"

/* First byte of a body. */
enum body_kind { BODY_HELLO = 1, BODY_PROOF = 2, BODY_REFUSAL = 3 };

#define PROOF_BYTES (1 + DIGEST_BYTES)
#define REFUSAL_BYTES 2

/* The role is the last letter, so that no hello of one end is one of the other. */
static const char magic[] = "RHPROVE";

/* RFC 4648 in small letters: no 0, 1, 8 and 9, which are misread. */
static const char base32[] = "abcdefghijklmnopqrstuvwxyz234567";

int wire_token_check(char token[WIRE_TOKEN_CHARS + 1], const char *given, struct error *err)
{
	size_t n = 0;

	for (const char *c = given; *c; c++) {
		char small = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;

		if (n == WIRE_TOKEN_CHARS || !strchr(base32, small))
			n = WIRE_TOKEN_CHARS + 1;
		if (n > WIRE_TOKEN_CHARS)
			break;
		token[n++] = small;
	}
	/* the token is not repeated: messages end up in logs */
	if (n != WIRE_TOKEN_CHARS)
		return error_set(err, -EINVAL, "a token is %d letters a-z and digits 2-7",
				 WIRE_TOKEN_CHARS);
	token[n] = '\0';
	return 0;
}

void wire_token_encode(char token[WIRE_TOKEN_CHARS + 1], const uint8_t random[WIRE_TOKEN_BYTES])
{
	unsigned bits = 0, n_bits = 0;
	size_t at = 0;

	for (size_t i = 0; i < WIRE_TOKEN_BYTES; i++) {
		bits = bits << 8 | random[i];
		for (n_bits += 8; n_bits >= 5; n_bits -= 5)
			token[at++] = base32[bits >> (n_bits - 5) & 31];
		bits &= 31;
	}
	token[at++] = base32[bits << (5 - n_bits) & 31];
	token[at] = '\0';
}

static uint16_t get16(const uint8_t *at)
{
	uint16_t big;

	memcpy(&big, at, sizeof(big));
	return be16toh(big);
}

static void put16(uint8_t *at, uint16_t value)
{
	uint16_t big = htobe16(value);

	memcpy(at, &big, sizeof(big));
}

static enum wire_role other(enum wire_role role)
{
	return role == WIRE_CONNECTOR ? WIRE_LISTENER : WIRE_CONNECTOR;
}

static void put_hello(const struct wire_handshake *h, struct wire_reply *reply)
{
	memcpy(reply->body, h->hello, WIRE_HELLO_BYTES);
	reply->len = WIRE_HELLO_BYTES;
}

void wire_handshake_start(struct wire_handshake *h, enum wire_role role, uint16_t version_min,
			  uint16_t version_max, const uint8_t nonce[WIRE_NONCE_BYTES],
			  struct wire_reply *reply)
{
	*h = (struct wire_handshake){
		.role = role, .version_min = version_min, .version_max = version_max,
	};
	h->hello[0] = BODY_HELLO;
	memcpy(h->hello + 1, magic, 7);
	h->hello[8] = (uint8_t)role;
	put16(h->hello + 9, version_min);
	put16(h->hello + 11, version_max);
	memcpy(h->hello + 13, nonce, WIRE_NONCE_BYTES);
	reply->len = 0;
	if (role == WIRE_CONNECTOR)
		put_hello(h, reply);
}

/* Both hellos, the connector's first: what the handshake was about. */
static void transcript(const struct wire_handshake *h, uint8_t digest[DIGEST_BYTES])
{
	uint8_t both[2 * DIGEST_BYTES];
	bool first = h->role == WIRE_CONNECTOR;

	/* each is hashed first: neither can be stretched into the other */
	digest_sha256(both + (first ? 0 : DIGEST_BYTES), h->hello, sizeof(h->hello));
	digest_sha256(both + (first ? DIGEST_BYTES : 0), h->peer_hello, h->peer_hello_len);
	digest_sha256(digest, both, sizeof(both));
}

static void key_for(const struct wire_handshake *h, const char *token, const char *purpose,
		    uint8_t key[DIGEST_BYTES])
{
	uint8_t salt[DIGEST_BYTES];

	transcript(h, salt);
	digest_hkdf_sha256(key, token, strlen(token), salt, sizeof(salt), purpose);
}

/* A key is only ever known to who knows the token: it is the proof itself. */
static void proof_of(const struct wire_handshake *h, const char *token, enum wire_role role,
		     uint8_t proof[DIGEST_BYTES])
{
	key_for(h, token,
		role == WIRE_CONNECTOR ? "railhead prove: connector" : "railhead prove: listener",
		proof);
}

void wire_handshake_keys(const struct wire_handshake *h, const char *token, struct wire_keys *keys)
{
	bool up = h->role == WIRE_CONNECTOR;

	key_for(h, token, "railhead prove: frames to the listener",
		up ? keys->send : keys->receive);
	key_for(h, token, "railhead prove: frames to the connector",
		up ? keys->receive : keys->send);
}

static void put_proof(const struct wire_handshake *h, const char *token, struct wire_reply *reply)
{
	reply->body[0] = BODY_PROOF;
	proof_of(h, token, h->role, reply->body + 1);
	reply->len = PROOF_BYTES;
}

void wire_refuse(struct wire_reply *reply, enum wire_refusal why)
{
	reply->body[0] = BODY_REFUSAL;
	reply->body[1] = (uint8_t)why;
	reply->len = REFUSAL_BYTES;
}

static int take_hello(struct wire_handshake *h, const char *token, const uint8_t *body, size_t len,
		      struct wire_reply *reply, struct error *err)
{
	/* later versions may append to a hello; what they append is covered by the proofs */
	if (len < WIRE_HELLO_BYTES || body[0] != BODY_HELLO || memcmp(body + 1, magic, 7) != 0)
		return error_set(err, -EPROTO, "the peer is no railhead");
	if (body[8] != (uint8_t)other(h->role))
		return error_set(err, -EPROTO, "the peer is no %s of railhead prove",
				 h->role == WIRE_LISTENER ? "connector" : "listener");
	memcpy(h->peer_hello, body, len);
	h->peer_hello_len = len;

	uint16_t min = get16(body + 9), max = get16(body + 11);
	/* told before versions are compared, so that both ends can name both */
	if (h->role == WIRE_LISTENER)
		put_hello(h, reply);
	if (min > max || max < h->version_min || min > h->version_max)
		return error_set(err, -EPROTONOSUPPORT,
				 "the peer speaks versions %u to %u of the protocol, this end %u "
				 "to %u", min, max, h->version_min, h->version_max);
	h->version = max < h->version_max ? max : h->version_max;
	if (h->role == WIRE_CONNECTOR)
		put_proof(h, token, reply);
	return 0;
}

static int take_proof(struct wire_handshake *h, const char *token, const uint8_t *body, size_t len,
		      struct wire_reply *reply, struct error *err)
{
	uint8_t expected[DIGEST_BYTES];

	if (len != PROOF_BYTES || body[0] != BODY_PROOF)
		return error_set(err, -EPROTO, "the peer does not keep to the protocol");
	proof_of(h, token, other(h->role), expected);
	if (!digest_equal(expected, body + 1)) {
		if (h->role == WIRE_LISTENER)
			wire_refuse(reply, WIRE_REFUSED_TOKEN);
		return error_set(err, -EACCES, "the peer does not know the token");
	}
	h->done = true;
	if (h->role == WIRE_LISTENER)
		put_proof(h, token, reply);
	return 0;
}

static int take_refusal(const uint8_t *body, size_t len, struct error *err)
{
	if (len == REFUSAL_BYTES && body[1] == WIRE_REFUSED_TOKEN)
		return error_set(err, -EACCES, "the token is not the listener's");
	if (len == REFUSAL_BYTES && body[1] == WIRE_REFUSED_BUSY)
		return error_set(err, -EBUSY, "the listener serves another peer");
	return error_set(err, -EPROTO, "the listener refuses for a reason unknown here");
}

int wire_handshake_feed(struct wire_handshake *h, const char *token, const void *body, size_t len,
			struct wire_reply *reply, struct error *err)
{
	const uint8_t *bytes = body;

	reply->len = 0;
	if (len == 0 || len > WIRE_BODY_SMALL || h->done)
		return error_set(err, -EPROTO, "the peer does not keep to the protocol");
	if (h->role == WIRE_CONNECTOR && bytes[0] == BODY_REFUSAL)
		return take_refusal(bytes, len, err);
	if (!h->peer_hello_len)
		return take_hello(h, token, bytes, len, reply, err);
	return take_proof(h, token, bytes, len, reply, err);
}
