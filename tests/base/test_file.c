/* SPDX-License-Identifier: Apache-2.0 */
/* Files that the user names: read with a limit, and folders listed in one order. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/strings.h"

static char folder[] = "/tmp/railhead-file-XXXXXX";

static int folder_make(void **state RH_UNUSED)
{
	return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int folder_remove(void **state RH_UNUSED)
{
	return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1;
}

static void put(const char *name, const char *data, size_t len)
{
	FILE *f = fopen(name, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

static void test_read(void **state RH_UNUSED)
{
	_cleanup_strbuf_ struct strbuf text = {0};

	strbuf_puts(&text, "before ");
	put("a", "x\0y", 3);
	assert_int_equal(file_read(&text, "a", 100, NULL), 0);
	assert_int_equal(text.len, 10);
	assert_memory_equal(strbuf_str(&text), "before x\0y", 10);
	unlink("a");
}

static void test_read_limit(void **state RH_UNUSED)
{
	_cleanup_strbuf_ struct strbuf text = {0}, whole = {0};
	size_t len = 300000;
	_cleanup_free_ char *data = xcalloc(len, 1);

	put("a", data, len);
	assert_int_equal(file_read(&text, "a", 1000, NULL), 0);
	assert_in_range(text.len, 1001, len - 1);
	assert_int_equal(file_read(&whole, "a", len, NULL), 0);
	assert_int_equal(whole.len, len);
	unlink("a");
}

static void test_read_errors(void **state RH_UNUSED)
{
	_cleanup_strbuf_ struct strbuf text = {0};
	_cleanup_error_ struct error err = {0};

	assert_int_equal(file_read(&text, "none", 10, &err), -ENOENT);
	assert_string_equal(error_text(&err), "none: No such file or directory");
	assert_int_equal(file_read(&text, folder, 10, &err), -EISDIR);
	assert_int_equal(text.len, 0);
}

static void test_list(void **state RH_UNUSED)
{
	static const char *const names[] = { "b", "B", "a.yaml", ".hidden", "10", "9" };
	static const char *const wanted[] = { "10", "9", "B", "a.yaml", "b", NULL };
	_cleanup_(strings) char **found = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		put(names[i], "", 0);
	assert_int_equal(file_list(&found, folder, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		unlink(names[i]);
	for (size_t i = 0; wanted[i]; i++)
		assert_string_equal(found[i], wanted[i]);
	assert_null(found[ARRAY_SIZE(wanted) - 1]);
}

/* More names than the first room for them. */
static void test_list_many(void **state RH_UNUSED)
{
	_cleanup_(strings) char **found = NULL;
	char name[] = "00";

	for (unsigned i = 0; i < 40; i++) {
		name[0] = (char)('0' + i / 10);
		name[1] = (char)('0' + i % 10);
		put(name, "", 0);
	}
	assert_int_equal(file_list(&found, folder, NULL), 0);
	for (unsigned i = 0; i < 40; i++) {
		name[0] = (char)('0' + i / 10);
		name[1] = (char)('0' + i % 10);
		assert_string_equal(found[i], name);
		unlink(name);
	}
	assert_null(found[40]);
}

static void test_list_errors(void **state RH_UNUSED)
{
	_cleanup_error_ struct error err = {0};
	char **names = NULL;

	assert_int_equal(file_list(&names, folder, &err), 0);
	assert_null(names);	/* an empty folder */
	assert_int_equal(file_list(&names, "none", &err), -ENOENT);
	assert_string_equal(error_text(&err), "none: No such file or directory");
	put("a", "", 0);
	assert_int_equal(file_list(&names, "a", &err), -ENOTDIR);
	assert_null(names);
	unlink("a");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),	    cmocka_unit_test(test_read_limit),
		cmocka_unit_test(test_read_errors), cmocka_unit_test(test_list),
		cmocka_unit_test(test_list_many),   cmocka_unit_test(test_list_errors),
	};

	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
