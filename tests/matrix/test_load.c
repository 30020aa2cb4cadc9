/* SPDX-License-Identifier: Apache-2.0 */
/* How tables are read: what is refused, in which words, and which of three places a table is from. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/strbuf.h"
#include "base/strings.h"
#include "matrix/tables.h"
#include "matrix/matrix.h"

#define HEAD "schema: railhead.data/1\ntable: pause-quanta\nrows:\n"
#define PROVENANCE "    source: s\n    date: 2026-12-01\n    confidence: read\n"
#define ROW "  - speed: 100G\n    quanta: 394\n" PROVENANCE

static const struct matrix_table *table_of(const char *name)
{
	const struct matrix_table *table = matrix_table_list;

	while (strcmp(table->name, name))
		table++;
	return table;
}

/* What is said of a text; the rows when it is good. */
static json_t *parse(const char *table, const char *text, size_t len, struct error *err)
{
	_cleanup_complaints_ struct complaints c = {
		.file = "t.yaml", .what = "a data file", .schema = MATRIX_SCHEMA };
	json_t *rows = matrix_table_parse(table_of(table), text, len, &c);
	int rc = complaints_tell(&c, err);

	assert_int_equal(rc, rows ? 0 : -EINVAL);
	return rows;
}

static void test_good(void **state RH_UNUSED)
{
	_cleanup_error_ struct error err = {0};
	static const char text[] = "# a comment\n" HEAD ROW "    note: n\n";
	_cleanup_json_ json_t *rows = parse("pause-quanta", text, strlen(text), &err);
	json_t *row = json_array_get(rows, 0);

	assert_int_equal(json_array_size(rows), 1);
	assert_string_equal(json_get_string(row, "speed", ""), "100G");
	assert_int_equal(json_get_int(row, "quanta", 0), 394);
	assert_string_equal(json_get_string(row, "source", ""), "s");
	assert_string_equal(json_get_string(row, "date", ""), "2026-12-01");
	assert_string_equal(json_get_string(row, "confidence", ""), "read");
	assert_string_equal(json_get_string(row, "note", ""), "n");
	assert_string_equal(json_get_string(row, "at", ""), "pause-quanta.yaml:5");
}

/* A version is text, whatever it looks like. */
static void test_versions_are_text(void **state RH_UNUSED)
{
	_cleanup_error_ struct error err = {0};
	static const char text[] = "schema: railhead.data/1\ntable: platforms\nrows:\n"
				   "  - operator: 26.3\n    os: rhel\n    os_versions: [10.10, \"9\"]\n"
				   "    kubernetes: {min: 1.30, max: 1.33}\n" PROVENANCE;
	_cleanup_json_ json_t *rows = parse("platforms", text, strlen(text), &err);
	json_t *row = json_array_get(rows, 0);

	assert_non_null(rows);
	assert_string_equal(json_get_string(row, "operator", ""), "26.3");
	assert_string_equal(json_string_value(json_at(row, "/os_versions/0")), "10.10");
	assert_string_equal(json_string_value(json_at(row, "/kubernetes/min")), "1.30");
}

static void test_empty_table(void **state RH_UNUSED)
{
	_cleanup_error_ struct error err = {0};
	static const char text[] = "schema: railhead.data/1\ntable: pause-quanta\nrows: []\n";
	_cleanup_json_ json_t *rows = parse("pause-quanta", text, strlen(text), &err);

	assert_int_equal(json_array_size(rows), 0);
	assert_true(json_is_array(rows));
}

