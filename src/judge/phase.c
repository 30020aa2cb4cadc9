/* SPDX-License-Identifier: Apache-2.0 */
/* Titles of the plan of record. */
#include "judge/gate.h"

#include "base/compiler.h"

const char *gate_phase_title(unsigned phase)
{
	static const char *const titles[GATE_PHASES] = {
		[0] = "declarations, versions and operating system",
		[1] = "the node in the cluster",
		[2] = "bonds, addresses and MTU",
		[3] = "NIC: driver, firmware, PCIe link",
		[4] = "RDMA driver, device and GID",
		[5] = "RDMA user space",
		[6] = "RDMA from host to host",
		[7] = "GPU Operator and GPUs on the bus",
		[8] = "GPU kernel module",
		[9] = "GPU driver and NVML",
		[10] = "CUDA",
		[11] = "RDMA resources for pods",
		[12] = "RDMA from pod to pod",
		[13] = "baseline without PFC and ECN",
		[14] = "DSCP, priority and traffic class on the host",
		[15] = "PFC on the switch",
		[16] = "ECN on top of PFC",
		[17] = "PCIe topology, ACS and IOMMU",
		[18] = "DMA-BUF registration of GPU memory",
		[19] = "GPUDirect RDMA",
		[20] = "object storage over RDMA",
		[21] = "workload",
	};

	return phase < ARRAY_SIZE(titles) ? titles[phase] : "";
}
