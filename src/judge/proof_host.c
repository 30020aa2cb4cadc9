/* SPDX-License-Identifier: Apache-2.0 */
/* proof.host: write and read both ways between every two ports that the site pairs. */
#include <string.h>

#include "judge/later.h"
#include "judge/proof_record.h"

/* The runs that must have verified their bytes. */
static const struct wanted {
	const char *operation;
	bool reverse;
} wanted[] = { { "write", false }, { "write", true }, { "read", false }, { "read", true } };

static bool is_verified(struct judging *g, const struct proof_record *p, const struct wanted *w)
{
	json_t *run;
	size_t i;

	json_array_foreach(json_object_get(p->record, "runs"), i, run) {
		if (!strcmp(json_get_string(run, "run", ""), "integrity") &&
		    !strcmp(json_get_string(run, "operation", ""), w->operation) &&
		    json_get_bool(run, "reverse", false) == w->reverse &&
		    json_is_true(proof_record_run_fact(g, p, i, "verified")))
			return true;
	}
	return false;
}

/* Every operation of both ways; the initiator is the one that moves unless it is reversed. */
static bool judge_complete(struct judging *g, const struct proof_record *p)
{
	bool complete = true;

	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		if (is_verified(g, p, &wanted[i]))
			continue;
		judge_unknown(g, "run it with all operations, both ways",
			      "%s: no %s by the end that %s was verified", proof_record_name(g, p),
			      wanted[i].operation, wanted[i].reverse ? "listened" : "connected");
		complete = false;
	}
	return complete;
}

static void judge_port(struct judging *g, const struct site_rdma *port)
{
	struct proof_record p;

	if (!proof_record_find(g, "host", port, &p) || !proof_record_judge_runs(g, &p) ||
	    !judge_complete(g, &p) || !proof_record_judge_counters(g, &p))
		return;
	judge_pass(g, "%s: write and read both ways, all bytes right, by RDMA (%s)",
		   proof_record_name(g, &p), json_get_string(p.record, "taken", "?"));
}

void judge_proof_host(struct judging *g)
{
	for (size_t i = 0; i < g->node->n_rdma; i++)
		judge_port(g, &g->node->rdma[i]);
}
