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
	const char *rdma_core_min; /* first rdma-core with the provider's dma-buf registration */
	const char *kernel_dmabuf_min;	/* first kernel whose provider does; NULL: none */
	const char *fw_lldp_flag;	/* private flag of the firmware LLDP agent, NULL: none */
	bool fw_lldp_flag_inverted;	/* "disable-fw-lldp": on = good */
	bool is_software;		/* no PCI device, no firmware, no DCB of its own */
	/* the kernel's own driver has nothing that slows a sender down when a switch marks (rows of
	 * data/nics.yaml say `dcqcn: none`) */
	bool no_dcqcn_in_tree;
	/* RDMA auxiliary devices of its NICs are called so: { "ice.roce.", "ice.iwarp.", NULL } */
	const char *const *auxiliary;

	/*
	 * Why has this RDMA port no RDMA device? Adds causes (judge_fail, judge_candidate,
	 * judge_explained_by) in the family's terms; returns false when it has nothing to add.
	 */
	bool (*no_device)(struct judging *g, const char *nic);
	/* Firmware and DDP as this family tells them; adds findings. NULL: the common rule only. */
	void (*firmware)(struct judging *g, const char *nic);
	/* Ethernet and RDMA driver from one source? Adds findings. NULL: not applicable. */
	void (*driver_pair)(struct judging *g, const char *nic);
	/* Names of error counters that must not grow, NULL-terminated. */
	const char *const *error_counters;
};

/* Family of the NICs that a kernel driver ("ice") drives, NULL when unknown. */
const struct family *family_of_driver(const char *driver);
/* Family of a physical link by its driver in the snapshot, NULL when unknown. A software device on
 * the link (rxe, siw) does not change the link's own family: see family_of_rdma(). */
const struct family *family_of_nic(json_t *snapshot, const char *nic);
/* Family by the driver of an RDMA device. */
const struct family *family_of_rdma(json_t *snapshot, const char *device);
/* The same where the name of the driver is all that is known ("irdma": ice, the RoCE one of both). */
const struct family *family_of_rdma_driver(const char *driver);
/* Family of an RDMA port of the judged node: of its RDMA device when there is one, else of the
 * first NIC below it that has a known family. A virtual NIC can only carry software RDMA:
 * family_rxe. */
const struct family *family_of_port(const struct judging *g, const struct site_rdma *port);

/*
 * Why is this kernel module not loaded? Adds one judge_fail: module-missing (no file for the
 * running kernel), module-blacklisted, module-other-kernel (vermagic). With `explain` the verdict
 * is also marked as explained by rdma.module. False when it is loaded or nothing of this applies.
 */
bool family_module_trouble(struct judging *g, const char *module, bool explain);
bool family_module_is_loaded(struct judging *g, const char *module);

/* RDMA auxiliary device that the NIC driver offers for a PCI function ("ice.roce.0"), or NULL. */
const char *family_auxiliary(json_t *snapshot, const struct family *family, const char *bdf);

/* Value of a devlink parameter that is in force: runtime, else driverinit, else permanent.
 * NULL when the device does not have the parameter. Leaves evidence when it has. */
json_t *family_devlink_parameter(struct judging *g, const char *bdf, const char *name);

/* The common driver_pair rule: both modules in-tree or both out-of-tree. */
void family_judge_same_source(struct judging *g, const char *nic_module, const char *rdma_module);
/* Does ib_core come from elsewhere than an in-tree provider? Adds a finding when it does. */
void family_judge_core(struct judging *g, const char *rdma_module);

/* An RDMA device should be there (an auxiliary device is bound to its driver) and is not seen:
 * names the other network namespace in exclusive mode. False when nothing of this applies. */
bool family_device_in_other_netns(struct judging *g, const char *auxiliary);

/* Does this ice port run in Safe Mode (no DDP package)? Leaves evidence when it does. */
bool family_ice_safe_mode(struct judging *g, const char *nic);

extern const struct family family_ice, family_i40e, family_mlx5, family_bnxt, family_rxe;
