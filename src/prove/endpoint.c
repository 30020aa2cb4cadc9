/* SPDX-License-Identifier: Apache-2.0 */
/* Making an endpoint: from the name of a device to QPs that wait for their peers. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/random.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "prove/endpoint_internal.h"

/* 0.54 s, 4.3 s with all retries: longer than the 3 s in which LACP leaves a dead port, and than the
 * stalls of an emulated machine, in which the 67 ms of perftest repeat what is not lost. */
#define TIMEOUT_DEFAULT 17
#define TIMEOUT_MAX 31u
#define RETRIES_DEFAULT 7
#define RETRIES_MAX 7u
#define PSN_MASK 0xffffffu
/* Under way on one QP: more brings nothing, and the attribute is of one byte. */
#define READS_MAX 128
/* What is asked for to go inline: a cache line. E810 has 101, others 32 to some hundred; more makes
 * each work request longer, and what is larger is not slower by being read. */
#define INLINE_BYTES 64u

/* Verbs that give a pointer set errno; a provider that forgot to is told as EIO. */
static int failed(const struct endpoint *e, const char *call, struct error *err)
{
	return error_set_errno(err, errno ? -errno : -EIO, "%s on %s", call, e->name);
}

static int open_device(struct endpoint *e, const char *name, struct error *err)
{
	_cleanup_strbuf_ struct strbuf have = {0};
	struct ibv_device **list, *device = NULL;
	int n = 0;

	errno = 0;
	list = e->v->get_device_list(&n);
	if (!list)
		return failed(e, "ibv_get_device_list", err);
	for (int i = 0; i < n && !device; i++) {
		const char *other = e->v->get_device_name(list[i]);

		if (!strcmp(other, name))
			device = list[i];
		strbuf_printf(&have, "%s%s", i ? ", " : "", other);
	}
	if (device) {
		errno = 0;
		e->context = e->v->open_device(device);
	}
	int rc = e->context ? 0 :
		 device	    ? failed(e, "ibv_open_device", err) :
			      error_set(err, -ENODEV, "no RDMA device %s (%s has: %s)", name,
					e->v->name, n ? strbuf_str(&have) : "none");
	e->v->free_device_list(list);
	return rc;
}

static int look_at_device(struct endpoint *e, const struct endpoint_request *request,
			  struct error *err)
{
	struct ibv_device_attr attr = {0};
	int rc = e->v->query_device(e->context, &attr);

	if (rc)
		return error_set_errno(err, -rc, "ibv_query_device on %s", e->name);
	e->depth = request->depth;
	if (attr.max_qp_wr > 0 && e->depth > (unsigned)attr.max_qp_wr)
		e->depth = (unsigned)attr.max_qp_wr;
	if (attr.max_cqe > 0 && (uint64_t)e->depth * e->qps > (unsigned)attr.max_cqe)
		e->depth = (unsigned)attr.max_cqe / e->qps;
	if (!e->depth)
		return error_set(err, -EINVAL, "%s: a CQ of %d entries is too small for %u QPs",
				 e->name, attr.max_cqe, e->qps);
	e->reads_in = attr.max_qp_rd_atom < READS_MAX ? (unsigned)attr.max_qp_rd_atom : READS_MAX;
	e->reads_out = attr.max_qp_init_rd_atom < READS_MAX ? (unsigned)attr.max_qp_init_rd_atom :
							      READS_MAX;
	return 0;
}

static int look_at_port(struct endpoint *e, struct error *err)
{
	static const union ibv_gid none;
	struct ibv_port_attr attr = {0};
	int rc = e->v->query_port(e->context, e->port, &attr);

	if (rc)
		return error_set_errno(err, -rc, "ibv_query_port on %s", e->name);
	if (attr.state != IBV_PORT_ACTIVE)
		return error_set(err, -ENETDOWN, "%s is not active (state %d)", e->name,
				 attr.state);
	if (attr.active_mtu < IBV_MTU_256 || attr.active_mtu > IBV_MTU_4096)
		return error_set(err, -EPROTO, "%s has the unknown active MTU %d", e->name,
				 attr.active_mtu);
	e->mtu_bytes = 128u << attr.active_mtu;
	errno = 0;
	if (e->v->query_gid(e->context, e->port, e->gid_index, &e->gid))
		return error_set_errno(err, errno ? -errno : -EIO, "GID index %d of %s",
				       e->gid_index, e->name);
	if (!memcmp(&e->gid, &none, sizeof(none)))
		return error_set(err, -EADDRNOTAVAIL, "GID index %d of %s is empty", e->gid_index,
				 e->name);
	return 0;
}

/* The completions of all receives and of all sends (after an error even those that did not ask for
 * one are told) have room. */
static int make_queues(struct endpoint *e, struct error *err)
{
	errno = 0;
	e->pd = e->v->alloc_pd(e->context);
	if (!e->pd)
		return failed(e, "ibv_alloc_pd", err);
	e->send_cq = e->v->create_cq(e->context, (int)(e->qps * e->depth), NULL, NULL, 0);
	if (!e->send_cq)
		return failed(e, "ibv_create_cq (sends)", err);
	e->receive_cq = e->v->create_cq(e->context, (int)(e->qps * e->depth), NULL, NULL, 0);
	if (!e->receive_cq)
		return failed(e, "ibv_create_cq (receives)", err);
	return 0;
}

/* How much goes inline is found out by asking for it: no attribute of a device tells. */
static struct ibv_qp *create_qp(struct endpoint *e, struct ibv_qp_init_attr *init)
{
	const struct ibv_qp_init_attr wanted = *init;
	struct ibv_qp *qp;

