/* SPDX-License-Identifier: Apache-2.0 */
/* Phrases of phases 13 to 21: quality of service, GPUDirect, storage. Part of runbook_phrases.h. */

/* --- 13 --- */
PHRASE(BASELINE_PURPOSE,
       "The measure to compare with: bandwidth, latency and counters with PFC and ECN off, on hosts and "
       "switch. Phases 13 to 16 are measured in this order, so that each step has a before and an after.",
       "비교 기준을 측정합니다. 호스트와 스위치에서 PFC와 ECN을 끈 상태의 대역폭, 지연 시간, 카운터입니다. 13~16단계는 이 순서로 측정해야 "
       "단계마다 전과 후가 남습니다.")
PHRASE(BASELINE_OFF, "Make sure that nothing is on yet, on the ports of {0} and on every other node.",
       "{0}을(를) 비롯한 모든 노드의 포트에서 아직 아무것도 켜져 있지 않은지 확인합니다.")
PHRASE(BASELINE_SWITCH, "The switch must not have the configuration of phase 15 yet. Where it has, take it back first.",
       "스위치에도 15단계 설정이 없어야 합니다. 이미 있으면 먼저 되돌립니다.")
PHRASE(BASELINE_MEASURE,
       "Measure bandwidth, message rate, latency and CPU time between {0} and {1}, with the counters of both ends "
       "around it. The listener prints the command line for the other node, with a TOKEN that holds once; add the "
       "suite to it. Both ends keep a record.",
       "{0}와(과) {1} 사이의 대역폭, 메시지 처리율, 지연 시간, CPU 시간을 측정합니다. 양쪽 카운터의 전후 값도 함께 기록합니다. 대기하는 쪽이 다른 "
       "노드에서 실행할 명령과 한 번만 쓸 수 있는 TOKEN을 출력하므로, 여기에 suite를 덧붙여 실행합니다. 기록은 양쪽에 남습니다.")
PHRASE(BASELINE_INCAST,
       "As many send at the same time as in phases 15 and 16: with another number of senders nothing can be compared. "
       "The listener prints a command line for each, with a token and a port of its own.",
       "15, 16단계와 같은 수의 노드가 동시에 보냅니다. 보내는 쪽의 수가 다르면 비교할 수 없습니다. 대기하는 쪽이 보내는 노드마다 토큰과 포트가 다른 "
       "명령을 하나씩 출력합니다.")
PHRASE(BASELINE_PERFTEST,
       "With `--compare perftest` the same runs are made with perftest too, and both numbers stand side by side. "
       "perftest measures speed and does not look at the bytes: it decides nothing.",
       "`--compare perftest`를 주면 같은 측정을 perftest로도 실행해 두 값을 나란히 보여 줍니다. perftest는 속도를 잴 뿐 받은 바이트를 확인하지 않으므로 "
       "판정에는 쓰지 않습니다.")
PHRASE(BASELINE_PROOF, "A record that is fresh: kernel, drivers, firmware and bond are the same now as when it was measured.",
       "기록이 최신이어야 합니다. 측정할 때와 지금의 커널, 드라이버, 펌웨어, 본드가 같아야 합니다.")
PHRASE(BASELINE_UNDO, "Measuring changes nothing.", "측정은 아무것도 바꾸지 않습니다.")

/* --- 14 --- */
PHRASE(QOS_PURPOSE,
       "On the hosts: DSCP {0} is carried as priority {1} in a traffic class of its own; everything else "
       "stays in class 0, which is never paused. RDMA programs say {2} for this DSCP (it is the ToS byte).",
       "호스트에서 DSCP {0}을(를) 우선순위 {1}, 전용 트래픽 클래스로 보냅니다. 나머지는 모두 클래스 0에 남고 절대 일시 정지되지 않습니다. RDMA "
       "프로그램에는 이 DSCP를 {2}로 지정합니다(ToS 바이트 값).")
PHRASE(QOS_CHANGE, "Each change of DCB closes and opens the port: RDMA on it ends. Do one node after the other, without traffic.",
       "DCB를 바꿀 때마다 포트가 닫혔다 열리고 그 위의 RDMA 연결은 끊어집니다. 트래픽이 없을 때 노드를 하나씩 작업합니다.")
