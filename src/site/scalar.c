/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <ctype.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "site/schema.h"

#define LINK_NAME_MAX 15u	/* IFNAMSIZ - 1 */
#define NODE_NAME_MAX 253u	/* RFC 1123, and a Kubernetes node name */

static const char lower_digits[] = "abcdefghijklmnopqrstuvwxyz0123456789";

const char *schema_check_name(const char *text)
{
	size_t len = strlen(text);

	if (!len || len > NODE_NAME_MAX)
		return "1 to 253 characters";
	for (const char *s = text; *s; s++)
		if (!strchr(lower_digits, *s) && !strchr("-.", *s))
			return "lower-case letters, digits, '-' and '.', as in Kubernetes";
	if (!strchr(lower_digits, text[0]) || !strchr(lower_digits, text[len - 1]))
		return "must begin and end with a letter or digit";
	return NULL;
}

/* As dev_valid_name() in net/core/dev.c. */
const char *schema_check_link(const char *text)
{
	size_t len = strlen(text);

	if (!len || len > LINK_NAME_MAX)
		return "1 to 15 characters, as the kernel allows";
	if (!strcmp(text, ".") || !strcmp(text, ".."))
		return "the kernel allows no such link name";
	for (const char *s = text; *s; s++)
		if (*s == '/' || *s == ':' || isspace((unsigned char)*s))
			return "no '/', ':' or white space, as the kernel allows";
	return NULL;
}

const char *schema_check_word(const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._/:-";

	if (!text[0] || text[0] == '-' || text[strspn(text, letters)])
		return "letters, digits and any of . _ / : - (not first)";
	return NULL;
}

/* registry/path:tag, registry/path@digest; not the whole grammar of distribution/reference */
const char *schema_check_image(const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._/:@-";
	const char *name = strrchr(text, '/');

	if (!text[0] || text[strspn(text, letters)])
		return "letters, digits and any of . _ / : @ -";
	if (!name || name == text || !strpbrk(name, ":@"))
		return "write it with registry and tag: nvcr.io/nvidia/driver:580.126.20-rhel10";
	return NULL;
}

/* `#` stands for a lower-case hexadecimal digit. */
static bool matches(const char *text, const char *pattern)
{
	for (; *pattern; pattern++, text++) {
		bool digit = isdigit((unsigned char)*text) || (*text >= 'a' && *text <= 'f');

		if (*pattern == '#' ? !digit : *text != *pattern)
			return false;
	}
	return !*text;
}

const char *schema_check_bdf(const char *text)
{
	if (matches(text, "####:##:##.#") && text[11] <= '7')
		return NULL;
	if (matches(text, "##:##.#"))
		return "write it with its domain: 0000:1b:00.0";
	return "write it as in /sys/bus/pci/devices, in lower case: 0000:1b:00.0";
}

const char *schema_check_pci_id(const char *text)
{
	if (matches(text, "####:####"))
		return NULL;
	return "write vendor:device in lower-case hex: 10de:3182";
}

const char *schema_check_ip(const char *text)
{
	unsigned char binary[sizeof(struct in6_addr)];

	if (inet_pton(AF_INET, text, binary) == 1 || inet_pton(AF_INET6, text, binary) == 1)
		return NULL;
	return strchr(text, '/') ? "without prefix length here: 10.10.1.11"
				 : "write it as 10.10.1.11 or fd00::11";
}

const char *schema_check_prefix(const char *text)
{
	const char *slash = strchr(text, '/');
	unsigned char binary[sizeof(struct in6_addr)];
	int64_t prefix;

	if (!slash)
		return "its prefix length is missing: 10.10.1.11/24";
	_cleanup_free_ char *address = xstrndup(text, (size_t)(slash - text));
	bool v4 = inet_pton(AF_INET, address, binary) == 1;
	if (!v4 && inet_pton(AF_INET6, address, binary) != 1)
		return "write it as 10.10.1.11/24 or fd00::11/64";
	if (!schema_convert_decimal(slash + 1, &prefix) || prefix < 0 || prefix > (v4 ? 32 : 128))
		return "the prefix length is out of range";
	return NULL;
}

const char *schema_check_version(const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._+~:-";

	if (!text[0] || !strpbrk(text, "0123456789"))
		return "a version has a digit in it";
	/* it becomes part of names of images, files and packages */
	if (text[strspn(text, letters)])
		return "letters, digits and any of . _ + ~ : - in a version";
	return NULL;
}

