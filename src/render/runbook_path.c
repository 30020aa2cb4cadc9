/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of phases 17 to 21: the path between GPU and NIC, GPUDirect RDMA, storage, workload. */
#include "render/runbook.h"

#include <string.h>

/* --- 17 --- */

static bool has_grubby(const struct site_node *node)
{
	return node->os_id && !strcmp(node->os_id, "rhel");
}

void runbook_topology_steps(struct runbook *b)
{
	const struct site_node *node = runbook_first(b->r, WHERE_GPU);

	book_step(b, PHRASE_TOPOLOGY_LOOK, node->name, NULL);
	book_command(b, "nvidia-smi topo -m\nlspci -tv\ncat /proc/cmdline");
	book_step(b, PHRASE_TOPOLOGY_IOMMU, NULL);
	if (has_grubby(node))
		book_command(b, "grubby --update-kernel=ALL --args=iommu=pt\nreboot");
	book_say(b, PHRASE_TOPOLOGY_ACS, NULL);
}

void runbook_topology_undo(struct runbook *b)
{
	if (has_grubby(runbook_first(b->r, WHERE_GPU)))
		book_command(b, "grubby --update-kernel=ALL --remove-args=iommu=pt\nreboot");
}

/* --- 18, 19 --- */

void runbook_dmabuf_steps(struct runbook *b)
{
	runbook_prove(b, PHRASE_DMABUF_TRY, "--suite gdr --duration 0", 1);
	runbook_prove_judge(b);
}

void runbook_gpudirect_steps(struct runbook *b)
{
	const struct site_node *node = runbook_first(b->r, WHERE_GPU);

	runbook_prove(b, PHRASE_GDR_RUN, "--suite gdr", 1);
	book_say(b, PHRASE_GDR_PERFTEST, NULL);
	book_step(b, PHRASE_GDR_LOG, node->name, NULL);
	book_command(b, "journalctl -k --since -1h | grep -i -e DMAR -e 'IO_PAGE_FAULT' -e NVRM");
	runbook_prove_judge(b);
}

/* --- 20 --- */

void runbook_storage_steps(struct runbook *b)
{
	const struct site *site = b->r->site;
	const char *library = json_string_value(
		json_pointer_get(site->document, "/storage/client/library"));
	const char *kind = json_string_value(json_pointer_get(site->document, "/storage/kind"));

	if (json_pointer_get(site->document, "/storage/endpoint")) {
		_cleanup_free_ char *endpoint = runbook_word(b->r, "/storage/endpoint", "");

		book_step(b, PHRASE_STORE_HEALTH, NULL);
		/* docs.min.io: the liveness probe of MinIO and AIStor */
		book_command(b, "curl -fsSI %s%s", endpoint,
			     kind && strcmp(kind, "other") != 0 ? "/minio/health/live" : "");
	}
	if (kind && !strcmp(kind, "aistor") && b->has.storage_rdma)
		book_step(b, PHRASE_STORE_BUILD, NULL);
	if (!b->has.storage_rdma) {
		book_say(b, PHRASE_STORE_HTTP, NULL);
		return;
	}
	book_step(b, PHRASE_STORE_RDMA, library, NULL);
	book_command(b, "./snapshots.sh before-storage\n# GET, PUT\n./snapshots.sh after-storage");
}

/* --- 21 --- */

void runbook_workload_steps(struct runbook *b)
{
	const struct site_node *node = runbook_first(b->r, WHERE_GPU);
	_cleanup_free_ char *namespace = runbook_word(b->r, "/workload/namespace", "default");

	if (node && b->has.kubernetes) {
		book_step(b, PHRASE_WORK_UNTAINT, NULL);
		book_command(b, "kubernetes/nodes.sh prove %s", node->name);
	}
	book_step(b, PHRASE_WORK_START, NULL);
	if (b->has.kubernetes)
		book_command(b, "kubectl -n %s get pods -o wide --watch", namespace);
	book_step(b, PHRASE_WORK_MEASURE, NULL);
}

void runbook_workload_undo(struct runbook *b)
{
	const struct site_node *node = runbook_first(b->r, WHERE_GPU);

	if (node && b->has.kubernetes)
		book_command(b, "kubernetes/nodes.sh taint %s", node->name);
}
