/* SPDX-License-Identifier: Apache-2.0 */
#include "matrix/operator.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

/* --- values of the chart ---------------------------------------------------------------------- */

/* Values that the site has a key of its own for. */
static const struct {
	const char *key, *pointer;
} own_keys[] = {
	{ "driver.enabled", "/gpu_operator/driver/enabled" },
	{ "driver.version", "/gpu_operator/driver/version" },
	{ "driver.kernelModuleType", "/gpu_operator/driver/kernel_module_type" },
	{ "driver.usePrecompiled", "/gpu_operator/driver/precompiled" },
	{ "driver.repoConfig.configMapName", "/gpu_operator/driver/repo_config" },
	{ "driver.rdma.enabled", "/gpu_operator/driver/rdma/enabled" },
	{ "driver.rdma.useHostMofed", "/gpu_operator/driver/rdma/use_host_mofed" },
	{ "gds.enabled", "/gpu_operator/gds" },
	{ "gdrcopy.enabled", "/gpu_operator/gdrcopy" },
};

const char *operator_own_pointer(const char *key)
{
	for (size_t i = 0; i < ARRAY_SIZE(own_keys); i++) {
		if (!strcmp(own_keys[i].key, key))
			return own_keys[i].pointer;
	}
	return NULL;
}

char *operator_pointer(const struct site *site, const char *key)
{
	char *pointer = json_pointer_format("/gpu_operator/values/%s", key);

	if (json_pointer_get(site->document, pointer))
		return pointer;
	free(pointer);
	for (size_t i = 0; i < ARRAY_SIZE(own_keys); i++) {
		if (!strcmp(own_keys[i].key, key) &&
		    json_pointer_get(site->document, own_keys[i].pointer))
			return xstrdup(own_keys[i].pointer);
	}
	return NULL;
}

const char *operator_value(const struct site *site, const char *key)
{
	_cleanup_free_ char *pointer = operator_pointer(site, key);
	json_t *value = pointer ? json_pointer_get(site->document, pointer) : NULL;

	if (json_is_boolean(value))
		return json_is_true(value) ? "true" : "false";
	return json_string_value(value);
}

bool operator_bool(const struct site *site, bool fallback, const char *key)
{
	const char *value = operator_value(site, key);

	return value ? !strcmp(value, "true") : fallback;
}

/* A value one level below a component: "driver.manager" and "version". */
static const char *component_value(const struct site *site, const char *component, const char *key)
{
	_cleanup_free_ char *path = xasprintf("%s.%s", component, key);

	return operator_value(site, path);
}

/* --- mirror ----------------------------------------------------------------------------------- */

char *operator_mirror(const struct site *site, const char *image)
{
	const char *host = json_string_value(json_at(site->document, "/registry/host"));
	const char *upstream, *best_to = NULL;
	size_t best = 0;
	json_t *to;

	/* a value of the chart may name the site's own registry already */
	if (host && !strncmp(image, host, strlen(host)) && image[strlen(host)] == '/')
		return xstrdup(image);
	json_object_foreach(json_at(site->document, "/registry/mirrors"), upstream, to) {
		size_t len = strlen(upstream);

		if (len > best && !strncmp(image, upstream, len) && image[len] == '/' &&
		    json_is_string(to)) {
			best = len;
			best_to = json_string_value(to);
		}
	}
	return best_to ? xasprintf("%s%s", best_to, image + best) : NULL;
}

/* --- images ----------------------------------------------------------------------------------- */

/* The component that switches a row on: the part of its key before the first dot. */
static bool is_component_on(const struct site *site, const char *key, bool fallback)
{
	_cleanup_free_ char *top = xstrndup(key, strcspn(key, "."));
	_cleanup_free_ char *path = xasprintf("%s.enabled", top);

	/* the subchart has its switch under another name */
	if (!strcmp(top, "node-feature-discovery"))
		return operator_bool(site, fallback, "nfd.enabled");
	return operator_bool(site, fallback, path);
}

