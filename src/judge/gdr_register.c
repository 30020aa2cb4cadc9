/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gdr.register: what the NIC made of GPU memory, by the run "register" of a record.
 *
 * The errno of a failed registration narrows the cause but seldom names it alone. Whence it comes:
 *   93  EPROTONOSUPPORT  the uverbs ioctl framework does not know the method (uverbs_ioctl.c)
 *   95  EOPNOTSUPP       the method is known; driver or user-space provider has no dma-buf op
 *   22  EINVAL           length, offset or alignment
 *   12  ENOMEM           translating IOMMU, page tables of the adapter (PBLE), locked memory
 *   14  EFAULT           ibv_reg_mr() on a GPU pointer
 *  524  ENOTSUPP         the exporter refuses the mapping type
 * A cause is named when the facts exclude the others; else all that remain are candidates.
 */
#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "judge/gdr.h"
#include "judge/gdr_record.h"
#include "judge/memlock.h"
#include "judge/subject.h"
#include "site/pci_path.h"

/* Kernel-internal, not in <errno.h>: include/linux/errno.h */
#define KERNEL_ENOTSUPP 524
/* Who registers in pieces, because an IOMMU translates, takes pieces of this size; what is refused
 * above it is worth a note, below it a warning. */
#define PIECE_BYTES (1ll << 30)

struct attempt {
	json_t *record;
	int64_t code;
	const char *call;		/* "ibv_reg_dmabuf_mr", "ibv_reg_mr" */
	int64_t length_bytes;		/* 0 = not told */
	const struct family *family;
	struct subject_rdma rdma;
	bool has_rdma;
};

/* Causes that the facts leave over. */
struct suspects {
	struct suspect {
		const char *id, *fix, *text;
	} list[4];
	size_t n;
};

static void suspect(struct suspects *s, const char *id, const char *fix, const char *text)
{
	if (s->n < ARRAY_SIZE(s->list))
		s->list[s->n++] = (struct suspect){ id, fix, text };
}

/* One left: it is the cause. Several, or none: the errno is what is certain. */
static void judge_suspects(struct judging *g, const struct suspects *s, const char *symptom,
			   const char *text)
{
	if (s->n == 1) {
		judge_fail(g, s->list[0].id, s->list[0].fix, "%s: %s", text, s->list[0].text);
		return;
	}
	judge_fail(g, symptom, NULL, "%s", text);
	for (size_t i = 0; i < s->n; i++)
		judge_candidate(g, s->list[i].id, s->list[i].fix, "%s", s->list[i].text);
}

static void judge_notsup(struct judging *g, const struct attempt *a)
{
	const char *release = fact_optional_string(g, "/os/kernel/release");
	const char *library = fact_optional_string(g, "/userspace/rdma_core");
	const struct family *f = a->family;
	struct suspects s = {0};
	bool in_tree = true, kernel_fine, library_fine;

	if (f) {
		json_t *told = fact_optional(g, "/os/modules/%s/in_tree", f->rdma_drivers[0]);

		in_tree = !json_is_false(told);
	}
	if (f && !f->kernel_dmabuf_min) {
		judge_fail(g, "provider-no-dmabuf", "use a NIC whose driver registers dma-bufs",
			   "errno 95: the driver %s has no dma-buf registration",
			   f->rdma_drivers[0]);
		return;
	}
	kernel_fine = f && in_tree && release &&
		      text_version_compare(release, f->kernel_dmabuf_min) >= 0;
	library_fine = f && f->rdma_core_min && library &&
		       text_version_compare(library, f->rdma_core_min) >= 0;
	if (!kernel_fine)
		suspect(&s, "provider-kernel-old",
			"boot a kernel (or install a driver build) whose RDMA driver registers "
			"dma-bufs",
			judge_text(g, "the kernel driver%s%s may have no dma-buf operation%s: "
				      "`strace` then shows the ioctl itself refused with 95",
				   f ? " " : "", f ? f->rdma_drivers[0] : "",
				   in_tree ? "" : " (out-of-tree build)"));
	if (!library_fine)
		suspect(&s, "provider-library-old",
			judge_text(g, "install %s%s (in the container image too)",
				   f && f->rdma_core_min ? "at least rdma-core " :
							   "a newer rdma-core",
				   f && f->rdma_core_min ? f->rdma_core_min : ""),
			judge_text(g, "the user-space provider (rdma-core %s) may have no dma-buf "
				      "operation: `strace` then shows no ioctl at all",
				   library ? library : "of unknown version"));
	judge_suspects(g, &s, "register-errno-95",
		       "errno 95 (EOPNOTSUPP): kernel core knows the method, driver or provider "
		       "has no dma-buf operation");
}

