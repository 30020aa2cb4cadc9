/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text is read once from the left. At each place where a name may begin, each form is tried;
 * the first that fits is replaced and the reading goes on behind it.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <string.h>

#include "host/anonymize_text.h"

/* Longest text of an IPv6 address with a dotted IPv4 part, without the NUL. */
#define IPV6_TEXT_MAX (INET6_ADDRSTRLEN - 1)

static bool is_hex(char c)
{
	return isxdigit((unsigned char)c);
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static unsigned hex_value(char c)
{
	return isdigit((unsigned char)c) ? (unsigned)(c - '0') :
					   (unsigned)(tolower((unsigned char)c) - 'a' + 10);
}

static size_t hex_run(const char *s)
{
	size_t n = 0;

	while (is_hex(s[n]))
		n++;
	return n;
}

static void put_hex_byte(struct strbuf *out, uint8_t byte, bool upper)
{
	strbuf_printf(out, upper ? "%02X" : "%02x", byte);
}

/* A name keeps the case of its hex letters. */
static bool has_upper(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (isupper((unsigned char)s[i]))
			return true;
	return false;
}

/* 8-4-4-4-12 hex digits, or 32 in a row (machine-id). Each form's function returns the length that
 * it replaced, 0 when the text is not of the form. */
static size_t take_uuid(struct pseudonyms *p, const char *s, struct strbuf *out)
{
	static const unsigned groups[] = { 8, 4, 4, 4, 12 };
	size_t len = 0, start = out->len;

	if (hex_run(s) == 32 && !is_word(s[32])) {
		len = 32;
	} else {
		for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
			if (hex_run(s + len) != groups[i])
				return 0;
			len += groups[i];
			if (i + 1 < ARRAY_SIZE(groups) && s[len++] != '-')
				return 0;
		}
		if (is_word(s[len]))
			return 0;
	}
	strbuf_add(out, s, len);
	pseudonym_text(p, out->s + start, len, true);
	return len;
}

/* Pairs of hex digits: 6 (MAC), 8 (EUI-64, PCI serial number) or 20 (IPoIB address: 12 + GUID). */
static size_t take_hardware_address(struct pseudonyms *p, const char *s, struct strbuf *out)
{
	uint8_t bytes[20];
	char separator = s[0] && s[1] ? s[2] : '\0';
	size_t n = 0, at = 0;

	if (separator != ':' && separator != '-')
		return 0;
	for (;;) {
		if (n == sizeof(bytes) || hex_run(s + at) != 2)
			return 0;
		bytes[n++] = (uint8_t)(hex_value(s[at]) << 4 | hex_value(s[at + 1]));
		at += 2;
		if (s[at] != separator || !is_hex(s[at + 1]))
			break;
		at++;
	}
	if (is_word(s[at]))
		return 0;
	if (n == 6)
		pseudonym_mac(p, bytes);
	else if (n == 8)
		pseudonym_guid(p, bytes);
	else if (n == 20)
		pseudonym_guid(p, bytes + 12);
	else
		return 0;
	for (size_t i = 0; i < n; i++) {
		if (i)
			strbuf_putc(out, separator);
		put_hex_byte(out, bytes[i], has_upper(s, at));
	}
	return at;
}

/* sysfs' form of a GUID: four groups of four. */
static size_t take_guid(struct pseudonyms *p, const char *s, struct strbuf *out)
{
	uint8_t guid[8];

	for (size_t i = 0; i < 4; i++) {
		const char *group = s + 5 * i;

		if (hex_run(group) != 4 ||
		    (i < 3 ? group[4] != ':' : group[4] == ':' || is_word(group[4])))
			return 0;
		guid[2 * i] = (uint8_t)(hex_value(group[0]) << 4 | hex_value(group[1]));
		guid[2 * i + 1] = (uint8_t)(hex_value(group[2]) << 4 | hex_value(group[3]));
	}
	pseudonym_guid(p, guid);
	for (size_t i = 0; i < 8; i += 2)
		strbuf_printf(out, "%s%02x%02x", i ? ":" : "", guid[i], guid[i + 1]);
	return 19;
}

static void learn_cidr(struct pseudonyms *p, int family, const uint8_t *address, const char *behind)
{
	if (*behind == '/' && isdigit((unsigned char)behind[1]))
		pseudonyms_learn_prefix(p, family, address,
					(unsigned)strtoul(behind + 1, NULL, 10));
}

static size_t take_ipv6(struct pseudonyms *p, const char *s, struct strbuf *out)
{
	char copy[IPV6_TEXT_MAX + 1], text[INET6_ADDRSTRLEN];
	uint8_t address[16];
	size_t len = strspn(s, "0123456789abcdefABCDEF:.");

	/* "fe80::1." at the end of a sentence, "2001:db8::1: unreachable" */
	while (len && (s[len - 1] == '.' || (s[len - 1] == ':' && (len < 2 || s[len - 2] != ':'))))
		len--;
	if (len < 3 || len > IPV6_TEXT_MAX || is_word(s[len]))
		return 0;
	memcpy(copy, s, len);
	copy[len] = '\0';
	if (inet_pton(AF_INET6, copy, address) != 1)
		return 0;
	learn_cidr(p, AF_INET6, address, s + len);
	pseudonym_ipv6(p, address);
	if (p->collecting)
		return len;
	if (len == 39 && !strchr(copy, '.')) {	/* sysfs prints GIDs in full */
		for (size_t i = 0; i < 16; i += 2)
			strbuf_printf(out, "%s%02x%02x", i ? ":" : "", address[i], address[i + 1]);
	} else {
		inet_ntop(AF_INET6, address, text, sizeof(text));
		strbuf_puts(out, text);
	}
	return len;
}

