/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mirror of an air-gapped site: what has to be in it, a script that copies, and one that proves
 * that nothing is missing.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/strings.h"
#include "base/text.h"
#include "render/cluster.h"
#include "render/format.h"
#include "render/images.h"
#include "render/kubespray.h"
#include "render/scripts.h"

/* --- images ----------------------------------------------------------------------------------- */

static void render_images(struct render *r)
{
	_cleanup_images_ struct render_images images = {0};
	struct render_file *file;

	images_collect(r, &images);
	file = render_file_add(r, 0644,
			       "container images: where they come from and where nodes find them",
			       "mirror/images.txt");
	format_comment(&file->text,
		       "Images that this site pulls: SOURCE TARGET, and who pulls it.");
	if (kubespray_declared(r))
		format_comment(&file->text,
			       "Those of Kubernetes itself are listed by its installer: see "
			       "kubespray.sh beside this file.");
	for (size_t i = 0; i < images.n; i++) {
		const struct render_image *image = &images.list[i];

		if (!i || strcmp(image->target, images.list[i - 1].target))
			strbuf_printf(&file->text, "%s %s  # %s\n", image->source, image->target,
				      image->why);
		else if (strcmp(image->source, images.list[i - 1].source))
			render_refuse(r, "%s and %s would be the same image of the mirror, %s",
				      images.list[i - 1].source, image->source, image->target);
	}
}

static void render_mirrors(struct render *r)
{
	struct render_file *file = render_file_add(r, 0644, "mirrors of upstream registries",
						   "mirror/mirrors.txt");
	const char *upstream;
	json_t *mirror;

	format_comment(&file->text, "UPSTREAM MIRROR, as registry/mirrors has them.");
	json_object_foreach(render_declared(r, "/registry/mirrors"), upstream, mirror)
		strbuf_printf(&file->text, "%s %s\n", upstream, json_string_value(mirror));
}

/* --- files ------------------------------------------------------------------------------------ */

static void add_file(struct render_file *file, const char *path)
{
	strbuf_printf(&file->text, "https://%s %s\n", path, path);
}

static void render_files(struct render *r)
{
	struct render_file *file = render_file_add(r, 0644, "files that are not images",
						   "mirror/files.txt");
	_cleanup_free_ char *operator = cluster_operator_version(r);
	_cleanup_free_ char *cilium = kubespray_cilium_chart(r);

	format_comment(&file->text, "Files that are served as registry/files_url: URL PATH. The "
				    "original domains are the top folders.");
	if (operator) {
		_cleanup_free_ char *chart = xasprintf(
			"helm.ngc.nvidia.com/nvidia/charts/gpu-operator-%s.tgz", operator);

		add_file(file, chart);
	}
	if (cilium) {
		_cleanup_free_ char *chart = xasprintf("helm.cilium.io/cilium-%s.tgz", cilium);

		add_file(file, "helm.cilium.io/index.yaml");
		add_file(file, chart);
	}
}

/* --- packages --------------------------------------------------------------------------------- */

static bool is_rhel(const struct site_node *node)
{
	return node->os_id && (!strcmp(node->os_id, "rhel") || !strcmp(node->os_id, "rocky") ||
			       !strcmp(node->os_id, "almalinux") || !strcmp(node->os_id, "ol"));
}

/* Names of packages by why they are needed. A list of names ends with NULL; "KERNEL" behind a name
 * stands for the declared kernel: a name of a package and `uname -r` make its full name. */
struct package_group {
	const char *why;
	bool (*wants)(const struct render *r, const struct site_node *node);
	const char *const *names;
};

static bool builds_driver(const struct render *r, const struct site_node *node)
{
	return cluster_has_gpus(node) && cluster_is_worker(r, node) &&
	       render_declared(r, "/gpu_operator/version") &&
	       !json_is_false(render_declared(r, "/gpu_operator/driver/enabled")) &&
	       !json_is_true(render_declared(r, "/gpu_operator/driver/precompiled"));
}

static bool has_rdma(const struct render *r, const struct site_node *node)
{
	(void)r;
	return node->n_rdma != 0;
}

static bool builds_nic_driver(const struct render *r, const struct site_node *node)
{
	(void)r;
	for (size_t i = 0; i < node->n_drivers; i++) {
		if (!strcmp(node->drivers[i].source, "out-of-tree"))
			return true;
	}
	return false;
}

