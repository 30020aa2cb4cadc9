/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Do the counters of an end agree that a payload went by RDMA, and not by TCP?
 *
 * No kernel counts the bytes of TCP. What bounds them: its segments, the IP bytes of the host, and
 * the bytes of the link, each by itself; the least of the three counts. IP and link do not see RoCE
 * of hardware. They see that of a software device (rxe), so what its packets are known to have had
 * is taken away: the payload, and the headers of each packet. What it sent twice is not known and
 * stays: then the counters do not tell.
 */
#include "prove/counters.h"

#include <string.h>

#include "base/alloc.h"
#include "base/strings.h"

enum way { OUT, IN, WAYS };
static const char *const way_names[WAYS] = { "out", "in" };

/*
 * Counters of RDMA payload, by name. A driver has some of these rows; where it has several, they
 * count the same, but for one that adds to the row before it.
 */
static const struct rdma_counter {
	const char *name[WAYS];
	unsigned unit_bytes;	/* of one count; 0: a packet, which carries at most the RoCE MTU */
	bool adds;
	bool in_link;		/* IP and the link have these packets too */
} rdma_counters[] = {
	/* InfiniBand and mlx5: PortXmitData and PortRcvData count 32-bit words */
	{ { "port_xmit_data", "port_rcv_data" }, 4, false, false },
	/* irdma: octets of RoCEv2 by IP version (drivers/infiniband/hw/irdma/verbs.c) */
	{ { "ip4OutOctets", "ip4InOctets" }, 1, false, false },
	{ { "ip6OutOctets", "ip6InOctets" }, 1, true, false },
	/* bnxt_re (drivers/infiniband/hw/bnxt_re/hw_counters.c) */
	{ { "tx_bytes", "rx_bytes" }, 1, false, false },
	/* rxe (drivers/infiniband/sw/rxe/rxe_hw_counters.c) */
	{ { "sent_pkts", "rcvd_pkts" }, 0, false, true },
};

/* What a payload is allowed to miss: counters are read while packets are on their way. */
#define ENOUGH(payload) ((payload) - (payload) / 10)
/* TCP of the control channel and of other programs that is no payload. */
#define TCP_ALLOWED_BYTES (256u << 10)
/* A packet of RoCEv2 has at least IPv4 20, UDP 8, BTH 12 and ICRC 4, on the link Ethernet 14 too. */
#define IP_HEADERS_MIN 44u
#define LINK_HEADERS_MIN (IP_HEADERS_MIN + 14u)
/* And at most VLAN 4, IPv6 20 more, RETH 16, an immediate 4 and padding 3 besides. */
#define HEADERS_MAX (LINK_HEADERS_MIN + 4 + 20 + 16 + 4 + 3)
/* The kernel counts what GRO has put together as one segment in; "BIG TCP" allows that much. */
#define SEGMENT_IN_MAX (8u * 65535)

struct bound {	/* bytes that TCP can have carried one way, by one kind of counter */
	bool known;
	uint64_t least, most;
};

/* One way of an end. */
struct way_seen {
	enum way way;
	uint64_t payload;
	bool rdma_known;
	uint64_t rdma;		/* payload that RDMA carried, at most */
	uint64_t packets;	/* of RDMA that IP and the link counted as well, */
	uint64_t packet_bytes;	/* each with at most this payload */
};

static bool value_of(json_t *object, const char *name, uint64_t *value)
{
	return json_u64(json_object_get(object, name), value);
}

static uint64_t times(uint64_t count, uint64_t unit)
{
	return unit && count > UINT64_MAX / unit ? UINT64_MAX : count * unit;
}

