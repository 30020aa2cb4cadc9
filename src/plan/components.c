/* SPDX-License-Identifier: Apache-2.0 */
/* The bill of a site: what the site is asked, and the choice among a component's rules. */
#include "plan/bill.h"

#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "judge/plan.h"
#include "matrix/operator.h"

typedef bool (*question)(const struct bill *bill);

/* --- questions about the declaration ---------------------------------------------------------- */

static const char *declared_text(const struct bill *bill, const char *pointer)
{
	return json_string_value(json_pointer_get(bill->site->document, pointer));
}

static bool is_declared_true(const struct bill *bill, const char *pointer)
{
	return json_is_true(json_pointer_get(bill->site->document, pointer));
}

static bool is_text(const struct bill *bill, const char *pointer, const char *wanted)
{
	const char *text = declared_text(bill, pointer);

	return text && !strcmp(text, wanted);
}

static bool has_gpu(const struct bill *bill)
{
	for (size_t i = 0; i < bill->site->n_nodes; i++)
		if (bill->site->nodes[i].n_gpus)
			return true;
	return false;
}

/* Models with NVLink 5, whose driver container looks for the switch manager of the baseboard. */
static bool has_nvlink_5(const struct bill *bill)
{
	static const char *const models[] = { "B200", "B300", "GB200", "GB300" };

	for (size_t i = 0; i < bill->site->n_nodes; i++) {
		const struct site_node *node = &bill->site->nodes[i];

		for (size_t k = 0; k < node->n_gpus * ARRAY_SIZE(models); k++) {
			const char *model = models[k % ARRAY_SIZE(models)];

			if (text_starts_with(node->gpus[k / ARRAY_SIZE(models)].model, model))
				return true;
		}
	}
	return false;
}

static bool has_rdma(const struct bill *bill)
{
	for (size_t i = 0; i < bill->site->n_nodes; i++)
		if (bill->site->nodes[i].n_rdma)
			return true;
	return false;
}

static bool rdma_on(const struct bill *bill, bool vlan)
{
	for (size_t i = 0; i < bill->site->n_nodes; i++) {
		const struct site_node *node = &bill->site->nodes[i];

		for (size_t k = 0; k < node->n_rdma; k++) {
			const struct site_rdma *port = &node->rdma[k];

			if (vlan ? site_vlan_find(node, port->link) != NULL :
				   plan_bond_of(node, port) != NULL)
				return true;
		}
	}
	return false;
}

static bool rdma_on_bond(const struct bill *bill)
{
	return rdma_on(bill, false);
}

static bool rdma_on_vlan(const struct bill *bill)
{
	return rdma_on(bill, true);
}

static bool wants_gpudirect(const struct bill *bill)
{
	return bill->site->gpudirect;
}

static bool has_gpu_operator(const struct bill *bill)
{
	return json_object_get(bill->site->document, "gpu_operator");
}

static bool has_host_driver(const struct bill *bill)
{
	return !operator_bool(bill->site, true, "driver.enabled");
}

static bool is_precompiled(const struct bill *bill)
{
	return operator_bool(bill->site, false, "driver.usePrecompiled");
}

static bool wants_gds(const struct bill *bill)
{
	return operator_bool(bill->site, false, "gds.enabled");
}

static bool wants_gdrcopy(const struct bill *bill)
{
	return operator_bool(bill->site, false, "gdrcopy.enabled");
}

static bool wants_sandbox(const struct bill *bill)
{
	return operator_bool(bill->site, false, "sandboxWorkloads.enabled");
}

static bool has_kubernetes(const struct bill *bill)
{
	return bill->site->kubernetes;
}

static bool has_kubespray(const struct bill *bill)
{
	return json_pointer_get(bill->site->document, "/kubernetes/kubespray");
}

static bool pods_host_gid(const struct bill *bill)
{
	return is_text(bill, "/kubernetes/pod_rdma", "host-gid");
}

static bool pods_host_network(const struct bill *bill)
{
	return is_text(bill, "/kubernetes/pod_rdma", "host-network");
}

static bool pods_second_network(const struct bill *bill)
{
	return is_text(bill, "/kubernetes/pod_rdma", "second-network");
}

static bool pods_rdma_cm(const struct bill *bill)
{
	return is_declared_true(bill, "/kubernetes/rdma_cm");
}

static bool is_air_gapped(const struct bill *bill)
{
	return is_declared_true(bill, "/registry/air_gapped");
}

static bool wants_pfc(const struct bill *bill)
{
	const struct site_qos *qos = &bill->site->qos;

	/* a RoCE class is lossless unless it is declared not to be */
	if (qos->dcb.set && !qos->dcb.value)
		return false;
	return (qos->declared && (!qos->pfc.set || qos->pfc.value)) ||
	       is_declared_true(bill, "/switch/pfc");
}

static bool wants_ecn(const struct bill *bill)
{
	return (bill->site->qos.ecn.set && bill->site->qos.ecn.value) ||
	       json_pointer_get(bill->site->document, "/switch/ecn");
}

static bool has_storage(const struct bill *bill)
{
	return bill->site->storage;
}

static bool has_rdma_client(const struct bill *bill)
{
	const char *library = declared_text(bill, "/storage/client/library");

	return library && strcmp(library, "http") != 0;
}

static bool has_workload(const struct bill *bill)
{
	return bill->site->workload;
}

