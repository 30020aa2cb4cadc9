/* SPDX-License-Identifier: Apache-2.0 */
/* What an upgrade changes: only that, in the order of the later plan, then what is gone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "plan/plan.h"

static json_t *parse(const char *text)
{
	_cleanup_error_ struct error err = {0};
	json_t *json = NULL;

	if (json_parse(&json, text, strlen(text), "test", &err))
		fail_msg("%s", error_text(&err));
	return json;
}

static void expect(const char *before, const char *after, const char *expected)
{
	_cleanup_json_ json_t *a = parse(before), *b = parse(after);
	_cleanup_json_ json_t *difference = plan_difference(a, b);
	_cleanup_free_ char *text = json_to_text(difference, false);

	assert_string_equal(text, expected);
}

static void test_nothing(void **state)
{
	static const char plan[] =
		"{\"verdicts\":[{\"gate\":\"plan.qos\",\"status\":\"pass\",\"summary\":\"s\"}],"
		"\"components\":[{\"component\":\"ice\",\"where\":\"host\",\"need\":\"required\"}],"
		"\"buffers\":{\"numbers\":[{\"name\":\"PFC headroom\",\"value\":\"1\"}]}}";

	(void)state;
	expect(plan, plan, "{\"verdicts\":[],\"components\":[],\"buffers\":[]}");
	expect("{}", "{}", "{\"verdicts\":[],\"components\":[],\"buffers\":[]}");
}

static void test_verdicts(void **state)
{
	(void)state;
	/* evidence names lines of the file, which say nothing about the plan */
	expect("{\"verdicts\":[{\"gate\":\"a\",\"status\":\"pass\",\"evidence\":[1]},"
	       "{\"gate\":\"b\",\"status\":\"fail\",\"summary\":\"old\"}]}",
	       "{\"verdicts\":[{\"gate\":\"a\",\"status\":\"pass\",\"evidence\":[2]},"
	       "{\"gate\":\"b\",\"status\":\"pass\",\"summary\":\"new\"}]}",
	       "{\"verdicts\":[{\"gate\":\"b\","
	       "\"before\":{\"gate\":\"b\",\"status\":\"fail\",\"summary\":\"old\"},"
	       "\"after\":{\"gate\":\"b\",\"status\":\"pass\",\"summary\":\"new\"}}],"
	       "\"components\":[],\"buffers\":[]}");
}

static void test_new_and_gone(void **state)
{
	(void)state;
	expect("{\"components\":[{\"component\":\"old\",\"where\":\"host\"},"
	       "{\"component\":\"x\",\"where\":\"host\",\"version\":\"1\"},"
	       "{\"component\":\"x\",\"where\":\"pod\",\"version\":\"1\"}]}",
	       "{\"components\":[{\"component\":\"new\",\"where\":\"host\"},"
	       "{\"component\":\"x\",\"where\":\"host\",\"version\":\"1\"},"
	       "{\"component\":\"x\",\"where\":\"pod\",\"version\":\"2\"}]}",
	       "{\"verdicts\":[],\"components\":["
	       "{\"component\":\"new\",\"where\":\"host\","
	       "\"after\":{\"component\":\"new\",\"where\":\"host\"}},"
	       "{\"component\":\"x\",\"where\":\"pod\","
	       "\"before\":{\"component\":\"x\",\"where\":\"pod\",\"version\":\"1\"},"
	       "\"after\":{\"component\":\"x\",\"where\":\"pod\",\"version\":\"2\"}},"
	       "{\"component\":\"old\",\"where\":\"host\","
	       "\"before\":{\"component\":\"old\",\"where\":\"host\"}}],\"buffers\":[]}");
}

/* Two plans that differ in nothing but a switch section. */
static void test_buffers(void **state)
{
	(void)state;
	expect("{}", "{\"buffers\":{\"numbers\":[{\"name\":\"n\",\"value\":\"1\"}]}}",
	       "{\"verdicts\":[],\"components\":[],\"buffers\":[{\"name\":\"n\","
	       "\"after\":{\"name\":\"n\",\"value\":\"1\"}}]}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_new_and_gone),
		cmocka_unit_test(test_buffers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
