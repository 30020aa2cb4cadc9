/* SPDX-License-Identifier: Apache-2.0 */
/* Gates on paper (`railhead plan`): what can be said of a site before anything is bought. They need
 * the site file and the support matrix in data/; no node is asked. */
#include "judge/plan.h"
#include "judge/registry.h"

#define PLAN_GATE(name, what) .id = name, .phase = 0, .level = 0, .scope = GATE_SITE, .title = what

/* All of them obtain their facts in one way. */
#define OBTAIN_PLAN                                                                            \
	"`railhead plan --site site.yaml`: the declaration is compared with the rows of the "  \
	"support matrix."

const struct gate gates_plan[] = {
	{
		PLAN_GATE("plan.os-matrix", "operating system, Kubernetes and GPU Operator fit "
					    "together"),
		.judge = judge_plan_os_matrix,
		.proves = "The declared OS release, Kubernetes version and GPU Operator version "
			  "stand in one row of NVIDIA's platform table.",
		.why = "Each of the three has its own window; one of them out of range gives an "
		       "operator that installs and a driver pod that never becomes ready. "
		       "GPUDirect Storage, where it is on, has a table of its own (Ubuntu and "
		       "OpenShift only), and precompiled drivers are without it.",
		.fix = "Move the side that is out of range; the verdict names it, with the row, "
		       "its source and date.",
		.obtain = OBTAIN_PLAN,
		.source = "NVIDIA cloud-native-docs gpu-operator/platform-support.rst (RHEL "
			  "10.0-10.2 with Kubernetes 1.33-1.36 in 26.7.0); precompiled-drivers.rst",
	},
	{
		PLAN_GATE("plan.gpu-matrix", "operator and driver branch know the GPU"),
		.judge = judge_plan_gpu_matrix,
		.proves = "The GPU model is listed for the operator, and the driver branch is from "
			  "the first that knows its device ID on.",
		.why = "An older driver loads and finds no GPU. B300 (10de:3182) is first listed "
		       "in 580.82.07 and takes the open kernel module.",
		.fix = "Choose a driver branch from the named version on.",
		.obtain = OBTAIN_PLAN,
		.source = "NVIDIA open-gpu-kernel-modules README (device list); "
			  "platform-support.rst",
	},
	{
		PLAN_GATE("plan.gdr-matrix", "GPUDirect RDMA of NIC and OS is in a support row"),
		.judge = judge_plan_gdr_matrix,
		.proves = "NVIDIA lists GPUDirect RDMA for this NIC and OS; or says that it does "
			  "not, and that the gates of level 3 are the proof.",
		.why = "Every row of that table names the Network Operator and with it ConnectX or "
		       "BlueField. E810 is in none, and RHEL 10.2 is not in it either: nothing may "
		       "be taken from a table there. Without the Network Operator a row says "
		       "nothing of a ConnectX either.",
		.fix = "Prove level 3 on the site itself, write and read with verified bytes.",
		.obtain = OBTAIN_PLAN,
		.source = "NVIDIA platform-support.rst, GPUDirect RDMA rows; Network Operator 26.1 "
			  "(ConnectX-6 to -9, BlueField-3)",
	},
	{
		PLAN_GATE("plan.kernel-module", "driver.kernelModuleType ends as open"),
		.judge = judge_plan_kernel_module,
		.proves = "With DMA-BUF wanted, the chosen kernelModuleType gives the open module: "
			  "`open`, or `auto` with a driver container and branch that resolve it to "
			  "open.",
		.why = "The closed module exports no DMA-BUF. `auto` is understood from driver "
		       "containers 570.86.15 and 570.124.06 on; nvidia-fs (GPUDirect Storage) "
		       "needs the open module from 2.17.5 on; useOpenKernelModules is "
		       "deprecated. That Blackwell has no proprietary module at all is unverified "
		       "here.",
		.fix = "driver.kernelModuleType=open in the operator's values.",
		.obtain = OBTAIN_PLAN,
		.source = "gpu-operator ClusterPolicy CRD; gpu-driver-container "
			  "rhel10/nvidia-driver",
	},
	{
		PLAN_GATE("plan.driver-rdma", "driver.rdma is off on a NIC that is not NVIDIA's"),
		.judge = judge_plan_driver_rdma,
		.proves = "driver.rdma.enabled and driver.rdma.useHostMofed are false where the "
			  "data NIC is not ConnectX or BlueField.",
		.why = "These values build nvidia-peermem and make its container wait for "
		       "mlx5_core, on another NIC for ever; on ConnectX they need OFED as well. "
		       "DMA-BUF needs neither. Public recipes "
		       "(AICR v0.11.1) set them to true.",
		.fix = "driver.rdma.enabled=false, driver.rdma.useHostMofed=false.",
		.obtain = OBTAIN_PLAN,
		.source = "gpu-operator controllers/object_controls.go (v26.7.0); "
			  "gpu-driver-container (reload_nvidia_peermem)",
	},
	{
		PLAN_GATE("plan.network-operator", "no OFED driver container beside irdma"),
		.judge = judge_plan_network_operator,
		.proves = "No NicClusterPolicy.ofedDriver, and no OFED of the host, is declared "
			  "for a node whose NIC uses irdma.",
		.why = "DOCA-OFED replaces ib_core. Its release notes ask to unload irdma before "
		       "(InfiniBand mode), and its core hides host GIDs from pods, which the "
		       "plain-pod way of inbox RDMA depends on.",
		.fix = "Leave out ofedDriver; device plugin and CNI of the Network Operator can be "
		       "deployed alone.",
		.obtain = OBTAIN_PLAN,
		.source = "network-operator-docs release notes 25.1.0; Mellanox/network-operator "
			  "docs/mofed-container-env-vars.md",
	},
	{
		PLAN_GATE("plan.operator-repo", "the driver container can be built in the air gap"),
		.judge = judge_plan_operator_repo,
		.proves = "The driver container finds kernel-devel, kernel-headers and gcc of the "
			  "running kernel in a mirror that it can reach; or the driver is "
			  "precompiled, or installed on the host.",
		.why = "It compiles on the node at each rebuild and asks every enabled repository "
		       "first. Operators 26.3.0 to 26.3.3 mount RHEL's subscription paths and do "
		       "not start where these are missing; v26.7.0 skips them when "
		       "driver.repoConfig is set.",
		.fix = "v26.7.0 or later with driver.repoConfig; or a self-built precompiled "
		       "image; or a host driver with driver.enabled=false (not tried, unverified).",
		.obtain = OBTAIN_PLAN,
		.source = "gpu-operator#1501, #980, PR #2391; gpu-driver-container "
			  "rhel10/nvidia-driver lines 40-201",
	},
	{
		PLAN_GATE("plan.images", "every image has a mirror entry with the right suffix"),
		.judge = judge_plan_images,
		.proves = "Each image that the chosen operator version starts, computed from its "
			  "chart, stands in the mirror list, with the OS suffix where one is "
			  "added.",
		.why = "The driver image is pulled as `<version>-rhel10` (GDS and GDRCopy alike), "
		       "and the NFD image comes from another registry: a list of bare tags looks "
		       "complete and is not.",
		.fix = "Mirror what the verdict names, by digest.",
		.obtain = OBTAIN_PLAN,
		.source = "gpu-operator deployments/gpu-operator/values.yaml (26.3.3, 26.7.0); "
			  "gpu-driver-container#790",
	},
	{
		PLAN_GATE("plan.kubespray", "the installer release supports OS and Kubernetes "
					    "version"),
		.judge = judge_plan_kubespray,
		.proves = "The Kubespray release lists the OS and has checksums for the Kubernetes "
			  "version.",
		.why = "RHEL 10 is listed from v2.30.0, where 1.33 is no longer the default: 1.33 "
		       "on RHEL 10 means v2.30.0 or v2.31.0 with kube_version set. Older releases "
		       "check the OS by name only and do not refuse.",
		.fix = "v2.30.0 or v2.31.0 with `kube_version: 1.33.x`, or a newer Kubernetes.",
		.obtain = OBTAIN_PLAN,
		.source = "Kubespray tags v2.28.1 to v2.31.0 (checksums, README)",
	},
	{
		PLAN_GATE("plan.bond-rdma", "the driver stack carries RDMA over the declared bond"),
		.judge = judge_plan_bond_rdma,
		.proves = "RDMA is declared over a bond only where the drivers do it.",
		.why = "In-tree ice takes RDMA away from a port as soon as it joins any bond. The "
		       "out-of-tree pair (ice from 1.14.9 on) does it for two ports of one device "
		       "with equal DCB, RoCEv2, and the ice_lag DDP package. That its "
		       "active-active mode includes 802.3ad follows from the source; Intel's text "
		       "does not say so.",
		.fix = "Unbond and use one address per port (multi-rail); or the out-of-tree pair "
		       "with the LAG DDP; or keep the bond for TCP on other ports.",
		.obtain = OBTAIN_PLAN,
		.source = "drivers/net/ethernet/intel/ice/ice_lag.c (6.12); "
			  "intel/ethernet-linux-ice README 2.6.6",
	},
	{
		PLAN_GATE("plan.driver-pair", "ice and irdma come from one source"),
		.judge = judge_plan_driver_pair,
		.proves = "Both drivers are declared inbox, or both out-of-tree from one release "
			  "set.",
		.why = "A mixed pair does not work: irdma finds unknown symbols or no auxiliary "
		       "device.",
		.fix = "Both inbox, or both from Intel's release set.",
		.obtain = OBTAIN_PLAN,
		.source = "intel/ethernet-linux-ice README (build notes)",
	},
	{
		PLAN_GATE("plan.qos", "DSCP, priority, traffic class, PFC and ETS agree"),
		.judge = judge_plan_qos,
		.proves = "The map DSCP to priority to traffic class is the same on hosts and "
			  "switch, classes are contiguous from 0, PFC is on one priority, ETS sums "
			  "to 100 with the RoCE class above 0, and the traffic class of sockets is "
			  "DSCP << 2.",
		.why = "24 given as traffic class instead of 96 marks DSCP 6; PFC on priority 0 "
		       "pauses everything; a VLAN without egress map sends priority 0; a port may "
		       "have fewer classes than the plan. ice in DSCP mode keeps priority n in "
		       "class n and takes another map without an error and without effect.",
		.fix = "As the named contradiction says.",
		.obtain = OBTAIN_PLAN,
		.source = "IEEE 802.1Q (PFC, ETS); drivers/net/ethernet/intel/ice/ice_dcb_nl.c; "
			  "RFC 2474",
	},
	{
		PLAN_GATE("plan.qos-order", "DCB is set before the ports are bonded"),
		.judge = judge_plan_qos_order,
		.proves = "The plan configures DCB on the ports before it enslaves them.",
		.why = "ice refuses DCB changes while a port is in a bond.",
		.fix = "Order the units: DCB, then bond.",
		.obtain = OBTAIN_PLAN,
		.source = "drivers/net/ethernet/intel/ice/ice_dcb_nl.c",
	},
	{
		PLAN_GATE("plan.ecn-host", "the hosts react to ECN"),
		.judge = judge_plan_ecn_host,
		.proves = "The host side of ECN (CNP sent and handled) exists on this driver "
			  "stack, or ECN is declared as switch-only.",
		.why = "In-tree irdma has no knob for DCQCN: a switch that marks then has nobody "
		       "who slows down.",
		.fix = "Declare ECN as switch-only and rely on PFC, or use a stack with DCQCN.",
		.obtain = OBTAIN_PLAN,
		.source = "drivers/infiniband/hw/irdma (6.12)",
	},
	{
		PLAN_GATE("plan.pod-network", "the way pods use RDMA fits the network plan"),
		.judge = judge_plan_pod_network,
		.proves = "Pods use raw verbs with the host's GIDs on an inbox stack, or "
			  "hostNetwork, or have a second interface on the RDMA NIC.",
		.why = "A plain pod has no RDMA net device. On inbox ib_core it still sees the "
		       "host's GIDs and raw verbs work; RDMA-CM does not (nor iWARP, which has no "
		       "other way to connect), and MLNX/DOCA-OFED hides "
		       "the GIDs as well. \"Multus is not needed\" holds for the first case only "
		       "(measured with soft-RoCE; for irdma an inference).",
		.fix = "hostNetwork, or a second interface, where RDMA-CM or OFED is in use.",
		.obtain = OBTAIN_PLAN,
		.source = "drivers/infiniband/core (6.12); Mellanox/k8s-rdma-shared-dev-plugin#72, "
			  "#112; mlnx-ofa_kernel (rdma_check_gid_user_access)",
	},
	{
		PLAN_GATE("plan.storage-client", "the storage client library can use the NIC"),
		.judge = judge_plan_storage_client,
		.proves = "The S3-over-RDMA client supports the transport of this NIC, and the "
			  "server is the RDMA build.",
		.why = "The AIStor clients and cuObject need mlx5's DC transport. On another NIC "
		       "they fall back to HTTP with one line on standard error, and results look "
		       "normal. The server begins each transfer, so it needs DC as well.",
		.fix = "A NIC with DC for that client, or a client that speaks RC.",
		.obtain = OBTAIN_PLAN,
		.source = "minio/minio-cpp vendor/s3rdma/include/s3rdma.h (ff2189b); NVIDIA "
			  "cuObject documentation; docs.min.io AIStor RDMA",
	},
	{
		PLAN_GATE("plan.headroom", "switch PFC headroom is large enough"),
		.judge = judge_plan_headroom,
		.proves = "The declared headroom of the switch port is at least what speed, cable "
			  "length and MTU need, and no host sends larger frames than that MTU.",
		.why = "After a pause frame the data in flight still arrives; what does not fit "
		       "into the headroom is dropped in the lossless class.",
		.fix = "Raise the headroom to the computed value; the verdict shows formula and "
		       "cell size.",
		.obtain = OBTAIN_PLAN,
		.source = "SONiC doc/qos/dynamically-headroom-calculation.md; IEEE 802.3 31B.3.7 "
			  "(pause quanta); IEEE 802.1Q annex O",
	},
};

const size_t n_gates_plan = ARRAY_SIZE(gates_plan);
