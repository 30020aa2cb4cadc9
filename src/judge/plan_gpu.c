/* SPDX-License-Identifier: Apache-2.0 */
/* plan.gpu-matrix and plan.kernel-module: the GPU, its driver and its kernel module. */
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/text.h"
#include "judge/plan.h"

/* gpu-driver-container: `auto` is understood by the containers of 570.86.15 and 570.124.06 and of
 * all later branches */
#define AUTO_SINCE "570.86.15"

/* --- plan.gpu-matrix -------------------------------------------------------------------------- */

static json_t *gpu_row(const struct judging *g, const struct site_gpu *gpu)
{
	json_t *row, *by_name = NULL;
	size_t i;

	json_array_foreach(plan_rows(g, "gpus"), i, row) {
		if (gpu->pci_id && plan_has(json_object_get(row, "pci_ids"), gpu->pci_id))
			return row;
		if (!strcasecmp(json_get_string(row, "model", ""), gpu->model))
			by_name = row;
	}
	return by_name;
}

static void gpu_cases(const struct judging *g, struct plan_cases *cases)
{
	for (size_t i = 0; i < g->site->n_nodes; i++) {
		const struct site_node *node = &g->site->nodes[i];

		for (size_t k = 0; k < node->n_gpus; k++) {
			const struct site_gpu *gpu = &node->gpus[k];

			plan_case_add(cases, node, gpu, "%s\n%s\n%s\n%s", gpu->model,
				      gpu->pci_id ?: "", gpu->driver_min ?: "",
				      gpu->driver_max ?: "");
		}
	}
}

/* A precompiled driver is declared by its branch, "580": it meets every bound of that branch. */
static int driver_compare(const char *driver, const char *bound)
{
	_cleanup_free_ char *branch = xstrndup(bound, strcspn(bound, "."));

	return text_version_compare(driver, strchr(driver, '.') ? bound : branch);
}

/* The driver against the row and against the node's own range. False: it fails. */
static bool driver_fits(struct judging *g, const struct plan_case *c, json_t *row,
			const char *driver)
{
	const struct site_gpu *gpu = c->what;
	const char *min = json_get_string(row, "driver_min", NULL);
	bool fits = true;

	if (min && driver_compare(driver, min) < 0) {
		judge_fail(g, "gpu-driver-too-old",
			   judge_text(g, "a driver from %s on (gpu_operator.driver.version)", min),
			   "driver %s does not know the %s of %s: %s is the first that does (%s)",
			   driver, gpu->model, plan_nodes(g, c), min, plan_row_text(g, row));
		return false;
	}
	if (gpu->driver_min && driver_compare(driver, gpu->driver_min) < 0)
		fits = false;
	if (gpu->driver_max && driver_compare(driver, gpu->driver_max) > 0)
		fits = false;
	if (!fits)
		judge_fail(g, "gpu-driver-out-of-range",
			   "make gpu_operator.driver.version and the range of the GPU agree",
			   "driver %s is outside the range that %s declares for its %s: %s to %s",
			   driver, plan_nodes(g, c), gpu->model, gpu->driver_min ?: "any",
			   gpu->driver_max ?: "any");
	else if (min && !strchr(driver, '.') && !driver_compare(driver, min))
		judge_unverified(g, "gpu.driver", "the precompiled driver of branch %s is %s or "
						  "later, the first that knows the %s", driver, min,
				 gpu->model);
	return fits;
}

/* Does any row of `gpus` speak of this release line? */
static bool knows_line(struct judging *g, const char *version)
{
	const char *line = plan_line(g, version);
	json_t *row;
	size_t i;

	json_array_foreach(plan_rows(g, "gpus"), i, row) {
		if (plan_has(json_object_get(row, "operators"), line))
			return true;
	}
	return false;
}

/* Does any row of `gpu-drivers` speak of this operator? */
static bool knows_drivers(const struct judging *g, const char *version)
{
	json_t *row;
	size_t i;

	json_array_foreach(plan_rows(g, "gpu-drivers"), i, row) {
		if (!strcmp(text_version_number(json_get_string(row, "operator", "")),
			    text_version_number(version)))
			return true;
	}
	return false;
}

