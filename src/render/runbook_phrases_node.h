/* SPDX-License-Identifier: Apache-2.0 */
/* Phrases of phases 0 to 6: paper, cluster, host network, NIC, RDMA. Part of runbook_phrases.h. */

/* --- 0 --- */
PHRASE(PAPER_PURPOSE,
       "The site on paper: which of the declared combinations a support table has, which are known not "
       "to work, and what only the site itself can prove. Then everything that the nodes will fetch is "
       "brought to where they can reach it.",
       "사이트를 문서로 검토합니다. 선언한 조합 중 지원 표에 있는 것, 동작하지 않는다고 알려진 것, 현장에서만 증명할 수 있는 것을 가려냅니다. "
       "그다음 노드가 받아 갈 것을 노드가 접근할 수 있는 곳에 옮겨 둡니다.")
PHRASE(PAPER_PLAN, "Judge the declaration, and read the bill of components.",
       "선언을 판정하고 구성 요소 목록을 확인합니다.")
PHRASE(PAPER_KUBESPRAY,
       "List what Kubespray {0!} itself pulls, in a checkout of that release.",
       "Kubespray {0!}이(가) 받는 것을 해당 릴리스 소스 폴더에서 뽑습니다.")
PHRASE(PAPER_COPY,
       "Copy images and files to the mirror ({0}), on a machine that reaches both it and the upstream "
       "registries.",
       "업스트림 레지스트리와 미러({0}) 양쪽에 접근할 수 있는 장비에서 이미지와 파일을 미러로 복사합니다.")
PHRASE(PAPER_VERIFY,
       "Prove on a node that the mirror is complete. The script names what is missing and ends with an "
       "error.",
       "노드에서 미러에 빠진 것이 없는지 확인합니다. 빠진 것이 있으면 이름을 알려 주고 오류로 끝납니다.")
PHRASE(PAPER_PACKAGES,
       "Put the packages of {0} into the package repository. The kernel packages have to be of exactly "
       "the kernel that runs.",
       "{0}의 패키지를 패키지 저장소에 넣습니다. 커널 패키지는 실행 중인 커널과 버전이 정확히 같아야 합니다.")
PHRASE(PAPER_INSTALL, "Install `railhead` on every node and take the first snapshots.",
       "모든 노드에 `railhead`를 설치하고 첫 스냅숏을 받습니다.")
PHRASE(PAPER_PROOF,
       "The plan has no failed gate, the mirror is complete, and every node runs the declared release "
       "and kernel. What the plan calls unverified is named above and proven later.",
       "계획에 실패한 게이트가 없고, 미러가 완전하며, 모든 노드가 선언한 릴리스와 커널로 동작합니다. 계획에서 확인되지 않았다고 한 것은 위에 "
       "적혀 있고 나중에 증명합니다.")
PHRASE(PAPER_UNDO, "No node was changed. What was copied to the mirror may stay.",
       "노드에서 바뀐 것은 없습니다. 미러에 복사한 것은 그대로 두어도 됩니다.")

/* --- 1 --- */
PHRASE(JOIN_PURPOSE, "The node becomes a member of the cluster, with the pod network running on it.",
       "노드를 클러스터에 넣고 파드 네트워크를 올립니다.")
PHRASE(JOIN_BEFORE,
       "Management addresses have to exist before, since Kubespray builds no bonds. Where a node does not "
       "have its management link yet, do phase 2 first.",
       "Kubespray는 본드를 만들지 않으므로 관리용 주소가 먼저 있어야 합니다. 관리용 링크가 아직 없는 노드는 2단계를 먼저 진행합니다.")
PHRASE(JOIN_CHECK, "Check the checkout of Kubespray {0!} and the inventory, and that every node answers.",
       "Kubespray {0!} 소스 폴더와 인벤토리를 점검하고 모든 노드가 응답하는지 확인합니다.")
PHRASE(JOIN_ADD,
       "Add the new workers to a cluster that stands already; a proven node would get its taint back. For a "
       "new cluster the step is `cluster`; both are described by `--help`.",
       "이미 있는 클러스터에 새 워커 노드만 추가합니다. 이미 증명된 노드를 넣으면 테인트가 다시 걸립니다. 새 클러스터라면 `cluster` 단계를 씁니다. 둘 다 "
       "`--help`에 설명이 있습니다.")
