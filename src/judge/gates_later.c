/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gates whose facts come from active tests, from the Kubernetes API and from the storage:
 * registered here so that a ladder shows what is not proven yet. Where a record exists already it
 * is judged (proof_*.c, k8s_resource.c, storage_path.c).
 */
#include "judge/gdr.h"
#include "judge/gpu.h"
#include "judge/later.h"
#include "judge/registry.h"

static const char *no_kubernetes(struct judging *g)
{
	return g->site->kubernetes || peek(g, "/k8s") ? NULL : "the site declares no Kubernetes";
}

static const char *no_pods(struct judging *g)
{
	return peek(g, "/pods") ? NULL : no_kubernetes(g);
}

static const char *no_gpu_in_kubernetes(struct judging *g)
{
	const char *reason = no_kubernetes(g);

	return reason ? reason : gpu_absent(g);
}

static const char *no_gpus_declared(struct judging *g)
{
	const char *reason = no_kubernetes(g);

	for (size_t i = 0; !reason && i < g->site->n_nodes; i++) {
		if (g->site->nodes[i].n_gpus || (g->site->nodes[i].roles & SITE_ROLE_GPU))
			return NULL;
	}
	return reason ? reason : "no node of the site has GPUs";
}

static const char *no_storage(struct judging *g)
{
	return g->site->storage || peek(g, "/storage") ? NULL : "the site declares no storage";
}

static const char *no_workload(struct judging *g)
{
	return g->site->workload ? NULL : "the site declares no workload";
}

static const char *no_qos(struct judging *g)
{
	return g->site->qos.declared ? NULL : "the site declares no RoCE traffic class";
}

static const char *no_ecn(struct judging *g)
{
	const char *reason = no_qos(g);

	return reason			       ? reason :
	       g->site->qos.ecn.set && !g->site->qos.ecn.value ? "the site declares that ECN is "
								 "off" :
								 NULL;
}

#define OBTAIN_API                                                                             \
	"Needs the Kubernetes API: a kubeconfig that may read nodes, pods and the operator's " \
	"resources."

/* How to make the record of a suite. */
#define OBTAIN_SUITE(listen, suite, where)                                                       \
	"Run `railhead prove --listen" listen "` on one node and `railhead prove HOST --token "  \
	"T --suite " suite "`, as it prints it, on " where "; all keep a record. Then "          \
	"`railhead check --proofs DIR A.json B.json` with a snapshot of each node."

