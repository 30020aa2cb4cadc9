/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control channel of a proof. The first byte chooses the end that listens to the rest: 'L' a
 * listener, 'C' a connector, both before the token was proved: a stream of frames. 'F': the body of
 * a frame with its MAC; 'M': the text of a message.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "prove/wire_auth.h"
#include "prove/wire_frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char token[] = "abcdefghijklmnopqrstuvwxyz";

static void check(int rc, const struct error *err)
{
	if ((rc < 0) != (err->code < 0) || (rc < 0 && !err->message))
		abort();
}

static void handshake(enum wire_role role, const uint8_t *data, size_t size)
{
	static const uint8_t nonce[WIRE_NONCE_BYTES] = "nonce of the fuzz target, fixed";
	_cleanup_error_ struct error err = {0};
	struct wire_handshake h;
	struct wire_reply reply;
	struct wire_keys keys;
	size_t len;
	int rc = 0;

	wire_handshake_start(&h, role, WIRE_VERSION_MIN, WIRE_VERSION_MAX, nonce, &reply);
	while (rc == 0 && !h.done && size >= WIRE_LENGTH_BYTES) {
		rc = wire_frame_length(data, WIRE_BODY_SMALL, &len, &err);
		if (rc < 0)
			break;
		data += WIRE_LENGTH_BYTES;
		size -= WIRE_LENGTH_BYTES;
		if (len > size)
			return;
		/* of its exact size, so that a read past the end is seen */
		_cleanup_free_ uint8_t *body = xmalloc(len);
		memcpy(body, data, len);
		rc = wire_handshake_feed(&h, token, body, len, &reply, &err);
		if (reply.len > sizeof(reply.body))
			abort();
		data += len;
		size -= len;
	}
	check(rc, &err);
	if (h.done) {
		wire_handshake_keys(&h, token, &keys);
		if (rc < 0 || memcmp(keys.send, keys.receive, sizeof(keys.send)) == 0)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t key[DIGEST_BYTES] = "key of the fuzz target, fixed..";
	_cleanup_error_ struct error err = {0};
	_cleanup_json_ json_t *message = NULL;
	size_t len = size - 1;

	if (!size)
		return 0;
	switch (*data) {
	case 'L':
	case 'C':
		handshake((enum wire_role)*data, data + 1, len);
		break;
	case 'F':
		check(wire_frame_open(key, 0, data + 1, &len, &err), &err);
		if (!err.code && len != size - 1 - DIGEST_BYTES)
			abort();
		break;
	case 'M':
		check(wire_message_parse(&message, data + 1, len, &err), &err);
		if (!message != (err.code < 0))
			abort();
		break;
	default:
		break;
	}
	return 0;
}
