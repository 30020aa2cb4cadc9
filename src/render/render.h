/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a declared site to every file that it needs. A renderer is pure: site and matrix in, files
 * in memory out, the same bytes every time; no clock, no I/O. Writing, comparing and the manifest
 * are in render/folder.h.
 *
 * What comes from the site goes into a file only through the writers of its format
 * (render/format.h), which quote it, or refuse it where the format has no way to quote.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/json.h"
#include "base/strbuf.h"
#include "matrix/matrix.h"
#include "site/site.h"

#define RENDER_MANIFEST_SCHEMA "railhead.manifest/1"

struct render_file {
	char *path;		/* below the folder: "network/gpu-node-01/bond1.nmconnection" */
	unsigned mode;		/* 0644, 0755 for scripts, 0600 where the consumer demands it */
	char *what;		/* one line: what it is and where it goes */
	struct strbuf text;
};

struct render {
	const struct site *site;
	const struct matrix *matrix;
	bool korean;		/* runbook in Korean */
	/* plan of the same site, a report document (report/report.h);
	 * NULL when nobody planned */
	json_t *plan;
	struct render_file **files;	/* sorted by path at the end */
	size_t n_files, capacity;
	/* NULL-terminated: why it cannot be rendered, a line each, the first 20 of n_refused */
	char **refusals;
	size_t n_refused;
	char **notes;	/* NULL-terminated: what was not rendered and why, a line each */
	json_t *tolerations;	/* of cluster_tolerations(); NULL: not asked for yet */
};

/* Render everything. -EINVAL: something was refused; every refusal is a line of the message.
 * `plan` is taken over by render_clear(). */
int render_site(struct render *r, struct error *err);
void render_clear(struct render *r);
#define _cleanup_render_ __attribute__((cleanup(render_clear)))

/* --- for renderers ---------------------------------------------------------------------------- */

/* A new, empty file. The path is formatted; parts that come from the site must be names that
 * site.yaml checks (node, link). The file belongs to `r` and stays where it is. */
struct render_file *render_file_add(struct render *r, unsigned mode, const char *what,
				    const char *path, ...) RH_PRINTF(4, 5);

/* Say why this site cannot be rendered, with the node or key and the value; rendering goes on to
 * find the rest. */
void render_refuse(struct render *r, const char *fmt, ...) RH_PRINTF(2, 3);

/* Say what was left out and why, where that is no reason to refuse: "kubernetes/cuda-test.yaml: no
 * image is declared (kubernetes/images/cuda)". The runbook and the program tell it. */
void render_note(struct render *r, const char *fmt, ...) RH_PRINTF(2, 3);

/* Value of the site's document at a pointer, or NULL; as json_at() on site->document. */
json_t *render_declared(const struct render *r, const char *fmt, ...) RH_PRINTF(2, 3);

/* The renderers, one file each; render.c calls them in this order. */
void render_kubespray(struct render *r);
void render_network(struct render *r);
void render_qos(struct render *r);
void render_gpu_operator(struct render *r);
void render_mirror(struct render *r);
void render_manifests(struct render *r);
void render_switch(struct render *r);
void render_runbook(struct render *r);	/* last: it names the others' files */
