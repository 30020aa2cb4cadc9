/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes that a proof carries. Each 64-bit word tells its position, the generation of the buffer
 * and a seed of the run, through a bijection that can be undone: so a word that is wrong tells
 * where it came from (another place, an earlier generation) or that it is nothing that was ever
 * written.
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

/*
 * Word `index` of the stream (its bytes 8 * index and on, little-endian), for every place that
 * makes it: processor and GPU.
 *
 *	x  = key + PATTERN_STEP * (generation mod 2^24 + 2^24 * (index mod 2^40))	mod 2^64
 *	lo = low 32 bits of x + high 32 bits of x	mod 2^32
 *	hi = high 32 bits of x
 *
 * where the key is made of the seed and of the bits that the two numbers have beyond. Under one key
 * every (index, generation) has its own word, since each step can be undone. One addition makes the
 * next word, so that a fill runs at the speed of memory. PATTERN_STEP is the odd number next to
 * 2^64 / golden ratio; it has two more properties that the tests confirm:
 * - words of consecutive generations, and of consecutive places, differ in every byte: even one
 *   stale byte is seen;
 * - no change of a single byte makes the word of a place within 2 GiB and of a generation within
 *   65,000: damage is never taken for a block that moved.
 */
#define PATTERN_STEP 0x9e3779b97f4a7c15ull
#define PATTERN_GENERATION_BITS 24
#define PATTERN_INDEX_BITS 40

/* SplitMix64's finalizer (Steele, Lea, Flood 2014). */
static inline uint64_t pattern_mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

/* Key of all words whose index has the same bits above PATTERN_INDEX_BITS. */
static inline uint64_t pattern_key(const struct pattern *p, uint64_t index)
{
	uint64_t beyond = (uint64_t)(p->generation >> PATTERN_GENERATION_BITS) << 32 |
			  index >> PATTERN_INDEX_BITS;

	return pattern_mix(p->seed + PATTERN_STEP + pattern_mix(beyond));
}

/* x of the comment above; x of the next word is x + (PATTERN_STEP << PATTERN_GENERATION_BITS). */
static inline uint64_t pattern_state(uint64_t key, uint64_t index, uint32_t generation)
{
	return key + PATTERN_STEP * (index << PATTERN_GENERATION_BITS |
				     (generation & ((1u << PATTERN_GENERATION_BITS) - 1)));
}

static inline uint64_t pattern_word_of(uint64_t state)
{
	return (state & ~0xffffffffull) | (uint32_t)(state + (state >> 32));
}

/* Undoes pattern_word_of(). */
static inline uint64_t pattern_state_of(uint64_t word)
{
	return (word & ~0xffffffffull) | (uint32_t)(word - (word >> 32));
}

static inline uint64_t pattern_word(uint64_t index, const struct pattern *p)
{
	return pattern_word_of(pattern_state(pattern_key(p, index), index, p->generation));
}

/*
 * The poison is one word for each seed; byte n of it stands at every address with n = address mod 8
 * (the address of the memory where it lies). It is the word of the last place of the last
 * generation, which no run comes to.
 */
static inline uint64_t pattern_poison_word(uint64_t seed)
{
	const struct pattern p = { .seed = seed };

	return pattern_word_of(pattern_key(&p, 0) - PATTERN_STEP);
}

enum pattern_fault_kind {
	PATTERN_CORRUPT,	/* never written by this run */
	PATTERN_STALE,		/* an earlier generation of the same place */
	PATTERN_MISPLACED,	/* another place, of this or an earlier generation */
	PATTERN_MISSING,	/* what was there before: the fill that the receiver put in */
};

struct pattern_fault {
	enum pattern_fault_kind kind;
	uint64_t offset;	/* of the first wrong byte, in what was checked */
	uint64_t wrong_bytes;
	uint32_t generation;	/* that was expected */
	uint64_t from_offset;	/* MISPLACED: place in the stream of what stands at `offset` */
	uint32_t from_generation;	/* STALE, MISPLACED */
};

/* Fill `len` bytes that stand at `offset` of the stream. Any alignment and length. */
void pattern_fill(void *buffer, size_t len, uint64_t offset, const struct pattern *p);

/*
 * Check all of them. True: every byte is right. False: `*fault` describes the first that is not,
 * and counts all; NULL is allowed.
 *
 * The kind is told from the bytes around the first wrong one. Poison is known when it was made with
 * the seed of the run. A byte of it is equal to the right one in one of 256 places; for messages of
 * a few bytes leave the generation before in the buffer instead, which differs in every byte.
 */
bool pattern_check(const void *buffer, size_t len, uint64_t offset, const struct pattern *p,
		   struct pattern_fault *fault);

/* What a receiver puts into a buffer before data comes, and around it (canaries): no word of any
 * pattern. */
void pattern_poison(void *buffer, size_t len, uint64_t seed);
/* True: nothing wrote to it. False: `*offset` is the first other byte, `*wrong_bytes` their number
 * (both may be NULL). */
bool pattern_poison_intact(const void *buffer, size_t len, uint64_t seed, uint64_t *offset,
			   uint64_t *wrong_bytes);

/* "3 bytes are wrong, the first at offset 4096: stale, of generation 2, not 3". The caller
 * frees. */
char *pattern_fault_text(const struct pattern_fault *fault);
