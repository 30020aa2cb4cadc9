/* SPDX-License-Identifier: Apache-2.0 */
#include "render/images.h"

#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "render/cluster.h"

/* --- mirrors ----------------------------------------------------------------------------------- */

static bool is_prefix(const char *prefix, const char *image)
{
	size_t len = strlen(prefix);

	return !strncmp(prefix, image, len) && image[len] == '/';
}

char *images_target(const struct render *r, const char *image)
{
	const char *host = json_string_value(render_declared(r, "/registry/host"));
	const char *upstream, *best = NULL, *mirror = NULL;
	json_t *value;

	json_object_foreach(render_declared(r, "/registry/mirrors"), upstream, value) {
		/* an image that is named by its mirror is there already */
		if (is_prefix(json_string_value(value), image))
			return xstrdup(image);
		if (is_prefix(upstream, image) && (!best || strlen(upstream) > strlen(best))) {
			best = upstream;
			mirror = json_string_value(value);
		}
	}
	if (best)
		return xasprintf("%s%s", mirror, image + strlen(best));
	if (host && is_prefix(host, image))
		return xstrdup(image);
	return json_is_true(render_declared(r, "/registry/air_gapped")) ? NULL : xstrdup(image);
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
	json_t *row;
	size_t i;

	if (declared)
		return declared;
	for (size_t k = 0; k < ARRAY_SIZE(names); k++) {
		if (strcmp(names[k].key, key))
			continue;
		json_array_foreach(matrix_rows(r->matrix, "other-images"), i, row) {
			if (!strcmp(json_get_string(row, "what", ""), names[k].what))
				return json_get_string(row, "image", NULL);
		}
	}
	return NULL;
}

/* --- of the GPU Operator ------------------------------------------------------------------------ */

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

const char *images_operator_value(const struct render *r, const char *key)
{
	return json_string_value(render_declared(r, "/gpu_operator/values/%s", key));
}

static bool value_is(const struct render *r, const char *key, const char *value)
{
	const char *declared = images_operator_value(r, key);

	return declared && !strcmp(declared, value);
}

bool images_operator_wants(const struct render *r, json_t *row)
{
	const char *when = json_get_string(row, "when", ""), *key = json_get_string(row, "key", "");
	bool is_driver = !strcmp(key, "driver") || text_starts_with(key, "driver.");
	_cleanup_free_ char *enabled = xasprintf("%s.enabled", key);

	if (!strcmp(when, "always"))
		return true;
	if (is_driver && json_is_false(render_declared(r, "/gpu_operator/driver/enabled")))
		return false;
	if (!strcmp(when, "gds") || !strcmp(when, "gdrcopy"))
		return json_is_true(render_declared(r, "/gpu_operator/%s", when));
	if (!strcmp(when, "sandbox"))
		return value_is(r, "sandboxWorkloads.enabled", "true");
	if (!strcmp(when, "gpucluster"))
		return value_is(r, "gpuCluster.deployCR", "true");
	if (!strcmp(key, "node-feature-discovery"))
		return !value_is(r, "nfd.enabled", "false");
	if (!strcmp(when, "default"))
		return !value_is(r, enabled, "false");
	return value_is(r, enabled, "true");	/* dcgm, optional */
}

const char *images_operator_tag(const struct render *r, json_t *row)
{
	const char *key = json_get_string(row, "key", "");
	_cleanup_free_ char *path = xasprintf("%s.version", key);
	const char *declared = images_operator_value(r, path);

	if (!declared && !strcmp(key, "driver"))
		declared = json_string_value(render_declared(r, "/gpu_operator/driver/version"));
	return declared ? declared : json_get_string(row, "version", "");
}

/*
 * What the operator puts behind the tag of an image that is built for a system: its id and version,
 * of the RHEL family the major version alone ("os-major", or from release 10 on with
 * "os-major-from-10"). "" without a suffix. The caller frees.
 */
static char *tag_suffix(const char *rule, const char *os_id, const char *os_version)
{
	bool rhel = !strcmp(os_id, "rhel") || !strcmp(os_id, "rocky") || !strcmp(os_id, "ol");
	size_t major = strcspn(os_version, ".");

	if (!strcmp(rule, "none"))
		return xstrdup("");
	if (rhel && (!strcmp(rule, "os-major") || major > 1))
		return xasprintf("-%s%.*s", os_id, (int)major, os_version);
	return xasprintf("-%s%s", os_id, os_version);
}

/* --- the list ---------------------------------------------------------------------------------- */

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

/* The parts of a row that the site may replace by values of the chart. */
static const char *row_part(const struct render *r, json_t *row, const char *part)
{
	_cleanup_free_ char *path = xasprintf("%s.%s", json_get_string(row, "key", ""), part);
	const char *declared = images_operator_value(r, path);

	return declared ? declared : json_get_string(row, part, "");
}

static bool has_wildcard(const char *pattern)
{
	return strpbrk(pattern, "*?[") != NULL;
}

/* The image of one row for one system. */
static void add_row(struct render *r, struct render_images *images, json_t *row,
		    const struct site_node *node)
{
	const char *key = json_get_string(row, "key", ""), *tag = images_operator_tag(r, row);
	_cleanup_free_ char *suffix = NULL, *source = NULL;
	_cleanup_free_ char *why = xasprintf("GPU Operator, %s", key);
	const char *rule = json_get_string(row, "suffix", "none");
	bool precompiled = !strcmp(key, "driver") &&
			   json_is_true(render_declared(r, "/gpu_operator/driver/precompiled"));

	if (strcmp(rule, "none") && (!node->os_id || !node->os_version)) {
		render_refuse(r, "nodes/%s/os: the image of %s has the system in its tag; declare "
			      "id and version", node->name, key);
		return;
	}
	suffix = tag_suffix(rule, node ? node->os_id : "", node ? node->os_version : "");
	if (precompiled && (!node->kernel || has_wildcard(node->kernel))) {
		render_note(r, "mirror/images.txt: the precompiled driver image of %s is not in it: "
			    "its tag is %s-KERNEL%s and the site declares %s; declare the exact "
			    "kernel", node->name, tag, suffix,
			    node->kernel ? "a pattern of kernels" : "no kernel");
		return;
	}
	source = xasprintf("%s/%s:%s%s%s%s", row_part(r, row, "repository"),
			   row_part(r, row, "image"), tag, precompiled ? "-" : "",
			   precompiled ? node->kernel : "", suffix);
	add(r, images, source, why);
}

static void add_operator(struct render *r, struct render_images *images)
{
	_cleanup_json_ json_t *rows = images_operator_rows(r), *systems = json_object_new();
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row) {
		if (!images_operator_wants(r, row))
			continue;
		if (!strcmp(json_get_string(row, "suffix", "none"), "none")) {
			add_row(r, images, row, NULL);
			continue;
		}
		/* one image for each system (and kernel) of the GPU nodes */
		json_object_clear(systems);
		for (size_t k = 0; k < r->site->n_nodes; k++) {
			const struct site_node *node = &r->site->nodes[k];
			_cleanup_free_ char *system = NULL;

			if (!cluster_has_gpus(node) || !cluster_is_worker(r, node))
				continue;
			system = xasprintf("%s %s %s", node->os_id ? node->os_id : "",
					   node->os_version ? node->os_version : "",
					   node->kernel ? node->kernel : "");
			if (json_object_get(systems, system))
				continue;
			json_put_bool(systems, system, true);
			add_row(r, images, row, node);
		}
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
