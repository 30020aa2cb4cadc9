/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is special to a NIC family. A family file (family_ice.c, family_mlx5.c, family_bnxt.c,
 * family_rxe.c) fills one struct; the gates ask through it and keep their common part.
 */
#pragma once

#include "judge/gate.h"

struct family {
	const char *name;		/* "ice", "mlx5", "bnxt", "rxe" */
	const char *const *nic_drivers;	/* drivers of the physical link: { "ice", NULL } */
	const char *const *rdma_drivers;	/* kernel RDMA providers: { "irdma", NULL } */
	const char *provider;		/* user-space provider library: "irdma" */
	const char *rdma_core_min;	/* first rdma-core with the provider's dma-buf registration */
	const char *kernel_dmabuf_min;	/* first kernel whose provider registers a dma-buf, NULL: none */
	const char *fw_lldp_flag;	/* private flag of the firmware LLDP agent, NULL: none */
	bool fw_lldp_flag_inverted;	/* "disable-fw-lldp": on = good */
	bool is_software;		/* no PCI device, no firmware, no DCB of its own */

	/*
	 * Why has this RDMA port no RDMA device? Adds causes (judge_fail, judge_candidate,
	 * judge_explained_by) in the family's terms; returns false when it has nothing to add.
	 */
	bool (*no_device)(struct judging *g, const char *nic);
	/* Firmware and DDP as this family tells them; adds findings. NULL: the common rule only. */
	void (*firmware)(struct judging *g, const char *nic);
	/* Ethernet and RDMA driver from one source? Adds findings. NULL: not applicable. */
	void (*driver_pair)(struct judging *g, const char *nic);
	/* Host side of ECN. NULL: nothing is known. */
	void (*ecn)(struct judging *g, const char *nic);
	/* Names of error counters that must not grow, NULL-terminated. */
	const char *const *error_counters;
};

/* Family of a physical link by its driver in the snapshot, NULL when unknown. A software device on
 * the link (rxe, siw) does not change the link's own family: see family_of_rdma(). */
const struct family *family_of_nic(json_t *snapshot, const char *nic);
/* Family by the driver of an RDMA device. */
const struct family *family_of_rdma(json_t *snapshot, const char *device);
const struct family *family_by_name(const char *name);

extern const struct family family_ice, family_mlx5, family_bnxt, family_rxe;
