/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One table of the support matrix from its bytes. The first byte chooses the table, so that the
 * rows of each are reached. A good table has an object with a place for each row.
 */
#include <stdint.h>
#include <stdlib.h>

#include "matrix/matrix.h"
#include "matrix/tables.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_complaints_ struct complaints c = {
		.file = "fuzz.yaml", .what = "a data file", .schema = MATRIX_SCHEMA };
	_cleanup_error_ struct error err = {0};

	if (!size)
		return 0;
	const struct matrix_table *table = &matrix_table_list[data[0] % matrix_table_count()];
	_cleanup_json_ json_t *rows =
		matrix_table_parse(table, (const char *)data + 1, size - 1, &c);
	int rc = complaints_tell(&c, &err);
	json_t *row;
	size_t i;

	if (!rows != (rc < 0))
		abort();
	json_array_foreach(rows, i, row)
		if (!json_is_object(row) || !json_is_string(json_object_get(row, "at")) ||
		    !json_is_string(json_object_get(row, "source")))
			abort();
	return 0;
}
