/* SPDX-License-Identifier: Apache-2.0 */
/* Safe text, widths, wrapping, groups, what report_read() refuses, and failing writes. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"
#include "report/internal.h"

static void expect_safe(const char *text, const char *safe)
{
	_cleanup_free_ char *s = safe_text(text);

	assert_string_equal(s, safe);
	assert_true(safe_is_clean(s, strlen(s)));
	assert_int_equal(safe_is_clean(text, strlen(text)), strcmp(text, safe) == 0);
}

static void test_safe(void **state)
{
	(void)state;
	expect_safe("", "");
	expect_safe("plain, 서울, é, → and 𝄞\n", "plain, 서울, é, → and 𝄞\n");
	expect_safe("\033[31m\007\177", "\\x1b[31m\\x07\\x7f");
	expect_safe("a\tb\r\nc\rd", "a b\nc\\x0dd");
	expect_safe("\xc2\x9b" "1m \xc2\x85", "\\u{009b}1m \\u{0085}");
	expect_safe("\xe2\x80\xae \xe2\x81\xa6 \xef\xbb\xbf", "\\u{202e} \\u{2066} \\u{feff}");
	expect_safe("\xef\xbf\xbe \xf0\x9f\xbf\xbf \xf3\xa0\x81\x81",
		    "\\u{fffe} \\u{1ffff} \\u{e0041}");
	/* not UTF-8: stray, truncated, overlong, surrogate, beyond the last plane */
	expect_safe("\xff \xed\x95 \xc0\x80 \xe0\x80\x80 \xed\xa0\x80 \xf4\x90\x80\x80",
		    "\\xff \\xed\\x95 \\xc0\\x80 \\xe0\\x80\\x80 \\xed\\xa0\\x80 \\xf4\\x90\\x80\\x80");
	_cleanup_free_ char *none = safe_text(NULL);
	assert_string_equal(none, "");
}

static void test_ascii(void **state)
{
	_cleanup_free_ char *s = safe_ascii("a → b ↔ c — 8 × 8 ≥ 5… 한");

	(void)state;
	assert_string_equal(s, "a -> b <-> c - 8 x 8 >= 5... \\u{d55c}");
}

static void test_width(void **state)
{
	struct width_scope scope;

	(void)state;
	width_enter(&scope);
	assert_int_equal(width_of("bond1", 5), 5);
	assert_int_equal(width_of("서울-1", strlen("서울-1")), 6);
	assert_int_equal(width_of("e\xcc\x81", 3), 1);
	assert_int_equal(width_of("→✓━", strlen("→✓━")), 3);
	width_leave(&scope);
}

static char *wrapped(unsigned width, unsigned indent, const char *text)
{
	struct strbuf out = {0};
	struct wrap w = {.out = &out, .width = width, .indent = indent};
	struct width_scope scope;

	width_enter(&scope);
	wrap_to(&w, indent);
	wrap_put(&w, WRAP_PLAIN, text);
	wrap_end(&w);
	width_leave(&scope);
	return strbuf_steal(&out);
}

static void expect_wrapped(unsigned width, unsigned indent, const char *text, const char *lines)
{
	_cleanup_free_ char *s = wrapped(width, indent, text);

	assert_string_equal(s, lines);
}

static void test_wrap(void **state)
{
	(void)state;
	expect_wrapped(20, 2, "one two three four five", "  one two three four\n  five\n");
	expect_wrapped(0, 0, "one two three four five", "one two three four five\n");
	/* an address is not broken while it fits on a line of its own */
	expect_wrapped(20, 2, "to 02:1c:73:00:00:01", "  to\n  02:1c:73:00:00:01\n");
	expect_wrapped(10, 2, "abcdefghijklmnop", "  abcdefgh\n  ijklmnop\n");
	expect_wrapped(12, 2, "(/lib/modules/6.12/ice.ko)", "  (/lib\n  /modules\n  /6.12\n  /ice.ko)\n");
	/* lines of the text stay lines, and keep their own indent when they wrap */
	expect_wrapped(16, 2, "do:\n\n    ip link set x\nend",
		       "  do:\n\n      ip link\n      set x\n  end\n");
	/* Hangul takes two columns a syllable */
	expect_wrapped(10, 0, "서울역 부산역", "서울역\n부산역\n");
	expect_wrapped(7, 0, "서울역부산역", "서울역\n부산역\n");
	/* no blanks at the end of a line */
	expect_wrapped(8, 0, "aaaa   bbbbbb", "aaaa\nbbbbbb\n");
}

