/* SPDX-License-Identifier: Apache-2.0 */
/* The bill: cluster, pod network, switch, registry and object store. */
#include "plan/bill.h"

#define DEVICE_PLUGIN "Mellanox/k8s-rdma-shared-dev-plugin"
#define OFED_CORE "mlnx-ofa_kernel (rdma_check_gid_user_access); network-operator-docs 25.1.0"
#define NETWORK_OPERATOR "Mellanox/network-operator-docs 26.1"
#define AISTOR "docs.min.io AIStor, operations/rdma"
#define S3RDMA "minio/minio-cpp ff2189b vendor/s3rdma/include/s3rdma.h"

const struct bill_component bill_fabric[] = {
	{ "Kubernetes", "cluster", .pointer = "/kubernetes/version", .rules = {
		{ KUBERNETES, 0, "required", "the cluster that the node joins",
		  "site file, `kubernetes`" },
	} },
	{ "Kubespray", "where the cluster is installed from",
	  .pointer = "/kubernetes/kubespray/version", .rules = {
		{ KUBESPRAY, 0, "required",
		  "joins the node; network, bonds and firewall must be there before",
		  "Kubespray README, checksums" },
	} },
	{ "CNI", "cluster", .version = bill_version_cni, .rules = {
		{ KUBERNETES, 0, "required", "the pods' own network; RDMA does not pass through it",
		  "Kubespray README" },
	} },
	{ "containerd", "host", .version = bill_version_containerd, .rules = {
		{ KUBERNETES, 0, "required", "runs the pods and sets their locked memory",
		  "Kubespray roles/container-engine" },
	} },
	{ "RDMA device plugin", "cluster pod", .version = bill_version_device_plugin, .rules = {
		{ KUBERNETES | HAS_RDMA | PODS_HOST_GID | HAS_ICE, 0, "required",
		  "gives pods the device nodes; from v1.5.2 on, earlier ones demand an issm node "
		  "that RoCE ports do not have", DEVICE_PLUGIN " commit c1873a6" },
		{ KUBERNETES | HAS_RDMA | PODS_HOST_GID, 0, "required",
		  "gives pods the device nodes",
		  DEVICE_PLUGIN },
		{ KUBERNETES | HAS_RDMA | PODS_HOST_NETWORK, 0, "required",
		  "gives pods the device nodes, unless they are privileged (inferred)",
		  DEVICE_PLUGIN "#188" },
		{ KUBERNETES | HAS_RDMA | PODS_SECOND_NETWORK, 0, "required",
		  "gives pods the device nodes", DEVICE_PLUGIN },
		{ KUBERNETES | HAS_RDMA, 0, "not-needed", "no pod is declared to use RDMA",
		  "site file, `kubernetes/pod_rdma`" },
	} },
	{ "Multus", "cluster", .rules = {
		{ KUBERNETES | PODS_SECOND_NETWORK, 0, "required",
		  "pods need a second interface on the RDMA NIC; Cilium must leave its "
		  "configuration alone (`cilium_cni_exclusive: false`)",
		  "k8snetworkplumbingwg/multus-cni#1132" },
		{ KUBERNETES | PODS_HOST_GID, 0, "not-needed",
		  "raw verbs use the host's GIDs through the RDMA core of the kernel (measured "
		  "with software RoCE, inferred for the NIC)", "Linux drivers/infiniband/core" },
		{ KUBERNETES | HAS_RDMA, 0, "not-needed",
		  "no pod is declared to need a second interface",
		  "site file, `kubernetes/pod_rdma`" },
	} },
	{ "rdma-cni", "cluster", .rules = {
		{ KUBERNETES | HAS_RDMA, 0, "not-needed",
		  "moves the RDMA device of a virtual function into a pod: needs exclusive mode "
		  "and Multus, and lists ConnectX only",
		  "k8snetworkplumbingwg/rdma-cni v1.6.0 README" },
	} },
	{ "Network Operator", "operator pod", .pointer = "/network_operator/version", .rules = {
		{ KUBERNETES | HAS_MLX5 | GPUDIRECT, 0, "recommended",
		  "every GPUDirect RDMA row of NVIDIA's table names it",
		  "NVIDIA/cloud-native-docs gpu-operator/platform-support.rst" },
		{ KUBERNETES | HAS_RDMA, 0, "not-needed",
		  "it knows ConnectX and BlueField; its device plugin and CNI can be deployed "
		  "alone (inferred)", NETWORK_OPERATOR },
	} },
	{ "DOCA-OFED", "driver container", .rules = {
		{ KUBERNETES | HAS_RDMA | HAS_ICE, 0, "must-not",
		  "it replaces the RDMA core below irdma, and its core hides host GIDs from pods",
		  OFED_CORE },
		{ KUBERNETES | HAS_RDMA | PODS_HOST_GID, 0, "must-not",
		  "its RDMA core hides host GIDs from pods, which they are declared to use",
		  OFED_CORE },
		{ KUBERNETES | HAS_RDMA, 0, "not-needed",
		  "DMA-BUF works with the kernel's own driver",
		  "NVIDIA/cloud-native-docs gpu-operator/gpu-operator-rdma.rst" },
	} },
	{ "Pod Security level privileged", "namespaces of RDMA pods", .rules = {
		{ KUBERNETES | PODS_HOST_NETWORK, 0, "required",
		  "the baseline level forbids hostNetwork", "Kubernetes Pod Security Standards" },
		{ KUBERNETES | GPU_OPERATOR, 0, "required",
		  "the driver container and the device plugins mount host folders and are "
		  "privileged",
		  "Kubernetes Pod Security Standards; gpu-operator values.yaml (psa)" },
	} },
	{ "image mirror", "registry", .pointer = "/registry/host", .rules = {
		{ KUBERNETES | AIR_GAPPED, 0, "required",
		  "nodes reach nothing outside; driver images carry the suffix of their system",
		  "NVIDIA/gpu-driver-container#790" },
		{ KUBERNETES, 0, "not-needed", "nodes are not declared to be air-gapped",
		  "site file, `registry`" },
	} },
	{ "PFC on the RoCE priority", "switch", .rules = {
		{ HAS_RDMA | WANTS_PFC, 0, "required",
		  "a lossless class, on that priority and on no other", "IEEE 802.1Q (PFC)" },
		{ HAS_RDMA, 0, "recommended",
		  "RoCE recovers slowly from loss; AIStor demands a lossless fabric between its "
		  "nodes",
		  AISTOR },
	} },
	{ "DSCP map", "switch", .rules = {
		{ HAS_RDMA | WANTS_PFC, 0, "required",
		  "the switch must find the class that the hosts mark", "RFC 2474" },
	} },
	{ "ECN on the RoCE queue", "switch", .rules = {
		{ HAS_RDMA | WANTS_ECN | ECN_BY_SWITCH, 0, "recommended",
		  "it marks before PFC has to pause; no host here slows down by it, so measure "
		  "whether it helps", "Linux drivers/infiniband/hw/irdma (no DCQCN setting)" },
		{ HAS_RDMA | WANTS_ECN, 0, "required",
		  "it marks before PFC has to pause, and the hosts slow down",
		  "RFC 3168; Intel guide 635330" },
		{ HAS_RDMA, 0, "recommended", "it marks before PFC has to pause", "RFC 3168" },
	} },
	{ "PFC watchdog", "switch", .rules = {
		{ HAS_RDMA | WANTS_PFC, 0, "recommended",
		  "one broken receiver pauses the whole lossless class; the watchdog breaks that",
		  "SONiC doc/pfcwd" },
	} },
	{ "object store server", "storage node", .pointer = "/storage/version", .rules = {
		{ HAS_STORAGE | RDMA_CLIENT, 0, "required",
		  "the RDMA build; the standard one takes RDMA settings and ignores them", AISTOR },
		{ HAS_STORAGE, 0, "required", "the store that is declared",
		  "site file, `storage`" },
	} },
	{ "storage client", "workload image", .pointer = "/storage/client/library", .rules = {
		{ HAS_STORAGE | DC_CLIENT_WITHOUT_DC, 0, "must-not",
		  "it needs DC transport, which this NIC does not have, and falls back to HTTP in "
		  "silence or fails", S3RDMA "; NVIDIA cuObject README" },
		{ HAS_STORAGE | RDMA_CLIENT, 0, "required",
		  "moves objects by RDMA; the reply header and the counters prove it, throughput "
		  "does not", AISTOR },
		{ HAS_STORAGE, 0, "required", "reads and writes objects over HTTP", "RFC 9110" },
	} },
	{0}
};
