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
/* proof_gdr.c: /proofs/gdr */
void judge_proof_gdr(struct judging *g);
/* storage_path.c: /storage/path */
void judge_storage_path(struct judging *g);
