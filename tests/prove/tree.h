/* SPDX-License-Identifier: Apache-2.0 */
/* A machine as a tree of files. Include after cmocka.h. */
#pragma once

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"

/* The file at `path` below `root`, with the folders above it. */
static inline RH_UNUSED void tree_put(const char *root, const char *path, const char *text)
{
	_cleanup_free_ char *at = xasprintf("%s%s", root, path);

	for (char *slash = strchr(at + strlen(root) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(at, 0700);
		*slash = '/';
	}
	FILE *f = fopen(at, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}
