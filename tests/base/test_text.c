/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/strings.h"
#include "base/text.h"

static void numbers_are_whole_strings(void **state)
{
	uint64_t u;
	int64_t i;

	(void)state;
	assert_int_equal(text_to_u64("42\n", 10, &u), 0);
	assert_int_equal(u, 42);
	assert_int_equal(text_to_u64("0x8086", 0, &u), 0);
	assert_int_equal(u, 0x8086);
	assert_int_equal(text_to_u64("18446744073709551615", 10, &u), 0);
	assert_true(u == UINT64_MAX);
	assert_int_equal(text_to_u64("18446744073709551616", 10, &u), -ERANGE);
	assert_int_equal(text_to_u64("", 10, &u), -EINVAL);
	assert_int_equal(text_to_u64("  ", 10, &u), -EINVAL);
	assert_int_equal(text_to_u64("12x", 10, &u), -EINVAL);
	assert_int_equal(text_to_u64(" -1", 10, &u), -EINVAL);
	assert_int_equal(text_to_i64("-1", 10, &i), 0);
	assert_int_equal(i, -1);
	assert_int_equal(text_to_i64("9223372036854775808", 10, &i), -ERANGE);
}

static void trims_both_ends(void **state)
{
	char blank[] = " \n", padded[] = "\t a b \n";

	(void)state;
	assert_string_equal(text_trim(blank), "");
	assert_string_equal(text_trim(padded), "a b");
}

static void walks_lines_and_words(void **state)
{
	char text[] = "a b\n\nlast", *cursor = text;
	char *line = text_next_line(&cursor);

	(void)state;
	assert_string_equal(line, "a b");
	assert_string_equal(text_next_word(&line), "a");
	assert_string_equal(text_next_word(&line), "b");
	assert_null(text_next_word(&line));
	assert_string_equal(text_next_line(&cursor), "");
	assert_string_equal(text_next_line(&cursor), "last");
	assert_null(text_next_line(&cursor));
}

static void compares_versions_by_number(void **state)
{
	static const struct {
		const char *older, *newer;
	} pairs[] = {
		{ "580.82.07", "580.126.20" }, { "44.0", "45.0" },	  { "5.14.0", "6.12.0" },
		{ "575.64", "575.64.03" },     { "1.9.11", "1.14.9" }, { "9", "10" },
		{ "1.0-rc1", "1.0-rc2" },      { "007", "8" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		assert_true(text_version_compare(pairs[i].older, pairs[i].newer) < 0);
		assert_true(text_version_compare(pairs[i].newer, pairs[i].older) > 0);
	}
	assert_int_equal(text_version_compare("1.02", "1.2"), 0);
	assert_int_equal(text_version_compare("", ""), 0);
	assert_string_equal(text_version_number("v2.31.0"), "2.31.0");
	assert_string_equal(text_version_number("2.31.0"), "2.31.0");
	assert_null(text_version_number(NULL));
}

static void makes_text_printable(void **state)
{
	_cleanup_free_ char *escape = text_printable("a\x1b[31mb", 7);
	_cleanup_free_ char *broken = text_printable("\xff\xc3", 2);
	_cleanup_free_ char *korean = text_printable("노드", 6);
	_cleanup_free_ char *c1 = text_printable("\xc2\x9b", 2);

	(void)state;
	assert_string_equal(escape, "a\\x1b[31mb");
	assert_string_equal(broken, "\\xff\\xc3");
	assert_string_equal(korean, "노드");
	assert_string_equal(c1, "\\xc2\\x9b");	/* CSI in its one-byte C1 form */
}

static void knows_utf8(void **state)
{
	(void)state;
	assert_true(text_is_utf8("a\xe2\x86\x94", 4));
	assert_false(text_is_utf8("\xc0\xaf", 2));		/* overlong */
	assert_false(text_is_utf8("\xed\xa0\x80", 3));		/* surrogate */
	assert_false(text_is_utf8("\xf4\x90\x80\x80", 4));	/* above U+10FFFF */
	assert_false(text_is_utf8("\xe2\x86", 2));		/* cut off */
	assert_false(text_is_utf8("\x80", 1));
}

static void finds_the_nearest_word(void **state)
{
	static const char *const keys[] = { "address", "bond", "driver", "mtu" };

	(void)state;
	assert_string_equal(text_nearest("adress", keys, 4), "address");
	assert_string_equal(text_nearest("bnod", keys, 4), "bond");
	assert_null(text_nearest("kubernetes", keys, 4));
	assert_null(text_nearest("x", keys, 0));
}

static void lists_hold_each_text_once(void **state)
{
	_cleanup_strings_ char **list = NULL;

	(void)state;
	assert_false(strings_have(list, "a"));
	strings_add_once(&list, "a");
	strings_add(&list, xstrdup("b"));
	strings_add_once(&list, "a");
	assert_true(strings_have(list, "a") && strings_have(list, "b"));
	assert_false(strings_have(list, ""));
	assert_string_equal(list[0], "a");
	assert_string_equal(list[1], "b");
	assert_null(list[2]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_whole_strings),
		cmocka_unit_test(trims_both_ends),
		cmocka_unit_test(walks_lines_and_words),
		cmocka_unit_test(compares_versions_by_number),
		cmocka_unit_test(makes_text_printable),
		cmocka_unit_test(knows_utf8),
		cmocka_unit_test(finds_the_nearest_word),
		cmocka_unit_test(lists_hold_each_text_once),
	};

	return cmocka_run_group_tests_name("base/text", tests, NULL, NULL);
}
