/* SPDX-License-Identifier: Apache-2.0 */
#include "matrix/matrix.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "base/strings.h"
#include "base/text.h"
#include "config.h"
#include "matrix/built_in.h"
#include "matrix/tables.h"

#define BUILT_IN "built in"

struct table {
	const struct matrix_table *is;
	char *origin;		/* path, or BUILT_IN */
	const char *text;	/* of the build; NULL: it was read already */
	size_t len;
	json_t *rows;		/* NULL until it is read */
};

struct matrix {
	struct table *tables;	/* as matrix_table_list */
	json_t *nothing;	/* rows of a table that there is not */
};

/* --- where tables come from --- */

static void built_in_table(struct table *table)
{
	for (size_t i = 0; i < ARRAY_SIZE(built_in); i++) {
		if (strcmp(built_in[i].name, table->is->name))
			continue;
		table->text = built_in[i].text;
		table->len = built_in[i].len;
	}
	table->origin = xstrdup(BUILT_IN);
}

/*
 * 1: read. 0: the folder has no such file. -EINVAL: it has, with complaints. Text that is that of
 * the build needs no look: the tests did that.
 */
static int folder_table(struct table *table, const char *folder, struct error *err)
{
	_cleanup_free_ char *path = xasprintf("%s/%s.yaml", folder, table->is->name);
	_cleanup_strbuf_ struct strbuf text = {0};
	_cleanup_complaints_ struct complaints c = {
		.file = path, .what = "a data file", .schema = MATRIX_SCHEMA };
	struct table built = { .is = table->is };
	int rc = file_read(&text, path, TREE_FILE_MAX, err);

	if (rc < 0)
		return rc == -ENOENT ? 0 : rc;
	built_in_table(&built);
	free(built.origin);
	if (text.len == built.len && !memcmp(strbuf_str(&text), built.text, built.len)) {
		table->text = built.text;
		table->len = built.len;
	} else {
		table->rows = matrix_table_parse(table->is, strbuf_str(&text), text.len, &c);
	}
	rc = complaints_tell(&c, err);
	if (rc < 0)
		return rc;
	table->origin = xstrdup(path);
	return 1;
}

/* A name that is no table's would be passed over in silence. */
static int check_names(const char *folder, struct error *err)
{
	_cleanup_(strings) char **names = NULL;
	_cleanup_strbuf_ struct strbuf wrong = {0};
	_cleanup_free_ const char **known = xcalloc(matrix_table_count(), sizeof(*known));
	_cleanup_(strings) char **files = NULL;
	size_t n = matrix_table_count(), n_wrong = 0;
	int rc = file_list(&names, folder, err);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < n; i++) {
		strings_add(&files, xasprintf("%s.yaml", matrix_table_list[i].name));
		known[i] = files[i];
	}
	for (size_t i = 0; names && names[i]; i++) {
		if (strings_have(files, names[i]))
			continue;
		if (n_wrong++ == COMPLAINTS_MAX) {
			strbuf_printf(&wrong, "\n%s: more names of this kind", folder);
			break;
		}
		const char *nearest = text_nearest(names[i], known, n);
		_cleanup_free_ char *shown = text_printable(names[i], strlen(names[i]));

		strbuf_printf(&wrong, "%s%s/%s: no table of the matrix has this name",
			      wrong.len ? "\n" : "", folder, shown);
		if (nearest)
			strbuf_printf(&wrong, "; did you mean '%s'?", nearest);
	}
	return wrong.len ? error_set(err, -EINVAL, "%s", strbuf_str(&wrong)) : 0;
}

/* Collects what is wrong in several files; the first code that is not -EINVAL stays. */
static void note_error(struct strbuf *all, int *code, int rc, const struct error *err)
{
	if (rc >= 0)
		return;
	strbuf_printf(all, "%s%s", all->len ? "\n" : "", error_text(err));
	if (!*code || *code == -EINVAL)
		*code = rc;
}

int matrix_load(struct matrix **matrix, const char *folder, struct error *err)
{
	return matrix_load_from(matrix, folder, RAILHEAD_DATADIR, err);
}

int matrix_load_from(struct matrix **matrix, const char *folder, const char *installed,
		     struct error *err)
{
	_cleanup_matrix_ struct matrix *m = xcalloc(1, sizeof(*m));
	const char *const folders[] = { folder, installed };
	_cleanup_strbuf_ struct strbuf wrong = {0};
	size_t n = matrix_table_count();
	int code = 0;

	*matrix = NULL;
	m->tables = xcalloc(n, sizeof(*m->tables));
	m->nothing = json_array_new();
	if (folder) {
		_cleanup_error_ struct error one = {0};

		note_error(&wrong, &code, check_names(folder, &one), &one);
	}
	for (size_t i = 0; i < n; i++) {
		struct table *table = &m->tables[i];
		int rc = 0;

		table->is = &matrix_table_list[i];
		for (size_t k = 0; k < ARRAY_SIZE(folders) && !rc; k++) {
			_cleanup_error_ struct error one = {0};

			if (!folders[k])
				continue;
			rc = folder_table(table, folders[k], &one);
			note_error(&wrong, &code, rc, &one);
		}
		if (!rc)
			built_in_table(table);
	}
	if (code < 0)
		return error_set(err, code, "%s", strbuf_str(&wrong));
	*matrix = m;
	m = NULL;
	return 0;
}

void matrix_free(struct matrix *matrix)
{
	if (!matrix)
		return;
	for (size_t i = 0; i < matrix_table_count(); i++) {
		free(matrix->tables[i].origin);
		json_decref(matrix->tables[i].rows);
	}
	json_decref(matrix->nothing);
	free(matrix->tables);
	free(matrix);
}

/* --- what it says --- */

static struct table *table_find(const struct matrix *matrix, const char *name)
{
	for (size_t i = 0; i < matrix_table_count(); i++)
		if (!strcmp(matrix->tables[i].is->name, name))
			return &matrix->tables[i];
	return NULL;
}

json_t *matrix_rows(const struct matrix *matrix, const char *name)
{
	struct table *table = table_find(matrix, name);

	if (!table)
		return matrix->nothing;
	if (!table->rows)
		table->rows = matrix_table_of_build(table->is, table->text, table->len);
	return table->rows;
}

json_t *matrix_row(const struct matrix *matrix, const char *table, const char *key,
		   const char *value)
{
	json_t *row;
	size_t i;

	json_array_foreach(matrix_rows(matrix, table), i, row) {
		if (value && !strcmp(json_get_string(row, key, ""), value))
			return row;
	}
	return NULL;
}

const char *matrix_origin(const struct matrix *matrix, const char *name)
{
	const struct table *table = table_find(matrix, name);

	return table ? table->origin : BUILT_IN;
}

json_t *matrix_document(const struct matrix *matrix)
{
	json_t *document = json_object_new();
	json_t *tables;

	json_put_string(document, "schema", MATRIX_SCHEMA);
	tables = json_obj(document, "tables");
	for (size_t i = 0; i < matrix_table_count(); i++) {
		const char *name = matrix->tables[i].is->name;
		json_t *table = json_obj(tables, name);

		json_put_string(table, "origin", matrix->tables[i].origin);
		json_put(table, "rows", json_incref(matrix_rows(matrix, name)));
	}
	return document;
}
