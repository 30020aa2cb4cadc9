/* SPDX-License-Identifier: Apache-2.0 */
/* Bitsets of ethtool netlink: Documentation/networking/ethtool-netlink.rst, "Bit sets". */
#include "observe/ethtool.h"

#include <errno.h>
#include <linux/ethtool_netlink.h>
#include <string.h>

#include "base/alloc.h"

static const struct attr_type bitset_types[ETHTOOL_A_BITSET_MAX + 1] = {
	[ETHTOOL_A_BITSET_NOMASK] = {MNL_TYPE_FLAG},
	[ETHTOOL_A_BITSET_SIZE] = {MNL_TYPE_U32},
	[ETHTOOL_A_BITSET_BITS] = {MNL_TYPE_NESTED},
};

static const struct attr_type bit_types[ETHTOOL_A_BITSET_BIT_MAX + 1] = {
	[ETHTOOL_A_BITSET_BIT_INDEX] = {MNL_TYPE_U32},
	[ETHTOOL_A_BITSET_BIT_NAME] = {MNL_TYPE_STRING, 1},
	[ETHTOOL_A_BITSET_BIT_VALUE] = {MNL_TYPE_FLAG},
};

/* With a mask the list has the supported bits, and those that are set carry VALUE. Without one
 * (NOMASK) the list has the set bits only. */
static int walk_list(const struct nlattr *list, bool nomask, ethtool_bit_cb cb, void *data)
{
	int rc = 0;

	for (const struct nlattr *a = NULL; (a = attr_next_nested(list, a));) {
		const struct nlattr *tb[ETHTOOL_A_BITSET_BIT_MAX + 1];
		_cleanup_free_ char *name = NULL;
		uint32_t index;

		if (mnl_attr_get_type(a) != ETHTOOL_A_BITSET_BITS_BIT)
			continue;
		if (attr_parse_nested(a, tb, ETHTOOL_A_BITSET_BIT_MAX, bit_types) < 0 ||
		    !attr_get_u32(tb[ETHTOOL_A_BITSET_BIT_INDEX], &index)) {
			rc = -EBADMSG;
			continue;
		}
		name = attr_text(tb[ETHTOOL_A_BITSET_BIT_NAME]);
		cb(index, name, nomask || tb[ETHTOOL_A_BITSET_BIT_VALUE], data);
	}
	return rc;
}

static bool bit(const struct nlattr *words, uint32_t index)
{
	uint32_t word;

	memcpy(&word, (const char *)mnl_attr_get_payload(words) + index / 32 * sizeof(word),
	       sizeof(word));
	return word >> (index % 32) & 1;
}

static int walk_words(const struct nlattr *value, const struct nlattr *mask, uint32_t size,
		      ethtool_bit_cb cb, void *data)
{
	/* no overflow: a payload has at most 2^16 bytes */
	if (size > 8u * mnl_attr_get_payload_len(value) ||
	    (mask && size > 8u * mnl_attr_get_payload_len(mask)))
		return -EBADMSG;
	for (uint32_t i = 0; i < size; i++)
		if (mask ? bit(mask, i) : bit(value, i))
			cb(i, NULL, bit(value, i), data);
	return 0;
}

int ethtool_bitset_walk(const struct nlattr *bitset, ethtool_bit_cb cb, void *data)
{
	const struct nlattr *tb[ETHTOOL_A_BITSET_MAX + 1];
	uint32_t size;

	if (attr_parse_nested(bitset, tb, ETHTOOL_A_BITSET_MAX, bitset_types) < 0)
		return -EBADMSG;
	if (tb[ETHTOOL_A_BITSET_BITS])
		return walk_list(tb[ETHTOOL_A_BITSET_BITS], tb[ETHTOOL_A_BITSET_NOMASK], cb, data);
	if (!tb[ETHTOOL_A_BITSET_VALUE] || !attr_get_u32(tb[ETHTOOL_A_BITSET_SIZE], &size))
		return -EBADMSG;
	return walk_words(tb[ETHTOOL_A_BITSET_VALUE], tb[ETHTOOL_A_BITSET_MASK], size, cb, data);
}
