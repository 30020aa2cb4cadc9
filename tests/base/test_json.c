/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/json.h"
#include "base/strbuf.h"

static void pointers_escape_names(void **state)
{
	_cleanup_free_ char *p = json_pointer_format("/links/%s/dcb/%u", "a/b~c", 3u);
	_cleanup_json_ json_t *j = json_object();

	(void)state;
	assert_string_equal(p, "/links/a~1b~0c/dcb/3");
	json_put_int(json_obj(json_obj(j, "links"), "a/b~c"), "mtu", 9000);
	assert_int_equal(json_integer_value(json_at(j, "/links/%s/mtu", "a/b~c")), 9000);
	assert_null(json_at(j, "/links/%s/mtu", "a/b"));
	assert_null(json_pointer_get(j, "links"));
	assert_ptr_equal(json_pointer_get(j, ""), j);
}

static void pointers_walk_lists(void **state)
{
	_cleanup_json_ json_t *j = json_object();

	(void)state;
	json_append_text(json_arr(j, "gaps"), "first");
	assert_string_equal(json_string_value(json_at(j, "/gaps/%zu", (size_t)0)), "first");
	assert_null(json_at(j, "/gaps/1"));
	assert_null(json_at(j, "/gaps/-1"));
	assert_null(json_at(j, "/gaps/0x0"));
	assert_null(json_at(j, "/gaps/0/deeper"));
}

static void text_is_made_safe(void **state)
{
	_cleanup_json_ json_t *j = json_object();
	uint64_t value = 0;

	(void)state;
	json_put_string(j, "a", "\x1b[0m\xff");
	json_put_string(j, "none", NULL);
	json_put_u64(j, "big", UINT64_MAX);
	json_put_u64(j, "small", 7);
	json_put_int(j, "below", -1);
	assert_string_equal(json_get_string(j, "a", NULL), "\\x1b[0m\\xff");
	assert_null(json_object_get(j, "none"));
	assert_string_equal(json_get_string(j, "big", NULL), "18446744073709551615");
	assert_int_equal(json_get_int(j, "small", 0), 7);
	assert_true(json_u64(json_object_get(j, "big"), &value) && value == UINT64_MAX);
	assert_true(json_u64(json_object_get(j, "small"), &value) && value == 7);
	assert_false(json_u64(json_object_get(j, "below"), &value));
	assert_false(json_u64(json_object_get(j, "a"), &value));
	assert_false(json_u64(NULL, &value));
	assert_int_equal(value, 7);
}

static void refused(const char *text, size_t len, const char *expected)
{
	_cleanup_error_ struct error err = {0};
	json_t *j = NULL;

	assert_int_equal(json_parse(&j, text, len, "x.json", &err), -EINVAL);
	assert_non_null(strstr(error_text(&err), expected));
}

static void hostile_documents_are_refused(void **state)
{
	_cleanup_strbuf_ struct strbuf deep = {0};

	(void)state;
	for (size_t i = 0; i < 1u << 20; i++)
		strbuf_putc(&deep, '[');
	refused(deep.s, deep.len, "nested deeper than 64");
	_cleanup_strbuf_ struct strbuf wide = {0};
	strbuf_puts(&wide, "[0");
	for (size_t i = 0; i < 1u << 20; i++)
		strbuf_puts(&wide, ",0");
	strbuf_puts(&wide, "]");
	refused(wide.s, wide.len, "more than 1048576 values");
	refused("", 0, "empty");
	refused("{\"a\":1,\"a\":2}", 13, "x.json:1:");
	refused("{} x", 4, "x.json:1:");
	refused("\"\xff\"", 3, "x.json:");
	refused("{\"a\":", 5, "x.json:1:");
}

static void brackets_in_strings_are_no_depth(void **state)
{
	_cleanup_json_ json_t *j = NULL;
	_cleanup_strbuf_ struct strbuf b = {0};

	(void)state;
	strbuf_puts(&b, "[\"\\\"");
	for (int i = 0; i < 200; i++)
		strbuf_putc(&b, '[');
	strbuf_puts(&b, "\"]");
	assert_int_equal(json_parse(&j, b.s, b.len, "x", NULL), 0);
}

static void commas_in_strings_are_no_values(void **state)
{
	_cleanup_json_ json_t *j = NULL;
	_cleanup_error_ struct error err = {0};

	(void)state;
	assert_int_equal(json_parse_large(&j, "[\",,,\",1]", 9, 3, "x", NULL), 0);
	json_decref(j);
	assert_int_equal(json_parse_large(&j, "[\"\",1,[]]", 9, 3, "x", &err), -EINVAL);
	assert_string_equal(error_text(&err), "x: more than 3 values");
	j = NULL;
}

static void errors_travel(void **state)
{
	_cleanup_error_ struct error err = {0};

	(void)state;
	assert_string_equal(error_text(&err), "unknown error");
	assert_int_equal(error_set(&err, -EINVAL, "bad %s", "key"), -EINVAL);
	assert_int_equal(error_wrap(&err, "site.yaml"), -EINVAL);
	assert_string_equal(error_text(&err), "site.yaml: bad key");
	assert_int_equal(error_set_errno(&err, -ENOENT, "cannot open x"), -ENOENT);
	assert_string_equal(error_text(&err), "cannot open x: No such file or directory");
	assert_int_equal(error_set(NULL, -EIO, "nobody listens"), -EIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pointers_escape_names),
		cmocka_unit_test(pointers_walk_lists),
		cmocka_unit_test(text_is_made_safe),
		cmocka_unit_test(hostile_documents_are_refused),
		cmocka_unit_test(brackets_in_strings_are_no_depth),
		cmocka_unit_test(commas_in_strings_are_no_values),
		cmocka_unit_test(errors_travel),
	};

	return cmocka_run_group_tests_name("base/json", tests, NULL, NULL);
}