PHRASE(JOIN_BY_HAND, "Join the node with the installer of this cluster, then set labels and the taint.",
       "이 클러스터의 설치 도구로 노드를 추가한 다음 레이블과 테인트를 설정합니다.")
PHRASE(JOIN_TAINT,
       "The GPU nodes keep the taint {0} until their gates pass, so that no workload lands on what is "
       "not proven.",
       "GPU 노드는 게이트를 통과할 때까지 테인트 {0}을(를) 유지합니다. 증명되지 않은 노드에 워크로드가 배치되지 않게 하기 위해서입니다.")
PHRASE(JOIN_LOOK, "Look at the node.", "노드 상태를 확인합니다.")
PHRASE(JOIN_PROOF, "The node is Ready, with the declared kubelet version and its pod network agent ready.",
       "노드가 Ready이고, kubelet 버전이 선언과 같으며, 파드 네트워크 에이전트가 준비되었습니다.")
PHRASE(JOIN_UNDO, "Take the node out again. It loses its pods and its state in the cluster.",
       "노드를 다시 뺍니다. 그 노드의 파드와 클러스터 상태는 사라집니다.")

/* --- 2 --- */
PHRASE(BONDS_PURPOSE,
       "Links, bonds, VLANs, addresses, MTU and routes as they are declared, so that nodes reach each "
       "other by the link that is meant.",
       "링크, 본드, VLAN, 주소, MTU, 경로를 선언한 대로 만듭니다. 노드끼리 의도한 링크로 통신하게 됩니다.")
PHRASE(BONDS_CONSOLE,
       "Do this from the console (BMC) of the node: a mistake takes away the link over which you work.",
       "노드의 콘솔(BMC)에서 작업합니다. 실수하면 작업 중인 연결 자체가 끊어집니다.")
PHRASE(BONDS_COPY, "Bring the files to the node, and have the script put them in place. For {0}:",
       "파일을 노드로 옮기고 스크립트로 설치합니다. {0}의 예:")
PHRASE(BONDS_UP, "On the console of {0}: bring the profiles up, ports before what stands on them.",
       "{0}의 콘솔에서 프로파일을 올립니다. 포트를 먼저, 그 위에 올라가는 것을 나중에 올립니다.")
PHRASE(BONDS_NO_FILES, "Set the network of the node up as the site file declares it.",
       "사이트 파일에 선언한 대로 노드의 네트워크를 설정합니다.")
PHRASE(BONDS_DCB,
       "The ice driver takes no DCB change on a port that is in a bond. For the baseline of phase 13 nothing "
       "is set; phase 14 takes the bond down for it, and its unit does it before the bond at each boot.",
       "ice 드라이버는 본드에 들어간 포트의 DCB 변경을 거부합니다. 13단계 기준 측정 전까지는 아무것도 설정하지 않고, 14단계에서 본드를 내린 뒤 "
       "설정합니다. 그 뒤로는 유닛이 부팅할 때마다 본드보다 먼저 설정합니다.")
PHRASE(BONDS_RDMA_INBOX,
       "The ice driver of the kernel takes RDMA away from a port that joins a bond. As it is declared, "
       "phase 4 will find no RDMA device; see `plan.bond-rdma` for the ways out.",
       "커널의 ice 드라이버는 본드에 들어간 포트의 RDMA를 끕니다. 선언한 대로라면 4단계에서 RDMA 장치가 보이지 않습니다. 대안은 "
       "`plan.bond-rdma`에 있습니다.")
PHRASE(BONDS_RAILS,
       "Each rail has a subnet of its own. The sysctl file makes every port answer ARP for its own address "
       "only; without it, replies leave by the wrong rail.",
       "레일마다 서브넷이 따로 있습니다. sysctl 파일은 각 포트가 자기 주소에만 ARP로 응답하게 합니다. 없으면 응답이 다른 레일로 나갑니다.")
PHRASE(BONDS_LOOK, "Look at the bond and at the way to a peer. The ping has the size of a full frame.",
       "본드와 상대 노드까지의 경로를 확인합니다. ping은 최대 프레임 크기로 보냅니다.")