/* Does the declared site pull this row's image? */
static bool is_pulled(const struct site *site, json_t *row)
{
	static const struct {
		const char *when, *value;
		bool in_driver_pod;
	} switches[] = {
		{ "gds", "gds.enabled", true },
		{ "gdrcopy", "gdrcopy.enabled", true },
		{ "dcgm", "dcgm.enabled", false },
		{ "sandbox", "sandboxWorkloads.enabled", false },
		{ "gpucluster", "gpuCluster.deployCR", false },
	};
	const char *when = json_get_string(row, "when", "");
	const char *key = json_get_string(row, "key", "");

	for (size_t i = 0; i < ARRAY_SIZE(switches); i++) {
		if (!strcmp(when, switches[i].when))
			return operator_bool(site, false, switches[i].value) &&
			       (!switches[i].in_driver_pod ||
				operator_bool(site, true, "driver.enabled"));
	}
	return !strcmp(when, "always") || is_component_on(site, key, !strcmp(when, "default"));
}

char *operator_suffix(json_t *row, const char *os_id, const char *os_version)
{
	const char *rule = json_get_string(row, "suffix", "none");
	bool rhel = !strcmp(os_id, "rhel"), rocky = !strcmp(os_id, "rocky");
	size_t len = strlen(os_version);

	if (!strcmp(rule, "none"))
		return xstrdup("");
	if (!strcmp(rule, "os-major-from-10")
		    ? rocky || (rhel && text_version_compare(os_version, "10") >= 0)
		    : rocky || rhel || !strcmp(os_id, "ol"))
		len = strcspn(os_version, ".");
	return xasprintf("-%s%.*s", os_id, (int)len, os_version);
}

static struct operator_image image_of(const struct site *site, json_t *row, const char *os_id,
				      const char *os_version)
{
	const char *key = json_get_string(row, "key", "");
	const char *repository = component_value(site, key, "repository") ?:
				 json_get_string(row, "repository", "");
	const char *name = component_value(site, key, "image") ?: json_get_string(row, "image", "");
	const char *version = component_value(site, key, "version") ?:
			      json_get_string(row, "version", "");
	_cleanup_free_ char *suffix = operator_suffix(row, os_id, os_version);
	struct operator_image image = { .row = row };

	image.name = xasprintf("%s/%s:%s%s", repository, name, version, suffix);
	if (*suffix)
		image.bare = xasprintf("%s/%s:%s", repository, name, version);
	image.mirror = operator_mirror(site, image.name);
	return image;
}

static bool listed(const struct operator_images *images, const char *name)
{
	for (size_t i = 0; i < images->n; i++) {
		if (!strcmp(images->list[i].name, name))
			return true;
	}
	return false;
}

static void image_clear(struct operator_image *image)
{
	free(image->name);
	free(image->bare);
	free(image->mirror);
}

bool operator_images(struct operator_images *images, const struct site *site,
		     const struct matrix *matrix, const char *os_id, const char *os_version)
{
	const char *version = json_string_value(json_at(site->document, "/gpu_operator/version"));
	json_t *row, *rows = matrix_rows(matrix, "images");
	bool known = false;
	size_t i;

	*images = (struct operator_images){0};
	if (!version)
		return false;
	images->list = xcalloc(json_array_size(rows), sizeof(*images->list));
	json_array_foreach(rows, i, row) {
		if (strcmp(text_version_number(json_get_string(row, "operator", "")),
			   text_version_number(version)))
			continue;
		known = true;
		if (!is_pulled(site, row))
			continue;

		struct operator_image image = image_of(site, row, os_id, os_version);

		if (listed(images, image.name))
			image_clear(&image);
		else
			images->list[images->n++] = image;
	}
	if (!known)
		operator_images_clear(images);
	return known;
}

void operator_images_clear(struct operator_images *images)
{
	for (size_t i = 0; i < images->n; i++)
		image_clear(&images->list[i]);
	free(images->list);
	*images = (struct operator_images){0};
}
