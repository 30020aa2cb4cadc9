/* SPDX-License-Identifier: Apache-2.0 */
/* A rendering in a folder: writing it, its manifest, and comparing with an earlier one. */
#pragma once

#include "base/strings.h"
#include "render/render.h"

/* manifest.json and SHA256SUMS, which render_write() adds. */
#define RENDER_OWN_FILES 2u

/* What writing did, as numbers of files; `kept` names the copies of edited files. */
struct render_result {
	size_t written, changed, removed, unchanged;
	char **kept;	/* NULL-terminated */
};

void render_result_clear(struct render_result *result);
#define _cleanup_render_result_ __attribute__((cleanup(render_result_clear)))

/*
 * Write all files below `folder`, and manifest.json (RENDER_MANIFEST_SCHEMA: path, mode, size and
 * SHA-256 of each) and SHA256SUMS last. A folder that an earlier rendering made is brought up to
 * date: files that it no longer has are removed, unless they were edited (their hash differs from
 * the manifest's); edited files and foreign files in the way are an error that names them, with
 * `force` they are kept as FILE.orig. Foreign files elsewhere stay. An interrupt or a full disk
 * leaves every file either old or new, never half, and the old manifest. -EEXIST: files are in the
 * way; -EBUSY: another program is writing there.
 */
int render_write(const struct render *r, const char *folder, bool force,
		 struct render_result *result, struct error *err);

/*
 * What would change in `folder`: unified differences on text, in path order; empty when nothing
 * would. `*changed` counts files. The manifest and SHA256SUMS follow from the others and are left
 * out. `patch -p1` in the folder makes the change. The caller clears `out`.
 */
int render_diff(const struct render *r, const char *folder, struct strbuf *out, size_t *changed,
		struct error *err);
