/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The data path of an endpoint. The id of a WR holds its QP's index and its number on that QP: a
 * completion tells what was done even when it failed (then only id, status, QP and vendor_err are
 * valid), and one that comes twice, or not at all, is seen.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "prove/endpoint_internal.h"

#define ID_NUMBER_BITS 48
#define ID_NUMBER_MASK ((1ull << ID_NUMBER_BITS) - 1)

static const struct status {
	const char *text;
	int code;
} statuses[] = {
	[IBV_WC_LOC_LEN_ERR] = {"local length error", -EMSGSIZE},
	[IBV_WC_LOC_QP_OP_ERR] = {"local QP operation error", -EIO},
	[IBV_WC_LOC_EEC_OP_ERR] = {"local EE context operation error", -EIO},
	[IBV_WC_LOC_PROT_ERR] = {"local protection error: key, bounds or access of the own memory",
				 -EFAULT},
	[IBV_WC_WR_FLUSH_ERR] = {"flushed: the QP is in the error state", -ECANCELED},
	[IBV_WC_MW_BIND_ERR] = {"memory window bind error", -EIO},
	[IBV_WC_BAD_RESP_ERR] = {"bad response", -EIO},
	[IBV_WC_LOC_ACCESS_ERR] = {"local access error", -EFAULT},
	[IBV_WC_REM_INV_REQ_ERR] = {"remote invalid request: the peer's QP does not allow it, or "
				    "its receive is too short", -EREMOTEIO},
	[IBV_WC_REM_ACCESS_ERR] = {"remote access error: key, bounds or access of the peer's "
				   "memory", -EACCES},
	[IBV_WC_REM_OP_ERR] = {"remote operation error", -EREMOTEIO},
	[IBV_WC_RETRY_EXC_ERR] = {"transport retry counter exceeded: the peer acknowledges nothing",
				  -EHOSTUNREACH},
	[IBV_WC_RNR_RETRY_EXC_ERR] = {"RNR retry counter exceeded: the peer posts no receive",
				      -ENOBUFS},
	[IBV_WC_REM_ABORT_ERR] = {"remote aborted", -EREMOTEIO},
	[IBV_WC_FATAL_ERR] = {"fatal error", -EIO},
	[IBV_WC_RESP_TIMEOUT_ERR] = {"response timeout", -EHOSTUNREACH},
	[IBV_WC_GENERAL_ERR] = {"general error", -EIO},
};

static const char *opcode_text(enum ibv_wr_opcode opcode)
{
	switch (opcode) {
	case IBV_WR_RDMA_WRITE: return "RDMA WRITE";
	case IBV_WR_RDMA_WRITE_WITH_IMM: return "RDMA WRITE with immediate";
	case IBV_WR_RDMA_READ: return "RDMA READ";
	case IBV_WR_SEND: return "SEND";
	case IBV_WR_SEND_WITH_IMM: return "SEND with immediate";
	default: return NULL;
	}
}

/* The first failure stays; but what was flushed only tells that there is a cause. */
static bool keep_failure(struct endpoint *e, int code, const char *operation,
			 const struct endpoint_queue *q, const char *text)
{
	if (e->failure.code && e->failure.code != -ECANCELED)
		return false;
	if (e->failure.code && code == -ECANCELED)
		return false;
	error_set(&e->failure, code, "%s of QP 0x%x to QP 0x%x on %s: %s", operation,
		  q->qp->qp_num, q->peer_qpn, e->name, text);
	e->failed_status = IBV_WC_SUCCESS;
	return true;
}

static int failure(const struct endpoint *e, struct error *err)
{
	return error_set(err, e->failure.code, "%s", e->failure.message);
}

/* Give what waits to the provider. */
static int send_batch(struct endpoint *e, struct endpoint_queue *q, struct error *err)
{
	struct ibv_send_wr *bad = NULL;
	int rc;

	if (!q->batched)
		return 0;
	q->batch[q->batched - 1].next = NULL;
	rc = e->v->post_send(q->qp, q->batch, &bad);
	if (rc) {
		const struct ibv_send_wr *wr = bad ? bad : q->batch;
		_cleanup_free_ char *text = xasprintf("ibv_post_send: %s", strerror(rc));

		keep_failure(e, -rc, opcode_text(wr->opcode), q, text);
	}
	q->batched = 0;
	e->batches--;
	return rc ? failure(e, err) : 0;
}

