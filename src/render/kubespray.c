/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubespray: the inventory, and the commands in order.
 *
 * Groups and host variables: kubernetes-sigs/kubespray, docs/ansible/inventory.md and
 * docs/operations/nodes.md; node_labels and node_taints: roles/kubernetes/node-label, node-taint.
 */
#include "render/kubespray.h"

#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "render/cluster.h"
#include "render/format.h"
#include "render/scripts.h"

bool kubespray_declared(const struct render *r)
{
	return render_declared(r, "/kubernetes/kubespray") != NULL;
}

char *kubespray_release(const struct render *r)
{
	const char *version =
		json_string_value(render_declared(r, "/kubernetes/kubespray/version"));

	return version ? xasprintf("v%s", text_version_number(version)) : NULL;
}

json_t *kubespray_row(const struct render *r)
{
	_cleanup_free_ char *release = kubespray_release(r);

	return matrix_row(r->matrix, "kubespray", "release", release);
}

static bool opens_template(const char *text)
{
	return strstr(text, "{{") || strstr(text, "{%") || strstr(text, "{#");
}

void kubespray_refuse_templates(struct render *r, const char *what, json_t *value)
{
	const char *key;
	json_t *member;
	size_t i;

	if (json_is_string(value) && opens_template(json_string_value(value)))
		render_refuse(r, "%s: Ansible would run '%s' as a template", what,
			      json_string_value(value));
	json_object_foreach(value, key, member)
		kubespray_refuse_templates(r, what, member);
	json_array_foreach(value, i, member)
		kubespray_refuse_templates(r, what, member);
}

/* --- inventory -------------------------------------------------------------------------------- */

static json_t *host_vars(struct render *r, const struct site_node *node)
{
	json_t *vars = json_object_new(), *port, *labels, *taints;
	const char *login =
		json_string_value(render_declared(r, "/nodes/%s/ssh/address", node->name));
	const char *user = json_string_value(render_declared(r, "/nodes/%s/ssh/user", node->name));
	const char *ip = cluster_node_ip(r, node);
	int64_t memlock = node->memlock_bytes.value;

	json_put_string(vars, "ansible_host", login ? login : ip);
	port = render_declared(r, "/nodes/%s/ssh/port", node->name);
	json_put(vars, "ansible_port", port ? json_incref(port) : NULL);
	json_put_string(vars, "ansible_user", user);
	json_put_string(vars, "ip", ip);
	json_put_string(vars, "access_ip", ip);
	/* its default is no limit */
	if (node->memlock_bytes.set && memlock >= 0)
		json_put_int(vars, "containerd_limit_mem_lock", memlock);
	labels = cluster_node_labels(r, node);
	json_put(vars, "node_labels", json_object_size(labels) ? json_incref(labels) : NULL);
	json_decref(labels);
	taints = cluster_node_taints(r, node);
	json_put(vars, "node_taints", json_array_size(taints) ? json_incref(taints) : NULL);
	json_decref(taints);
	return vars;
}

/* The inventory; `*n_gpu` counts the nodes of group gpu_node. */
static json_t *inventory(struct render *r, size_t *n_gpu)
{
	json_t *hosts = json_object_new(), *control_plane = json_object_new();
	json_t *workers = json_object_new(), *gpu = json_object_new(), *kube_node, *children;

	for (size_t i = 0; i < r->site->n_nodes; i++) {
		const struct site_node *node = &r->site->nodes[i];
		bool worker = cluster_is_worker(r, node);
		bool control = cluster_is_control_plane(r, node);

		if (!worker && !control)
			continue;
		if (!cluster_node_ip(r, node))
			render_note(r, "kubespray/inventory/hosts.yaml: %s has no node_ip; Kubespray "
				       "takes the address of its default route", node->name);
		json_put(hosts, node->name, host_vars(r, node));
		if (control)
			json_put(control_plane, node->name, json_object_new());
		if (worker)
			json_put(cluster_has_gpus(node) ? gpu : workers, node->name,
				 json_object_new());
	}
	*n_gpu = json_object_size(gpu);
	kubespray_refuse_templates(r, "kubespray/inventory/hosts.yaml", hosts);
	kube_node = manifest_pack("{so}", "hosts", workers);
	if (*n_gpu)
		json_put(kube_node, "children", manifest_pack("{s{so}}", "gpu_node", "hosts", gpu));
	else
		json_decref(gpu);
	children = manifest_pack("{s{so} s{s{s{}}} so s{s{s{}s{}}}}", "kube_control_plane", "hosts",
				 control_plane, "etcd", "children", "kube_control_plane",
				 "kube_node", kube_node, "k8s_cluster", "children", "kube_control_plane",
				 "kube_node");
	return manifest_pack("{s{soso}}", "all", "hosts", hosts, "children", children);
}

void render_kubespray(struct render *r)
{
	_cleanup_free_ char *release = kubespray_release(r);
	_cleanup_json_ json_t *document = NULL;
	struct render_file *file;
	size_t n_gpu;

	if (!kubespray_declared(r)) {
		render_note(r, "kubespray: the site does not declare kubernetes/kubespray; whoever "
			       "installs the cluster sets labels and taints by kubernetes/nodes.sh");
		return;
	}
	if (!kubespray_row(r)) {
		render_refuse(r, "kubernetes/kubespray/version: the variables of %s are not known; add "
				 "a row to kubespray.yaml with --data",
			      release ? release : "no declared release");
		return;
	}
	document = inventory(r, &n_gpu);
	file = render_file_add(r, 0644, "inventory of Kubespray", "kubespray/inventory/hosts.yaml");
	strbuf_printf(&file->text, "# Inventory of Kubespray %s.\n", release);
	format_yaml(&file->text, document);
	if (!render_declared(r, "/kubernetes/control_plane"))
		render_note(r, "kubespray/inventory/hosts.yaml: no control plane is declared "
			       "(kubernetes/control_plane); set CLUSTER_INVENTORY to the inventory of "
			       "the cluster that the nodes join");
	kubespray_render_vars(r, n_gpu != 0);
	file = render_file_add(r, 0644, "settings of commands.sh", "kubespray/settings.sh");
	scripts_setting(file, "RELEASE", release);
	scripts_add(r, "kubespray-commands", "Kubespray's playbooks in their order",
		    "kubespray/commands.sh");
}
