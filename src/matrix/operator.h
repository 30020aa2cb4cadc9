/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The GPU Operator of a declared site: values of its chart, and the images that it pulls. Computed
 * from the chart's own list (table `images`), since the vendor's air-gap page does not follow it.
 */
#pragma once

#include "matrix/matrix.h"
#include "site/site.h"

/*
 * Pointer in the site's document of what is declared for a value of the chart ("driver.version"):
 * gpu_operator.values by its dotted key, else the key of the site that stands for it; NULL when
 * neither is declared. The caller frees.
 */
char *operator_pointer(const struct site *site, const char *key);

/* That value as the chart reads it ("true", "false"), NULL: not declared. Borrowed. */
const char *operator_value(const struct site *site, const char *key);
bool operator_bool(const struct site *site, bool fallback, const char *key);

/*
 * Name of an image in the site's mirror: the longest upstream of registry.mirrors that begins it is
 * replaced; an image of registry.host stays as it is. NULL: it has no mirror. The caller frees.
 */
char *operator_mirror(const struct site *site, const char *image);

/* An image that the operator pulls on nodes of one system. */
struct operator_image {
	json_t *row;	/* of table `images`; borrowed */
	char *name;	/* "nvcr.io/nvidia/driver:580.126.20-rhel10" */
	char *bare;	/* the same without suffix; NULL when it has none */
	char *mirror;	/* name in the mirror, NULL: no mirror is declared for it */
};

struct operator_images {
	struct operator_image *list;
	size_t n;
};

/*
 * Images of the declared operator version with the declared components, in the order of the table,
 * each once. A suffix is made of `os_id` and `os_version`. False: no operator version is declared,
 * or the matrix has no row for it; nothing to clear then.
 */
bool operator_images(struct operator_images *images, const struct site *site,
		     const struct matrix *matrix, const char *os_id, const char *os_version);
void operator_images_clear(struct operator_images *images);
#define _cleanup_operator_images_ __attribute__((cleanup(operator_images_clear)))
