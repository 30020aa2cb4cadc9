/* SPDX-License-Identifier: Apache-2.0 */
/* Which rendered file belongs to which phase, and lists of them that stay short on large sites. */
#include "render/runbook.h"

#include <string.h>

#include "base/text.h"

/* By the beginning of the path; the first that fits. */
static const struct {
	const char *path;
	unsigned phase;
} places[] = {
	{ "snapshots.sh", 0 },
	{ "nodes.txt", 0 },
	{ "mirror/", 0 },
	{ "packages/", 0 },
	{ "kubespray/", 1 },
	{ "network/", 2 },
	{ "gpu-operator/", 7 },
	{ "kubernetes/cuda-", 10 },
	{ "kubernetes/rdma-test", 12 },
	{ "kubernetes/workload-", 21 },
	{ "kubernetes/nodes.", 1 },
	{ "kubernetes/settings.sh", 1 },
	{ "kubernetes/", 11 },
	{ "qos/", 14 },
	{ "switch/", 15 },
};

static unsigned phase_of(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		if (text_starts_with(path, places[i].path))
			return places[i].phase;
	}
	return GATE_PHASES;
}

json_t *runbook_paths(const struct render *r)
{
	json_t *paths = json_object_new();

	for (size_t i = 0; i < r->n_files; i++) {
		const char *path = r->files[i]->path;

		json_put_bool(paths, path, true);
		for (const char *s = strchr(path, '/'); s; s = strchr(s + 1, '/')) {
			_cleanup_free_ char *folder = xasprintf("%.*s", (int)(s + 1 - path), path);

			json_put_bool(paths, folder, true);
		}
	}
	return paths;
}

/* The path with NODE where a component is, or begins with, the name of a node and a dot. */
static char *path_kind(const struct render *r, const char *path)
{
	json_t *nodes = json_object_get(r->site->document, "nodes");
	struct strbuf kind = {0};

	for (const char *s = path; *s;) {
		size_t len = strcspn(s, "/");
		_cleanup_free_ char *component = xasprintf("%.*s", (int)len, s);
		char *dot = strrchr(component, '.');

		if (json_object_get(nodes, component)) {
			strbuf_puts(&kind, "NODE");
		} else {
			_cleanup_free_ char *stem =
				xasprintf("%.*s", dot ? (int)(dot - component) : 0, component);

			if (dot && json_object_get(nodes, stem))
				strbuf_printf(&kind, "NODE%s", dot);
			else
				strbuf_puts(&kind, component);
		}
		s += len;
		if (*s)
			strbuf_putc(&kind, *s++);
	}
	return strbuf_steal(&kind);
}

struct entry {
	const struct render_file *file;
	char *kind;
};

static int by_kind(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = strcmp(x->kind, y->kind);

	return order ? order : strcmp(x->file->path, y->file->path);
}

void runbook_files(struct runbook *b, unsigned phase)
{
	const struct render *r = b->r;
	_cleanup_free_ struct entry *entries = xcalloc(r->n_files + 1, sizeof(*entries));
	size_t n = 0;

	for (size_t i = 0; i < r->n_files; i++) {
		const struct render_file *file = r->files[i];

		if (phase_of(file->path) == phase && !text_starts_with(file->path, "runbook."))
			entries[n++] = (struct entry){ file, path_kind(r, file->path) };
	}
	if (!n)
		return;
	qsort(entries, n, sizeof(*entries), by_kind);
	if (phase < GATE_PHASES)
		book_heading(b, 3, NULL, PHRASE_FILES, NULL);
	else
		book_heading(b, 2, "files", PHRASE_OTHER_FILES, NULL);
	for (size_t i = 0, same; i < n; i += same) {
		for (same = 1; i + same < n && !strcmp(entries[i].kind, entries[i + same].kind);)
			same++;
		if (same == 1) {
			book_item_foreign(b, entries[i].file->path, NULL, entries[i].file->what);
			continue;
		}
		_cleanup_free_ char *more = xasprintf("%zu", same - 1);

		book_item(b, PHRASE_FILE_MORE, entries[i].file->path, more, entries[i].kind,
			  entries[i].file->what, NULL);
	}
	book_list_end(b);
	for (size_t i = 0; i < n; i++)
		free(entries[i].kind);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char **runbook_files_below(const struct runbook *b, const char *folder, const char *end)
{
	const struct render *r = b->r;
	const char **paths = xcalloc(r->n_files + 1, sizeof(*paths));
	size_t n = 0;

	for (size_t i = 0; i < r->n_files; i++) {
		if (text_starts_with(r->files[i]->path, folder) &&
		    text_ends_with(r->files[i]->path, end))
			paths[n++] = r->files[i]->path;
	}
	if (n)
		qsort(paths, n, sizeof(*paths), by_text);
	return paths;
}
