/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the runbook says, in English and Korean side by side: PHRASE(id, en, ko), see runbook.h.
 * Included several times, so there is no guard. Both texts of a phrase have the same arguments.
 */
PHRASE(TITLE, "Runbook of {0!}", "{0!} 런북")
PHRASE(INTRO,
       "The phases of this site in order, each with its commands, its gates and its way back. It was "
       "rendered from the site file, called `site.yaml` below, as were the files that it names; what "
       "is wrong here is to be changed there, and rendered again.",
       "이 사이트의 단계를 순서대로 적은 문서입니다. 단계마다 명령, 게이트, 되돌리는 방법이 있습니다. 이 문서와 여기에 나오는 "
       "파일은 모두 사이트 파일(아래에서는 `site.yaml`)에서 만들었습니다. 틀린 곳이 있으면 사이트 파일을 고치고 다시 렌더링하세요.")
PHRASE(RULE,
       "A phase is done when its gates pass, and not before. Go on to the next one only then: each gate "
       "stands on those before it.",
       "게이트가 통과해야 그 단계가 끝난 것입니다. 각 게이트는 앞선 게이트가 통과했다고 전제하므로, 통과한 뒤에만 다음 단계로 넘어가세요.")
PHRASE(WORKPLACE,
       "Commands are given in the folder of this book, on a machine that reaches every node by ssh, "
       "unless a step says otherwise.",
       "별도 언급이 없으면 모든 노드에 ssh로 접속할 수 있는 장비에서, 이 문서가 있는 폴더를 현재 디렉터리로 하여 명령을 실행합니다.")

PHRASE(PLAN, "What the plan says", "계획 판정")
PHRASE(PLAN_NONE, "This site was rendered without a plan. Ask for it: `railhead plan site.yaml`.",
       "계획 없이 렌더링했습니다. `railhead plan site.yaml`로 확인하세요.")
PHRASE(PLAN_OTHERS,
       "{0!} gates on paper pass, {1!} do not apply. The others, in the words of `railhead plan`:",
       "문서상의 게이트 {0!}개가 통과했고 {1!}개는 해당하지 않습니다. 나머지는 다음과 같습니다(`railhead plan`이 출력하는 영어 문구 그대로).")
PHRASE(PLAN_CLEAN, "All {0!} gates on paper that apply to this site pass.",
       "이 사이트에 해당하는 문서상의 게이트 {0!}개가 모두 통과했습니다.")
PHRASE(PLAN_FORCED,
       "The plan of this site fails. It was rendered all the same; what the plan says does not go away "
       "by that.",
       "이 사이트의 계획은 실패입니다. 그래도 렌더링했지만, 계획이 지적한 문제가 사라진 것은 아닙니다.")
PHRASE(UNVERIFIED, "What stays unverified", "확인되지 않은 것")
PHRASE(UNVERIFIED_INTRO,
       "Nobody has seen these on such a site. The gate named with each will prove it; where none is named, "
       "only what is said there will.",
       "이런 사이트에서 아직 확인된 적이 없는 것들입니다. 함께 적은 게이트가 증명합니다. 게이트가 없으면 적힌 방법으로만 확인할 수 있습니다.")
PHRASE(OMITTED, "What was left out", "렌더링하지 않은 것")
PHRASE(OMITTED_INTRO, "Files or parts of files that are not there, and what is to be known of the others:",
       "빠진 파일이나 내용, 그리고 나머지 파일에 대해 알아 둘 것입니다.")
PHRASE(ASKING, "How a gate is asked", "게이트를 확인하는 방법")
PHRASE(ASKING_INTRO,
       "`railhead` is installed on every node. A script takes a snapshot of each, and all of them are "
       "judged together, also the gates between two nodes:",
       "`railhead`를 모든 노드에 설치합니다. 스크립트가 노드마다 스냅숏을 받아 오고, 두 노드 사이의 게이트까지 한꺼번에 판정합니다.")
PHRASE(ASKING_ONE, "On a node itself, `railhead check` judges that node alone.",
       "노드에서 직접 `railhead check`를 실행하면 그 노드만 판정합니다.")

