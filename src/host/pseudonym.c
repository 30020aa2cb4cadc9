/* SPDX-License-Identifier: Apache-2.0 */
#include "host/pseudonym.h"

#include <ctype.h>
#include <string.h>
#include <sys/socket.h>

/* One letter for each use of the hash, so that equal bytes of different kinds differ. */
enum tag { TAG_MAC = 'm', TAG_BIT = 'b', TAG_INTERFACE = 'i', TAG_GUID = 'g', TAG_TEXT = 't',
	   TAG_BYTES = 'o' };

static uint64_t keyed(const struct pseudonyms *p, enum tag tag, const void *data, size_t len,
		      uint64_t counter)
{
	_cleanup_strbuf_ struct strbuf input = {0};

	strbuf_putc(&input, (char)tag);
	strbuf_add(&input, &counter, sizeof(counter));
	strbuf_add(&input, data, len);
	return siphash(p->key, input.s, input.len);
}

void pseudonyms_clear(struct pseudonyms *p)
{
	for (size_t i = 0; i < p->n_hosts; i++)
		free(p->hosts[i]);
	free(p->hosts);
	free(p->prefixes);
	free(p->macs);
	free(p->ipv4s);
	*p = (struct pseudonyms){0};
}

/* --- MAC, EUI-64 ------------------------------------------------------------------------------ */

static bool mac_is_special(const uint8_t mac[6])
{
	static const uint8_t zero[6];

	return mac[0] & 1 || memcmp(mac, zero, 6) == 0;	/* bit 0: multicast, broadcast */
}

void pseudonym_mac(struct pseudonyms *p, uint8_t mac[6])
{
	if (mac_is_special(mac))
		return;
	if (p->collecting) {
		for (size_t i = 0; i < p->n_macs; i++)
			if (memcmp(p->macs[i], mac, 6) == 0)
				return;
		array_reserve(p->macs, p->n_macs, p->macs_capacity);
		memcpy(p->macs[p->n_macs++], mac, 6);
		return;
	}
	uint64_t hash = keyed(p, TAG_MAC, mac, 6, 0);
	memcpy(mac + 1, &hash, 5);
	mac[0] = 0x02;	/* unicast, locally administered: no manufacturer has it */
}

void pseudonym_guid(struct pseudonyms *p, uint8_t guid[8])
{
	static const uint8_t zero[8], ones[8] = { 255, 255, 255, 255, 255, 255, 255, 255 };
	uint8_t mac[6];

	if (memcmp(guid, zero, 8) == 0 || memcmp(guid, ones, 8) == 0)
		return;
	bool eui = guid[3] == 0xff && guid[4] == 0xfe, serial = guid[3] == 0xff && guid[4] == 0xff;
	if (!eui && !serial) {
		uint64_t hash = keyed(p, TAG_GUID, guid, 8, 0);

		if (!p->collecting)
			memcpy(guid, &hash, 8);
		return;
	}
	for (size_t i = 0; i < 3; i++) {
		mac[i] = guid[i];
		mac[3 + i] = guid[5 + i];
	}
	if (eui)
		mac[0] ^= 2;	/* the universal/local bit is inverted in a modified EUI-64 */
	pseudonym_mac(p, mac);
	if (eui)
		mac[0] ^= 2;
	for (size_t i = 0; i < 3; i++) {
		guid[i] = mac[i];
		guid[5 + i] = mac[3 + i];
	}
}

/* --- addresses -------------------------------------------------------------------------------- */

static bool bit_get(const uint8_t *bytes, unsigned i)
{
	return bytes[i / 8] >> (7 - i % 8) & 1;
}

static bool same_bits(const uint8_t *a, const uint8_t *b, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (bit_get(a, i) != bit_get(b, i))
			return false;
	return true;
}

/* True when bit `i` must stay: the bits before it are those of a known prefix followed by zeros
 * only (its network address) or by ones only (its broadcast address). */
static bool on_edge(const struct pseudonyms *p, int family, const uint8_t *address, unsigned i)
{
	for (size_t k = 0; k < p->n_prefixes; k++) {
		const struct known_prefix *known = &p->prefixes[k];
		bool zeros = true, ones = true;

		if (known->family != family || known->length > i ||
		    !same_bits(known->address, address, known->length))
			continue;
		for (unsigned b = known->length; b < i; b++) {
			if (bit_get(address, b))
				zeros = false;
			else
				ones = false;
		}
		if (zeros || ones)
			return true;
	}
	return false;
}

