/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proof.gdr: the newest record of a GPUDirect RDMA proof, both directions, by GPU and NIC.
 *
 * What counts is which way the bytes went at this node's NIC: into GPU memory (the peer writes or
 * sends, or this end reads) or out of it. A root complex may forward the one and not the other.
 */
#include <string.h>

#include "judge/gdr.h"
#include "judge/gdr_record.h"
#include "judge/later.h"
#include "judge/subject.h"
#include "site/pci_path.h"

/* enum ibv_wc_status of rdma-core: local protection error */
#define WC_LOC_PROT_ERR 4

static const char again[] = "run it again with --suite gdr, with all operations";

struct run_of {
	size_t index;
	json_t *run, *result;
	bool into;		/* GPU memory of this node */
	const char *name;	/* "write into GPU memory by aistor-01" */
};

static struct run_of run_at(struct judging *g, const struct gdr_record *r, size_t i, json_t *run)
{
	const char *operation = json_get_string(run, "operation", "?");
	bool began = !strcmp(gdr_record_role(r), "initiator");
	bool mine = began != json_get_bool(run, "reverse", false);
	bool into = mine == !strcmp(operation, "read");
	json_t *by = json_object_get(r->record, mine ? "local" : "peer");

	return (struct run_of){
		.index = i,
		.run = run,
		.result = json_object_get(run, "result"),
		.into = into,
		.name = judge_text(g, "%s %s GPU memory by %s", operation, into ? "into" : "out of",
				   json_get_string(by, "node", "?")),
	};
}

static bool is_integrity(const struct run_of *run)
{
	return !strcmp(json_get_string(run->run, "run", ""), "integrity");
}

/* Was a run in this direction verified? */
static bool verified_any(struct judging *g, const struct gdr_record *r, bool into)
{
	json_t *run;
	size_t i;

	json_array_foreach(json_object_get(r->record, "runs"), i, run) {
		struct run_of of = run_at(g, r, i, run);

		if (is_integrity(&of) && of.into == into &&
		    json_is_true(json_object_get(of.result, "verified")))
			return true;
	}
	return false;
}

static const char *path_name(struct judging *g)
{
	return judge_text(g, "%s → %s", g->gpu, g->nic);
}

/* --- runs that did not take place, or went wrong ---------------------------------------------- */

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

static void judge_failed(struct judging *g, const struct gdr_record *r, const struct run_of *run)
{
	json_t *completion = fact_optional(g, "/proofs/gdr/%zu/runs/%zu/completion", r->index,
					   run->index);
	const char *error = fact_optional_string(g, "/proofs/gdr/%zu/runs/%zu/error", r->index,
						 run->index);
	int64_t status = json_get_int(completion, "status", 0);
	bool own = !strcmp(json_get_string(completion, "end", ""), gdr_record_role(r));

	/* the peer went, a limit was too short: nothing is known of the path */
	if (!json_is_object(completion)) {
		judge_unknown(g, again, "%s did not take place: %s", run->name,
			      error ? error : "the record does not say why");
		return;
	}
	const char *what = judge_text(g, "%s failed with completion status %lld, vendor error "
					 "0x%llx%s%s",
				      run->name, (long long)status,
				      (unsigned long long)json_get_int(completion, "vendor_error",
								       0),
				      error ? ": " : "", error ? error : "");

	if (own && status == WC_LOC_PROT_ERR)
		judge_protection(g, what);
	else if (!run->into && verified_any(g, r, true))
		judge_fail(g, "gdr-read-fails", "move the NIC below the GPU's PCIe switch",
			   "%s, while writes into GPU memory work: this root complex forwards "
			   "writes between its ports and not reads", what);
	else
		judge_fail(g, "gdr-run-failed", NULL, "%s", what);
}

static void judge_wrong(struct judging *g, const struct gdr_record *r, const struct run_of *run)
{
	const char *kind = fact_optional_string(g, "/proofs/gdr/%zu/runs/%zu/result/fault/kind",
						r->index, run->index);
	const char *bdf = subject_pci_of_link(g->snapshot, g->nic);
	const char *type = bdf ? gdr_iommu_type(g, bdf) : NULL;

	if (kind && !strcmp(kind, "canary")) {
		judge_fail(g, "canary-overwritten", NULL,
			   "%s: bytes outside the buffer were overwritten", run->name);
	} else if (pci_iommu_translates(type)) {
		judge_fail(g, "iommu-translating", "boot with iommu=pt; see gdr.iommu",
			   "%s: the completion is good and the bytes are wrong; the IOMMU "
			   "translates for the NIC (%s)", run->name, type);
		judge_explained_by(g, "gdr.iommu", NULL);
	} else {
		judge_fail(g, "bytes-wrong", "trust no number of this run",
			   "%s: the completion is good and the bytes are wrong%s%s", run->name,
			   kind ? ": " : "", kind ? kind : "");
	}
}