/* NVIDIA/gpu-driver-container, rhel10/nvidia-driver: what it installs with dnf. */
static const char *const driver_packages[] = {
	"elfutils-libelf", "elfutils-libelf-devel", "gcc", "kernel-KERNEL", "kernel-devel-KERNEL",
	"kernel-headers-KERNEL", NULL,
};
/* rdma-core and its tools; dcb and rdma are of iproute */
static const char *const rdma_packages[] = {
	"ethtool", "iproute", "libibverbs", "libibverbs-utils", "librdmacm-utils", "perftest",
	"rdma-core", NULL,
};
/* README of Intel's ice and irdma sources: to build modules against the running kernel */
static const char *const nic_packages[] = {
	"elfutils-libelf-devel", "gcc", "kernel-devel-KERNEL", "make", "rpm-build", NULL,
};
static const struct package_group package_groups[] = {
	{ "GPU driver container, built on each node", builds_driver, driver_packages },
	{ "hosts with RDMA ports", has_rdma, rdma_packages },
	{ "out-of-tree NIC drivers", builds_nic_driver, nic_packages },
};

/* "kernel-devel-KERNEL" of a node: with its pattern, or the bare name when it declares none. */
static char *package_name(const char *name, const struct site_node *node)
{
	size_t len = strlen(name);

	if (!text_ends_with(name, "-KERNEL"))
		return xstrdup(name);
	len -= strlen("-KERNEL");
	return node->kernel ? xasprintf("%.*s-%s", (int)len, name, node->kernel) :
			      xstrndup(name, len);
}

static void add_group(struct render *r, struct render_file *file,
		      const struct package_group *group, json_t *seen)
{
	bool first = true;

	for (size_t i = 0; i < r->site->n_nodes; i++) {
		const struct site_node *node = &r->site->nodes[i];

		if (!is_rhel(node) || !group->wants(r, node))
			continue;
		for (const char *const *name = group->names; *name; name++) {
			_cleanup_free_ char *package = package_name(*name, node);

			if (json_object_get(seen, package))
				continue;
			json_put_bool(seen, package, true);
			if (first)
				strbuf_printf(&file->text, "\n# %s\n", group->why);
			first = false;
			strbuf_printf(&file->text, "%s\n", package);
		}
	}
}

static void render_packages(struct render *r)
{
	struct render_file *file = render_file_add(r, 0644, "RPM packages", "mirror/packages.txt");
	_cleanup_json_ json_t *seen = json_object_new();
	const struct site_node *other = NULL;

	format_comment(&file->text,
		       "Packages that nodes and the driver container install, a name or a pattern of "
		       "name-version-release.arch\nper line. On a connected machine of the same "
		       "release:\n"
		       "  dnf download --resolve --alldeps --destdir packages $(grep -v '^#' "
		       "packages.txt)\n"
		       "  createrepo_c packages\n"
		       "and serve that folder as registry/packages_url. Kubespray installs more: its "
		       "roles/system_packages.");
	for (size_t i = 0; i < ARRAY_SIZE(package_groups); i++)
		add_group(r, file, &package_groups[i], seen);
	for (size_t i = 0; i < r->site->n_nodes && !other; i++) {
		const struct site_node *node = &r->site->nodes[i];

		if (!is_rhel(node) && (node->n_rdma || cluster_has_gpus(node)))
			other = node;
	}
	if (other)
		render_note(r, "mirror/packages.txt: packages are known for RHEL and its kin only; "
			       "%s has %s", other->name,
			    other->os_id ? other->os_id : "no declared system");
}

/* --- all -------------------------------------------------------------------------------------- */

void render_mirror(struct render *r)
{
	const char *ca = json_string_value(render_declared(r, "/registry/ca_file"));
	const char *files = json_string_value(render_declared(r, "/registry/files_url"));
	const char *packages = json_string_value(render_declared(r, "/registry/packages_url"));
	const char *version = r->site->kubernetes_version;
	struct render_file *file;

	if (!render_declared(r, "/registry")) {
		render_note(r, "mirror: the site declares no registry");
		return;
	}
	render_images(r);
	render_mirrors(r);
	render_files(r);
	render_packages(r);
	file = render_file_add(r, 0644, "settings of the scripts beside it", "mirror/settings.sh");
	scripts_setting(file, "CA_FILE", ca ? ca : "");
	scripts_setting(file, "FILES_URL", files ? files : "");
	scripts_setting(file, "PACKAGES_URL", packages ? packages : "");
	scripts_setting(file, "KUBE_VERSION", version ? text_version_number(version) : "");
	scripts_add(r, "mirror-copy", "copy images and files to the mirror", "mirror/copy.sh");
	scripts_add(r, "mirror-verify", "prove that the mirror is complete", "mirror/verify.sh");
	if (kubespray_declared(r))
		scripts_add(r, "mirror-kubespray", "list images and files of Kubespray",
			    "mirror/kubespray.sh");
}
