/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The container images of a site: which ones the declared options pull, and where the nodes find
 * them. One list serves values.yaml, the manifests, and the scripts that copy and prove the mirror.
 */
#pragma once

#include "render/render.h"

struct render_image {
	char *source;	/* upstream: "nvcr.io/nvidia/driver:580.126.20-rhel10" */
	char *target;	/* where nodes pull it from; the same when there is no mirror */
	char *why;	/* who pulls it */
};

struct render_images {
	struct render_image *list;	/* by target */
	size_t n, capacity;
	json_t *index;	/* source -> true */
};

/* All images, sorted. Refuses what cannot be mirrored or has no tag that can be told on paper. */
void images_collect(struct render *r, struct render_images *images);
void images_clear(struct render_images *images);
#define _cleanup_images_ __attribute__((cleanup(images_clear)))

/*
 * Where the nodes pull an image from: its mirror (operator_mirror()), else the image itself; NULL
 * when the site is air-gapped and has no mirror of it. The caller frees.
 */
char *images_target(const struct render *r, const char *image);
/* The same; refuses instead of returning NULL, and returns a copy then. */
char *images_target_or_refuse(struct render *r, const char *image, const char *why);

/* Image of a test pod or of the device plugin: declared below kubernetes/images, else of the matrix
 * (table other-images). NULL: neither. Borrowed. */
const char *images_declared(const struct render *r, const char *key);

/* --- of the GPU Operator ---------------------------------------------------------------------- */

/* Rows of the table `images` for the declared operator, in file order; empty without one. New
 * array. */
json_t *images_operator_rows(const struct render *r);
