/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two endpoints learn of each other and connect. The description is a JSON object:
 *
 *	{"transport": "RC", "gid": "::ffff:192.0.2.1", "mtu": 1024, "reads": 16,
 *	 "qps": [{"qpn": 17, "psn": 4711}, …]}
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "prove/endpoint_internal.h"

#define MIN_RNR_TIMER 12	/* 0.64 ms */
#define RNR_RETRY_FOREVER 7	/* whoever waits has time limits of its own */
#define HOP_LIMIT 64
#define QPN_MIN 2		/* 0 and 1 are the fabric's */
#define QPN_MAX 0xffffff
#define PSN_MAX 0xffffff
#define READS_MAX 255

json_t *endpoint_describe(const struct endpoint *e)
{
	json_t *message = json_object_new(), *qps;
	char gid[INET6_ADDRSTRLEN] = "";

	inet_ntop(AF_INET6, e->gid.raw, gid, sizeof(gid));
	json_put_string(message, "transport", e->ud ? "UD" : "RC");
	json_put_string(message, "gid", gid);
	json_put_int(message, "mtu", e->mtu_bytes);
	json_put_int(message, "reads", e->reads_in);
	qps = json_arr(message, "qps");
	for (unsigned i = 0; i < e->qps; i++) {
		json_t *qp = json_object_new();

		json_put_int(qp, "qpn", e->queues[i].qp->qp_num);
		json_put_int(qp, "psn", e->queues[i].psn);
		json_append(qps, qp);
	}
	return message;
}

static int read_number(int64_t *number, json_t *object, const char *key, int64_t min, int64_t max,
		       struct error *err)
{
	json_t *value = json_object_get(object, key);

	if (!json_is_integer(value))
		return error_set(err, -EPROTO, "the peer's endpoint: \"%s\" is %s", key,
				 value ? "not an integer" : "missing");
	*number = json_integer_value(value);
	if (*number < min || *number > max)
		return error_set(err, -EPROTO,
				 "the peer's endpoint: \"%s\" is %" PRId64 ", not from %" PRId64
				 " to %" PRId64, key, *number, min, max);
	return 0;
}

static int read_gid(union ibv_gid *gid, json_t *message, struct error *err)
{
	static const union ibv_gid none;
	const char *text = json_get_string(message, "gid", NULL);

	if (!text || inet_pton(AF_INET6, text, gid->raw) != 1)
		return error_set(err, -EPROTO, "the peer's endpoint: \"gid\" is %s",
				 text ? "not an IPv6 address" : "no text");
	if (!memcmp(gid, &none, sizeof(none)) || gid->raw[0] == 0xff)
		return error_set(err, -EPROTO, "the peer's endpoint: GID %s is %s", text,
				 gid->raw[0] ? "a multicast address" : "empty");
	return 0;
}

static int read_qps(struct endpoint_peer *peer, json_t *message, struct error *err)
{
	json_t *qps = json_object_get(message, "qps"), *qp;
	size_t i;

	if (!json_is_array(qps) || !json_array_size(qps) ||
	    json_array_size(qps) > ENDPOINT_QPS_MAX)
		return error_set(err, -EPROTO,
				 "the peer's endpoint: \"qps\" is no array of 1 to %u QPs",
				 ENDPOINT_QPS_MAX);
	peer->qps = (unsigned)json_array_size(qps);
	json_array_foreach(qps, i, qp) {
		int64_t qpn, psn;

		int rc = read_number(&qpn, qp, "qpn", QPN_MIN, QPN_MAX, err);
		if (!rc)
			rc = read_number(&psn, qp, "psn", 0, PSN_MAX, err);
		if (rc < 0)
			return rc;
		for (size_t k = 0; k < i; k++)
			if (peer->qpn[k] == qpn)
				return error_set(err, -EPROTO,
						 "the peer's endpoint: QP 0x%x is there twice",
						 (unsigned)qpn);
		peer->qpn[i] = (uint32_t)qpn;
		peer->psn[i] = (uint32_t)psn;
	}
	return 0;
}

int endpoint_peer_read(struct endpoint_peer *peer, json_t *message, struct error *err)
{
	const char *transport = json_get_string(message, "transport", "");
	int64_t mtu, reads;

	*peer = (struct endpoint_peer){.ud = !strcmp(transport, "UD")};
	if (!peer->ud && strcmp(transport, "RC"))
		return error_set(err, -EPROTO, "the peer's endpoint: \"transport\" is not RC or UD");
	int rc = read_gid(&peer->gid, message, err);
	if (!rc)
		rc = read_number(&mtu, message, "mtu", 256, 4096, err);
	if (!rc && mtu & (mtu - 1))
		rc = error_set(err, -EPROTO, "the peer's endpoint: an MTU of %" PRId64
			       " does not exist", mtu);
	if (!rc)
		rc = read_number(&reads, message, "reads", 0, READS_MAX, err);
	if (!rc)
		rc = read_qps(peer, message, err);
	if (rc < 0)
		return rc;
	peer->mtu_bytes = (unsigned)mtu;
	peer->reads = (unsigned)reads;
	return 0;
}

