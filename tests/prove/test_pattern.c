// SPDX-License-Identifier: Apache-2.0
/* Bytes of a proof: filled and checked at any alignment, every wrong byte seen, and told apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "prove/pattern.h"

static const struct pattern now = { .seed = 0x5eed5eed5eed5eedull, .generation = 7 };

static const struct pattern *generation(uint32_t n)
{
	static struct pattern p;

	p = now;
	p.generation = n;
	return &p;
}

/* The same numbers each time the test runs. */
static uint64_t random_next(uint64_t *state)
{
	*state += 0x9e3779b97f4a7c15ull;
	return pattern_mix(*state);
}

/* The definition in pattern.h, written a second time and slowly. */
static uint8_t byte_by_definition(uint64_t place, const struct pattern *p)
{
	uint64_t index = place / 8, beyond = (uint64_t)(p->generation >> 24) << 32 | index >> 40;
	uint64_t x = pattern_mix(p->seed + PATTERN_STEP + pattern_mix(beyond));

	x += PATTERN_STEP * ((index % (1ull << 40)) * (1 << 24) + p->generation % (1 << 24));

	uint32_t hi = (uint32_t)(x >> 32), lo = (uint32_t)x + hi;

	return (uint8_t)(place % 8 < 4 ? lo >> 8 * (place % 8) : hi >> 8 * (place % 8 - 4));
}

static void expect_definition(uint64_t offset, size_t len, const struct pattern *p)
{
	_cleanup_free_ uint8_t *room = xmalloc(len + 32);

	for (size_t align = 0; align < 9; align++) {
		struct pattern_fault fault;

		memset(room, 0xee, len + 32);
		pattern_fill(room + 8 + align, len, offset, p);
		for (size_t i = 0; i < len; i++)
			assert_int_equal(room[8 + align + i], byte_by_definition(offset + i, p));
		assert_int_equal(room[7 + align], 0xee);
		assert_int_equal(room[8 + align + len], 0xee);
		assert_true(pattern_check(room + 8 + align, len, offset, p, &fault));
	}
}

/* Past the cache where the address is a multiple of 16. */
static void expect_large_fill(void)
{
	const size_t len = (4u << 20) + 77;
	_cleanup_free_ uint8_t *room = xmalloc(len + 32);

	for (size_t align = 0; align < 32; align += 8) {
		size_t first = 16 - (uintptr_t)room % 16 + align % 17;

		memset(room, 0xee, len + 32);
		pattern_fill(room + first, len - 16, 8, &now);
		for (size_t i = 0; i < len - 16; i++)
			if (room[first + i] != byte_by_definition(8 + i, &now))
				fail_msg("byte %zu from %zu on", i, first);
		assert_int_equal(room[first - 1], 0xee);
		assert_int_equal(room[first + len - 16], 0xee);
	}
}

static void any_alignment_and_length(void **state)
{
	(void)state;
	for (size_t len = 0; len < 300; len++)
		expect_definition(len * 13 % 11, len, &now);
	expect_definition(3, 100001, &now);
	expect_large_fill();
	/* places and generations beyond what a word holds change its key, in mid-buffer too */
	expect_definition((8ull << 40) - 331, 1000, &now);
	expect_definition((24ull << 40) + 5, 77, &now);
	expect_definition(1, 77, generation(0xffffffff));
	expect_definition(1, 77, generation(1u << 24));
}

static void beyond_the_word_is_still_different(void **state)
{
	const uint64_t places[] = { 0, 1ull << 40, 1ull << 41, 5 };
	const uint32_t generations[] = { 0, 1u << 24, 2u << 24, 1 };

	(void)state;
	for (size_t a = 0; a < 16; a++)
		for (size_t b = 0; b < a; b++)
			assert_int_not_equal(
				pattern_word(places[a / 4], generation(generations[a % 4])),
				pattern_word(places[b / 4], generation(generations[b % 4])));
	assert_int_not_equal(pattern_word(3, &now),
			     pattern_word(3, &(struct pattern){ .seed = 1 }));
}

