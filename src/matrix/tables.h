/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of the support matrix and the keys of their rows. A new key is one line in tables.c. */
#pragma once

#include "matrix/matrix.h"
#include "site/schema.h"

struct matrix_table {
	const char *name;	/* also of its file, NAME.yaml */
	const char *text;	/* what a row says, for the reference */
	const struct schema_type *row;
	/* keys that together name a row: it may stand once; NULL-terminated */
	const char *const *identity;
};

/* In the order of `plan --matrix`; ends with a NULL name. */
extern const struct matrix_table matrix_table_list[];
/* Tables in it, without the end. */
size_t matrix_table_count(void);

/*
 * Rows of one table from the text of its file, as matrix_rows() has them. New reference; NULL after
 * complaints.
 */
json_t *matrix_table_parse(const struct matrix_table *table, const char *text, size_t len,
			   struct complaints *c);

/* The same of the text of the build, which is not checked again: tests/matrix does that. */
json_t *matrix_table_of_build(const struct matrix_table *table, const char *text, size_t len);

/* matrix_load() with an installed folder of one's own; NULL: none. */
int matrix_load_from(struct matrix **matrix, const char *folder, const char *installed,
		     struct error *err);

/* The reference part of docs/data.md. The caller frees. */
char *matrix_tables_markdown(void);
