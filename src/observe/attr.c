/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/attr.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

#define MAC_MAX 32u /* MAX_ADDR_LEN, linux/netdevice.h */

static bool fits(const struct nlattr *a, const struct attr_type *t)
{
	uint16_t len = mnl_attr_get_payload_len(a);

	switch (t->type) {
	case MNL_TYPE_U8:
		return len == sizeof(uint8_t);
	case MNL_TYPE_U16:
		return len == sizeof(uint16_t);
	case MNL_TYPE_U32:
		return len == sizeof(uint32_t);
	case MNL_TYPE_U64:
		return len == sizeof(uint64_t);
	case MNL_TYPE_FLAG:
		return len == 0;
	case MNL_TYPE_NESTED:
		return len == 0 || len >= MNL_ATTR_HDRLEN;
	default:
		return len >= t->min_len;
	}
}

/* Next attribute of `len` bytes at `start`: the one behind `cursor`, or the first. */
static const struct nlattr *next_in(const void *start, size_t len, const struct nlattr *cursor)
{
	const char *end = (const char *)start + len;
	const char *p = start;

	if (cursor) {
		size_t step = MNL_ALIGN(cursor->nla_len);

		/* the padding of the last attribute may be missing */
		if (step >= (size_t)(end - (const char *)cursor))
			return NULL;
		p = (const char *)cursor + step;
	}
	if ((size_t)(end - p) < sizeof(struct nlattr))
		return NULL;

	const struct nlattr *a = (const void *)p;
	if (a->nla_len < sizeof(*a) || a->nla_len > (size_t)(end - p))
		return NULL;
	return a;
}

int attr_parse_bytes(const void *start, size_t len, const struct nlattr **tb, uint16_t max,
		     const struct attr_type *types)
{
	const struct nlattr *a = NULL;
	const char *seen = start;
	int rc = 0;

	for (unsigned i = 0; i <= max; i++)
		tb[i] = NULL;

	while ((a = next_in(start, len, a))) {
		uint16_t type = mnl_attr_get_type(a);

		seen = (const char *)a + MNL_ALIGN(a->nla_len);
		if (type > max)
			continue;
		if (types && !fits(a, &types[type]))
			rc = -EBADMSG;
		else
			tb[type] = a;
	}
	if (seen < (const char *)start + len)
		rc = -EBADMSG;
	return rc;
}

/* Attributes of a message: false when it is shorter than its headers. */
static bool body(const struct nlmsghdr *nlh, size_t header_len, const void **start, size_t *len)
{
	size_t skip = MNL_NLMSG_HDRLEN + MNL_ALIGN(header_len);

	if (nlh->nlmsg_len < MNL_NLMSG_HDRLEN + header_len)
		return false;
	*start = (const char *)nlh + skip;
	*len = nlh->nlmsg_len > skip ? nlh->nlmsg_len - skip : 0;
	return true;
}

int attr_parse(const struct nlmsghdr *nlh, size_t header_len, const struct nlattr **tb,
	       uint16_t max, const struct attr_type *types)
{
	const void *start;
	size_t len;

	if (!body(nlh, header_len, &start, &len)) {
		attr_parse_bytes("", 0, tb, max, types);
		return -EBADMSG;
	}
	return attr_parse_bytes(start, len, tb, max, types);
}

int attr_parse_nested(const struct nlattr *nest, const struct nlattr **tb, uint16_t max,
		      const struct attr_type *types)
{
	if (!nest)
		return attr_parse_bytes("", 0, tb, max, types);
	return attr_parse_bytes(mnl_attr_get_payload(nest), mnl_attr_get_payload_len(nest), tb, max,
				types);
}

const struct nlattr *attr_next_nested(const struct nlattr *nest, const struct nlattr *cursor)
{
	if (!nest)
		return NULL;
	return next_in(mnl_attr_get_payload(nest), mnl_attr_get_payload_len(nest), cursor);
}

