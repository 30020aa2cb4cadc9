/* SPDX-License-Identifier: Apache-2.0 */
/* Broadcom NetXtreme-E: bnxt_en with bnxt_re. */
#include "judge/family.h"

#include "judge/subject.h"

static bool bnxt_no_device(struct judging *g, const char *nic)
{
	const char *bdf = subject_pci_of_link(g->snapshot, nic);
	const char *aux = bdf ? family_auxiliary(g->snapshot, &family_bnxt, bdf) : NULL;

	if (bdf && json_is_false(family_devlink_parameter(g, bdf, "enable_roce"))) {
		judge_fail(g, "roce-off-in-nvm",
			   judge_text(g,
				      "devlink dev param set pci/%s name enable_roce value true "
				      "cmode permanent, then reboot",
				      bdf),
			   "%s: RoCE is switched off in the adapter's NVM (devlink enable_roce)",
			   nic);
		return true;
	}
	if (family_module_trouble(g, "bnxt_re", true))
		return true;
	if (aux && family_device_in_other_netns(g, aux))
		return true;
	if (!family_module_is_loaded(g, "bnxt_re") && peek(g, "/os/modules/bnxt_re")) {
		judge_fail(g, "module-not-loaded", "modprobe bnxt_re",
			   "bnxt_re is not loaded, so %s has no RDMA device", nic);
		judge_explained_by(g, "rdma.module", NULL);
		return true;
	}
	return false;
}

static void bnxt_driver_pair(struct judging *g, const char *nic)
{
	(void)nic;
	family_judge_same_source(g, "bnxt_en", "bnxt_re");
}

static const char *const nic_drivers[] = { "bnxt_en", NULL };
static const char *const rdma_drivers[] = { "bnxt_re", NULL };
static const char *const auxiliary[] = { "bnxt_en.rdma.", NULL };

/* drivers/infiniband/hw/bnxt_re/hw_counters.c; which of them a device has depends on its firmware
 */
static const char *const errors[] = {
	"recoverable_errors",   "to_retransmits",   "seq_err_naks_rcvd",
	"max_retry_exceeded",   "rnr_naks_rcvd",    "missing_resp",
	"unrecoverable_err",    "bad_resp_err",     "local_qp_op_err",
	"local_protection_err", "mem_mgmt_op_err",  "remote_invalid_req_err",
	"remote_access_err",    "remote_op_err",    "dup_req",
	"res_oos_drop_count",   "rx_roce_discards", "tx_roce_discards",
	"rx_roce_errors",       "tx_roce_errors",   NULL,
};

const struct family family_bnxt = {
	.name = "bnxt",
	.nic_drivers = nic_drivers,
	.rdma_drivers = rdma_drivers,
	.auxiliary = auxiliary,
	.provider = "bnxt_re",
	.kernel_dmabuf_min = "6.6", /* commit 0a30e59f22b2, merged August 2023 */
	.no_device = bnxt_no_device,
	.driver_pair = bnxt_driver_pair,
	.error_counters = errors,
};