static const struct {
	uint32_t trait;
	question ask;
} questions[] = {
	{ HAS_RDMA, has_rdma },
	{ RDMA_ON_BOND, rdma_on_bond },
	{ RDMA_ON_VLAN, rdma_on_vlan },
	{ HAS_GPU, has_gpu },
	{ GPUDIRECT, wants_gpudirect },
	{ NVLINK_5, has_nvlink_5 },
	{ GPU_OPERATOR, has_gpu_operator },
	{ HOST_DRIVER, has_host_driver },
	{ PRECOMPILED, is_precompiled },
	{ WANTS_GDS, wants_gds },
	{ WANTS_GDRCOPY, wants_gdrcopy },
	{ SANDBOX, wants_sandbox },
	{ KUBERNETES, has_kubernetes },
	{ KUBESPRAY, has_kubespray },
	{ PODS_HOST_GID, pods_host_gid },
	{ PODS_HOST_NETWORK, pods_host_network },
	{ PODS_SECOND_NETWORK, pods_second_network },
	{ PODS_RDMA_CM, pods_rdma_cm },
	{ AIR_GAPPED, is_air_gapped },
	{ WANTS_PFC, wants_pfc },
	{ WANTS_ECN, wants_ecn },
	{ HAS_STORAGE, has_storage },
	{ RDMA_CLIENT, has_rdma_client },
	{ HAS_WORKLOAD, has_workload },
};

/* --- questions about the NICs ----------------------------------------------------------------- */

static uint32_t traits_of_nic(const struct plan_nic *nic)
{
	static const struct {
		const char *family;
		uint32_t trait;
	} families[] = {
		{ "ice", HAS_ICE }, { "mlx5", HAS_MLX5 }, { "bnxt", HAS_BNXT }, { "rxe", HAS_RXE },
	};
	const char *family = json_get_string(nic->row, "family", "");
	const char *dcqcn = json_get_string(nic->row, "dcqcn", "unknown");
	uint32_t traits = 0;

	for (size_t i = 0; i < ARRAY_SIZE(families); i++)
		if (!strcmp(family, families[i].family))
			traits |= families[i].trait;
	if ((traits & HAS_ICE) && !strcmp(nic->source, "out-of-tree"))
		traits |= ICE_OUT_OF_TREE;
	if (!strcmp(dcqcn, "none"))
		traits |= ECN_BY_SWITCH;
	return traits;
}

static bool client_needs_dc(const struct bill *bill)
{
	json_t *row = matrix_row(bill->matrix, "storage-clients", "library",
				 declared_text(bill, "/storage/client/library"));

	return !strcmp(json_get_string(row, "transport", ""), "dc");
}

static uint32_t traits_of_nics(const struct bill *bill)
{
	_cleanup_plan_cases_ struct plan_cases cases = {0};
	struct judging g = { .site = bill->site, .matrix = bill->matrix };
	bool needs_dc = client_needs_dc(bill);
	uint32_t traits = 0;

	plan_nics(&g, 0, &cases);
	for (size_t i = 0; i < cases.n; i++) {
		const struct plan_case *c = &cases.list[i];
		struct plan_nic nic = plan_nic_of(&g, c->node, c->what ? c->what : "");

		traits |= traits_of_nic(&nic);
		if (needs_dc && nic.row && !json_get_bool(nic.row, "dc_transport", false))
			traits |= DC_CLIENT_WITHOUT_DC;
	}
	return traits;
}

static uint32_t traits_of(const struct bill *bill)
{
	uint32_t traits = traits_of_nics(bill);

	for (size_t i = 0; i < ARRAY_SIZE(questions); i++)
		if (questions[i].ask(bill))
			traits |= questions[i].trait;
	if (json_is_false(json_pointer_get(bill->site->document, "/qos/ecn_host")))
		traits |= ECN_BY_SWITCH;
	return traits;
}

/* --- the bill --------------------------------------------------------------------------------- */

static const struct bill_rule *rule_of(const struct bill *bill, const struct bill_component *c)
{
	for (size_t i = 0; i < BILL_RULES_MAX && c->rules[i].need; i++) {
		const struct bill_rule *rule = &c->rules[i];

		if ((bill->traits & rule->with) == rule->with && !(bill->traits & rule->without))
			return rule;
	}
	return NULL;
}

static struct bill_version version_of(const struct bill *bill, const struct bill_component *c)
{
	struct bill_version version = {0};

	if (c->version)
		version = c->version(bill);
	if (!version.text && c->pointer)
		version = bill_version_at(bill, c->pointer);
	if (!version.text && c->image)
		version = bill_version_image(bill, c->image);
	return version;
}

static void add(json_t *list, const struct bill *bill, const struct bill_component *c)
{
	const struct bill_rule *rule = rule_of(bill, c);
	bool is_there = rule && strcmp(rule->need, "not-needed") && strcmp(rule->need, "must-not");
	struct bill_version version = {0};
	json_t *one;

	if (!rule)
		return;
	/* what is declared and not wanted has a version; that of the matrix does not matter then */
	version = version_of(bill, c);
	if (!is_there && version.row) {
		free(version.text);
		version = (struct bill_version){0};
	}
	one = json_object_new();
	json_put_string(one, "component", c->name);
	json_put_string(one, "where", c->where);
	if (version.text) {
		json_put_string(one, "version", version.text);
		json_put_string(one, "version_from",
				version.row ? json_get_string(version.row, "at", "matrix") :
					      "declared");
	}
	json_put_string(one, "need", rule->need);
	json_put_string(one, "why", rule->why);
	json_put_string(one, "source", rule->source);
	json_append(list, one);
	free(version.text);
}

json_t *plan_components(const struct site *site, const struct matrix *matrix)
{
	static const struct bill_component *const tables[] = { bill_host, bill_gpu, bill_fabric };
	struct bill bill = { .site = site, .matrix = matrix };
	json_t *list = json_array_new();

	bill.traits = traits_of(&bill);
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
		for (const struct bill_component *c = tables[i]; c->name; c++)
			add(list, &bill, c);
	return list;
}
