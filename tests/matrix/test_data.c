/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of this build: all are read, and what one says fits what the others say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "matrix/matrix.h"
#include "matrix/tables.h"

static struct matrix *matrix;

/* From the source tree, so that an installed folder does not matter. */
static int load(void **state RH_UNUSED)
{
	_cleanup_error_ struct error err = {0};

	if (matrix_load(&matrix, RAILHEAD_SOURCE "/data", &err) < 0)
		fprintf(stderr, "%s\n", error_text(&err));
	return matrix ? 0 : -1;
}

static int unload(void **state RH_UNUSED)
{
	matrix_free(matrix);
	return 0;
}

static const char *text(json_t *row, const char *key)
{
	return json_get_string(row, key, "");
}

/* First row of a table whose keys have these values; NULL `key2`: one key. */
static json_t *find(const char *table, const char *key, const char *value, const char *key2,
		    const char *value2)
{
	json_t *row;
	size_t i;

	json_array_foreach(matrix_rows(matrix, table), i, row)
		if (!strcmp(text(row, key), value) && (!key2 || !strcmp(text(row, key2), value2)))
			return row;
	return NULL;
}

/* "26.3" of "v26.3.3". The caller frees. */
static char *line_of(const char *exact)
{
	const char *patch = strrchr(exact, '.');

	return xstrndup(exact + 1, (size_t)(patch - exact) - 1);
}

static void test_every_table(void **state RH_UNUSED)
{
	size_t n = 0;

	for (const char *const *name = matrix_tables(); *name; name++, n++) {
		_cleanup_free_ char *path = xasprintf("%s/data/%s.yaml", RAILHEAD_SOURCE, *name);
		json_t *row, *rows = matrix_rows(matrix, *name);
		size_t i;

		assert_string_equal(matrix_origin(matrix, *name), path);
		if (!json_array_size(rows))
			fail_msg("%s has no row", *name);
		json_array_foreach(rows, i, row) {
			_cleanup_free_ char *begin = xasprintf("%s.yaml:", *name);

			assert_true(text(row, "source")[0]);
			assert_true(text_starts_with(text(row, "at"), begin));
		}
	}
	assert_int_equal(n, matrix_table_count());
}

/* As strictly as text from outside: what is built in is not checked when the program runs. */
static void test_every_table_is_sound(void **state RH_UNUSED)
{
	for (const struct matrix_table *table = matrix_table_list; table->name; table++) {
		_cleanup_free_ char *path = xasprintf("%s/data/%s.yaml", RAILHEAD_SOURCE, table->name);
		_cleanup_error_ struct error err = {0};
		_cleanup_strbuf_ struct strbuf b = {0};
		_cleanup_complaints_ struct complaints c = { .file = path };

		assert_int_equal(file_read(&b, path, TREE_FILE_MAX, &err), 0);
		_cleanup_json_ json_t *rows =
			matrix_table_parse(table, strbuf_str(&b), b.len, &c);
		if (complaints_tell(&c, &err) < 0)
			fail_msg("%s", error_text(&err));
		_cleanup_json_ json_t *unchecked =
			matrix_table_of_build(table, strbuf_str(&b), b.len);

		assert_true(json_equal(rows, unchecked));
	}
}

/* The tables of the build, and not only those of the folder. */
static void test_built_in(void **state RH_UNUSED)
{
	_cleanup_matrix_ struct matrix *plain = NULL;

	assert_int_equal(matrix_load_from(&plain, NULL, NULL, NULL), 0);
	for (const char *const *name = matrix_tables(); *name; name++)
		assert_true(json_equal(matrix_rows(plain, *name), matrix_rows(matrix, *name)));
	assert_true(json_is_array(matrix_rows(plain, "no such table")));
	assert_int_equal(json_array_size(matrix_rows(plain, "no such table")), 0);
}

static void test_document(void **state RH_UNUSED)
{
	_cleanup_json_ json_t *document = matrix_document(matrix);
	json_t *tables = json_at(document, "/tables");
	const char *const *name = matrix_tables();
	const char *key;
	json_t *table;

	assert_string_equal(text(document, "schema"), MATRIX_SCHEMA);
	json_object_foreach(tables, key, table) {
		assert_string_equal(key, *name++);
		assert_true(json_object_get(table, "rows") == matrix_rows(matrix, key));
		assert_true(text(table, "origin")[0]);
	}
	assert_null(*name);
}

