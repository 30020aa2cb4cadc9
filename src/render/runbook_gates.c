/* SPDX-License-Identifier: Apache-2.0 */
/* Titles of the gates in Korean; the English ones are the gates' own. */
#include "render/runbook.h"

#include <string.h>

static const struct {
	const char *id, *title;
} titles[] = {
	{ "plan.os-matrix", "운영체제, Kubernetes, GPU Operator의 조합" },
	{ "plan.gpu-matrix", "오퍼레이터와 드라이버 브랜치의 GPU 지원" },
	{ "plan.gdr-matrix", "NIC와 운영체제의 GPUDirect RDMA 지원 표 등재" },
	{ "plan.kernel-module", "driver.kernelModuleType이 open으로 결정됨" },
	{ "plan.driver-rdma", "NVIDIA가 아닌 NIC에서 driver.rdma가 꺼져 있음" },
	{ "plan.network-operator", "irdma와 함께 OFED 드라이버 컨테이너를 쓰지 않음" },
	{ "plan.operator-repo", "폐쇄망에서 드라이버 컨테이너 빌드 가능" },
	{ "plan.images", "모든 이미지에 올바른 접미사의 미러 항목이 있음" },
	{ "plan.kubespray", "설치 도구 릴리스의 운영체제와 Kubernetes 버전 지원" },
	{ "plan.bond-rdma", "선언한 본드 위의 RDMA를 드라이버가 지원함" },
	{ "plan.driver-pair", "ice와 irdma의 출처가 같음" },
	{ "plan.qos", "DSCP, 우선순위, 트래픽 클래스, PFC, ETS의 일치" },
	{ "plan.qos-order", "본드 구성 전에 DCB를 설정함" },
	{ "plan.ecn-host", "호스트의 ECN 반응" },
	{ "plan.pod-network", "파드의 RDMA 사용 방식과 네트워크 계획의 일치" },
	{ "plan.storage-client", "스토리지 클라이언트 라이브러리의 NIC 지원" },
	{ "plan.headroom", "스위치 PFC 헤드룸이 충분함" },
	{ "os.release", "운영체제 릴리스" },
	{ "os.kernel", "실행 중인 커널, 같은 역할의 노드끼리 동일" },
	{ "k8s.node", "Kubernetes 노드 Ready" },
	{ "k8s.cni", "노드의 Cilium 에이전트 준비" },
	{ "net.bond", "본드 모드, 포트, LACP" },
	{ "net.address", "선언한 주소와 상대 노드까지의 경로" },
	{ "net.mtu", "링크, 본드, VLAN, 포트의 MTU" },
	{ "pci.link", "PCIe 링크의 폭과 속도가 포트에 충분함" },
	{ "nic.driver", "선언한 드라이버 바인딩" },
	{ "nic.firmware", "NVM, 펌웨어, DDP 패키지" },
	{ "nic.driver-pair", "이더넷 드라이버와 RDMA 드라이버의 출처가 같음" },
	{ "rdma.module", "커널의 RDMA 프로바이더 모듈" },
	{ "rdma.device", "RDMA 장치와 ACTIVE 포트" },
	{ "rdma.protocol", "iWARP가 아닌 RoCE" },
	{ "rdma.gid", "선언한 주소의 RoCE v2 GID" },
	{ "rdma.mtu", "링크가 허용하는 RoCE MTU, 양쪽 동일" },
	{ "os.memlock", "이 프로세스와 컨테이너 런타임의 잠금 메모리 한도" },
	{ "os.kernel-log", "커널 로그에 알려진 오류가 없음" },
	{ "rdma.chardev", "장치 노드 uverbs와 rdma_cm" },
	{ "rdma.userspace", "프로바이더 라이브러리를 갖춘 rdma-core" },
	{ "proof.host", "호스트 간 양방향 RDMA, 바이트 검증" },
	{ "gpu.pci", "PCI 버스의 선언한 GPU, 최대 폭과 속도의 링크" },
	{ "gpu.operator", "GPU Operator와 ClusterPolicy 준비" },
	{ "gpu.open-module", "NVIDIA 오픈 커널 모듈" },
	{ "gpu.driver", "NVIDIA 드라이버 버전의 일치와 범위" },
	{ "gpu.nvml", "모든 GPU의 NVML 응답" },
	{ "gpu.allocatable", "선언한 수만큼 nvidia.com/gpu 할당 가능" },
	{ "cuda.run", "CUDA 커널 실행과 올바른 결과" },
	{ "rdma.netns", "RDMA 네트워크 네임스페이스 모드" },
	{ "k8s.rdma-resource", "노드의 RDMA 리소스 할당 가능" },
	{ "proof.pod", "파드의 RDMA" },
	{ "rdma.counters", "오류 카운터가 늘지 않음" },
	{ "proof.baseline", "PFC와 ECN을 끈 기준 측정" },
	{ "qos.fw-lldp", "펌웨어 LLDP 에이전트 꺼짐" },
	{ "qos.dcbx", "호스트가 관리하는 IEEE DCBX" },
	{ "qos.flow-control", "링크 단위 일시 정지 꺼짐" },
	{ "qos.dscp", "DSCP와 우선순위 매핑" },
	{ "qos.ets", "트래픽 클래스와 대역폭" },
	{ "qos.pfc", "RoCE 우선순위에만 PFC" },
	{ "qos.equal", "노드의 NIC 설정이 서로 같음" },
	{ "qos.tos", "RDMA-CM의 기본 ToS" },
	{ "qos.vlan", "VLAN의 egress 맵" },
	{ "proof.marking", "선언한 DSCP와 ECN 비트를 가진 패킷 도착" },
	{ "proof.pfc", "인캐스트에서 RoCE 우선순위에만 PFC, 폐기 없음" },
	{ "proof.ecn", "ECN 마킹과 호스트의 반응" },
	{ "gdr.topology", "PCI 트리에서 GPU와 NIC의 거리" },
	{ "gdr.acs", "GPU와 NIC 사이 브리지의 ACS 우회 없음" },
	{ "gdr.iommu", "GPU와 NIC의 IOMMU가 꺼짐 또는 passthrough" },
	{ "gdr.kernel", "커널과 RDMA 드라이버의 dma-buf 등록 지원" },
	{ "gdr.peermem", "여기서는 nvidia-peermem이 필요하지 않음" },
	{ "gdr.export", "GPU 메모리의 DMA-BUF 내보내기" },
	{ "gdr.register", "NIC의 GPU 메모리 등록(ibv_reg_dmabuf_mr)" },
	{ "proof.gdr", "GPUDirect RDMA: HBM 쓰기와 읽기, 바이트 검증" },
	{ "storage.server", "오브젝트 스토리지의 응답, RDMA 빌드, RDMA 대기" },
	{ "storage.client", "스토리지 클라이언트 라이브러리와 NIC의 일치" },
	{ "storage.path", "GET과 PUT이 RDMA로 전송됨" },
	{ "vllm.ready", "워크로드 준비" },
	{ "vllm.paths", "GPU 간 경로와 GPU-스토리지 경로를 따로 측정" },
};

const char *runbook_gate_korean(const char *id)
{
	for (size_t i = 0; i < ARRAY_SIZE(titles); i++) {
		if (!strcmp(titles[i].id, id))
			return titles[i].title;
	}
	return "";
}