static int check_op(const struct endpoint *e, const struct endpoint_op *op, struct error *err)
{
	bool send = op->opcode == IBV_WR_SEND || op->opcode == IBV_WR_SEND_WITH_IMM;

	if (op->qp >= e->qps)
		return error_set(err, -EINVAL, "QP %u of %u on %s", op->qp, e->qps, e->name);
	if (!opcode_text(op->opcode) || (e->ud && !send))
		return error_set(err, -EINVAL, "a %s QP on %s does not do operation %d",
				 e->ud ? "UD" : "RC", e->name, op->opcode);
	if (e->ud && op->length > e->mtu_bytes)
		return error_set(err, -EMSGSIZE, "a UD message of %u bytes, and an MTU of %u on %s",
				 op->length, e->mtu_bytes, e->name);
	return 0;
}

bool endpoint_is_inline(const struct endpoint *e, const struct endpoint_op *op)
{
	return op->bytes && op->length && op->length <= e->inline_bytes &&
	       op->opcode != IBV_WR_RDMA_READ;
}

static void fill(const struct endpoint *e, const struct endpoint_queue *q,
		 const struct endpoint_op *op, struct ibv_send_wr *wr, struct ibv_sge *sge)
{
	*sge = (struct ibv_sge){.addr = op->local, .length = op->length, .lkey = op->lkey};
	*wr = (struct ibv_send_wr){
		.wr_id = (uint64_t)op->qp << ID_NUMBER_BITS | (q->posted & ID_NUMBER_MASK),
		.sg_list = sge,
		.num_sge = op->length ? 1 : 0,
		.opcode = op->opcode,
		.imm_data = htonl(op->imm),
	};
	if (endpoint_is_inline(e, op)) {
		/* the provider copies from here, not from where the adapter would read */
		sge->addr = (uint64_t)(uintptr_t)op->bytes;
		wr->send_flags = IBV_SEND_INLINE;
	}
	if (e->ud) {
		wr->wr.ud.ah = e->ah;
		wr->wr.ud.remote_qpn = q->peer_qpn;
		wr->wr.ud.remote_qkey = ENDPOINT_QKEY;
	} else {
		wr->wr.rdma.remote_addr = op->remote;
		wr->wr.rdma.rkey = op->rkey;
	}
}

int endpoint_post(struct endpoint *e, const struct endpoint_op *op, struct error *err)
{
	struct endpoint_queue *q;
	struct ibv_send_wr *wr;
	bool ask;
	int rc;

	if (e->failure.code)
		return failure(e, err);
	rc = check_op(e, op, err);
	if (rc < 0)
		return rc;
	q = &e->queues[op->qp];
	if (q->posted - q->done == e->depth) {
		rc = send_batch(e, q, err);
		return rc < 0 ? rc : -EAGAIN;
	}
	/* Slots become free by completions only: with one in each half, the queue never stops. */
	ask = !op->more || 2 * (q->posted + 1 - q->asked_at) >= e->depth;
	wr = &q->batch[q->batched];
	fill(e, q, op, wr, &q->sge[q->batched]);
	if (q->batched)
		wr[-1].next = wr;
	else
		e->batches++;
	q->batched++;
	q->sends[q->posted % e->depth] = (struct endpoint_send){
		.opcode = op->opcode,
		.id = op->id,
		.ordinal = q->asked,
	};
	q->posted++;
	if (ask) {
		wr->send_flags |= IBV_SEND_SIGNALED;
		q->asked_at = q->posted;
		q->asked++;
	}
	return ask || q->batched == ENDPOINT_BATCH ? send_batch(e, q, err) : 0;
}

int endpoint_post_receive(struct endpoint *e, unsigned qp, uint64_t buffer, uint32_t length,
			  uint32_t lkey, uint64_t id, struct error *err)
{
	struct endpoint_queue *q = qp < e->qps ? &e->queues[qp] : NULL;
	struct ibv_sge sge = {.addr = buffer, .length = length, .lkey = lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = length ? 1 : 0}, *bad = NULL;
	int rc;

	if (e->failure.code)
		return failure(e, err);
	if (!q)
		return error_set(err, -EINVAL, "QP %u of %u on %s", qp, e->qps, e->name);
	if (q->receives_posted - q->receives_done == e->depth)
		return -EAGAIN;
	wr.wr_id = (uint64_t)qp << ID_NUMBER_BITS | (q->receives_posted & ID_NUMBER_MASK);
	rc = e->v->post_recv(q->qp, &wr, &bad);
	if (rc)
		return error_set_errno(err, -rc, "ibv_post_recv of QP 0x%x on %s", q->qp->qp_num,
				       e->name);
	q->receives[q->receives_posted++ % e->depth] = id;
	e->receives++;
	return 0;
}

