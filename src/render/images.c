/* SPDX-License-Identifier: Apache-2.0 */
#include "render/images.h"

#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "matrix/operator.h"
#include "render/cluster.h"

/* --- mirrors ---------------------------------------------------------------------------------- */

/* Is the image named by a mirror already? */
static bool is_mirrored(const struct render *r, const char *image)
{
	const char *upstream, *name;
	json_t *mirror;

	json_object_foreach(render_declared(r, "/registry/mirrors"), upstream, mirror) {
		name = json_string_value(mirror);
		if (!strncmp(image, name, strlen(name)) && image[strlen(name)] == '/')
			return true;
	}
	return false;
}

char *images_target(const struct render *r, const char *image)
{
	char *target = is_mirrored(r, image) ? xstrdup(image) : operator_mirror(r->site, image);

	if (target || json_is_true(render_declared(r, "/registry/air_gapped")))
		return target;
	return xstrdup(image);
}

char *images_target_or_refuse(struct render *r, const char *image, const char *why)
{
	char *target = images_target(r, image);

	if (target)
		return target;
	render_refuse(r, "registry/mirrors: the site is air-gapped and has no mirror of %.*s, which "
		      "%s needs (%s)", (int)strcspn(image, "/"), image, why, image);
	return xstrdup(image);
}

const char *images_declared(const struct render *r, const char *key)
{
	static const struct {
		const char *key, *what;
	} names[] = {
		{ "cuda", "cuda-test" },
		{ "rdma", "rdma-test" },
		{ "device_plugin", "device-plugin" },
	};
	const char *declared =
		json_string_value(render_declared(r, "/kubernetes/images/%s", key));

	if (declared)
		return declared;
	for (size_t k = 0; k < ARRAY_SIZE(names); k++) {
		if (!strcmp(names[k].key, key))
			return json_get_string(matrix_row(r->matrix, "other-images", "what",
							  names[k].what), "image", NULL);
	}
	return NULL;
}

/* --- of the GPU Operator ---------------------------------------------------------------------- */

json_t *images_operator_rows(const struct render *r)
{
	_cleanup_free_ char *version = cluster_operator_version(r);
	json_t *rows = json_array_new(), *row;
	size_t i;

	if (!version)
		return rows;
	json_array_foreach(matrix_rows(r->matrix, "images"), i, row) {
		if (!strcmp(json_get_string(row, "operator", ""), version))
			json_append(rows, json_incref(row));
	}
	return rows;
}

/* --- the list --------------------------------------------------------------------------------- */

static void add(struct render *r, struct render_images *images, const char *source, const char *why)
{
	if (!images->index)
		images->index = json_object_new();
	if (json_object_get(images->index, source))
		return;
	json_put_bool(images->index, source, true);
	array_reserve(images->list, images->n, images->capacity);
	images->list[images->n++] = (struct render_image){
		.source = xstrdup(source),
		.target = images_target_or_refuse(r, source, why),
		.why = xstrdup(why),
	};
}

static bool has_wildcard(const char *pattern)
{
	return strpbrk(pattern, "*?[") != NULL;
}

static bool has_suffix(json_t *row)
{
	return strcmp(json_get_string(row, "suffix", "none"), "none") != 0;
}

/* gpu-driver-container, docs: the tag of a precompiled driver is BRANCH-KERNEL-SYSTEM. */
static void add_precompiled(struct render *r, struct render_images *images,
			    const struct operator_image *image, const struct site_node *node)
{
	const char *suffix = image->name + strlen(image->bare);
	_cleanup_free_ char *name = NULL;

	if (!node->kernel || has_wildcard(node->kernel)) {
		render_note(r, "mirror/images.txt: the precompiled driver image of %s is not in it: "
			    "its tag is %s-KERNEL%s, and the site declares %s; declare the exact "
			    "kernel", node->name, strrchr(image->bare, ':') + 1, suffix,
			    node->kernel ? "a pattern of kernels" : "no kernel");
		return;
	}
	name = xasprintf("%s-%s%s", image->bare, node->kernel, suffix);
	add(r, images, name, "GPU Operator, driver");
}

/* What the operator pulls on nodes like this one; NULL: only what no system is told of in its
 * tag. */
static void add_system(struct render *r, struct render_images *images, const struct site_node *node)
{
	_cleanup_operator_images_ struct operator_images pulled = {0};
	bool known = node && node->os_id && node->os_version, complained = false;

	operator_images(&pulled, r->site, r->matrix, known ? node->os_id : "",
			known ? node->os_version : "");
	for (size_t i = 0; i < pulled.n; i++) {
		const struct operator_image *image = &pulled.list[i];
		const char *key = json_get_string(image->row, "key", "");
		_cleanup_free_ char *why = xasprintf("GPU Operator, %s", key);

		if (has_suffix(image->row) && !node)
			continue;
		if (has_suffix(image->row) && !known) {
			if (!complained)
				render_refuse(r, "nodes/%s/os: the image of %s has the system in its "
						 "tag; declare id and version", node->name, key);
			complained = true;
			continue;
		}
		if (!strcmp(key, "driver") &&
		    operator_bool(r->site, false, "driver.usePrecompiled"))
			add_precompiled(r, images, image, node);
		else
			add(r, images, image->name, why);
	}
}

static void add_operator(struct render *r, struct render_images *images)
{
	_cleanup_json_ json_t *systems = json_object_new();

	add_system(r, images, NULL);
	for (size_t i = 0; i < r->site->n_nodes; i++) {
		const struct site_node *node = &r->site->nodes[i];
		_cleanup_free_ char *system = NULL;

		if (!cluster_has_gpus(node) || !cluster_is_worker(r, node))
			continue;
		system = xasprintf("%s %s %s", node->os_id ? node->os_id : "",
				   node->os_version ? node->os_version : "",
				   node->kernel ? node->kernel : "");
		if (json_object_get(systems, system))
			continue;
		json_put_bool(systems, system, true);
		add_system(r, images, node);
	}
}

static int by_target(const void *a, const void *b)
{
	const struct render_image *x = a, *y = b;
	int order = strcmp(x->target, y->target);

	return order ? order : strcmp(x->source, y->source);
}

void images_collect(struct render *r, struct render_images *images)
{
	const char *workload = json_string_value(render_declared(r, "/workload/image"));
	static const struct {
		const char *key, *why;
	} pods[] = {
		{ "cuda", "test of CUDA in a pod" },
		{ "rdma", "test of RDMA in a pod" },
		{ "device_plugin", "RDMA device plugin" },
	};

	add_operator(r, images);
	for (size_t i = 0; r->site->kubernetes && i < ARRAY_SIZE(pods); i++) {
		const char *image = images_declared(r, pods[i].key);

		if (image)
			add(r, images, image, pods[i].why);
	}
	if (workload)
		add(r, images, workload, "workload");
	if (images->n)
		qsort(images->list, images->n, sizeof(images->list[0]), by_target);
}

void images_clear(struct render_images *images)
{
	for (size_t i = 0; i < images->n; i++) {
		free(images->list[i].source);
		free(images->list[i].target);
		free(images->list[i].why);
	}
	free(images->list);
	json_decref(images->index);
	*images = (struct render_images){0};
}