PHRASE(ORDER, "The phases", "단계 목록")
PHRASE(PHASE, "{0!} · {1!}", "{0!} · {1!}")
PHRASE(PHASE_NA, "{0!} · {1!} (not on this site)", "{0!} · {1!} (이 사이트에는 없음)")
PHRASE(NOT_HERE, "This site does not have this phase.", "이 사이트에는 없는 단계입니다.")
PHRASE(STEPS, "Steps", "절차")
PHRASE(GATES, "Gates", "게이트")
PHRASE(GATE, "{0} {1!}", "{0} {1!}")
PHRASE(PROOF, "What proves it", "증명")
PHRASE(ROLLBACK, "Rollback", "되돌리기")
PHRASE(FILES, "Files", "파일")
PHRASE(OTHER_FILES, "Other files", "그 밖의 파일")
PHRASE(FILE_MORE, "{0}, and {1!} more as {2}: {3!}", "{0} 외 {2} 형식 {1!}개: {3!}")

PHRASE(ON_ALL, "Where: all nodes ({0!}).", "대상: 모든 노드({0!}).")
PHRASE(ON_KUBE, "Where: the workers of the cluster ({0!}).", "대상: 클러스터 워커 노드({0!}).")
PHRASE(ON_RDMA, "Where: the nodes with RDMA ports ({0!}).", "대상: RDMA 포트가 있는 노드({0!}).")
PHRASE(ON_POD_RDMA, "Where: the workers with RDMA ports ({0!}).",
       "대상: RDMA 포트가 있는 워커 노드({0!}).")
PHRASE(ON_GPU, "Where: the GPU nodes ({0!}).", "대상: GPU 노드({0!}).")
PHRASE(ON_STORAGE, "Where: the storage nodes ({0!}).", "대상: 스토리지 노드({0!}).")
PHRASE(ON_SWITCH, "Where: the switches ({0!}).", "대상: 스위치({0!}).")
PHRASE(ON_MANY, "Where: {2!} of them, {0!} and {1!} others.", "대상: 모두 {2!}대, {0!} 외 {1!}대.")

PHRASE(NO_KUBERNETES, "No cluster is declared (`kubernetes`).",
       "클러스터를 선언하지 않았습니다(`kubernetes`).")
PHRASE(NO_LINKS, "No bond and no address is declared.", "본드도 주소도 선언하지 않았습니다.")
PHRASE(NO_RDMA, "No RDMA port is declared (`rdma`).", "RDMA 포트를 선언하지 않았습니다(`rdma`).")
PHRASE(NO_PAIR, "RDMA ports are declared on one node only.", "RDMA 포트가 한 노드에만 있습니다.")
PHRASE(NO_GPU, "No GPU is declared (`gpus`).", "GPU를 선언하지 않았습니다(`gpus`).")
PHRASE(NO_POD_RDMA,
       "RDMA in pods is not declared (`kubernetes/rdma_resource`, `kubernetes/pod_rdma`).",
       "파드에서 RDMA를 쓴다고 선언하지 않았습니다(`kubernetes/rdma_resource`, `kubernetes/pod_rdma`).")
PHRASE(NO_QOS, "No RoCE class is declared (`qos/dscp`, `qos/priority`).",
       "RoCE 클래스를 선언하지 않았습니다(`qos/dscp`, `qos/priority`).")
PHRASE(NO_PFC, "PFC is not declared (`qos/pfc`).", "PFC를 선언하지 않았습니다(`qos/pfc`).")
PHRASE(NO_ECN, "ECN is not declared (`qos/ecn`).", "ECN을 선언하지 않았습니다(`qos/ecn`).")
PHRASE(NO_GPUDIRECT,
       "GPUDirect RDMA is not wanted (`gpudirect`), or there is no GPU or no RDMA port.",
       "GPUDirect RDMA를 쓰지 않거나(`gpudirect`), GPU 또는 RDMA 포트가 없습니다.")
PHRASE(NO_STORAGE, "No object store is declared (`storage`).",
       "오브젝트 스토리지를 선언하지 않았습니다(`storage`).")
PHRASE(NO_WORKLOAD, "No workload is declared (`workload`).", "워크로드를 선언하지 않았습니다(`workload`).")

PHRASE(UNTIL_PROVE,
       "{0} stays unknown by this, and rightly: perftest measures speed and does not look at the bytes. It "
       "passes by a record of a proof, which this railhead does not make for this gate yet.",
       "이것만으로는 {0}이(가) 계속 unknown이며, 그것이 맞습니다. perftest는 속도를 잴 뿐 받은 바이트를 확인하지 않습니다. 통과하려면 증명 "
       "기록이 필요한데, 이 버전의 railhead는 아직 이 게이트의 기록을 만들지 않습니다.")

#include "render/runbook_phrases_node.h"
#include "render/runbook_phrases_cluster.h"
#include "render/runbook_phrases_path.h"
