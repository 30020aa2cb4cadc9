/* SPDX-License-Identifier: Apache-2.0 */
/* One file of the support matrix, from its text to checked rows. */
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "matrix/matrix.h"
#include "matrix/tables.h"

static const struct schema_type id = {
	.kind = SCHEMA_WORD, .what = "a schema that this railhead reads",
	.words = (const char *const[]){ MATRIX_SCHEMA, NULL } };

/* Text that names a row: two rows with the same are one too many. The caller frees. */
static char *identity_of(const struct matrix_table *is, json_t *row)
{
	_cleanup_json_ json_t *values = json_array_new();

	for (size_t i = 0; is->identity[i]; i++) {
		json_t *value = json_object_get(row, is->identity[i]);

		json_append(values, value ? json_incref(value) : json_null());
	}
	return json_to_text(values, false);
}

static json_t *row_new(const struct matrix_table *is, struct tree *tree)
{
	/* the tree's value is shared by aliases; the place is the row's own */
	json_t *row = json_copy(schema_json(is->row, tree));

	json_put_stringf(row, "at", "%s.yaml:%u", is->name, tree->where.line);
	return row;
}

static json_t *rows_new(const struct matrix_table *is, const struct tree *list,
			struct complaints *c)
{
	_cleanup_json_ json_t *lines = json_object_new();
	json_t *rows = json_array_new();

	for (size_t i = 0; i < list->n; i++) {
		struct tree *tree = list->items[i];
		json_t *row = row_new(is, tree);
		_cleanup_free_ char *identity = identity_of(is, row);
		int64_t before = json_get_int(lines, identity, 0);

		if (before)
			complain(c, tree->where, NULL,
				 "this row stands in line %lld already (%s is the same)",
				 (long long)before, identity);
		else
			json_put_int(lines, identity, tree->where.line);
		json_append(rows, row);
	}
	return rows;
}

static void check_name(const struct matrix_table *is, const struct tree *root, struct complaints *c)
{
	const struct tree *table = tree_get(root, "table");

	if (!table || !strcmp(table->text, is->name))
		return;
	_cleanup_free_ char *found = complaint_quote(table->text);
	complain(c, table->where, "table", "%s is not '%s', the name of the file", found, is->name);
}

json_t *matrix_table_parse(const struct matrix_table *is, const char *text, size_t len,
			   struct complaints *c)
{
	const struct schema_type list = {
		.kind = SCHEMA_LIST, .what = "a list of rows", .item = is->row };
	const struct schema_key keys[] = {
		{ "schema", &id, "", SCHEMA_UNBOUND, .required = true },
		{ "table", &schema_any_text, "", SCHEMA_UNBOUND, .required = true },
		{ "rows", &list, "", SCHEMA_UNBOUND, .required = true },
		{0}
	};
	const struct schema_type file = {
		.kind = SCHEMA_OBJECT, .what = "a map with schema, table and rows", .keys = keys };
	_cleanup_tree_document_ struct tree_document doc = {0};

	if (!tree_read(&doc, text, len, c))
		return NULL;
	schema_check(&file, doc.root, NULL, c);
	if (doc.root->kind != TREE_MAP || c->n)
		return NULL;
	schema_check_required(&file, doc.root, NULL, c);
	if (c->n)
		return NULL;
	check_name(is, doc.root, c);
	json_t *rows = rows_new(is, tree_get(doc.root, "rows"), c);
	if (c->n) {
		json_decref(rows);
		return NULL;
	}
	return rows;
}

json_t *matrix_table_of_build(const struct matrix_table *is, const char *text, size_t len)
{
	_cleanup_tree_document_ struct tree_document doc = {0};
	_cleanup_complaints_ struct complaints c = { .file = is->name };
	json_t *rows = json_array_new();

	if (!tree_read(&doc, text, len, &c))
		abort();	/* tests/matrix reads every table of the build */
	const struct tree *list = tree_get(doc.root, "rows");
	for (size_t i = 0; i < list->n; i++)
		json_append(rows, row_new(is, list->items[i]));
	return rows;
}
