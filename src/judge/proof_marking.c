/* SPDX-License-Identifier: Apache-2.0 */
/* proof.marking: DSCP and ECN of a marked run, as they arrived at the other end, both ways. */
#include <string.h>

#include "judge/later.h"
#include "judge/proof_record.h"

/* ECN field of a packet that a switch has marked (RFC 3168). */
#define ECN_CE 3

struct marks {
	int64_t dscp, ecn;	/* -1: not told */
};

static struct marks marks_of(json_t *told)
{
	return (struct marks){ json_get_int(told, "dscp", -1), json_get_int(told, "ecn", -1) };
}

/* Was it sent as the site declares? */
static bool judge_sent(struct judging *g, const struct proof_record *p, size_t run,
		       const struct marks *sent)
{
	const struct site_qos *qos = &g->site->qos;

	if (sent->dscp < 0 || sent->ecn < 0) {
		judge_unknown(g, NULL, "%s: %s does not tell what was sent", proof_record_name(g, p),
			      proof_record_run_name(g, p, run));
		return false;
	}
	if (qos->dscp.set && sent->dscp != qos->dscp.value) {
		judge_unknown(g,
			      judge_text(g, "run it with --dscp %lld",
					 (long long)qos->dscp.value),
			      "%s: DSCP %lld was sent, and the site declares %lld",
			      proof_record_name(g, p), (long long)sent->dscp,
			      (long long)qos->dscp.value);
		return false;
	}
	if (qos->ecn.set && qos->ecn.value && !sent->ecn) {
		judge_unknown(g, "run it with --ecn",
			      "%s: it was sent without ECN, which the site declares",
			      proof_record_name(g, p));
		return false;
	}
	return true;
}

/* What arrived otherwise than sent, and what that tells. CE on packets that allow it is a switch at
 * its work. */
static bool judge_arrived(struct judging *g, const struct proof_record *p, size_t run,
			  const struct marks *sent, const struct marks *arrived)
{
	const char *name = proof_record_name(g, p), *what = proof_record_run_name(g, p, run);

	if (arrived->dscp < 0 || arrived->ecn < 0) {
		judge_unknown(g, NULL, "%s: %s does not tell how packets arrived", name, what);
		return false;
	}
	if (arrived->dscp == sent->dscp &&
	    (arrived->ecn == sent->ecn || (sent->ecn && arrived->ecn == ECN_CE)))
		return true;
	if (arrived->dscp != sent->dscp)
		judge_fail(g, "dscp-remarked",
			   "trust DSCP on the switch ports of both ends, and rewrite it nowhere",
			   "%s: %s: DSCP %lld was sent, %lld arrived: something on the way "
			   "rewrites it", name, what, (long long)sent->dscp,
			   (long long)arrived->dscp);
	else
		judge_fail(g, "ecn-remarked",
			   "switch on ECN where the class is queued, and clear it nowhere",
			   "%s: %s: ECN %lld was sent, %lld arrived", name, what,
			   (long long)sent->ecn, (long long)arrived->ecn);
	return false;
}

/* A packet that was lost, or could not be read, may have been the one that was remarked. */
static bool judge_known(struct judging *g, const struct proof_record *p, size_t run, uint64_t told)
{
	uint64_t sent = 0;

	if (json_u64(proof_record_run_fact(g, p, run, "messages"), &sent) && sent && told == sent)
		return true;
	judge_unknown(g, "run it again without other load; the drop counters of both ends and of "
			 "the switch tell where packets went",
		      "%s: %s: the marks of %llu of %llu messages are known",
		      proof_record_name(g, p), proof_record_run_name(g, p, run),
		      (unsigned long long)told, (unsigned long long)sent);
	return false;
}

static bool judge_run(struct judging *g, const struct proof_record *p, size_t run)
{
	struct marks sent = marks_of(proof_record_run_fact(g, p, run, "sent"));
	json_t *list = proof_record_run_fact(g, p, run, "arrived"), *one;
	uint64_t told = 0, messages;
	size_t i;
	bool good = judge_sent(g, p, run, &sent);

	if (!json_array_size(list)) {
		judge_unknown(g, NULL, "%s: %s: the marks of no packet could be read",
			      proof_record_name(g, p), proof_record_run_name(g, p, run));
		return false;
	}
	json_array_foreach(list, i, one) {
		struct marks arrived = marks_of(one);

		if (sent.dscp >= 0 && sent.ecn >= 0)
			good &= judge_arrived(g, p, run, &sent, &arrived);
		if (json_u64(json_object_get(one, "messages"), &messages) &&
		    __builtin_add_overflow(told, messages, &told))
			told = UINT64_MAX;
	}
	return judge_known(g, p, run, told) && good;
}

static void judge_port(struct judging *g, const struct site_rdma *port)
{
	bool ways[2] = { false, false }, good = true;
	struct proof_record p;
	json_t *run;
	size_t i;

	if (!proof_record_find(g, "marking", port, &p))
		return;
	json_array_foreach(json_object_get(p.record, "runs"), i, run) {
		const char *error = json_get_string(run, "error", NULL);

		if (strcmp(json_get_string(run, "run", ""), "marking"))
			continue;
		if (error) {
			judge_unknown(g, NULL, "%s: %s did not take place: %s",
				      proof_record_name(g, &p), proof_record_run_name(g, &p, i),
				      error);
			return;
		}
		good &= judge_run(g, &p, i);
		ways[json_get_bool(run, "reverse", false)] = true;
	}
	if (!ways[0] || !ways[1])
		judge_unknown(g, NULL, "%s: marks were not sent both ways",
			      proof_record_name(g, &p));
	else if (good)
		judge_pass(g, "%s: DSCP and ECN arrived as sent, both ways (%s)",
			   proof_record_name(g, &p), json_get_string(p.record, "taken", "?"));
}

void judge_proof_marking(struct judging *g)
{
	for (size_t i = 0; i < g->node->n_rdma; i++)
		judge_port(g, &g->node->rdma[i]);
}