/* Is the model listed for the operator's release line, and the driver's branch for the operator? */
static bool operator_fits(struct judging *g, const struct plan_case *c, json_t *row,
			  const char *version, const char *driver)
{
	const struct site_gpu *gpu = c->what;
	json_t *lines = json_object_get(row, "operators"), *listed;

	if (!knows_line(g, version)) {
		judge_unknown(g, "add its line to the rows of the table `gpus` (--data DIR), or "
				 "declare a GPU Operator that the matrix knows",
			      "the support matrix does not say which GPUs GPU Operator %s lists",
			      version);
		return false;
	}
	if (!plan_has(lines, plan_line(g, version))) {
		judge_fail(g, "gpu-not-in-operator",
			   judge_text(g, "GPU Operator %s", plan_list(g, lines, 8)),
			   "GPU Operator %s does not list the %s of %s; %s do (%s)", version,
			   gpu->model, plan_nodes(g, c), plan_list(g, lines, 8),
			   plan_row_text(g, row));
		return false;
	}
	if (!knows_drivers(g, version)) {
		judge_unknown(g, "add its rows to the table `gpu-drivers` (--data DIR), or declare "
				 "a version that the matrix knows",
			      "the support matrix has no drivers of GPU Operator %s", version);
		return false;
	}
	listed = plan_gpu_driver_row(g, version, driver);
	if (!listed) {
		judge_warn(g, "gpu-driver-branch-not-listed",
			   "a branch that the operator's release notes list",
			   "the support matrix lists no driver of the branch of %s for GPU "
			   "Operator %s",
			   driver, version);
		return false;
	}
	fact_row(g, listed);
	if (strcmp(json_get_string(listed, "version", ""), driver))
		judge_unverified(g, "gpu.driver",
				 "driver %s is of a listed branch; GPU Operator %s lists %s of it",
				 driver, version, json_get_string(listed, "version", "?"));
	return true;
}

static void judge_gpu(struct judging *g, const struct plan_case *c, const char *version,
		      const char *driver)
{
	const struct site_gpu *gpu = c->what;
	json_t *row = gpu_row(g, gpu);

	fact_declared(g, &gpu->where, json_text_new(gpu->model), "/nodes/%s/gpus/%s",
		      c->node->name, gpu->model);
	if (!row) {
		judge_unknown(g, "add its row to the table `gpus` (--data DIR), or correct the "
				 "model",
			      "the support matrix has no row for the GPU %s of %s", gpu->model,
			      plan_nodes(g, c));
		return;
	}
	fact_row(g, row);
	if (gpu->pci_id && json_array_size(json_object_get(row, "pci_ids")) &&
	    !plan_has(json_object_get(row, "pci_ids"), gpu->pci_id))
		judge_warn(g, "gpu-pci-id-differs", "correct the model or its pci_id",
			   "%s declares a %s with PCI id %s; the matrix knows it as %s (%s)",
			   plan_nodes(g, c), gpu->model, gpu->pci_id,
			   plan_list(g, json_object_get(row, "pci_ids"), 4), plan_row_text(g, row));
	if (!driver) {
		judge_unknown(g, "declare gpu_operator/driver/version",
			      "the driver version for the %s of %s is not declared", gpu->model,
			      plan_nodes(g, c));
		return;
	}
	if (!driver_fits(g, c, row, driver))
		return;
	if (version && !operator_fits(g, c, row, version, driver))
		return;
	judge_pass(g, "%s with driver %s%s%s; its first is %s (%s)", gpu->model, driver,
		   version ? " of GPU Operator " : "", version ?: "",
		   json_get_string(row, "driver_min", "not known"), plan_row_text(g, row));
}

/* GPU nodes that declare no GPU, beside others that do. */
static void gpus_declared(struct judging *g)
{
	_cleanup_plan_cases_ struct plan_cases without = {0};

	for (size_t i = 0; i < g->site->n_nodes; i++) {
		const struct site_node *node = &g->site->nodes[i];

		if ((node->roles & SITE_ROLE_GPU) && !node->n_gpus)
			plan_case_add(&without, node, NULL, "without");
	}
	if (without.n)
		judge_unknown(g, judge_text(g, "declare nodes/%s/gpus: {B300: {count: 8}}",
					    without.list[0].node->name),
			      "the GPUs of %s are not declared",
			      plan_nodes(g, &without.list[0]));
}

void judge_plan_gpu_matrix(struct judging *g)
{
	_cleanup_plan_cases_ struct plan_cases gpus = {0};
	bool has_operator = json_at(g->site->document, "/gpu_operator");
	const char *version = NULL, *driver;

	gpu_cases(g, &gpus);
	if (!gpus.n) {
		if (plan_any(g, SITE_ROLE_GPU))
			gpus_declared(g);
		else
			judge_na(g, "no GPU is declared");
		return;
	}
	if (has_operator)
		version = plan_operator_version(g);
	driver = plan_gpu_driver(g);
	for (size_t i = 0; i < gpus.n; i++)
		judge_gpu(g, &gpus.list[i], version, driver);
	gpus_declared(g);
}

