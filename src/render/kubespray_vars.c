/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variables of Kubespray. Only names that the releases of the table `kubespray` have:
 * kubernetes-sigs/kubespray v2.28.0 to v2.31.0, inventory/sample/group_vars/all/offline.yml,
 * docs/operations/offline-environment.md, docs/CRI/containerd.md, and the defaults of the roles
 * kubespray_defaults, container-engine/containerd, kubernetes/node, network_plugin/cilium.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "render/cluster.h"
#include "render/format.h"
#include "render/kubespray.h"

/* First release that has cilium_extra_values and installs Cilium from its chart. */
#define CILIUM_CHART_SINCE "v2.29.0"

static bool is_cilium(const struct render *r)
{
	const char *name = json_string_value(render_declared(r, "/kubernetes/cni/name"));

	return name && !strcmp(name, "cilium");
}

char *kubespray_cilium_chart(const struct render *r)
{
	_cleanup_free_ char *release = kubespray_release(r);
	const char *version = json_string_value(render_declared(r, "/kubernetes/cni/version"));

	if (!release || !is_cilium(r) || text_version_compare(release, CILIUM_CHART_SINCE) < 0)
		return NULL;
	if (!version)
		version = json_get_string(kubespray_row(r), "cilium", NULL);
	return version ? xstrdup(text_version_number(version)) : NULL;
}

/* A file of group_vars, unless it would be empty. `site` holds what comes from the site, `own` what
 * is railhead's and may be a template; either may be NULL. Steals both. */
static void add_vars(struct render *r, const char *path, const char *comment, json_t *site,
		     json_t *own)
{
	if (site)
		kubespray_refuse_templates(r, path, site);
	else
		site = json_object_new();
	if (own)
		json_object_update(site, own);
	json_decref(own);
	if (json_object_size(site)) {
		struct render_file *file =
			render_file_add(r, 0644, "variables of Kubespray", "%s", path);

		manifest_add(file, comment, site);
	} else {
		json_decref(site);
	}
}

/* --- all/offline.yml -------------------------------------------------------------------------- */

/* Variables that name the place of an upstream registry. */
static const struct {
	const char *upstream, *variable;
} image_repos[] = {
	{ "registry.k8s.io", "kube_image_repo" }, { "gcr.io", "gcr_image_repo" },
	{ "ghcr.io", "github_image_repo" },	  { "docker.io", "docker_image_repo" },
	{ "quay.io", "quay_image_repo" },
};

/* Variables that name the place of a whole download site; the original domains are folders. */
static const struct {
	const char *variable, *value;
} download_sites[] = {
	{ "github_url", "{{ files_repo }}/github.com" },
	{ "dl_k8s_io_url", "{{ files_repo }}/dl.k8s.io" },
	{ "storage_googleapis_url", "{{ files_repo }}/storage.googleapis.com" },
	{ "get_helm_url", "{{ files_repo }}/get.helm.sh" },
};

/*
 * Cilium's chart names its images by digest, and the lists of Kubespray by tag: the mirror's
 * digests may differ, so they are switched off (docs/operations/offline-environment.md).
 */
static void put_cilium(json_t *own)
{
	json_put(own, "cilium_install_extra_flags",
		 json_text_new("--repository {{ files_repo }}/helm.cilium.io/"));
	json_put(own, "cilium_extra_values",
		 manifest_pack("{s{sb} s{s{s{sb}} s{s{s{sb}} s{s{sb}}}}"
			       " s{s{sssbss}} s{s{sb}}}",
			       "image", "useDigest", 0,
			       "hubble", "relay", "image", "useDigest", 0,
			       "ui", "backend", "image", "useDigest", 0,
			       "frontend", "image", "useDigest", 0,
			       "operator", "image", "override",
			       "{{ quay_image_repo }}/cilium/operator-generic:v{{ cilium_version }}",
			       "useDigest", 0, "extension", "",
			       "certgen", "image", "useDigest", 0));
}

static void render_offline(struct render *r)
{
	json_t *site = json_object_new(), *own = json_object_new(), *mirror;
	const char *files = json_string_value(render_declared(r, "/registry/files_url"));
	_cleanup_free_ char *cilium = kubespray_cilium_chart(r);

	json_put_string(site, "registry_host",
			json_string_value(render_declared(r, "/registry/host")));
	json_put_string(site, "files_repo", files);
	json_put_string(site, "yum_repo",
			json_string_value(render_declared(r, "/registry/packages_url")));
	for (size_t i = 0; i < ARRAY_SIZE(image_repos); i++) {
		mirror = render_declared(r, "/registry/mirrors/%s", image_repos[i].upstream);
		json_put_string(site, image_repos[i].variable, json_string_value(mirror));
	}
	for (size_t i = 0; files && i < ARRAY_SIZE(download_sites); i++)
		json_put_string(own, download_sites[i].variable, download_sites[i].value);
	if (files && cilium)
		put_cilium(own);
	add_vars(r, "kubespray/inventory/group_vars/all/offline.yml",
		 "The mirror instead of the internet.", site, own);
}

/* --- all/containerd.yml ----------------------------------------------------------------------- */

/*
 * A mirror as containerd's hosts.toml knows it. "registry:5000/quay.io" is a path below the
 * registry: its API then begins with /v2/quay.io, which override_path says.
 */
