/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of phases 7 to 12: GPU Operator, GPUs, RDMA in pods. */
#include "render/runbook.h"

#include <string.h>

#include "render/cluster.h"

static const char *declared_text(const struct runbook *b, const char *pointer)
{
	return json_string_value(json_pointer_get(b->r->site->document, pointer));
}

static bool has_driver_container(const struct runbook *b)
{
	json_t *enabled = json_pointer_get(b->r->site->document, "/gpu_operator/driver/enabled");

	return b->has.gpu_operator && !json_is_false(enabled);
}

/* --- 7 --- */

void runbook_operator_steps(struct runbook *b)
{
	_cleanup_free_ char *namespace = runbook_quoted(cluster_operator_namespace(b->r));
	const char *repo = declared_text(b, "/gpu_operator/driver/repo_config");

	if (!has_driver_container(b))
		book_step(b, PHRASE_OPERATOR_HOST, NULL);
	if (!b->has.gpu_operator)
		return;
	if (repo)
		book_say(b, PHRASE_OPERATOR_REPO, repo, cluster_operator_namespace(b->r), NULL);
	book_step(b, PHRASE_OPERATOR_INSTALL, "gpu-operator/values.yaml", NULL);
	if (book_has(b, "gpu-operator/install.sh"))
		book_command(b, "gpu-operator/install.sh --dry-run\ngpu-operator/install.sh");
	book_step(b, PHRASE_OPERATOR_WAIT, NULL);
	book_command(b, "kubectl -n %s get pods -o wide --watch\nkubectl get clusterpolicy", namespace);
}

void runbook_operator_undo(struct runbook *b)
{
	if (b->has.gpu_operator)
		book_say(b, PHRASE_OPERATOR_UNDO, NULL);
	if (book_has(b, "gpu-operator/install.sh"))
		book_command(b, "gpu-operator/install.sh uninstall");
	if (!has_driver_container(b))
		book_say(b, PHRASE_OPERATOR_UNDO_HOST, NULL);
}

/* --- 8 --- */

void runbook_module_steps(struct runbook *b)
{
	const struct site_node *node = runbook_first(b->r, WHERE_GPU);

	book_step(b, PHRASE_MODULE_READ, node->name, NULL);
	book_command(b, "cat /proc/driver/nvidia/version\ncat /sys/module/nvidia/version\n"
			"modinfo -F license nvidia");
}

/* --- 9 --- */

void runbook_driver_steps(struct runbook *b)
{
	const struct site_node *node = runbook_first(b->r, WHERE_GPU);
	_cleanup_free_ char *namespace = runbook_quoted(cluster_operator_namespace(b->r));

	book_step(b, PHRASE_DRIVER_SMI, NULL);
	if (has_driver_container(b))
		book_command(b, "kubectl -n %s exec daemonset/nvidia-driver-daemonset -c nvidia-driver-ctr -- nvidia-smi",
			     namespace);
	else
		book_command(b, "nvidia-smi");
	if (!b->has.kubernetes)
		return;
	book_step(b, PHRASE_DRIVER_ALLOCATABLE, NULL);
	book_command(b, "kubectl get node %s -o jsonpath='{.status.allocatable}'", node->name);
}

/* --- test pods ---------------------------------------------------------------------------------- */

static void put_apply(struct runbook *b, const char *const *paths)
{
	for (; *paths; paths++)
		book_command(b, "kubectl apply -f %s", *paths);
}

/* Run test pods, and read what each says. */
static void put_pods(struct runbook *b, const char *const *paths, const char *namespace)
{
	put_apply(b, paths);
	book_command(b,
		     "kubectl -n %s get pods -o wide --watch\n"
		     "kubectl -n %s get pods -o name | xargs -n 1 kubectl -n %s logs",
		     namespace, namespace, namespace);
}

static void put_delete(struct runbook *b, const char *folder)
{
	_cleanup_free_ const char **paths = runbook_files_below(b, folder, ".yaml");
	size_t n = 0;

	while (paths[n])
		n++;
	while (n)
		book_command(b, "kubectl delete -f %s", paths[--n]);
}

/* --- 10 --- */

void runbook_cuda_steps(struct runbook *b)
{
	_cleanup_free_ const char **paths = runbook_files_below(b, "kubernetes/cuda-", ".yaml");

	if (!paths[0]) {
		book_step(b, PHRASE_CUDA_NONE, NULL);
		return;
	}
	book_step(b, PHRASE_CUDA_APPLY, NULL);
	put_pods(b, paths, "railhead-cuda-test");
}

void runbook_cuda_undo(struct runbook *b)
{
	put_delete(b, "kubernetes/cuda-");
}

/* --- 11 --- */

#define FEATURE_RULE "kubernetes/node-feature-rule.yaml"

static const char *resource(const struct runbook *b)
{
	const char *name = declared_text(b, "/kubernetes/rdma_resource");

	return name ? name : "rdma/";
}

void runbook_plugin_steps(struct runbook *b)
{
	const struct site_node *node = runbook_first(b->r, WHERE_POD_RDMA);
	_cleanup_free_ const char **paths =
		runbook_files_below(b, "kubernetes/rdma-device-plugin", ".yaml");

	if (node && node->rdma_netns)
		book_say(b, PHRASE_PLUGIN_NETNS, node->rdma_netns, NULL);
	if (paths[0]) {
		book_step(b, PHRASE_PLUGIN_APPLY, NULL);
		put_apply(b, paths);
		if (book_has(b, FEATURE_RULE))
			book_command(b, "kubectl apply -f " FEATURE_RULE);
	} else {
		book_step(b, PHRASE_PLUGIN_NONE, resource(b), NULL);
	}
	if (!node)
		return;
	book_step(b, PHRASE_PLUGIN_LOOK, NULL);
	book_command(b, "kubectl get node %s -o jsonpath='{.status.allocatable}'", node->name);
}

void runbook_plugin_undo(struct runbook *b)
{
	if (book_has(b, FEATURE_RULE))
		book_command(b, "kubectl delete -f " FEATURE_RULE);
	put_delete(b, "kubernetes/rdma-device-plugin");
}

/* --- 12 --- */

void runbook_pods_steps(struct runbook *b)
{
	_cleanup_free_ const char **paths = runbook_files_below(b, "kubernetes/rdma-test", ".yaml");
	const char *way = declared_text(b, "/kubernetes/pod_rdma");

	if (paths[0]) {
		book_step(b, PHRASE_PODS_APPLY, NULL);
		put_pods(b, paths, "railhead-rdma-test");
	} else {
		book_step(b, PHRASE_PODS_NONE, resource(b), NULL);
		book_step(b, PHRASE_PODS_MEMLOCK, NULL);
		book_command(b, "grep 'Max locked memory' /proc/self/limits\n"
				"grep CapEff /proc/self/status");
	}
	if (way && !strcmp(way, "host-gid"))
		book_say(b, PHRASE_PODS_HOST_GID, NULL);
	book_say(b, PHRASE_UNTIL_PROVE, "proof.pod", NULL);
}

void runbook_pods_undo(struct runbook *b)
{
	put_delete(b, "kubernetes/rdma-test");
}
