/* SPDX-License-Identifier: Apache-2.0 */
/* Written from the paper "SipHash: a fast short-input PRF"; tested with the vector of its
 * appendix. */
#include <string.h>

#include "host/siphash.h"

static inline uint64_t rotate(uint64_t x, unsigned n)
{
	return x << n | x >> (64 - n);
}

static void rounds(uint64_t v[4], unsigned n)
{
	while (n--) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = rotate(v[1], 13) ^ v[0];
		v[3] = rotate(v[3], 16) ^ v[2];
		v[0] = rotate(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = rotate(v[1], 17) ^ v[2];
		v[3] = rotate(v[3], 21) ^ v[0];
		v[2] = rotate(v[2], 32);
	}
}

static uint64_t load_le64(const uint8_t *p, size_t n)
{
	uint64_t word = 0;

	for (size_t i = 0; i < n; i++)
		word |= (uint64_t)p[i] << (8 * i);
	return word;
}

uint64_t siphash(const uint64_t key[2], const void *data, size_t len)
{
	uint64_t v[4] = {
		key[0] ^ 0x736f6d6570736575ull,	/* "somepseudorandomlygeneratedbytes" */
		key[1] ^ 0x646f72616e646f6dull,
		key[0] ^ 0x6c7967656e657261ull,
		key[1] ^ 0x7465646279746573ull,
	};
	const uint8_t *bytes = data;
	size_t left = len;

	for (; left >= 8; left -= 8, bytes += 8) {
		uint64_t word = load_le64(bytes, 8);

		v[3] ^= word;
		rounds(v, 2);
		v[0] ^= word;
	}
	uint64_t last = (uint64_t)len << 56 | load_le64(bytes, left);
	v[3] ^= last;
	rounds(v, 2);
	v[0] ^= last;
	v[2] ^= 0xff;
	rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