PHRASE(QOS_UNBOND, "Take the ports out of the bond; ice refuses the change otherwise. For {0}:",
       "포트를 본드에서 뺍니다. 그러지 않으면 ice가 변경을 거부합니다. {0}의 예:")
PHRASE(QOS_APPLY, "Set the class on the ports of {0}, and likewise on every node with RDMA ports.",
       "{0}의 포트에 클래스를 설정하고, RDMA 포트가 있는 모든 노드에서 같은 작업을 합니다.")
PHRASE(QOS_REBOND, "Build the bond again. The driver compares the DCB of both ports when they join.",
       "본드를 다시 구성합니다. 드라이버는 포트가 들어올 때 두 포트의 DCB를 비교합니다.")
PHRASE(QOS_INSTALL, "Bring plan and units to the node. For {0}:",
       "계획 파일과 유닛을 노드로 옮깁니다. {0}의 예:")
PHRASE(QOS_UNIT,
       "The units carry the plan out with a later railhead (`qos apply`). This one does not have that verb: "
       "leave them disabled, and set the class by hand after each boot, before the bond.",
       "유닛은 이후 버전의 railhead(`qos apply`)로 계획을 적용합니다. 이 버전에는 그 명령이 없으므로 유닛을 켜지 말고, 부팅할 때마다 본드를 올리기 전에 "
       "직접 설정합니다.")
PHRASE(QOS_NO_DCB, "The NICs of this site have no DCB. Only the marking is to be shown.",
       "이 사이트의 NIC에는 DCB가 없습니다. 마킹만 확인합니다.")
PHRASE(QOS_LOOK, "Read it back. After DSCP mode came on, the shares of the classes must have been set again: they fall to 0.",
       "다시 읽어 확인합니다. DSCP 모드가 켜지면 클래스 비율이 0으로 돌아가므로 그 뒤에 다시 설정되어 있어야 합니다.")
PHRASE(QOS_MARK,
       "All of its packets carry the declared DSCP. Meanwhile read the counters of the receiving port by priority, and "
       "the queues of the switch.",
       "모든 패킷에 선언한 DSCP가 찍혀 있습니다. 실행하는 동안 받는 포트의 우선순위별 카운터와 스위치의 큐 카운터를 확인합니다.")
PHRASE(QOS_PROOF, "The gates read every map back from the ports, and the packets arrive at the peer with the declared DSCP.",
       "게이트가 포트에서 모든 맵을 다시 읽어 확인하고, 패킷이 선언한 DSCP를 가진 채 상대에 도착해야 합니다.")
PHRASE(QOS_UNDO, "Put the ports back to one class; ports of a bond have to leave it first, as above.",
       "포트를 클래스 하나로 되돌립니다. 본드에 든 포트는 위와 같이 먼저 빼야 합니다.")

/* --- 15 --- */
PHRASE(PFC_PURPOSE, "The switch: the same map, PFC on priority {1} and on no other, headroom for cable and speed, the watchdog against a pause storm.",
       "스위치에 같은 맵을 설정합니다. PFC는 우선순위 {1}에만 켜고, 케이블과 속도에 맞는 헤드룸과 일시 정지 폭주를 막는 워치독을 둡니다.")
PHRASE(PFC_SAVE, "Save what the switch has now.", "현재 스위치 설정을 저장합니다.")
PHRASE(PFC_SAVE_PLAIN, "Save what the switch has now, in the way of its operating system.",
       "스위치 운영체제의 방법으로 현재 설정을 저장합니다.")
PHRASE(PFC_CONFIGURE,
       "Read the configuration and give it to the switch; how it is applied, and the commands that show that "
       "it took effect, stand in the file beside it. For {0}: {1} and {2}.",
       "설정 파일을 검토한 뒤 스위치에 적용합니다. 적용 방법과 적용되었는지 확인하는 명령은 옆의 파일에 있습니다. {0}: {1}, {2}.")
PHRASE(PFC_CONFIGURE_NONE, "No configuration was rendered, since no switch is declared (`switch`). Set the map, PFC, headroom and watchdog by hand.",
       "스위치를 선언하지 않아(`switch`) 설정을 렌더링하지 않았습니다. 맵, PFC, 헤드룸, 워치독을 직접 설정합니다.")
PHRASE(PFC_ORDER, "The file also holds ECN. It is phase 16: leave that part out until the measurement with PFC alone is taken.",
       "파일에는 ECN 설정도 들어 있습니다. ECN은 16단계이므로, PFC만 켠 상태의 측정을 마칠 때까지 그 부분은 빼고 적용합니다.")
