/* SPDX-License-Identifier: Apache-2.0 */
/* Judges of records that later verbs write: Kubernetes, pods, proofs, storage. */
#pragma once

#include "judge/gate.h"

/* k8s_resource.c: /k8s/device_plugin against /pci and /links */
void judge_k8s_rdma_resource(struct judging *g);
/* proof_pod.c: /pods/NAME */
void judge_proof_pod(struct judging *g);
/* proof_host.c: /proofs/host */
void judge_proof_host(struct judging *g);
/* proof_marking.c: /proofs/marking */
void judge_proof_marking(struct judging *g);
/* proof_baseline.c: /proofs/baseline */
void judge_proof_baseline(struct judging *g);
/* proof_pfc.c: /proofs/pfc against /proofs/baseline */
void judge_proof_pfc(struct judging *g);
/* Why does this site have no PFC, or NULL. */
const char *judge_proof_pfc_absent(struct judging *g);
/* proof_ecn.c: /proofs/ecn against what was measured before */
void judge_proof_ecn(struct judging *g);
/* proof_gdr.c: /proofs/gdr */
void judge_proof_gdr(struct judging *g);
/* storage_path.c: /storage/path */
void judge_storage_path(struct judging *g);