/* What pattern.h promises of PATTERN_STEP: no byte stays as it was in the generation before, nor
 * is it the one of the place before. */
static void every_byte_changes(void **state)
{
	uint64_t numbers = 1;

	(void)state;
	for (size_t n = 0; n < 200000; n++) {
		struct pattern p = { random_next(&numbers), (uint32_t)random_next(&numbers) };
		uint64_t index = random_next(&numbers) >> 3, word = pattern_word(index, &p);
		uint64_t place = word ^ pattern_word(index + 1, &p), time;

		p.generation++;
		time = word ^ pattern_word(index, &p);
		if (p.generation % (1u << 24) == 0 || (index + 1) % (1ull << 40) == 0)
			continue; /* another key */
		for (unsigned byte = 0; byte < 8; byte++) {
			assert_true(place >> byte * 8 & 0xff);
			assert_true(time >> byte * 8 & 0xff);
		}
	}
}

/* Every wrong value of every byte is seen, at every alignment of small buffers; and it is nothing
 * that has ever been written, but for the values that the generation before and the poison have. */
static void each_byte_of_small_buffers(void **state)
{
	uint8_t right[64], stale[64], wrong[64], poison[64];

	(void)state;
	for (size_t len = 1; len <= 41; len++) {
		uint64_t offset = len * 5 % 8 + 4096;

		pattern_fill(right, len, offset, &now);
		pattern_fill(stale, len, offset, generation(now.generation - 1));
		pattern_poison(poison, len, now.seed);
		/* the poison of an address: the same alignment as `wrong` */
		pattern_poison(wrong, len, now.seed);
		memcpy(poison, wrong, len);
		memcpy(wrong, right, len);
		for (size_t at = 0; at < len; at++) {
			for (unsigned change = 1; change < 256; change++) {
				struct pattern_fault fault = {0};
				uint8_t value = (uint8_t)(right[at] ^ change);

				wrong[at] = value;
				assert_false(pattern_check(wrong, len, offset, &now, &fault));
				assert_int_equal(fault.offset, at);
				assert_int_equal(fault.wrong_bytes, 1);
				assert_int_equal(fault.kind, value == poison[at] ? PATTERN_MISSING :
							     value == stale[at]	 ? PATTERN_STALE :
										   PATTERN_CORRUPT);
			}
			wrong[at] = right[at];
		}
	}
}

static void random_bytes_of_a_large_buffer(void **state)
{
	const size_t len = (1u << 20) + 13;
	const uint64_t offset = (3ull << 30) + 5;
	_cleanup_free_ uint8_t *buffer = xmalloc(len);
	uint64_t numbers = 2;

	(void)state;
	pattern_fill(buffer, len, offset, &now);
	for (size_t n = 0; n < 400; n++) {
		struct pattern_fault fault = {0};
		size_t at = random_next(&numbers) % len, other = random_next(&numbers) % len;
		uint8_t bit = (uint8_t)(1u << n % 8);

		if (at == other)
			continue;
		buffer[at] ^= bit;
		buffer[other] ^= bit;
		assert_false(pattern_check(buffer, len, offset, &now, &fault));
		assert_int_equal(fault.offset, at < other ? at : other);
		assert_int_equal(fault.wrong_bytes, 2);
		buffer[at] ^= bit;
		buffer[other] ^= bit;
	}
	assert_true(pattern_check(buffer, len, offset, &now, NULL));
}

/* A buffer in which a block comes from somewhere else. */
struct scene {
	uint8_t *buffer;
	size_t len;
	uint64_t offset;
	struct pattern_fault fault;
};

static struct scene *scene_new(size_t len, uint64_t offset)
{
	struct scene *s = xcalloc(1, sizeof(*s));

	s->buffer = xmalloc(len);
	s->len = len;
	s->offset = offset;
	pattern_fill(s->buffer, len, offset, &now);
	return s;
}

static void scene_free(struct scene *s)
{
	free(s->buffer);
	free(s);
}
DEFINE_CLEANUP(scene, struct scene *, scene_free)