	init->cap.max_inline_data = e->inline_bytes;
	errno = 0;
	qp = e->v->create_qp(e->pd, init);
	if (!qp && e->inline_bytes) {
		*init = wanted;
		errno = 0;
		qp = e->v->create_qp(e->pd, init);
	}
	/* what the provider gives may be more or less */
	if (qp && init->cap.max_inline_data < e->inline_bytes)
		e->inline_bytes = init->cap.max_inline_data;
	return qp;
}

/* A fresh QP is in RESET already; E810 refuses to be told so. */
static int make_qp(struct endpoint *e, struct endpoint_queue *q, struct error *err)
{
	struct ibv_qp_init_attr init = {
		.send_cq = e->send_cq,
		.recv_cq = e->receive_cq,
		.cap = {
			.max_send_wr = e->depth,
			.max_recv_wr = e->depth,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
		.qp_type = e->ud ? IBV_QPT_UD : IBV_QPT_RC,
	};
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = e->port,
		.qkey = ENDPOINT_QKEY,
		.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
				   IBV_ACCESS_REMOTE_WRITE,
	};
	int rc;

	if (getrandom(&q->psn, sizeof(q->psn), 0) != sizeof(q->psn))
		return error_set_errno(err, -EIO, "getrandom");
	q->psn &= PSN_MASK;
	q->sends = xcalloc(e->depth, sizeof(*q->sends));
	q->receives = xcalloc(e->depth, sizeof(*q->receives));
	q->qp = create_qp(e, &init);
	if (!q->qp)
		return failed(e, e->ud ? "ibv_create_qp (UD)" : "ibv_create_qp (RC)", err);
	rc = e->v->modify_qp(q->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
						   (e->ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS));
	if (rc)
		return error_set_errno(err, -rc, "ibv_modify_qp to INIT of QP 0x%x on %s",
				       q->qp->qp_num, e->name);
	return 0;
}

static int check_request(const struct endpoint_request *request, struct error *err)
{
	if (!request->qps || request->qps > ENDPOINT_QPS_MAX)
		return error_set(err, -EINVAL, "%u QPs: 1 to %u are possible", request->qps,
				 ENDPOINT_QPS_MAX);
	if (request->ud && request->qps != 1)
		return error_set(err, -EINVAL, "UD has one QP, not %u", request->qps);
	if (!request->depth || request->depth > UINT16_MAX)
		return error_set(err, -EINVAL, "a queue of %u WRs: 1 to %u are possible",
				 request->depth, UINT16_MAX);
	if (request->timeout > TIMEOUT_MAX)
		return error_set(err, -EINVAL, "ACK timeout %u: at most %u", request->timeout,
				 TIMEOUT_MAX);
	if (request->retries > RETRIES_MAX)
		return error_set(err, -EINVAL, "%u retries: at most %u", request->retries,
				 RETRIES_MAX);
	return 0;
}

int endpoint_open(struct endpoint **endpoint, const struct endpoint_request *request,
		  struct error *err)
{
	struct endpoint *e;
	int rc = check_request(request, err);

	if (rc < 0)
		return rc;
	e = xcalloc(1, sizeof(*e));
	e->v = request->verbs;
	e->name = xasprintf("%s/%u", request->device, request->port);
	e->port = request->port;
	e->gid_index = request->gid_index;
	e->ud = request->ud;
	e->traffic_class = request->traffic_class;
	e->timeout = (uint8_t)(request->timeout ? request->timeout : TIMEOUT_DEFAULT);
	e->retries = (uint8_t)(request->retries ? request->retries : RETRIES_DEFAULT);
	e->qps = request->qps;
	/* UD messages show what the network does to packets, not how fast they are made */
	e->inline_bytes = e->ud ? 0 : INLINE_BYTES;
	e->queues = xcalloc(e->qps, sizeof(*e->queues));
	rc = open_device(e, request->device, err);
	if (!rc)
		rc = look_at_device(e, request, err);
	if (!rc)
		rc = look_at_port(e, err);
	if (!rc)
		rc = make_queues(e, err);
	for (unsigned i = 0; !rc && i < e->qps; i++)
		rc = make_qp(e, &e->queues[i], err);
	if (rc < 0)
		endpoint_close(e);
	else
		*endpoint = e;
	return rc;
}

void endpoint_close(struct endpoint *e)
{
	if (!e)
		return;
	for (unsigned i = 0; i < e->qps; i++) {
		if (e->queues[i].qp)
			e->v->destroy_qp(e->queues[i].qp);
		free(e->queues[i].sends);
		free(e->queues[i].receives);
	}
	if (e->ah)
		e->v->destroy_ah(e->ah);
	if (e->send_cq)
		e->v->destroy_cq(e->send_cq);
	if (e->receive_cq)
		e->v->destroy_cq(e->receive_cq);
	if (e->pd)
		e->v->dealloc_pd(e->pd);
	if (e->context)
		e->v->close_device(e->context);
	error_clear(&e->failure);
	free(e->queues);
	free(e->name);
	free(e);
}

struct ibv_pd *endpoint_pd(const struct endpoint *e)
{
	return e->pd;
}

unsigned endpoint_qps(const struct endpoint *e)
{
	return e->qps;
}

unsigned endpoint_depth(const struct endpoint *e)
{
	return e->depth;
}

uint32_t endpoint_qpn(const struct endpoint *e, unsigned qp)
{
	return e->queues[qp].qp->qp_num;
}

unsigned endpoint_mtu_bytes(const struct endpoint *e)
{
	return e->mtu_bytes;
}
