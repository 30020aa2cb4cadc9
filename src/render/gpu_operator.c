/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVIDIA GPU Operator: the values of its chart, its namespace, the package repositories of its
 * driver container, and the script that installs it.
 *
 * Keys and their meaning: NVIDIA/gpu-operator, deployments/gpu-operator/values.yaml; which ones a
 * version has: table chart-keys. Repositories and certificates in the driver container: docs,
 * "Local Package Repository", and controllers/object_controls.go (RepoConfigPathMap, CertConfigPathMap).
 */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "matrix/operator.h"
#include "render/chart.h"
#include "render/cluster.h"
#include "render/format.h"
#include "render/images.h"
#include "render/scripts.h"

#define CA_CONFIGMAP "railhead-ca"
#define CA_KEY "railhead-ca.pem"
#define CHART_HOST_PATH "helm.ngc.nvidia.com/nvidia/charts"

/* A value of the chart that is declared below `values` and by a key of its own, differently. */
static void refuse_contradictions(struct render *r)
{
	const char *key, *own;
	json_t *value;

	json_object_foreach(render_declared(r, "/gpu_operator/values"), key, value) {
		const char *pointer = operator_own_pointer(key);
		json_t *declared = pointer ? json_pointer_get(r->site->document, pointer) : NULL;

		if (!declared)
			continue;
		own = json_is_string(declared) ? json_string_value(declared) :
		      json_is_true(declared)   ? "true" :
						 "false";
		if (strcmp(own, json_string_value(value)))
			render_refuse(r, "gpu_operator/values/%s is %s, and %s is %s: say it once",
				      key, json_string_value(value), pointer + 1, own);
	}
}

static bool is_air_gapped(const struct render *r)
{
	return json_is_true(render_declared(r, "/registry/air_gapped"));
}

/* --- the driver ------------------------------------------------------------------------------- */

static bool builds_driver(const struct render *r)
{
	return operator_bool(r->site, true, "driver.enabled") &&
	       !operator_bool(r->site, false, "driver.usePrecompiled");
}

static bool gpu_nodes_are_rhel(const struct render *r)
{
	for (size_t i = 0; i < r->site->n_nodes; i++) {
		const struct site_node *node = &r->site->nodes[i];
		const char *id = node->os_id;

		if (cluster_has_gpus(node) && id && strcmp(id, "rhel") && strcmp(id, "rocky"))
			return false;
	}
	return true;
}

/* Name of the ConfigMap with repositories that this site renders, or NULL. */
static const char *repo_config(const struct render *r)
{
	const char *declared = operator_value(r->site, "driver.repoConfig.configMapName");

	if (declared || !builds_driver(r) || !render_declared(r, "/registry/packages_url"))
		return declared;
	return is_air_gapped(r) ? "railhead-repositories" : NULL;
}

static bool packages_need_ca(const struct render *r)
{
	const char *url = json_string_value(render_declared(r, "/registry/packages_url"));

	return url && text_starts_with(url, "https://") && render_declared(r, "/registry/ca_file");
}

/*
 * `auto` lets the driver container ask its installer; DMA-BUF exists in the open module only, so
 * that is named wherever GPUDirect is wanted (cloud-native-docs, gpu-operator-rdma.rst).
 */
static const char *kernel_module_type(const struct render *r)
{
	const char *declared = operator_value(r->site, "driver.kernelModuleType");

	if (declared && strcmp(declared, "auto"))
		return declared;
	return r->site->gpudirect ? "open" : declared;
}

static void put_driver(struct render *r, struct chart *chart)
{
	const char *module = kernel_module_type(r), *config = repo_config(r);

	chart_put(r, chart, "driver.enabled",
		  json_boolean(operator_bool(r->site, true, "driver.enabled")));
	if (module)
		chart_put(r, chart, "driver.kernelModuleType", json_text_new(module));
	chart_put(r, chart, "driver.usePrecompiled",
		  json_boolean(operator_bool(r->site, false, "driver.usePrecompiled")));
	chart_put(r, chart, "driver.rdma.enabled",
		  json_boolean(operator_bool(r->site, false, "driver.rdma.enabled")));
	chart_put(r, chart, "driver.rdma.useHostMofed",
		  json_boolean(operator_bool(r->site, false, "driver.rdma.useHostMofed")));
	if (config)
		chart_put(r, chart, "driver.repoConfig.configMapName", json_text_new(config));
	if (config && packages_need_ca(r))
		chart_put(r, chart, "driver.certConfig.name", json_text_new(CA_CONFIGMAP));
	chart_put(r, chart, "gds.enabled",
		  json_boolean(operator_bool(r->site, false, "gds.enabled")));
	chart_put(r, chart, "gdrcopy.enabled",
		  json_boolean(operator_bool(r->site, false, "gdrcopy.enabled")));
}

