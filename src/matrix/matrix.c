/* SPDX-License-Identifier: Apache-2.0 */
#include "matrix/matrix.h"

#include "base/alloc.h"

struct matrix {
	json_t *tables;
};

int matrix_load(struct matrix **matrix, const char *folder, struct error *err)
{
	(void)folder;
	(void)err;
	*matrix = xcalloc(1, sizeof(**matrix));
	(*matrix)->tables = json_object_new();
	return 0;
}

void matrix_free(struct matrix *matrix)
{
	if (!matrix)
		return;
	json_decref(matrix->tables);
	free(matrix);
}

json_t *matrix_rows(const struct matrix *matrix, const char *table)
{
	return json_arr(matrix->tables, table);
}
