/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One end of RC connections (several QPs) or a UD QP on one port, from the device to RTS.
 *
 * Rules of the field that it keeps: ibv_post_send, never ibv_wr_* (irdma has none); a fresh QP goes
 * RESET→INIT without a RESET before (E810 refuses that); one SGE per WR; a completion at least every
 * half queue; retry and RNR counts set; path MTU the smaller of both ends'; traffic class in the GRH.
 */
#pragma once

#include "base/json.h"
#include "host/verbs.h"

#define ENDPOINT_QPS_MAX 64u

struct endpoint;

struct endpoint_request {
	const struct verbs *verbs;
	const char *device;	/* RDMA device name */
	uint8_t port;
	int gid_index;
	unsigned qps, depth;	/* depth: WRs of one QP */
	bool ud;		/* one UD QP instead of RC */
	uint8_t traffic_class;	/* DSCP << 2 | ECN */
	unsigned timeout;	/* local ACK timeout, 4.096 us * 2^timeout; 0: the default (17) */
	unsigned retries;	/* 0: the default (7) */
};

/* What the peer must know: numbers only, from its message. */
struct endpoint_peer {
	union ibv_gid gid;
	unsigned mtu_bytes;
	unsigned reads;		/* RDMA READs that it serves at a time on one QP */
	bool ud;
	unsigned qps;
	uint32_t qpn[ENDPOINT_QPS_MAX], psn[ENDPOINT_QPS_MAX];
};

int endpoint_open(struct endpoint **endpoint, const struct endpoint_request *request,
		  struct error *err);
/* NULL is allowed. Memory that was registered with its PD must be gone. */
void endpoint_close(struct endpoint *endpoint);
struct ibv_pd *endpoint_pd(const struct endpoint *endpoint);
/* As they are: what the device allows of what was asked for. */
unsigned endpoint_qps(const struct endpoint *endpoint);
unsigned endpoint_depth(const struct endpoint *endpoint);
uint32_t endpoint_qpn(const struct endpoint *endpoint, unsigned qp);
/* Bytes of a packet: the smaller of both ends' MTU once connected. A UD message is at most that. */
unsigned endpoint_mtu_bytes(const struct endpoint *endpoint);

/* Own side as a JSON message, and the peer's read from one (every number checked). */
json_t *endpoint_describe(const struct endpoint *endpoint);
int endpoint_peer_read(struct endpoint_peer *peer, json_t *message, struct error *err);
/* INIT→RTR→RTS of all QPs (or the address handle of a UD peer). */
int endpoint_connect(struct endpoint *endpoint, const struct endpoint_peer *peer,
		     struct error *err);

/* --- data path: no allocation, no system call but those of the provider --- */

struct endpoint_op {
	enum ibv_wr_opcode opcode;	/* IBV_WR_RDMA_WRITE, _READ, _SEND, … */
	unsigned qp;
	uint64_t local, remote;
	uint32_t length, lkey, rkey;
	/* The bytes at `local` as the processor reads them: a WRITE or SEND of few may go inline,
	 * within the work request, so that the adapter has no memory to read. NULL: it must read. */
	const void *bytes;
	uint32_t imm;	/* host order; ntohl(wc.imm_data) at the other end */
	uint64_t id;
	/* Others of this QP follow at once: it may go without a completion, and wait for those or
	 * for endpoint_poll() before it goes. */
	bool more;
};
/* Does it go inline? */
bool endpoint_is_inline(const struct endpoint *endpoint, const struct endpoint_op *op);
/* Post one. It gets a completion unless `more` is set, and then too at least every half queue; a
 * completion tells that all before it on its QP are done. -EAGAIN: the queue is full, poll first;
 * `err` is left alone then, as nothing is wrong. */
int endpoint_post(struct endpoint *endpoint, const struct endpoint_op *op, struct error *err);
int endpoint_post_receive(struct endpoint *endpoint, unsigned qp, uint64_t address,
			  uint32_t length, uint32_t lkey, uint64_t id, struct error *err);
/*
 * Up to `n` completions, with the ids of operations and receives. Returns their number; `wc` gets
 * successes. The first that failed is an error that names operation, QP, status and vendor_err, and
 * ends the endpoint: it is the answer to all later calls. -EACCES: remote access; -EHOSTUNREACH: no
 * acknowledgement; -ENOBUFS: receiver not ready; -ECANCELED: flushed, as when the peer's QP failed;
 * -EBADMSG: a completion came twice or was left out; others as the text says.
 */
int endpoint_poll(struct endpoint *endpoint, struct ibv_wc *wc, int n, struct error *err);
/* The completion that ended this endpoint, as the provider told it. False: none did. */
bool endpoint_failed_completion(const struct endpoint *endpoint, enum ibv_wc_status *status,
				uint32_t *vendor_error);
/* Sends of a QP that are done, those without a completion of their own too. */
uint64_t endpoint_completed(const struct endpoint *endpoint, unsigned qp);
