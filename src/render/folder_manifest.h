/* SPDX-License-Identifier: Apache-2.0 */
/* The manifest of a rendering: what stands in the folder, and what stood there before. */
#pragma once

#include "base/digest.h"
#include "base/folder.h"
#include "render/render.h"

#define MANIFEST_NAME "manifest.json"
#define SUMS_NAME "SHA256SUMS"

/* A file of an earlier rendering. */
struct manifest_entry {
	const char *path, *sha256;	/* borrowed from the document */
	uint64_t size;
};

struct manifest {
	json_t *document;	/* NULL: there is none */
	struct manifest_entry *entries;	/* sorted by path */
	size_t n;
};

/* Text of SHA256SUMS for the files of `r`, for `sha256sum -c` in the folder. */
void manifest_sums(const struct render *r, struct strbuf *out);
/* Text of manifest.json; `sums` is what manifest_sums() made. */
void manifest_text(const struct render *r, const struct strbuf *sums, struct strbuf *out);

/* Read the manifest of a folder; empty when it has none. -EINVAL: it is none of railhead's, or
 * names what cannot be below the folder. */
int manifest_read(struct manifest *manifest, struct folder *folder, struct error *err);
/* The same from memory. */
int manifest_parse(struct manifest *manifest, const char *text, size_t len, struct error *err);
void manifest_clear(struct manifest *manifest);
#define _cleanup_manifest_ __attribute__((cleanup(manifest_clear)))

/* The entry of a path, or NULL. */
const struct manifest_entry *manifest_find(const struct manifest *manifest, const char *path);

/* Does the folder hold `path` with these bytes? 1, 0, or a negative errno. */
int manifest_same_bytes(struct folder *folder, const char *path, const struct folder_entry *there,
			const void *data, size_t len, struct error *err);
/* Does it hold `path` as the earlier rendering wrote it? 1, 0, or a negative errno. */
int manifest_untouched(struct folder *folder, const struct manifest_entry *entry,
		       const struct folder_entry *there, struct error *err);
