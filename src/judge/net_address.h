/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of net.address. */
#pragma once

#include "judge/gate.h"

/* An address, or a network when only the first `prefix` bits count. */
struct address {
	int family; /* AF_INET, AF_INET6 */
	unsigned char bytes[16];
	unsigned bits; /* 32 or 128 */
	unsigned prefix;
};

/* One declared address. */
struct declared {
	const char *link;
	const char *text; /* as declared, with or without prefix */
	bool has_prefix;
	const struct site_where *where;
	struct address address;
};

struct address_check {
	struct judging *g;
	struct declared *d;
	size_t n, capacity;
};

/* "10.0.0.11/24" or "10.0.0.11" (then the prefix is all bits); false when it is no address. */
bool address_parse(const char *text, struct address *a);
/* Do the first `bits` bits agree? */
bool address_same_bits(const struct address *a, const struct address *b, unsigned bits);

/* Two declared links in one subnet; says so and returns true. */
bool judge_address_overlaps(struct address_check *c);
/* Do subnets and peers of the declared addresses leave by their links? */
void judge_address_routes(struct address_check *c);
