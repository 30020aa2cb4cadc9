/* SPDX-License-Identifier: Apache-2.0 */
/* A rendering in a folder: writing it, its manifest, and comparing with an earlier one. */
#pragma once

#include "render/render.h"

/*
 * Write all files below `folder`, and manifest.json (RENDER_MANIFEST_SCHEMA: path, mode, size and
 * SHA-256 of each) and SHA256SUMS last. A folder that an earlier rendering made is brought up to
 * date: files that it no longer has are removed, unless they were edited (their hash differs from
 * the manifest's); edited files and foreign files in the way are an error that names them, with
 * `force` they are kept as FILE.orig. Foreign files elsewhere stay. An interrupt or a full disk
 * leaves every file either old or new, never half, and the old manifest.
 */
int render_write(const struct render *r, const char *folder, bool force, struct error *err);

/*
 * What would change in `folder`: unified differences on text, in path order; empty when nothing
 * would. `*changed` counts files. The caller clears `out`.
 */
int render_diff(const struct render *r, const char *folder, struct strbuf *out, size_t *changed,
		struct error *err);
