/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of one end before and after a run: RDMA, pause by priority, discards, retransmits, and
 * the IP bytes of the link; and the CPU time that the run took. */
#pragma once

#include "base/json.h"
#include "host/host.h"
#include "prove/path.h"

/* {"rdma", "link", "pause" (by physical link), "tcp" and "ip" (of the whole host), "cpu" (of this
 * process), "sizes"} as they stand now. What a driver does not have is absent. New reference. */
json_t *counters_read(struct host *host, const struct path *path);
/* What grew; a counter that went back is left out. New reference. */
json_t *counters_difference(json_t *before, json_t *after);
/* `counters` with what grew in `difference` added; what is not in both is left out. New reference. */
json_t *counters_sum(json_t *counters, json_t *difference);

/* Bytes that RDMA was to carry out of this end and into it. */
struct counters_payload {
	uint64_t out, in;
};

/* Do the counters agree that a payload went by RDMA and not by TCP? Judged from the difference, each
 * way by itself; findings are texts. */
struct counters_verdict {
	int rdma_moved;	/* 1 yes, 0 no, -1 cannot be told */
	int tcp_moved;
	char **why;	/* NULL-terminated */
};
void counters_judge(struct counters_verdict *verdict, json_t *difference,
		    const struct counters_payload *payload);
void counters_verdict_clear(struct counters_verdict *verdict);
/* Difference and verdict as a record has them: {"difference", "payload_bytes" (of the way that had
 * more), "payload_out_bytes", "payload_in_bytes", "rdma_moved", "tcp_moved" (true, false, null),
 * "why"}. New reference. */
json_t *counters_facts(json_t *difference, const struct counters_payload *payload);
