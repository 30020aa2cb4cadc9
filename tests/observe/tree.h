/* SPDX-License-Identifier: Apache-2.0 */
/* Hand-made file trees that stand for a machine: what observers see through host_options.root. */
#pragma once

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>

#include "message.h"

struct tree {
	char *root;
	struct host *host;
	struct observation o;
};

static inline RH_UNUSED void tree_folder(struct tree *t, const char *path)
{
	_cleanup_free_ char *whole = xasprintf("%s%s", t->root, path);

	for (char *s = whole + strlen(t->root) + 1; (s = strchr(s, '/')); s++) {
		*s = '\0';
		mkdir(whole, 0777);
		*s = '/';
	}
	mkdir(whole, 0777);
}

/* Make the folders above `path`, and return the whole name. The caller frees. */
static inline RH_UNUSED char *tree_place(struct tree *t, const char *path)
{
	_cleanup_free_ char *folder = xstrdup(path);

	*strrchr(folder, '/') = '\0';
	if (*folder)
		tree_folder(t, folder);
	return xasprintf("%s%s", t->root, path);
}

static inline RH_UNUSED void tree_bytes(struct tree *t, const char *path, const void *data,
					size_t len)
{
	_cleanup_free_ char *whole = tree_place(t, path);
	_cleanup_fclose_ FILE *f = fopen(whole, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
}

static inline RH_UNUSED void tree_file(struct tree *t, const char *path, const char *text)
{
	tree_bytes(t, path, text, strlen(text));
}

static inline RH_UNUSED void tree_link(struct tree *t, const char *path, const char *target)
{
	_cleanup_free_ char *whole = tree_place(t, path);

	assert_int_equal(symlink(target, whole), 0);
}

/* A PCI device: its folder below `place` ("pci0000:00/0000:00:01.0"), and the bus's link to it. */
static inline RH_UNUSED char *tree_pci(struct tree *t, const char *place, const char *class)
{
	char *folder = xasprintf("/sys/devices/%s", place);
	_cleanup_free_ char *link = xasprintf("/sys/bus/pci/devices%s", strrchr(folder, '/'));
	_cleanup_free_ char *target = xasprintf("../../../devices/%s", place);
	_cleanup_free_ char *file = xasprintf("%s/class", folder);

	tree_file(t, file, class);
	tree_link(t, link, target);
	return folder;
}

static inline RH_UNUSED void tree_start(struct tree *t)
{
	char name[] = "/tmp/railhead-tree-XXXXXX";
	struct error err = {0};

	assert_non_null(mkdtemp(name));
	t->root = xstrdup(name);
	const struct host_options options = {.root = t->root};
	assert_int_equal(host_open(&t->host, &options, &err), 0);
	t->o.host = t->host;
	t->o.snapshot = json_object();
}

static inline RH_UNUSED int tree_remove(const char *path, const struct stat *st RH_UNUSED,
					int type RH_UNUSED, struct FTW *ftw RH_UNUSED)
{
	return remove(path);
}

static inline RH_UNUSED void tree_end(struct tree *t)
{
	json_decref(t->o.snapshot);
	host_close(t->host);
	nftw(t->root, tree_remove, 16, FTW_DEPTH | FTW_PHYS);
	free(t->root);
}

/* The gap at `pointer`, or NULL. */
static inline RH_UNUSED json_t *gap_at(const struct observation *o, const char *pointer)
{
	json_t *gap;
	size_t i;

	json_array_foreach(json_object_get(o->snapshot, "gaps"), i, gap)
		if (strcmp(json_get_string(gap, "pointer", ""), pointer) == 0)
			return gap;
	return NULL;
}

#define assert_gap(o, pointer) assert_non_null(gap_at((o), (pointer)))
#define assert_no_gap(o, pointer) assert_null(gap_at((o), (pointer)))
