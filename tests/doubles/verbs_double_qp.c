/* SPDX-License-Identifier: Apache-2.0 */
/* Queue pairs of the double: their steps, with the attributes that each step needs. */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "doubles/verbs_double_internal.h"

#define PSN_MAX 0xffffffu
#define QPN_MAX 0xffffffu

/* The kernel's table (ib_modify_qp_is_ok()) for what railhead uses. */
static const struct step {
	enum ibv_qp_type type;
	enum ibv_qp_state from, to;
	int needed, allowed;
} steps[] = {
	{IBV_QPT_RC, IBV_QPS_RESET, IBV_QPS_INIT,
	 .needed = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS},
	{IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTR,
	 .needed = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		   IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
	 .allowed = IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX},
	{IBV_QPT_RC, IBV_QPS_RTR, IBV_QPS_RTS,
	 .needed = IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
		   IBV_QP_MAX_QP_RD_ATOMIC,
	 .allowed = IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER},
	{IBV_QPT_UD, IBV_QPS_RESET, IBV_QPS_INIT,
	 .needed = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY},
	{IBV_QPT_UD, IBV_QPS_INIT, IBV_QPS_RTR, .allowed = IBV_QP_PKEY_INDEX | IBV_QP_QKEY},
	{IBV_QPT_UD, IBV_QPS_RTR, IBV_QPS_RTS,
	 .needed = IBV_QP_SQ_PSN, .allowed = IBV_QP_CUR_STATE | IBV_QP_QKEY},
};

struct dbl_qp *dbl_qp_find(uint32_t qpn)
{
	for (struct dbl_qp *qp = dbl.qps; qp; qp = qp->next)
		if (qp->base.qp_num == qpn)
			return qp;
	return NULL;
}

struct ibv_qp *dbl_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	const struct ibv_qp_cap *cap = &attr->cap;
	struct dbl_qp *qp = NULL;

	pthread_mutex_lock(&dbl.lock);
	errno = dbl_fails("create_qp");
	if (!errno && (!attr->send_cq || !attr->recv_cq || attr->srq || cap->max_send_sge != 1 ||
		       cap->max_recv_sge > 1 || cap->max_inline_data > INLINE_MAX ||
		       (cap->max_inline_data && dbl.setup.no_inline) || !cap->max_send_wr ||
		       (attr->qp_type != IBV_QPT_RC && attr->qp_type != IBV_QPT_UD)))
		errno = EINVAL;
	if (!errno) {
		qp = xcalloc(1, sizeof(*qp));
		qp->base.context = pd->context;
		qp->base.pd = pd;
		qp->base.send_cq = attr->send_cq;
		qp->base.recv_cq = attr->recv_cq;
		qp->base.qp_num = dbl.qpns++;
		qp->base.qp_type = attr->qp_type;
		qp->base.state = IBV_QPS_RESET;
		qp->init = *attr;
		qp->sq = xcalloc(cap->max_send_wr, sizeof(*qp->sq));
		qp->rq = xcalloc(cap->max_recv_wr + 1, sizeof(*qp->rq));
		((struct dbl_cq *)attr->send_cq)->users++;
		((struct dbl_cq *)attr->recv_cq)->users++;
		qp->next = dbl.qps;
		dbl.qps = qp;
		dbl.objects++;
	}
	pthread_mutex_unlock(&dbl.lock);
	return qp ? &qp->base : NULL;
}

static bool av_right(const struct ibv_ah_attr *av)
{
	return av->is_global && av->port_num == 1 && av->grh.sgid_index < GIDS;
}

static bool values_right(const struct dbl_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
	unsigned device = dbl_device(qp->base.context);

	if (mask & IBV_QP_PORT && attr->port_num != 1)
		return false;
	if (mask & IBV_QP_PKEY_INDEX && attr->pkey_index)
		return false;
	if (mask & IBV_QP_AV && !av_right(&attr->ah_attr))
		return false;
	if (mask & IBV_QP_PATH_MTU &&
	    (attr->path_mtu < IBV_MTU_256 || attr->path_mtu > dbl_mtu(device)))
		return false;
	if (mask & IBV_QP_DEST_QPN && attr->dest_qp_num > QPN_MAX)
		return false;
	if ((mask & IBV_QP_RQ_PSN && attr->rq_psn > PSN_MAX) ||
	    (mask & IBV_QP_SQ_PSN && attr->sq_psn > PSN_MAX))
		return false;
	if (mask & IBV_QP_TIMEOUT && attr->timeout > 31)
		return false;
	return !(mask & IBV_QP_RETRY_CNT && attr->retry_cnt > 7) &&
	       !(mask & IBV_QP_RNR_RETRY && attr->rnr_retry > 7) &&
	       !(mask & IBV_QP_MAX_DEST_RD_ATOMIC && attr->max_dest_rd_atomic > 16) &&
	       !(mask & IBV_QP_MAX_QP_RD_ATOMIC && attr->max_rd_atomic > 16);
}