static void test_operators(void **state RH_UNUSED)
{
	static const char *const of_exact[] = { "images", "gpu-drivers" };
	json_t *row;
	size_t i;

	for (size_t t = 0; t < ARRAY_SIZE(of_exact); t++) {
		json_array_foreach(matrix_rows(matrix, of_exact[t]), i, row) {
			_cleanup_free_ char *line = line_of(text(row, "operator"));

			if (!find("platforms", "operator", line, NULL, NULL))
				fail_msg("%s: line %s is in no row of platforms", text(row, "at"), line);
			if (!find("images", "operator", text(row, "operator"), "key", "driver"))
				fail_msg("%s: no image of the driver", text(row, "at"));
			if (!find("gpu-drivers", "operator", text(row, "operator"), NULL, NULL))
				fail_msg("%s: no driver is listed", text(row, "at"));
		}
	}
	json_array_foreach(matrix_rows(matrix, "gpus"), i, row) {
		json_t *line;
		size_t k;

		json_array_foreach(json_object_get(row, "operators"), k, line)
			assert_non_null(find("platforms", "operator", json_string_value(line), NULL, NULL));
	}
	json_array_foreach(matrix_rows(matrix, "gpudirect"), i, row)
		assert_non_null(find("platforms", "operator", text(row, "operator"), NULL, NULL));
}

/* One driver is the default, and it is the one in the image. */
static void test_default_drivers(void **state RH_UNUSED)
{
	json_t *row;
	size_t i;

	json_array_foreach(matrix_rows(matrix, "images"), i, row) {
		json_t *driver;
		unsigned defaults = 0;
		size_t k;

		if (strcmp(text(row, "key"), "driver"))
			continue;
		json_array_foreach(matrix_rows(matrix, "gpu-drivers"), k, driver) {
			if (strcmp(text(driver, "operator"), text(row, "operator")) ||
			    !json_get_bool(driver, "default", false))
				continue;
			defaults++;
			assert_string_equal(text(driver, "version"), text(row, "version"));
		}
		assert_int_equal(defaults, 1);
	}
}

/* Each image can be set by keys of its chart, where the chart's keys are known. */
static void test_chart_keys(void **state RH_UNUSED)
{
	static const char *const parts[] = { "repository", "image", "version" };
	json_t *row;
	size_t i, checked = 0;

	json_array_foreach(matrix_rows(matrix, "images"), i, row) {
		json_t *chart = find("chart-keys", "chart", "gpu-operator", "version",
				     text(row, "operator"));
		json_t *keys = json_object_get(chart, "keys");

		if (!chart)
			continue;
		if (!strcmp(text(row, "key"), "node-feature-discovery")) {
			assert_string_equal(text(keys, "node-feature-discovery.image.repository"),
					    "string");
			continue;
		}
		for (size_t p = 0; p < ARRAY_SIZE(parts); p++) {
			_cleanup_free_ char *key = xasprintf("%s.%s", text(row, "key"), parts[p]);

			if (strcmp(text(keys, key), "string"))
				fail_msg("%s: the chart has no key %s", text(row, "at"), key);
			checked++;
		}
	}
	assert_true(checked > 0);
}

/* A key is no map and something below it at once. */
static void test_chart_keys_are_leaves(void **state RH_UNUSED)
{
	json_t *row, *type;
	const char *key;
	size_t i;

	json_array_foreach(matrix_rows(matrix, "chart-keys"), i, row) {
		json_t *keys = json_object_get(row, "keys");

		assert_string_equal(text(keys, "driver.kernelModuleType"), "string");
		assert_string_equal(text(keys, "driver.rdma.enabled"), "bool");
		json_object_foreach(keys, key, type) {
			_cleanup_free_ char *above = xstrdup(key);
			char *dot;

			while ((dot = strrchr(above, '.'))) {
				*dot = '\0';
				if (json_object_get(keys, above))
					fail_msg("%s: %s is below %s", text(row, "at"), key, above);
			}
		}
	}
}

