/* SPDX-License-Identifier: Apache-2.0 */
/* plan.images: does the mirror hold every image that the operator starts, under its full tag? */
#include <string.h>

#include "base/strbuf.h"
#include "judge/plan.h"
#include "matrix/operator.h"

#define NAMES_MAX 6

/* Images that the registry holds, as names to look up: without digest. */
static json_t *held_index(json_t *held)
{
	json_t *index = json_object_new(), *item;
	size_t i;

	json_array_foreach(held, i, item) {
		const char *text = json_string_value(item) ?: "";
		_cleanup_free_ char *name = xstrndup(text, strcspn(text, "@"));

		json_put_bool(index, name, true);
	}
	return index;
}

/* Is it held, under the name of its upstream or of the mirror? */
static bool is_held(json_t *index, const struct site *site, const char *name)
{
	_cleanup_free_ char *mirror = operator_mirror(site, name);

	return json_object_get(index, name) || (mirror && json_object_get(index, mirror));
}

static void add_once(json_t *texts, const char *text)
{
	if (!plan_has(texts, text))
		json_append_text(texts, text);
}

/* What the images of one system lack, by kind. */
struct lack {
	json_t *upstreams;	/* no mirror prefix */
	json_t *bare;		/* held without the suffix of the system */
	json_t *nfd;		/* of another upstream than the rest, so it is forgotten */
	json_t *other;
};

static struct lack lack_new(void)
{
	return (struct lack){ json_array_new(), json_array_new(), json_array_new(),
			      json_array_new() };
}

static void lack_clear(struct lack *lack)
{
	json_decref(lack->upstreams);
	json_decref(lack->bare);
	json_decref(lack->nfd);
	json_decref(lack->other);
}

static void note_upstream(struct lack *lack, const char *name)
{
	_cleanup_free_ char *upstream = xstrndup(name, strcspn(name, "/"));

	add_once(lack->upstreams, upstream);
}

static void compare(struct lack *lack, const struct operator_images *images,
		    const struct site *site, json_t *index)
{
	/* its tag names branch and kernel, and is told as unverified */
	bool precompiled = operator_bool(site, false, "driver.usePrecompiled");

	for (size_t i = 0; i < images->n; i++) {
		const struct operator_image *image = &images->list[i];
		const char *key = json_get_string(image->row, "key", "");

		if (!image->mirror)
			note_upstream(lack, image->name);
		if (!index || is_held(index, site, image->name) ||
		    (precompiled && !strcmp(key, "driver")))
			continue;
		if (image->bare && is_held(index, site, image->bare))
			add_once(lack->bare, image->name);
		else if (!strcmp(key, "node-feature-discovery"))
			add_once(lack->nfd, image->name);
		else
			add_once(lack->other, image->name);
	}
}

static void judge_lack(struct judging *g, const struct lack *lack)
{
	if (json_array_size(lack->upstreams))
		judge_fail(g, "image-mirror-missing", "declare registry/mirrors for each of them",
			   "no mirror is declared for %s, and the operator pulls from there",
			   plan_list(g, lack->upstreams, NAMES_MAX));
	if (json_array_size(lack->bare))
		judge_fail(g, "image-tag-without-suffix", "mirror the tag with the suffix",
			   "the registry holds the bare tag of %s: the operator adds the system to "
			   "it", plan_list(g, lack->bare, NAMES_MAX));
	if (json_array_size(lack->nfd))
		judge_fail(g, "image-nfd-missing", "mirror it, from its own upstream",
			   "the registry does not hold %s: Node Feature Discovery is a chart of "
			   "its own with another upstream", plan_list(g, lack->nfd, NAMES_MAX));
	if (json_array_size(lack->other))
		judge_fail(g, "image-missing", "mirror them, with these tags",
			   "the registry does not hold %s",
			   plan_list(g, lack->other, NAMES_MAX));
}

/* Images of all systems of the GPU nodes. The number of them, 0 when nothing was judged. */
static size_t judge_systems(struct judging *g, const struct plan_cases *systems, json_t *index)
{
	__attribute__((cleanup(lack_clear))) struct lack lack = lack_new();
	const char *version = declared_string(g, "/gpu_operator/version");
	size_t n = 0;

	for (size_t i = 0; i < systems->n; i++) {
		const struct site_node *node = systems->list[i].node;
		_cleanup_operator_images_ struct operator_images images = {0};

		if (!node->os_id || !node->os_version) {
			judge_unknown(g, judge_text(g, "declare nodes/%s/os", node->name),
				      "the operating system of %s is not declared, so the suffix "
				      "of the driver image is not known",
				      plan_nodes(g, &systems->list[i]));
			continue;
		}
		if (!operator_images(&images, g->site, g->matrix, node->os_id, node->os_version)) {
			judge_unknown(g, "add its rows to the table `images` (--data DIR), or "
					 "declare a version that the matrix knows",
				      "the support matrix has no images of GPU Operator %s",
				      version);
			return 0;
		}
		for (size_t k = 0; !i && k < images.n; k++)
			fact_row(g, images.list[k].row);
		compare(&lack, &images, g->site, index);
		n += images.n;
	}
	judge_lack(g, &lack);
	return n;
}

/* What the mirror is for: nodes that reach nothing else. */
static const char *not_mirrored(struct judging *g)
{
	json_t *document = g->site->document;

	if (!json_at(document, "/gpu_operator"))
		return "no GPU Operator is declared";
	if (!json_at(document, "/registry"))
		return "no registry is declared: the nodes pull from the upstreams";
	if (!declared_bool(g, false, "/registry/air_gapped") &&
	    !json_at(document, "/registry/mirrors"))
		return "the nodes are not declared as air-gapped: they pull from the upstreams";
	return NULL;
}

void judge_plan_images(struct judging *g)
{
	_cleanup_plan_cases_ struct plan_cases systems = {0};
	const char *why_not = not_mirrored(g), *version;
	json_t *held;
	size_t n;

	if (why_not) {
		judge_na(g, "%s", why_not);
		return;
	}
	plan_systems(g, SITE_ROLE_GPU, &systems);
	if (!systems.n) {
		judge_na(g, "no GPU node is declared");
		return;
	}
	version = plan_operator_version(g);
	if (!version)
		return;
	held = declared(g, "/registry/images");

	_cleanup_json_ json_t *index = held ? held_index(held) : NULL;

	n = judge_systems(g, &systems, index);
	if (!n)
		return;
	if (plan_helm_bool(g, false, "driver.usePrecompiled"))
		judge_unverified(g, "gpu.operator",
				 "the precompiled driver image stands in the mirror: its tag names "
				 "branch, kernel and system, not the version");
	if (!held)
		judge_unverified(g, NULL, "each image stands in the mirror: the rendered "
					  "mirror/verify.sh asks it");
	judge_pass(g, "%zu images of GPU Operator %s, each with %s", n, version,
		   held ? "its tag in the registry" : "a mirror declared for it");
}