static void keep(struct ibv_qp_attr *to, const struct ibv_qp_attr *from, int mask)
{
	to->qp_state = from->qp_state;
	if (mask & IBV_QP_PORT)
		to->port_num = from->port_num;
	if (mask & IBV_QP_ACCESS_FLAGS)
		to->qp_access_flags = from->qp_access_flags;
	if (mask & IBV_QP_QKEY)
		to->qkey = from->qkey;
	if (mask & IBV_QP_AV)
		to->ah_attr = from->ah_attr;
	if (mask & IBV_QP_PATH_MTU)
		to->path_mtu = from->path_mtu;
	if (mask & IBV_QP_DEST_QPN)
		to->dest_qp_num = from->dest_qp_num;
	if (mask & IBV_QP_RQ_PSN)
		to->rq_psn = from->rq_psn;
	if (mask & IBV_QP_SQ_PSN)
		to->sq_psn = from->sq_psn;
	if (mask & IBV_QP_MAX_DEST_RD_ATOMIC)
		to->max_dest_rd_atomic = from->max_dest_rd_atomic;
	if (mask & IBV_QP_MAX_QP_RD_ATOMIC)
		to->max_rd_atomic = from->max_rd_atomic;
	if (mask & IBV_QP_MIN_RNR_TIMER)
		to->min_rnr_timer = from->min_rnr_timer;
	if (mask & IBV_QP_TIMEOUT)
		to->timeout = from->timeout;
	if (mask & IBV_QP_RETRY_CNT)
		to->retry_cnt = from->retry_cnt;
	if (mask & IBV_QP_RNR_RETRY)
		to->rnr_retry = from->rnr_retry;
}

static int modify(struct dbl_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
	if (!(mask & IBV_QP_STATE))
		return EINVAL;
	if (attr->qp_state == IBV_QPS_ERR) {
		dbl_qp_break(qp);
		return 0;
	}
	if (attr->qp_state == IBV_QPS_RESET) {
		if (!qp->left_reset)
			dbl_complain("RESET of QP 0x%x, which is fresh", qp->base.qp_num);
		return EINVAL;
	}
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		const struct step *s = &steps[i];

		if (s->type != qp->base.qp_type || s->from != qp->base.state ||
		    s->to != attr->qp_state)
			continue;
		if ((mask & s->needed) != s->needed ||
		    mask & ~(s->needed | s->allowed | IBV_QP_STATE) ||
		    !values_right(qp, attr, mask))
			return EINVAL;
		keep(&qp->attr, attr, mask);
		qp->base.state = attr->qp_state;
		qp->left_reset = true;
		if (attr->qp_state == IBV_QPS_RTR)
			dbl_qp_ready(qp);
		return 0;
	}
	return EINVAL;
}

int dbl_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	int code;

	pthread_mutex_lock(&dbl.lock);
	code = dbl_fails("modify_qp");
	if (!code)
		code = modify((struct dbl_qp *)qp, attr, mask);
	pthread_mutex_unlock(&dbl.lock);
	return code;
}

/* Completions of a QP that is destroyed are never polled. */
static void purge(struct dbl_cq *cq, uint32_t qpn)
{
	uint64_t kept = cq->head;

	for (uint64_t i = cq->head; i < cq->tail; i++) {
		size_t from = i % (uint64_t)cq->base.cqe, to = kept % (uint64_t)cq->base.cqe;

		if (cq->wc[from].qp_num == qpn)
			continue;
		cq->wc[to] = cq->wc[from];
		cq->retires[to] = cq->retires[from];
		kept++;
	}
	cq->tail = kept;
}

int dbl_destroy_qp(struct ibv_qp *ibv)
{
	struct dbl_qp *qp = (struct dbl_qp *)ibv, **link = &dbl.qps;

	pthread_mutex_lock(&dbl.lock);
	while (*link && *link != qp)
		link = &(*link)->next;
	if (!*link) {
		dbl_complain("destroy_qp of a QP that does not exist");
		pthread_mutex_unlock(&dbl.lock);
		return EINVAL;
	}
	*link = qp->next;
	purge((struct dbl_cq *)ibv->send_cq, ibv->qp_num);
	purge((struct dbl_cq *)ibv->recv_cq, ibv->qp_num);
	((struct dbl_cq *)ibv->send_cq)->users--;
	((struct dbl_cq *)ibv->recv_cq)->users--;
	dbl.objects--;
	pthread_mutex_unlock(&dbl.lock);
	free(qp->sq);
	free(qp->rq);
	free(qp);
	return 0;
}

int verbs_double_qp_state(uint32_t qpn, struct verbs_double_qp *out)
{
	struct dbl_qp *qp;

	pthread_mutex_lock(&dbl.lock);
	qp = dbl_qp_find(qpn);
	if (qp)
		*out = (struct verbs_double_qp){
			.state = qp->base.state,
			.init = qp->init,
			.attr = qp->attr,
			.posted = qp->sq_posted,
			.signalled = qp->signalled,
			.longest_unsignalled = qp->longest_unsignalled,
		};
	pthread_mutex_unlock(&dbl.lock);
	return qp ? 0 : -1;
}

void verbs_double_break(uint32_t qpn)
{
	struct dbl_qp *qp;

	pthread_mutex_lock(&dbl.lock);
	qp = dbl_qp_find(qpn);
	if (qp)
		dbl_qp_break(qp);
	pthread_mutex_unlock(&dbl.lock);
}
