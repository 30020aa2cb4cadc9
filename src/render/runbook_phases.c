/* SPDX-License-Identifier: Apache-2.0 */
/* The table of phases: of each its place, its texts, whether this site has it, and its steps. */
#include "render/runbook.h"

static enum phrase without_kubernetes(const struct runbook_shape *has)
{
	return has->kubernetes ? PHRASE_NONE : PHRASE_NO_KUBERNETES;
}

static enum phrase without_links(const struct runbook_shape *has)
{
	return has->bonds || has->addresses ? PHRASE_NONE : PHRASE_NO_LINKS;
}

static enum phrase without_rdma(const struct runbook_shape *has)
{
	return has->rdma ? PHRASE_NONE : PHRASE_NO_RDMA;
}

static enum phrase without_pair(const struct runbook_shape *has)
{
	return !has->rdma ? PHRASE_NO_RDMA : has->rdma_pair ? PHRASE_NONE : PHRASE_NO_PAIR;
}

static enum phrase without_gpus(const struct runbook_shape *has)
{
	return has->gpus ? PHRASE_NONE : PHRASE_NO_GPU;
}

static enum phrase without_pod_rdma(const struct runbook_shape *has)
{
	return has->pod_rdma ? PHRASE_NONE : PHRASE_NO_POD_RDMA;
}

static enum phrase without_qos(const struct runbook_shape *has)
{
	return has->qos ? without_pair(has) : PHRASE_NO_QOS;
}

static enum phrase without_pfc(const struct runbook_shape *has)
{
	return has->pfc ? without_qos(has) : PHRASE_NO_PFC;
}

static enum phrase without_ecn(const struct runbook_shape *has)
{
	return has->ecn ? without_qos(has) : PHRASE_NO_ECN;
}

static enum phrase without_gpudirect(const struct runbook_shape *has)
{
	return has->gpudirect ? PHRASE_NONE : PHRASE_NO_GPUDIRECT;
}

static enum phrase without_storage(const struct runbook_shape *has)
{
	return has->storage ? PHRASE_NONE : PHRASE_NO_STORAGE;
}

static enum phrase without_workload(const struct runbook_shape *has)
{
	return has->workload ? PHRASE_NONE : PHRASE_NO_WORKLOAD;
}

#define TEXTS(name)                                                            \
	.purpose = PHRASE_##name##_PURPOSE, .proof = PHRASE_##name##_PROOF,    \
	.undo = PHRASE_##name##_UNDO

const struct runbook_phase runbook_phases[GATE_PHASES] = {
	[0] = { "선언, 버전, 운영체제", WHERE_ALL, TEXTS(PAPER), .steps = runbook_paper_steps },
	[1] = { "클러스터에 노드 추가", WHERE_KUBE, TEXTS(JOIN), without_kubernetes,
		runbook_join_steps, runbook_join_undo },
	[2] = { "본드, 주소, MTU", WHERE_ALL, TEXTS(BONDS), without_links, runbook_bonds_steps,
		runbook_bonds_undo },
	[3] = { "NIC 드라이버, 펌웨어, PCIe 링크", WHERE_RDMA, .purpose = PHRASE_NIC_PURPOSE,
		.proof = PHRASE_NIC_PROOF, .absent = without_rdma, .steps = runbook_nic_steps,
		.undo_steps = runbook_nic_undo },
	[4] = { "RDMA 드라이버, 장치, GID", WHERE_RDMA, TEXTS(RDMA), without_rdma,
		runbook_rdma_steps, runbook_rdma_undo },
	[5] = { "RDMA 사용자 공간", WHERE_RDMA, TEXTS(USER), without_rdma,
		runbook_userspace_steps, runbook_userspace_undo },
	[6] = { "호스트 간 RDMA", WHERE_RDMA, TEXTS(HOSTS), without_pair, runbook_hosts_steps },
	[7] = { "GPU Operator와 버스의 GPU", WHERE_GPU, .purpose = PHRASE_OPERATOR_PURPOSE,
		.proof = PHRASE_OPERATOR_PROOF, .absent = without_gpus,
		.steps = runbook_operator_steps, .undo_steps = runbook_operator_undo },
	[8] = { "GPU 커널 모듈", WHERE_GPU, TEXTS(MODULE), without_gpus, runbook_module_steps },
	[9] = { "GPU 드라이버와 NVML", WHERE_GPU, TEXTS(DRIVER), without_gpus,
		runbook_driver_steps },
	[10] = { "CUDA 실행", WHERE_GPU, TEXTS(CUDA), without_gpus, runbook_cuda_steps,
		 runbook_cuda_undo },
	[11] = { "파드용 RDMA 리소스", WHERE_POD_RDMA, TEXTS(PLUGIN), without_pod_rdma,
		 runbook_plugin_steps, runbook_plugin_undo },
	[12] = { "파드 간 RDMA", WHERE_POD_RDMA, TEXTS(PODS), without_pod_rdma,
		 runbook_pods_steps, runbook_pods_undo },
	[13] = { "PFC와 ECN 없는 기준 측정", WHERE_RDMA, TEXTS(BASELINE), without_pair,
		 runbook_baseline_steps },
	[14] = { "호스트의 DSCP, 우선순위, 트래픽 클래스", WHERE_RDMA, TEXTS(QOS), without_qos,
		 runbook_qos_steps, runbook_qos_undo },
	[15] = { "스위치 PFC", WHERE_SWITCH, TEXTS(PFC), without_pfc, runbook_pfc_steps,
		 runbook_pfc_undo },
	[16] = { "PFC 위의 ECN", WHERE_SWITCH, TEXTS(ECN), without_ecn, runbook_ecn_steps },
	[17] = { "PCIe 토폴로지, ACS, IOMMU", WHERE_GPU, TEXTS(TOPOLOGY), without_gpudirect,
		 runbook_topology_steps, runbook_topology_undo },
	[18] = { "GPU 메모리의 DMA-BUF 등록", WHERE_GPU, TEXTS(DMABUF), without_gpudirect,
		 runbook_dmabuf_steps },
	[19] = { "GPUDirect RDMA 전송", WHERE_GPU, TEXTS(GDR), without_gpudirect,
		 runbook_gpudirect_steps },
	[20] = { "RDMA 오브젝트 스토리지", WHERE_STORAGE, TEXTS(STORE), without_storage,
		 runbook_storage_steps },
	[21] = { "워크로드", WHERE_GPU, TEXTS(WORK), without_workload, runbook_workload_steps,
		 runbook_workload_undo },
};
