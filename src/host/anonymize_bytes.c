/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search for what is known: names that the first pass found in a form of their own, looked for
 * wherever else they may stand (a link named after its MAC, a PCI serial number, a driver's text).
 */
#include <ctype.h>
#include <string.h>

#include "host/anonymize_text.h"

static void replace_all(uint8_t *bytes, size_t len, const void *from, const void *to, size_t size)
{
	uint8_t *at = bytes, *end = bytes + len;

	while ((at = memmem(at, (size_t)(end - at), from, size))) {
		memcpy(at, to, size);
		at += size;
	}
}

static void replace_hex(uint8_t *bytes, size_t len, const uint8_t *from, const uint8_t *to,
			size_t size)
{
	for (int upper = 0; upper < 2; upper++) {
		_cleanup_strbuf_ struct strbuf from_text = {0}, to_text = {0};

		for (size_t i = 0; i < size; i++) {
			strbuf_printf(&from_text, upper ? "%02X" : "%02x", from[i]);
			strbuf_printf(&to_text, upper ? "%02X" : "%02x", to[i]);
		}
		replace_all(bytes, len, from_text.s, to_text.s, 2 * size);
	}
}

/* The PCI Device Serial Number is an EUI-64 stored from its last byte to its first. */
static void reverse(uint8_t *out, const uint8_t *in, size_t size)
{
	for (size_t i = 0; i < size; i++)
		out[i] = in[size - 1 - i];
}

/* Where a MAC is looked for: in text only its hex digits, or any bytes. */
struct haystack {
	uint8_t *bytes;
	size_t len;
	bool text;
};

static void replace_eui64(struct pseudonyms *p, const struct haystack *h, const uint8_t mac[6],
			  bool serial)
{
	uint8_t from[8] = { mac[0], mac[1], mac[2], 0xff, serial ? 0xff : 0xfe,
			    mac[3], mac[4], mac[5] };
	uint8_t to[8], from_reversed[8], to_reversed[8];

	if (!serial)
		from[0] ^= 2;
	memcpy(to, from, 8);
	pseudonym_guid(p, to);
	replace_hex(h->bytes, h->len, from, to, 8);
	if (h->text)
		return;
	reverse(from_reversed, from, 8);
	reverse(to_reversed, to, 8);
	replace_all(h->bytes, h->len, from, to, 8);
	replace_all(h->bytes, h->len, from_reversed, to_reversed, 8);
}

static void replace_macs(struct pseudonyms *p, const struct haystack *h)
{
	if (h->len < (h->text ? 12 : 6))
		return;
	for (size_t i = 0; i < p->n_macs; i++) {
		const uint8_t *mac = p->macs[i];
		uint8_t to[6];

		memcpy(to, mac, 6);
		pseudonym_mac(p, to);
		replace_hex(h->bytes, h->len, mac, to, 6);
		if (!h->text)
			replace_all(h->bytes, h->len, mac, to, 6);
		replace_eui64(p, h, mac, false);
		replace_eui64(p, h, mac, true);
	}
}

/* Shorter names would be found by chance in bytes that are no text. */
#define HOST_IN_BYTES_MIN 5

static void replace_host(struct pseudonyms *p, uint8_t *bytes, size_t len, const char *host)
{
	size_t size = strlen(host);
	uint8_t *at = bytes, *end = bytes + len;

	if (size < HOST_IN_BYTES_MIN)
		return;
	while ((at = memmem(at, (size_t)(end - at), host, size))) {
		bool begins = at == bytes || !isalnum(at[-1]);
		bool ends = at + size == end || !isalnum(at[size]);

		if (begins && ends)
			pseudonym_host(p, (char *)at, size);
		at += size;
	}
}

void anonymize_known_text(struct pseudonyms *p, char *text)
{
	struct haystack h = { .bytes = (uint8_t *)text, .len = strlen(text), .text = true };

	if (!p->collecting)
		replace_macs(p, &h);
}

void anonymize_known(struct pseudonyms *p, void *bytes, size_t len)
{
	struct haystack h = { .bytes = bytes, .len = len };

	if (p->collecting)
		return;
	replace_macs(p, &h);
	for (size_t i = 0; i < p->n_hosts; i++)
		replace_host(p, bytes, len, p->hosts[i]);
}