const struct gate gates_later[] = {
	/* --- Kubernetes ----------------------------------------------------------------------- */
	{
		.id = "k8s.node",
		.phase = 1,
		.level = 1,
		.scope = GATE_NODE,
		.title = "Kubernetes node is Ready",
		.not_applicable = no_kubernetes,
		.proves = "The node has joined, is Ready, runs the declared kubelet version and "
			  "carries no taint that nobody declared.",
		.why = "Everything from the GPU Operator on is scheduled; a node that is not "
		       "Ready, or tainted, gets none of it and says nothing.",
		.fix = "`kubectl describe node NODE`: conditions and taints name the reason.",
		.obtain = OBTAIN_API,
		.source = "Kubernetes API, Node conditions and taints",
	},
	{
		.id = "k8s.cni",
		.phase = 1,
		.level = 1,
		.scope = GATE_NODE,
		.title = "Cilium agent is ready on the node",
		.needs = { "k8s.node" },
		.not_applicable = no_kubernetes,
		.proves = "The Cilium agent of this node is ready.",
		.why = "Pods without a network are created and never start; the operator's pods "
		       "are among them.",
		.fix = "`kubectl -n kube-system logs` of the agent on this node.",
		.obtain = OBTAIN_API,
		.source = "Kubernetes API, pod readiness; Cilium documentation",
	},
	{
		.id = "gpu.operator",
		.phase = 7,
		.level = 1,
		.scope = GATE_CLUSTER,
		.title = "GPU Operator and its ClusterPolicy are ready",
		.not_applicable = no_gpus_declared,
		.proves = "The ClusterPolicy is ready, every pod of the operator runs, and the "
			  "values in force are those that were rendered.",
		.why = "The operator's pods wait for each other in init containers; the one that "
		       "waits is seldom the one at fault. Its chart has no schema: a mistyped key "
		       "is ignored, so the values in force are read back.",
		.fix = "The verdict names pod and container that wait; read that container's log.",
		.obtain = OBTAIN_API,
		.source = "gpu-operator cmd/nvidia-validator (init order driver, toolkit, cuda, "
			  "plugin); deployments/gpu-operator/values.yaml",
	},
	{
		.id = "gpu.allocatable",
		.phase = 9,
		.level = 1,
		.scope = GATE_NODE,
		.title = "nvidia.com/gpu allocatable as declared",
		.needs = { "gpu.nvml" },
		.not_applicable = no_gpu_in_kubernetes,
		.proves = "The node offers as many nvidia.com/gpu as GPUs are declared for it.",
		.why = "This is the number the scheduler sees; a device plugin that started before "
		       "the driver reports 0 until it is restarted.",
		.fix = "Restart the device plugin's pod on the node; when it stays lower, gpu.nvml "
		       "names the GPU.",
		.obtain = OBTAIN_API,
		.source = "Kubernetes device plugin API v1beta1; NVIDIA k8s-device-plugin",
	},
	{
		.id = "k8s.rdma-resource",
		.phase = 11,
		.level = 2,
		.scope = GATE_NODE,
		.title = "RDMA resource allocatable on the node",
		.judge = judge_k8s_rdma_resource,
		.not_applicable = no_kubernetes,
		.proves = "The RDMA device plugin exposes at least one device of each declared "
			  "resource, and the node has it allocatable.",
		.why = "A plugin that finds nothing runs on in silence. Versions before v1.5.2 ask "
		       "for an issm node, which RoCE ports do not get; and selectors are often "
		       "written with what lspci shows first: bus numbers as device IDs, the RDMA "
		       "driver instead of the PCI driver. \"issm not found\" beside exposed "
		       "devices is normal.",
		.fix = "Plugin v1.5.2 or later; selectors vendors [8086], drivers [ice], ifNames.",
		.obtain = "The plugin's ConfigMap and log, and the node's allocatable resources, "
			  "in /k8s/device_plugin and /k8s/node: needs the Kubernetes API.",
		.source = "Mellanox/k8s-rdma-shared-dev-plugin pkg/resources, commit c1873a6, "
			  "#113, #103, #109",
	},
	/* --- proofs: traffic ------------------------------------------------------------------ */
	{
		.id = "proof.host",
		.phase = 6,
		.level = 2,
		.scope = GATE_PAIR,
		.title = "RDMA between the hosts, both ways, bytes verified",
		.judge = judge_proof_host,
		.needs = { "rdma.device", "rdma.gid", "rdma.chardev", "rdma.userspace" },
		.proves = "A fresh run wrote and read both ways between the declared ports, every "
			  "byte was right, the RDMA counters of both NICs moved and the TCP "
			  "counters did not.",
		.why = "Configuration that looks right carries nothing yet. A record holds for the "
		       "kernel, drivers, firmware, addresses and QoS that it was made with: when "
		       "those change it is stale.",
		.fix = "Read the gates before this one; then run the proof again.",
		.obtain = "Run `railhead prove --listen` on one node and the command line that it "
			  "prints on the other; both keep a record. Then `railhead check --proofs "
			  "DIR A.json B.json` with a snapshot of each node.",
		.source = "InfiniBand Architecture Specification, annex A17 (RoCEv2); rdma-core "
			  "libibverbs",
	},
	{
		.id = "proof.pod",
		.phase = 12,
		.level = 2,
		.scope = GATE_NODE,
		.title = "RDMA from pods",
		.judge = judge_proof_pod,
		.not_applicable = no_pods,
		.proves = "Pods of this node see the RDMA device with a usable GID, their user "
			  "space fits the host's driver, they may lock memory, and a fresh run "
			  "between pods moved verified bytes.",
		.why = "The host may be perfect and the pod not: the image's library is older than "
		       "the host's driver, GIDs are hidden by the RDMA core of an OFED, RDMA-CM "
		       "finds no net device in the pod's namespace, a non-root container may lock "
		       "8 MiB.",
		.fix = "As the named cause says.",
		.obtain = "Look into a pod: `railhead snapshot` inside it, stored under "
			  "/pods/NAME; traffic by an active test between two pods.",
		.source = "sriov-cni#348 (ABI); k8s-rdma-shared-dev-plugin#72, #112 (GIDs); "
			  "nvidia-container-toolkit#2037 (locked memory); drivers/infiniband/core "
			  "(6.12)",
	},
	{
		.id = "proof.baseline",
		.phase = 13,
		.level = 2,
		.scope = GATE_PAIR,
		.title = "baseline with PFC and ECN off",
		.judge = judge_proof_baseline,
		.needs = { "proof.host" },
		.proves = "Bandwidth, latency, CPU, drops, retransmissions and pause frames were "
			  "recorded with PFC and ECN off.",
		.why = "Without a before there is no after: PFC that is switched on first cannot "
		       "be shown to help. Pause counters count by growth during the run only; a "
		       "fifth of the line rate has been lost to link pause with every drop counter "
		       "at zero.",
		.fix = "Record it before QoS is configured, with as many senders as the record of "
		       "PFC will have (--senders); link pause off.",
		.obtain = OBTAIN_SUITE("", "baseline", "the other, before PFC and ECN are on"),
		.source = "NVIDIA/daqiri#250 (pause without drops)",
	},
	{
		.id = "proof.marking",
		.phase = 14,
		.level = 2,
		.scope = GATE_PAIR,
		.title = "packets arrive with the declared DSCP and ECN bits",
		.judge = judge_proof_marking,
		.needs = { "proof.host", "qos.dscp" },
		.not_applicable = no_qos,
		.proves = "Packets of a marked run arrived with the declared DSCP and ECN bits, "
			  "both ways.",
		.why = "A traffic class that is set is not a marking that arrives: 24 instead of "
		       "96, an RDMA-CM default that was lost, a VLAN without egress map, a switch "
		       "that rewrites. The value that arrives names which.",
		.fix = "Traffic class = DSCP << 2 in the application or rdma_cm default_roce_tos; "
		       "trust DSCP on the switch port.",
		.obtain = "Run `railhead prove` between the two nodes with the declared DSCP: the "
			  "receiver reads the marks from the header of each packet. Then `railhead "
			  "check --proofs DIR A.json B.json` with a snapshot of each node.",
		.source = "RFC 2474, RFC 3168; drivers/infiniband/core/cma.c (default_roce_tos)",
	},
	{
		.id = "proof.pfc",
		.phase = 15,
		.level = 2,
		.scope = GATE_PAIR,
		.title = "PFC on the RoCE priority only, under incast, without drops",
		.judge = judge_proof_pfc,
		.needs = { "proof.marking", "proof.baseline" },
		.not_applicable = judge_proof_pfc_absent,
		.proves = "Under incast, PFC frames appeared on the RoCE priority alone, nothing "
			  "was dropped, and the result is not worse than the baseline beyond its "
			  "noise.",
		.why = "PFC that never fires under load is not configured on the way; PFC on other "
		       "priorities pauses what should not wait.",
		.fix = "Same map on host and switch, PFC on one priority, headroom as computed.",
		.obtain = OBTAIN_SUITE(" --senders N", "pfc",
				       "N others (two or more) at the same time, so that the port "
				       "of the listener is filled"),
		.source = "IEEE 802.1Q clause 36 (priority-based flow control)",
	},
	{
		.id = "proof.ecn",
		.phase = 16,
		.level = 2,
		.scope = GATE_PAIR,
		.title = "ECN marks, and the hosts react",
		.judge = judge_proof_ecn,
		.needs = { "proof.pfc" },
		.not_applicable = no_ecn,
		.proves = "CE marks arrived, CNPs were sent and handled, and PFC fired less than "
			  "without; or it is said that only the switch takes part.",
		.why = "PFC stops a queue, ECN slows the sender. Marks that nobody answers change "
		       "nothing: in-tree irdma has no knob for the host side.",
		.fix = "ECN thresholds below those of PFC on the switch; host side where the "
		       "driver has one.",
		.obtain = OBTAIN_SUITE(" --senders N", "ecn",
				       "N others at the same time, as for PFC"),
		.source = "RFC 3168; InfiniBand annex A17 (CNP)",
	},
	{
		.id = "proof.gdr",
		.phase = 19,
		.level = 3,
		.scope = GATE_PATH,
		.title = "GPUDirect RDMA: write into HBM and read from HBM, bytes verified",
		.judge = judge_proof_gdr,
		.not_applicable = gpu_direct_absent,
		.proves = "A fresh run wrote into GPU memory and read from it over this NIC; the "
			  "bytes were verified on the GPU, canaries around the buffer are intact, "
			  "and no IOMMU fault was logged.",
		.why = "A bandwidth number proves nothing: a translating IOMMU discards writes "
		       "whose completions are good. Writes may work where reads fail. ACS redirect "
		       "shows as completion error 4 only once GPU memory is used.",
		.fix = "As the named cause says: gdr.acs, gdr.iommu, gdr.topology.",
		.obtain = "`railhead prove --listen` on one node and `railhead prove HOST --suite "
			  "gdr` on the other, as root, so that the kernel log can be read; "
			  "`railhead check --proofs DIR` takes the record as /proofs/gdr.",
		.source = "NVIDIA open-gpu-kernel-modules#1324, #1253; NVIDIA/nccl#304, #928; "
			  "rdma-core enum ibv_wc_status",
	},
	/* --- storage and workload ------------------------------------------------------------- */
	{
		.id = "storage.server",
		.phase = 20,
		.level = 4,
		.scope = GATE_PAIR,
		.title = "object store answers, is the RDMA build, listens for RDMA",
		.not_applicable = no_storage,
		.proves = "The endpoint answers, its banner names the RDMA build, and its RDMA "
			  "listener is up.",
		.why = "AIStor's standard build ignores RDMA settings without a word, and bad "
		       "values are ignored by the RDMA build too: it then starts and serves TCP.",
		.fix = "The package or tag that ends in .rdma; exact setting names; restart after "
		       "a change.",
		.obtain = "Needs the endpoint and its metrics; recorded in /storage/server.",
		.source = "docs.min.io AIStor: deploy the RDMA server, RDMA settings",
	},
	{
		.id = "storage.client",
		.phase = 20,
		.level = 4,
		.scope = GATE_NODE,
		.title = "the storage client library fits the NIC",
		.not_applicable = no_storage,
		.proves = "The client library in use supports a transport that this NIC has.",
		.why = "The libraries of MinIO and NVIDIA need mlx5's DC transport; on E810 they "
		       "fall back to HTTP.",
		.fix = "A NIC with DC for that client, or a client that speaks RC.",
		.obtain = "The client's library and version, recorded in /storage/client.",
		.source = "minio/minio-cpp vendor/s3rdma/include/s3rdma.h (ff2189b); NVIDIA "
			  "cuObject documentation",
	},
	{
		.id = "storage.path",
		.phase = 20,
		.level = 4,
		.scope = GATE_NODE,
		.title = "GET and PUT are carried by RDMA",
		.judge = judge_storage_path,
		.not_applicable = no_storage,
		.proves = "Reply header, server counters and NIC counters agree that RDMA carried "
			  "the objects, TCP bytes are few against the payload, and the objects' "
			  "hashes are right.",
		.why = "Fallback to HTTP is silent and fast enough to be believed: speed proves "
		       "nothing (a healthy RDMA GET of 1 MiB was slower than TCP). One witness may "
		       "lie, four that agree do not. AIStor sends no reply header on a PUT that "
		       "succeeded; its ETag stands for it.",
		.fix = "RDMA build of the server, valid settings, a client library that fits the "
		       "NIC.",
		.obtain = "A storage run from the client; its record goes to /storage/path of the "
			  "client's snapshot.",
		.source = "docs.min.io AIStor S3 over RDMA (x-amz-rdma-reply 200, 206, 501); "
			  "NVIDIA/multi-storage-client#87; minio-cpp#214",
	},
	{
		.id = "vllm.ready",
		.phase = 21,
		.level = 5,
		.scope = GATE_CLUSTER,
		.title = "the workload is ready",
		.not_applicable = no_workload,
		.proves = "The vLLM deployment is ready and answers a request.",
		.why = "The purpose of the whole path.",
		.fix = "Read the pod's log; then the first gate of this ladder that holds.",
		.obtain = OBTAIN_API,
		.source = "vLLM documentation (health endpoint)",
	},
	{
		.id = "vllm.paths",
		.phase = 21,
		.level = 5,
		.scope = GATE_CLUSTER,
		.title = "GPU to GPU and GPU to storage, measured apart",
		.needs = { "vllm.ready" },
		.not_applicable = no_workload,
		.proves = "The two paths were measured apart while the workload ran: NCCL or "
			  "NVLink between GPUs, and storage.",
		.why = "A fast workload may hide a storage path that fell back to TCP behind its "
		       "cache, or a slow NCCL ring behind NVLink.",
		.fix = "Measure each path with the other idle.",
		.obtain = "A measurement during the workload; its record goes to /proofs/vllm.",
		.source = "nccl-tests doc/PERFORMANCE.md (bus bandwidth)",
	},
};

const size_t n_gates_later = ARRAY_SIZE(gates_later);