PHRASE(PFC_INCAST,
       "Press several senders against one receiver: {0} listens, and {1} and another send at the same time, step by "
       "step together. The listener prints a command line for each of them, with a token and a port of its own.",
       "여러 노드가 한 노드에 동시에 보냅니다. {0}이(가) 대기하고, {1}을(를) 비롯한 둘이 단계마다 서로 맞추어 동시에 보냅니다. 대기하는 쪽이 보내는 "
       "노드마다 토큰과 포트가 다른 명령을 하나씩 출력합니다.")
PHRASE(PFC_COUNTERS, "Read the pause counters of the ports of {0}, and the drops of the switch.",
       "{0} 포트의 일시 정지 카운터와 스위치의 폐기 카운터를 읽습니다.")
PHRASE(PFC_PROOF, "Under pressure, pause frames appear on priority {1} only, no lossless packet is dropped, and the measurement is not worse than the one before beyond its noise.",
       "부하가 걸리면 우선순위 {1}에서만 일시 정지 프레임이 보이고, 무손실 패킷이 버려지지 않으며, 측정값이 이전 단계보다 오차 이상으로 나빠지지 "
       "않아야 합니다.")
PHRASE(PFC_UNDO, "Put the saved configuration back.", "저장한 설정을 되돌립니다.")
PHRASE(PFC_UNDO_PLAIN, "Put the saved configuration back, in the way of its operating system.",
       "스위치 운영체제의 방법으로 저장한 설정을 되돌립니다.")

/* --- 16 --- */
PHRASE(ECN_PURPOSE, "ECN on top of PFC: the switch marks before it has to pause.",
       "PFC 위에 ECN을 더합니다. 스위치가 일시 정지를 보내기 전에 먼저 마킹합니다.")
PHRASE(ECN_SWITCH, "Give the switch the part of its configuration that was left out: marking of the RoCE queue.",
       "스위치 설정에서 빼 두었던 부분, 즉 RoCE 큐의 마킹을 적용합니다.")
PHRASE(ECN_SWITCH_ONLY, "Marking is for the switch alone on this site: the hosts are not expected to slow down by it. What the marks do is to be measured, not assumed.",
       "이 사이트에서는 스위치만 마킹합니다. 호스트가 그에 따라 속도를 줄인다고 기대하지 않습니다. 마킹의 효과는 가정하지 말고 측정합니다.")
PHRASE(ECN_HOST, "The hosts have to answer marks: the counters of marked packets and of notifications must move on both sides.",
       "호스트가 마킹에 반응해야 합니다. 마킹된 패킷과 통지 카운터가 양쪽에서 움직여야 합니다.")
PHRASE(ECN_MEASURE, "Repeat the measurement of phase 15 from {1} and another into {0}, now with packets that may be marked.",
       "{1}을(를) 비롯한 둘에서 {0}(으)로 15단계 측정을 반복합니다. 이번에는 마킹할 수 있는 패킷을 보냅니다.")
PHRASE(ECN_COUNTERS, "Read the counters of the RDMA devices before and after, on {0} and on the senders.",
       "{0}와(과) 보내는 노드에서 RDMA 장치의 카운터를 전후로 읽습니다.")
PHRASE(ECN_PROOF, "Marked packets are seen, notifications are sent and handled, or \"switch only\" is said out loud; and the measurement is not worse than with PFC alone.",
       "마킹된 패킷이 보이고 통지가 오가며 처리되거나, 아니면 \"스위치만\"이라고 분명히 밝힙니다. 측정값은 PFC만 켰을 때보다 나빠지지 않아야 합니다.")
PHRASE(ECN_UNDO, "Take the marking out of the switch again. PFC stays as phase 15 left it.",
       "스위치에서 마킹을 다시 뺍니다. PFC는 15단계 상태로 남습니다.")

/* --- 17 --- */
PHRASE(TOPOLOGY_PURPOSE, "The way between GPU and NIC inside the machine: near each other, not redirected by ACS, not translated by the IOMMU.",
       "장비 안에서 GPU와 NIC 사이의 경로를 확인합니다. 서로 가깝고, ACS가 우회시키지 않으며, IOMMU가 변환하지 않아야 합니다.")
