/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The GPU Operator of a declared site: values of its chart, and the images that it pulls. Computed
 * from the chart's own list (table `images`), since the vendor's air-gap page does not follow it.
 */
#pragma once

#include "matrix/matrix.h"
#include "site/site.h"

/* Pointer in the document of the key of the site that stands for a value of the chart, or NULL. */
const char *operator_own_pointer(const char *key);

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

/*
 * What the operator appends to the tag of an image of table `images` that is built for a system: its
 * id and version, cut to the major version by the rule of the row: "-rhel10", "-ubuntu24.04", or ""
 * for an image without suffix. `os-major`: of rhel, rocky and ol; `os-major-from-10`: of rocky, and
 * of rhel from 10 on ("-rhel9.6"). Source: NVIDIA/gpu-operator controllers/state_manager.go v26.3.3
 * and v26.7.0. The caller frees.
 */
char *operator_suffix(json_t *row, const char *os_id, const char *os_version);

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
