/* SPDX-License-Identifier: Apache-2.0 */
/* What a site has of the plan of record, and which nodes a phase is about. */
#include "render/runbook.h"

#include <string.h>

#include "base/strings.h"
#include "judge/subject.h"
#include "render/cluster.h"
#include "render/format.h"

/* Declared, and not `false`. */
static bool is_declared(const struct render *r, const char *pointer)
{
	json_t *value = json_pointer_get(r->site->document, pointer);

	return value && !json_is_false(value);
}

static bool has_text(const struct render *r, const char *pointer, const char *text)
{
	const char *value = json_string_value(json_pointer_get(r->site->document, pointer));

	return value && !strcmp(value, text);
}

const struct site_link *runbook_nic(const struct site_node *node)
{
	_cleanup_strings_ char **nics = subject_nics_of_node(node, NULL);

	for (char **nic = nics; nic && *nic; nic++) {
		const struct site_link *link = site_link_find(node, *nic);

		if (link)
			return link;
	}
	return NULL;
}

char *runbook_nics(const struct site_node *node)
{
	_cleanup_strings_ char **nics = subject_nics_of_node(node, NULL);
	struct strbuf words = {0};

	for (char **nic = nics; nic && *nic; nic++) {
		strbuf_puts(&words, words.len ? " " : "");
		format_shell(&words, *nic);
	}
	return words.s ? strbuf_steal(&words) : xstrdup("");
}

const char *runbook_bond(const struct site_node *node)
{
	for (size_t i = 0; i < node->n_rdma; i++) {
		const char *name = node->rdma[i].link;
		const struct site_vlan *vlan;

		while ((vlan = site_vlan_find(node, name)))
			name = vlan->link;
		if (site_bond_find(node, name))
			return name;
	}
	return NULL;
}

char *runbook_quoted(const char *text)
{
	struct strbuf word = {0};

	format_shell(&word, text);
	return strbuf_steal(&word);
}

char *runbook_word(const struct render *r, const char *pointer, const char *fallback)
{
	const char *value = json_string_value(json_pointer_get(r->site->document, pointer));

	return runbook_quoted(value ? value : fallback);
}

bool runbook_is_at(const struct render *r, const struct site_node *node, enum book_where where)
{
	switch (where) {
	case WHERE_ALL:
		return true;
	case WHERE_KUBE:
		return cluster_is_worker(r, node);
	case WHERE_RDMA:
		return node->n_rdma > 0;
	case WHERE_POD_RDMA:
		return node->n_rdma > 0 && cluster_is_worker(r, node);
	case WHERE_GPU:
		return node->n_gpus > 0;
	case WHERE_STORAGE:
		return node->roles & SITE_ROLE_STORAGE;
	default:
		return false;
	}
}

const struct site_node *runbook_first(const struct render *r, enum book_where where)
{
	for (size_t i = 0; i < r->site->n_nodes; i++) {
		if (runbook_is_at(r, &r->site->nodes[i], where))
			return &r->site->nodes[i];
	}
	return NULL;
}

static void fill_node(struct runbook_shape *has, const struct site_node *node)
{
	const struct site_link *nic = runbook_nic(node);

	has->rdma_pair |= has->rdma && node->n_rdma;
	has->rdma |= node->n_rdma > 0;
	has->rails |= node->n_rdma > 1;
	has->bonds |= node->n_bonds > 0;
	has->gpus |= node->n_gpus > 0;
	has->rdma_bond |= runbook_bond(node) != NULL;
	for (size_t i = 0; i < node->n_drivers; i++) {
		const char *source = node->drivers[i].source;

		has->out_of_tree |= source && !strcmp(source, "out-of-tree");
	}
	for (size_t i = 0; i < node->n_links; i++)
		has->addresses |= node->links[i].addresses != NULL;
	for (size_t i = 0; i < node->n_vlans; i++)
		has->addresses |= node->vlans[i].addresses != NULL;
	if (nic && nic->driver) {
		has->ice |= !strcmp(nic->driver, "ice");
		has->mlx5 |= !strcmp(nic->driver, "mlx5_core");
	}
}

void runbook_shape_fill(struct runbook_shape *has, const struct render *r)
{
	const struct site *site = r->site;

	*has = (struct runbook_shape){
		.kubernetes = site->kubernetes,
		.kubespray = is_declared(r, "/kubernetes/kubespray"),
		.gpu_operator = is_declared(r, "/gpu_operator"),
		.network_operator = is_declared(r, "/network_operator"),
		.registry = is_declared(r, "/registry"),
		.qos = site->qos.declared && site->qos.dscp.set && site->qos.priority.set,
		.dcb = !site->qos.dcb.set || site->qos.dcb.value,
		.pfc = site->qos.declared && site->qos.pfc.set && site->qos.pfc.value,
		.ecn = site->qos.declared && site->qos.ecn.set && site->qos.ecn.value,
		.switches = is_declared(r, "/switch"),
		.storage = site->storage,
		.workload = site->workload,
	};
	for (size_t i = 0; i < site->n_nodes; i++)
		fill_node(has, &site->nodes[i]);
	json_t *told = json_pointer_get(site->document, "/qos/ecn_host");

	has->ecn_host = has->ecn && (!told || json_is_true(told));
	has->gpudirect = site->gpudirect && has->gpus && has->rdma;
	has->pod_rdma = site->kubernetes && has->rdma &&
			is_declared(r, "/kubernetes/rdma_resource") &&
			!has_text(r, "/kubernetes/pod_rdma", "none");
	has->storage_rdma = is_declared(r, "/storage/client/library") &&
			    !has_text(r, "/storage/client/library", "http");
}
