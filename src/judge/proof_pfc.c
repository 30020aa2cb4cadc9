/* SPDX-License-Identifier: Apache-2.0 */
/* proof.pfc: where several send to one, PFC fires on the RoCE priority alone and nothing is lost. */
#include "judge/later.h"
#include "judge/proof_compare.h"
#include "judge/proof_growth.h"

/* Fewer senders than this do not fill the port of a receiver of the same speed. */
#define INCAST_SENDERS 2

static const char incast[] =
	"run `railhead prove --listen --senders 2` on one node, with at least two, and the command "
	"line that it prints, with --suite pfc, on that many others at the same time";

const char *judge_proof_pfc_absent(struct judging *g)
{
	const struct site_qos *qos = &g->site->qos;

	if (!qos->declared)
		return "the site declares no RoCE traffic class";
	if (qos->pfc.set && !qos->pfc.value)
		return "the site declares that PFC is off";
	if (qos->dcb.set && !qos->dcb.value)
		return "the site declares NICs without DCB";
	return NULL;
}

static bool judge_incast(struct judging *g, const struct proof_record *p)
{
	int64_t senders = proof_record_senders(g, p);

	if (senders >= INCAST_SENDERS)
		return true;
	judge_unknown(g, incast, "%s: no incast was made: %lld sender",
		      proof_record_name(g, p), (long long)senders);
	return false;
}

/* Frames of other priorities: what should not wait, waits. */
static bool judge_others(struct judging *g, const struct proof_record *p,
			 const struct proof_growth *grown, int64_t priority)
{
	bool good = true;

	for (int i = 0; i < PROOF_PRIORITIES; i++) {
		if (i == priority || !grown->pfc[i].sum)
			continue;
		judge_fail(g, "pfc-other-priority",
			   judge_text(g, "switch PFC off for priority %d on the NIC and the switch "
					 "port that sent the frames; where a priority shares the "
					 "traffic class of priority %lld, give that one its own "
					 "(an E810 pauses all priorities of a class)",
				      i, (long long)priority),
			   "%s: PFC frames of priority %d: %s", proof_record_name(g, p), i,
			   strbuf_str(&grown->pfc[i].text));
		good = false;
	}
	return good;
}

/* Causes of loss in a lossless class that the record does not tell apart. */
static void name_candidates(struct judging *g, int64_t priority)
{
	judge_candidate(g, "headroom-small", "set the headroom that plan.headroom computes",
			"the headroom of the switch port is too small: its lossless drops grow");
	judge_candidate(g, "not-lossless", NULL,
			"the packets went in another class than priority %lld on a part of the "
			"way: proof.marking and the queue counters of the switch tell",
			(long long)priority);
	judge_candidate(g, "wire-errors", NULL,
			"bit errors of cable or optics: the CRC counters of the link grow");
}

/* A class that is to lose nothing, lost something. */
static bool judge_loss(struct judging *g, const struct proof_record *p,
		       const struct proof_growth *grown, int64_t priority)
{
	const struct proof_class *drops = &grown->of[PROOF_DISCARD];
	const struct proof_class *lost = &grown->of[PROOF_RETRANSMIT];
	const struct proof_class *pause = &grown->of[PROOF_LINK_PAUSE];
	const char *name = proof_record_name(g, p);

	if (drops->sum)
		judge_fail(g, "pfc-drops", NULL, "%s: packets were dropped: %s", name,
			   strbuf_str(&drops->text));
	if (lost->sum)
		judge_fail(g, "pfc-loss", NULL,
			   "%s: packets were lost on the way and sent again: %s", name,
			   strbuf_str(&lost->text));
	if (drops->sum || lost->sum)
		name_candidates(g, priority);
	if (pause->sum)
		judge_fail(g, "link-pause",
			   "ethtool -A LINK autoneg off rx off tx off; the same on the switch port",
			   "%s: link pause fired, which stops all priorities: %s", name,
			   strbuf_str(&pause->text));
	return !drops->sum && !lost->sum && !pause->sum;
}

/* Frames and losses must have been counted at both ends for their absence to mean anything. */
static bool judge_counted(struct judging *g, const struct proof_record *p,
			  const struct proof_growth *grown)
{
	bool good = true;

	for (int end = 0; end < 2; end++) {
		bool pfc = proof_growth_pfc_known(grown, end);
		bool loss = proof_growth_loss_known(grown, end);

		if (pfc && loss)
			continue;
		judge_unknown(g, "read those of the switch ports, and run it again with a NIC "
				 "driver that counts them",
			      "%s: no counter of %s tells %s%s%s", proof_record_name(g, p),
			      proof_record_node(p, end), pfc ? "" : "PFC frames",
			      pfc || loss ? "" : " and ", loss ? "" : "drops or retransmissions");
		good = false;
	}
	return good;
}

static bool judge_fired(struct judging *g, const struct proof_record *p,
			const struct proof_growth *grown, int64_t priority)
{
	const struct proof_class *own = &grown->pfc[priority];

	if (own->sum)
		return true;
	if (!own->known[0] || !own->known[1])
		judge_unknown(g, "read the PFC counters of the switch ports",
			      "%s: no counter of %s tells PFC frames of priority %lld",
			      proof_record_name(g, p),
			      proof_record_node(p, own->known[0]), (long long)priority);
	else
		judge_unknown(g, incast,
			      "%s: no PFC frame of priority %lld was counted at either end: no "
			      "incast was made that filled a port, or PFC is off on the switch",
			      proof_record_name(g, p), (long long)priority);
	return false;
}

static void judge_port(struct judging *g, const struct site_rdma *port)
{
	int64_t priority = g->site->qos.priority.value;
	_cleanup_proof_growth_ struct proof_growth grown = {0};
	struct proof_record p, baseline;
	size_t compared;

	if (!proof_record_find(g, "pfc", port, &p) || !proof_record_judge_runs(g, &p) ||
	    !proof_record_judge_complete(g, &p) || !proof_record_judge_counters(g, &p))
		return;
	proof_growth_read(g, &p, &grown);

	bool others = judge_others(g, &p, &grown, priority);
	bool whole = judge_loss(g, &p, &grown, priority), many = judge_incast(g, &p);
	bool counted = judge_counted(g, &p, &grown);
	bool fired = many && counted && judge_fired(g, &p, &grown, priority);

	if (proof_record_find(g, "baseline", port, &baseline) &&
	    proof_compare(g, &baseline, &p, "slower-with-pfc", &compared) && others && whole &&
	    fired)
		judge_pass(g, "%s: %llu PFC frames on priority %lld alone, no drops, %zu speeds "
			      "not worse than the baseline (%s)",
			   proof_record_name(g, &p), (unsigned long long)grown.pfc[priority].sum,
			   (long long)priority, compared, json_get_string(p.record, "taken", "?"));
}

void judge_proof_pfc(struct judging *g)
{
	const struct site_number *priority = &g->site->qos.priority;

	if (!priority->set || priority->value < 0 || priority->value >= PROOF_PRIORITIES) {
		judge_unknown(g, "declare qos.priority", "the site declares no RoCE priority");
		return;
	}
	for (size_t i = 0; i < g->node->n_rdma; i++)
		judge_port(g, &g->node->rdma[i]);
}