/* The length of a dotted quad at `s`, 0 when there is none. */
static size_t quad_length(const char *s, uint8_t quad[4])
{
	size_t at = 0;

	for (size_t i = 0; i < 4; i++) {
		unsigned value = 0;
		size_t digits = 0;

		for (; isdigit((unsigned char)s[at + digits]) && digits < 4; digits++)
			value = 10 * value + (unsigned)(s[at + digits] - '0');
		if (!digits || digits > 3 || value > 255 || (digits > 1 && s[at] == '0'))
			return 0;
		quad[i] = (uint8_t)value;
		at += digits;
		if (i < 3 && s[at++] != '.')
			return 0;
	}
	if (is_word(s[at]) || (s[at] == '.' && isdigit((unsigned char)s[at + 1])))
		return 0;
	return at;
}

/* True when the word before `s` says that a version follows, as in "DDP package version 1.3.36.0",
 * or the quad is a part of a package's name ("ice-1.9.11.0", "1.9.11.0-1.el10"). */
static bool version_context(const char *text, const char *s, size_t len)
{
	static const char *const words[] = { "version", "ver", "package", "pkg", "firmware", "fw",
					     "nvm", "ddp", "driver", "release", "rev", "revision",
					     "bios", "api", "vbios" };
	const char *end = s, *start;
	uint8_t quad[4];

	if (s - text >= 2 && s[-1] == '-' && isalpha((unsigned char)s[-2]))
		return true;
	if (s[len] == '-' && isalnum((unsigned char)s[len + 1]) && !quad_length(s + len + 1, quad))
		return true;
	while (end > text && strchr(" \t:=(\"", end[-1]))
		end--;
	for (start = end; start > text && is_word(start[-1]);)
		start--;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strlen(words[i]) == (size_t)(end - start) &&
		    strncasecmp(words[i], start, (size_t)(end - start)) == 0)
			return true;
	return false;
}

static size_t take_ipv4(struct pseudonyms *p, const char *text, const char *s, bool versions,
			struct strbuf *out)
{
	uint8_t quad[4];
	size_t len = quad_length(s, quad);

	/* the tail of "1.2.3.4.5" is no address either */
	if (!len || (s - text >= 2 && s[-1] == '.' && isdigit((unsigned char)s[-2])))
		return 0;
	if ((versions || version_context(text, s, len)) && !pseudonyms_know_ipv4(p, quad)) {
		strbuf_add(out, s, len);
		return len;
	}
	learn_cidr(p, AF_INET, quad, s + len);
	pseudonym_ipv4(p, quad);
	strbuf_printf(out, "%u.%u.%u.%u", quad[0], quad[1], quad[2], quad[3]);
	return len;
}

static size_t take_host(struct pseudonyms *p, const char *s, struct strbuf *out)
{
	size_t start = out->len;

	for (size_t i = 0; i < p->n_hosts; i++) {
		size_t len = strlen(p->hosts[i]);

		if (strncasecmp(s, p->hosts[i], len) != 0 || is_word(s[len]) ||
		    (s[len] == '-' && is_word(s[len + 1])))
			continue;
		/* the known spelling decides, so that "Node-1" and "node-1" stay equal */
		strbuf_puts(out, p->hosts[i]);
		pseudonym_host(p, out->s + start, len);
		return len;
	}
	return 0;
}

/* "Serial Number: 8XK3402", "serial_number=…": the words, then the number replaced. */
static size_t take_serial(struct pseudonyms *p, const char *s, struct strbuf *out)
{
	size_t at, len, start = out->len;

	if (strncasecmp(s, "serial", 6) != 0)
		return 0;
	at = 6;
	if (strncasecmp(s + at, " number", 7) == 0 || strncasecmp(s + at, "_number", 7) == 0)
		at += 7;
	len = strspn(s + at, " \t");
	if (s[at + len] != ':' && s[at + len] != '=')
		return 0;
	at += len + 1;
	at += strspn(s + at, " \t");
	len = strcspn(s + at, " \t\n,;");
	strbuf_add(out, s, at + len);
	pseudonym_text(p, out->s + start + at, len, false);
	return at + len;
}

static size_t take_any(struct pseudonyms *p, const char *text, const char *s, bool versions,
		       struct strbuf *out)
{
	size_t len = 0;

	if (is_hex(*s)) {
		len = take_uuid(p, s, out);
		if (!len)
			len = take_hardware_address(p, s, out);
		if (!len)
			len = take_guid(p, s, out);
	}
	if (!len && (is_hex(*s) || *s == ':'))
		len = take_ipv6(p, s, out);
	if (!len && isdigit((unsigned char)*s))
		len = take_ipv4(p, text, s, versions, out);
	if (!len)
		len = take_serial(p, s, out);
	if (!len)
		len = take_host(p, s, out);
	return len;
}

char *anonymize_text(struct pseudonyms *p, const char *text, bool versions)
{
	struct strbuf out = {0};
	const char *s = text;

	while (*s) {
		bool begins = s == text || !is_word(s[-1]);
		size_t len = begins ? take_any(p, text, s, versions, &out) : 0;

		if (!len)
			strbuf_putc(&out, *s);
		s += len ? len : 1;
	}
	if (p->collecting) {
		strbuf_clear(&out);
		return xstrdup(text);
	}
	char *copy = strbuf_steal(&out);
	if (!copy)
		copy = xstrdup("");
	anonymize_known_text(p, copy);
	return copy;
}
