/* SPDX-License-Identifier: Apache-2.0 */
#include "render/folder.h"

#include <errno.h>
#include <string.h>

#include "base/folder.h"
#include "render/diff.h"
#include "render/folder_manifest.h"

/* Names in one message. */
#define NAMES_MAX 20
/* Texts that are shown line by line. */
#define DIFF_MAX ((size_t)16 << 20)

/* What has to happen at one path. */
struct change {
	const char *path;
	const struct strbuf *text;	/* NULL: nothing shall be there */
	unsigned mode;
	struct folder_entry there;
	bool in_the_way;	/* what is there is not as the last rendering left it */
	bool known;		/* the last rendering wrote that path */
};

struct changes {
	struct change *change;
	size_t n, capacity, unchanged;
	char **blockers;	/* paths of what stands where a folder has to be */
};

static struct change *change_add(struct changes *c, const char *path)
{
	array_reserve(c->change, c->n, c->capacity);
	c->change[c->n] = (struct change){ .path = path };
	return &c->change[c->n++];
}

/* Is something else than the last rendering's file at `change`? */
static int look_whose(struct change *change, struct folder *folder,
		      const struct manifest_entry *entry, struct error *err)
{
	int untouched = 0;

	change->known = entry != NULL;
	if (entry)
		untouched = manifest_untouched(folder, entry, &change->there, err);
	if (untouched < 0)
		return untouched;
	change->in_the_way = !untouched;
	return 0;
}

/* What stands where a folder above `path` has to be: to be moved aside, or removed when the last
 * rendering made it. */
static int compare_blocker(struct changes *c, struct folder *folder, const struct manifest *old,
			   const char *path, struct error *err)
{
	_cleanup_free_ char *above = xstrdup(path);
	struct folder_entry there = {0};
	char *slash;

	while (there.kind == FOLDER_NOTHING && (slash = strrchr(above, '/'))) {
		*slash = '\0';
		int rc = folder_look(folder, above, &there, err);

		if (rc < 0)
			return rc;
	}
	if (strings_have(c->blockers, above))
		return 0;
	struct change *change = change_add(c, above);
	change->there = there;
	strings_add(&c->blockers, above);
	above = NULL;
	return look_whose(change, folder, manifest_find(old, change->path), err);
}

static int compare_file(struct changes *c, struct folder *folder, const struct manifest *old,
			const char *path, unsigned mode, const struct strbuf *text,
			struct error *err)
{
	struct folder_entry there = {0};
	int same = 0, rc = folder_look(folder, path, &there, err);

	if (!rc && there.kind != FOLDER_NOTHING)
		same = manifest_same_bytes(folder, path, &there, strbuf_str(text), text->len, err);
	if (rc < 0 || same < 0)
		return rc < 0 ? rc : same;
	if (same && there.mode == mode) {
		c->unchanged++;
		return 0;
	}
	if (there.blocked) {
		rc = compare_blocker(c, folder, old, path, err);
		if (rc < 0)
			return rc;
	}
	struct change *change = change_add(c, path);
	change->text = text;
	change->mode = mode;
	change->there = there;
	if (same || there.kind == FOLDER_NOTHING)
		return 0;
	return look_whose(change, folder, manifest_find(old, path), err);
}

static int by_path(const void *key, const void *element)
{
	const struct render_file *const *file = element;

	return strcmp(key, (*file)->path);
}

static bool is_rendered(const struct render *r, const char *path)
{
	return !strcmp(path, SUMS_NAME) ||
	       (r->n_files &&
		bsearch(path, r->files, r->n_files, sizeof(struct render_file *), by_path));
}

static int compare_gone(struct changes *c, struct folder *folder,
			const struct manifest_entry *entry, struct error *err)
{
	struct folder_entry there;
	int rc = folder_look(folder, entry->path, &there, err);

	if (rc < 0 || there.kind == FOLDER_NOTHING)
		return rc;
	struct change *change = change_add(c, entry->path);
	change->there = there;
	return look_whose(change, folder, entry, err);
}

