/* SPDX-License-Identifier: Apache-2.0 */
#include "render/cluster.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "render/format.h"

bool cluster_is_worker(const struct render *r, const struct site_node *node)
{
	json_t *declared = render_declared(r, "/nodes/%s/kube_node", node->name);

	return declared ? json_is_true(declared) : node->roles != SITE_ROLE_STORAGE;
}

bool cluster_is_control_plane(const struct render *r, const struct site_node *node)
{
	json_t *names = render_declared(r, "/kubernetes/control_plane"), *name;
	size_t i;

	json_array_foreach(names, i, name) {
		if (!strcmp(json_string_value(name), node->name))
			return true;
	}
	return false;
}

bool cluster_has_gpus(const struct site_node *node)
{
	return node->n_gpus || (node->roles & SITE_ROLE_GPU);
}

static bool is_address(const char *text)
{
	unsigned char binary[sizeof(struct in6_addr)];

	return inet_pton(AF_INET, text, binary) == 1 || inet_pton(AF_INET6, text, binary) == 1;
}

const char *cluster_node_ip(const struct render *r, const struct site_node *node)
{
	const char *declared =
		json_string_value(render_declared(r, "/nodes/%s/node_ip", node->name));
	const char *login =
		json_string_value(render_declared(r, "/nodes/%s/ssh/address", node->name));

	if (declared)
		return declared;
	return login && is_address(login) ? login : NULL;
}

char *cluster_operator_version(const struct render *r)
{
	const char *version = json_string_value(render_declared(r, "/gpu_operator/version"));

	if (!version)
		return NULL;
	return xasprintf("v%s", text_version_number(version));
}

const char *cluster_operator_namespace(const struct render *r)
{
	const char *declared = json_string_value(render_declared(r, "/gpu_operator/namespace"));

	return declared ? declared : "gpu-operator";
}

/* --- taints ----------------------------------------------------------------------------------- */

const char *cluster_unproven_taint(const struct render *r)
{
	const char *declared =
		json_string_value(render_declared(r, "/kubernetes/unproven_taint"));

	return declared ? declared : "railhead/unproven=true:NoSchedule";
}

json_t *cluster_node_taints(const struct render *r, const struct site_node *node)
{
	json_t *taints = json_array_new(), *declared, *taint;
	size_t i;

	declared = render_declared(r, "/nodes/%s/taints", node->name);
	json_array_foreach(declared, i, taint)
		json_append_text(taints, json_string_value(taint));
	if (cluster_has_gpus(node) && cluster_is_worker(r, node))
		json_append_text(taints, cluster_unproven_taint(r));
	return taints;
}

json_t *cluster_node_labels(const struct render *r, const struct site_node *node)
{
	json_t *labels = json_object_new(), *value;
	const char *name;

	json_object_foreach(render_declared(r, "/nodes/%s/labels", node->name), name, value)
		json_put_string(labels, name, json_string_value(value));
	if (node->n_rdma)
		json_put_string(labels, CLUSTER_LABEL_RDMA, "true");
	return labels;
}

/* "key=value:effect" or "key:effect", as site.yaml checks it. */
static json_t *toleration(const char *taint)
{
	const char *colon = strrchr(taint, ':'), *equals = strchr(taint, '=');
	json_t *t = json_object_new();

	if (!equals || equals > colon)
		equals = NULL;
	json_put(t, "key", json_textn_new(taint, (size_t)((equals ? equals : colon) - taint)));
	json_put_string(t, "operator", equals ? "Equal" : "Exists");
	if (equals)
		json_put(t, "value", json_textn_new(equals + 1, (size_t)(colon - equals - 1)));
	json_put_string(t, "effect", colon + 1);
	return t;
}

static json_t *tolerations_new(const struct render *r)
{
	json_t *tolerations = json_array_new(), *declared, *taint;
	_cleanup_json_ json_t *seen = json_object_new();
	size_t k;

	/* that of the chart itself; replacing its list would lose it */
	json_append(tolerations, manifest_pack("{ssssss}", "key", "nvidia.com/gpu", "operator",
					       "Exists", "effect", "NoSchedule"));
	json_append(tolerations, toleration(cluster_unproven_taint(r)));
	for (size_t i = 0; i < r->site->n_nodes; i++) {
		const struct site_node *node = &r->site->nodes[i];

		if (!cluster_is_worker(r, node) || (!node->n_rdma && !cluster_has_gpus(node)))
			continue;
		declared = render_declared(r, "/nodes/%s/taints", node->name);
		json_array_foreach(declared, k, taint) {
			const char *text = json_string_value(taint);

			if (json_object_get(seen, text))
				continue;
			json_put_bool(seen, text, true);
			json_append(tolerations, toleration(text));
		}
	}
	return tolerations;
}

json_t *cluster_tolerations(struct render *r)
{
	/* every pod of every node has them, and they are of all nodes */
	if (!r->tolerations)
		r->tolerations = tolerations_new(r);
	return json_incref(r->tolerations);
}

/* --- manifests -------------------------------------------------------------------------------- */

json_t *manifest_pack(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	json_t *packed = json_vpack_ex(NULL, 0, fmt, ap);
	va_end(ap);
	if (!packed)
		alloc_exhausted();
	return packed;
}

void manifest_add(struct render_file *file, const char *comment, json_t *document)
{
	if (file->text.len)
		strbuf_puts(&file->text, "---\n");
	if (comment)
		format_comment(&file->text, comment);
	format_yaml(&file->text, document);
	json_decref(document);
}

json_t *manifest_namespace(const char *name, const char *level)
{
	/* enforced, and shown to the user at once; audit would only repeat it in a log */
	return manifest_pack("{ssss s{ss s{ssss}}}", "apiVersion", "v1", "kind", "Namespace",
			     "metadata", "name", name, "labels",
			     "pod-security.kubernetes.io/enforce", level,
			     "pod-security.kubernetes.io/warn", level);
}

json_t *manifest_pull_secrets(const struct render *r)
{
	const char *secret = json_string_value(render_declared(r, "/registry/pull_secret"));

	return secret ? manifest_pack("[{ss}]", "name", secret) : NULL;
}