/* Private, shared and link-local IPv4 ranges (RFC 6890) below a first byte that is always kept. A
 * bit on the way into one stays, so that what is inside stays inside and nothing else gets in. */
static bool into_range(const uint8_t *address, unsigned i)
{
	static const struct {
		uint8_t address[4];
		unsigned length;
	} ranges[] = {
		{ { 172, 16 }, 12 }, { { 192, 168 }, 16 }, { { 169, 254 }, 16 }, { { 100, 64 }, 10 }
	};

	for (size_t k = 0; k < ARRAY_SIZE(ranges); k++)
		if (i < ranges[k].length && same_bits(ranges[k].address, address, i))
			return true;
	return false;
}

/* Flip bits from `first` on: the first that may flip always does, so that no address stays; the
 * others up to `host` by the hash of all bits before them. */
static void map_bits(const struct pseudonyms *p, int family, uint8_t *address, size_t size,
		     unsigned first, unsigned host, unsigned end)
{
	uint8_t original[16], before[16] = {0};
	bool flipped = false;

	memcpy(original, address, size);
	memcpy(before, original, first / 8);
	for (unsigned i = first / 8 * 8; i < first; i++)
		before[i / 8] |= (uint8_t)(bit_get(original, i) << (7 - i % 8));
	for (unsigned i = first; i < end && !(flipped && i >= host); i++) {
		if (!on_edge(p, family, original, i) &&
		    !(family == AF_INET && into_range(original, i))) {
			if (!flipped ||
			    keyed(p, TAG_BIT, before, size, (uint64_t)family << 8 | i) & 1)
				address[i / 8] ^= (uint8_t)(1u << (7 - i % 8));
			flipped = true;
		}
		before[i / 8] |= (uint8_t)(bit_get(original, i) << (7 - i % 8));
	}
}

void pseudonym_ipv4(struct pseudonyms *p, uint8_t a[4])
{
	/* 0/8, loopback, multicast and above with the broadcast address (RFC 6890) */
	if (p->collecting || a[0] == 0 || a[0] == 127 || a[0] >= 224)
		return;
	/* the last byte is the host in nearly every subnet, and tells nothing */
	map_bits(p, AF_INET, a, 4, 8, 24, 32);
}

static void map_interface(struct pseudonyms *p, uint8_t id[8])
{
	static const uint8_t zero[6];

	/* a number that a person chose ("::11") tells nothing */
	if (memcmp(id, zero, 6) == 0)
		return;
	if (id[3] == 0xff && id[4] == 0xfe) {
		pseudonym_guid(p, id);
	} else if (!p->collecting) {
		uint64_t hash = keyed(p, TAG_INTERFACE, id, 8, 0);

		memcpy(id, &hash, 8);
	}
}

void pseudonym_ipv6(struct pseudonyms *p, uint8_t a[16])
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff }, zero[15];

	if (memcmp(a, mapped, 12) == 0) {
		pseudonym_ipv4(p, a + 12);
		return;
	}
	if (a[0] == 0xff || (memcmp(a, zero, 15) == 0 && a[15] <= 1))
		return;
	if (!p->collecting && !(a[0] == 0xfe && (a[1] & 0xc0) == 0x80))
		map_bits(p, AF_INET6, a, 16, (a[0] & 0xfe) == 0xfc ? 8 : 16, 64, 64);
	map_interface(p, a + 8);
}

/* --- text ------------------------------------------------------------------------------------- */

static char scramble(char c, uint8_t r, bool hex)
{
	if (isdigit((unsigned char)c))
		return (char)('0' + r % 10);
	if (hex && c >= 'a' && c <= 'f')
		return (char)('a' + r % 6);
	if (hex && c >= 'A' && c <= 'F')
		return (char)('A' + r % 6);
	if (islower((unsigned char)c))
		return (char)('a' + r % 26);
	if (isupper((unsigned char)c))
		return (char)('A' + r % 26);
	return c;
}

