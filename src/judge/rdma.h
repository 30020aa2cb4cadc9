/* SPDX-License-Identifier: Apache-2.0 */
/* Judges of the rdma gates that have a file of their own, and what they share. */
#pragma once

#include "judge/subject.h"

void judge_rdma_device(struct judging *g);
void judge_rdma_protocol(struct judging *g);
void judge_rdma_gid(struct judging *g);
void judge_rdma_mtu(struct judging *g);
void judge_rdma_mtu_pair(struct judging *g);
void judge_rdma_counters(struct judging *g);
void judge_rdma_module(struct judging *g);
void judge_rdma_userspace(struct judging *g);

/* RDMA device of the judged port. Without one the verdict becomes unknown and false is returned. */
bool rdma_find(struct judging *g, struct subject_rdma *rdma);

/*
 * For the gates of a whole node: true when it has no RDMA port to judge, and the verdict is made.
 * A declared node without ports does not need them; without a declaration nobody knows, and an RDMA
 * path without RDMA is not proven: unknown.
 */
bool rdma_none(struct judging *g);

/* Reason for n/a when the port is declared as iWARP, which has no GID, DSCP or RoCE MTU; else
 * NULL. */
const char *rdma_is_iwarp(struct judging *g);