/* --- images ----------------------------------------------------------------------------------- */

static void put_image(struct render *r, struct chart *chart, json_t *row)
{
	const char *key = json_get_string(row, "key", "");
	const char *secret = json_string_value(render_declared(r, "/registry/pull_secret"));
	_cleanup_free_ char *subchart = xasprintf("%s.image.repository", key);
	_cleanup_free_ char *tag = xasprintf("%s.image.tag", key);
	_cleanup_free_ char *repository = xasprintf("%s.repository", key);
	_cleanup_free_ char *version = xasprintf("%s.version", key);
	_cleanup_free_ char *secrets = xasprintf("%s.imagePullSecrets", key);
	_cleanup_free_ char *source = xasprintf("%s/%s", json_get_string(row, "repository", ""),
						json_get_string(row, "image", ""));
	_cleanup_free_ char *target = images_target(r, source);
	const char *tag_value = operator_value(r->site, version);

	if (!tag_value)
		tag_value = json_get_string(row, "version", "");
	/* components that are off may have no mirror; those that are on are refused with the list
	 * of images */
	if (!target)
		target = xstrdup(source);
	if (chart_type(chart, subchart)) {
		chart_put(r, chart, subchart, json_text_new(target));
		chart_put_if(r, chart, tag, json_text_new(tag_value));
		if (secret)
			chart_put_if(r, chart, secrets, manifest_pull_secrets(r));
		return;
	}
	*strrchr(target, '/') = '\0';
	chart_put(r, chart, repository, json_text_new(target));
	chart_put_if(r, chart, version, json_text_new(tag_value));
	if (secret)
		chart_put_if(r, chart, secrets, manifest_pack("[s]", secret));
}

static void put_images(struct render *r, struct chart *chart)
{
	_cleanup_json_ json_t *rows = images_operator_rows(r);
	json_t *row;
	size_t i;

	if (!json_array_size(rows))
		render_refuse(r, "the images of GPU Operator %s are not known; add rows to "
				 "images.yaml with --data",
			      json_get_string(chart->row, "version", ""));
	json_array_foreach(rows, i, row)
		put_image(r, chart, row);
}

/* Who must run on a node that is not proven yet has to tolerate its taint: without the driver, the
 * plugin and the labels of NFD no gate could ever pass. */
static void put_tolerations(struct render *r, struct chart *chart)
{
	json_t *shared = cluster_tolerations(r), *workers = json_copy(shared);

	if (!workers)
		alloc_exhausted();
	chart_put(r, chart, "daemonsets.tolerations", shared);
	/* the chart's own list, which this replaces, has it */
	json_append(workers,
		    manifest_pack("{ssssssss}", "key", "node-role.kubernetes.io/control-plane",
				  "operator", "Equal", "value", "", "effect", "NoSchedule"));
	chart_put_if(r, chart, "node-feature-discovery.worker.tolerations", workers);
}

static void render_values(struct render *r, const char *version)
{
	_cleanup_chart_ struct chart chart;
	struct render_file *file;

	if (chart_open(r, &chart, "gpu-operator", version))
		return;
	put_driver(r, &chart);
	put_images(r, &chart);
	put_tolerations(r, &chart);
	chart_put_declared(r, &chart, "/gpu_operator/values");
	file = render_file_add(r, 0644, "values of the GPU Operator's chart",
			       "gpu-operator/values.yaml");
	strbuf_printf(&file->text, "# Values of chart gpu-operator %s. Each key was checked against "
				   "those that this version reads.\n", version);
	format_yaml(&file->text, chart.values);
}

/* --- package repositories --------------------------------------------------------------------- */

