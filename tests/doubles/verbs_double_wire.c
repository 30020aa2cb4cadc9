/* SPDX-License-Identifier: Apache-2.0 */
/* How the double carries out what was posted. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/ip.h>
#include <string.h>

#include "base/alloc.h"
#include "doubles/verbs_double_internal.h"

#define GRH_BYTES 40u
#define UDP_BTH_DETH_ICRC (8u + 12u + 8u + 4u)

enum outcome { OUTCOME_DONE, OUTCOME_WAITS };

/* Members that are not valid in a failed completion are filled with what no caller expects. */
static void complete_failed(struct dbl_qp *qp, struct ibv_cq *cq, uint64_t id,
			    enum ibv_wc_status status, uint32_t vendor_err, uint64_t retires)
{
	const struct ibv_wc wc = {
		.wr_id = id,
		.status = status,
		.vendor_err = vendor_err,
		.qp_num = qp->base.qp_num,
		.opcode = IBV_WC_TM_NO_TAG,
		.byte_len = UINT32_MAX,
	};

	dbl_complete(cq, &wc, retires);
}

static struct dbl_send *send_at(struct dbl_qp *qp, uint64_t n)
{
	return &qp->sq[n % qp->init.cap.max_send_wr];
}

static struct dbl_receive *receive_next(struct dbl_qp *qp)
{
	return qp->rq_done < qp->rq_posted ? &qp->rq[qp->rq_done % qp->init.cap.max_recv_wr] : NULL;
}

void dbl_qp_break(struct dbl_qp *qp)
{
	struct dbl_receive *receive;

	qp->base.state = IBV_QPS_ERR;
	for (; qp->sq_done < qp->sq_posted; qp->sq_done++)
		complete_failed(qp, qp->base.send_cq, send_at(qp, qp->sq_done)->wr.wr_id,
				IBV_WC_WR_FLUSH_ERR, 0, qp->sq_done + 1);
	for (; (receive = receive_next(qp)); qp->rq_done++)
		complete_failed(qp, qp->base.recv_cq, receive->id, IBV_WC_WR_FLUSH_ERR, 0, 0);
}

static enum outcome fail(struct dbl_qp *qp, enum ibv_wc_status status, uint32_t vendor_err)
{
	uint64_t id = send_at(qp, qp->sq_done)->wr.wr_id;

	qp->sq_done++;
	complete_failed(qp, qp->base.send_cq, id, status, vendor_err, qp->sq_done);
	dbl_qp_break(qp);
	return OUTCOME_DONE;
}

static enum outcome fail_as(struct dbl_qp *qp, enum ibv_wc_status status)
{
	return fail(qp, status, 0x100u + status);
}

static enum outcome succeed(struct dbl_qp *qp, bool tell)
{
	static const enum ibv_wc_opcode opcodes[] = {
		[IBV_WR_RDMA_WRITE] = IBV_WC_RDMA_WRITE,
		[IBV_WR_RDMA_WRITE_WITH_IMM] = IBV_WC_RDMA_WRITE,
		[IBV_WR_SEND] = IBV_WC_SEND,
		[IBV_WR_SEND_WITH_IMM] = IBV_WC_SEND,
		[IBV_WR_RDMA_READ] = IBV_WC_RDMA_READ,
	};
	const struct dbl_send *send = send_at(qp, qp->sq_done);
	const struct ibv_wc wc = {
		.wr_id = send->wr.wr_id,
		.status = IBV_WC_SUCCESS,
		.opcode = opcodes[send->wr.opcode],
		.byte_len = send->sge.length,
		.qp_num = qp->base.qp_num,
	};

	qp->sq_done++;
	if (tell && (send->wr.send_flags & IBV_SEND_SIGNALED || qp->init.sq_sig_all))
		dbl_complete(qp->base.send_cq, &wc, qp->sq_done);
	return OUTCOME_DONE;
}

static void received(struct dbl_qp *to, const struct dbl_qp *from, const struct dbl_send *send,
		     uint32_t length)
{
	const struct dbl_receive *receive = receive_next(to);
	bool ud = to->base.qp_type == IBV_QPT_UD;
	bool write = send->wr.opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	struct ibv_wc wc = {
		.wr_id = receive->id,
		.status = IBV_WC_SUCCESS,
		.opcode = write ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV,
		.byte_len = length,
		.qp_num = to->base.qp_num,
		.src_qp = ud ? from->base.qp_num : 0,
		.wc_flags = ud ? IBV_WC_GRH : 0,
	};

	if (write || send->wr.opcode == IBV_WR_SEND_WITH_IMM) {
		wc.imm_data = send->wr.imm_data;
		wc.wc_flags |= IBV_WC_WITH_IMM;
	}
	to->rq_done++;
	dbl_complete(to->base.recv_cq, &wc, 0);
}