const struct nlattr *attr_next(const struct nlmsghdr *nlh, size_t header_len,
			       const struct nlattr *cursor)
{
	const void *start;
	size_t len;

	return body(nlh, header_len, &start, &len) ? next_in(start, len, cursor) : NULL;
}

bool attr_get_u64(const struct nlattr *a, uint64_t *value)
{
	if (!a)
		return false;
	switch (mnl_attr_get_payload_len(a)) {
	case sizeof(uint8_t):
		*value = mnl_attr_get_u8(a);
		return true;
	case sizeof(uint16_t):
		*value = mnl_attr_get_u16(a);
		return true;
	case sizeof(uint32_t):
		*value = mnl_attr_get_u32(a);
		return true;
	case sizeof(uint64_t): /* not 8-byte aligned in the message: libmnl copies */
		*value = mnl_attr_get_u64(a);
		return true;
	default:
		return false;
	}
}

bool attr_get_u32(const struct nlattr *a, uint32_t *value)
{
	uint64_t v;

	if (!attr_get_u64(a, &v) || v > UINT32_MAX)
		return false;
	*value = (uint32_t)v;
	return true;
}

bool attr_get_struct(const struct nlattr *a, void *out, size_t size)
{
	if (!a || mnl_attr_get_payload_len(a) < size)
		return false;
	memcpy(out, mnl_attr_get_payload(a), size);
	return true;
}

char *attr_text(const struct nlattr *a)
{
	size_t len = a ? mnl_attr_get_payload_len(a) : 0;

	if (!len)
		return NULL;
	return text_printable(mnl_attr_get_payload(a), strnlen(mnl_attr_get_payload(a), len));
}

char *attr_mac(const struct nlattr *a)
{
	size_t len = a ? mnl_attr_get_payload_len(a) : 0;
	const uint8_t *mac;
	char *text;

	if (!len || len > MAC_MAX)
		return NULL;
	mac = mnl_attr_get_payload(a);
	text = xmalloc(3 * len);
	for (size_t i = 0; i < len; i++)
		snprintf(text + 3 * i, 3 * (len - i), i + 1 < len ? "%02x:" : "%02x", mac[i]);
	return text;
}

char *attr_ip_bytes(int family, const void *address, size_t len)
{
	size_t want = family == AF_INET ? sizeof(struct in_addr) : sizeof(struct in6_addr);
	char text[INET6_ADDRSTRLEN];

	if ((family != AF_INET && family != AF_INET6) || len != want)
		return NULL;
	if (!inet_ntop(family, address, text, sizeof(text)))
		return NULL;
	return xstrdup(text);
}

char *attr_ip(const struct nlattr *a, int family)
{
	if (!a)
		return NULL;
	return attr_ip_bytes(family, mnl_attr_get_payload(a), mnl_attr_get_payload_len(a));
}

void attr_put_number(json_t *obj, const char *key, const struct nlattr *a)
{
	uint64_t value;

	if (attr_get_u64(a, &value))
		json_put_u64(obj, key, value);
}

void attr_put_bool(json_t *obj, const char *key, const struct nlattr *a)
{
	uint64_t value;

	if (attr_get_u64(a, &value))
		json_put_bool(obj, key, value != 0);
}

void attr_put_text(json_t *obj, const char *key, const struct nlattr *a)
{
	_cleanup_free_ char *text = attr_text(a);

	json_put_string(obj, key, text);
}

void attr_put_mac(json_t *obj, const char *key, const struct nlattr *a)
{
	_cleanup_free_ char *text = attr_mac(a);

	json_put_string(obj, key, text);
}

void attr_put_name(json_t *obj, const char *key, const struct nlattr *a, const char *const *names,
		   size_t n)
{
	uint64_t value;

	if (!attr_get_u64(a, &value))
		return;
	if (value < n && names[value])
		json_put_string(obj, key, names[value]);
	else
		json_put_stringf(obj, key, "%" PRIu64, value);
}
