/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.operator-repo: can the driver container be built where nodes reach nothing outside?
 *
 * On RHEL with containerd the operator mounts the subscription paths of the host into the driver
 * pod. Up to 26.3.3 it does so always, and the pod does not start where they are missing; from
 * 26.7.0 on it does not when driver.repoConfig is set (gpu-operator#1501, #980, PR #2391). Then the
 * container compiles on the node: it makes a cache of every enabled repository first, and one that
 * cannot be reached ends the build (gpu-driver-container rhel10/nvidia-driver).
 */
#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

#include "base/text.h"
#include "judge/plan.h"

#define MOUNTS_SKIPPED_SINCE "26.7.0"

static void options(struct judging *g, const char *version)
{
	if (text_version_compare(text_version_number(version), MOUNTS_SKIPPED_SINCE) < 0)
		judge_option(g, "GPU Operator v" MOUNTS_SKIPPED_SINCE " or later with "
				"driver.repoConfig (registry.packages_url, or "
				"gpu_operator.driver.repo_config): it leaves the paths out");
	else
		judge_option(g, "registry.packages_url or gpu_operator.driver.repo_config: the "
				"operator leaves the paths out when driver.repoConfig is set");
	judge_option(g, "a precompiled driver image that you build for this kernel "
			"(gpu_operator.driver.precompiled: true): no repository is needed then");
	judge_option(g, "the driver on the hosts (gpu_operator.driver.enabled: false; not tried "
			"with RHEL 10 and B300)");
	judge_option(g, "make /etc/pki/entitlement, /etc/yum.repos.d/redhat.repo and /etc/rhsm on "
			"each host and declare gpu_operator.driver.entitlement: true (inferred, "
			"not tried)");
}

/* The subscription paths. */
static void judge_mounts(struct judging *g, const struct plan_case *c, const char *version,
			 bool has_repo)
{
	bool skips = text_version_compare(text_version_number(version), MOUNTS_SKIPPED_SINCE) >= 0;

	if (skips && has_repo)
		return;
	if (declared_bool(g, false, "/gpu_operator/driver/entitlement")) {
		judge_warn(g, "entitlement-work-around",
			   "GPU Operator v" MOUNTS_SKIPPED_SINCE
			   " with driver.repoConfig needs none",
			   "GPU Operator %s mounts the subscription paths of %s, and they are "
			   "declared to exist: that this is enough follows from the source and was "
			   "not tried", version, plan_nodes(g, c));
		return;
	}
	judge_fail(g, "entitlement-paths",
		   "one of the options; /etc/pki/entitlement, /etc/yum.repos.d/redhat.repo and "
		   "/etc/rhsm are not declared to exist",
		   "GPU Operator %s%s mounts the subscription paths of RHEL into the driver pod on "
		   "%s, and the pod does not start where they are missing", version,
		   skips ? " without driver.repoConfig" : "", plan_nodes(g, c));
	options(g, version);
}

/*
 * Will the container have repositories of the mirror? The declared ConfigMap, else the one that
 * `railhead render` makes of registry.packages_url.
 */
static bool has_repository(struct judging *g)
{
	const char *url = declared_string(g, "/registry/packages_url");

	if (plan_helm(g, "driver.repoConfig.configMapName")) {
		if (!url)
			judge_assume(g, "the ConfigMap of driver.repo_config names repositories "
					"that the nodes reach");
		return true;
	}
	if (url)
		judge_assume(g, "driver.repoConfig made of registry.packages_url, as `railhead "
				"render` writes it");
	return url != NULL;
}

static void judge_repository(struct judging *g, const struct plan_case *c, bool has_repo)
{
	if (has_repo)
		return;
	judge_fail(g, "no-package-repository",
		   "registry.packages_url, or gpu_operator.driver.repo_config: NAME of a ConfigMap "
		   "with repositories of the mirror",
		   "no repository of the mirror is declared for the driver container: it would ask "
		   "the repositories of its image (ubi.repo), which nodes without a way out do not "
		   "reach, and that ends the build on %s", plan_nodes(g, c));
}

/* "kernel-devel-" and a kernel that the declared pattern matches, among the packages? */
static bool has_package(json_t *packages, const char *name, const char *kernel)
{
	size_t len = strlen(name), i;
	json_t *item;

	json_array_foreach(packages, i, item) {
		const char *package = json_string_value(item);

		if (!package || strncmp(package, name, len))
			continue;
		/* without a kernel in its name any version will do: "gcc", "gcc-14.2.1", not
		 * "gcc-c++" */
		if (!kernel && (!package[len] ||
				(package[len] == '-' && isdigit((unsigned char)package[len + 1]))))
			return true;
		if (kernel && package[len] == '-' && !fnmatch(kernel, package + len + 1, 0))
			return true;
	}
	return false;
}

static void judge_packages(struct judging *g, const struct plan_case *c)
{
	/* gpu-driver-container rhel10/nvidia-driver lines 40-201 */
	static const struct {
		const char *name;
		bool of_kernel;
	} needed[] = { { "kernel-devel", true },       { "kernel-headers", true },
		       { "kernel", true },	       { "gcc", false },
		       { "elfutils-libelf", false },   { "elfutils-libelf-devel", false } };
	json_t *packages = declared(g, "/registry/packages");
	_cleanup_json_ json_t *lacking = json_array_new();

	if (!packages) {
		judge_unverified(g, NULL, "kernel-devel, kernel-headers and gcc of the running "
					  "kernel are in the mirror: the rendered "
					  "mirror/verify.sh asks it");
		return;
	}
	if (!c->node->kernel) {
		judge_unknown(g, judge_text(g, "declare nodes/%s/kernel", c->node->name),
			      "the kernel of %s is not declared, so the list of packages cannot be "
			      "checked", plan_nodes(g, c));
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(needed); i++) {
		const char *kernel = needed[i].of_kernel ? c->node->kernel : NULL;

		if (!has_package(packages, needed[i].name, kernel))
			json_append_text(lacking,
					 kernel ? judge_text(g, "%s-%s", needed[i].name, kernel) :
						  needed[i].name);
	}
	if (json_array_size(lacking))
		judge_fail(g, "packages-missing", "mirror them, for each kernel that a node may "
						  "boot",
			   "registry.packages lacks %s, which the driver container of %s installs "
			   "before it compiles", plan_list(g, lacking, 6), plan_nodes(g, c));
}

static void judge_rhel(struct judging *g, const struct plan_case *c)
{
	const char *version = plan_operator_version(g);
	bool has_repo = has_repository(g);

	if (!version)
		return;
	judge_mounts(g, c, version, has_repo);
	judge_repository(g, c, has_repo);
	judge_packages(g, c);
	if (text_version_compare(text_version_number(version), MOUNTS_SKIPPED_SINCE) > 0)
		judge_unverified(g, "gpu.operator", "GPU Operator %s mounts as v" MOUNTS_SKIPPED_SINCE
						    " does, whose source was read", version);
	judge_pass(g, "GPU Operator %s with driver.repoConfig mounts no subscription paths, and "
		      "builds from the mirror", version);
	if (has_repo)
		judge_unverified(g, "gpu.operator",
				 "ubi.repo of the driver image stays enabled unless the ConfigMap "
				 "has a key of that name (inferred)");
}

static void judge_precompiled(struct judging *g)
{
	judge_pass(g, "the driver is precompiled: no repository is needed on the nodes");
	judge_unverified(g, "gpu.driver",
			 "a precompiled image for this kernel exists: NVIDIA publishes them for "
			 "Ubuntu only, for RHEL you build your own");
}

/* Distinct systems of the GPU nodes; the kernel too, for the list of packages. */
static void driver_nodes(const struct judging *g, struct plan_cases *cases)
{
	for (size_t i = 0; i < g->site->n_nodes; i++) {
		const struct site_node *node = &g->site->nodes[i];

		if (node->roles & SITE_ROLE_GPU)
			plan_case_add(cases, node, NULL, "%s\n%s", node->os_id ?: "",
				      node->kernel ?: "");
	}
}

void judge_plan_operator_repo(struct judging *g)
{
	_cleanup_plan_cases_ struct plan_cases systems = {0};
	bool rhel = false;

	driver_nodes(g, &systems);
	if (!json_at(g->site->document, "/gpu_operator") || !systems.n) {
		judge_na(g, "no GPU Operator with GPU nodes is declared");
		return;
	}
	if (!plan_helm_bool(g, true, "driver.enabled")) {
		judge_pass(g, "the driver is installed on the hosts: no driver container is built");
		judge_unverified(g, "gpu.driver", "the host's own driver package runs (not tried "
						  "with RHEL 10 and B300)");
		return;
	}
	if (!declared_bool(g, false, "/registry/air_gapped")) {
		judge_na(g, "the nodes are not declared as air-gapped");
		return;
	}
	if (plan_helm_bool(g, false, "driver.usePrecompiled")) {
		judge_precompiled(g);
		return;
	}
	for (size_t i = 0; i < systems.n; i++) {
		const struct plan_case *c = &systems.list[i];

		if (!c->node->os_id)
			judge_unknown(g, judge_text(g, "declare nodes/%s/os", c->node->name),
				      "the operating system of %s is not declared",
				      plan_nodes(g, c));
		else if (!strcmp(c->node->os_id, "rhel"))
			judge_rhel(g, c);
		rhel |= c->node->os_id && !strcmp(c->node->os_id, "rhel");
	}
	if (!rhel)
		judge_na(g, "the rule is about RHEL, and no GPU node has it");
}
