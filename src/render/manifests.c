/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Manifests that the operator does not bring: pods that test CUDA, the namespace of the workload,
 * labels and the taint of nodes. RDMA: rdma_plugin.c, rdma_pods.c. Every file that has pods begins
 * with their namespace, with the Pod Security level that they need.
 */
#include <string.h>

#include "base/alloc.h"
#include "render/cluster.h"
#include "render/images.h"
#include "render/rdma_plugin.h"
#include "render/scripts.h"

#define CUDA_NAMESPACE "railhead-cuda-test"

/* --- CUDA ------------------------------------------------------------------------------------- */

static json_t *cuda_pod(struct render *r, const struct site_node *node, const char *image)
{
	_cleanup_free_ char *name = xasprintf("cuda-test-%s", node->name);
	json_t *metadata, *spec;

	metadata = manifest_pack("{ssss}", "name", name, "namespace", CUDA_NAMESPACE);
	if (strlen(node->name) <= 63)
		json_put(metadata, "labels",
			 manifest_pack("{ss}", CLUSTER_LABEL_NODE, node->name));
	spec = manifest_pack("{ss s{ss} so s[{ssss s{s{ss}}}]}", "restartPolicy", "Never",
			     "nodeSelector", "kubernetes.io/hostname", node->name, "tolerations",
			     cluster_tolerations(r), "containers", "name", "cuda", "image", image,
			     "resources", "limits", "nvidia.com/gpu", "1");
	json_put(spec, "imagePullSecrets", manifest_pull_secrets(r));
	return manifest_pack("{ssss soso}", "apiVersion", "v1", "kind", "Pod", "metadata", metadata,
			     "spec", spec);
}

static void render_cuda(struct render *r)
{
	const char *image = images_declared(r, "cuda");
	_cleanup_free_ char *target = NULL;
	struct render_file *file = NULL;

	for (size_t i = 0; i < r->site->n_nodes; i++) {
		const struct site_node *node = &r->site->nodes[i];

		if (!cluster_has_gpus(node) || !cluster_is_worker(r, node))
			continue;
		if (!image) {
			render_note(r, "kubernetes/cuda-test.yaml: no image is declared "
				       "(kubernetes/images/cuda)");
			return;
		}
		if (!file) {
			target = images_target_or_refuse(r, image, "the CUDA test pod");
			file = render_file_add(r, 0644, "pods that test CUDA, one per GPU node",
					       "kubernetes/cuda-test.yaml");
			manifest_add(file, "Baseline: a GPU needs no privilege of its pod.",
				     manifest_namespace(CUDA_NAMESPACE, "baseline"));
		}
		manifest_add(file, NULL, cuda_pod(r, node, target));
	}
}

/* --- workload --------------------------------------------------------------------------------- */

static void render_workload(struct render *r)
{
	const char *name = json_string_value(render_declared(r, "/workload/namespace"));
	const char *why = "Baseline: a GPU needs no privilege of its pod.", *level = "baseline";
	struct render_file *file;

	if (!name)
		return;
	if (rdma_pods_wanted(r))
		level = rdma_pods_level(r, &why);
	file = render_file_add(r, 0644, "namespace of the workload",
			       "kubernetes/workload-namespace.yaml");
	manifest_add(file, why, manifest_namespace(name, level));
}

/* --- nodes ------------------------------------------------------------------------------------ */

static void render_nodes(struct render *r)
{
	const char *taint = cluster_unproven_taint(r);
	struct render_file *file;

	file = render_file_add(r, 0644, "workers and their labels", "kubernetes/nodes.txt");
	strbuf_puts(&file->text, "# NODE LABEL=VALUE…\n");
	for (size_t i = 0; i < r->site->n_nodes; i++) {
		const struct site_node *node = &r->site->nodes[i];
		_cleanup_json_ json_t *labels = cluster_node_labels(r, node);
		const char *name;
		json_t *value;

		if (!cluster_is_worker(r, node))
			continue;
		strbuf_puts(&file->text, node->name);
		json_object_foreach(labels, name, value)
			strbuf_printf(&file->text, " %s=%s", name, json_string_value(value));
		strbuf_putc(&file->text, '\n');
	}
	file = render_file_add(r, 0644, "settings of nodes.sh", "kubernetes/settings.sh");
	_cleanup_free_ char *key = xstrndup(taint, strcspn(taint, "=:"));
	scripts_setting(file, "TAINT", taint);
	scripts_setting(file, "TAINT_KEY", key);
	scripts_add(r, "kubernetes-nodes", "labels and the taint of nodes", "kubernetes/nodes.sh");
}

void render_manifests(struct render *r)
{
	const char *secret = json_string_value(render_declared(r, "/registry/pull_secret"));

	if (!r->site->kubernetes) {
		render_note(r, "kubernetes: the site declares no cluster");
		return;
	}
	if (secret)
		render_note(r, "kubernetes: secret %s holds a password and is not rendered; make it in "
			       "each namespace of the files there", secret);
	render_nodes(r);
	render_cuda(r);
	render_workload(r);
	if (!rdma_pods_wanted(r))
		return;
	rdma_plugin_render(r);
	rdma_pods_render(r);
}
