/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RDMA devices as a resource of Kubernetes: the shared device plugin with its configuration, and a
 * rule by which NFD labels nodes whose NIC can do RDMA (its own one knows vendor 15b3 only).
 *
 * Mellanox/k8s-rdma-shared-dev-plugin, pkg/types/types.go and deployment/k8s;
 * kubernetes-sigs/node-feature-discovery, docs/usage/customization-guide.md.
 */
#include "render/rdma_plugin.h"

#include <ctype.h>
#include <string.h>

#include "base/alloc.h"
#include "base/strings.h"
#include "base/text.h"
#include "judge/subject.h"
#include "render/cluster.h"
#include "render/images.h"

#define NAMESPACE "railhead-system"
/* Before that version the plugin demands an issm node, which RoCE ports do not get. */
#define PLUGIN_MIN "v1.5.2"
/* Pods of a node that may hold the devices at once: each of them gets all devices. */
#define PODS_MAX 100
#define KUBELET "/var/lib/kubelet"

static const struct nic {
	const char *driver, *rdma_driver, *vendor;
} nics[] = {
	{ "ice", "irdma", "8086" },
	{ "i40e", "irdma", "8086" },
	{ "mlx5_core", "mlx5_ib", "15b3" },
	{ "bnxt_en", "bnxt_re", "14e4" },
};

static const struct nic *nic_of(const char *driver)
{
	for (size_t i = 0; driver && i < ARRAY_SIZE(nics); i++) {
		if (!strcmp(nics[i].driver, driver))
			return &nics[i];
	}
	return NULL;
}

const char *rdma_resource(const struct render *r)
{
	const char *declared = json_string_value(render_declared(r, "/kubernetes/rdma_resource"));

	return declared ? declared : "rdma/railhead";
}

bool rdma_pods_wanted(const struct render *r)
{
	const char *way = json_string_value(render_declared(r, "/kubernetes/pod_rdma"));

	if (!r->site->kubernetes || (way && !strcmp(way, "none")))
		return false;
	for (size_t i = 0; i < r->site->n_nodes; i++) {
		if (r->site->nodes[i].n_rdma && cluster_is_worker(r, &r->site->nodes[i]))
			return true;
	}
	return false;
}

/* --- which ports ------------------------------------------------------------------------------ */

/* What the ports of all workers have in common; a plugin has one configuration for all nodes. */
struct ports {
	json_t *links, *drivers;	/* name -> true, in the order of the site */
	bool unknown_driver;		/* some port has no driver that is known here */
};

static void add_ports(const struct site_node *node, struct ports *ports)
{
	/* a bond has no PCI device: its members have */
	_cleanup_strings_ char **names = subject_nics_of_node(node, NULL);

	for (char **name = names; name && *name; name++) {
		const struct site_link *link = site_link_find(node, *name);

		json_put_bool(ports->links, *name, true);
		if (link && nic_of(link->driver))
			json_put_bool(ports->drivers, link->driver, true);
		else
			ports->unknown_driver = true;
	}
}

/* A link of that name on another node that is no RDMA port there would be handed out too. */
static void note_ambiguous(struct render *r, const struct ports *ports,
			   const struct site_node *node)
{
	_cleanup_strings_ char **own = subject_nics_of_node(node, NULL);

	for (size_t i = 0; i < node->n_links; i++) {
		const char *name = node->links[i].name;

		if (!json_object_get(ports->links, name) || strings_have(own, name))
			continue;
		render_note(r, "kubernetes/rdma-device-plugin.yaml: link %s is an RDMA port on some "
			       "nodes and not on %s; where it can do RDMA, the plugin offers it "
			       "there too", name, node->name);
		return;
	}
}

static json_t *names_of(json_t *set)
{
	json_t *names = json_array_new(), *value;
	const char *name;

	json_object_foreach(set, name, value)
		json_append_text(names, name);
	return names;
}

static json_t *vendors_of(json_t *drivers)
{
	_cleanup_json_ json_t *set = json_object_new();
	json_t *value;
	const char *driver;

	json_object_foreach(drivers, driver, value)
		json_put_bool(set, nic_of(driver)->vendor, true);
	return names_of(set);
}