static void judge_runs(struct judging *g, const struct gdr_record *r)
{
	json_t *run;
	size_t i;

	json_array_foreach(json_object_get(r->record, "runs"), i, run) {
		struct run_of of = run_at(g, r, i, run);
		const char *kind = json_get_string(run, "run", "");

		/* gdr.register has the one; how fast another program is proves nothing */
		if (!strcmp(kind, "register") || !strcmp(kind, "perftest"))
			continue;
		if (json_is_false(fact_optional(g, "/proofs/gdr/%zu/runs/%zu/result/verified",
						r->index, i)))
			judge_wrong(g, r, &of);
		else if (json_object_get(run, "error"))
			judge_failed(g, r, &of);
	}
}

/* --- what a pass needs ------------------------------------------------------------------------ */

/* Write and read, by either end. */
static void judge_complete(struct judging *g, const struct gdr_record *r)
{
	bool seen[2][2] = {0};	/* read, reverse */
	json_t *run;
	size_t i;

	json_array_foreach(json_object_get(r->record, "runs"), i, run) {
		struct run_of of = run_at(g, r, i, run);
		bool read = !strcmp(json_get_string(run, "operation", ""), "read");

		if (is_integrity(&of) && strcmp(json_get_string(run, "operation", ""), "send") &&
		    json_is_true(json_object_get(of.result, "verified")))
			seen[read][json_get_bool(run, "reverse", false)] = true;
	}
	for (int read = 0; read < 2; read++) {
		for (int reverse = 0; reverse < 2; reverse++) {
			if (!seen[read][reverse])
				judge_unknown(g, again, "no %s by the end that %s was verified",
					      read ? "read" : "write",
					      reverse ? "listened" : "connected");
		}
	}
}

static void judge_kernel_log(struct judging *g, const struct gdr_record *r)
{
	json_t *faults = fact_optional(g, "/proofs/gdr/%zu/local/kernel_log/iommu_faults",
				       r->index);

	if (!json_is_integer(faults)) {
		const char *why = fact_optional_string(
			g, "/proofs/gdr/%zu/local/kernel_log/why", r->index);

		judge_unknown(g, "run `railhead prove` as root on this node",
			      "whether the IOMMU met faults is not known: the kernel log was not "
			      "read%s%s", why ? ": " : "", why ? why : "");
	} else if (json_integer_value(faults) > 0) {
		judge_fail(g, "iommu-fault", "boot with iommu=pt; see gdr.iommu",
			   "%lld IOMMU faults during the run",
			   (long long)json_integer_value(faults));
	}
}

/* Counters that say something else. Where they say nothing the bytes that the GPU saw are enough. */
static void judge_counters(struct judging *g, const struct gdr_record *r)
{
	static const char *const ends[] = { "local", "peer" };

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		const char *node = json_get_string(json_object_get(r->record, ends[i]), "node", "?");

		if (json_is_false(fact_optional(g, "/proofs/gdr/%zu/%s/counters/rdma_moved",
						r->index, ends[i])))
			judge_fail(g, "rdma-idle",
				   "see which device and GID the record names, and that its counters "
				   "are those of the port that was meant",
				   "the RDMA counters of %s did not move by the payload", node);
		if (json_is_true(fact_optional(g, "/proofs/gdr/%zu/%s/counters/tcp_moved", r->index,
					       ends[i])))
			judge_fail(g, "tcp-carried", "stop other traffic of the host and run it again",
				   "TCP of %s moved by the payload", node);
	}
}

/* --- how fast it was: a note ------------------------------------------------------------------ */

static double fastest(struct judging *g, const struct gdr_record *r, bool into)
{
	double best = 0;
	json_t *run;
	size_t i;

	json_array_foreach(json_object_get(r->record, "runs"), i, run) {
		struct run_of of = run_at(g, r, i, run);
		double speed = json_number_value(json_object_get(of.result, "gbit_per_s"));

		if (!strcmp(json_get_string(run, "run", ""), "bandwidth") && of.into == into &&
		    speed > best)
			best = speed;
	}
	return best;
}

static const char *speed_text(struct judging *g, const struct gdr_record *r)
{
	const char *bdf = subject_pci_of_link(g->snapshot, g->nic);
	json_t *link = bdf ? fact_optional(g, "/pci/devices/%s/link", bdf) : NULL;
	double into = fastest(g, r, true), out = fastest(g, r, false);
	/* raw: what encoding and headers take does not matter for a half */
	double pcie = json_number_value(json_object_get(link, "speed_gts")) *
		      (double)json_get_int(link, "width", 0);
	double slower = into < out ? into : out;

	if (into <= 0 || out <= 0)
		return "";
	return judge_text(g, "; %.1f Gb/s into it, %.1f out of it%s", into, out,
			  pcie > 0 && slower < pcie / 2 ?
				  judge_text(g, ", which is less than half of the NIC's PCIe link "
						"(%.0f Gb/s)", pcie) : "");
}

void judge_proof_gdr(struct judging *g)
{
	struct gdr_record r;

	if (!gdr_record_find(g, g->nic, true, &r))
		return;
	judge_runs(g, &r);
	judge_complete(g, &r);
	judge_counters(g, &r);
	judge_kernel_log(g, &r);
	judge_pass(g, "write and read both ways, all bytes right in GPU memory and around it, no "
		      "IOMMU fault (%s)%s", json_get_string(r.record, "taken", "?"),
		   speed_text(g, &r));
}
