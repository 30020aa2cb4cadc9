/* SPDX-License-Identifier: Apache-2.0 */
/* The bill: what lives on the hosts, and the NIC. */
#include "plan/bill.h"

#define ICE_LAG "Linux drivers/net/ethernet/intel/ice/ice_lag.c (v6.6 and later)"
#define ICE_README "intel/ethernet-linux-ice README 2.6.6"
#define GDR_PAGE "NVIDIA/cloud-native-docs gpu-operator/gpu-operator-rdma.rst"
#define RHEL10_DRIVER "NVIDIA/gpu-driver-container rhel10/nvidia-driver"
#define DEVICE_PLUGIN "Mellanox/k8s-rdma-shared-dev-plugin"

const struct bill_component bill_host[] = {
	{ "operating system", "host", .version = bill_version_os, .rules = {
		{ 0, 0, "required",
		  "the rows of the support matrix are chosen by it, and the suffix of driver "
		  "images",
		  "NVIDIA/cloud-native-docs gpu-operator/platform-support.rst" },
	} },
	{ "kernel", "host", .version = bill_version_kernel, .rules = {
		{ GPUDIRECT | HAS_ICE, 0, "required",
		  "its irdma registers DMA-BUF memory (mainline from 6.3 on, RHEL 10 has it), and "
		  "the driver container is built for exactly this kernel",
		  "Linux commit d2225b838cca; " RHEL10_DRIVER },
		{ GPUDIRECT, 0, "required",
		  "GPUDirect RDMA by DMA-BUF needs 5.12 or later, and an RDMA driver that "
		  "registers such memory", GDR_PAGE },
		{ HAS_GPU, 0, "required", "the GPU driver is built for exactly this kernel",
		  RHEL10_DRIVER },
		{ 0, 0, "required", "it brings the drivers that are not declared out-of-tree",
		  "site file, `drivers`" },
	} },
	{ "IOMMU off or in passthrough", "host kernel command line", .rules = {
		{ GPUDIRECT, 0, "required",
		  "under a translating IOMMU peer writes were dropped in silence, and large "
		  "registrations fail",
		  "NVIDIA/open-gpu-kernel-modules#1324; uccl ep/src/rdma.cpp" },
	} },
	{ "ice", "host", .version = bill_version_ice, .rules = {
		{ HAS_ICE | ICE_OUT_OF_TREE | RDMA_ON_BOND, 0, "required",
		  "RDMA over a bond of E810 ports exists in Intel's driver only, from 1.14.9 on "
		  "for modes other than active-backup", ICE_README },
		{ HAS_ICE | ICE_OUT_OF_TREE, 0, "required",
		  "it drives the E810 ports; built from Intel's source, it is built again for each "
		  "kernel and signed for Secure Boot", ICE_README },
		{ HAS_ICE | RDMA_ON_BOND, 0, "required",
		  "it drives the E810 ports; the kernel's takes RDMA from a port as soon as it "
		  "joins any bond", ICE_LAG },
		{ HAS_ICE, 0, "required", "it drives the E810 ports; the kernel's own will do",
		  ICE_LAG },
		{ HAS_RDMA, 0, "not-needed", "no E810 lies below an RDMA port",
		  "site file, `links`" },
	} },
	{ "irdma", "host", .version = bill_version_irdma, .rules = {
		{ HAS_ICE | ICE_OUT_OF_TREE, 0, "required",
		  "it carries RoCEv2 on the E810; an out-of-tree ice needs the irdma of the same "
		  "release set from Intel's download site", ICE_README },
		{ HAS_ICE, 0, "required",
		  "it carries RoCEv2 on the E810; the kernel's belongs to the kernel's ice",
		  "Linux drivers/infiniband/hw/irdma; " ICE_README },
		{ HAS_RDMA, 0, "not-needed", "no E810 lies below an RDMA port",
		  "site file, `links`" },
	} },
	{ "mlx5_core and mlx5_ib", "host", .rules = {
		{ HAS_MLX5, 0, "required", "they drive the ConnectX ports and carry RoCEv2 on them",
		  "Linux drivers/infiniband/hw/mlx5" },
		{ NVLINK_5, HOST_DRIVER, "recommended",
		  "leave the kernel's own loadable: where the baseboard has ConnectX, the driver "
		  "container of an NVLink 5 system waits for mlx5_core and ib_umad (inferred for "
		  "this chassis)", RHEL10_DRIVER },
		{ HAS_RDMA, 0, "not-needed", "no ConnectX lies below an RDMA port",
		  "site file, `links`" },
	} },
	{ "bnxt_en and bnxt_re", "host", .rules = {
		{ HAS_BNXT, 0, "required", "they drive the Broadcom ports and carry RoCEv2 on them",
		  "Linux drivers/infiniband/hw/bnxt_re" },
	} },
	{ "rdma_rxe", "host", .rules = {
		{ HAS_RXE, 0, "required",
		  "software RoCE for trials of the control path; it registers no GPU memory",
		  "Linux drivers/infiniband/sw/rxe" },
		{ HAS_RDMA, 0, "not-needed", "the NICs carry RoCEv2 in hardware",
		  "Linux drivers/infiniband/sw/rxe" },
	} },
	{ "rdma-core", "host and workload image", .version = bill_version_rdma_core, .rules = {
		{ HAS_RDMA | GPUDIRECT | HAS_ICE, 0, "required",
		  "its irdma provider registers DMA-BUF memory from 45.0 on, on the host and in "
		  "every image that uses RDMA",
		  "linux-rdma/rdma-core commit 087deb5f3 (in v45.0, not in v44)" },
		{ HAS_RDMA, 0, "required", "verbs library and provider of the NIC",
		  "linux-rdma/rdma-core" },
	} },
	{ "ib_uverbs, ib_umad, rdma_ucm", "host", .rules = {
		{ HAS_RDMA | KUBERNETES | PODS_HOST_GID, 0, "required",
		  "the shared device plugin takes a device only with its uverbs, umad and rdma_cm "
		  "nodes", DEVICE_PLUGIN " pkg/resources" },
		{ HAS_RDMA, 0, "required", "user space reaches the NIC through their device nodes",
		  "Linux drivers/infiniband/core" },
	} },
	{ "E810 NVM firmware", "NIC", .version = bill_version_firmware, .rules = {
		{ HAS_ICE | ICE_OUT_OF_TREE | RDMA_ON_BOND, 0, "required",
		  "RoCE over a bond is a capability of the NVM (roce_lag); 4.80 is the floor of "
		  "Intel's guide for VF LAG, for RoCE it is an inference",
		  ICE_README "; Intel eSwitch guide" },
		{ HAS_ICE, 0, "required",
		  "ice stops at a newer major and warns at another minor version; it shall be "
		  "equal on all ports and nodes", "Linux drivers/net/ethernet/intel/ice" },
	} },
	{ "DDP package", "NIC, loaded by the host", .version = bill_version_ddp, .rules = {
		{ HAS_ICE | ICE_OUT_OF_TREE | RDMA_ON_BOND, 0, "not-needed",
		  "the ice_lag package takes the place of the default one", ICE_README },
		{ HAS_ICE, 0, "required",
		  "without one ice runs in Safe Mode: one queue, no RDMA, no DCB; the initramfs "
		  "needs it too", "Linux drivers/net/ethernet/intel/ice" },
	} },
	{ "ice_lag DDP package", "NIC, loaded by the host", .rules = {
		{ HAS_ICE | ICE_OUT_OF_TREE | RDMA_ON_BOND, 0, "required",
		  "the default package knows no LAG, and the bond then loses RDMA in silence; only "
		  "the first function of a device loads it, and the initramfs needs it",
		  ICE_README " (since 2.6.4)" },
		{ HAS_ICE, 0, "not-needed",
		  "it serves RDMA over a bond, which needs Intel's own driver", ICE_README },
	} },
	{ "LLDP agent of the firmware", "NIC", .rules = {
		{ HAS_ICE | WANTS_PFC, 0, "must-not",
		  "while it runs the host can only read DCB: no DSCP mode, no PFC or ETS of its "
		  "own; `fw-lldp-agent off` on each port", ICE_README "; ice_dcb_nl.c" },
	} },
	{ "lldpad", "host", .rules = {
		{ HAS_RDMA | WANTS_PFC, 0, "not-needed",
		  "railhead sets DCB through the kernel; an lldpad may overwrite that when it "
		  "starts (unverified)", "railhead render; open-lldp" },
	} },
	{ "DCB: DSCP map, ETS, PFC", "host", .rules = {
		{ HAS_RDMA | WANTS_PFC | HAS_ICE, 0, "required",
		  "the RoCE class is lossless only if the sender keeps it apart and obeys pauses; "
		  "ice refuses changes on a bonded port, so it is set before the bond is built",
		  "Linux drivers/net/ethernet/intel/ice/ice_dcb_nl.c" },
		{ HAS_RDMA | WANTS_PFC, 0, "required",
		  "the RoCE class is lossless only if the sender keeps it apart and obeys pauses",
		  "IEEE 802.1Q (PFC, ETS)" },
	} },
	{ "VLAN egress map", "host", .rules = {
		{ RDMA_ON_VLAN, 0, "required",
		  "RoCE on a VLAN takes its priority from the egress map; without one it is 0",
		  "Linux drivers/infiniband/hw/irdma; drivers/net/ethernet (8021q)" },
	} },
	{ "default_roce_tos", "host", .rules = {
		{ HAS_RDMA | PODS_RDMA_CM, 0, "required",
		  "connections by RDMA-CM take their ToS from it (DSCP 24 is 96); it is lost when "
		  "the device is plugged "
		  "again", "Linux Documentation/ABI/testing/configfs-rdma_cm" },
		{ HAS_RDMA, 0, "recommended",
		  "for programs that use RDMA-CM; others set the traffic class themselves",
		  "Linux Documentation/ABI/testing/configfs-rdma_cm" },
	} },
	{ "locked memory", "host, containerd", .version = bill_version_memlock, .rules = {
		{ HAS_RDMA | KUBESPRAY, 0, "required",
		  "registered memory is locked and containers inherit containerd's limit; "
		  "Kubespray sets it to "
		  "infinity", "Kubespray containerd_limit_mem_lock; Linux umem.c" },
		{ HAS_RDMA | KUBERNETES, 0, "required",
		  "registered memory is locked, containers inherit containerd's limit, and 8 MiB "
		  "is the default; IPC_LOCK helps root containers only",
		  "Linux umem.c; NVIDIA/nvidia-container-toolkit#2037" },
		{ HAS_RDMA, 0, "required", "registered memory is locked; 8 MiB is the default",
		  "Linux umem.c" },
	} },
	{ "perftest", "host", .rules = {
		{ HAS_RDMA, 0, "recommended",
		  "a second opinion on bandwidth; a distribution's build has no --use_cuda "
		  "(inferred), and it does not check bytes on an E810",
		  "linux-rdma/perftest 26.04" },
	} },
	{0}
};