void pseudonym_text(const struct pseudonyms *p, char *text, size_t len, bool hex)
{
	_cleanup_free_ char *original = xstrndup(text, len);
	uint64_t hash = 0;
	bool same = len > 0;

	if (p->collecting)
		return;
	/* a short text may fall on itself: then the next hash */
	for (uint64_t round = 0; same && round < 64; round++) {
		for (size_t i = 0; i < len; i++) {
			if (i % 8 == 0)
				hash = keyed(p, TAG_TEXT, original, len, round << 32 | i);
			text[i] = scramble(original[i], (uint8_t)(hash >> (i % 8 * 8)), hex);
		}
		same = memcmp(text, original, len) == 0;
	}
}

void pseudonym_host(const struct pseudonyms *p, char *name, size_t len)
{
	for (size_t start = 0, end; start < len; start = end + 1) {
		const char *dot = memchr(name + start, '.', len - start);

		end = dot ? (size_t)(dot - name) : len;
		pseudonym_text(p, name + start, end - start, false);
	}
}

void pseudonym_bytes(const struct pseudonyms *p, uint8_t *bytes, size_t len)
{
	_cleanup_free_ uint8_t *original = xmalloc(len + 1);
	uint64_t hash = 0;

	if (p->collecting)
		return;
	memcpy(original, bytes, len);
	for (size_t i = 0; i < len; i++) {
		if (i % 8 == 0)
			hash = keyed(p, TAG_BYTES, original, len, i);
		bytes[i] = (uint8_t)(hash >> (i % 8 * 8));
	}
}

/* --- learning --------------------------------------------------------------------------------- */

void pseudonyms_learn_prefix(struct pseudonyms *p, int family, const uint8_t *address,
			     unsigned length)
{
	size_t size = family == AF_INET ? 4 : 16;

	/* length 0 is the default route and binds nothing; a whole address has no host bits */
	if (!p->collecting || !length || length >= 8 * size)
		return;
	for (size_t i = 0; i < p->n_prefixes; i++)
		if (p->prefixes[i].family == family && p->prefixes[i].length == length &&
		    same_bits(p->prefixes[i].address, address, length))
			return;
	array_reserve(p->prefixes, p->n_prefixes, p->prefixes_capacity);
	struct known_prefix *known = &p->prefixes[p->n_prefixes++];
	*known = (struct known_prefix){ .family = family, .length = length };
	memcpy(known->address, address, size);
}

bool pseudonyms_know_ipv4(const struct pseudonyms *p, const uint8_t address[4])
{
	for (size_t i = 0; i < p->n_ipv4s; i++)
		if (memcmp(p->ipv4s[i], address, 4) == 0)
			return true;
	return false;
}

void pseudonyms_learn_ipv4(struct pseudonyms *p, const uint8_t address[4])
{
	if (!p->collecting || pseudonyms_know_ipv4(p, address))
		return;
	array_reserve(p->ipv4s, p->n_ipv4s, p->ipv4s_capacity);
	memcpy(p->ipv4s[p->n_ipv4s++], address, 4);
}

static void learn_name(struct pseudonyms *p, const char *name, size_t len)
{
	static const char *const common[] = { "localhost", "localdomain", "local", "(none)" };
	size_t at = 0;

	if (len < 2)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(common); i++)
		if (strlen(common[i]) == len && strncmp(common[i], name, len) == 0)
			return;
	for (size_t i = 0; i < p->n_hosts; i++)
		if (strlen(p->hosts[i]) == len && strncmp(p->hosts[i], name, len) == 0)
			return;
	array_reserve(p->hosts, p->n_hosts, p->hosts_capacity);
	while (at < p->n_hosts && strlen(p->hosts[at]) >= len)
		at++;
	memmove(p->hosts + at + 1, p->hosts + at, (p->n_hosts - at) * sizeof(*p->hosts));
	p->hosts[at] = xstrndup(name, len);
	p->n_hosts++;
}

void pseudonyms_learn_host(struct pseudonyms *p, const char *name)
{
	const char *dot = strchr(name, '.');

	if (!p->collecting)
		return;
	learn_name(p, name, strlen(name));
	if (dot) {
		learn_name(p, name, (size_t)(dot - name));
		if (strchr(dot + 1, '.'))	/* never a top-level domain alone */
			learn_name(p, dot + 1, strlen(dot + 1));
	}
}
