/* SPDX-License-Identifier: Apache-2.0 */
/* Posting to the queues of the double, and polling its completions. */
#include <errno.h>
#include <string.h>

#include "doubles/verbs_double_internal.h"

void dbl_complete(struct ibv_cq *ibv, const struct ibv_wc *wc, uint64_t retires)
{
	struct dbl_cq *cq = (struct dbl_cq *)ibv;
	size_t at = cq->tail % (uint64_t)cq->base.cqe;

	if (cq->tail - cq->head == (uint64_t)cq->base.cqe) {
		dbl_complain("CQ of %d entries overflows at QP 0x%x", cq->base.cqe, wc->qp_num);
		return;
	}
	cq->wc[at] = *wc;
	cq->retires[at] = retires;
	cq->tail++;
}

static int send_wrong(const struct dbl_qp *qp, const struct ibv_send_wr *wr)
{
	bool ud = qp->base.qp_type == IBV_QPT_UD;

	if (qp->base.state != IBV_QPS_RTS && qp->base.state != IBV_QPS_ERR)
		return EINVAL;
	if (wr->num_sge > 1)
		dbl_complain("%d SGEs in one WR of QP 0x%x", wr->num_sge, qp->base.qp_num);
	if (wr->num_sge < 0 || wr->num_sge > 1)
		return EINVAL;
	if (wr->send_flags & IBV_SEND_INLINE &&
	    (wr->opcode == IBV_WR_RDMA_READ ||
	     (wr->num_sge && wr->sg_list->length > qp->init.cap.max_inline_data)))
		return EINVAL;
	switch (wr->opcode) {
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
		return ud && !wr->wr.ud.ah ? EINVAL : 0;
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
	case IBV_WR_RDMA_READ:
		return ud ? EINVAL : 0;
	default:
		return EINVAL;
	}
}

static int send_one(struct dbl_qp *qp, const struct ibv_send_wr *wr)
{
	unsigned max = qp->init.cap.max_send_wr;
	int code = dbl_fails("post_send");
	struct dbl_send *send;

	if (!code)
		code = send_wrong(qp, wr);
	if (code)
		return code;
	if (qp->sq_posted - qp->sq_retired >= max) {
		dbl_complain("send queue of %u WRs overflows at QP 0x%x", max, qp->base.qp_num);
		return ENOMEM;
	}
	send = &qp->sq[qp->sq_posted % max];
	*send = (struct dbl_send){.wr = *wr};
	if (wr->num_sge)
		send->sge = *wr->sg_list;
	if (wr->send_flags & IBV_SEND_INLINE)
		memcpy(send->inlined, (const void *)(uintptr_t)send->sge.addr, send->sge.length);
	send->wr.next = NULL;
	send->wr.sg_list = NULL;
	qp->sq_posted++;
	if (wr->send_flags & IBV_SEND_SIGNALED || qp->init.sq_sig_all) {
		qp->signalled++;
		qp->unsignalled = 0;
	} else if (++qp->unsignalled > qp->longest_unsignalled) {
		qp->longest_unsignalled = qp->unsignalled;
	}
	return 0;
}

int dbl_post_send(struct ibv_qp *ibv, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct dbl_qp *qp = (struct dbl_qp *)ibv;
	int code = 0;

	pthread_mutex_lock(&dbl.lock);
	for (; wr && !code; wr = code ? wr : wr->next)
		code = send_one(qp, wr);
	if (code)
		*bad = wr;
	if (qp->base.state == IBV_QPS_ERR)
		dbl_qp_break(qp);	/* flushes what was posted just now */
	else
		dbl_progress(qp, false);
	pthread_mutex_unlock(&dbl.lock);
	return code;
}

static int receive_one(struct dbl_qp *qp, const struct ibv_recv_wr *wr)
{
	unsigned max = qp->init.cap.max_recv_wr;
	int code = dbl_fails("post_recv");

	if (!code && (qp->base.state == IBV_QPS_RESET || wr->num_sge < 0 || wr->num_sge > 1))
		code = EINVAL;
	if (code)
		return code;
	if (qp->rq_posted - qp->rq_done >= max) {
		dbl_complain("receive queue of %u WRs overflows at QP 0x%x", max, qp->base.qp_num);
		return ENOMEM;
	}
	struct dbl_receive *receive = &qp->rq[qp->rq_posted++ % max];

	*receive = (struct dbl_receive){.id = wr->wr_id};
	if (wr->num_sge)
		receive->sge = *wr->sg_list;
	return 0;
}

int dbl_post_recv(struct ibv_qp *ibv, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct dbl_qp *qp = (struct dbl_qp *)ibv;
	int code = 0;

	pthread_mutex_lock(&dbl.lock);
	for (; wr && !code; wr = code ? wr : wr->next)
		code = receive_one(qp, wr);
	if (code)
		*bad = wr;
	if (qp->base.state == IBV_QPS_ERR)
		dbl_qp_break(qp);
	else
		dbl_qp_ready(qp);
	pthread_mutex_unlock(&dbl.lock);
	return code;
}

int dbl_poll_cq(struct ibv_cq *ibv, int n, struct ibv_wc *wc)
{
	struct dbl_cq *cq = (struct dbl_cq *)ibv;
	int found = 0, code;

	pthread_mutex_lock(&dbl.lock);
	code = dbl_fails("poll_cq");
	for (struct dbl_qp *qp = dbl.qps; qp; qp = qp->next)
		if (qp->base.send_cq == ibv)
			dbl_progress(qp, true);
	for (; !code && found < n && cq->head < cq->tail; found++, cq->head++) {
		size_t at = cq->head % (uint64_t)cq->base.cqe;
		struct dbl_qp *qp = dbl_qp_find(cq->wc[at].qp_num);

		wc[found] = cq->wc[at];
		if (qp && cq->retires[at] > qp->sq_retired)
			qp->sq_retired = cq->retires[at];
	}
	pthread_mutex_unlock(&dbl.lock);
	return code ? -code : found;
}
