/* SPDX-License-Identifier: Apache-2.0 */
/* gdr.export: does the driver give GPU memory out as a DMA-BUF, by a record's run "register"? */
#include <string.h>

#include "judge/gdr.h"
#include "judge/gdr_record.h"
#include "judge/signature.h"

/* What one of the driver's lines means, NULL: it is none of them. */
static const struct signature *nvrm_signature(const char *id)
{
	size_t n;
	const struct signature *table = signature_table(&n);

	for (size_t i = 0; i < n; i++) {
		if (!strcmp(table[i].id, id))
			return &table[i];
	}
	return NULL;
}

static bool has_line(json_t *attempt, const char *id)
{
	json_t *line;
	size_t i;

	json_array_foreach(json_object_get(attempt, "kernel_log"), i, line) {
		const struct signature *s = json_is_string(line) ?
						    signature_of_text(json_string_value(line)) :
						    NULL;

		if (s && !strcmp(s->id, id))
			return true;
	}
	return false;
}

bool gdr_judge_nvrm_lines(struct judging *g, json_t *attempt)
{
	static const char *const ids[] = { "nvrm-dmabuf-force-pcie", "nvrm-dmabuf-topology",
					   "nvrm-dmabuf-importer" };
	bool found = false;

	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		const struct signature *s = nvrm_signature(ids[i]);

		if (!s || (!has_line(attempt, ids[i]) && !signature_fact(g, ids[i], NULL)))
			continue;
		judge_fail(g, ids[i], s->fix, "the kernel log says why: %s", s->text);
		found = true;
	}
	return found;
}

static void judge_unsupported(struct judging *g)
{
	if (json_is_false(fact_optional(g, "/gpu/driver/open"))) {
		judge_fail(g, "driver-closed-module",
			   "set driver.kernelModuleType=open in the GPU Operator's values, then reboot",
			   "CUDA says that this GPU's memory cannot be exported: the kernel module "
			   "is the closed one");
		judge_explained_by(g, "gpu.open-module", NULL);
		return;
	}
	judge_fail(g, "dmabuf-unsupported", NULL,
		   "CUDA says that DMA-BUF is not supported for %s "
		   "(CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED is 0)", g->gpu);
	judge_candidate(g, "kernel-config", NULL,
			"kernel without CONFIG_DMA_SHARED_BUFFER: gdr.kernel reads it");
	judge_candidate(g, "confidential-computing", NULL,
			"confidential computing is on: `nvidia-smi conf-compute -f` tells");
	judge_candidate(g, "gpu-too-old", NULL, "GPU older than Turing: its model tells");
}

static void judge_failed(struct judging *g, json_t *attempt)
{
	const char *text = json_get_string(attempt, "text", NULL);

	if (gdr_judge_nvrm_lines(g, attempt))
		return;
	judge_fail(g, "dmabuf-export-failed",
		   "export whole allocations from their base address (cuMemGetAddressRange), "
		   "address and size in multiples of the host page, with flags 0",
		   "export of GPU memory failed with errno %lld%s%s",
		   (long long)json_get_int(attempt, "errno", 0), text ? ": " : "",
		   text ? text : "");
}

void judge_gdr_export(struct judging *g)
{
	json_t *attempt, *tried, *failed = NULL;
	struct gdr_record r;
	bool exported = false;
	size_t i;

	if (!gdr_record_find(g, NULL, false, &r))
		return;
	if (json_is_false(fact_optional(g, "/proofs/gdr/%zu/local/memory/gpu/dmabuf", r.index))) {
		judge_unsupported(g);
		return;
	}
	int64_t run = gdr_record_registration(&r);

	tried = run < 0 ? NULL : fact_optional(g, "/proofs/gdr/%zu/runs/%zu/result/tried", r.index,
					       (size_t)run);
	json_array_foreach(tried, i, attempt) {
		/* what was given to the NIC had been exported */
		exported = exported || gdr_attempt_is_dmabuf(attempt);
		if (!strcmp(json_get_string(attempt, "call", ""), "cuMemGetHandleForAddressRange") &&
		    json_get_int(attempt, "errno", 0))
			failed = attempt;
	}
	if (exported)
		judge_pass(g, "GPU memory can be exported as DMA-BUF");
	else if (failed)
		judge_failed(g, failed);
	else
		judge_unknown(g, NULL, "the record does not say whether an export was made");
}
