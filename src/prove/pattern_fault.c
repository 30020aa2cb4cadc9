/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What wrong bytes are. The words of the stream can be undone to (place, generation): a word that
 * leads to another place or an earlier generation, with its neighbour in agreement, was written by
 * this run and came to the wrong place or too late.
 */
#include <string.h>

#include "base/alloc.h"
#include "prove/pattern_fault.h"

#define WORD sizeof(uint64_t)
#define GENERATION_MASK ((1u << PATTERN_GENERATION_BITS) - 1)
#define INDEX_MASK ((1ull << PATTERN_INDEX_BITS) - 1)
/* Inverse of PATTERN_STEP mod 2^64. */
#define STEP_INVERSE 0xf1de83e19937733dull
/* A single word is believed only when it leads to a place and a generation as near as this: no
 * change of one byte does (pattern.h). */
#define NEAR_BYTES (1ll << 31)
#define NEAR_GENERATIONS 65000u

/* One word undone. */
struct origin {
	uint64_t index;
	uint32_t generation;
};

/* The first wrong byte with those around it. */
struct evidence {
	const struct fault_search *search;
	size_t first, last;	/* wrong bytes, to the end of the next word at most */
};

static uint8_t byte_of_stream(uint64_t offset, const struct pattern *p)
{
	return (uint8_t)(pattern_word(offset / WORD, p) >> offset % WORD * 8);
}

/* Are the bytes from `at` to before `end` those of the stream from `from` on? */
static bool is_stream(const struct fault_search *s, size_t at, size_t end, uint64_t from,
		      uint32_t generation)
{
	const struct pattern p = { .seed = s->p->seed, .generation = generation };

	for (size_t i = at; i < end; i++)
		if (s->buffer[i] != byte_of_stream(from + (i - at), &p))
			return false;
	return true;
}

/* Undo the word at `at`. `near` is the place that it is expected at: bits beyond the word's own are
 * taken from there. False: no generation up to the present one has it. */
static bool word_origin(struct origin *origin, const struct fault_search *s, size_t at,
			uint64_t near)
{
	uint64_t word, x;

	memcpy(&word, s->buffer + at, WORD);
	x = (pattern_state_of(word) - pattern_key(s->p, near)) * STEP_INVERSE;
	origin->index = (near & ~INDEX_MASK) | x >> PATTERN_GENERATION_BITS;
	origin->generation = (s->p->generation & ~GENERATION_MASK) | (x & GENERATION_MASK);
	return origin->generation <= s->p->generation;
}

static bool is_poison(const struct evidence *e)
{
	uint64_t word = pattern_poison_word(e->search->p->seed);

	for (size_t i = e->first; i <= e->last; i++) {
		uintptr_t address = (uintptr_t)(e->search->buffer + i);

		if (e->search->buffer[i] != (uint8_t)(word >> address % WORD * 8))
			return false;
	}
	return true;
}

/* Generation of the whole words at or behind the first wrong byte, if these bytes agree with it;
 * where no whole word is in sight, the generation before is tried. */
static bool is_stale(const struct evidence *e, uint32_t *generation)
{
	const struct fault_search *s = e->search;
	uint64_t here = s->offset + e->first;
	size_t back = here % WORD;
	struct origin origin;

	for (size_t word = 0; word < 2; word++) {
		size_t at = e->first + word * WORD - back;

		if (e->first + word * WORD < back || at + WORD > s->len || at > e->last ||
		    !word_origin(&origin, s, at, here / WORD + word) ||
		    origin.index != here / WORD + word ||
		    origin.generation == s->p->generation ||
		    !is_stream(s, e->first, e->last + 1, here, origin.generation))
			continue;
		*generation = origin.generation;
		return true;
	}
	*generation = s->p->generation - 1;
	return s->p->generation && is_stream(s, e->first, e->last + 1, here, *generation);
}