/* --- plan.kernel-module ----------------------------------------------------------------------- */

/* A GPU for which the chosen module does not exist. */
static bool module_fits_gpus(struct judging *g, const char *module)
{
	const char *cannot = !strcmp(module, "open") ? "closed-only" : "open-only";
	_cleanup_plan_cases_ struct plan_cases gpus = {0};
	bool fits = true;

	gpu_cases(g, &gpus);
	for (size_t i = 0; i < gpus.n; i++) {
		const struct site_gpu *gpu = gpus.list[i].what;
		json_t *row = gpu_row(g, gpu);

		if (strcmp(json_get_string(row, "kernel_module", ""), cannot))
			continue;
		fact_row(g, row);
		judge_fail(g, "gpu-without-module", "another GPU, or the other kernel module",
			   "the %s of %s has no %s kernel module (%s)", gpu->model,
			   plan_nodes(g, &gpus.list[i]), module, plan_row_text(g, row));
		fits = false;
	}
	return fits;
}

static void judge_auto(struct judging *g)
{
	const char *version = declared_string(g, "/gpu_operator/version");
	const char *driver = plan_gpu_driver(g), *ends;
	json_t *row;

	if (!driver) {
		judge_unknown(g, "declare gpu_operator/driver/version, or kernel_module_type: open",
			      "what `auto` ends as depends on the driver, and none is declared");
		return;
	}
	row = version ? plan_gpu_driver_row(g, version, driver) : NULL;
	ends = json_get_string(row, "auto_module", NULL);
	/* the row of another version of the branch does not speak for an old container */
	if (driver_compare(driver, AUTO_SINCE) < 0 &&
	    (!ends || strcmp(json_get_string(row, "version", ""), driver))) {
		judge_fail(g, "kernel-module-auto-not-understood", "kernel_module_type: open",
			   "the driver container %s does not understand `auto`, it came with %s",
			   driver, AUTO_SINCE);
		return;
	}
	if (!ends) {
		judge_unknown(g, "declare kernel_module_type: open",
			      "the support matrix does not say what `auto` ends as with driver %s",
			      driver);
		return;
	}
	fact_row(g, row);
	if (strcmp(ends, "open"))
		judge_fail(g, "kernel-module-auto-proprietary", "kernel_module_type: open",
			   "`auto` ends as %s with driver %s, and that module exports no DMA-BUF "
			   "(%s)", ends, driver, plan_row_text(g, row));
	else if (module_fits_gpus(g, ends))
		judge_pass(g, "`auto` ends as open with driver %s (%s)", driver,
			   plan_row_text(g, row));
	judge_unverified(g, "gpu.open-module", "`auto` has ended as the open kernel module");
}

void judge_plan_kernel_module(struct judging *g)
{
	bool gds = json_at(g->site->document, "/gpu_operator") &&
		   plan_helm_bool(g, false, "gds.enabled");
	const char *type;

	if ((!g->site->gpudirect && !gds) || !plan_any(g, SITE_ROLE_GPU)) {
		judge_na(g, "neither GPUDirect RDMA nor GPUDirect Storage is wanted, so no DMA-BUF "
			    "is");
		return;
	}
	if (!json_at(g->site->document, "/gpu_operator") ||
	    !plan_helm_bool(g, true, "driver.enabled")) {
		judge_na(g, "the driver is installed on the hosts, not by the GPU Operator");
		judge_unverified(g, "gpu.open-module", "the host's driver is the open kernel "
						       "module");
		return;
	}
	type = plan_helm(g, "driver.kernelModuleType");
	if (!type)
		judge_assume(g, "kernelModuleType auto, the chart's default");
	if (!type || !strcmp(type, "auto")) {
		judge_auto(g);
	} else if (!strcmp(type, "open")) {
		if (module_fits_gpus(g, type))
			judge_pass(g, "kernelModuleType is open");
	} else {
		judge_fail(g, "kernel-module-proprietary", "kernel_module_type: open",
			   "kernelModuleType is %s: the closed module exports no DMA-BUF%s", type,
			   gds ? ", and nvidia-fs needs the open one from 2.17.5 on" : "");
		module_fits_gpus(g, type);
	}
}
