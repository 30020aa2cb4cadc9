/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of the control channel as functions on bytes. Format: wire.c. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/error.h"
#include "base/json.h"

#define WIRE_LENGTH_BYTES 4
#define WIRE_BODY_SMALL 256u		/* largest body before the peer is known, bytes */
#define WIRE_BODY_LARGE (1u << 20)	/* after that, with its MAC */
#define WIRE_VALUES_MAX ((size_t)1 << 16)	/* JSON values in a message */

/* Length of the body that the four bytes in front of it announce. -EPROTO: none, or over `max`. */
int wire_frame_length(const uint8_t prefix[WIRE_LENGTH_BYTES], size_t max, size_t *len,
		      struct error *err);
void wire_frame_prefix(uint8_t prefix[WIRE_LENGTH_BYTES], size_t len);

/* Frame `sequence` of a direction with its MAC, ready to be sent; the caller frees. -EMSGSIZE. */
int wire_frame_seal(uint8_t **frame, size_t *frame_len, const uint8_t key[DIGEST_BYTES],
		    uint64_t sequence, const void *text, size_t len, struct error *err);
/* Check the MAC of a body. `*len` becomes the length of the text that the body begins with.
 * -EBADMSG: it was changed, or is not frame `sequence` of this direction. */
int wire_frame_open(const uint8_t key[DIGEST_BYTES], uint64_t sequence, const uint8_t *body,
		    size_t *len, struct error *err);

/* The text as a message, an object with a text "type". -EPROTO. New reference. */
int wire_message_parse(json_t **message, const void *text, size_t len, struct error *err);
