/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that run beside the caller: watched, ended, bounded. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/text.h"
#include "host/tool.h"

#define LONG_MS 60000	/* is never waited for */

static struct tool *run(const char *script)
{
	const char *const argv[] = { "/bin/sh", "-c", script, NULL };
	_cleanup_error_ struct error err = {0};
	struct tool *tool = NULL;

	assert_int_equal(tool_start(&tool, argv, &err), 0);
	return tool;
}

static void says_what_it_wrote(void **state)
{
	_cleanup_(tool) struct tool *tool = run("echo out; echo err >&2; echo \"$LC_ALL\"");
	_cleanup_free_ char *failure = NULL;

	(void)state;
	assert_int_equal(tool_wait(tool, -1, LONG_MS, NULL), 1);
	/* also when it is asked for again */
	assert_int_equal(tool_wait(tool, -1, LONG_MS, NULL), 1);
	assert_string_equal(tool_output(tool), "out\nC\n");
	assert_string_equal(tool_errors(tool), "err\n");
	failure = tool_failure(tool);
	assert_null(failure);
}

static void says_how_it_ended(void **state)
{
	static const struct {
		const char *script, *failure;
	} cases[] = { { "exit 3", "exit status 3" }, { "kill -SEGV $$", "SIGSEGV" } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(tool) struct tool *tool = run(cases[i].script);

		assert_int_equal(tool_wait(tool, -1, LONG_MS, NULL), 1);
		_cleanup_free_ char *failure = tool_failure(tool);
		assert_string_equal(failure, cases[i].failure);
	}
}

static void is_not_there(void **state)
{
	const char *const argv[] = { "/nowhere/ib_write_bw", NULL };
	_cleanup_(tool) struct tool *tool = NULL;

	(void)state;
	assert_int_equal(tool_start(&tool, argv, NULL), 0);
	assert_int_equal(tool_wait(tool, -1, LONG_MS, NULL), 1);
	_cleanup_free_ char *failure = tool_failure(tool);
	assert_string_equal(failure, "exit status 127");
	assert_non_null(strstr(tool_errors(tool), "/nowhere/ib_write_bw: No such file"));
}

/* What it started goes with it: the pipe has no writer any more. */
static void ends_with_its_children(void **state)
{
	int ends[2];
	char byte;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	_cleanup_free_ char *script = xasprintf("exec 9>/proc/%d/fd/%d; sleep 600 & sleep 600",
						getpid(), ends[1]);
	_cleanup_(tool) struct tool *tool = run(script);
	assert_int_equal(tool_wait(tool, -1, 200, NULL), -ETIMEDOUT);
	close(ends[1]);
	tool_end(tool);
	assert_int_equal(read(ends[0], &byte, 1), 0);
	close(ends[0]);
	_cleanup_free_ char *failure = tool_failure(tool);
	assert_string_equal(failure, "SIGKILL");
}

static void is_bounded(void **state)
{
	_cleanup_(tool) struct tool *tool = run("yes");
	_cleanup_error_ struct error err = {0};

	(void)state;
	assert_int_equal(tool_wait(tool, -1, LONG_MS, &err), -EFBIG);
	assert_non_null(strstr(error_text(&err), "/bin/sh: writes more than"));
	assert_int_equal(strlen(tool_output(tool)), TOOL_OUTPUT_MAX);
	_cleanup_free_ char *failure = tool_failure(tool);
	assert_string_equal(failure, "SIGKILL");
}

static void something_else_is_watched(void **state)
{
	_cleanup_(tool) struct tool *tool = run("echo begun; sleep 600");
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(tool_wait(tool, ends[0], 50, NULL), -ETIMEDOUT);
	assert_int_equal(write(ends[1], "x", 1), 1);
	assert_int_equal(tool_wait(tool, ends[0], LONG_MS, NULL), 0);
	_cleanup_free_ char *failure = tool_failure(tool);
	assert_null(failure);
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_what_it_wrote),
		cmocka_unit_test(says_how_it_ended),
		cmocka_unit_test(is_not_there),
		cmocka_unit_test(ends_with_its_children),
		cmocka_unit_test(is_bounded),
		cmocka_unit_test(something_else_is_watched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