PHRASE(BONDS_PROOF,
       "802.3ad with all ports in one aggregator and a partner that answers; declared addresses on declared "
       "links, routes that leave by them, and one MTU from end to end.",
       "802.3ad이고 모든 포트가 한 애그리게이터에 있으며 상대가 응답합니다. 선언한 링크에 선언한 주소가 있고, 경로가 그 링크로 나가며, MTU가 "
       "끝에서 끝까지 같습니다.")
PHRASE(BONDS_UNDO,
       "The script puts back what was there before the first installation; then bring the old profiles up, "
       "from the console.",
       "스크립트가 처음 설치하기 전 상태로 되돌립니다. 그다음 콘솔에서 이전 프로파일을 올립니다.")

/* --- 3 --- */
PHRASE(NIC_PURPOSE,
       "The driver that is declared, firmware and packages of one kind on all ports of a role, and a PCIe "
       "link that does not stand in the way.",
       "선언한 드라이버, 같은 역할의 모든 포트에서 같은 펌웨어와 패키지, 병목이 되지 않는 PCIe 링크를 확인합니다.")
PHRASE(NIC_INBOX, "The drivers come with the kernel: nothing is to be installed. Read what is there.",
       "드라이버가 커널에 들어 있으므로 설치할 것은 없습니다. 현재 상태를 읽습니다.")
PHRASE(NIC_OUT_OF_TREE,
       "Install the out-of-tree drivers {0!}, all of one release set, for the kernel that runs. With Secure "
       "Boot the modules must be signed; each kernel update needs them built again.",
       "커널에 포함되지 않은 드라이버 {0!}을(를) 설치합니다. 모두 같은 릴리스 세트여야 하고, 실행 중인 커널용으로 빌드해야 합니다. Secure Boot를 "
       "쓰면 모듈에 서명이 필요하고, 커널을 올릴 때마다 다시 빌드해야 합니다.")
PHRASE(NIC_DDP,
       "The DDP package {0} must be the one that the driver loads at boot: put it where the driver looks, "
       "and into the initramfs.",
       "부팅할 때 드라이버가 DDP 패키지 {0}을(를) 읽어야 합니다. 드라이버가 찾는 위치에 두고 initramfs에도 넣습니다.")
PHRASE(NIC_READ, "Read driver, firmware, DDP package and PCIe link.",
       "드라이버, 펌웨어, DDP 패키지, PCIe 링크를 읽습니다.")
PHRASE(NIC_PROOF,
       "The gates compare driver, firmware and package with the declaration, and with the other ports and "
       "nodes of the role; the PCIe link runs at its full width and speed.",
       "게이트가 드라이버, 펌웨어, 패키지를 선언과 비교하고 같은 역할의 다른 포트, 노드와도 비교합니다. PCIe 링크는 최대 폭과 속도로 동작해야 합니다.")
PHRASE(NIC_UNDO_INBOX, "Nothing was changed.", "바뀐 것이 없습니다.")
PHRASE(NIC_UNDO,
       "Remove the out-of-tree packages, rebuild the initramfs, and start the node again: the drivers of "
       "the kernel are there still.",
       "커널 외부 드라이버 패키지를 지우고 initramfs를 다시 만든 뒤 재부팅합니다. 커널에 포함된 드라이버는 그대로 남아 있습니다.")

/* --- 4 --- */
PHRASE(RDMA_PURPOSE, "An RDMA device on every declared port, speaking RoCE v2, with the GID of the declared address.",
       "선언한 포트마다 RoCE v2로 통신하고 선언한 주소의 GID를 가진 RDMA 장치가 있게 합니다.")
PHRASE(RDMA_LOAD, "Load the RDMA drivers. The module files of phase 2 do it at each boot.",
       "RDMA 드라이버를 올립니다. 2단계의 모듈 파일이 부팅할 때마다 올립니다.")
PHRASE(RDMA_LOOK, "Look at the devices, their links and their GIDs.", "장치, 링크, GID를 확인합니다.")
PHRASE(RDMA_PRIMARY,
       "A RoCE bond has one device, on the first port. Never take that port out of the bond alone: RDMA "
       "is gone until all ports were removed and added again.",
       "RoCE 본드의 장치는 하나이고 첫 번째 포트에 있습니다. 그 포트만 본드에서 빼면 안 됩니다. 모든 포트를 뺐다가 다시 넣을 때까지 RDMA가 "
       "사라집니다.")