/* --- device plugin ---------------------------------------------------------------------------- */

static json_t *configuration(const char *resource, const struct ports *ports)
{
	json_t *selectors = json_object_new();
	const char *slash = strchr(resource, '/');
	json_t *prefix = json_textn_new(resource, (size_t)(slash - resource));

	/* all of them must fit */
	if (!ports->unknown_driver) {
		json_put(selectors, "vendors", vendors_of(ports->drivers));
		json_put(selectors, "drivers", names_of(ports->drivers));
	}
	json_put(selectors, "ifNames", names_of(ports->links));
	json_put(selectors, "linkTypes", manifest_pack("[s]", "ether"));
	return manifest_pack("{si s[{sosssiso}]}", "periodicUpdateInterval", 60, "configList",
			     "resourcePrefix", prefix, "resourceName", slash + 1, "rdmaHcaMax",
			     PODS_MAX, "selectors", selectors);
}

static json_t *host_path(const char *name, const char *path)
{
	return manifest_pack("{sss{ss}}", "name", name, "hostPath", "path", path);
}

static json_t *mount(const char *name, const char *path)
{
	return manifest_pack("{ssss}", "name", name, "mountPath", path);
}

static json_t *daemon_set(struct render *r, const char *image)
{
	json_t *volumes = json_array_new(), *mounts = json_array_new(), *container, *pod;

	json_append(mounts, mount("device-plugins", KUBELET "/device-plugins"));
	json_append(mounts, mount("plugins-registry", KUBELET "/plugins_registry"));
	json_append(mounts, mount("config", "/k8s-rdma-shared-dev-plugin"));
	json_append(mounts, mount("devices", "/dev"));
	json_append(volumes, host_path("device-plugins", KUBELET "/device-plugins"));
	json_append(volumes, host_path("plugins-registry", KUBELET "/plugins_registry"));
	json_append(volumes, host_path("devices", "/dev"));
	json_append(volumes, manifest_pack("{sss{ss}}", "name", "config", "configMap", "name",
					   "rdma-devices"));
	container = manifest_pack("{sssss{sb}s{s{ssss}}so}", "name", "rdma-device-plugin", "image",
				  image, "securityContext", "privileged", 1, "resources",
				  "requests", "cpu", "10m", "memory", "64Mi", "volumeMounts",
				  mounts);
	/* the host's network: selectors name its links */
	pod = manifest_pack("{sb ss s{ss} so s[o] so}", "hostNetwork", 1, "priorityClassName",
			    "system-node-critical", "nodeSelector", CLUSTER_LABEL_RDMA, "true",
			    "tolerations", cluster_tolerations(r), "containers", container,
			    "volumes", volumes);
	json_put(pod, "imagePullSecrets", manifest_pull_secrets(r));
	return manifest_pack("{ssss s{ssss} s{s{s{ss}} s{s{s{ss}} so}}}", "apiVersion", "apps/v1",
			     "kind", "DaemonSet", "metadata", "name", "rdma-device-plugin",
			     "namespace", NAMESPACE, "spec", "selector", "matchLabels", "app",
			     "rdma-device-plugin", "template", "metadata", "labels", "app",
			     "rdma-device-plugin", "spec", pod);
}

/* Tag of a release of its own, older than what RoCE needs? */
static bool is_too_old(const char *image)
{
	const char *tag = strrchr(image, ':');

	return tag && tag[1] == 'v' && isdigit((unsigned char)tag[2]) &&
	       text_version_compare(tag + 1, PLUGIN_MIN) < 0;
}

