/* SPDX-License-Identifier: Apache-2.0 */
/* Phrases of phases 7 to 12: GPU Operator, GPUs, RDMA in pods. Part of runbook_phrases.h. */

/* --- 7 --- */
PHRASE(OPERATOR_PURPOSE, "The GPU Operator brings driver, container toolkit and device plugin to the GPU nodes.",
       "GPU Operator가 GPU 노드에 드라이버, 컨테이너 툴킷, 디바이스 플러그인을 배포합니다.")
PHRASE(OPERATOR_REPO,
       "The driver is compiled on the node, from packages of the repositories in ConfigMap {0} (namespace "
       "{1}). They have to be reachable at each rebuild, so as long as the node lives.",
       "드라이버는 노드에서 빌드하며, 필요한 패키지는 ConfigMap {0}(네임스페이스 {1})의 저장소에서 받습니다. 다시 빌드할 때마다 필요하므로 노드를 쓰는 "
       "동안 저장소가 계속 있어야 합니다.")
PHRASE(OPERATOR_INSTALL, "Install the operator with the values of {0}. They were compared with the keys of this version of the chart.",
       "{0}의 값으로 오퍼레이터를 설치합니다. 이 값은 차트의 해당 버전에 있는 키와 대조한 것입니다.")
PHRASE(OPERATOR_WAIT, "Wait until all of its pods are ready. Building the driver takes several minutes on each node.",
       "모든 파드가 준비될 때까지 기다립니다. 드라이버 빌드는 노드마다 몇 분이 걸립니다.")
PHRASE(OPERATOR_HOST, "This site installs the driver on the host. Install it from its packages, of the open kernel module.",
       "이 사이트는 드라이버를 호스트에 설치합니다. 오픈 커널 모듈 패키지로 설치합니다.")
PHRASE(OPERATOR_PROOF, "All declared GPUs are on the bus at full width and speed, and ClusterPolicy is ready.",
       "선언한 GPU가 모두 버스에 최대 폭과 속도로 있고, ClusterPolicy가 ready입니다.")
PHRASE(OPERATOR_UNDO, "Remove the operator. GPU pods on the nodes end first.",
       "오퍼레이터를 제거합니다. 노드의 GPU 파드를 먼저 종료합니다.")
PHRASE(OPERATOR_UNDO_HOST, "Remove the packages of the driver and start the node again.",
       "드라이버 패키지를 지우고 노드를 재부팅합니다.")

/* --- 8 --- */
PHRASE(MODULE_PURPOSE, "The open kernel module: the closed one exports no DMA-BUF.",
       "오픈 커널 모듈을 확인합니다. 독점 모듈은 DMA-BUF를 내보내지 않습니다.")
PHRASE(MODULE_READ, "Read which module is loaded, on {0}.", "{0}에서 올라온 모듈을 확인합니다.")
PHRASE(MODULE_PROOF, "The version text says \"Open Kernel Module\", and the license is \"Dual MIT/GPL\".",
       "버전 문구에 \"Open Kernel Module\"이 있고 라이선스가 \"Dual MIT/GPL\"입니다.")
PHRASE(MODULE_UNDO, "The type of the module is the value `driver.kernelModuleType`: change the site file, render, and install again.",
       "모듈 종류는 `driver.kernelModuleType` 값으로 정해집니다. 사이트 파일을 고치고 다시 렌더링하여 설치합니다.")

/* --- 9 --- */
PHRASE(DRIVER_PURPOSE, "One driver version, loaded and answering for every GPU, and GPUs that pods can ask for.",
       "드라이버 버전이 하나이고, 모든 GPU가 응답하며, 파드가 GPU를 요청할 수 있게 합니다.")
PHRASE(DRIVER_SMI, "Ask every GPU.", "모든 GPU를 조회합니다.")
PHRASE(DRIVER_ALLOCATABLE, "Look at what the cluster can hand out.", "클러스터가 할당할 수 있는 수를 확인합니다.")
PHRASE(DRIVER_PROOF, "Loaded, installed and declared version agree, every GPU answers NVML, and `nvidia.com/gpu` is allocatable as often as declared.",
       "올라온 버전, 설치된 버전, 선언한 버전이 같고, 모든 GPU가 NVML에 응답하며, `nvidia.com/gpu` 할당 가능 수가 선언과 같습니다.")
PHRASE(DRIVER_UNDO, "As in phase 7.", "7단계와 같습니다.")

/* --- 10 --- */
PHRASE(CUDA_PURPOSE, "A CUDA kernel runs in a pod and gives the right result.",
       "파드에서 CUDA 커널을 실행하고 결과가 맞는지 확인합니다.")
PHRASE(CUDA_APPLY, "Run the test pods, wait until they are done, and read what they say.",
       "시험 파드를 실행하고, 끝날 때까지 기다린 다음 출력을 확인합니다.")
