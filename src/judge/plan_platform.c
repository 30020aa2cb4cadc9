/* SPDX-License-Identifier: Apache-2.0 */
/* plan.os-matrix and plan.kubespray: do operating system, Kubernetes and what installs fit? */
#include <string.h>

#include "base/text.h"
#include "judge/plan.h"

/* Names in one message. */
#define NAMES_MAX 8

static const char *system_text(struct judging *g, const struct site_node *node)
{
	return judge_text(g, "%s %s", node->os_id, node->os_version);
}

/* False: os.id or os.version is not declared, and the verdict says so. */
static bool system_declared(struct judging *g, const struct plan_case *c)
{
	const struct site_node *node = c->node;

	if (node->os_id && node->os_version) {
		fact_declared(g, &node->where, json_text_new(node->os_id), "/nodes/%s/os/id",
			      node->name);
		fact_declared(g, &node->where, json_text_new(node->os_version),
			      "/nodes/%s/os/version", node->name);
		return true;
	}
	judge_unknown(g, judge_text(g, "declare nodes/%s/os: {id: rhel, version: \"10.2\"}",
				    node->name),
		      "the operating system of %s is not declared", plan_nodes(g, c));
	return false;
}

/* Kubernetes version of the site, or NULL: the verdict is unknown then. */
static const char *kubernetes_version(struct judging *g)
{
	const char *version = declared_string(g, "/kubernetes/version");

	if (!version)
		judge_unknown(g, "declare kubernetes/version",
			      "the Kubernetes version is not declared");
	return version;
}

/* --- plan.os-matrix --------------------------------------------------------------------------- */

/* What the rows of one release line say of a system, from the best fit down. */
struct fit {
	json_t *row;		/* everything fits */
	json_t *system_row;	/* the system stands in it, Kubernetes is out of range */
	json_t *os_versions;	/* versions of this system in the line; owned */
	json_t *systems;	/* all systems of the line; owned */
};

static void fit_clear(struct fit *fit)
{
	json_decref(fit->os_versions);
	json_decref(fit->systems);
}

static struct fit fit_of(struct judging *g, const char *line, const struct site_node *node,
			 const char *kubernetes)
{
	struct fit fit = { .os_versions = json_array_new(), .systems = json_array_new() };
	json_t *row, *version;
	size_t i, k;

	json_array_foreach(plan_rows(g, "platforms"), i, row) {
		const char *os = json_get_string(row, "os", "");
		json_t *versions = json_object_get(row, "os_versions");

		if (strcmp(json_get_string(row, "operator", ""), line))
			continue;
		if (!plan_has(fit.systems, os))
			json_append_text(fit.systems, os);
		if (strcmp(os, node->os_id))
			continue;
		json_array_foreach(versions, k, version) {
			if (!plan_has(fit.os_versions, json_string_value(version)))
				json_append_text(fit.os_versions, json_string_value(version));
		}
		if (!plan_has(versions, node->os_version))
			continue;
		if (plan_in_range(kubernetes, json_object_get(row, "kubernetes")))
			fit.row = fit.row ?: row;
		else
			fit.system_row = fit.system_row ?: row;
	}
	return fit;
}

/* Other release lines whose rows hold this system and Kubernetes version. */
static void other_lines(struct judging *g, const char *line, const struct site_node *node,
			const char *kubernetes)
{
	const char *last = "";
	json_t *row;
	size_t i;

	json_array_foreach(plan_rows(g, "platforms"), i, row) {
		const char *other = json_get_string(row, "operator", "");

		if (!strcmp(other, line) || !strcmp(other, last) ||
		    strcmp(json_get_string(row, "os", ""), node->os_id) ||
		    !plan_has(json_object_get(row, "os_versions"), node->os_version) ||
		    !plan_in_range(kubernetes, json_object_get(row, "kubernetes")))
			continue;
		judge_option(g, "GPU Operator %s lists %s with Kubernetes %s", other,
			     system_text(g, node),
			     plan_range_text(g, json_object_get(row, "kubernetes")));
		last = other;
	}
}