static struct ibv_ah_attr address(const struct endpoint *e, const struct endpoint_peer *peer)
{
	return (struct ibv_ah_attr){
		.is_global = 1,
		.port_num = e->port,
		.grh = {
			.dgid = peer->gid,
			.sgid_index = (uint8_t)e->gid_index,
			.hop_limit = HOP_LIMIT,
			.traffic_class = e->traffic_class,
		},
	};
}

static enum ibv_mtu mtu_of_bytes(unsigned bytes)
{
	enum ibv_mtu mtu = IBV_MTU_256;

	while (128u << mtu < bytes)
		mtu++;
	return mtu;
}

static int step(const struct endpoint *e, const struct endpoint_queue *q, struct ibv_qp_attr *attr,
		int mask, struct error *err)
{
	int rc = e->v->modify_qp(q->qp, attr, mask);

	if (!rc)
		return 0;
	return error_set_errno(err, -rc, "ibv_modify_qp to %s of QP 0x%x on %s",
			       attr->qp_state == IBV_QPS_RTR ? "RTR" : "RTS", q->qp->qp_num,
			       e->name);
}

static int connect_rc(const struct endpoint *e, struct endpoint_queue *q,
		      const struct endpoint_peer *peer, uint32_t psn, struct error *err)
{
	struct ibv_qp_attr rtr = {
		.qp_state = IBV_QPS_RTR,
		.ah_attr = address(e, peer),
		.path_mtu = mtu_of_bytes(e->mtu_bytes),
		.dest_qp_num = q->peer_qpn,
		.rq_psn = psn,
		.max_dest_rd_atomic = (uint8_t)e->reads_in,
		.min_rnr_timer = MIN_RNR_TIMER,
	};
	struct ibv_qp_attr rts = {
		.qp_state = IBV_QPS_RTS,
		.timeout = e->timeout,
		.retry_cnt = e->retries,
		.rnr_retry = RNR_RETRY_FOREVER,
		.sq_psn = q->psn,
		.max_rd_atomic = (uint8_t)(e->reads_out < peer->reads ? e->reads_out : peer->reads),
	};

	int rc = step(e, q, &rtr,
		      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			      IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER, err);
	if (!rc)
		rc = step(e, q, &rts,
			  IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				  IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC, err);
	return rc;
}

static int connect_ud(struct endpoint *e, struct endpoint_queue *q,
		      const struct endpoint_peer *peer, struct error *err)
{
	struct ibv_qp_attr rtr = {.qp_state = IBV_QPS_RTR};
	struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS, .sq_psn = q->psn};
	struct ibv_ah_attr attr = address(e, peer);

	int rc = step(e, q, &rtr, IBV_QP_STATE, err);
	if (!rc)
		rc = step(e, q, &rts, IBV_QP_STATE | IBV_QP_SQ_PSN, err);
	if (rc < 0)
		return rc;
	errno = 0;
	e->ah = e->v->create_ah(e->pd, &attr);
	if (!e->ah)
		return error_set_errno(err, errno ? -errno : -EIO, "ibv_create_ah on %s", e->name);
	return 0;
}

int endpoint_connect(struct endpoint *e, const struct endpoint_peer *peer, struct error *err)
{
	if (peer->ud != e->ud)
		return error_set(err, -EPROTO, "the peer's endpoint is %s, this one is %s",
				 peer->ud ? "UD" : "RC", e->ud ? "UD" : "RC");
	if (peer->qps != e->qps)
		return error_set(err, -EPROTO, "the peer's endpoint has %u QPs, this one has %u",
				 peer->qps, e->qps);
	if (peer->mtu_bytes < e->mtu_bytes)
		e->mtu_bytes = peer->mtu_bytes;
	for (unsigned i = 0; i < e->qps; i++) {
		struct endpoint_queue *q = &e->queues[i];
		int rc;

		q->peer_qpn = peer->qpn[i];
		rc = e->ud ? connect_ud(e, q, peer, err) :
			     connect_rc(e, q, peer, peer->psn[i], err);
		if (rc < 0)
			return rc;
	}
	return 0;
}
