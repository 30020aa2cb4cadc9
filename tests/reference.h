/* SPDX-License-Identifier: Apache-2.0 */
/* Documents whose end is a reference that the program's tables write: compared, or written anew. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/strbuf.h"

#define TEXT_MAX ((size_t)1 << 20)	/* bytes of a file that is read */

static inline char *file_text(const char *path)
{
	_cleanup_error_ struct error err = {0};
	struct strbuf text = {0};

	if (file_read(&text, path, TEXT_MAX, &err) < 0)
		fail_msg("%s", error_text(&err));
	assert_in_range(text.len, 1, TEXT_MAX);
	return strbuf_steal(&text);
}

static inline void write_text(const char *path, const char *before, size_t len, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(before, 1, len, f), len);
	assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
	assert_int_equal(fclose(f), 0);
}

/* All of `path` behind the line `begin` shall be `reference`; with `update` it becomes that. */
static inline void check_reference(const char *path, const char *begin, const char *reference,
				   bool update)
{
	_cleanup_free_ char *docs = file_text(path);
	char *at = strstr(docs, begin);

	assert_non_null(at);
	at += strlen(begin);
	if (update)
		write_text(path, docs, (size_t)(at - docs), reference);
	else
		assert_string_equal(at, reference);
}