/* Where a receive goes. NULL: it is too short or its key is wrong; `*status` for its completion. */
static struct dbl_mr *receive_target(struct dbl_qp *qp, const struct dbl_receive *receive,
				     uint64_t length, enum ibv_wc_status *status)
{
	struct dbl_mr *mr;

	*status = IBV_WC_LOC_LEN_ERR;
	if (receive->sge.length < length)
		return NULL;
	*status = IBV_WC_LOC_PROT_ERR;
	mr = dbl_mr_find(qp->base.pd, receive->sge.lkey, receive->sge.addr, receive->sge.length,
			 IBV_ACCESS_LOCAL_WRITE);
	return mr;
}

static void receive_failed(struct dbl_qp *qp, enum ibv_wc_status status)
{
	uint64_t id = receive_next(qp)->id;

	qp->rq_done++;
	complete_failed(qp, qp->base.recv_cq, id, status, 0x100u + status, 0);
	dbl_qp_break(qp);
}

static bool gid_of(const struct dbl_qp *qp, unsigned index, const union ibv_gid *gid)
{
	union ibv_gid own = dbl_gid(dbl_device(qp->base.context), (int)index);

	return !memcmp(&own, gid, sizeof(own));
}

static bool connected(const struct dbl_qp *qp, const struct dbl_qp *peer)
{
	const struct ibv_qp_attr *a = &qp->attr, *b = &peer->attr;

	return peer->base.qp_type == IBV_QPT_RC && peer->base.state != IBV_QPS_ERR &&
	       b->dest_qp_num == qp->base.qp_num && b->rq_psn == a->sq_psn &&
	       b->path_mtu == a->path_mtu &&
	       gid_of(peer, b->ah_attr.grh.sgid_index, &a->ah_attr.grh.dgid) &&
	       gid_of(qp, a->ah_attr.grh.sgid_index, &b->ah_attr.grh.dgid);
}

static uint8_t tos_of(const struct dbl_qp *qp)
{
	return qp->attr.ah_attr.grh.traffic_class;
}

/* The bytes of a WRITE or SEND. */
static const unsigned char *source(const struct dbl_send *send, const struct dbl_mr *local)
{
	return send->wr.send_flags & IBV_SEND_INLINE ? send->inlined :
						       dbl_mr_bytes(local, send->sge.addr);
}

static enum outcome rdma(struct dbl_qp *qp, struct dbl_qp *peer, struct dbl_mr *local)
{
	struct dbl_send *send = send_at(qp, qp->sq_done);
	bool read = send->wr.opcode == IBV_WR_RDMA_READ;
	int access = read ? IBV_ACCESS_REMOTE_READ : IBV_ACCESS_REMOTE_WRITE;
	uint64_t address = send->wr.wr.rdma.remote_addr;
	uint32_t length = send->sge.length;
	struct dbl_mr *remote = NULL;
	struct verbs_double_lie lie;

	if (!(peer->attr.qp_access_flags & (unsigned)access) ||
	    (read && (!qp->attr.max_rd_atomic ||
		      peer->attr.max_dest_rd_atomic < qp->attr.max_rd_atomic)))
		return fail_as(qp, IBV_WC_REM_INV_REQ_ERR);
	if (length) {
		remote = dbl_mr_find(peer->base.pd, send->wr.wr.rdma.rkey, address, length, access);
		if (!remote) {
			dbl_qp_break(peer);
			return fail_as(qp, IBV_WC_REM_ACCESS_ERR);
		}
	}
	lie = dbl_ask(qp, send, read ? send->sge.addr : address, tos_of(qp));
	if (lie.kind == VERBS_DOUBLE_FAIL)
		return fail(qp, lie.status, lie.amount);
	if (length && lie.kind != VERBS_DOUBLE_DROP) {
		if (read)
			dbl_move(&lie, local, send->sge.addr, dbl_mr_bytes(remote, address),
				 length);
		else
			dbl_move(&lie, remote, address, source(send, local),
				 length);
	}
	if (send->wr.opcode == IBV_WR_RDMA_WRITE_WITH_IMM && lie.kind != VERBS_DOUBLE_DROP) {
		received(peer, qp, send, length);
		if (lie.kind == VERBS_DOUBLE_DUPLICATE && receive_next(peer))
			received(peer, qp, send, length);
	}
	return succeed(qp, lie.kind != VERBS_DOUBLE_DROP);
}