static char *repo_file(const struct render *r, const char *url)
{
	return xasprintf("[railhead-packages]\n"
			 "name=Packages that the driver container installs\n"
			 "baseurl=%s\n"
			 "enabled=1\n"
			 "gpgcheck=1\n"
			 "gpgkey=file:///etc/pki/rpm-gpg/RPM-GPG-KEY-redhat-release\n"
			 "%s",
			 url,
			 packages_need_ca(r) ?
				 "sslcacert=/etc/pki/ca-trust/extracted/pem/" CA_KEY "\n" :
				 "");
}

static void render_repositories(struct render *r)
{
	const char *url = json_string_value(render_declared(r, "/registry/packages_url"));
	const char *config = repo_config(r);
	_cleanup_free_ char *repo = NULL;
	struct render_file *file;
	json_t *data;

	if (!builds_driver(r))
		return;
	if (!config || !url) {
		if (is_air_gapped(r))
			render_note(r, "gpu-operator/repositories.yaml: the driver container builds "
				       "in an air gap, and registry/packages_url is not declared");
		return;
	}
	if (!gpu_nodes_are_rhel(r)) {
		render_note(r, "gpu-operator/repositories.yaml: known for RHEL and Rocky Linux only; "
			       "ConfigMap %s has to be written by hand", config);
		return;
	}
	repo = repo_file(r, url);
	data = manifest_pack("{ssss}", "railhead.repo", repo, "ubi.repo",
			     "# Empty: the image's own file of this name would need the internet.\n");
	file = render_file_add(r, 0644, "package repositories of the driver container",
			       "gpu-operator/repositories.yaml");
	manifest_add(file,
		     "Each key becomes a file of /etc/yum.repos.d in the driver container. It reads "
		     "the metadata of\nevery enabled repository first, and fails when one of them "
		     "cannot be reached.",
		     manifest_pack("{ssss s{ssss} so}", "apiVersion", "v1", "kind", "ConfigMap",
				   "metadata", "name", config, "namespace",
				   cluster_operator_namespace(r), "data", data));
}

/* --- installing ------------------------------------------------------------------------------- */

static void render_install(struct render *r, const char *version)
{
	const char *files = json_string_value(render_declared(r, "/registry/files_url"));
	const char *ca = json_string_value(render_declared(r, "/registry/ca_file"));
	const char *secret = json_string_value(render_declared(r, "/registry/pull_secret"));
	bool air_gapped = is_air_gapped(r);
	bool repositories = repo_config(r) && render_declared(r, "/registry/packages_url") &&
			    gpu_nodes_are_rhel(r);
	_cleanup_free_ char *chart = NULL;
	struct render_file *file;

	if (files)
		chart = xasprintf("%s/" CHART_HOST_PATH "/gpu-operator-%s.tgz", files, version);
	else if (air_gapped)
		chart = xasprintf("gpu-operator-%s.tgz", version);
	else
		chart = xasprintf("https://" CHART_HOST_PATH "/gpu-operator-%s.tgz", version);
	file = render_file_add(r, 0644, "settings of install.sh", "gpu-operator/settings.sh");
	scripts_setting(file, "CHART", chart);
	scripts_setting(file, "VERSION", version);
	scripts_setting(file, "NAMESPACE", cluster_operator_namespace(r));
	scripts_setting(file, "PULL_SECRET", secret ? secret : "");
	scripts_setting(file, "REPOSITORIES", repositories ? "repositories.yaml" : "");
	scripts_setting(file, "CA_FILE", ca ? ca : "");
	scripts_setting(file, "CA_CONFIGMAP",
			repo_config(r) && packages_need_ca(r) ? CA_CONFIGMAP : "");
	scripts_setting(file, "CA_KEY", CA_KEY);
	scripts_add(r, "gpu-operator-install", "install, check or remove the GPU Operator",
		    "gpu-operator/install.sh");
}

void render_gpu_operator(struct render *r)
{
	_cleanup_free_ char *version = cluster_operator_version(r);
	struct render_file *file;

	if (!version) {
		render_note(r, "gpu-operator: the site declares no gpu_operator/version");
		return;
	}
	refuse_contradictions(r);
	file = render_file_add(r, 0644, "namespace of the GPU Operator",
			       "gpu-operator/namespace.yaml");
	manifest_add(file,
		     "Privileged: the driver and toolkit containers load kernel modules and write to "
		     "the host.",
		     manifest_namespace(cluster_operator_namespace(r), "privileged"));
	render_values(r, version);
	render_repositories(r);
	render_install(r, version);
}
