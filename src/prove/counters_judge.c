/* SPDX-License-Identifier: Apache-2.0 */
/* Do the counters of an end agree that a payload went by RDMA, and not by TCP? */
#include "prove/counters.h"

#include <string.h>

#include "base/alloc.h"
#include "base/strings.h"
#include "base/text.h"

/*
 * Counters of RDMA payload, by name. Those of a row are added: a driver has some of them. The
 * larger direction counts, because a payload goes one way.
 */
static const struct rdma_counter {
	const char *in, *out;
	unsigned unit_bytes;	/* of one count; 0: a packet, which carries at most the RoCE MTU */
	bool in_link;		/* the link's own counters have these bytes too */
} rdma_counters[] = {
	/* InfiniBand: PortRcvData and PortXmitData count 32-bit words */
	{ "port_rcv_data", "port_xmit_data", 4, false },
	/* irdma: octets of RoCEv2 by IP version (drivers/infiniband/hw/irdma/verbs.c) */
	{ "ip4InOctets", "ip4OutOctets", 1, false },
	{ "ip6InOctets", "ip6OutOctets", 1, false },
	/* bnxt_re (drivers/infiniband/hw/bnxt_re/hw_counters.c) */
	{ "rx_bytes", "tx_bytes", 1, false },
	/* rxe (drivers/infiniband/sw/rxe/rxe_hw_counters.c) */
	{ "rcvd_pkts", "sent_pkts", 0, true },
};

/* What a payload is allowed to miss: counters are read while packets are on their way. */
#define ENOUGH(payload) ((payload) - (payload) / 10)
/* TCP of the control channel and of other programs that is no payload. */
#define TCP_ALLOWED_BYTES (256u << 10)

static bool value_of(json_t *object, const char *name, uint64_t *value)
{
	json_t *counter = json_object_get(object, name);

	if (json_is_string(counter))
		return !text_to_u64(json_string_value(counter), 10, value);
	if (!json_is_integer(counter) || json_integer_value(counter) < 0)
		return false;
	*value = (uint64_t)json_integer_value(counter);
	return true;
}

static uint64_t times(uint64_t count, uint64_t unit)
{
	return unit && count > UINT64_MAX / unit ? UINT64_MAX : count * unit;
}

static uint64_t plus(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static void RH_PRINTF(2, 3) say(struct counters_verdict *v, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	strings_add(&v->why, xvasprintf(fmt, ap));
	va_end(ap);
}

/* Returns whether the link's own counters have the bytes of RDMA too. */
static bool judge_rdma(struct counters_verdict *v, json_t *difference, uint64_t payload)
{
	json_t *rdma = json_object_get(difference, "rdma");
	uint64_t in = 0, out = 0, value, mtu = 0;
	bool any = false, in_link = false;

	value_of(json_object_get(difference, "sizes"), "roce_mtu", &mtu);
	for (size_t i = 0; i < ARRAY_SIZE(rdma_counters); i++) {
		const struct rdma_counter *c = &rdma_counters[i];
		uint64_t unit = c->unit_bytes ? c->unit_bytes : mtu;

		if (unit && value_of(rdma, c->in, &value)) {
			in = plus(in, times(value, unit));
			any = true;
		}
		if (unit && value_of(rdma, c->out, &value)) {
			out = plus(out, times(value, unit));
			any = true;
			in_link |= c->in_link;
		}
	}

	uint64_t moved = in > out ? in : out;

	if (!any) {
		v->rdma_moved = -1;
		say(v, "this driver has no counter of RDMA bytes or packets");
		return false;
	}
	v->rdma_moved = moved >= ENOUGH(payload);
	say(v, "RDMA counters moved by at most %llu bytes, payload %llu", (unsigned long long)moved,
	    (unsigned long long)payload);
	return in_link && v->rdma_moved;
}

/* The larger direction of TCP, at most; false when it is not known. */
static bool tcp_bound(json_t *difference, uint64_t *bytes)
{
	json_t *tcp = json_object_get(difference, "tcp");
	uint64_t in, out, mtu;

	if (!value_of(tcp, "InSegs", &in) || !value_of(tcp, "OutSegs", &out) ||
	    !value_of(json_object_get(difference, "sizes"), "link_mtu", &mtu) || !mtu)
		return false;
	*bytes = times(in > out ? in : out, mtu);
	return true;
}

/*
 * TCP cannot have carried the payload when its segments could not, or when the link's own counters
 * stood still. Those of hardware leave RoCE out; of those of a software device (rxe) the payload is
 * taken away once, when its RDMA counters have it.
 */
static void judge_tcp(struct counters_verdict *v, json_t *difference, uint64_t payload,
		      bool rdma_in_link)
{
	json_t *link = json_object_get(difference, "link");
	uint64_t limit = plus(payload / 10, TCP_ALLOWED_BYTES), bound = 0, rx = 0, tx = 0;
	bool tcp = tcp_bound(difference, &bound);
	bool bytes = value_of(link, "rx_bytes", &rx) && value_of(link, "tx_bytes", &tx);
	uint64_t moved = rx > tx ? rx : tx;

	if (rdma_in_link)
		moved = moved > payload ? moved - payload : 0;
	if (payload <= TCP_ALLOWED_BYTES) {
		v->tcp_moved = -1;
		say(v, "a payload of %llu bytes is too small to be told from other TCP traffic",
		    (unsigned long long)payload);
	} else if (tcp && bound < limit) {
		v->tcp_moved = 0;
		say(v, "TCP segments of this host carried at most %llu bytes",
		    (unsigned long long)bound);
	} else if (bytes && moved < limit) {
		v->tcp_moved = 0;
		say(v, "the IP counters of the link moved by %llu bytes%s",
		    (unsigned long long)moved, rdma_in_link ? " besides RDMA" : "");
	} else if (tcp && bytes && bound >= ENOUGH(payload) && moved >= ENOUGH(payload)) {
		v->tcp_moved = 1;
		say(v, "TCP segments of this host could carry %llu bytes, and the link moved %llu",
		    (unsigned long long)bound, (unsigned long long)moved);
	} else {
		v->tcp_moved = -1;
		say(v, "the counters do not tell whether TCP carried a part of the payload");
	}
}

void counters_judge(struct counters_verdict *verdict, json_t *difference, uint64_t payload_bytes)
{
	*verdict = (struct counters_verdict){0};

	bool in_link = judge_rdma(verdict, difference, payload_bytes);

	judge_tcp(verdict, difference, payload_bytes, in_link);
}

void counters_verdict_clear(struct counters_verdict *verdict)
{
	strings_free(verdict->why);
	verdict->why = NULL;
}

static json_t *told(int moved)
{
	return moved < 0 ? json_null() : json_boolean(moved);
}

json_t *counters_facts(json_t *difference, uint64_t payload_bytes)
{
	struct counters_verdict verdict;
	json_t *facts = json_object_new();

	counters_judge(&verdict, difference, payload_bytes);
	json_put(facts, "difference", json_deep_copy(difference));
	json_put_u64(facts, "payload_bytes", payload_bytes);
	json_put(facts, "rdma_moved", told(verdict.rdma_moved));
	json_put(facts, "tcp_moved", told(verdict.tcp_moved));
	for (char **why = verdict.why; *why; why++)
		json_append_text(json_arr(facts, "why"), *why);
	counters_verdict_clear(&verdict);
	return facts;
}