static json_t *mirror_entry(const struct render *r, const char *upstream, const char *mirror)
{
	const char *ca = json_string_value(render_declared(r, "/registry/ca_file"));
	size_t host = strcspn(mirror, "/");
	_cleanup_free_ char *server = xasprintf("https://%.*s", (int)host, mirror);
	_cleanup_free_ char *url = mirror[host] ? xasprintf("%s/v2%s", server, mirror + host) :
						  xstrdup(server);
	json_t *entry, *place;

	place = manifest_pack("{sss[ss]sb}", "host", url, "capabilities", "pull", "resolve",
			      "skip_verify", 0);
	if (mirror[host])
		json_put_bool(place, "override_path", true);
	json_put_string(place, "ca", ca);
	entry = manifest_pack("{sss[o]}", "prefix", upstream, "mirrors", place);
	/* else containerd tries the upstream registry when the mirror lacks an image, and an air
	 * gap makes that a long wait instead of an error */
	if (json_is_true(render_declared(r, "/registry/air_gapped")))
		json_put_string(entry, "server", server);
	return entry;
}

static void render_containerd(struct render *r)
{
	const char *host = json_string_value(render_declared(r, "/registry/host")), *upstream;
	json_t *mirrors = json_array_new(), *mirror;
	size_t n = host ? strcspn(host, "/") : 0;
	_cleanup_free_ char *registry = host ? xstrndup(host, n) : NULL;

	json_object_foreach(render_declared(r, "/registry/mirrors"), upstream, mirror)
		json_append(mirrors, mirror_entry(r, upstream, json_string_value(mirror)));
	/* images that are named by the registry itself */
	if (registry)
		json_append(mirrors, mirror_entry(r, registry, registry));
	if (!json_array_size(mirrors)) {
		json_decref(mirrors);
		return;
	}
	add_vars(r, "kubespray/inventory/group_vars/all/containerd.yml",
		 "Where containerd finds images of other registries. A login goes into a vault: "
		 "Kubespray,\ndocs/operations/offline-environment.md, \"access controlled registry\".",
		 manifest_pack("{so}", "containerd_registries_mirrors", mirrors), NULL);
}

/* --- k8s_cluster/k8s-cluster.yml, gpu_node.yml ------------------------------------------------ */

/* "host:port", "[v6]:port". */
static json_t *load_balancer(const char *endpoint)
{
	const char *colon = strrchr(endpoint, ':');
	size_t len = colon ? (size_t)(colon - endpoint) : strlen(endpoint);
	json_t *lb = json_object_new();
	int64_t port;

	if (endpoint[0] == '[' && len > 2)
		json_put(lb, "address", json_textn_new(endpoint + 1, len - 2));
	else
		json_put(lb, "address", json_textn_new(endpoint, len));
	if (colon && !text_to_i64(colon + 1, 10, &port))
		json_put_int(lb, "port", port);
	return lb;
}

/* The declared version of a part, when the release itself would take another. */
static void put_version(struct render *r, json_t *vars, const char *variable, const char *pointer,
			const char *column)
{
	const char *declared =
		text_version_number(json_string_value(
			json_pointer_get(r->site->document, pointer)));

	if (declared && strcmp(declared, json_get_string(kubespray_row(r), column, "")))
		json_put_string(vars, variable, declared);
}

static void render_cluster(struct render *r)
{
	const char *cni = json_string_value(render_declared(r, "/kubernetes/cni/name"));
	const char *endpoint = json_string_value(render_declared(r, "/kubernetes/api_endpoint"));
	json_t *vars = json_object_new();

	/* without its 'v' since v2.28 */
	json_put_string(vars, "kube_version", text_version_number(r->site->kubernetes_version));
	json_put_string(vars, "container_manager", "containerd");
	put_version(r, vars, "containerd_version", "/kubernetes/containerd", "containerd");
	if (cni && strcmp(cni, "other"))
		json_put_string(vars, "kube_network_plugin", cni);
	else
		render_note(r, "kubespray/inventory/group_vars/k8s_cluster/k8s-cluster.yml: "
			       "kube_network_plugin is not set; kubernetes/cni/name declares %s",
			    cni ? "no plugin that railhead knows" : "none");
	if (is_cilium(r)) {
		put_version(r, vars, "cilium_version", "/kubernetes/cni/version", "cilium");
		/* else Cilium renames the configuration of a second CNI plugin away */
		if (render_declared(r, "/kubernetes/rdma_network"))
			json_put_bool(vars, "cilium_cni_exclusive", false);
	}
	if (endpoint)
		json_put(vars, "loadbalancer_apiserver", load_balancer(endpoint));
	add_vars(r, "kubespray/inventory/group_vars/k8s_cluster/k8s-cluster.yml", "The cluster.",
		 vars, NULL);
}

static void render_topology(struct render *r, bool gpu_nodes)
{
	json_t *vars = json_object_new();

	json_put_string(vars, "kubelet_topology_manager_policy",
			json_string_value(render_declared(r, "/kubernetes/topology_manager")));
	json_put_string(vars, "kubelet_topology_manager_scope",
			json_string_value(render_declared(r, "/kubernetes/topology_scope")));
	/* other nodes of a cluster that exists keep theirs */
	add_vars(r,
		 gpu_nodes ? "kubespray/inventory/group_vars/gpu_node.yml" :
			     "kubespray/inventory/group_vars/k8s_cluster/topology.yml",
		 "NUMA placement of pods with devices.", vars, NULL);
}

void kubespray_render_vars(struct render *r, bool gpu_nodes)
{
	if (render_declared(r, "/registry")) {
		render_offline(r);
		render_containerd(r);
	}
	render_cluster(r);
	render_topology(r, gpu_nodes);
}
