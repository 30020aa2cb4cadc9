/* SPDX-License-Identifier: Apache-2.0 */
#include "render/folder_manifest.h"

#include <errno.h>
#include <string.h>

#include "config.h"

#include "render/path.h"

/* A site of 1,000 nodes has some ten thousand files, a row of 200 bytes each. */
#define MANIFEST_MAX ((size_t)64 << 20)
#define MANIFEST_VALUES_MAX ((size_t)4 << 20)

void manifest_sums(const struct render *r, struct strbuf *out)
{
	char hex[DIGEST_HEX];

	for (size_t i = 0; i < r->n_files; i++) {
		digest_sha256_hex(hex, strbuf_str(&r->files[i]->text), r->files[i]->text.len);
		strbuf_printf(out, "%s  %s\n", hex, r->files[i]->path);
	}
}

static void entry_put(json_t *files, const char *path, unsigned mode, size_t size, const char *hex,
		      const char *what)
{
	json_t *entry = json_object_new();

	json_put_string(entry, "path", path);
	json_put_stringf(entry, "mode", "%04o", mode);
	json_put_u64(entry, "size", size);
	json_put(entry, "sha256", json_textn_new(hex, DIGEST_HEX - 1));
	json_put_string(entry, "what", what);
	json_append(files, entry);
}

void manifest_text(const struct render *r, const struct strbuf *sums, struct strbuf *out)
{
	_cleanup_json_ json_t *j = json_object_new();
	const char *hex = strbuf_str(sums);	/* a line for each file, hash first */
	char hex_of_sums[DIGEST_HEX];

	json_put_string(j, "schema", RENDER_MANIFEST_SCHEMA);
	json_put_string(j, "railhead", RAILHEAD_VERSION);
	json_put_string(j, "site", r->site->name);
	json_t *files = json_arr(j, "files");
	for (size_t i = 0; i < r->n_files; i++) {
		const struct render_file *file = r->files[i];

		entry_put(files, file->path, file->mode, file->text.len, hex, file->what);
		hex = strchr(hex, '\n') + 1;
	}
	digest_sha256_hex(hex_of_sums, strbuf_str(sums), sums->len);
	entry_put(files, SUMS_NAME, 0644, sums->len, hex_of_sums,
		  "checksums of the other files, for sha256sum -c");
	_cleanup_free_ char *text = json_to_text(j, true);
	strbuf_printf(out, "%s\n", text);
}

static int by_path(const void *a, const void *b)
{
	const struct manifest_entry *x = a, *y = b;

	return strcmp(x->path, y->path);
}

static bool is_sha256(const char *text)
{
	return strspn(text, "0123456789abcdef") == DIGEST_HEX - 1 && !text[DIGEST_HEX - 1];
}

static int entries_read(struct manifest *m, struct error *err)
{
	json_t *files = json_object_get(m->document, "files"), *file;
	size_t i;

	if (strcmp(json_get_string(m->document, "schema", ""), RENDER_MANIFEST_SCHEMA) ||
	    !json_is_array(files))
		return error_set(err, -EINVAL, "%s: not a manifest that railhead knows (%s)",
				 MANIFEST_NAME, RENDER_MANIFEST_SCHEMA);
	m->entries = xcalloc(json_array_size(files) + 1, sizeof(*m->entries));
	json_array_foreach(files, i, file) {
		struct manifest_entry *entry = &m->entries[m->n++];

		entry->path = json_get_string(file, "path", "");
		entry->sha256 = json_get_string(file, "sha256", "");
		entry->size = (uint64_t)json_get_int(file, "size", 0);
		/* a manifest can be edited: it must not lead out of the folder */
		if (!render_path_is_plain(entry->path) || !is_sha256(entry->sha256) ||
		    !strcmp(entry->path, MANIFEST_NAME))
			return error_set(err, -EINVAL, "%s: entry %zu of files cannot be railhead's",
					 MANIFEST_NAME, i + 1);
	}
	if (m->n)
		qsort(m->entries, m->n, sizeof(*m->entries), by_path);
	return 0;
}

int manifest_parse(struct manifest *manifest, const char *text, size_t len, struct error *err)
{
	*manifest = (struct manifest){0};
	int rc = json_parse_large(&manifest->document, text, len, MANIFEST_VALUES_MAX,
				  MANIFEST_NAME, err);

	if (!rc)
		rc = entries_read(manifest, err);
	if (rc < 0)
		manifest_clear(manifest);
	return rc;
}

int manifest_read(struct manifest *manifest, struct folder *folder, struct error *err)
{
	struct folder_entry there;
	_cleanup_free_ char *text = NULL;
	size_t len;

	*manifest = (struct manifest){0};
	int rc = folder_look(folder, MANIFEST_NAME, &there, err);
	if (rc < 0 || there.kind == FOLDER_NOTHING)
		return rc;
	rc = folder_read(folder, MANIFEST_NAME, MANIFEST_MAX, &text, &len, err);
	return rc < 0 ? rc : manifest_parse(manifest, text, len, err);
}

void manifest_clear(struct manifest *manifest)
{
	json_decref(manifest->document);
	free(manifest->entries);
	*manifest = (struct manifest){0};
}

const struct manifest_entry *manifest_find(const struct manifest *manifest, const char *path)
{
	struct manifest_entry key = { .path = path };

	if (!manifest->n)
		return NULL;
	return bsearch(&key, manifest->entries, manifest->n, sizeof(key), by_path);
}

int manifest_same_bytes(struct folder *folder, const char *path, const struct folder_entry *there,
			const void *data, size_t len, struct error *err)
{
	_cleanup_free_ char *text = NULL;
	size_t got;

	if (there->kind != FOLDER_FILE || there->size != len)
		return 0;
	int rc = folder_read(folder, path, len, &text, &got, err);
	if (rc < 0)
		return rc;
	return got == len && !memcmp(text, data, len);
}

int manifest_untouched(struct folder *folder, const struct manifest_entry *entry,
		       const struct folder_entry *there, struct error *err)
{
	_cleanup_free_ char *text = NULL;
	char hex[DIGEST_HEX];
	size_t len;

	if (there->kind != FOLDER_FILE || there->size != entry->size)
		return 0;
	int rc = folder_read(folder, entry->path, entry->size, &text, &len, err);
	if (rc < 0)
		return rc;
	digest_sha256_hex(hex, text, len);
	return !strcmp(hex, entry->sha256);
}
