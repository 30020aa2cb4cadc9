/* SPDX-License-Identifier: Apache-2.0 */
/* gdr.kernel and gdr.peermem: what the kernel must bring, and what it need not. */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "judge/gdr.h"
#include "judge/gdr_record.h"
#include "judge/kernel_release.h"
#include "judge/subject.h"

/* First kernel with REG_DMABUF_MR ("RDMA/uverbs: Add uverbs command for dma-buf based MR
 * registration", drivers/infiniband/core/uverbs_std_types_mr.c). */
#define KERNEL_DMABUF_MR "5.12"

const struct family *gdr_family(const struct judging *g, const char *nic)
{
	const struct family *f;
	struct subject_rdma rdma;

	if (subject_rdma_of_link(g->snapshot, g->node, nic, &rdma)) {
		f = family_of_rdma(g->snapshot, rdma.device);
		if (f)
			return f;
	}
	return family_of_nic(g->snapshot, nic);
}

/* Was a DMA-BUF ever registered on this node, as it is now? */
static bool was_registered(const struct judging *g)
{
	struct gdr_attempt attempt;

	return gdr_attempt_find(g, 0, &attempt);
}

static void judge_config(struct judging *g, const char *option, const char *purpose)
{
	const char *value = fact_string(g, "/os/kernel/config/%s", option);

	if (value && !strcmp(value, "n"))
		judge_fail(g, "kernel-config", "boot a kernel that is built with it; distribution "
					       "kernels of RHEL 10 and Debian 12 and later are "
					       "expected to be",
			   "the kernel is built without %s: %s", option, purpose);
}

/* Method of the RDMA core, by what was tried, else by the kernel's number. */
static void judge_core(struct judging *g, const char *release)
{
	struct gdr_attempt refused;
	json_t *in_tree = fact_optional(g, "/os/modules/ib_core/in_tree");

	if (gdr_attempt_find(g, 93, &refused)) {
		gdr_attempt_fact(g, &refused);
		judge_fail(g, "kernel-no-dmabuf-method",
			   json_is_false(in_tree) ?
				   "update the out-of-tree RDMA stack (OFED) on the host, or go "
				   "back to the inbox one of a kernel from 5.12 on; a newer "
				   "container image changes nothing" :
				   "boot a host kernel from 5.12 on (or a newer OFED on the host); "
				   "a newer container image changes nothing: the host's RDMA core "
				   "decides",
			   "the RDMA core of kernel %s has no REG_DMABUF_MR: registration was "
			   "refused with errno 93 (EPROTONOSUPPORT)", release);
		return;
	}
	if (text_version_compare(release, KERNEL_DMABUF_MR) >= 0 || was_registered(g))
		return;
	if (kernel_release_tag(release).major) {
		judge_unknown(g, "register a dma-buf of GPU memory: errno 93 says that the method "
				 "is missing",
			      "kernel %s is older than " KERNEL_DMABUF_MR " by its number, but "
									  "this distribution takes "
									  "over later changes",
									  release);
		judge_candidate(g, "kernel-too-old", "update to a release with a kernel from 5.12 "
						     "on",
				"the RDMA core may lack REG_DMABUF_MR: errno 93 at registration "
				"would tell");
		return;
	}
	judge_fail(g, "kernel-too-old", "boot a kernel from 5.12 on; on the host, since containers "
					"share it",
		   "kernel %s is older than " KERNEL_DMABUF_MR ", which brought REG_DMABUF_MR",
							       release);
}

/* Does the kernel driver of this RDMA port register dma-bufs? */
static void judge_provider(struct judging *g, const char *release, const struct site_rdma *port)
{
	const struct family *f = family_of_port(g, port);
	const char *nic = port->link, *driver;
	json_t *in_tree;

	if (!f) {
		driver = subject_driver_of_link(g->snapshot, nic);
		judge_unknown(g, "register a dma-buf of GPU memory on it: errno 95 says that the "
				 "driver cannot",
			      "no rule is known for the driver of %s (%s)", nic,
			      driver ? driver : "not observed");
		return;
	}
	driver = f->rdma_drivers[0];
	if (!f->kernel_dmabuf_min) {
		judge_fail(g, "provider-no-dmabuf", "use a NIC whose driver registers dma-bufs",
			   "%s: the driver %s has no dma-buf registration", nic, driver);
		return;
	}
	if (was_registered(g))
		return;
	in_tree = fact(g, "/os/modules/%s/in_tree", driver);
	if (!in_tree)
		return;
	if (json_is_false(in_tree)) {
		judge_warn(g, "provider-out-of-tree",
			   "prove the registration (gdr.register) with this very build",
			   "%s: %s is out-of-tree; whether this build registers dma-bufs depends "
			   "on what it was compiled for, and the kernel's version does not tell",
			   nic, driver);
		return;
	}
	if (text_version_compare(release, f->kernel_dmabuf_min) >= 0)
		return;
	if (kernel_release_tag(release).major) {
		judge_unknown(g, "register a dma-buf of GPU memory: errno 95 says that the driver "
				 "cannot",
			      "%s: %s registers dma-bufs from kernel %s on; kernel %s is older by "
			      "its number, but this distribution takes over later changes", nic,
			      driver, f->kernel_dmabuf_min, release);
		judge_candidate(g, "provider-kernel-old", "update to a release with a newer RDMA "
							  "stack",
				"the driver may lack dma-buf registration: errno 95 at "
				"registration would tell");
		return;
	}
	judge_fail(g, "provider-kernel-old",
		   judge_text(g, "boot a kernel from %s on", f->kernel_dmabuf_min),
		   "%s: %s registers dma-bufs from kernel %s on, running is %s", nic, driver,
		   f->kernel_dmabuf_min, release);
}

void judge_gdr_kernel(struct judging *g)
{
	const char *release = fact_string(g, "/os/kernel/release");
	struct gdr_attempt done;
	bool registered = gdr_attempt_find(g, 0, &done);

	if (!release)
		return;
	if (registered)
		gdr_attempt_fact(g, &done);
	judge_core(g, release);
	judge_config(g, "CONFIG_DMA_SHARED_BUFFER", "there are no dma-bufs");
	judge_config(g, "CONFIG_PCI_P2PDMA", "there is no peer-to-peer DMA between PCI devices");
	for (size_t i = 0; i < g->node->n_rdma; i++)
		judge_provider(g, release, &g->node->rdma[i]);
	if (!g->node->n_rdma)
		judge_assume(g, "no RDMA port of this node is known: its driver was not judged");
	judge_pass(g, "kernel %s has dma-buf registration, peer-to-peer DMA and a driver with "
		      "both%s", release,
		   registered ? "; a registration succeeded" : "");
}

void judge_gdr_peermem(struct judging *g)
{
	json_t *loaded = fact(g, "/os/modules/nvidia_peermem/loaded");

	if (!loaded)
		return;
	if (json_is_true(loaded))
		judge_pass(g, "nvidia-peermem is loaded; it is not needed for DMA-BUF and is no "
			      "evidence that GPUDirect RDMA works");
	else
		judge_pass(g, "nvidia-peermem is not loaded, and is not needed: DMA-BUF takes its "
			      "place");
}
