/* SPDX-License-Identifier: Apache-2.0 */
/* The gates of level 3: is this NIC a GPUDirect RDMA peer of this GPU? Judges: gdr_*.c. */
#include "judge/gdr.h"
#include "judge/gpu.h"
#include "judge/registry.h"

const struct gate gates_gdr[] = {
	{
		.id = "gdr.topology",
		.phase = 17,
		.level = 3,
		.scope = GATE_PATH,
		.title = "distance of GPU and NIC in the PCI tree",
		.judge = judge_gdr_topology,
		.not_applicable = gpu_direct_absent,
		.proves = "GPU and NIC hang below one PCIe switch (PIX) or several (PXB), so that "
			  "their traffic never passes a host bridge. One row for each GPU and NIC, "
			  "with the nearest port of the GPU.",
		.why = "Through a host bridge (PHB), between host bridges (NODE) or between "
		       "sockets (SYS) peer traffic is slower, and some platforms refuse reads or "
		       "all of it: client CPUs let a NIC write to a GPU and fail its reads. NVML "
		       "knows distances between GPUs only, so this one is computed from the tree. "
		       "That NODE and SYS are worded here as nvidia-smi words them is unverified.",
		.fix = "Put the NIC into a slot below the GPU's switch, or let each GPU use its "
		       "nearest port. A fresh GPUDirect run, write and read, that meets its target "
		       "decides about the rest.",
		.obtain = "/sys/bus/pci/devices must be readable; run `railhead snapshot` on the "
			  "node itself.",
		.source = "DCGM topology levels (PIX, PXB, PHB); linux-rdma/perftest#241 (GPU "
			  "slower than CPU over SYS); NVIDIA open-gpu-kernel-modules#1253 (reads "
			  "fail between root ports of client CPUs)",
	},
	{
		.id = "gdr.acs",
		.phase = 17,
		.level = 3,
		.scope = GATE_PATH,
		.title = "no ACS redirect on the bridges between GPU and NIC",
		.judge = judge_gdr_acs,
		.not_applicable = gpu_direct_absent,
		.proves = "No bridge between GPU and NIC has ACS request or completion redirect "
			  "set. Bridges elsewhere and source validation alone do not matter. "
			  "Without any bridge, as in a virtual machine, nothing is proven.",
		.why = "Redirect sends peer requests up to the root complex instead of across the "
		       "switch: GPUDirect RDMA then fails (completion error 4, vendor error 0x81 "
		       "on mlx5) or crawls, while host-memory RDMA on the same NIC is fine. BIOS "
		       "settings named \"ACS disabled\" have been seen to leave it on, and setpci "
		       "is lost at reboot.",
		.fix = "Clear the control register of the named bridge at every boot: `setpci -s "
		       "BDF ECAP_ACS+0x6.w=0000`, or in the BIOS. On a host that passes devices to "
		       "virtual machines ACS is what isolates them: decide before clearing.",
		.obtain = "The PCI configuration space beyond byte 64 needs root: run railhead as "
			  "root.",
		.source = "PCIe Base Specification 6.12 (ACS); drivers/pci/p2pdma.c (bridges "
			  "counted); NVIDIA/nccl#304, #523, #606, #928; MinIO AIStor, Configure "
			  "the RDMA fabric",
	},
	{
		.id = "gdr.iommu",
		.phase = 17,
		.level = 3,
		.scope = GATE_NODE,
		.title = "IOMMU off or in passthrough for GPUs and NICs",
		.judge = judge_gdr_iommu,
		.not_applicable = gpu_direct_absent,
		.proves = "No IOMMU is in use, or the groups of every GPU and of every RDMA NIC "
			  "are of type identity.",
		.why = "With a translating IOMMU a peer address may reach the bus untranslated: "
		       "the IOMMU discards the NIC's writes, the completion is good, the bandwidth "
		       "is full, and the bytes never arrive. So no number proves anything here but "
		       "verified bytes. It also maps large buffers page by page, and registration "
		       "above about 2 GiB fails with ENOMEM on irdma. That the 6.12 kernel of RHEL "
		       "10 is in the affected range is an inference, not verified.",
		.fix = "Boot with iommu=pt, or with the IOMMU off; check "
		       "/sys/kernel/iommu_groups/*/type after the boot.",
		.obtain = "/sys/kernel/iommu_groups/*/type must be readable.",
		.source = "NVIDIA open-gpu-kernel-modules#1324, kernel-open/nvidia/nv-dma.c; CUDA "
			  "GPUDirect RDMA guide; uccl ep/src/rdma.cpp (1 GiB pieces)",
	},
	{
		.id = "gdr.kernel",
		.phase = 18,
		.level = 3,
		.scope = GATE_NODE,
		.title = "kernel and RDMA driver register dma-bufs",
		.judge = judge_gdr_kernel,
		.not_applicable = gpu_direct_absent,
		.proves = "The kernel has REG_DMABUF_MR (5.12), dma-bufs and peer-to-peer DMA, and "
			  "the RDMA driver of each port implements the registration: irdma from "
			  "6.3 on, mlx5, bnxt_re and efa in 6.12, rxe not.",
		.why = "Each part missing gives its own errno at registration, far from its cause. "
		       "Distributions take over later changes, so an old number is only a "
		       "suspicion; errno 93 in a record of an attempt is certain. Containers share "
		       "the host's kernel: a newer image changes nothing.",
		.fix = "A newer host kernel, or a newer out-of-tree stack on the host.",
		.obtain = "/proc/config.gz or /boot/config-RELEASE must be readable; a record of a "
			  "registration, once made, settles it.",
		.source = "drivers/infiniband/core/uverbs_std_types_mr.c; "
			  "drivers/infiniband/hw/irdma (commit "
			  "d2225b838ccad126045e048471441693c7bca217); NVIDIA gpu-operator-rdma.rst "
			  "(kernel >= 5.12)",
	},
	{
		.id = "gdr.peermem",
		.phase = 18,
		.level = 3,
		.scope = GATE_NODE,
		.title = "nvidia-peermem is not needed here",
		.judge = judge_gdr_peermem,
		.not_applicable = gpu_direct_absent,
		.proves = "States whether nvidia-peermem is loaded. It decides nothing: the way "
			  "taken here is DMA-BUF.",
		.why = "`lsmod | grep nvidia_peermem` is often taken as the test for GPUDirect "
		       "RDMA. The module needs a peer-memory API that only MLNX/DOCA-OFED's "
		       "ib_core has; with inbox RDMA its absence is correct, and its presence is "
		       "no evidence. Asking the GPU Operator for it (driver.rdma.enabled=true) "
		       "makes its container wait for mlx5_core for ever on another NIC.",
		.fix = "Nothing. In the GPU Operator leave driver.rdma.enabled=false.",
		.obtain = "/sys/module must be readable.",
		.source = "kernel-open/nvidia-peermem/nvidia-peermem.c (init returns -EINVAL "
			  "without the API); gpu-driver-container rhel10/nvidia-driver (waits for "
			  "mlx5_core)",
	},
	{
		.id = "gdr.export",
		.phase = 18,
		.level = 3,
		.scope = GATE_GPU,
		.title = "GPU memory can be exported as DMA-BUF",
		.judge = judge_gdr_export,
		.not_applicable = gpu_direct_absent,
		.proves = "CUDA reports DMA_BUF_SUPPORTED for this GPU, and "
			  "cuMemGetHandleForAddressRange() gave a file descriptor for an "
			  "allocation.",
		.why = "Export is the first half of GPUDirect RDMA without a peer-memory module. "
		       "It needs the open kernel module and a kernel with dma-bufs, is refused "
		       "under confidential computing, and fails for addresses that are not whole "
		       "pages of one allocation. Neither NVML nor /proc tells it.",
		.fix = "Open kernel module; export from the base of an allocation, address and "
		       "size in multiples of the host page, flags 0 (the PCIe mapping flag is for "
		       "coherent GPUs).",
		.obtain = "`railhead prove --listen` on one node and `railhead prove HOST --suite "
			  "gdr` on the other: an export comes before each registration that is "
			  "tried; `railhead check --proofs DIR` takes the record as /proofs/gdr.",
		.source = "CUDA driver API, cuMemGetHandleForAddressRange; "
			  "kernel-open/nvidia/nv-dmabuf.c (595.45.04)",
	},
	{
		.id = "gdr.register",
		.phase = 18,
		.level = 3,
		.scope = GATE_PATH,
		.title = "the NIC registers GPU memory (ibv_reg_dmabuf_mr)",
		.judge = judge_gdr_register,
		.not_applicable = gpu_direct_absent,
		.proves = "ibv_reg_dmabuf_mr() of exported GPU memory succeeded on this NIC; the "
			  "largest region is told.",
		.why = "The errno of a failure speaks of different layers: 93 the kernel's RDMA "
		       "core has no such method, 95 driver or user-space provider has no dma-buf "
		       "operation, 22 length, offset or alignment, 12 IOMMU, adapter page tables "
		       "or locked memory, 14 plain ibv_reg_mr() on a GPU pointer, 524 the exporter "
		       "refuses the mapping type. Tools print one text for all of them.",
		.fix = "As the named cause says; for E810 rdma-core 45 or later and a kernel from "
		       "6.3 on, chunks of 1 GiB when the IOMMU translates.",
		.obtain = "`railhead prove --listen` on one node and `railhead prove HOST --suite "
			  "gdr` on the other: lengths that double are tried first; `railhead check "
			  "--proofs DIR` takes the record as /proofs/gdr.",
		.source = "drivers/infiniband/core/uverbs_ioctl.c, uverbs_std_types_mr.c; "
			  "rdma-core libibverbs/cmd_mr.c and providers/irdma; "
			  "linux-rdma/perftest#280, #346",
	},
};

const size_t n_gates_gdr = ARRAY_SIZE(gates_gdr);
