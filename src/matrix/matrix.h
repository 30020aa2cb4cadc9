/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The support matrix: what vendors and sources say of versions, NICs, GPUs and images. It is data
 * (data/NAME.yaml, docs/data.md), so that an operator can correct a row without a new build.
 *
 * A file is one table:
 *
 *	schema: railhead.data/1
 *	table: kubespray
 *	rows:
 *	  - release: v2.31.0
 *	    kubernetes: {min: "1.33.0", max: "1.35.4", default: "1.35.4"}
 *	    source: Kubespray tag v2.31.0, roles/kubespray_defaults (checksums)
 *	    date: 2026-08-20
 *	    confidence: read
 *
 * Every row has `source`, `date` and `confidence` (read: seen in the source; inferred: follows from
 * what was seen; unverified: neither). Tables and the keys of their rows: matrix/tables.c, one
 * schema table, as for the site.
 */
#pragma once

#include "base/error.h"
#include "base/json.h"

#define MATRIX_SCHEMA "railhead.data/1"

struct matrix;

/*
 * Read all tables: each from `folder` if it has the file (NULL: no folder was given), else from the
 * installed folder, else as it was built in. -EINVAL: a row is malformed; the message names file,
 * line and column of each, at most 20. Other codes: a file could not be read.
 */
int matrix_load(struct matrix **matrix, const char *folder, struct error *err);
void matrix_free(struct matrix *matrix);

static inline RH_UNUSED void cleanup_matrix_p(struct matrix **matrix)
{
	matrix_free(*matrix);
}
#define _cleanup_matrix_ __attribute__((cleanup(cleanup_matrix_p)))

/*
 * Rows of a table, an array of objects in file order; never NULL (an unknown name gives an empty
 * array). Each row has besides its own keys: `source`, `date`, `confidence`, and `at`, the place it
 * was read from ("kubespray.yaml:31"). Borrowed.
 */
json_t *matrix_rows(const struct matrix *matrix, const char *table);

/* The first row of a table whose member `key` is the text `value`; NULL when there is none, and for
 * the value NULL. Borrowed. */
json_t *matrix_row(const struct matrix *matrix, const char *table, const char *key,
		   const char *value);

/* Names of all tables, NULL-terminated, in the order of `plan --matrix`. Borrowed. */
const char *const *matrix_tables(void);

/* Where a table came from: a path, or "built in". Borrowed. */
const char *matrix_origin(const struct matrix *matrix, const char *table);

/* All tables as one document, {"schema", "tables": {NAME: {"origin", "rows"}}}. New reference. */
json_t *matrix_document(const struct matrix *matrix);