/* Does the word at `at` lead to another place, and do its neighbours agree? */
static bool is_moved_word(const struct evidence *e, size_t at, uint64_t *from,
			  uint32_t *generation)
{
	const struct fault_search *s = e->search;
	uint64_t here = s->offset + e->first;
	size_t begin = at < e->first ? at : e->first, end = at + 2 * WORD;
	struct origin origin;
	uint64_t begin_from;
	int64_t distance;

	if (!word_origin(&origin, s, at, here / WORD) || origin.index * WORD < at - begin)
		return false;
	begin_from = origin.index * WORD - (at - begin);
	*from = begin_from + (e->first - begin);
	*generation = origin.generation;
	if (*from == here)
		return false;
	/* the whole next word: a change of one byte can leave half of it as it is */
	if (end <= s->len && is_stream(s, begin, end, begin_from, *generation))
		return true;

	/* a single word: all wrong bytes must be in it */
	distance = (int64_t)(*from - here);
	return e->first >= at && e->last < at + WORD && distance > -NEAR_BYTES &&
	       distance < NEAR_BYTES && s->p->generation - *generation < NEAR_GENERATIONS;
}

/* The word of the first wrong byte first, then every other that holds it or follows it at once: a
 * block may have moved by any number of bytes. */
static bool is_misplaced(const struct evidence *e, uint64_t *from, uint32_t *generation)
{
	const struct fault_search *s = e->search;
	size_t back = (s->offset + e->first) % WORD;
	size_t begin = e->first < WORD - 1 ? 0 : e->first - (WORD - 1);

	if (e->first >= back && e->first - back + WORD <= s->len &&
	    is_moved_word(e, e->first - back, from, generation))
		return true;
	for (size_t at = begin; at < e->first + WORD && at + WORD <= s->len; at++)
		if (is_moved_word(e, at, from, generation))
			return true;
	return false;
}

static void describe(const struct fault_search *s, size_t first)
{
	struct evidence e = { .search = s, .first = first, .last = first };
	struct pattern_fault *fault = s->fault;
	size_t end = first + 2 * WORD - (s->offset + first) % WORD;
	uint32_t generation;
	uint64_t from;

	for (size_t i = first; i < end && i < s->len; i++)
		if (s->buffer[i] != byte_of_stream(s->offset + i, s->p))
			e.last = i;
	*fault = (struct pattern_fault){ .kind = PATTERN_CORRUPT, .offset = first,
					 .generation = s->p->generation };
	if (is_poison(&e)) {
		fault->kind = PATTERN_MISSING;
	} else if (is_stale(&e, &generation)) {
		fault->kind = PATTERN_STALE;
		fault->from_generation = generation;
	} else if (is_misplaced(&e, &from, &generation)) {
		fault->kind = PATTERN_MISPLACED;
		fault->from_offset = from;
		fault->from_generation = generation;
	}
}

void fault_search(struct fault_search *search, size_t at, size_t len)
{
	uint64_t word = 0;

	for (size_t i = at; i < at + len; i++) {
		uint64_t place = search->offset + i;

		if (i == at || place % WORD == 0)
			word = pattern_word(place / WORD, search->p);
		if (search->buffer[i] == (uint8_t)(word >> place % WORD * 8))
			continue;
		if (!search->wrong_bytes++ && search->fault)
			describe(search, i);
	}
	if (search->fault && search->wrong_bytes)
		search->fault->wrong_bytes = search->wrong_bytes;
}

char *pattern_fault_text(const struct pattern_fault *fault)
{
	_cleanup_free_ char *where = NULL;

	if (fault->wrong_bytes == 1)
		where = xasprintf("1 byte is wrong, at offset %llu",
				  (unsigned long long)fault->offset);
	else
		where = xasprintf("%llu bytes are wrong, the first at offset %llu",
				  (unsigned long long)fault->wrong_bytes,
				  (unsigned long long)fault->offset);
	switch (fault->kind) {
	case PATTERN_STALE:
		return xasprintf("%s: stale, of generation %u, not %u", where,
				 fault->from_generation, fault->generation);
	case PATTERN_MISPLACED:
		return xasprintf("%s: misplaced, what belongs at %llu of the stream in "
				 "generation %u (expected generation %u)", where,
				 (unsigned long long)fault->from_offset,
				 fault->from_generation, fault->generation);
	case PATTERN_MISSING:
		return xasprintf("%s: missing, nothing was written there", where);
	case PATTERN_CORRUPT:
		break;
	}
	return xasprintf("%s: corrupt, nothing that this run wrote", where);
}