static const struct pattern_fault *scene_check(struct scene *s)
{
	assert_false(pattern_check(s->buffer, s->len, s->offset, &now, &s->fault));
	assert_int_equal(s->fault.generation, now.generation);
	return &s->fault;
}

static void stale_blocks(void **state)
{
	static const size_t blocks[][2] = { { 0, 1 }, { 4096, 64 }, { 4099, 3 }, { 100, 8 },
					    { 101, 9 }, { 8190, 2 }, { 0, 8192 }, { 5, 1000 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(blocks); i++) {
		_cleanup_(scene) struct scene *s = scene_new(8192, i * 3);
		size_t at = blocks[i][0], len = blocks[i][1];

		pattern_fill(s->buffer + at, len, s->offset + at, generation(6));
		scene_check(s);
		assert_int_equal(s->fault.kind, PATTERN_STALE);
		assert_int_equal(s->fault.offset, at);
		assert_int_equal(s->fault.wrong_bytes, len);
		assert_int_equal(s->fault.from_generation, 6);
	}
}

/* Any earlier generation is known by whole words. */
static void stale_of_long_ago(void **state)
{
	(void)state;
	for (uint32_t n = 0; n < now.generation; n++) {
		_cleanup_(scene) struct scene *s = scene_new(100, 3);

		pattern_fill(s->buffer + 17, 30, s->offset + 17, generation(n));
		scene_check(s);
		assert_int_equal(s->fault.kind, PATTERN_STALE);
		assert_int_equal(s->fault.from_generation, n);
	}
}

static void missing_blocks(void **state)
{
	static const size_t blocks[][2] = { { 0, 1 }, { 4096, 64 }, { 4099, 30 }, { 8185, 7 },
					    { 0, 8192 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(blocks); i++) {
		_cleanup_(scene) struct scene *s = scene_new(8192, i);
		size_t at = blocks[i][0], len = blocks[i][1];

		/* what was there before: data came over it everywhere else */
		pattern_poison(s->buffer, s->len, now.seed);
		pattern_fill(s->buffer, at, s->offset, &now);
		pattern_fill(s->buffer + at + len, s->len - at - len, s->offset + at + len, &now);
		scene_check(s);
		assert_int_equal(s->fault.kind, PATTERN_MISSING);
		assert_int_equal(s->fault.offset, at);
		assert_in_range(s->fault.wrong_bytes, len - len / 50, len);
	}
}

static void misplaced_blocks(void **state)
{
	static const struct {
		int64_t distance;
		size_t at, len;
	} blocks[] = {
		{ 4096, 0, 4096 }, { -8, 512, 8 }, { 512 << 10, 64, 64 }, { 128ll << 20, 64, 8 },
		{ 1, 0, 8192 }, { -1, 100, 4000 }, { 5, 3, 33 }, { 64ll << 30, 8, 64 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(blocks); i++) {
		_cleanup_(scene) struct scene *s = scene_new(8192, 1ull << 37);
		size_t at = blocks[i].at;
		uint64_t from = s->offset + at + (uint64_t)blocks[i].distance;

		pattern_fill(s->buffer + at, blocks[i].len, from, &now);
		scene_check(s);
		assert_int_equal(s->fault.kind, PATTERN_MISPLACED);
		/* bytes may be alike by chance, or by the distance; the first other one is near */
		assert_in_range(s->fault.offset, at, at + 3);
		assert_int_equal(s->fault.from_offset, from + s->fault.offset - at);
		assert_int_equal(s->fault.from_generation, now.generation);
	}
}

static void misplaced_and_old(void **state)
{
	_cleanup_(scene) struct scene *s = scene_new(4096, 0);

	(void)state;
	pattern_fill(s->buffer + 1024, 1024, 2048, generation(5));
	scene_check(s);
	assert_int_equal(s->fault.kind, PATTERN_MISPLACED);
	assert_int_equal(s->fault.from_offset, 2048 + s->fault.offset - 1024);
	assert_int_equal(s->fault.from_generation, 5);
}

static void corrupt_blocks(void **state)
{
	uint64_t numbers = 3;

	(void)state;
	for (size_t n = 0; n < 2000; n++) {
		_cleanup_(scene) struct scene *s = scene_new(256, n);
		size_t at = n % 200, len = 3 + n % 50;

		for (size_t i = 0; i < len; i++)
			s->buffer[at + i] = (uint8_t)random_next(&numbers);
		scene_check(s);
		assert_int_equal(s->fault.kind, PATTERN_CORRUPT);
		assert_int_equal(s->fault.from_generation, 0);
	}
	/* a page of zeros, or of ones, is nothing that was written */
	for (int fill = 0; fill < 256; fill += 255) {
		_cleanup_(scene) struct scene *s = scene_new(8192, 0);

		memset(s->buffer + 4096, fill, 4096);
		scene_check(s);
		assert_int_equal(s->fault.kind, PATTERN_CORRUPT);
	}
}

/* Another run's data, of the same place and generation. */
static void another_seed_is_corrupt(void **state)
{
	_cleanup_(scene) struct scene *s = scene_new(4096, 0);

	(void)state;
	pattern_fill(s->buffer, 4096, 0, &(struct pattern){ now.seed + 1, now.generation });
	assert_int_equal(scene_check(s)->kind, PATTERN_CORRUPT);
}

static void poison_is_watched(void **state)
{
	uint8_t room[128];
	uint64_t offset, wrong;

	(void)state;
	for (size_t len = 0; len < 100; len++) {
		size_t align = len % 9;

		memset(room, 0xee, sizeof(room));
		pattern_poison(room + align, len, 9);
		assert_int_equal(room[align + len], 0xee);
		assert_true(pattern_poison_intact(room + align, len, 9, &offset, &wrong));
		for (size_t at = 0; at < len; at++) {
			room[align + at] ^= 0x10;
			assert_false(pattern_poison_intact(room + align, len, 9, &offset, &wrong));
			assert_int_equal(offset, at);
			assert_int_equal(wrong, 1);
			room[align + at] ^= 0x10;
		}
	}
	/* it is anchored at the address, so a part can be watched alone */
	pattern_poison(room, sizeof(room), 9);
	assert_true(pattern_poison_intact(room + 3, 50, 9, NULL, NULL));
	assert_false(pattern_poison_intact(room + 3, 50, 8, NULL, NULL));
}

static void texts(void **state)
{
	static const struct {
		struct pattern_fault fault;
		const char *text;
	} all[] = {
		{ { PATTERN_STALE, 4096, 3, 3, 0, 2 },
		  "3 bytes are wrong, the first at offset 4096: stale, of generation 2, not 3" },
		{ { PATTERN_MISPLACED, 0, 8, 3, 64, 3 },
		  "8 bytes are wrong, the first at offset 0: misplaced, what belongs at 64 of the "
		  "stream in generation 3 (expected generation 3)" },
		{ { PATTERN_MISSING, 5, 1, 3, 0, 0 },
		  "1 byte is wrong, at offset 5: missing, nothing was written there" },
		{ { PATTERN_CORRUPT, 5, 1, 3, 0, 0 },
		  "1 byte is wrong, at offset 5: corrupt, nothing that this run wrote" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		_cleanup_free_ char *text = pattern_fault_text(&all[i].fault);

		assert_string_equal(text, all[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_alignment_and_length),
		cmocka_unit_test(beyond_the_word_is_still_different),
		cmocka_unit_test(every_byte_changes),
		cmocka_unit_test(each_byte_of_small_buffers),
		cmocka_unit_test(random_bytes_of_a_large_buffer),
		cmocka_unit_test(stale_blocks),
		cmocka_unit_test(stale_of_long_ago),
		cmocka_unit_test(missing_blocks),
		cmocka_unit_test(misplaced_blocks),
		cmocka_unit_test(misplaced_and_old),
		cmocka_unit_test(corrupt_blocks),
		cmocka_unit_test(another_seed_is_corrupt),
		cmocka_unit_test(poison_is_watched),
		cmocka_unit_test(texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