/* The WR that a completion is of: its QP and number. False: there is none under way. */
static bool find(struct endpoint *e, const struct ibv_wc *wc, bool send, struct endpoint_queue **q,
		 uint64_t *number)
{
	uint64_t index = wc->wr_id >> ID_NUMBER_BITS;

	if (index >= e->qps || wc->qp_num != e->queues[index].qp->qp_num)
		return false;
	*q = &e->queues[index];
	*number = wc->wr_id & ID_NUMBER_MASK;
	return send ? *number >= (*q)->done && *number < (*q)->posted :
		      *number >= (*q)->receives_done && *number < (*q)->receives_posted;
}

static void take_failed(struct endpoint *e, const struct endpoint_queue *q, uint64_t number,
			const struct ibv_wc *wc, bool send)
{
	const struct status *s = (size_t)wc->status < ARRAY_SIZE(statuses) ? &statuses[wc->status] :
									     NULL;
	_cleanup_free_ char *text = xasprintf("%s (status %d, vendor_err 0x%x)",
					      s && s->text ? s->text : "unknown error", wc->status,
					      wc->vendor_err);

	if (!keep_failure(e, s && s->code ? s->code : -EIO,
			  send ? opcode_text(q->sends[number % e->depth].opcode) : "receive", q,
			  text))
		return;
	e->failed_status = wc->status;
	e->failed_vendor_error = wc->vendor_err;
}

/* All of one CQ's. False: the endpoint has failed. */
static bool take(struct endpoint *e, struct ibv_wc *wc, bool send)
{
	struct endpoint_queue *q = NULL;
	uint64_t number;

	if (!find(e, wc, send, &q, &number)) {
		if (!e->failure.code)
			error_set(&e->failure, -EBADMSG,
				  "%s tells a completion (id 0x%" PRIx64
				  ", QP 0x%x) of no %s that is under way",
				  e->name, (uint64_t)wc->wr_id, wc->qp_num,
				  send ? "operation" : "receive");
		return false;
	}
	if (wc->status != IBV_WC_SUCCESS) {
		take_failed(e, q, number, wc, send);
		return false;
	}
	if (send ? q->sends[number % e->depth].ordinal != q->told : number != q->receives_done) {
		keep_failure(e, -EBADMSG, send ? "an operation" : "a receive", q,
			     "its completion never came, and later ones did");
		return false;
	}
	if (send) {
		wc->wr_id = q->sends[number % e->depth].id;
		q->done = number + 1;
		q->told++;
	} else {
		wc->wr_id = q->receives[number % e->depth];
		q->receives_done++;
		e->receives--;
	}
	return true;
}

/* Completions of one CQ. Successes that came before a failure are given first. */
static int poll_queue(struct endpoint *e, bool send, struct ibv_wc *wc, int n, struct error *err)
{
	int found = e->v->poll_cq(send ? e->send_cq : e->receive_cq, n, wc), good = 0;

	if (found < 0)
		return error_set_errno(err, -EIO, "ibv_poll_cq (%s) on %s",
				       send ? "sends" : "receives", e->name);
	for (int i = 0; i < found; i++) {
		bool ok = take(e, &wc[i], send);

		if (ok && !e->failure.code)
			wc[good++] = wc[i];
	}
	return good ? good : e->failure.code ? failure(e, err) : 0;
}

static int send_batches(struct endpoint *e, struct error *err)
{
	for (unsigned i = 0; e->batches && i < e->qps; i++) {
		int rc = send_batch(e, &e->queues[i], err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int endpoint_poll(struct endpoint *e, struct ibv_wc *wc, int n, struct error *err)
{
	int sends, receives;

	if (e->failure.code)
		return failure(e, err);
	sends = send_batches(e, err);
	if (!sends)
		sends = poll_queue(e, true, wc, n, err);
	if (sends < 0 || sends == n || e->failure.code || !e->receives)
		return sends;
	receives = poll_queue(e, false, wc + sends, n - sends, err);
	return receives >= 0 ? sends + receives : sends ? sends : receives;
}

bool endpoint_failed_completion(const struct endpoint *e, enum ibv_wc_status *status,
				uint32_t *vendor_error)
{
	*status = e->failed_status;
	*vendor_error = e->failed_vendor_error;
	return e->failed_status != IBV_WC_SUCCESS;
}

uint64_t endpoint_completed(const struct endpoint *e, unsigned qp)
{
	return e->queues[qp].done;
}