static void judge_inval(struct judging *g, const struct attempt *a)
{
	int64_t offset = json_get_int(a->record, "offset_bytes", 0);
	int64_t page = json_get_int(a->record, "page_bytes", 4096);
	json_t *max = a->has_rdma ? fact_optional(g, "/rdma/devices/%s/capabilities/max_mr_size",
						  a->rdma.device) : NULL;

	if (json_is_integer(max) && a->length_bytes > json_integer_value(max)) {
		judge_fail(g, "mr-too-long", "register in pieces below the adapter's largest "
					     "region",
			   "errno 22: %lld bytes asked, the adapter's largest region is %lld",
			   (long long)a->length_bytes, (long long)json_integer_value(max));
	} else if (page > 0 && (a->length_bytes % page || offset % page)) {
		judge_fail(g, "dmabuf-unaligned",
			   "round the offset down and the length up to the host page before the "
			   "export",
			   "errno 22: offset %lld and length %lld are not multiples of the page of "
			   "%lld",
			   (long long)offset, (long long)a->length_bytes, (long long)page);
	} else {
		judge_fail(g, "register-errno-22", NULL,
			   "errno 22 (EINVAL): length, offset or alignment was refused");
		judge_candidate(g, "dmabuf-outside", NULL,
				"offset and length reach beyond the exported range: compare with "
				"the size of the fd (lseek to its end)");
		judge_candidate(g, "iova-misaligned", NULL,
				"the iova does not lie as the DMA address does within a 2 MiB "
				"page: pass the GPU virtual address of a 2 MiB aligned export as "
				"iova");
	}
}

static void judge_nomem(struct judging *g, const struct attempt *a)
{
	const char *bdf = subject_pci_of_link(g->snapshot, g->nic);
	const char *type = bdf ? gdr_iommu_type(g, bdf) : NULL;
	int64_t groups = fact_optional_int(g, -1, "/os/iommu/groups");
	json_t *soft = fact_optional(g, "/os/memlock/self/soft_bytes");
	bool translates = type && pci_iommu_translates(type);
	bool iommu_excluded = !groups || (type && !translates);
	bool cap = json_is_true(fact_optional(g, "/os/memlock/self/cap_ipc_lock"));
	struct suspects s = {0};

	if (!iommu_excluded) {
		suspect(&s, "iommu-translating", "boot with iommu=pt, or export one fd per piece "
						 "of 1 GiB",
			translates ? judge_text(g, "the IOMMU translates for the NIC (%s): a large "
						   "buffer is mapped page by page, and irdma fails "
						   "above about 2 GiB", type) :
				     "the IOMMU may translate for the NIC: "
				     "/sys/kernel/iommu_groups/*/type tells");
		if (translates)
			judge_explained_by(g, "gdr.iommu", NULL);
	}
	suspect(&s, "adapter-page-tables", "register fewer or smaller regions, aligned to 2 MiB",
		"the adapter's page tables (PBLE) are used up: a smaller length then succeeds");
	if (!cap && (!json_is_integer(soft) ||
		     !memlock_is_enough(json_integer_value(soft), memlock_wanted(g))))
		suspect(&s, "memlock-low", "raise the locked-memory limit; see os.memlock",
			"the locked-memory limit: os.memlock tells");
	judge_suspects(g, &s, "register-errno-12",
		       judge_text(g, "errno 12 (ENOMEM)%s%s", a->length_bytes ? " at " : "",
				  a->length_bytes ? judge_text(g, "%lld bytes",
								  (long long)a->length_bytes) :
						    ""));
}

static void judge_fault(struct judging *g, const struct attempt *a)
{
	if (a->call && !strcmp(a->call, "ibv_reg_mr")) {
		judge_fail(g, "plain-reg-mr",
			   "register through DMA-BUF: perftest `--use_cuda=0 --use_cuda_dmabuf` "
			   "(in that order), own code ibv_reg_dmabuf_mr()",
			   "errno 14: ibv_reg_mr() was given a GPU pointer, which only a "
			   "peer-memory module could resolve");
	} else if (a->call) {
		judge_fail(g, "register-errno-14", NULL,
			   "errno 14 (EFAULT): the pages of the DMA-BUF cannot be mapped for this "
			   "NIC");
	} else {
		judge_fail(g, "register-errno-14", NULL, "errno 14 (EFAULT)");
		judge_candidate(g, "plain-reg-mr",
				"perftest: `--use_cuda=0 --use_cuda_dmabuf`, in that order",
				"ibv_reg_mr() was used on a GPU pointer: the record does not name "
				"the call");
	}
}

static void judge_mapping(struct judging *g, const struct attempt *a)
{
	json_t *flag = json_object_get(a->record, "pcie_mapping");

	if (gdr_judge_nvrm_lines(g, a->record))
		return;
	if (json_is_true(flag)) {
		judge_fail(g, "dmabuf-pcie-mapping",
			   "export with flags 0 (perftest: without --use_cuda_pcie_mapping)",
			   "errno 524 (ENOTSUPP): the dma-buf was exported with the PCIe mapping "
			   "flag, which needs a coherent GPU and one IOMMU group of GPU and NIC");
		return;
	}
	judge_fail(g, "register-errno-524", NULL,
		   "errno 524 (ENOTSUPP): the exporter refuses to map its memory for this NIC");
	if (!flag)
		judge_candidate(g, "dmabuf-pcie-mapping", "export with flags 0",
				"the PCIe mapping flag was used: the call's flags tell, and the "
				"NVRM line \"topology not supported for mapping type FORCE_PCIE\"");
	judge_candidate(g, "nvrm-dmabuf-topology", NULL,
			"a root complex that the driver refuses: the NVRM line \"PCI topology not "
			"supported for dma-buf\" tells");
}