static void test_malformed(void **state RH_UNUSED)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		/* the file */
		{ "", "t.yaml:1:1: the file is empty; a data file begins with 'schema: railhead.data/1'" },
		{ HEAD ROW "---\n" HEAD ROW, "t.yaml:9:1: a second document; a data file holds one" },
		{ "- a\n", "t.yaml:1:1: expected a map with schema, table and rows, found a list" },
		{ "schema: railhead.data/2\ntable: pause-quanta\nrows: []\n",
		  "t.yaml:1:9: schema: 'railhead.data/2' is not a schema that this railhead reads; "
		  "did you mean 'railhead.data/1'?" },
		{ "table: pause-quanta\nrows: []\n", "t.yaml:1:1: key 'schema' is missing" },
		{ "schema: railhead.data/1\nrows: []\n", "t.yaml:1:1: key 'table' is missing" },
		{ "schema: railhead.data/1\ntable: pause-quanta\n", "t.yaml:1:1: key 'rows' is missing" },
		{ "schema: railhead.data/1\ntable: pause-quanta\nrows:\n",
		  "t.yaml:3:6: rows: no value; expected a list of rows" },
		{ "schema: railhead.data/1\ntable: pause-quanta\nrows: {}\n",
		  "t.yaml:3:7: rows: expected a list of rows, found a map" },
		{ "schema: railhead.data/1\ntable: buffers\nrows: []\n",
		  "t.yaml:2:8: table: 'buffers' is not 'pause-quanta', the name of the file" },
		{ HEAD ROW "row: []\n", "t.yaml:9:1: unknown key 'row'; did you mean 'rows'?" },
		{ HEAD "  - !!binary x\n", "t.yaml:4:5: tag 'tag:yaml.org,2002:binary' is not used in a data file" },
		/* a row */
		{ HEAD "  - x\n", "t.yaml:4:5: rows: expected a map with the keys of a row, found 'x'" },
		{ HEAD "  - <<: {}\n", "t.yaml:4:5: rows: a data file has no merge keys" },
		{ HEAD "  - sped: 100G\n    quanta: 394\n" PROVENANCE,
		  "t.yaml:4:5: rows: unknown key 'sped'; did you mean 'speed'?" },
		{ HEAD "  - zz: 100G\n    speed: 100G\n    quanta: 394\n" PROVENANCE,
		  "t.yaml:4:5: rows: unknown key 'zz'; known here: speed, quanta, source, date, "
		  "confidence, note" },
		{ HEAD ROW "    at: \"buffers.yaml:1\"\n",
		  "t.yaml:9:5: rows: unknown key 'at'; did you mean 'date'?" },
		{ HEAD "  - speed: 100G\n" PROVENANCE, "t.yaml:4:5: rows: key 'quanta' is missing" },
		{ HEAD "  - speed: 100G\n    quanta: 394\n    date: 2026-12-01\n    confidence: read\n",
		  "t.yaml:4:5: rows: key 'source' is missing" },
		{ HEAD "  - speed: 100G\n    quanta: 394\n    source: s\n    confidence: read\n",
		  "t.yaml:4:5: rows: key 'date' is missing" },
		{ HEAD "  - speed: 100G\n    quanta: 394\n    source: s\n    date: 2026-12-01\n",
		  "t.yaml:4:5: rows: key 'confidence' is missing" },
		{ HEAD "  - speed: 100G\n    quanta: 394\n    quanta: 395\n" PROVENANCE,
		  "t.yaml:6:5: key 'quanta' stands twice (first in line 5)" },
		{ HEAD ROW ROW,
		  "t.yaml:9:5: this row stands in line 4 already ([\"100G\"] is the same)" },
		/* values */
		{ HEAD "  - speed: 100\n    quanta: 394\n" PROVENANCE,
		  "t.yaml:4:12: rows/speed: expected a speed with its unit, like 100G or 25000M, found '100'" },
		{ HEAD "  - speed: 100G\n    quanta: many\n" PROVENANCE,
		  "t.yaml:5:13: rows/quanta: expected a number of pause quanta, found 'many'" },
		{ HEAD "  - speed: 100G\n    quanta: 0\n" PROVENANCE,
		  "t.yaml:5:13: rows/quanta: 0 is out of range, expected a number of pause quanta" },
		{ HEAD "  - speed: 100G\n    quanta: 394\n    source: \"\"\n    date: 2026-12-01\n    confidence: read\n",
		  "t.yaml:6:13: rows/source: '' is not text: it is empty" },
		{ HEAD "  - speed: 100G\n    quanta: 394\n    source: s\n    date: 2026-12-01\n    confidence: readd\n",
		  "t.yaml:8:17: rows/confidence: 'readd' is not a confidence; did you mean 'read'?" },
		{ HEAD "  - speed: 100G\n    quanta: 394\n    source: s\n    date: 2026-12-01\n    confidence: surely\n",
		  "t.yaml:8:17: rows/confidence: 'surely' is not a confidence; one of read, inferred, unverified" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_error_ struct error err = {0};
		json_t *rows = parse("pause-quanta", cases[i].text, strlen(cases[i].text), &err);

		assert_null(rows);
		assert_string_equal(error_text(&err), cases[i].message);
	}
}

