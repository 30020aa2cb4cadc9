/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fill and check at the speed of memory: vectors of the compiler (gcc and clang make SSE2 or NEON
 * of them, whatever the build is for), one addition for the next words, no multiplication inside a
 * loop. What a fault is, is told by pattern_fault.c, of the one block that has it.
 */
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "prove/pattern_fault.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words of the stream are little-endian");

#define WORD sizeof(uint64_t)
#define LANES 2u		/* words of a vector: 16 bytes, which every processor has */
#define VECTORS 4u		/* of one turn of a loop, so that additions overlap */
#define TURN (LANES * VECTORS)	/* words of a turn: 64 bytes */
#define STEP_WORD (PATTERN_STEP << PATTERN_GENERATION_BITS)
/* Ahead of what is read: one core alone does not ask for enough. A third faster than without. */
#define PREFETCH_BYTES 2048u
/* Fills of this size and more would not stay in the cache of one core. */
#define PAST_CACHE_BYTES (4u << 20)
/* Words that are checked before the result is looked at: 32 KiB. */
#define BLOCK_WORDS (32u * 128u)

typedef uint64_t lanes __attribute__((vector_size(LANES * sizeof(uint64_t))));
typedef uint32_t halves __attribute__((vector_size(LANES * sizeof(uint64_t))));

/* States of the words of one turn; members, since gcc keeps an array in memory. */
struct stream {
	lanes a, b, c, d;
};

static inline struct stream stream_begin(uint64_t index, const struct pattern *p)
{
	uint64_t first = pattern_state(pattern_key(p, index), index, p->generation);
	const lanes a = { first, first + STEP_WORD };

	return (struct stream){ a, a + 2 * STEP_WORD, a + 4 * STEP_WORD, a + 6 * STEP_WORD };
}

static inline void stream_turn(struct stream *s)
{
	s->a += STEP_WORD * TURN;
	s->b += STEP_WORD * TURN;
	s->c += STEP_WORD * TURN;
	s->d += STEP_WORD * TURN;
}

/* pattern_word_of() of each lane: the high half is added to the low one, the high one stays. */
static inline lanes lanes_word(lanes state)
{
	return (lanes)((halves)state + (halves)(state >> 32));
}

/* `past_cache`: without reading the line first, and without pushing out of the cache what others
 * need; `to` is then a multiple of 16. */
static inline void store(uint8_t *to, lanes state, bool past_cache)
{
	lanes word = lanes_word(state);

#ifdef __SSE2__
	if (past_cache) {
		_mm_stream_si128((__m128i *)(void *)to, (__m128i)word);
		return;
	}
#endif
	memcpy(to, &word, sizeof(word));
}

static inline lanes difference(const uint8_t *from, lanes state)
{
	lanes word;

	memcpy(&word, from, sizeof(word));
	return word ^ lanes_word(state);
}

static inline __attribute__((always_inline)) void fill_loop(uint8_t *to, size_t turns,
							    struct stream s, bool past_cache)
{
	for (; turns; turns--, to += TURN * WORD) {
		store(to, s.a, past_cache);
		store(to + sizeof(lanes), s.b, past_cache);
		store(to + 2 * sizeof(lanes), s.c, past_cache);
		store(to + 3 * sizeof(lanes), s.d, past_cache);
		stream_turn(&s);
	}
}

static void fill_turns(uint8_t *to, size_t turns, uint64_t index, const struct pattern *p)
{
	struct stream s = stream_begin(index, p);

#ifdef __SSE2__
	if (turns * TURN * WORD >= PAST_CACHE_BYTES && (uintptr_t)to % sizeof(lanes) == 0) {
		fill_loop(to, turns, s, true);
		_mm_sfence();	/* such stores are in no order with later ones, a doorbell's */
		return;
	}
#endif
	fill_loop(to, turns, s, false);
}

static bool check_turns(const uint8_t *from, size_t turns, uint64_t index, const struct pattern *p)
{
	struct stream s = stream_begin(index, p);
	lanes wrong = {0};

	for (; turns; turns--, from += TURN * WORD) {
		/* beyond the buffer too: a prefetch cannot fault */
		__builtin_prefetch((const void *)((uintptr_t)from + PREFETCH_BYTES), 0, 3);
		wrong |= difference(from, s.a) | difference(from + sizeof(lanes), s.b) |
			 difference(from + 2 * sizeof(lanes), s.c) |
			 difference(from + 3 * sizeof(lanes), s.d);
		stream_turn(&s);
	}
	return !(wrong[0] | wrong[1]);
}

/*
 * A stretch of a buffer that is even with the stream's words: `head` bytes of a word that began
 * before it, whole words, the rest. The keys of all words are the same.
 */
struct stretch {
	size_t head, words, tail;
	uint64_t index;		/* of the first whole word */
};

static struct stretch stretch_of(size_t len, uint64_t offset)
{
	struct stretch s = { .head = (size_t)(-offset % WORD) };