static void judge_attempt(struct judging *g, const struct attempt *a)
{
	const char *release = fact_optional_string(g, "/os/kernel/release");

	switch (a->code) {
	case EPROTONOSUPPORT:
		judge_fail(g, "kernel-no-dmabuf-method",
			   "a host kernel from 5.12 on, or a newer OFED on the host; a newer "
			   "container image changes nothing",
			   "errno 93 (EPROTONOSUPPORT): the RDMA core of the host%s%s%s does not "
			   "have REG_DMABUF_MR",
			   release ? " (kernel " : "", release ? release : "", release ? ")" : "");
		judge_explained_by(g, "gdr.kernel", NULL);
		return;
	case EOPNOTSUPP:
		judge_notsup(g, a);
		return;
	case EINVAL:
		judge_inval(g, a);
		return;
	case ENOMEM:
		judge_nomem(g, a);
		return;
	case EFAULT:
		judge_fault(g, a);
		return;
	case KERNEL_ENOTSUPP:
		judge_mapping(g, a);
		return;
	default:
		judge_fail(g, "register-failed", NULL, "registration failed with errno %lld",
			   (long long)a->code);
	}
}

/* The lengths that were tried. */
struct attempts {
	int64_t largest;	/* that was registered as a DMA-BUF, 0: none */
	json_t *refused;	/* the last registration that failed */
	json_t *other;		/* a step before the registration that failed */
	json_t *plain;		/* a region of host memory, which says nothing */
};

static struct attempts attempts_of(struct judging *g, const struct gdr_record *r, int64_t run)
{
	json_t *tried = fact_optional(g, "/proofs/gdr/%zu/runs/%zu/result/tried", r->index,
				      (size_t)run), *attempt;
	struct attempts a = {0};
	size_t i;

	json_array_foreach(tried, i, attempt) {
		json_t *code = json_object_get(attempt, "errno");
		int64_t length = json_get_int(attempt, "length_bytes", 0);

		if (!json_is_integer(code))
			continue;
		if (!gdr_attempt_registers(attempt))
			a.other = json_integer_value(code) ? attempt : a.other;
		else if (json_integer_value(code))
			a.refused = attempt;
		else if (!gdr_attempt_is_dmabuf(attempt))
			a.plain = attempt;
		else
			a.largest = length > a.largest ? length : a.largest;
	}
	return a;
}

static void judge_refused(struct judging *g, json_t *refused)
{
	struct attempt a = {
		.record = refused,
		.code = json_get_int(refused, "errno", 0),
		.call = json_get_string(refused, "call", NULL),
		.length_bytes = json_get_int(refused, "length_bytes", 0),
		.family = gdr_family(g, g->nic),
	};

	a.has_rdma = subject_rdma_of_link(g->snapshot, g->node, g->nic, &a.rdma);
	judge_attempt(g, &a);
}

static void judge_registered(struct judging *g, const struct attempts *a)
{
	int64_t refused = json_get_int(a->refused, "length_bytes", 0);
	const char *end = !a->refused ? "" :
			  judge_text(g, "; %s refused with errno %lld", memlock_text(g, refused),
				     (long long)json_get_int(a->refused, "errno", 0));

	if (a->refused && refused <= PIECE_BYTES)
		judge_warn(g, "register-limited", "register in smaller pieces; where the IOMMU "
						  "translates, boot with iommu=pt (gdr.iommu)",
			   "GPU memory registers only in small pieces: largest region %s%s",
			   memlock_text(g, a->largest), end);
	judge_pass(g, "GPU memory registered, largest region %s%s", memlock_text(g, a->largest),
		   end);
}

void judge_gdr_register(struct judging *g)
{
	struct gdr_record r;

	if (!gdr_record_find(g, g->nic, false, &r))
		return;
	int64_t run = gdr_record_registration(&r);

	if (run < 0) {
		judge_unknown(g, NULL, "the record tells of no registration");
		return;
	}
	struct attempts a = attempts_of(g, &r, run);

	if (a.largest)
		judge_registered(g, &a);
	else if (a.refused)
		judge_refused(g, a.refused);
	else if (a.other)
		judge_unknown(g, NULL, "no registration was tried, because %s failed: %s",
			      json_get_string(a.other, "call", "a step before it"),
			      json_get_string(a.other, "text", "the record does not say why"));
	else if (a.plain)
		judge_unknown(g, NULL, "the record is of ibv_reg_mr, not of a dma-buf registration");
	else
		judge_unknown(g, NULL, "no registration was tried: %s",
			      json_get_string(json_object_get(json_array_get(
					json_object_get(r.record, "runs"), (size_t)run), "result"),
					      "stopped", "the record does not say why"));
}
