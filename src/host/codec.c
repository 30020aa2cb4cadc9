/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes in JSON: plain strings where the bytes allow it, base64 otherwise. */
#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "host/door.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *base64_encode(const void *data, size_t len)
{
	const uint8_t *in = data;
	char *out = xmalloc((len + 2) / 3 * 4 + 1), *o = out;

	for (size_t i = 0; i < len; i += 3) {
		size_t n = len - i < 3 ? len - i : 3;
		uint32_t group = (uint32_t)in[i] << 16;

		if (n > 1)
			group |= (uint32_t)in[i + 1] << 8;
		if (n > 2)
			group |= in[i + 2];
		*o++ = alphabet[group >> 18];
		*o++ = alphabet[group >> 12 & 63];
		*o++ = n > 1 ? alphabet[group >> 6 & 63] : '=';
		*o++ = n > 2 ? alphabet[group & 63] : '=';
	}
	*o = '\0';
	return out;
}

static int digit_value(char c)
{
	const char *p = c ? strchr(alphabet, c) : NULL;

	return p ? (int)(p - alphabet) : -1;
}

int base64_decode(const char *text, size_t text_len, char **data, size_t *len)
{
	size_t padding = 0, n = 0;

	*data = NULL;
	*len = 0;
	if (text_len % 4)
		return -EBADMSG;
	while (padding < 2 && padding < text_len && text[text_len - 1 - padding] == '=')
		padding++;

	_cleanup_free_ char *out = xmalloc(text_len / 4 * 3 + 1);
	for (size_t i = 0; i < text_len; i += 4) {
		uint32_t group = 0;
		size_t digits = i + 4 < text_len ? 4 : 4 - padding;

		for (size_t j = 0; j < 4; j++) {
			int value = j < digits ? digit_value(text[i + j]) : 0;

			if (value < 0)
				return -EBADMSG;
			group = group << 6 | (uint32_t)value;
		}
		/* bits behind the last byte must be zero: one text for the same bytes */
		if ((digits == 3 && group & 0xff) || (digits == 2 && group & 0xffff))
			return -EBADMSG;
		for (size_t j = 0; j + 1 < digits; j++)
			out[n++] = (char)(group >> (16 - 8 * j));
	}
	out[n] = '\0';
	*data = out;
	*len = n;
	out = NULL;
	return 0;
}

json_t *door_bytes_new(const void *data, size_t len)
{
	if (!memchr(data, '\0', len) && text_is_utf8(data, len)) {
		json_t *text = json_stringn(data, len);

		if (!text)
			alloc_exhausted();
		return text;
	}

	_cleanup_free_ char *encoded = base64_encode(data, len);
	json_t *value = json_object_new();
	json_put(value, "base64", json_string(encoded));
	return value;
}

int door_bytes_get(const json_t *value, char **data, size_t *len, struct error *err)
{
	const json_t *encoded = json_object_get(value, "base64");

	*data = NULL;
	*len = 0;
	if (json_is_string(value)) {
		*len = json_string_length(value);
		*data = xmalloc(*len + 1);
		memcpy(*data, json_string_value(value), *len + 1);
		return 0;
	}
	if (!json_is_string(encoded) ||
	    base64_decode(json_string_value(encoded), json_string_length(encoded), data, len) < 0)
		return error_set(err, -EBADMSG, "the recording holds text that is neither a string "
						"nor base64");
	return 0;
}
