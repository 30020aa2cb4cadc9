/* SPDX-License-Identifier: Apache-2.0 */
/* NVIDIA ConnectX and BlueField: mlx5_core with mlx5_ib. */
#include "judge/family.h"

#include <string.h>

#include "judge/signature.h"
#include "judge/subject.h"

static bool mlx5_no_device(struct judging *g, const char *nic)
{
	const char *bdf = subject_pci_of_link(g->snapshot, nic);
	const char *aux = bdf ? family_auxiliary(g->snapshot, &family_mlx5, bdf) : NULL;

	if (bdf && json_is_false(family_devlink_parameter(g, bdf, "enable_rdma"))) {
		judge_fail(g, "rdma-parameter-off",
			   judge_text(g,
				      "devlink dev param set pci/%s name enable_rdma value true "
				      "cmode driverinit && devlink dev reload pci/%s",
				      bdf, bdf),
			   "%s: the devlink parameter enable_rdma is off, so mlx5_core offers no "
			   "RDMA device",
			   nic);
		return true;
	}
	if (family_module_trouble(g, "mlx5_ib", true))
		return true;
	if (aux && family_device_in_other_netns(g, aux))
		return true;
	if (!family_module_is_loaded(g, "mlx5_ib") && peek(g, "/os/modules/mlx5_ib")) {
		judge_fail(g, "module-not-loaded",
			   "modprobe mlx5_ib; systemctl restart rdma-load-modules@rdma",
			   "mlx5_ib is not loaded, so %s has no RDMA device", nic);
		judge_explained_by(g, "rdma.module", NULL);
		return true;
	}
	return false;
}

static void mlx5_firmware(struct judging *g, const char *nic)
{
	const char *bdf = subject_pci_of_link(g->snapshot, nic);
	static const char *const bad[] = { "mlx5-health", "mlx5-fatal" };

	for (size_t i = 0; bdf && i < ARRAY_SIZE(bad); i++) {
		json_t *line = signature_fact(g, bad[i], bdf);

		if (line)
			judge_fail(g, bad[i],
				   "devlink health show; update the firmware; power-cycle the node",
				   "%s: the kernel log says: %s", nic,
				   json_get_string(line, "text", ""));
	}
}

static void mlx5_driver_pair(struct judging *g, const char *nic)
{
	(void)nic;
	family_judge_same_source(g, "mlx5_core", "mlx5_ib");
}

static const char *const nic_drivers[] = { "mlx5_core", NULL };
static const char *const rdma_drivers[] = { "mlx5_ib", NULL };
static const char *const auxiliary[] = { "mlx5_core.rdma.", NULL };

/* drivers/infiniband/hw/mlx5/counters.c, and the port counters of the InfiniBand specification */
static const char *const errors[] = {
	"out_of_sequence",
	"packet_seq_err",
	"local_ack_timeout_err",
	"implied_nak_seq_err",
	"rnr_nak_retry_err",
	"out_of_buffer",
	"duplicate_request",
	"req_cqe_error",
	"resp_cqe_error",
	"req_remote_access_errors",
	"resp_remote_access_errors",
	"req_remote_invalid_request",
	"resp_local_length_error",
	"rx_icrc_encapsulated",
	"roce_adp_retrans",
	"roce_slow_restart",
	"symbol_error",
	"port_rcv_errors",
	"port_xmit_discards",
	"link_downed",
	"link_error_recovery",
	"local_link_integrity_errors",
	NULL,
};

const struct family family_mlx5 = {
	.name = "mlx5",
	.nic_drivers = nic_drivers,
	.rdma_drivers = rdma_drivers,
	.auxiliary = auxiliary,
	.provider = "mlx5",
	.rdma_core_min = "34",
	.kernel_dmabuf_min = "5.12",
	.no_device = mlx5_no_device,
	.firmware = mlx5_firmware,
	.driver_pair = mlx5_driver_pair,
	.error_counters = errors,
};