static void changes_clear(struct changes *c)
{
	free(c->change);
	strings_free(c->blockers);
}

/* Everything that differs between the files of `r` and the folder. */
static int compare(struct changes *c, const struct render *r, struct folder *folder,
		   const struct manifest *old, struct error *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < r->n_files; i++) {
		const struct render_file *file = r->files[i];

		rc = compare_file(c, folder, old, file->path, file->mode, &file->text, err);
	}
	for (size_t i = 0; !rc && i < old->n; i++) {
		if (!is_rendered(r, old->entries[i].path) &&
		    !strings_have(c->blockers, old->entries[i].path))
			rc = compare_gone(c, folder, &old->entries[i], err);
	}
	return rc;
}

/* --- writing ---------------------------------------------------------------------------------- */

static int refuse_conflicts(const struct changes *c, const char *folder, struct error *err)
{
	_cleanup_strbuf_ struct strbuf names = {0};
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++) {
		const struct change *change = &c->change[i];

		if (!change->in_the_way || n++ >= NAMES_MAX)
			continue;
		strbuf_printf(&names, "\n%s/%s: %s", folder, change->path,
			      change->known ? "edited since it was rendered" :
					      "not rendered by railhead");
	}
	if (!n)
		return 0;
	if (n > NAMES_MAX)
		strbuf_printf(&names, "\nand %zu more", n - NAMES_MAX);
	return error_set(err, -EEXIST,
			 "nothing was written, since %zu file%s would be lost "
			 "(with --force they are kept as FILE.orig)%s",
			 n, n == 1 ? "" : "s", names.s);
}

