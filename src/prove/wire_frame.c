/* SPDX-License-Identifier: Apache-2.0 */
#include "prove/wire_frame.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "base/alloc.h"

/* What a MAC covers stands in one piece: sequence number, length prefix, text. */
#define SEQUENCE_BYTES 8
#define HEAD_BYTES (SEQUENCE_BYTES + WIRE_LENGTH_BYTES)

void wire_frame_prefix(uint8_t prefix[WIRE_LENGTH_BYTES], size_t len)
{
	uint32_t big = htobe32((uint32_t)len);

	memcpy(prefix, &big, sizeof(big));
}

int wire_frame_length(const uint8_t prefix[WIRE_LENGTH_BYTES], size_t max, size_t *len,
		      struct error *err)
{
	uint32_t big;

	memcpy(&big, prefix, sizeof(big));
	*len = be32toh(big);
	if (*len == 0 || *len > max)
		return error_set(err, -EPROTO, "the peer announces %zu bytes, 1 to %zu are allowed",
				 *len, max);
	return 0;
}

static uint8_t *covered_new(uint64_t sequence, size_t body_len, const void *text, size_t len,
			    size_t room)
{
	uint8_t *covered = xmalloc(HEAD_BYTES + len + room);
	uint64_t big = htobe64(sequence);

	memcpy(covered, &big, sizeof(big));
	wire_frame_prefix(covered + SEQUENCE_BYTES, body_len);
	memcpy(covered + HEAD_BYTES, text, len);
	return covered;
}

int wire_frame_seal(uint8_t **frame, size_t *frame_len, const uint8_t key[DIGEST_BYTES],
		    uint64_t sequence, const void *text, size_t len, struct error *err)
{
	size_t body_len = len + DIGEST_BYTES;

	if (body_len > WIRE_BODY_LARGE)
		return error_set(err, -EMSGSIZE, "a message of %zu bytes, %zu are allowed", len,
				 (size_t)WIRE_BODY_LARGE - DIGEST_BYTES);
	uint8_t *covered = covered_new(sequence, body_len, text, len, DIGEST_BYTES);
	digest_hmac_sha256(covered + HEAD_BYTES + len, key, DIGEST_BYTES, covered,
			   HEAD_BYTES + len);
	/* both ends count the frames themselves: the number is not sent */
	*frame_len = WIRE_LENGTH_BYTES + body_len;
	memmove(covered, covered + SEQUENCE_BYTES, *frame_len);
	*frame = covered;
	return 0;
}

int wire_frame_open(const uint8_t key[DIGEST_BYTES], uint64_t sequence, const uint8_t *body,
		    size_t *len, struct error *err)
{
	uint8_t mac[DIGEST_BYTES];

	if (*len < DIGEST_BYTES)
		return error_set(err, -EBADMSG, "a frame of %zu bytes is too short for its MAC",
				 *len);
	size_t text_len = *len - DIGEST_BYTES;
	_cleanup_free_ uint8_t *covered = covered_new(sequence, *len, body, text_len, 0);
	digest_hmac_sha256(mac, key, DIGEST_BYTES, covered, HEAD_BYTES + text_len);
	if (!digest_equal(mac, body + text_len))
		return error_set(err, -EBADMSG,
				 "frame %llu was changed on its way, or is not the peer's",
				 (unsigned long long)sequence);
	*len = text_len;
	return 0;
}

int wire_message_parse(json_t **message, const void *text, size_t len, struct error *err)
{
	_cleanup_json_ json_t *parsed = NULL;

	if (json_parse_large(&parsed, text, len, WIRE_VALUES_MAX, "message", err) < 0)
		return error_set(err, -EPROTO, "the peer's %s",
				 err ? error_text(err) : "message is no JSON");
	if (!json_is_object(parsed) || !json_get_string(parsed, "type", NULL))
		return error_set(err, -EPROTO, "the peer's message has no \"type\"");
	*message = parsed;
	parsed = NULL;
	return 0;
}