PHRASE(TOPOLOGY_LOOK, "Look at the distances, on {0}.", "{0}에서 거리를 확인합니다.")
PHRASE(TOPOLOGY_IOMMU, "Where the verdict of `gdr.iommu` says that the IOMMU translates, put it into passthrough and start the node again.",
       "`gdr.iommu` 판정에서 IOMMU가 변환한다고 나오면 passthrough로 바꾸고 재부팅합니다.")
PHRASE(TOPOLOGY_ACS, "Redirection by ACS is switched off in the firmware setup of the machine where it can be; the verdict of `gdr.acs` names the bridges.",
       "ACS 우회는 가능하면 장비 펌웨어 설정에서 끕니다. 해당 브리지는 `gdr.acs` 판정에 나옵니다.")
PHRASE(TOPOLOGY_PROOF, "Every GPU has a NIC that is near enough, no bridge between them redirects, and the IOMMU is off or passes through.",
       "GPU마다 충분히 가까운 NIC가 있고, 사이의 브리지가 우회시키지 않으며, IOMMU가 꺼져 있거나 passthrough입니다.")
PHRASE(TOPOLOGY_UNDO, "Take the kernel argument back and start the node again.", "커널 인자를 되돌리고 재부팅합니다.")

/* --- 18 --- */
PHRASE(DMABUF_PURPOSE, "The NIC registers GPU memory: the driver of the GPU exports it as DMA-BUF and the RDMA driver takes it.",
       "NIC가 GPU 메모리를 등록합니다. GPU 드라이버가 DMA-BUF로 내보내고 RDMA 드라이버가 받습니다.")
PHRASE(DMABUF_TRY,
       "Register memory of the GPU of {0} that is nearest to the port, in rising lengths, and move bytes through it from "
       "{1}; for another GPU give `--gpu` to the end that has it. When it fails, the record has the call, its number and "
       "the lines of the kernel log (`railhead explain gdr.register`).",
       "{0}에서 포트에 가장 가까운 GPU의 메모리를 길이를 늘려 가며 등록하고, {1}에서 그 메모리로 바이트를 옮깁니다. 다른 GPU는 GPU가 있는 쪽에 "
       "`--gpu`로 지정합니다. 실패하면 어느 호출이 어떤 번호로 실패했는지와 커널 로그가 기록에 남습니다(`railhead explain gdr.register`).")
PHRASE(DMABUF_PROOF, "`ibv_reg_dmabuf_mr` succeeds for every pair of GPU and port that is to be used. nvidia-peermem is no evidence, neither its presence nor its absence.",
       "사용할 모든 GPU와 포트 조합에서 `ibv_reg_dmabuf_mr`이 성공해야 합니다. nvidia-peermem은 있든 없든 증거가 되지 않습니다.")
PHRASE(DMABUF_UNDO, "A registration ends with its program.", "등록은 프로그램이 끝나면 사라집니다.")

/* --- 19 --- */
PHRASE(GDR_PURPOSE, "The peer writes into GPU memory and reads from it. Both: on some platforms writes work and reads do not.",
       "상대가 GPU 메모리에 쓰고, 또 읽습니다. 둘 다 확인해야 합니다. 쓰기는 되지만 읽기가 안 되는 플랫폼이 있습니다.")
PHRASE(GDR_RUN,
       "Write into memory of the GPU of {0} and read from it, from {1}, and every byte is looked at on the GPU; then the "
       "same for every GPU, with `--gpu` at the end that has it. Write comes in one direction over PCIe, read in the other.",
       "{1}에서 {0}의 GPU 메모리에 쓰고 읽으며, 모든 바이트를 GPU에서 확인합니다. 이어서 GPU가 있는 쪽에 `--gpu`를 주어 모든 GPU에서 반복합니다. "
       "쓰기와 읽기는 PCIe에서 방향이 서로 반대입니다.")
PHRASE(GDR_PERFTEST,
       "`--compare perftest` puts `ib_write_bw --use_cuda` beside it, where perftest was built with CUDA; the one of the "
       "distribution is not.",
       "`--compare perftest`를 주면 `ib_write_bw --use_cuda`의 값을 나란히 보여 줍니다. CUDA를 포함해 빌드한 perftest가 필요하며, 배포판 패키지에는 들어 "
       "있지 않습니다.")
