/* SPDX-License-Identifier: Apache-2.0 */
/* proof.host: write and read both ways between every two ports that the site pairs. */
#include "judge/later.h"
#include "judge/proof_record.h"

static void judge_port(struct judging *g, const struct site_rdma *port)
{
	struct proof_record p;

	if (!proof_record_find(g, "host", port, &p) || !proof_record_judge_runs(g, &p) ||
	    !proof_record_judge_complete(g, &p) || !proof_record_judge_counters(g, &p))
		return;
	judge_pass(g, "%s: write and read both ways, all bytes right, by RDMA (%s)",
		   proof_record_name(g, &p), json_get_string(p.record, "taken", "?"));
}

void judge_proof_host(struct judging *g)
{
	for (size_t i = 0; i < g->node->n_rdma; i++)
		judge_port(g, &g->node->rdma[i]);
}
