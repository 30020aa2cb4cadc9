/* SPDX-License-Identifier: Apache-2.0 */
/* Judges of the net gates that have a file of their own, and the RoCE MTU rule. */
#pragma once

#include "judge/gate.h"

void judge_net_bond(struct judging *g);
void judge_net_address(struct judging *g);

/* The verdict failed because a declared link does not exist: its bond's gate, or its driver's, has
 * the cause. */
void net_explain_missing(struct judging *g, const char *link);

/*
 * Bytes of Ethernet, IP and transport headers that the kernel keeps free when it derives the RoCE
 * MTU from a link's MTU: GRH 40 + UDP 8 + BTH 12 + XRC 4 + AtomicETH 28 + ICRC 4 (iboe_get_mtu,
 * include/rdma/ib_addr.h).
 */
#define ROCE_MTU_OVERHEAD_BYTES 96

/* Largest RoCE MTU (256, 512, 1024, 2048, 4096) that fits a link MTU; 0 when none does. */
int64_t roce_mtu_of_link(int64_t link_mtu);
/* Smallest link MTU for a RoCE MTU. */
static inline int64_t roce_mtu_needs_link(int64_t roce_mtu)
{
	return roce_mtu > INT64_MAX - ROCE_MTU_OVERHEAD_BYTES ?
		       INT64_MAX :
		       roce_mtu + ROCE_MTU_OVERHEAD_BYTES;
}