static void judge_system(struct judging *g, const struct plan_case *c, const char *line,
			 const char *kubernetes)
{
	const struct site_node *node = c->node;
	__attribute__((cleanup(fit_clear))) struct fit fit = fit_of(g, line, node, kubernetes);

	if (fit.row) {
		fact_row(g, fit.row);
		judge_pass(g, "%s with Kubernetes %s stands in the row of GPU Operator %s (%s)",
			   system_text(g, node), kubernetes, line, plan_row_text(g, fit.row));
		return;
	}
	if (fit.system_row) {
		json_t *range = json_object_get(fit.system_row, "kubernetes");

		fact_row(g, fit.system_row);
		judge_fail(g, "kubernetes-out-of-range",
			   judge_text(g, "Kubernetes %s", plan_range_text(g, range)),
			   "Kubernetes %s is out of range: GPU Operator %s lists %s (%s) with %s "
			   "(%s)", kubernetes, line, system_text(g, node), plan_nodes(g, c),
			   plan_range_text(g, range), plan_row_text(g, fit.system_row));
	} else if (json_array_size(fit.os_versions)) {
		judge_fail(g, "os-version-not-listed",
			   judge_text(g, "%s %s", node->os_id,
				      plan_list(g, fit.os_versions, NAMES_MAX)),
			   "%s of %s is not listed: GPU Operator %s lists %s %s",
			   system_text(g, node), plan_nodes(g, c), line, node->os_id,
			   plan_list(g, fit.os_versions, NAMES_MAX));
	} else if (json_array_size(fit.systems)) {
		judge_fail(g, "os-not-listed",
			   judge_text(g, "one of %s", plan_list(g, fit.systems, NAMES_MAX)),
			   "%s of %s is not listed: GPU Operator %s lists %s", node->os_id,
			   plan_nodes(g, c), line, plan_list(g, fit.systems, NAMES_MAX));
	} else {
		judge_unknown(g, "add its rows to the table `platforms` (--data DIR), or declare a "
				 "GPU Operator that the matrix knows",
			      "the support matrix has no row for GPU Operator %s", line);
		return;
	}
	other_lines(g, line, node, kubernetes);
}

/* Is a system in a GPUDirect Storage row of this line? NULL when it is not. */
static json_t *gds_row(const struct judging *g, const char *line, const struct site_node *node)
{
	json_t *row;
	size_t i;

	json_array_foreach(plan_rows(g, "gpudirect-storage"), i, row) {
		if (!strcmp(json_get_string(row, "operator", ""), line) &&
		    !strcmp(json_get_string(row, "os", ""), node->os_id) &&
		    plan_has(json_object_get(row, "os_versions"), node->os_version))
			return row;
	}
	return NULL;
}

/* GPUDirect Storage has a table of its own, and precompiled drivers are without it
 * (precompiled-drivers.rst). */
static void judge_gds(struct judging *g, const struct plan_cases *systems, const char *line)
{
	json_t *table = plan_row(g, "gpudirect-storage", "operator", line);

	if (!plan_helm_bool(g, false, "gds.enabled"))
		return;
	if (plan_helm_bool(g, true, "driver.enabled") &&
	    plan_helm_bool(g, false, "driver.usePrecompiled"))
		judge_fail(g, "gds-precompiled", "gpu_operator.gds: false, or a driver container "
						 "that compiles",
			   "gds is on and the driver is precompiled: such driver containers do not "
			   "support GPUDirect Storage");
	if (!table) {
		judge_unknown(g, "add its rows to the table `gpudirect-storage` (--data DIR)",
			      "the support matrix has no GPUDirect Storage row of GPU Operator %s",
			      line);
		return;
	}
	for (size_t i = 0; i < systems->n; i++) {
		const struct plan_case *c = &systems->list[i];
		json_t *row;

		if (!c->node->os_id || !c->node->os_version)
			continue;
		row = gds_row(g, line, c->node);
		fact_row(g, row ? row : table);
		if (!row)
			judge_warn(g, "gds-os-not-listed",
				   "gpu_operator.gds: false: objects reach the GPU by DMA-BUF and "
				   "verbs, not through nvidia-fs",
				   "gds is on, and %s of %s is in no GPUDirect Storage row of GPU "
				   "Operator %s (%s)", system_text(g, c->node), plan_nodes(g, c),
				   line, plan_row_text(g, table));
	}
	judge_unverified(g, NULL, "secure boot is off on the GPU nodes: GPUDirect Storage is not "
				  "supported with it");
}

