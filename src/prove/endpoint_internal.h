/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the endpoint share. */
#pragma once

#include "prove/endpoint.h"

/* WRs with `more` that go to the provider by one call: for some providers that is a system call. */
#define ENDPOINT_BATCH 16u
/* Of UD messages. Both ends are this program; keys with the highest bit are the kernel's. */
#define ENDPOINT_QKEY 0x52414c48u

struct endpoint_send {	/* what a completion stands for */
	enum ibv_wr_opcode opcode;
	uint64_t id;
	uint64_t ordinal;	/* completions that were asked for before it on its QP */
};

/* One QP. Counters of WRs; a WR's place in the rings is its number modulo the depth. */
struct endpoint_queue {
	struct ibv_qp *qp;
	uint32_t psn, peer_qpn;
	struct endpoint_send *sends;
	uint64_t posted, done;
	uint64_t asked_at;	/* WRs up to the last one with a completion of its own */
	uint64_t asked, told;	/* completions */
	uint64_t *receives;	/* ids */
	uint64_t receives_posted, receives_done;
	struct ibv_send_wr batch[ENDPOINT_BATCH];
	struct ibv_sge sge[ENDPOINT_BATCH];
	unsigned batched;
};

struct endpoint {
	const struct verbs *v;
	char *name;	/* "rocep1s0f0/1", for messages */
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *send_cq, *receive_cq;
	struct ibv_ah *ah;
	uint8_t port;
	int gid_index;
	union ibv_gid gid;
	bool ud;
	uint8_t traffic_class, timeout, retries;
	unsigned reads_in, reads_out;	/* RDMA READs under way on one QP */
	unsigned mtu_bytes;
	unsigned qps, depth;
	unsigned inline_bytes;
	struct endpoint_queue *queues;
	uint64_t receives;	/* under way on all QPs */
	unsigned batches;	/* queues with a batch that has not gone out */
	struct error failure;	/* the first of a completion or post; nothing works after it */
	enum ibv_wc_status failed_status;	/* of the completion that it is of; 0: of none */
	uint32_t failed_vendor_error;
};