static enum outcome send_rc(struct dbl_qp *qp, struct dbl_qp *peer, struct dbl_mr *local)
{
	struct dbl_send *send = send_at(qp, qp->sq_done);
	const struct dbl_receive *receive = receive_next(peer);
	uint32_t length = send->sge.length;
	struct verbs_double_lie lie = {0};
	enum ibv_wc_status status;
	bool again;

	for (again = false; (receive = receive_next(peer)); again = true) {
		struct dbl_mr *target = NULL;

		if (again && lie.kind != VERBS_DOUBLE_DUPLICATE)
			break;
		if (length) {
			target = receive_target(peer, receive, length, &status);
			if (!target) {
				receive_failed(peer, status);
				return fail_as(qp, status == IBV_WC_LOC_LEN_ERR ?
							   IBV_WC_REM_INV_REQ_ERR :
							   IBV_WC_REM_OP_ERR);
			}
		}
		if (again) {
			lie.kind = VERBS_DOUBLE_HONEST;	/* twice, not for ever */
		} else {
			lie = dbl_ask(qp, send, receive->sge.addr, tos_of(qp));
			if (lie.kind == VERBS_DOUBLE_FAIL)
				return fail(qp, lie.status, lie.amount);
			if (lie.kind == VERBS_DOUBLE_DROP)
				return succeed(qp, false);
		}
		if (length)
			dbl_move(&lie, target, receive->sge.addr,
				 source(send, local), length);
		received(peer, qp, send, length);
	}
	return succeed(qp, true);
}

static uint16_t ip_checksum(const struct iphdr *ip)
{
	uint16_t words[sizeof(*ip) / 2];
	uint32_t sum = 0;

	memcpy(words, ip, sizeof(*ip));
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		sum += words[i];
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~(sum + (sum >> 16));
}

/*
 * The 40 bytes in front of a UD message: a GRH, or for RoCE v2 over IPv4 20 bytes that are not
 * defined and then the IPv4 header as it arrived.
 */
static void put_grh(unsigned char grh[GRH_BYTES], const struct dbl_qp *from,
		    const struct ibv_ah_attr *av, uint8_t tos, uint32_t length)
{
	union ibv_gid source = dbl_gid(dbl_device(from->base.context), av->grh.sgid_index);

	if (av->grh.sgid_index == 0) {
		struct ibv_grh v6 = {
			.version_tclass_flow = htonl(6u << 28 | (uint32_t)tos << 20),
			.paylen = htons((uint16_t)(length + UDP_BTH_DETH_ICRC)),
			.next_hdr = IPPROTO_UDP,
			.hop_limit = av->grh.hop_limit,
			.sgid = source,
			.dgid = av->grh.dgid,
		};
		memcpy(grh, &v6, GRH_BYTES);
		return;
	}
	struct iphdr ip = {
		.version = 4,
		.ihl = 5,
		.tos = tos,
		.tot_len = htons((uint16_t)(sizeof(ip) + length + UDP_BTH_DETH_ICRC)),
		.frag_off = htons(IP_DF),
		.ttl = av->grh.hop_limit,
		.protocol = IPPROTO_UDP,
	};
	memcpy(&ip.saddr, source.raw + 12, 4);
	memcpy(&ip.daddr, av->grh.dgid.raw + 12, 4);
	ip.check = ip_checksum(&ip);
	memset(grh, 0xa5, GRH_BYTES - sizeof(ip));
	memcpy(grh + GRH_BYTES - sizeof(ip), &ip, sizeof(ip));
}

static void deliver_ud(struct dbl_qp *qp, struct dbl_qp *peer, const struct dbl_mr *local,
		       const struct verbs_double_lie *lie)
{
	const struct dbl_send *send = send_at(qp, qp->sq_done);
	const struct ibv_ah_attr *av = &((struct dbl_ah *)send->wr.wr.ud.ah)->attr;
	const struct dbl_receive *receive = receive_next(peer);
	uint8_t tos = lie->kind == VERBS_DOUBLE_REMARK ? lie->tos : av->grh.traffic_class;
	uint32_t length = send->sge.length;
	enum ibv_wc_status status;
	struct dbl_mr *target;

	target = receive_target(peer, receive, (uint64_t)length + GRH_BYTES, &status);
	if (!target) {
		receive_failed(peer, status);
		return;
	}
	put_grh(dbl_mr_bytes(target, receive->sge.addr), qp, av, tos, length);
	if (length)
		dbl_move(lie, target, receive->sge.addr + GRH_BYTES,
			 source(send, local), length);
	received(peer, qp, send, length + GRH_BYTES);
}