void judge_plan_os_matrix(struct judging *g)
{
	_cleanup_plan_cases_ struct plan_cases systems = {0};
	const char *version, *kubernetes;

	if (!json_at(g->site->document, "/gpu_operator")) {
		judge_na(g, "no GPU Operator is declared");
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
	kubernetes = kubernetes_version(g);
	if (!kubernetes)
		return;
	judge_gds(g, &systems, plan_line(g, version));
	for (size_t i = 0; i < systems.n; i++) {
		if (system_declared(g, &systems.list[i]))
			judge_system(g, &systems.list[i], plan_line(g, version), kubernetes);
	}
}

/* --- plan.kubespray --------------------------------------------------------------------------- */

/* Is this system in a row's `os`? The row names whole releases: "10" stands for 10.2. */
static bool lists_system(json_t *row, const struct site_node *node)
{
	json_t *versions = json_at(row, "/os/%s", node->os_id), *version;
	size_t i;

	json_array_foreach(versions, i, version) {
		const char *listed = json_string_value(version);
		size_t len = listed ? strlen(listed) : 0;

		if (len && !strncmp(node->os_version, listed, len) &&
		    (!node->os_version[len] || node->os_version[len] == '.'))
			return true;
	}
	return false;
}

/* Has the release checksums for this version? Of each minor version up to its newest patch. */
static bool installs_version(struct judging *g, json_t *row, const char *kubernetes)
{
	json_t *range = json_object_get(row, "kubernetes"), *newest, *patch;
	const char *line = plan_line(g, kubernetes);
	size_t i;

	newest = json_object_get(range, "newest");
	if (!newest)
		return plan_in_range(kubernetes, range);
	json_array_foreach(newest, i, patch) {
		const char *version = json_string_value(patch);

		if (version && !strcmp(plan_line(g, version), line))
			return text_version_compare(text_version_number(kubernetes),
						    version) <= 0 &&
			       plan_in_range(kubernetes, range);
	}
	return false;
}

/* "1.32.11, 1.33.7 and 1.34.3" of each minor version, else the range. */
static const char *installable(struct judging *g, json_t *row)
{
	json_t *newest = json_at(row, "/kubernetes/newest");

	return newest ? judge_text(g, "up to %s", plan_list(g, newest, NAMES_MAX)) :
			plan_range_text(g, json_object_get(row, "kubernetes"));
}

/* Releases that take both, as ways out. */
static void other_releases(struct judging *g, const struct site_node *node, const char *kubernetes)
{
	json_t *row;
	size_t i;

	json_array_foreach(plan_rows(g, "kubespray"), i, row) {
		if (lists_system(row, node) && installs_version(g, row, kubernetes))
			judge_option(g, "Kubespray %s with kube_version %s: it lists %s and "
					"installs Kubernetes %s",
				     json_get_string(row, "release", "?"),
				     text_version_number(kubernetes), system_text(g, node), installable(g, row));
	}
}

static void judge_release(struct judging *g, json_t *row, const struct plan_case *c,
			  const char *kubernetes)
{
	const char *release = json_get_string(row, "release", "?");
	const char *usual = json_get_string(json_object_get(row, "kubernetes"), "default", "?");
	bool lists = lists_system(row, c->node), installs = installs_version(g, row, kubernetes);
	json_t *versions = json_at(row, "/os/%s", c->node->os_id);

	if (lists && installs) {
		judge_pass(g, "Kubespray %s lists %s and installs Kubernetes %s%s (%s)", release,
			   system_text(g, c->node), installable(g, row),
			   strcmp(usual, text_version_number(kubernetes)) ?
				   judge_text(g, "; its default is %s, so kube_version: %s is set",
					      usual, text_version_number(kubernetes)) :
				   "",
			   plan_row_text(g, row));
		return;
	}
	if (!installs)
		judge_fail(g, "kubespray-kubernetes",
			   judge_text(g, "Kubernetes %s, or another release", installable(g, row)),
			   "Kubespray %s has no checksums for Kubernetes %s: it installs %s (%s)",
			   release, kubernetes, installable(g, row), plan_row_text(g, row));
	if (!lists)
		judge_fail(g, "kubespray-os", "a release that lists it",
			   "Kubespray %s does not list %s (%s), it lists %s%s%s; it compares the "
			   "name of the system only and will not refuse (%s)",
			   release, system_text(g, c->node), plan_nodes(g, c),
			   versions ? c->node->os_id : "other systems", versions ? " " : "",
			   versions ? plan_list(g, versions, NAMES_MAX) : "",
			   plan_row_text(g, row));
	other_releases(g, c->node, kubernetes);
}

/* Does Kubespray install this node? Workers, and what the control plane names. */
static bool is_installed(const struct judging *g, const struct site_node *node, json_t *control)
{
	return plan_has(control, node->name) || plan_has_role(g, node, PLAN_WORKERS);
}

void judge_plan_kubespray(struct judging *g)
{
	json_t *control = json_at(g->site->document, "/kubernetes/control_plane");
	_cleanup_plan_cases_ struct plan_cases systems = {0};
	const char *release, *kubernetes;
	json_t *row;

	if (!json_at(g->site->document, "/kubernetes/kubespray")) {
		judge_na(g, "Kubespray is not declared");
		return;
	}
	release = declared_string(g, "/kubernetes/kubespray/version");
	if (!release) {
		judge_unknown(g, "declare kubernetes/kubespray/version",
			      "the release of Kubespray is not declared");
		return;
	}
	kubernetes = kubernetes_version(g);
	row = plan_row(g, "kubespray", "release",
		       judge_text(g, "v%s", text_version_number(release)));
	if (!kubernetes)
		return;
	if (!row) {
		judge_unknown(g, "add its row to the table `kubespray` (--data DIR), or declare a "
				 "release that the matrix knows",
			      "the support matrix has no row for Kubespray %s", release);
		return;
	}
	fact_row(g, row);
	for (size_t i = 0; i < g->site->n_nodes; i++) {
		const struct site_node *node = &g->site->nodes[i];

		if (is_installed(g, node, control))
			plan_case_add(&systems, node, NULL, "%s\n%s", node->os_id ?: "",
				      node->os_version ?: "");
	}
	if (!systems.n)
		judge_na(g, "no node is installed by Kubespray");
	for (size_t i = 0; i < systems.n; i++) {
		if (system_declared(g, &systems.list[i]))
			judge_release(g, row, &systems.list[i], kubernetes);
	}
}