	if (s.head > len)
		s.head = len;
	s.index = (offset + s.head) / WORD;
	s.words = (len - s.head) / WORD;
	s.tail = (len - s.head) % WORD;
	return s;
}

/* Words from `index` on, of at most `words`, that share its key. */
static size_t words_of_key(uint64_t index, size_t words)
{
	uint64_t left = (1ull << PATTERN_INDEX_BITS) - index % (1ull << PATTERN_INDEX_BITS);

	return words < left ? words : (size_t)left;
}

/* Bytes of one word, from its byte `at` on. */
static void fill_part(uint8_t *to, size_t len, uint64_t index, size_t at, const struct pattern *p)
{
	uint64_t word = pattern_word(index, p);

	memcpy(to, (const uint8_t *)&word + at, len);
}

static void fill_words(uint8_t *to, size_t words, uint64_t index, const struct pattern *p)
{
	size_t turns = words / TURN;

	fill_turns(to, turns, index, p);
	for (size_t i = turns * TURN; i < words; i++)
		fill_part(to + i * WORD, WORD, index + i, 0, p);
}

void pattern_fill(void *buffer, size_t len, uint64_t offset, const struct pattern *p)
{
	struct stretch s = stretch_of(len, offset);
	uint8_t *to = buffer;

	fill_part(to, s.head, offset / WORD, offset % WORD, p);
	to += s.head;
	while (s.words) {
		size_t n = words_of_key(s.index, s.words);

		fill_words(to, n, s.index, p);
		to += n * WORD;
		s.index += n;
		s.words -= n;
	}
	fill_part(to, s.tail, s.index, 0, p);
}

static bool check_part(const uint8_t *from, size_t len, uint64_t index, size_t at,
		       const struct pattern *p)
{
	uint64_t word = pattern_word(index, p);

	return memcmp(from, (const uint8_t *)&word + at, len) == 0;
}

static bool check_words(const uint8_t *from, size_t words, uint64_t index, const struct pattern *p)
{
	size_t turns = words / TURN;
	bool right = check_turns(from, turns, index, p);

	for (size_t i = turns * TURN; i < words; i++)
		right &= check_part(from + i * WORD, WORD, index + i, 0, p);
	return right;
}

bool pattern_check(const void *buffer, size_t len, uint64_t offset, const struct pattern *p,
		   struct pattern_fault *fault)
{
	struct fault_search search = { .buffer = buffer, .len = len, .offset = offset, .p = p,
				       .fault = fault };
	struct stretch s = stretch_of(len, offset);
	const uint8_t *from = buffer;

	if (!check_part(from, s.head, offset / WORD, offset % WORD, p))
		fault_search(&search, 0, s.head);
	from += s.head;
	while (s.words) {
		size_t n = words_of_key(s.index, s.words < BLOCK_WORDS ? s.words : BLOCK_WORDS);

		if (!check_words(from, n, s.index, p))
			fault_search(&search, (size_t)(from - (const uint8_t *)buffer), n * WORD);
		from += n * WORD;
		s.index += n;
		s.words -= n;
	}
	if (!check_part(from, s.tail, s.index, 0, p))
		fault_search(&search, (size_t)(from - (const uint8_t *)buffer), s.tail);
	return !search.wrong_bytes;
}

/* --- poison ----------------------------------------------------------------------------------- */

/* The poison word as a buffer at `address` begins with it. */
static uint64_t poison_at(const void *address, uint64_t seed)
{
	uint64_t word = pattern_poison_word(seed);
	unsigned bits = (unsigned)((uintptr_t)address % WORD * 8);

	return bits ? word >> bits | word << (64 - bits) : word;
}

void pattern_poison(void *buffer, size_t len, uint64_t seed)
{
	uint64_t word = poison_at(buffer, seed);
	uint8_t *to = buffer;

	for (size_t i = 0; i < len / WORD; i++)
		memcpy(to + i * WORD, &word, WORD);
	memcpy(to + len / WORD * WORD, &word, len % WORD);
}

bool pattern_poison_intact(const void *buffer, size_t len, uint64_t seed, uint64_t *offset,
			   uint64_t *wrong_bytes)
{
	uint64_t word = poison_at(buffer, seed), wrong = 0;
	const uint8_t *from = buffer;
	size_t first = 0;

	/* equal to itself one word on, and begins with the word: one pass of memcmp(3) */
	if (memcmp(from, &word, len < WORD ? len : WORD) == 0 &&
	    (len <= WORD || memcmp(from, from + WORD, len - WORD) == 0))
		return true;
	for (size_t i = 0; i < len; i++) {
		if (from[i] == (uint8_t)(word >> i % WORD * 8))
			continue;
		if (!wrong++)
			first = i;
	}
	if (offset)
		*offset = first;
	if (wrong_bytes)
		*wrong_bytes = wrong;
	return false;
}