/* Nobody tells a sender of UD messages that nothing arrived. */
static enum outcome send_ud(struct dbl_qp *qp, struct dbl_mr *local)
{
	struct dbl_send *send = send_at(qp, qp->sq_done);
	const struct ibv_ah_attr *av = &((struct dbl_ah *)send->wr.wr.ud.ah)->attr;
	struct dbl_qp *peer = dbl_qp_find(send->wr.wr.ud.remote_qpn);
	uint32_t length = send->sge.length;
	struct verbs_double_lie lie;

	if (length > 128u << dbl_mtu(dbl_device(qp->base.context)))
		return fail_as(qp, IBV_WC_LOC_LEN_ERR);
	if (!peer || peer->base.qp_type != IBV_QPT_UD ||
	    (peer->base.state != IBV_QPS_RTR && peer->base.state != IBV_QPS_RTS) ||
	    peer->attr.qkey != send->wr.wr.ud.remote_qkey ||
	    !gid_of(peer, av->grh.sgid_index, &av->grh.dgid))
		return succeed(qp, true);
	if (!receive_next(peer))
		return succeed(qp, true);
	lie = dbl_ask(qp, send, receive_next(peer)->sge.addr, av->grh.traffic_class);
	if (lie.kind == VERBS_DOUBLE_FAIL)
		return fail(qp, lie.status, lie.amount);
	if (lie.kind == VERBS_DOUBLE_DROP)
		return succeed(qp, false);
	deliver_ud(qp, peer, local, &lie);
	if (lie.kind == VERBS_DOUBLE_DUPLICATE && receive_next(peer))
		deliver_ud(qp, peer, local, &(struct verbs_double_lie){VERBS_DOUBLE_HONEST});
	return succeed(qp, true);
}

/* No receive at the other end. Tries are counted by polls, `polled`; 7 is for ever. */
static enum outcome not_ready(struct dbl_qp *qp, bool polled)
{
	struct dbl_send *send = send_at(qp, qp->sq_done);

	if (polled && qp->attr.rnr_retry < 7 && send->tries++ >= qp->attr.rnr_retry)
		return fail_as(qp, IBV_WC_RNR_RETRY_EXC_ERR);
	return OUTCOME_WAITS;
}

static enum outcome carry_out(struct dbl_qp *qp, bool polled)
{
	struct dbl_send *send = send_at(qp, qp->sq_done);
	bool read = send->wr.opcode == IBV_WR_RDMA_READ;
	struct dbl_mr *local = NULL;
	struct dbl_qp *peer;

	if (send->sge.length && !(send->wr.send_flags & IBV_SEND_INLINE)) {
		local = dbl_mr_find(qp->base.pd, send->sge.lkey, send->sge.addr, send->sge.length,
				    read ? IBV_ACCESS_LOCAL_WRITE : 0);
		if (!local)
			return fail_as(qp, IBV_WC_LOC_PROT_ERR);
	}
	if (qp->base.qp_type == IBV_QPT_UD)
		return send_ud(qp, local);
	peer = dbl_qp_find(qp->attr.dest_qp_num);
	if (peer && (peer->base.state == IBV_QPS_RESET || peer->base.state == IBV_QPS_INIT))
		return OUTCOME_WAITS;
	if (!peer || !connected(qp, peer))
		return fail_as(qp, IBV_WC_RETRY_EXC_ERR);
	if (send->wr.opcode != IBV_WR_RDMA_WRITE && !read && !receive_next(peer))
		return not_ready(qp, polled);
	if (send->wr.opcode == IBV_WR_SEND || send->wr.opcode == IBV_WR_SEND_WITH_IMM)
		return send_rc(qp, peer, local);
	return rdma(qp, peer, local);
}

void dbl_progress(struct dbl_qp *qp, bool polled)
{
	while (qp->base.state == IBV_QPS_RTS && qp->sq_done < qp->sq_posted) {
		if (carry_out(qp, polled) == OUTCOME_WAITS)
			return;
		dbl_operation_over();
	}
}

void dbl_qp_ready(const struct dbl_qp *ready)
{
	for (struct dbl_qp *qp = dbl.qps; qp; qp = qp->next)
		if (qp->base.qp_type == IBV_QPT_RC && qp->attr.dest_qp_num == ready->base.qp_num)
			dbl_progress(qp, false);
}