static void test_dates(void **state RH_UNUSED)
{
	static const struct {
		const char *date, *wrong;
	} cases[] = {
		{ "2026-02-28", NULL }, { "2024-02-29", NULL }, { "2000-02-29", NULL },
		{ "2026-02-29", "there is no such day" }, { "2100-02-29", "there is no such day" },
		{ "2026-04-31", "there is no such day" }, { "2026-13-01", "there is no such day" },
		{ "2026-00-01", "there is no such day" }, { "2026-01-00", "there is no such day" },
		{ "1999-01-01", "there is no such day" }, { "2026-1-1", "write it as YYYY-MM-DD" },
		{ "2026/01/01", "write it as YYYY-MM-DD" }, { "20260101", "write it as YYYY-MM-DD" },
		{ "2026-01-1x", "write it as YYYY-MM-DD" }, { "yesterday", "write it as YYYY-MM-DD" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_error_ struct error err = {0};
		_cleanup_free_ char *text = xasprintf(
			HEAD "  - speed: 100G\n    quanta: 394\n    source: s\n    confidence: read\n    date: %s\n",
			cases[i].date);
		_cleanup_json_ json_t *rows = parse("pause-quanta", text, strlen(text), &err);

		if (!cases[i].wrong) {
			assert_non_null(rows);
			continue;
		}
		_cleanup_free_ char *message = xasprintf("t.yaml:8:11: rows/date: '%s' is not a date: %s",
							 cases[i].date, cases[i].wrong);
		assert_string_equal(error_text(&err), message);
	}
}

/* Values of the other tables that have a form of their own. */
static void test_forms(void **state RH_UNUSED)
{
	static const struct {
		const char *table, *row, *message;
	} cases[] = {
		{ "platforms", "operator: v26.3\n    os: rhel\n    os_versions: [10]\n    kubernetes: {min: 1, max: 2}\n",
		  "t.yaml:4:15: rows/operator: 'v26.3' is not a release line: "
		  "write the release line without 'v' and patch: \"26.3\"" },
		{ "platforms", "operator: 26.3.1\n    os: rhel\n    os_versions: [10]\n    kubernetes: {min: 1, max: 2}\n",
		  "t.yaml:4:15: rows/operator: '26.3.1' is not a release line: "
		  "write the release line without 'v' and patch: \"26.3\"" },
		{ "platforms", "operator: 26.3\n    os: rhel\n    os_versions: 10\n    kubernetes: {min: 1, max: 2}\n",
		  "t.yaml:6:18: rows/os_versions: expected a list of versions, found '10'" },
		{ "platforms", "operator: 26.3\n    os: rhel\n    os_versions: [10]\n    kubernetes: {min: 1}\n",
		  "t.yaml:7:17: rows/kubernetes: key 'max' is missing" },
		{ "platforms", "operator: 26.3\n    os: rhel\n    os_versions: [\"10; rm\"]\n    kubernetes: {min: 1, max: 2}\n",
		  "t.yaml:6:19: rows/os_versions: '10; rm' is not a version: letters, digits and any of . _ + ~ : - in a version" },
		{ "images", "operator: 26.3.3\n    key: driver\n    repository: r\n    image: i\n    version: 1\n    suffix: none\n    when: always\n",
		  "t.yaml:4:15: rows/operator: '26.3.3' is not an exact release: write the whole version with its 'v': v26.3.3" },
		{ "images", "operator: v26.3.3\n    key: driver\n    repository: r\n    image: i\n    version: 1\n    suffix: os\n    when: always\n",
		  "t.yaml:9:13: rows/suffix: 'os' is not a suffix rule; one of none, os-major, os-major-from-10" },
		{ "gpus", "model: B300\n    pci_ids: [3182]\n    architecture: blackwell\n    kernel_module: both\n    operators: [26.3]\n",
		  "t.yaml:5:15: rows/pci_ids: '3182' is not a PCI id: write vendor:device in lower-case hex: 10de:3182" },
		{ "kernels", "os: rhel\n    os_version: 10\n    kernel: \"$(reboot)\"\n",
		  "t.yaml:6:13: rows/kernel: '$(reboot)' is not a kernel pattern: "
		  "a pattern of `uname -r`: letters, digits and any of . _ + ~ - * ? [ ]" },
		{ "chart-keys", "chart: c\n    version: v1.2.3\n    keys: {a.b: boolean}\n",
		  "t.yaml:6:17: rows/keys/a.b: 'boolean' is not a type of Helm values; one of bool, int, string, list, map" },
		{ "other-images", "what: x\n    image: nginx\n",
		  "t.yaml:5:12: rows/image: 'nginx' is not an image with its registry and tag or digest: "
		  "write it with registry and tag: nvcr.io/nvidia/driver:580.126.20-rhel10" },
		{ "nics", "family: ice\n    driver: ice\n    rdma_driver: irdma\n    stack: inbox\n    nvidia: no\n    bond_rdma: no\n    dscp: yes\n    dcb_while_bonded: no\n    dcqcn: none\n    atomics: firmware\n    dc_transport: false\n",
		  "t.yaml:8:13: rows/nvidia: expected true or false, found 'no'" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_error_ struct error err = {0};
		_cleanup_free_ char *text = xasprintf("schema: railhead.data/1\ntable: %s\nrows:\n  - %s" PROVENANCE,
						      cases[i].table, cases[i].row);

		assert_null(parse(cases[i].table, text, strlen(text), &err));
		assert_string_equal(error_text(&err), cases[i].message);
	}
}

/* All that is wrong is told, twenty of one file. */
static void test_many(void **state RH_UNUSED)
{
	_cleanup_error_ struct error err = {0};
	_cleanup_strbuf_ struct strbuf text = {0};
	unsigned lines = 1;

	strbuf_puts(&text, HEAD);
	for (unsigned i = 0; i < 30; i++)
		strbuf_puts(&text, "  - speed: fast\n    quanta: 394\n" PROVENANCE);
	assert_null(parse("pause-quanta", strbuf_str(&text), text.len, &err));
	for (const char *s = error_text(&err); (s = strchr(s, '\n')); s++)
		lines++;
	assert_int_equal(lines, COMPLAINTS_MAX + 1);
}

static void test_garbage(void **state RH_UNUSED)
{
	size_t len = 1u << 20;
	_cleanup_free_ char *text = xcalloc(len, 1);
	uint32_t seed = 1;

	for (size_t i = 0; i < len; i++) {
		seed = seed * 1664525u + 1013904223u;
		text[i] = (char)(seed >> 24);
	}
	for (unsigned mask = 0; mask < 2; mask++) {
		_cleanup_error_ struct error err = {0};

		/* once as it is, once as text of brackets and blanks */
		for (size_t i = 0; mask && i < len; i++)
			text[i] = "[]{}: \n-"[text[i] & 7];
		assert_null(parse("images", text, len, &err));
		assert_true(error_text(&err)[0]);
	}
}

/* --- folders --- */

struct folder {
	char path[32];
	char **files;
};

static int folder_make(void **state)
{
	struct folder *f = xcalloc(1, sizeof(*f));

	strcpy(f->path, "/tmp/railhead-matrix-XXXXXX");
	*state = f;
	return mkdtemp(f->path) ? 0 : -1;
}

static int folder_remove(void **state)
{
	struct folder *f = *state;

	for (size_t i = 0; f->files && f->files[i]; i++)
		if (unlink(f->files[i]) && rmdir(f->files[i]))
			return -1;
	strings_free(f->files);
	int rc = rmdir(f->path);
	free(f);
	return rc;
}

static void put(struct folder *f, const char *name, const char *text)
{
	char *path = xasprintf("%s/%s", f->path, name);
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	fputs(text, out);
	fclose(out);
	strings_add(&f->files, path);
}

static void check_origin(const struct matrix *matrix, const char *table, const char *folder)
{
	_cleanup_free_ char *path = xasprintf("%s/%s.yaml", folder, table);

	assert_string_equal(matrix_origin(matrix, table), path);
}

static void test_order(void **state)
{
	_cleanup_matrix_ struct matrix *all = NULL, *installed = NULL, *built = NULL;
	_cleanup_error_ struct error err = {0};
	struct folder *f = *state;
	_cleanup_free_ char *given = xasprintf("%s/given", f->path);

	assert_int_equal(mkdir(given, 0700), 0);
	put(f, "given/pause-quanta.yaml", HEAD ROW);
	put(f, "given/.pause-quanta.yaml.swp", "an editor's");
	put(f, "pause-quanta.yaml", HEAD);	/* not looked at when the other is there */
	put(f, "buffers.yaml", "schema: railhead.data/1\ntable: buffers\nrows: []\n");
	put(f, "notes.txt", "a package may install more");
	strings_add(&f->files, xstrdup(given));
	if (matrix_load_from(&all, given, f->path, &err) < 0 ||
	    matrix_load_from(&built, NULL, NULL, &err) < 0)
		fail_msg("%s", error_text(&err));
	check_origin(all, "pause-quanta", given);
	check_origin(all, "buffers", f->path);
	assert_string_equal(matrix_origin(all, "images"), "built in");
	/* the whole table is replaced, the others are not */
	assert_int_equal(json_array_size(matrix_rows(all, "pause-quanta")), 1);
	assert_int_equal(json_array_size(matrix_rows(all, "buffers")), 0);
	assert_true(json_equal(matrix_rows(all, "images"), matrix_rows(built, "images")));
	assert_true(json_array_size(matrix_rows(built, "pause-quanta")) > 1);
	assert_true(json_array_size(matrix_rows(built, "buffers")) > 0);
	/* a bad installed table is an error where it is used */
	assert_int_equal(matrix_load_from(&installed, NULL, f->path, &err), -EINVAL);
	_cleanup_free_ char *message = xasprintf(
		"%s/pause-quanta.yaml:3:6: rows: no value; expected a list of rows", f->path);
	assert_string_equal(error_text(&err), message);
}

/* No folder at all where the installed one should be: the program was copied. */
static void test_not_installed(void **state RH_UNUSED)
{
	_cleanup_matrix_ struct matrix *matrix = NULL;

	assert_int_equal(matrix_load_from(&matrix, NULL, "/nonexistent/railhead", NULL), 0);
	assert_string_equal(matrix_origin(matrix, "nics"), "built in");
	assert_true(json_array_size(matrix_rows(matrix, "nics")) > 0);
}

static void test_errors_of_all_files(void **state)
{
	_cleanup_error_ struct error err = {0};
	struct folder *f = *state;
	struct matrix *matrix;

	put(f, "pause-quanta.yaml", HEAD "  - speed: fast\n    quanta: 394\n" PROVENANCE);
	put(f, "buffers.yaml", "schema: railhead.data/1\ntable: buffers\nrows: none\n");
	put(f, "gpu-driver.yaml", "");
	put(f, "README", "");
	assert_int_equal(matrix_load(&matrix, f->path, &err), -EINVAL);
	assert_null(matrix);
	_cleanup_free_ char *message = xasprintf(
		"%s/README: no table of the matrix has this name\n"
		"%s/gpu-driver.yaml: no table of the matrix has this name; did you mean 'gpu-drivers.yaml'?\n"
		"%s/pause-quanta.yaml:4:12: rows/speed: expected a speed with its unit, like 100G or 25000M, found 'fast'\n"
		"%s/buffers.yaml:3:7: rows: expected a list of rows, found 'none'",
		f->path, f->path, f->path, f->path);
	assert_string_equal(error_text(&err), message);
}

static void test_many_names(void **state)
{
	_cleanup_error_ struct error err = {0};
	struct folder *f = *state;
	struct matrix *matrix;
	char name[] = "a.txt";
	unsigned lines = 1;

	for (; name[0] <= 'z'; name[0]++)
		put(f, name, "");
	assert_int_equal(matrix_load(&matrix, f->path, &err), -EINVAL);
	for (const char *s = error_text(&err); (s = strchr(s, '\n')); s++)
		lines++;
	assert_int_equal(lines, COMPLAINTS_MAX + 1);
}

static void test_not_readable(void **state)
{
	_cleanup_error_ struct error err = {0};
	struct folder *f = *state;
	struct matrix *matrix;
	char *path = xasprintf("%s/images.yaml", f->path);

	assert_int_equal(mkdir(path, 0700), 0);
	strings_add(&f->files, path);
	assert_int_equal(matrix_load(&matrix, f->path, &err), -EISDIR);
	_cleanup_free_ char *message = xasprintf("%s: Is a directory", path);
	assert_string_equal(error_text(&err), message);
}

static void test_no_folder(void **state RH_UNUSED)
{
	_cleanup_error_ struct error err = {0};
	struct matrix *matrix;

	assert_int_equal(matrix_load(&matrix, "/nonexistent/data", &err), -ENOENT);
	assert_null(matrix);
	assert_string_equal(error_text(&err), "/nonexistent/data: No such file or directory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_versions_are_text),
		cmocka_unit_test(test_empty_table),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_dates),
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_garbage),
		cmocka_unit_test_setup_teardown(test_order, folder_make, folder_remove),
		cmocka_unit_test(test_not_installed),
		cmocka_unit_test_setup_teardown(test_errors_of_all_files, folder_make, folder_remove),
		cmocka_unit_test_setup_teardown(test_many_names, folder_make, folder_remove),
		cmocka_unit_test_setup_teardown(test_not_readable, folder_make, folder_remove),
		cmocka_unit_test(test_no_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