PHRASE(GDR_LOG, "Look for faults of the IOMMU meanwhile, on {0}.", "그동안 {0}에서 IOMMU 오류가 있는지 확인합니다.")
PHRASE(GDR_PROOF, "Bytes verified on the GPU in both directions, guard bytes intact, no IOMMU fault. A bandwidth alone proves nothing: writes may be dropped in silence.",
       "양방향으로 GPU에서 바이트를 검증하고, 경계 바이트가 그대로이며, IOMMU 오류가 없어야 합니다. 대역폭 수치만으로는 아무것도 증명되지 않습니다. "
       "쓰기가 조용히 버려질 수 있기 때문입니다.")
PHRASE(GDR_UNDO, "The test leaves nothing behind.", "시험은 아무것도 남기지 않습니다.")

/* --- 20 --- */
PHRASE(STORE_PURPOSE, "The object store {5} at {6}: which way do the bytes of an object really take?",
       "{6}의 오브젝트 스토리지 {5}입니다. 객체의 바이트가 실제로 어느 경로로 가는지 확인합니다.")
PHRASE(STORE_HEALTH, "Ask the store from a GPU node.", "GPU 노드에서 스토리지를 조회합니다.")
PHRASE(STORE_BUILD, "Read in the log of the server that it is the RDMA build and listens: the standard one takes the RDMA settings and ignores them.",
       "서버 로그에서 RDMA 빌드이고 RDMA로 대기 중인지 확인합니다. 표준 빌드는 RDMA 설정을 받고도 무시합니다.")
PHRASE(STORE_RDMA, "GET and PUT an object with {0}, with snapshots before and after. The reply must carry `x-amz-rdma-reply` with 200 or 206; 501 means that it was not served by RDMA.",
       "{0}(으)로 객체를 GET, PUT하고 전후로 스냅숏을 받습니다. 응답에 `x-amz-rdma-reply`가 있고 값이 200 또는 206이어야 합니다. 501이면 RDMA로 처리되지 "
       "않은 것입니다.")
PHRASE(STORE_HTTP, "The declared client is plain HTTP: objects go over TCP on this site. `storage.path` cannot pass by that, and nothing here should be called RDMA.",
       "선언한 클라이언트는 일반 HTTP입니다. 이 사이트에서 객체는 TCP로 오갑니다. `storage.path`는 통과할 수 없고, 이를 RDMA라고 부르면 안 됩니다.")
PHRASE(STORE_PROOF, "Reply header, counters of the server and counters of the NIC agree that RDMA carried the object, and the bytes over TCP are far fewer than the object has. Never the throughput.",
       "응답 헤더, 서버 카운터, NIC 카운터가 모두 RDMA로 전송되었다고 일치해야 하고, TCP 바이트는 객체 크기보다 훨씬 적어야 합니다. 처리량은 증거가 아닙니다.")
PHRASE(STORE_UNDO, "Set the client to plain HTTP.", "클라이언트를 일반 HTTP로 설정합니다.")

/* --- 21 --- */
PHRASE(WORK_PURPOSE, "The workload ({7}) runs, and its two paths are measured apart: GPU to GPU, and GPU to storage.",
       "워크로드({7})를 실행하고, GPU와 GPU 사이, GPU와 스토리지 사이의 두 경로를 따로 측정합니다.")
PHRASE(WORK_UNTAINT, "All gates before this one have passed: take the taint off the GPU nodes, one after the other.",
       "앞선 게이트가 모두 통과했으므로 GPU 노드의 테인트를 하나씩 제거합니다.")
PHRASE(WORK_START, "Start the workload in its namespace and wait until it is ready.",
       "네임스페이스에 워크로드를 배포하고 준비될 때까지 기다립니다.")
PHRASE(WORK_MEASURE, "Measure each path with the other one idle: nccl-tests between the GPUs, then loading of the weights.",
       "한쪽을 쉬게 하고 각각 측정합니다. GPU 사이는 nccl-tests로, 그다음은 가중치 로딩으로 측정합니다.")
PHRASE(WORK_PROOF, "The workload is ready, and there are two numbers, not one.", "워크로드가 준비되었고, 수치가 하나가 아니라 둘입니다.")
PHRASE(WORK_UNDO, "Stop the workload and give the node its taint back.", "워크로드를 중지하고 노드에 테인트를 다시 겁니다.")
