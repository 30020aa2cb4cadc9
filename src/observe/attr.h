/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Netlink attributes with their lengths checked, on top of libmnl. Nothing that a kernel (or a
 * recording, or a fuzzer) puts into an attribute is used before its length was compared with its
 * type: an attribute that does not fit is treated as absent, so that the fact is "not observed"
 * and never a wrong value.
 */
#pragma once

#include <libmnl/libmnl.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"

/*
 * What the attribute at this place of a table must be. Tables are indexed by attribute number, as
 * the kernel's nla_policy; a zero entry (MNL_TYPE_UNSPEC) accepts any payload of `min_len` bytes or
 * more.
 * Numbers must have exactly their size, MNL_TYPE_FLAG none; MNL_TYPE_BINARY and MNL_TYPE_STRING
 * need at least `min_len` bytes; MNL_TYPE_NESTED must be empty or hold one whole header.
 */
struct attr_type {
	uint8_t type;		/* enum mnl_attr_data_type */
	uint16_t min_len;
};

/*
 * Sort the attributes of a message behind its family header of `header_len` bytes (not padded) into
 * tb[0..max], all of which is set to NULL first; `types` has max + 1 entries, or is NULL.
 * Attribute numbers above `max` are left out: a newer kernel knows more. The last one of equal
 * numbers stays. The entries point into the message.
 * Returns 0, or -EBADMSG when the message is shorter than the header, an attribute did not fit its
 * type or the attributes do not fill their container; tb then holds those that were right.
 */
int attr_parse(const struct nlmsghdr *nlh, size_t header_len, const struct nlattr **tb,
	       uint16_t max, const struct attr_type *types);
/* As attr_parse(), for the attributes inside `nest`; NULL gives an empty tb and 0. */
int attr_parse_nested(const struct nlattr *nest, const struct nlattr **tb, uint16_t max,
		      const struct attr_type *types);

/* As attr_parse(), for `len` bytes of attributes at `start` (4-byte aligned). */
int attr_parse_bytes(const void *start, size_t len, const struct nlattr **tb, uint16_t max,
		     const struct attr_type *types);

/*
 * Walk a nest whose attributes repeat (lists): `cursor` starts as NULL; returns the next attribute
 * or NULL at the end (or at a length that does not fit). `nest` may be NULL.
 *
 *	for (const struct nlattr *a = NULL; (a = attr_next_nested(nest, a));)
 */
const struct nlattr *attr_next_nested(const struct nlattr *nest, const struct nlattr *cursor);
/* The same for the attributes of a message. */
const struct nlattr *attr_next(const struct nlmsghdr *nlh, size_t header_len,
			       const struct nlattr *cursor);

/* Number of an attribute of 1, 2, 4 or 8 bytes in host byte order. False: absent, other length. */
bool attr_get_u64(const struct nlattr *a, uint64_t *value);
/* The same in 32 bits, for values that fit. */
bool attr_get_u32(const struct nlattr *a, uint32_t *value);

/* Copy the first `size` bytes of the payload to `out`; false (and `out` untouched) when the payload
 * is shorter or the attribute absent. The way to read a struct: longer ones are newer kernels'. */
bool attr_get_struct(const struct nlattr *a, void *out, size_t size);

/* Text of the payload up to its first NUL or its end, made printable. NULL when absent or empty
 * of bytes (an empty text is ""). The caller frees. */
char *attr_text(const struct nlattr *a);
/* Payload as "aa:bb:cc…"; NULL when absent, empty or longer than 32 bytes (MAX_ADDR_LEN). */
char *attr_mac(const struct nlattr *a);
/* IPv4 (4 bytes) or IPv6 (16 bytes) payload as text, by `family`; NULL at any other length. */
char *attr_ip(const struct nlattr *a, int family);

/* The same of `len` bytes at `address`. */
char *attr_ip_bytes(int family, const void *address, size_t len);

/* obj[key] = the attribute; nothing when it is absent or does not fit. */
void attr_put_number(json_t *obj, const char *key, const struct nlattr *a);
void attr_put_bool(json_t *obj, const char *key, const struct nlattr *a);
void attr_put_text(json_t *obj, const char *key, const struct nlattr *a);
void attr_put_mac(json_t *obj, const char *key, const struct nlattr *a);
/* names[value], or the number as text when it has no name. */
void attr_put_name(json_t *obj, const char *key, const struct nlattr *a, const char *const *names,
		   size_t n);
