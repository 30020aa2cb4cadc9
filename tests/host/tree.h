/* SPDX-License-Identifier: Apache-2.0 */
/* A temporary tree of files for one test; cmocka.h must be included before. */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <string.h>
#include <sys/stat.h>

#include "host/host.h"

struct tree {
	char *path;
};

static inline int tree_setup(void **state)
{
	const char *tmp = getenv("TMPDIR");
	struct tree *t = xcalloc(1, sizeof(*t));

	t->path = xasprintf("%s/railhead-test.XXXXXX", tmp ? tmp : "/tmp");
	*state = t;
	return mkdtemp(t->path) ? 0 : -1;
}

static int tree_remove(const char *path, const struct stat *st RH_UNUSED, int type RH_UNUSED,
		       struct FTW *ftw RH_UNUSED)
{
	return remove(path);
}

static inline int tree_teardown(void **state)
{
	struct tree *t = *state;
	int rc = nftw(t->path, tree_remove, 16, FTW_DEPTH | FTW_PHYS);

	free(t->path);
	free(t);
	return rc;
}

/* Make the folders of `name` below the tree. The caller frees the full path. */
static inline char *tree_path(struct tree *t, const char *name)
{
	char *path = xasprintf("%s/%s", t->path, name);

	for (char *p = path + strlen(t->path) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		if (mkdir(path, 0755) < 0)
			assert_int_equal(errno, EEXIST);
		*p = '/';
	}
	return path;
}

static inline void tree_write(struct tree *t, const char *name, const char *data, size_t len)
{
	_cleanup_free_ char *path = tree_path(t, name);
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, len), len);
}

static inline void tree_directory(struct tree *t, const char *name)
{
	_cleanup_free_ char *path = tree_path(t, name);

	assert_int_equal(mkdir(path, 0755), 0);
}

static inline void tree_link(struct tree *t, const char *name, const char *target)
{
	_cleanup_free_ char *path = tree_path(t, name);

	assert_int_equal(symlink(target, path), 0);
}