static uint64_t plus(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static void RH_PRINTF(2, 3) say(struct counters_verdict *v, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	strings_add(&v->why, xvasprintf(fmt, ap));
	va_end(ap);
}

/* --- RDMA ------------------------------------------------------------------------------------- */

static void see_rdma(struct way_seen *seen, json_t *difference)
{
	json_t *rdma = json_object_get(difference, "rdma");
	uint64_t value, mtu = 0, sum = 0;

	value_of(json_object_get(difference, "sizes"), "roce_mtu", &mtu);
	for (size_t i = 0; i < ARRAY_SIZE(rdma_counters); i++) {
		const struct rdma_counter *c = &rdma_counters[i];
		uint64_t unit = c->unit_bytes ? c->unit_bytes : mtu;

		if (!c->adds)
			sum = 0;
		if (!unit || !value_of(rdma, c->name[seen->way], &value))
			continue;
		sum = plus(sum, times(value, unit));
		seen->rdma_known = true;
		if (sum > seen->rdma)
			seen->rdma = sum;
		if (c->in_link) {
			seen->packets = value;
			seen->packet_bytes = mtu;
		}
	}
}

static int judge_rdma(struct counters_verdict *v, const struct way_seen *seen)
{
	int moved = 1;
	bool any = false;

	for (enum way way = OUT; way < WAYS; way++) {
		if (!seen[way].rdma_known) {
			moved = seen[way].payload && moved ? -1 : moved;
			continue;
		}
		any = true;
		if (seen[way].rdma < ENOUGH(seen[way].payload))
			moved = 0;
		say(v, "RDMA counters moved by at most %llu bytes %s, payload %llu",
		    (unsigned long long)seen[way].rdma, way_names[way],
		    (unsigned long long)seen[way].payload);
	}
	if (!any)
		say(v, "this driver has no counter of RDMA bytes or packets");
	return any ? moved : -1;
}

/* --- TCP -------------------------------------------------------------------------------------- */

/* What else than RDMA is in a counter of bytes. */
static struct bound others(const struct way_seen *seen, uint64_t bytes, unsigned headers_min)
{
	uint64_t carried = times(seen->packets, seen->packet_bytes);
	uint64_t known = plus(carried < seen->payload ? carried : seen->payload,
			      times(seen->packets, headers_min));
	uint64_t possible = plus(carried, times(seen->packets, HEADERS_MAX));

	return (struct bound){ true, minus(bytes, possible), minus(bytes, known) };
}

static struct bound by_link(const struct way_seen *seen, json_t *difference)
{
	static const char *const names[WAYS] = { "tx_bytes", "rx_bytes" };
	uint64_t bytes;

	if (!value_of(json_object_get(difference, "link"), names[seen->way], &bytes))
		return (struct bound){0};
	return others(seen, bytes, LINK_HEADERS_MIN);
}

static struct bound by_ip(const struct way_seen *seen, json_t *difference)
{
	static const char *const names[WAYS][2] = { { "OutOctets", "Ip6OutOctets" },
						    { "InOctets", "Ip6InOctets" } };
	json_t *ip = json_object_get(difference, "ip");
	uint64_t bytes, more = 0;

	if (!value_of(ip, names[seen->way][0], &bytes))
		return (struct bound){0};
	value_of(ip, names[seen->way][1], &more);
	return others(seen, plus(bytes, more), IP_HEADERS_MIN);
}

static struct bound by_segments(const struct way_seen *seen, json_t *difference)
{
	static const char *const names[WAYS] = { "OutSegs", "InSegs" };
	uint64_t segments, size = SEGMENT_IN_MAX;

	if (!value_of(json_object_get(difference, "tcp"), names[seen->way], &segments))
		return (struct bound){0};
	if (seen->way == OUT &&
	    (!value_of(json_object_get(difference, "sizes"), "link_mtu", &size) || !size))
		return (struct bound){0};
	segments = times(segments, size);
	return (struct bound){ true, segments, segments };
}

/* Did TCP carry the payload of one way? 1, 0, -1: they do not tell. */
static int judge_tcp_way(struct counters_verdict *v, const struct way_seen *seen,
			 json_t *difference)
{
	const struct {
		struct bound bound;
		const char *name;
	} by[] = {
		{ by_segments(seen, difference), "TCP segments of this host" },
		{ by_ip(seen, difference), "IP bytes of this host" },
		{ by_link(seen, difference), "bytes of the link" },
	};
	uint64_t most = UINT64_MAX, least = UINT64_MAX;
	const char *name = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(by); i++) {
		if (!by[i].bound.known)
			continue;
		if (!name || by[i].bound.most < most) {
			most = by[i].bound.most;
			name = by[i].name;
		}
		if (by[i].bound.least < least)
			least = by[i].bound.least;
	}
	if (!name) {
		say(v, "no counter tells of TCP %s", way_names[seen->way]);
		return -1;
	}
	say(v, "TCP carried at most %llu bytes %s, by the %s%s", (unsigned long long)most,
	    way_names[seen->way], name,
	    seen->packets && name != by[0].name ? " without RDMA" : "");
	if (most < plus(seen->payload / 10, TCP_ALLOWED_BYTES))
		return 0;
	/* segments alone may have been short, bytes alone those of another protocol */
	if (by[0].bound.known && by[2].bound.known && least >= ENOUGH(seen->payload)) {
		say(v, "and at least %llu bytes that are not RDMA went %s",
		    (unsigned long long)least, way_names[seen->way]);
		return 1;
	}
	return -1;
}

