/* SPDX-License-Identifier: Apache-2.0 */
/* proof.gdr: the record of a GPUDirect RDMA run, both directions, by GPU and NIC. */
#include <string.h>

#include "judge/gdr.h"
#include "judge/later.h"
#include "judge/subject.h"
#include "site/pci_path.h"

/* enum ibv_wc_status of rdma-core: local protection error */
#define WC_LOC_PROT_ERR 4

struct direction {
	const char *name;	/* "write": into GPU memory; "read": from it */
	json_t *told;
	bool done;
};

static struct direction direction_of(json_t *record, const char *name)
{
	json_t *told = json_object_get(record, name);

	return (struct direction){
		.name = name,
		.told = told,
		.done = !strcmp(json_get_string(told, "status", ""), "ok"),
	};
}

static const char *path_name(struct judging *g)
{
	return judge_text(g, "%s → %s", g->gpu, g->nic);
}

/* The bridge that redirects, or nothing: what a protection error comes from. */
static void judge_protection(struct judging *g, const char *what)
{
	const char *bridge = gdr_acs_redirect(g);

	if (bridge) {
		judge_fail(g, "acs-redirect", "clear the redirect; gdr.acs has the command",
			   "%s: bridge %s between GPU and NIC redirects peer traffic", what,
			   bridge);
		judge_explained_by(g, "gdr.acs", path_name(g));
		return;
	}
	judge_fail(g, "gdr-protection-error", NULL, "%s", what);
	judge_candidate(g, "acs-redirect", NULL,
			"ACS redirect on a bridge of the path: gdr.acs reads the control bits as "
			"root");
	judge_candidate(g, "mr-bounds", NULL,
			"address or length outside the region, or a stale key: the same run with "
			"host memory tells");
}

static void judge_failed(struct judging *g, const struct direction *d, bool other_done)
{
	int64_t status = json_get_int(d->told, "wc_status", 0);
	int64_t vendor = json_get_int(d->told, "vendor_error", 0);
	const char *text = json_get_string(d->told, "text", NULL);
	const char *what = judge_text(g, "%s failed with completion status %lld, vendor error "
					 "0x%llx%s%s",
				      d->name, (long long)status, (unsigned long long)vendor,
				      text ? ": " : "", text ? text : "");

	if (status == WC_LOC_PROT_ERR) {
		judge_protection(g, what);
	} else if (other_done && !strcmp(d->name, "read")) {
		judge_fail(g, "gdr-read-fails", "move the NIC below the GPU's PCIe switch",
			   "%s, while writes into GPU memory work: this root complex forwards "
			   "writes between its ports and not reads", what);
	} else {
		judge_fail(g, "gdr-run-failed", NULL, "%s", what);
	}
}

static void judge_bytes(struct judging *g, const struct direction *d)
{
	json_t *verified = json_object_get(d->told, "verified");
	json_t *canaries = json_object_get(d->told, "canaries");
	const char *bdf = subject_pci_of_link(g->snapshot, g->nic);
	const char *type = bdf ? gdr_iommu_type(g, bdf) : NULL;

	if (json_is_false(verified) && type && pci_iommu_translates(type)) {
		judge_fail(g, "iommu-translating", "boot with iommu=pt; see gdr.iommu",
			   "%s: the completion is good and the bytes are wrong; the IOMMU "
			   "translates for the NIC (%s)", d->name, type);
		judge_explained_by(g, "gdr.iommu", NULL);
	} else if (json_is_false(verified)) {
		judge_fail(g, "bytes-wrong", "trust no number of this run",
			   "%s: the completion is good and the bytes are wrong", d->name);
	} else if (!verified) {
		judge_unknown(g, NULL, "%s: the bytes were not verified", d->name);
	}
	if (json_is_false(canaries))
		judge_fail(g, "canary-overwritten", NULL,
			   "%s: bytes outside the buffer were overwritten", d->name);
}

static void judge_record(struct judging *g, json_t *record)
{
	struct direction write = direction_of(record, "write"), read = direction_of(record, "read");
	int64_t faults = json_get_int(record, "iommu_faults", 0);

	if (!write.told || !read.told)
		judge_unknown(g, NULL, "the record has one direction only: write and read are both "
				       "needed");
	if (write.told && !write.done)
		judge_failed(g, &write, read.done);
	if (read.told && !read.done)
		judge_failed(g, &read, write.done);
	if (write.done)
		judge_bytes(g, &write);
	if (read.done)
		judge_bytes(g, &read);
	if (faults > 0)
		judge_fail(g, "iommu-fault", "boot with iommu=pt; see gdr.iommu",
			   "%lld IOMMU faults during the run", (long long)faults);
}

void judge_proof_gdr(struct judging *g)
{
	json_t *records = peek(g, "/proofs/gdr"), *record;
	size_t i, seen = 0;

	json_array_foreach(records, i, record) {
		if (!gdr_record_is_about(record, g->gpu, g->nic))
			continue;
		fact(g, "/proofs/gdr/%zu", i);
		judge_record(g, record);
		seen++;
	}
	/* a good record passes only with its fingerprint compared, which needs what made it */
	judge_unknown(g, NULL, "%s", seen ? "the record's freshness was not compared" :
					    "no GPUDirect RDMA run is recorded for this GPU and "
					    "NIC");
}
