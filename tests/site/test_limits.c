/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are too large, too deep, or larger than they look: refused with a message, and
 * quickly. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/strbuf.h"
#include "site/site.h"

#define HEAD "schema: railhead.site/1\nname: x\n"

/* Each case takes some 50 ms, a few hundred under a sanitizer; quadratic behaviour takes
 * minutes. */
#define SECONDS_MAX 20

static void repeat(struct strbuf *b, const char *text, size_t times)
{
	while (times--)
		strbuf_puts(b, text);
}

static void check_text(struct strbuf *text, const char *message)
{
	_cleanup_error_ struct error err = {0};
	_cleanup_site_ struct site *site = NULL;
	struct timespec before, after;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
	assert_int_equal(site_parse(&site, strbuf_str(text), text->len, "s.yaml", &err), -EINVAL);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
	assert_null(site);
	assert_string_equal(error_text(&err), message);
	assert_true(after.tv_sec - before.tv_sec < SECONDS_MAX);
	strbuf_clear(text);
}

static void test_nesting(void **state RH_UNUSED)
{
	static const struct {
		const char *opener, *message;
	} cases[] = {
		{ "[", "s.yaml:1:65: nested deeper than 64 levels" },
		{ "{a: ", "s.yaml:1:257: nested deeper than 64 levels" },
		{ "[{", "s.yaml:1:65: nested deeper than 64 levels" },
		{ "- ", "s.yaml:1:129: nested deeper than 64 levels" },
		{ "? ", "s.yaml:1:129: nested deeper than 64 levels" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct strbuf text = {0};

		repeat(&text, cases[i].opener, (1u << 20) / strlen(cases[i].opener));
		check_text(&text, cases[i].message);
	}
}

static void test_depth_by_aliases(void **state RH_UNUSED)
{
	struct strbuf text = {0};

	/* each anchor is one level around the one before: the 64th alias is the level too many */
	strbuf_puts(&text, HEAD "defaults:\n  labels:\n    k0: &a0 x\n");
	for (unsigned i = 1; i <= 70; i++)
		strbuf_printf(&text, "    k%u: &a%u [*a%u]\n", i, i, i - 1);
	check_text(&text, "s.yaml:66:16: nested deeper than 64 levels");
}

static void test_file_size(void **state RH_UNUSED)
{
	struct strbuf text = {0};

	strbuf_puts(&text, HEAD "nodes: {a: {}}\n#");
	repeat(&text, "12345678", 1u << 20);
	check_text(&text, "s.yaml: larger than 8 MiB");

	strbuf_puts(&text, HEAD "nodes: 1\n#");
	repeat(&text, "x", (8u << 20) - text.len);
	check_text(&text, "s.yaml:3:8: nodes: expected a map of nodes by name, found '1'");
}

static void test_number_of_values(void **state RH_UNUSED)
{
	struct strbuf text = {0};

	repeat(&text, "-\n", 500001);
	check_text(&text, "s.yaml:500000:2: more than 500000 values (aliases count as often as they are used)");
}

static void test_billion_laughs(void **state RH_UNUSED)
{
	struct strbuf text = {0};

	strbuf_puts(&text, HEAD "defaults:\n  labels:\n    a: &a [x, x, x, x, x, x, x, x, x, x]\n");
	for (char c = 'b'; c <= 'j'; c++) {
		strbuf_printf(&text, "    %c: &%c [", c, c);
		for (unsigned i = 0; i < 10; i++)
			strbuf_printf(&text, "%s*%c", i ? ", " : "", c - 1);
		strbuf_puts(&text, "]\n");
	}
	check_text(&text, "s.yaml:10:24: more than 500000 values (aliases count as often as they are used)");
}

/* The same through profiles: 600 nodes that each inherit 1,000 labels. */
static void test_many_nodes_of_a_large_profile(void **state RH_UNUSED)
{
	struct strbuf text = {0};

	strbuf_puts(&text, HEAD "profiles:\n  p:\n    labels: {");
	for (unsigned i = 0; i < 1000; i++)
		strbuf_printf(&text, "k%u: v, ", i);
	strbuf_puts(&text, "}\nnodes:\n");
	for (unsigned i = 0; i < 600; i++)
		strbuf_printf(&text, "  n%u: {profile: p}\n", i);
	check_text(&text, "s.yaml:255:3: nodes/n248: with its profiles the site has more than 500000 values");
}

/* And profiles of profiles: no work is done for what is too large. */
static void test_many_profiles_of_a_large_one(void **state RH_UNUSED)
{
	struct strbuf text = {0};

	strbuf_puts(&text, HEAD "profiles:\n  p:\n    labels: {");
	for (unsigned i = 0; i < 20000; i++)
		strbuf_printf(&text, "k%u: v, ", i);
	strbuf_puts(&text, "}\n");
	for (unsigned i = 0; i < 3000; i++)
		strbuf_printf(&text, "  q%u: {extends: p, labels: {x: y}}\n", i);
	strbuf_puts(&text, "nodes: {a: {}}\n");
	check_text(&text, "s.yaml:17:3: profiles/q11: with its profiles the site has more than 500000 values");
}

/* Eight are allowed, nine are not, in whatever order they are written. */
static void test_chain_of_profiles(void **state RH_UNUSED)
{
	static const char tail[] = "nodes: {a: {profile: p8}}\n";
	_cleanup_error_ struct error err = {0};
	_cleanup_site_ struct site *site = NULL;
	struct strbuf text = {0};

	strbuf_puts(&text, HEAD "profiles:\n  p1: {kernel: k}\n");
	for (unsigned i = 2; i <= 8; i++)
		strbuf_printf(&text, "  p%u: {extends: p%u}\n", i, i - 1);
	strbuf_puts(&text, tail);
	assert_int_equal(site_parse(&site, text.s, text.len, "s.yaml", &err), 0);
	assert_string_equal(site->nodes[0].kernel, "k");
	strbuf_clear(&text);

	strbuf_puts(&text, HEAD "profiles:\n  p1: {}\n");
	for (unsigned i = 2; i <= 9; i++)
		strbuf_printf(&text, "  p%u: {extends: p%u}\n", i, i - 1);
	strbuf_puts(&text, tail);
	check_text(&text, "s.yaml:12:17: profiles/p9: more than 8 profiles extend one another");

	strbuf_puts(&text, HEAD "profiles:\n");
	for (unsigned i = 9; i >= 2; i--)
		strbuf_printf(&text, "  p%u: {extends: p%u}\n", i, i - 1);
	strbuf_puts(&text, "  p1: {}\n");
	strbuf_puts(&text, tail);
	check_text(&text, "s.yaml:12:3: profiles/p1: more than 8 profiles extend one another");
}

static void test_number_of_anchors(void **state RH_UNUSED)
{
	struct strbuf text = {0};

	for (unsigned i = 0; i < 300; i++)
		strbuf_printf(&text, "- &a%u x\n", i);
	check_text(&text, "s.yaml:257:3: more than 256 anchors");
}

static void test_twenty_errors(void **state RH_UNUSED)
{
	struct strbuf text = {0}, wanted = {0};

	strbuf_puts(&text, HEAD "nodes:\n");
	for (unsigned i = 0; i < 20000; i++)
		strbuf_printf(&text, "  n%u: 1\n", i);
	for (unsigned i = 0; i < 20; i++)
		strbuf_printf(&wanted, "s.yaml:%u:%u: nodes/n%u: expected a map with the keys of a node, "
				       "found '1'\n",
			      i + 4, i < 10 ? 7 : 8, i);
	strbuf_puts(&wanted, "s.yaml: 20 errors are enough: correct these and try again");
	check_text(&text, strbuf_str(&wanted));
	strbuf_clear(&wanted);
}

/* Long words of the file are cut in messages, between characters. */
static void test_long_words(void **state RH_UNUSED)
{
	struct strbuf text = {0}, wanted = {0};

	strbuf_puts(&text, HEAD "nodes: {a: {os: {");
	repeat(&text, "\xc3\xa9", 1000);
	strbuf_puts(&text, ": 1}}}\n");
	strbuf_puts(&wanted, "s.yaml:3:18: nodes/a/os: unknown key '");
	repeat(&wanted, "\xc3\xa9", 28);
	strbuf_puts(&wanted, "...'; known here: id, version");
	check_text(&text, strbuf_str(&wanted));
	strbuf_clear(&wanted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nesting),
		cmocka_unit_test(test_depth_by_aliases),
		cmocka_unit_test(test_file_size),
		cmocka_unit_test(test_number_of_values),
		cmocka_unit_test(test_billion_laughs),
		cmocka_unit_test(test_many_nodes_of_a_large_profile),
		cmocka_unit_test(test_many_profiles_of_a_large_one),
		cmocka_unit_test(test_chain_of_profiles),
		cmocka_unit_test(test_number_of_anchors),
		cmocka_unit_test(test_twenty_errors),
		cmocka_unit_test(test_long_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