static int stage_all(struct changes *c, struct folder *folder, struct error *err)
{
	for (size_t i = 0; i < c->n; i++) {
		struct change *change = &c->change[i];

		if (!change->text)
			continue;
		int rc = folder_stage(folder, change->path, strbuf_str(change->text),
				      change->text->len, change->mode, err);

		if (!rc && folder_interrupted(folder))
			rc = error_set(err, -EINTR, "interrupted, nothing was written");
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Make room at one path: what is not railhead's is kept, what is not needed goes. */
static int clear(const struct change *change, struct folder *folder, struct render_result *result,
		 struct error *err)
{
	char *kept = NULL;
	int rc = 0;

	if (change->in_the_way) {
		rc = folder_keep(folder, change->path, &kept, err);
		if (rc < 0)
			return rc;
		strings_add(&result->kept, kept);
	} else if (!change->text) {
		rc = folder_remove(folder, change->path, err);
	}
	if (!change->text)
		result->removed++;
	else if (change->there.kind == FOLDER_NOTHING)
		result->written++;
	else
		result->changed++;
	return rc;
}

static int write_changes(struct changes *c, const struct render *r, struct folder *folder,
			 const struct manifest *old, struct render_result *result,
			 struct error *err)
{
	_cleanup_strbuf_ struct strbuf sums = {0}, manifest = {0};
	struct folder_entry there;

	manifest_sums(r, &sums);
	manifest_text(r, &sums, &manifest);
	int rc = compare_file(c, folder, old, SUMS_NAME, 0644, &sums, err);
	if (!rc)
		rc = folder_look(folder, MANIFEST_NAME, &there, err);
	int same = rc < 0 ? rc : manifest_same_bytes(folder, MANIFEST_NAME, &there,
						     strbuf_str(&manifest), manifest.len, err);
	if (same < 0)
		return same;
	/* the manifest was read as one, so it may be replaced; it comes last */
	if (!same)
		*change_add(c, MANIFEST_NAME) = (struct change){ .path = MANIFEST_NAME,
								 .text = &manifest,
								 .mode = 0644,
								 .there = there };
	rc = stage_all(c, folder, err);
	for (size_t i = 0; !rc && i < c->n; i++)
		rc = clear(&c->change[i], folder, result, err);
	if (!rc)
		rc = folder_place(folder, MANIFEST_NAME, err);
	result->unchanged = c->unchanged;
	return rc;
}

int render_write(const struct render *r, const char *path, bool force,
		 struct render_result *result, struct error *err)
{
	_cleanup_folder_ struct folder *folder = NULL;
	_cleanup_manifest_ struct manifest old = {0};
	__attribute__((cleanup(changes_clear))) struct changes c = {0};

	*result = (struct render_result){0};
	int rc = folder_open_to_write(&folder, path, err);
	if (rc < 0)
		return rc;
	rc = manifest_read(&old, folder, err);
	if (rc < 0)
		return error_wrap(err, "%s", path);
	rc = compare(&c, r, folder, &old, err);
	if (!rc && !force)
		rc = refuse_conflicts(&c, path, err);
	if (!rc)
		rc = write_changes(&c, r, folder, &old, result, err);
	return rc;
}

void render_result_clear(struct render_result *result)
{
	strings_free(result->kept);
	*result = (struct render_result){0};
}

/* --- comparing -------------------------------------------------------------------------------- */

static int by_change_path(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	return strcmp(x->path, y->path);
}

/* What a difference of lines does not say; patch(1) passes over such lines. */
static void print_notes(const struct change *change, struct strbuf *out)
{
	if (change->there.kind == FOLDER_OTHER)
		strbuf_printf(out, "%s: not a regular file, and in the way\n", change->path);
	else if (change->in_the_way)
		strbuf_printf(out, "%s: %s\n", change->path,
			      change->known ? "edited since it was rendered" :
					      "in the way, not rendered by railhead");
	if (change->text && change->there.kind == FOLDER_FILE &&
	    change->there.mode != change->mode)
		strbuf_printf(out, "%s: mode %04o becomes %04o\n", change->path,
			      (unsigned)change->there.mode, change->mode);
}

static int print_difference(const struct change *change, struct folder *folder,
			    struct strbuf *out, struct error *err)
{
	_cleanup_free_ char *before_name = xasprintf("a/%s", change->path);
	_cleanup_free_ char *after_name = xasprintf("b/%s", change->path);
	_cleanup_free_ char *text = NULL;
	struct diff_text before = { .data = "" }, after = { .data = "" };

	print_notes(change, out);
	if (change->there.kind == FOLDER_FILE) {
		if (change->there.size > DIFF_MAX) {
			strbuf_printf(out, "%s: too large to be shown\n", change->path);
			return 0;
		}
		int rc = folder_read(folder, change->path, DIFF_MAX, &text, &before.len, err);
		if (rc < 0)
			return rc;
		if (memchr(text, '\0', before.len)) {
			strbuf_printf(out, "%s: not a text\n", change->path);
			return 0;
		}
		before.name = before_name;
		before.data = text;
	}
	if (change->text) {
		after.name = after_name;
		after.data = strbuf_str(change->text);
		after.len = change->text->len;
	}
	diff_unified(out, &before, &after);
	return 0;
}

int render_diff(const struct render *r, const char *path, struct strbuf *out, size_t *changed,
		struct error *err)
{
	_cleanup_folder_ struct folder *folder = NULL;
	_cleanup_manifest_ struct manifest old = {0};
	__attribute__((cleanup(changes_clear))) struct changes c = {0};
	int rc = folder_open(&folder, path, err);

	*changed = 0;
	if (rc < 0)
		return rc;
	rc = manifest_read(&old, folder, err);
	if (rc < 0)
		return error_wrap(err, "%s", path);
	rc = compare(&c, r, folder, &old, err);
	if (!rc && c.n)
		qsort(c.change, c.n, sizeof(*c.change), by_change_path);
	for (size_t i = 0; !rc && i < c.n; i++)
		rc = print_difference(&c.change[i], folder, out, err);
	*changed = c.n;
	return rc;
}