static void test_groups(void **state)
{
	_cleanup_ladder_ struct ladder *ladder = fixture_ladder("paths");
	_cleanup_json_ json_t *document = report_document(ladder);
	json_t *verdicts = json_object_get(document, "verdicts");
	_cleanup_groups_ struct groups groups = {0};

	(void)state;
	assert_int_equal(group_run_end(verdicts, 0, 99), 1);
	assert_int_equal(group_run_end(verdicts, 1, 99), 65);
	assert_int_equal(group_run_end(verdicts, 1, 10), 10);
	group_verdicts(&groups, verdicts, 1, 65);
	assert_int_equal(groups.n, 2);
	assert_int_equal(groups.list[0].n, 8);
	assert_int_equal(groups.list[1].n, 56);
	assert_int_equal(groups.list[1].members[0], 2);
	/* one that says something of its own stands alone */
	groups_clear(&groups);
	json_object_set_new(json_array_get(verdicts, 5), "double", json_true());
	group_verdicts(&groups, verdicts, 1, 65);
	assert_int_equal(groups.n, 3);
}

static void test_formats(void **state)
{
	_cleanup_error_ struct error err = {0};
	enum report_format format;

	(void)state;
	assert_int_equal(report_format_from_name(&format, "junit", &err), 0);
	assert_int_equal(format, REPORT_JUNIT);
	assert_int_equal(report_format_from_name(&format, "htlm", &err), -EINVAL);
	assert_non_null(strstr(err.message, "did you mean 'html'"));
	assert_int_equal(report_format_from_name(&format, "\033[1m", &err), -EINVAL);
	assert_null(strchr(err.message, '\033'));
}

/* One change that makes a good report a bad one: JSON pointer, new value, word in the message. */
struct damage {
	const char *pointer, *value, *message;
};

/* `document` is borrowed and damaged. */
static void expect_refused(json_t *document, const struct damage *d)
{
	_cleanup_json_ json_t *read = NULL;
	_cleanup_error_ struct error err = {0};
	_cleanup_free_ char *parent = xstrdup(d->pointer);
	char *key = strrchr(parent, '/');
	json_t *target, *value = d->value ? json_loads(d->value, JSON_DECODE_ANY, NULL) : NULL;

	*key++ = '\0';
	target = json_pointer_get(document, parent);
	if (json_is_array(target))
		json_array_set_new(target, (size_t)atoi(key), value);
	else if (value)
		json_object_set_new(target, key, value);
	else
		json_object_del(target, key);
	if (report_read(&read, document, "r.json", &err) != -EINVAL || read)
		fail_msg("%s = %s was taken", d->pointer, d->value);
	if (strncmp(err.message, "r.json: ", 8) || !strstr(err.message, d->message))
		fail_msg("%s = %s: %s", d->pointer, d->value, err.message);
}