static void check_range(json_t *row)
{
	json_t *range = json_object_get(row, "kubernetes");

	if (text_version_compare(text(range, "min"), text(range, "max")) > 0)
		fail_msg("%s: min is above max", text(row, "at"));
}

static void test_ranges(void **state RH_UNUSED)
{
	static const char *const tables[] = { "platforms", "network-operator", "kubespray" };
	json_t *row;
	size_t i;

	for (size_t t = 0; t < ARRAY_SIZE(tables); t++)
		json_array_foreach(matrix_rows(matrix, tables[t]), i, row)
			check_range(row);
	json_array_foreach(matrix_rows(matrix, "kubespray"), i, row) {
		json_t *range = json_object_get(row, "kubernetes");
		json_t *newest, *versions = json_object_get(range, "newest");
		size_t k;

		assert_true(text_version_compare(text(range, "default"), text(range, "min")) >= 0);
		assert_true(text_version_compare(text(range, "default"), text(range, "max")) <= 0);
		json_array_foreach(versions, k, newest)
			assert_true(text_version_compare(json_string_value(newest), text(range, "max")) <= 0);
	}
}

/* Families of the other tables are those of `nics`; a condition has its texts. */
static void test_nics(void **state RH_UNUSED)
{
	json_t *row;
	size_t i;

	json_array_foreach(matrix_rows(matrix, "dmabuf"), i, row)
		if (json_object_get(row, "family"))
			assert_non_null(find("nics", "family", text(row, "family"), NULL, NULL));
	json_array_foreach(matrix_rows(matrix, "nics"), i, row) {
		bool conditional = !strcmp(text(row, "bond_rdma"), "conditional");
		bool has = json_array_size(json_object_get(row, "bond_conditions")) > 0;
		bool outside = !strcmp(text(row, "stack"), "out-of-tree");

		if (conditional != has)
			fail_msg("%s: bond_conditions", text(row, "at"));
		if (outside != !!json_object_get(row, "version_min"))
			fail_msg("%s: version_min", text(row, "at"));
	}
	json_array_foreach(matrix_rows(matrix, "nics"), i, row) {
		static const struct {
			const char *item, *key;
		} mins[] = { { "provider-kernel", "dmabuf_kernel_min" },
			     { "rdma-core", "dmabuf_rdma_core_min" } };

		for (size_t k = 0; k < ARRAY_SIZE(mins); k++) {
			json_t *min = find("dmabuf", "item", mins[k].item, "family", text(row, "family"));

			if (min && json_object_get(row, mins[k].key))
				assert_string_equal(text(row, mins[k].key), text(min, "min"));
		}
	}
}

/* What the whole of railhead was written for. */
static void test_known_rows(void **state RH_UNUSED)
{
	json_t *b300 = find("gpus", "model", "B300", NULL, NULL);
	json_t *ice = find("nics", "family", "ice", "stack", "inbox");
	json_t *driver = find("images", "operator", "v26.3.3", "key", "driver");

	assert_string_equal(json_string_value(json_at(b300, "/pci_ids/0")), "10de:3182");
	assert_string_equal(text(b300, "driver_min"), "580.82.07");
	assert_string_equal(text(b300, "kernel_module"), "open-only");
	assert_string_equal(text(ice, "bond_rdma"), "no");
	assert_string_equal(text(ice, "dcqcn"), "none");
	assert_string_equal(text(driver, "version"), "580.126.20");
	assert_string_equal(text(find("storage-clients", "library", "s3rdma", NULL, NULL), "transport"), "dc");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_table), cmocka_unit_test(test_every_table_is_sound),
		cmocka_unit_test(test_built_in),
		cmocka_unit_test(test_document),	cmocka_unit_test(test_operators),
		cmocka_unit_test(test_default_drivers), cmocka_unit_test(test_chart_keys),
		cmocka_unit_test(test_chart_keys_are_leaves),
		cmocka_unit_test(test_ranges),		cmocka_unit_test(test_nics),
		cmocka_unit_test(test_known_rows),
	};

	return cmocka_run_group_tests(tests, load, unload);
}