PHRASE(RDMA_PROOF,
       "A device per RDMA port, port ACTIVE, protocol RoCE, and a RoCE v2 GID of the declared address. The "
       "index of that GID is in the verdict of `rdma.gid`.",
       "RDMA 포트마다 장치가 있고, 포트가 ACTIVE이며, 프로토콜이 RoCE이고, 선언한 주소의 RoCE v2 GID가 있습니다. GID 인덱스는 "
       "`rdma.gid` 판정에 나옵니다.")
PHRASE(RDMA_UNDO, "Unload the RDMA driver. Nothing may use it at that time.",
       "RDMA 드라이버를 내립니다. 사용 중인 프로그램이 없어야 합니다.")

/* --- 5 --- */
PHRASE(USER_PURPOSE, "Programs can open the device, lock memory for it, and find the provider library.",
       "프로그램이 장치를 열고, 메모리를 잠그고, 프로바이더 라이브러리를 찾을 수 있게 합니다.")
PHRASE(USER_PACKAGES, "Install rdma-core with its tools, and perftest.",
       "rdma-core와 그 도구, perftest를 설치합니다.")
PHRASE(USER_MEMLOCK,
       "Let container programs lock memory. The drop-in of phase 2 is in force when containerd was started "
       "again.",
       "컨테이너가 메모리를 잠글 수 있게 합니다. 2단계의 드롭인은 containerd를 다시 시작해야 적용됩니다.")
PHRASE(USER_LOOK, "Look at device nodes and provider.", "장치 노드와 프로바이더를 확인합니다.")
PHRASE(USER_PROOF, "Device nodes `uverbs` and `rdma_cm` are there, `ibv_devinfo` finds the device, and the limit of locked memory is as declared, for containerd too.",
       "장치 노드 `uverbs`와 `rdma_cm`이 있고, `ibv_devinfo`가 장치를 찾으며, 잠금 메모리 한도가 containerd까지 선언과 같습니다.")
PHRASE(USER_UNDO, "Remove the drop-in and start containerd again. The packages may stay.",
       "드롭인을 지우고 containerd를 다시 시작합니다. 패키지는 그대로 두어도 됩니다.")

/* --- 6 --- */
PHRASE(HOSTS_PURPOSE, "The first traffic: RDMA write and read between the hosts, in both directions, before any pod is in the way.",
       "첫 트래픽입니다. 파드를 거치지 않고 호스트끼리 RDMA 쓰기와 읽기를 양방향으로 확인합니다.")
PHRASE(PROVE_PAIR,
       "Run RDMA between {0} and {1}: every byte is looked at, and how packets are marked. The listener prints "
       "the command line for the other node, with a TOKEN that holds once.",
       "{0}와(과) {1} 사이에서 RDMA를 실행합니다. 모든 바이트를 확인하고, 패킷이 어떻게 마킹되어 도착하는지도 봅니다. 대기하는 쪽이 "
       "다른 노드에서 실행할 명령과 한 번만 쓸 수 있는 TOKEN을 출력합니다.")
PHRASE(PROVE_PORTS, "Then the same for every other port, with its address in place of {0}, and for every other pair of nodes.",
       "나머지 포트와 나머지 노드 조합도 {0} 자리에 각 포트의 주소를 넣어 같은 방법으로 반복합니다.")
PHRASE(PROVE_FEW, "With two nodes alone both senders are the same one, and a pause may not be reached.",
       "노드가 둘뿐이면 한 노드가 두 번 보내게 되므로 일시 정지까지 가지 않을 수 있습니다.")
PHRASE(PROVE_JUDGE,
       "Copy `/var/lib/railhead/proofs` of {0} to `proofs` here, and judge the snapshots with it.",
       "{0}의 `/var/lib/railhead/proofs`를 이곳의 `proofs`로 복사한 뒤 스냅숏과 함께 판정합니다.")
PHRASE(HOSTS_PROOF, "All bytes arrive as they were sent, the counters of the RDMA device moved, and those of TCP did not.",
       "모든 바이트가 보낸 그대로 도착하고, RDMA 장치의 카운터가 움직였으며, TCP 카운터는 움직이지 않았습니다.")
PHRASE(HOSTS_UNDO, "The test leaves nothing behind. End a server that still waits.",
       "시험은 아무것도 남기지 않습니다. 아직 기다리는 서버가 있으면 종료합니다.")
