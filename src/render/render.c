/* SPDX-License-Identifier: Apache-2.0 */
/* The set of rendered files, and the order in which it is made. */
#include "render/render.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "base/strings.h"
#include "render/path.h"

/* As many as the parser of site files tells at once. */
#define REFUSALS_MAX 20

void render_refuse(struct render *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	_cleanup_free_ char *text = xvasprintf(fmt, ap);
	va_end(ap);
	if (r->n_refused++ < REFUSALS_MAX)
		strings_add_once(&r->refusals, text);
}

void render_note(struct render *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	_cleanup_free_ char *text = xvasprintf(fmt, ap);
	va_end(ap);
	strings_add_once(&r->notes, text);
}

json_t *render_declared(const struct render *r, const char *fmt, ...)
{
	va_list ap;

	if (!r->site->document)
		return NULL;
	va_start(ap, fmt);
	_cleanup_free_ char *pointer = json_pointer_vformat(fmt, ap);
	va_end(ap);
	return json_pointer_get(r->site->document, pointer);
}

bool render_path_is_plain(const char *path)
{
	for (const char *s = path; *s;) {
		size_t len = strcspn(s, "/");

		if (!len || (s[0] == '.' && (len == 1 || (len == 2 && s[1] == '.'))))
			return false;
		for (size_t i = 0; i < len; i++) {
			if ((unsigned char)s[i] <= ' ' || s[i] == 0x7f || s[i] == '\\')
				return false;
		}
		s += len;
		if (*s && !*++s)
			return false;
	}
	return *path != '\0';
}

struct render_file *render_file_add(struct render *r, unsigned mode, const char *what,
				    const char *path, ...)
{
	struct render_file *file = xcalloc(1, sizeof(*file));
	va_list ap;

	va_start(ap, path);
	file->path = xvasprintf(path, ap);
	va_end(ap);
	file->mode = mode;
	file->what = xstrdup(what);
	if (!render_path_is_plain(file->path))
		render_refuse(r, "'%s' cannot be the name of a rendered file", file->path);
	array_reserve(r->files, r->n_files, r->capacity);
	r->files[r->n_files++] = file;
	return file;
}

static int by_path(const void *a, const void *b)
{
	const struct render_file *const *x = a, *const *y = b;

	return strcmp((*x)->path, (*y)->path);
}

/* A file that stands where `path` needs a folder, or NULL. */
static const char *file_above(const struct render *r, const char *path)
{
	_cleanup_free_ char *above = xstrdup(path);
	struct render_file key = { .path = above }, *const wanted = &key;

	for (char *slash; (slash = strrchr(above, '/'));) {
		*slash = '\0';
		struct render_file **found =
			bsearch(&wanted, r->files, r->n_files, sizeof(wanted), by_path);

		if (found)
			return (*found)->path;
	}
	return NULL;
}

static void files_sort(struct render *r)
{
	if (!r->n_files)
		return;
	qsort(r->files, r->n_files, sizeof(struct render_file *), by_path);
	for (size_t i = 1; i < r->n_files; i++) {
		const char *path = r->files[i]->path, *above = file_above(r, path);

		if (!strcmp(r->files[i - 1]->path, path))
			render_refuse(r, "%s would be written twice", path);
		if (above)
			render_refuse(r, "%s would be a file and a folder", above);
	}
}

int render_site(struct render *r, struct error *err)
{
	static void (*const renderers[])(struct render *) = {
		render_kubespray, render_network,   render_qos,	   render_gpu_operator,
		render_mirror,	  render_manifests, render_switch, render_runbook,
	};
	_cleanup_strbuf_ struct strbuf lines = {0};

	for (size_t i = 0; i < ARRAY_SIZE(renderers); i++)
		renderers[i](r);
	files_sort(r);
	if (!r->refusals)
		return 0;
	for (char **refusal = r->refusals; *refusal; refusal++)
		strbuf_printf(&lines, "%s%s", lines.len ? "\n" : "", *refusal);
	if (r->n_refused > REFUSALS_MAX)
		strbuf_printf(&lines, "\nand %zu more", r->n_refused - REFUSALS_MAX);
	return error_set(err, -EINVAL, "%s", lines.s);
}

void render_clear(struct render *r)
{
	for (size_t i = 0; i < r->n_files; i++) {
		free(r->files[i]->path);
		free(r->files[i]->what);
		strbuf_clear(&r->files[i]->text);
		free(r->files[i]);
	}
	free(r->files);
	strings_free(r->refusals);
	strings_free(r->notes);
	json_decref(r->plan);
	json_decref(r->tolerations);
	*r = (struct render){0};
}