static void test_read_refuses(void **state)
{
	static const struct damage damages[] = {
		{"/schema", "\"railhead.report/2\"", "this version reads"},
		{"/schema", NULL, "/schema is missing"},
		{"/site", "[]", "/site must be an object"},
		{"/site/assumed", "1", "true or false"},
		{"/nodes/0", "7", "/nodes/0 is not an object"},
		{"/verdicts/3", "null", "/verdicts/3 is not an object"},
		{"/verdicts/3/status", "\"green\"", "is no verdict"},
		{"/verdicts/3/phase", "-1", "out of range"},
		{"/verdicts/3/level", "99999999999", "out of range"},
		{"/verdicts/3/phase", "1.5", "a whole number"},
		{"/verdicts/3/causes", "{}", "a list"},
		{"/verdicts/3/causes/0/fix", "[]", "text"},
		{"/verdicts/8/blocked_by/0", "{}", "/verdicts/8/blocked_by/0 must be text"},
		{"/verdicts/0/evidence/0/pointer", NULL, "is missing"},
		{"/verdicts/0/evidence/0/value", NULL, "value or missing"},
		/* a head that claims what its verdicts do not say */
		{"/verdicts/6/status", "\"pass\"", "does not agree"},
		{"/result/counts/pass", "99", "/result/counts/pass"},
		{"/result/passed", "true", "/result/passed"},
		{"/result/stopped_by", "null", "/result/stopped_by"},
		{"/result/stopped_by/verdict", "-3", "/result/stopped_by"},
		{"/result/railhead/verdict", "9", "/result/railhead"},
		{"/result/railhead", "7", "/result/railhead"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(damages); i++) {
		_cleanup_ladder_ struct ladder *ladder = fixture_ladder("site");
		_cleanup_json_ json_t *document = report_document(ladder);

		expect_refused(document, &damages[i]);
	}
}

static void test_read_refuses_plan(void **state)
{
	static const struct damage damages[] = {
		{"/paper", "1", "/paper must be true or false"},
		{"/verdicts/2/causes/0/options", "{}", "/verdicts/2/causes/0/options must be a list"},
		{"/verdicts/2/causes/0/options/1", "7", "/verdicts/2/causes/0/options/1 must be text"},
		{"/verdicts/1/unverified/0/text", NULL, "/verdicts/1/unverified/0/text is missing"},
		{"/verdicts/1/unverified/0/phase", "\"x\"", "a whole number"},
		{"/components/0/need", NULL, "/components/0/need is missing"},
		{"/components/1", "[]", "/components/1 is not an object"},
		{"/buffers", "[]", "/buffers must be an object"},
		{"/buffers/numbers/0/value", "4", "/buffers/numbers/0/value must be text"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(damages); i++) {
		_cleanup_json_ json_t *document = fixture_plan(false);

		expect_refused(document, &damages[i]);
	}
}

static void test_read_makes_safe(void **state)
{
	_cleanup_ladder_ struct ladder *ladder = fixture_ladder("site");
	_cleanup_json_ json_t *document = report_document(ladder), *read = NULL;
	json_t *verdict = json_pointer_get(document, "/verdicts/0");

	(void)state;
	json_object_set_new(verdict, "summary", json_string("\033[31mred"));
	json_object_set_new(verdict, "later", json_string("kept"));
	assert_int_equal(report_read(&read, document, "r.json", NULL), 0);
	verdict = json_pointer_get(read, "/verdicts/0");
	assert_string_equal(json_get_string(verdict, "summary", ""), "\\x1b[31mred");
	assert_string_equal(json_get_string(verdict, "later", ""), "kept");
}

static void test_write_errors(void **state)
{
	static const enum report_format formats[] = {REPORT_TEXT, REPORT_JSON, REPORT_HTML,
						     REPORT_JUNIT, REPORT_CTRF};
	_cleanup_ladder_ struct ladder *ladder = fixture_ladder("site");

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		struct report_options options = {.format = formats[i], .width = 80};
		_cleanup_error_ struct error err = {0};
		_cleanup_fclose_ FILE *full = fopen("/dev/full", "w");
		int ends[2];

		assert_non_null(full);
		assert_int_equal(report_write(full, ladder, &options, &err), -ENOSPC);
		assert_non_null(strstr(err.message, "cannot write the report"));

		assert_int_equal(pipe(ends), 0);
		close(ends[0]);
		_cleanup_fclose_ FILE *pipe_out = fdopen(ends[1], "w");
		assert_int_equal(report_write(pipe_out, ladder, &options, &err), -EPIPE);
	}
}

static void test_gates_formats(void **state)
{
	_cleanup_error_ struct error err = {0};
	struct report_options options = {.format = REPORT_HTML};
	const struct gate *const *gates;
	size_t n;

	(void)state;
	gates = fixture_gates(&n);
	assert_int_equal(report_gates(stdout, gates, n, &options, &err), -ENOTSUP);
	assert_int_equal(report_explain(stdout, gates[0], &options, &err), -ENOTSUP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_safe),	    cmocka_unit_test(test_ascii),
		cmocka_unit_test(test_width),	    cmocka_unit_test(test_wrap),
		cmocka_unit_test(test_groups),	    cmocka_unit_test(test_formats),
		cmocka_unit_test(test_read_refuses),
		cmocka_unit_test(test_read_refuses_plan), cmocka_unit_test(test_read_makes_safe),
		cmocka_unit_test(test_write_errors), cmocka_unit_test(test_gates_formats),
	};

	return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