const char *schema_check_kernel(const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._+~-*?[]";

	return text[0] && !text[strspn(text, letters)]
		       ? NULL
		       : "a pattern of `uname -r`: letters, digits and any of . _ + ~ - * ? [ ]";
}

const char *schema_check_path(const char *text)
{
	if (text[0] == '/' && text[strcspn(text, "'\"\\`$\n")])
		return "no quotes, '\\', '`' or '$' in a path";
	return text[0] == '/' ? NULL : "an absolute path begins with '/'";
}

const char *schema_check_url(const char *text)
{
	const char *rest = strstr(text, "://");

	/* RFC 3986, section 2: what a URL is made of, less what a shell or a quote could mistake */
	for (const char *s = text; *s; s++)
		if (!isalnum((unsigned char)*s) && !strchr("-._~:/?#[]@!*+,;=%&", *s))
			return "no quotes, white space or control characters in a URL";
	if (rest && rest != text && rest[3])
		return NULL;
	return "write it with its scheme: https://host/path";
}

const char *schema_check_host(const char *text)
{
	if (!text[0])
		return "it is empty";
	if (strstr(text, "://"))
		return "without a scheme here: registry.example.net:5000";
	/* it ends up in scripts and configurations: nothing that could end a word there */
	for (const char *s = text; *s; s++)
		if (!isalnum((unsigned char)*s) && !strchr("._-:/[]", *s))
			return "letters, digits and any of . _ - : / [ ]";
	return NULL;
}

/* Digits only: no sign but '-', no white space, no other base. */
bool schema_convert_decimal(const char *text, int64_t *value)
{
	const char *digits = text[0] == '-' ? text + 1 : text;

	if (!digits[0] || strspn(digits, "0123456789") != strlen(digits))
		return false;
	return !text_to_i64(text, 10, value);
}

/* "12.5G" with scale 1000 -> 12500. At most three decimals, all of which the scale must carry. */
static bool convert_scaled(const char *text, size_t len, int64_t scale, int64_t *value)
{
	_cleanup_free_ char *number = xstrndup(text, len);
	char *dot = strchr(number, '.');
	int64_t whole, fraction = 0, divisor = 1, product;

	if (dot) {
		*dot = '\0';
		size_t decimals = strlen(dot + 1);
		if (!decimals || decimals > 3 || dot[1] == '-' ||
		    !schema_convert_decimal(dot + 1, &fraction))
			return false;
		while (decimals--)
			divisor *= 10;
	}
	if (!schema_convert_decimal(number, &whole) || whole < 0 || fraction * scale % divisor)
		return false;
	if (__builtin_mul_overflow(whole, scale, &product))
		return false;
	return !__builtin_add_overflow(product, fraction * scale / divisor, value);
}

bool schema_convert_speed(const char *text, int64_t *mbps)
{
	size_t len = strlen(text);

	if (len < 2)
		return false;
	switch (text[len - 1]) {
	case 'G':
		return convert_scaled(text, len - 1, 1000, mbps);
	case 'M':
		return convert_scaled(text, len - 1, 1, mbps);
	default:
		return false;
	}
}

bool schema_convert_bytes(const char *text, int64_t *bytes)
{
	static const struct {
		const char *unit;
		int64_t scale;
	} units[] = { { "KiB", 1 << 10 }, { "MiB", 1 << 20 }, { "GiB", 1 << 30 } };

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (!text_ends_with(text, units[i].unit))
			continue;
		return convert_scaled(text, strlen(text) - strlen(units[i].unit), units[i].scale,
				      bytes);
	}
	return schema_convert_decimal(text, bytes);
}

bool schema_convert_memlock(const char *text, int64_t *bytes)
{
	if (!strcmp(text, "unlimited")) {
		*bytes = -1;
		return true;
	}
	return schema_convert_bytes(text, bytes) && *bytes >= 0;
}

bool schema_convert_percent(const char *text, int64_t *percent)
{
	size_t len = strlen(text);

	if (len && text[len - 1] == '%')
		return convert_scaled(text, len - 1, 1, percent);
	return schema_convert_decimal(text, percent);
}

/* enum ib_mtu: the MTUs that a RoCE path can have. */
bool schema_convert_roce_mtu(const char *text, int64_t *bytes)
{
	static const int64_t mtus[] = { 256, 512, 1024, 2048, 4096 };

	if (!schema_convert_decimal(text, bytes))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(mtus); i++)
		if (*bytes == mtus[i])
			return true;
	return false;
}