static void render_plugin(struct render *r, const struct ports *ports)
{
	const char *image = images_declared(r, "device_plugin"), *resource = rdma_resource(r);
	_cleanup_free_ char *target = NULL, *text = NULL;
	struct render_file *file;
	json_t *config;

	if (json_is_true(render_declared(r, "/network_operator/rdma_device_plugin"))) {
		render_note(r, "kubernetes/rdma-device-plugin.yaml: the Network Operator brings the "
			       "plugin");
		return;
	}
	if (!image) {
		render_note(r, "kubernetes/rdma-device-plugin.yaml: no image is declared "
			       "(kubernetes/images/device_plugin)");
		return;
	}
	if (is_too_old(image))
		render_refuse(r, "kubernetes/images/device_plugin: %s is older than " PLUGIN_MIN
				 ": it demands an issm device, which RoCE ports do not have",
			      image);
	for (const char *s = strchr(resource, '/') + 1; *s; s++) {
		if (!isalnum((unsigned char)*s) && *s != '_') {
			render_refuse(r, "kubernetes/rdma_resource: the device plugin takes letters, "
					 "digits and '_' behind the '/', not '%s'", resource);
			break;
		}
	}
	target = images_target_or_refuse(r, image, "the RDMA device plugin");
	config = configuration(resource, ports);
	text = json_to_text(config, true);
	json_decref(config);
	file = render_file_add(r, 0644, "RDMA device plugin", "kubernetes/rdma-device-plugin.yaml");
	manifest_add(file, "Privileged: the plugin uses the host's network and devices.",
		     manifest_namespace(NAMESPACE, "privileged"));
	manifest_add(file,
		     "Selectors of different kinds must all fit. rdmaHcaMax counts pods, not devices: "
		     "a pod gets all\ndevices that fit. The plugin sets the links that it selects up.",
		     manifest_pack("{ssss s{ssss} s{ss}}", "apiVersion", "v1", "kind", "ConfigMap",
				   "metadata", "name", "rdma-devices", "namespace", NAMESPACE,
				   "data", "config.json", text));
	manifest_add(file, NULL, daemon_set(r, target));
}

/* --- NFD -------------------------------------------------------------------------------------- */

static json_t *feature_rule(const struct nic *nic)
{
	json_t *pci, *modules;

	pci = manifest_pack("{sss{s{sss[s]}s{sss[s]}}}", "feature", "pci.device",
			    "matchExpressions", "vendor", "op", "In", "value", nic->vendor, "class",
			    "op", "In", "value", "0200");
	modules = manifest_pack("{sss{s{ss}s{ss}}}", "feature", "kernel.loadedmodule",
				"matchExpressions", nic->rdma_driver, "op", "Exists", "ib_uverbs",
				"op", "Exists");
	return manifest_pack("{ss s{ss} s[oo]}", "name", nic->rdma_driver, "labels",
			     "feature.node.kubernetes.io/railhead-rdma", "true", "matchFeatures",
			     pci, modules);
}

static void render_feature_rule(struct render *r, const struct ports *ports)
{
	json_t *rules = json_array_new();
	struct render_file *file;

	for (size_t i = 0; i < ARRAY_SIZE(nics); i++) {
		if (json_object_get(ports->drivers, nics[i].driver))
			json_append(rules, feature_rule(&nics[i]));
	}
	if (!json_array_size(rules) || !render_declared(r, "/gpu_operator/version")) {
		json_decref(rules);
		return;
	}
	file = render_file_add(r, 0644, "rule of NFD: nodes whose NIC can do RDMA",
			       "kubernetes/node-feature-rule.yaml");
	manifest_add(file,
		     "NFD comes with the GPU Operator. Its own label for RDMA knows NICs of NVIDIA "
		     "only.",
		     manifest_pack("{ssss s{ss} s{so}}", "apiVersion",
				   "nfd.k8s-sigs.io/v1alpha1", "kind", "NodeFeatureRule",
				   "metadata", "name", "railhead-rdma", "spec", "rules", rules));
}

void rdma_plugin_render(struct render *r)
{
	_cleanup_json_ json_t *links = json_object_new(), *drivers = json_object_new();
	struct ports ports = { .links = links, .drivers = drivers };

	for (size_t i = 0; i < r->site->n_nodes; i++) {
		if (cluster_is_worker(r, &r->site->nodes[i]))
			add_ports(&r->site->nodes[i], &ports);
	}
	for (size_t i = 0; i < r->site->n_nodes; i++) {
		const struct site_node *node = &r->site->nodes[i];

		if (cluster_is_worker(r, node) && node->n_rdma)
			note_ambiguous(r, &ports, node);
	}
	render_plugin(r, &ports);
	render_feature_rule(r, &ports);
}
