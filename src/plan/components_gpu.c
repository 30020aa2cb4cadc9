/* SPDX-License-Identifier: Apache-2.0 */
/* The bill: the GPU Operator and its parts, and what runs on the GPUs. */
#include "plan/bill.h"

#define VALUES "NVIDIA/gpu-operator deployments/gpu-operator/values.yaml"
#define SUPPORT "NVIDIA/cloud-native-docs gpu-operator/platform-support.rst"
#define GDR_PAGE "NVIDIA/cloud-native-docs gpu-operator/gpu-operator-rdma.rst"
#define RHEL10_DRIVER "NVIDIA/gpu-driver-container rhel10/nvidia-driver"

/* Parts that act only with sandboxed workloads. */
#define SANDBOX_RULES \
	.rules = { \
		{ GPU_OPERATOR | SANDBOX, 0, "required", "serves sandboxed workloads", VALUES }, \
		{ GPU_OPERATOR, 0, "not-needed", \
		  "acts only with `sandboxWorkloads.enabled`, which is not declared", VALUES }, \
	}

const struct bill_component bill_gpu[] = {
	{ "GPU Operator", "operator pod", .pointer = "/gpu_operator/version", .rules = {
		{ GPU_OPERATOR, 0, "required",
		  "brings driver, toolkit, device plugin and labels to the GPU nodes", VALUES },
		{ HAS_GPU | KUBERNETES, 0, "recommended",
		  "brings driver, toolkit, device plugin and labels to the GPU nodes; none is "
		  "declared", VALUES },
	} },
	{ "NVIDIA driver", "driver container", .image = "driver", .rules = {
		{ GPU_OPERATOR | HOST_DRIVER, 0, "not-needed",
		  "the driver is installed on the host",
		  VALUES },
		{ GPU_OPERATOR | PRECOMPILED, 0, "required",
		  "its modules are in the image; for RHEL the image is one's own build",
		  "NVIDIA/gpu-driver-container rhel10/precompiled" },
		{ GPU_OPERATOR, 0, "required",
		  "compiles the kernel modules on the node, again after each change of kernel",
		  RHEL10_DRIVER },
	} },
	{ "NVIDIA driver", "host", .rules = {
		{ HAS_GPU | HOST_DRIVER, 0, "required",
		  "`driver.enabled` is false; that this works on this system is unverified",
		  VALUES },
		{ HAS_GPU | GPU_OPERATOR, 0, "not-needed", "the driver container brings it",
		  VALUES },
		{ HAS_GPU, 0, "required", "no GPU Operator is declared to bring one", "site file" },
	} },
	{ "open GPU kernel module", "driver container or host",
	  .pointer = "/gpu_operator/driver/kernel_module_type", .rules = {
		{ HAS_GPU | GPUDIRECT, 0, "required", "only the open module exports DMA-BUF",
		  GDR_PAGE },
		{ HAS_GPU, 0, "recommended", "the operator's `auto` ends there on new branches",
		  RHEL10_DRIVER },
	} },
	{ "kernel-devel, kernel-headers, gcc", "package repository", .rules = {
		{ GPU_OPERATOR, HOST_DRIVER | PRECOMPILED, "required",
		  "the driver container asks every enabled repository, installs the packages of "
		  "the running kernel, and fails when one repository cannot be reached",
		  RHEL10_DRIVER },
		{ GPU_OPERATOR, 0, "not-needed", "the driver container does not compile here",
		  RHEL10_DRIVER },
	} },
	{ "nvidia-peermem", "driver container", .rules = {
		{ HAS_GPU | HAS_MLX5, 0, "not-needed",
		  "DMA-BUF takes its place; NVIDIA recommends DMA-BUF", GDR_PAGE },
		{ HAS_GPU | HAS_RDMA, 0, "must-not",
		  "it needs the peer-memory interface of OFED, and its container waits for "
		  "mlx5_core for ever; `driver.rdma.enabled: false`",
		  "NVIDIA/gpu-operator controllers/object_controls.go; " RHEL10_DRIVER },
		{ HAS_GPU, 0, "not-needed", "no RDMA port is declared", "site file" },
	} },
	{ "driver manager", "driver container", .image = "driver.manager", .rules = {
		{ GPU_OPERATOR | HOST_DRIVER, 0, "not-needed",
		  "nothing is upgraded where the host has the driver", VALUES },
		{ GPU_OPERATOR, 0, "required", "unloads the old driver before a new one starts",
		  VALUES },
	} },
	{ "container toolkit", "operator pod", .image = "toolkit", .rules = {
		{ GPU_OPERATOR, 0, "required", "puts devices and driver libraries into containers",
		  VALUES },
	} },
	{ "GPU device plugin", "operator pod", .image = "devicePlugin", .rules = {
		{ GPU_OPERATOR, 0, "required",
		  "makes nvidia.com/gpu allocatable; before 0.19.3 it gave each GPU pod every "
		  "uverbs device", "NVIDIA/gpu-operator#2525; k8s-device-plugin#1837" },
	} },
	{ "GPU feature discovery", "operator pod", .image = "gfd", .rules = {
		{ GPU_OPERATOR, 0, "recommended",
		  "labels the nodes with model and driver of their GPUs",
		  VALUES },
	} },
	{ "node feature discovery", "operator pod", .image = "node-feature-discovery", .rules = {
		{ GPU_OPERATOR, 0, "required",
		  "the operator finds GPU nodes by its labels; its image comes from another "
		  "registry",
		  VALUES },
	} },
	{ "operator validator", "operator pod", .image = "validator", .rules = {
		{ GPU_OPERATOR, 0, "required",
		  "holds back the other pods until driver and toolkit work",
		  VALUES },
	} },
	{ "DCGM exporter", "operator pod", .image = "dcgmExporter", .rules = {
		{ GPU_OPERATOR, 0, "recommended", "GPU metrics; on by default", VALUES },
	} },
	{ "DCGM", "operator pod", .image = "dcgm", .rules = {
		{ GPU_OPERATOR, 0, "not-needed", "off by default; the exporter does without it",
		  VALUES },
	} },
	{ "MIG manager", "operator pod", .image = "migManager", .rules = {
		{ GPU_OPERATOR, 0, "not-needed",
		  "on by default, and its image is pulled; whole GPUs need no partitions", VALUES },
	} },
	{ "node status exporter", "operator pod", .image = "nodeStatusExporter", .rules = {
		{ GPU_OPERATOR, 0, "not-needed", "off by default", VALUES },
	} },
	{ "GDS (nvidia-fs)", "driver container", .image = "gds", .rules = {
		{ GPU_OPERATOR | WANTS_GDS, 0, "recommended",
		  "declared; it serves local NVMe and NFS, and no S3 store passes through it",
		  SUPPORT },
		{ GPU_OPERATOR, 0, "not-needed",
		  "cuFile serves local NVMe and NFS; objects reach the GPU by DMA-BUF and verbs",
		  SUPPORT },
	} },
	{ "GDRCopy (gdrdrv)", "driver container", .image = "gdrcopy", .rules = {
		{ GPU_OPERATOR | WANTS_GDRCOPY, 0, "recommended",
		  "declared; small copies by the CPU with low latency, no part of RDMA",
		  "NVIDIA/gdrcopy README" },
		{ GPU_OPERATOR, 0, "not-needed",
		  "small copies by the CPU with low latency, no part of RDMA",
		  "NVIDIA/gdrcopy README" },
	} },
	{ "DRA driver", "operator pod", .image = "draDriver", .rules = {
		{ GPU_OPERATOR, 0, "not-needed",
		  "acts with `gpuCluster`, which needs Kubernetes 1.34.2; the device plugin "
		  "allocates GPUs here", VALUES " (26.7.0)" },
	} },
	{ "vGPU driver manager", "operator pod", .image = "vgpuManager.driverManager",
	  SANDBOX_RULES },
	{ "vGPU device manager", "operator pod", .image = "vgpuDeviceManager", SANDBOX_RULES },
	{ "VFIO manager", "operator pod", .image = "vfioManager", SANDBOX_RULES },
	{ "sandbox device plugin", "operator pod", .image = "sandboxDevicePlugin", SANDBOX_RULES },
	{ "Kata sandbox device plugin", "operator pod", .image = "kataSandboxDevicePlugin",
	  SANDBOX_RULES },
	{ "confidential computing manager", "operator pod", .image = "ccManager", SANDBOX_RULES },
	{ "CUDA", "workload image", .version = bill_version_cuda, .rules = {
		{ HAS_GPU | GPUDIRECT, 0, "required",
		  "exports GPU memory as DMA-BUF; the driver library comes from the node",
		  GDR_PAGE },
		{ HAS_GPU, 0, "required", "what runs on the GPU is built with it", GDR_PAGE },
	} },
	{ "NCCL", "workload image", .rules = {
		{ HAS_GPU | HAS_WORKLOAD, 0, "required",
		  "GPU to GPU within the workload; it is no part of the path to the store",
		  "NVIDIA NCCL user guide" },
		{ HAS_GPU, 0, "recommended", "to measure GPU to GPU apart from GPU to store",
		  "NVIDIA NCCL user guide" },
	} },
	{ "perftest with CUDA", "test image", .rules = {
		{ HAS_GPU | GPUDIRECT, 0, "recommended",
		  "a second opinion on GPUDirect RDMA: `--use_cuda=N --use_cuda_dmabuf`, in that "
		  "order",
		  "linux-rdma/perftest#336, #346" },
	} },
	{ "vLLM", "workload image", .pointer = "/workload/version", .rules = {
		{ HAS_WORKLOAD, 0, "required", "the workload that is declared",
		  "site file, `workload`" },
	} },
	{0}
};
