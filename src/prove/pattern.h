/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes that a proof carries. Each 64-bit word tells its position, the generation of the buffer
 * and a seed of the run, through a bijection that can be undone: so a word that is wrong tells where
 * it came from (another place, an earlier generation) or that it is nothing that was ever written.
 * A constant fill would not see a block that arrived in a wrong place.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pattern {
	uint64_t seed;		/* of the run, agreed by both ends */
	uint32_t generation;	/* counts the times that a buffer is filled */
};

enum pattern_fault_kind {
	PATTERN_CORRUPT,	/* never written by this run */
	PATTERN_STALE,		/* an earlier generation of the same place */
	PATTERN_MISPLACED,	/* right generation, another place */
	PATTERN_MISSING,	/* what was there before: the fill that the receiver put in */
};

struct pattern_fault {
	enum pattern_fault_kind kind;
	uint64_t offset;	/* of the first wrong byte */
	uint64_t wrong_bytes;
	uint64_t from_offset;	/* MISPLACED: where its first whole word belongs */
	uint32_t from_generation;	/* STALE, MISPLACED */
};

/* Fill `len` bytes that stand at `offset` of the stream. Any alignment and length. */
void pattern_fill(void *buffer, size_t len, uint64_t offset, const struct pattern *p);

/* Check all of them. True: every byte is right. False: `*fault` describes the first, and counts
 * all. */
bool pattern_check(const void *buffer, size_t len, uint64_t offset, const struct pattern *p,
		   struct pattern_fault *fault);

/* What a receiver puts into a buffer before data comes, and around it (canaries): no word of any
 * pattern. */
void pattern_poison(void *buffer, size_t len, uint64_t seed);
bool pattern_poison_intact(const void *buffer, size_t len, uint64_t seed, uint64_t *offset);

/* "3 bytes from offset 4096 on are an earlier generation (2, not 3)". The caller frees. */
char *pattern_fault_text(const struct pattern_fault *fault);