PHRASE(CUDA_NONE, "No image is declared for the test pod (`kubernetes/images/cuda`). Run a CUDA program of your own that checks its result, with `nvidia.com/gpu: 1`.",
       "시험 파드의 이미지를 선언하지 않았습니다(`kubernetes/images/cuda`). `nvidia.com/gpu: 1`을 요청하고 결과를 스스로 검사하는 CUDA 프로그램을 "
       "실행합니다.")
PHRASE(CUDA_PROOF, "The pod ends with success. That it was scheduled says nothing yet.",
       "파드가 성공으로 끝나야 합니다. 스케줄링된 것만으로는 아무것도 증명되지 않습니다.")
PHRASE(CUDA_UNDO, "Delete the test pod.", "시험 파드를 삭제합니다.")

/* --- 11 --- */
PHRASE(PLUGIN_PURPOSE, "Pods can ask for RDMA devices: {3} becomes allocatable.",
       "파드가 RDMA 장치를 요청할 수 있게 합니다. {3}이(가) 할당 가능해집니다.")
PHRASE(PLUGIN_APPLY, "Deploy the device plugin.", "디바이스 플러그인을 배포합니다.")
PHRASE(PLUGIN_NONE, "No device plugin was rendered. Deploy the one of this site, with {0} as its resource.",
       "디바이스 플러그인을 렌더링하지 않았습니다. 이 사이트의 플러그인을 {0} 리소스 이름으로 배포합니다.")
PHRASE(PLUGIN_NETNS, "The devices stay in the host's network namespace mode {0}. Changing it needs a reboot of a node that has pods.",
       "장치의 RDMA 네트워크 네임스페이스 모드는 {0}입니다. 파드가 있는 노드에서 바꾸려면 재부팅이 필요합니다.")
PHRASE(PLUGIN_LOOK, "Look at what the cluster can hand out. A missing `issm` device is normal for RoCE on this kernel.",
       "클러스터가 할당할 수 있는 수를 확인합니다. 이 커널의 RoCE에서는 `issm` 장치가 없는 것이 정상입니다.")
PHRASE(PLUGIN_PROOF, "Every worker with RDMA ports has the resource allocatable, and more than zero of it.",
       "RDMA 포트가 있는 모든 워커 노드에서 리소스가 0보다 크게 할당 가능합니다.")
PHRASE(PLUGIN_UNDO, "Delete the plugin. Pods that have a device keep it until they end.",
       "플러그인을 삭제합니다. 이미 장치를 받은 파드는 끝날 때까지 유지합니다.")

/* --- 12 --- */
PHRASE(PODS_PURPOSE, "RDMA between pods of two nodes, in the way that this site has chosen ({4}).",
       "두 노드의 파드 사이에서 이 사이트가 택한 방식({4})으로 RDMA를 확인합니다.")
PHRASE(PODS_APPLY,
       "Run the test pods and read what they say: the device and GID that each found, its limit of locked "
       "memory, and the bandwidth.",
       "시험 파드를 실행하고 출력을 확인합니다. 파드마다 찾은 장치와 GID, 잠금 메모리 한도, 대역폭이 나옵니다.")
PHRASE(PODS_NONE, "No image is declared for the test pods (`kubernetes/images/rdma`). Run pods of your own with perftest, that ask for {0}.",
       "시험 파드의 이미지를 선언하지 않았습니다(`kubernetes/images/rdma`). {0}을(를) 요청하는 perftest 파드를 직접 실행합니다.")
PHRASE(PODS_HOST_GID, "A plain pod sees the GIDs of the host: raw verbs work with them, and RDMA-CM (`-R`) does not. A table that reads as zeros means that another RDMA core than the kernel's is installed.",
       "일반 파드에서는 호스트의 GID가 보입니다. raw verbs는 그 GID로 동작하지만 RDMA-CM(`-R`)은 동작하지 않습니다. GID 표가 0으로만 읽히면 "
       "커널의 RDMA 코어가 아닌 다른 것이 설치되어 있다는 뜻입니다.")
PHRASE(PODS_MEMLOCK, "Read the limit of locked memory inside the pod: IPC_LOCK helps containers of root only.",
       "파드 안에서 잠금 메모리 한도를 확인합니다. IPC_LOCK은 root 컨테이너에만 효과가 있습니다.")
PHRASE(PODS_PROOF, "Bytes verified between pods of two nodes, both ways, with the counters of the hosts' RDMA devices moving.",
       "두 노드의 파드 사이에서 양방향으로 바이트를 검증하고, 호스트 RDMA 장치의 카운터가 움직여야 합니다.")
PHRASE(PODS_UNDO, "Delete the test pods.", "시험 파드를 삭제합니다.")
