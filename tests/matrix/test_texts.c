/* SPDX-License-Identifier: Apache-2.0 */
/*
 * docs/data.md agrees with the code: its reference (`--update` writes it anew) and its example.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "reference.h"
#include "matrix/tables.h"

#define BEGIN "<!-- reference: written by test-matrix-texts --update -->\n\n"
#define DOCS RAILHEAD_SOURCE "/docs/data.md"

static bool update;

static void test_reference(void **state RH_UNUSED)
{
	_cleanup_free_ char *reference = matrix_tables_markdown();

	check_reference(DOCS, BEGIN, reference, update);
}

static void test_example(void **state RH_UNUSED)
{
	_cleanup_complaints_ struct complaints c = { .file = DOCS };
	_cleanup_error_ struct error err = {0};
	_cleanup_free_ char *docs = file_text(DOCS);
	char *begin = strstr(docs, "```yaml\n");
	const struct matrix_table *table = matrix_table_list;

	assert_non_null(begin);
	begin += strlen("```yaml\n");
	char *end = strstr(begin, "```\n");
	assert_non_null(end);
	while (strcmp(table->name, "kubespray"))
		table++;
	_cleanup_json_ json_t *rows = matrix_table_parse(table, begin, (size_t)(end - begin), &c);
	if (complaints_tell(&c, &err) < 0)
		fail_msg("%s", error_text(&err));
	assert_int_equal(json_array_size(rows), 1);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reference),
		cmocka_unit_test(test_example),
	};

	update = argc > 1 && !strcmp(argv[1], "--update");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