/*
 * What comes in went out of the other end, whose counters tell it better: segments out are counted
 * each, those in as GRO left them. So the way in may convict, and its doubt counts only where
 * nothing goes out.
 */
static int judge_tcp(struct counters_verdict *v, const struct way_seen *seen, json_t *difference)
{
	int moved = 0;
	bool any = false;

	for (enum way way = OUT; way < WAYS; way++) {
		if (seen[way].payload <= TCP_ALLOWED_BYTES)
			continue;
		int one = judge_tcp_way(v, &seen[way], difference);

		if (one < 0 && any)
			say(v, "whether TCP carried a part of the payload in is told by the counters of the other end");
		else if (one < 0)
			say(v, "the counters do not tell whether TCP carried a part of the payload %s",
			    way_names[way]);
		if (one > 0 || (one < 0 && !any))
			moved = one;
		any = true;
	}
	if (!any)
		say(v, "a payload of %llu bytes out and %llu in is too small to be told from other TCP traffic",
		    (unsigned long long)seen[OUT].payload, (unsigned long long)seen[IN].payload);
	return any ? moved : -1;
}

/* ---------------------------------------------------------------------------------------------- */

void counters_judge(struct counters_verdict *verdict, json_t *difference,
		    const struct counters_payload *payload)
{
	struct way_seen seen[WAYS] = {
		[OUT] = { .way = OUT, .payload = payload->out },
		[IN] = { .way = IN, .payload = payload->in },
	};

	*verdict = (struct counters_verdict){0};
	for (enum way way = OUT; way < WAYS; way++)
		see_rdma(&seen[way], difference);
	verdict->rdma_moved = judge_rdma(verdict, seen);
	verdict->tcp_moved = judge_tcp(verdict, seen, difference);
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

json_t *counters_facts(json_t *difference, const struct counters_payload *payload)
{
	struct counters_verdict verdict;
	json_t *facts = json_object_new();

	counters_judge(&verdict, difference, payload);
	json_put(facts, "difference", json_deep_copy(difference));
	json_put_u64(facts, "payload_bytes",
		     payload->out > payload->in ? payload->out : payload->in);
	json_put_u64(facts, "payload_out_bytes", payload->out);
	json_put_u64(facts, "payload_in_bytes", payload->in);
	json_put(facts, "rdma_moved", told(verdict.rdma_moved));
	json_put(facts, "tcp_moved", told(verdict.tcp_moved));
	for (char **why = verdict.why; *why; why++)
		json_append_text(json_arr(facts, "why"), *why);
	counters_verdict_clear(&verdict);
	return facts;
}
