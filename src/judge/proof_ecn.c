/* SPDX-License-Identifier: Apache-2.0 */
/* proof.ecn: the switch marks, the receiver notifies, the sender slows down, and PFC fires less. */
#include <string.h>

#include "judge/family.h"
#include "judge/later.h"
#include "judge/proof_compare.h"
#include "judge/proof_growth.h"

static const char incast[] =
	"run `railhead prove --listen --senders 2` on one node, with at least two, and the command "
	"line that it prints, with --suite ecn, on that many others at the same time";

/* --- marks ------------------------------------------------------------------------------------ */

/* Messages of the marking runs (UD, after the load) that arrived with CE. */
static int64_t marked_messages(struct judging *g, const struct proof_record *p)
{
	json_t *run;
	int64_t sum = 0;
	size_t i;

	json_array_foreach(json_object_get(p->record, "runs"), i, run) {
		if (strcmp(json_get_string(run, "run", ""), "marking") != 0)
			continue;
		json_t *marked = proof_record_run_fact(g, p, i, "ce_marked");

		if (json_integer_value(marked) > 0 &&
		    __builtin_add_overflow(sum, json_integer_value(marked), &sum))
			sum = INT64_MAX;
	}
	return sum;
}

/* Were packets of the load marked? */
static bool judge_marks(struct judging *g, const struct proof_record *p,
			const struct proof_growth *grown)
{
	const struct proof_class *ce = &grown->of[PROOF_CE_MARKED];
	const char *name = proof_record_name(g, p);
	int64_t messages = marked_messages(g, p);

	if (!json_is_true(proof_record_fact(g, p, "parameters", "ecn", NULL))) {
		judge_unknown(g, "run it with --suite ecn, or with --ecn",
			      "%s: packets were sent that no switch may mark (no ECT)", name);
		return false;
	}
	if (ce->sum)
		return true;
	if (messages && (ce->known[0] || ce->known[1])) {
		judge_unknown(g, incast,
			      "%s: %lld messages of the marking run were marked, and no packet of "
			      "the load: it made no congestion", name, (long long)messages);
		return false;
	}
	if (messages)
		return true;
	judge_unknown(g, incast,
		      "%s: no packet arrived marked (CE): either no congestion was made (%lld "
		      "sender%s), or ECN is off on the switch for that class, or its threshold is "
		      "above that of PFC",
		      name, (long long)proof_record_senders(g, p),
		      proof_record_senders(g, p) == 1 ? "" : "s");
	return false;
}

/* --- the hosts -------------------------------------------------------------------------------- */

/* Why nobody slows down on this stack, or NULL when it may. */
static const char *no_host_side(struct judging *g, const struct proof_record *p)
{
	static const char *const ends[] = { "local", "peer" };

	if (json_is_false(declared(g, "/qos/ecn_host")))
		return "the site declares qos.ecn_host: false";
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		json_t *end = json_object_get(p->record, ends[i]);
		json_t *rdma = json_object_get(json_object_get(end, "fingerprint"), "rdma");
		const char *driver = json_get_string(rdma, "driver", "");
		const struct family *family = family_of_rdma_driver(driver);
		bool in_tree = json_get_bool(rdma, "in_tree", false);

		if (!family || !family->no_dcqcn_in_tree || !(in_tree || family->is_software))
			continue;
		proof_record_fact(g, p, ends[i], "fingerprint", "rdma");
		return judge_text(g, "%s%s of %s has no DCQCN", in_tree ? "in-tree " : "", driver,
				  json_get_string(end, "node", "?"));
	}
	return NULL;
}

static bool is_known(const struct proof_class *class)
{
	return class->known[0] || class->known[1];
}

/* Marks arrive: did the receiver say so, and the sender slow down? True: both. */
static bool judge_hosts(struct judging *g, const struct proof_record *p,
			const struct proof_growth *grown)
{
	const struct proof_class *sent = &grown->of[PROOF_CNP_SENT];
	const struct proof_class *handled = &grown->of[PROOF_CNP_HANDLED];
	const struct proof_class *ignored = &grown->of[PROOF_CNP_IGNORED];
	const char *name = proof_record_name(g, p), *why = no_host_side(g, p);
	static const char fix[] =
		"switch DCQCN on at both ends (out-of-tree irdma: roce_dcqcn_enable below "
		"/sys/kernel/config/irdma; ConnectX: for the RoCE priority, in its firmware)";

	if (sent->sum && handled->sum)
		return true;
	if (why) {
		judge_warn(g, "ecn-switch-only",
			   "rely on PFC and declare qos.ecn_host: false, or use a stack with DCQCN",
			   "%s: switch-only: packets arrive marked and nobody slows down, because "
			   "%s%s%s", name, why, ignored->sum ? "; " : "",
			   strbuf_str(&ignored->text));
	} else if (!is_known(sent) || !is_known(handled)) {
		judge_unknown(g, NULL, "%s: no counter tells whether congestion notifications were "
				       "%s", name, is_known(sent) ? "handled" : "sent");
	} else if (!sent->sum) {
		judge_fail(g, "cnp-not-sent", fix,
			   "%s: packets arrive marked%s%s, and the receiver sends no congestion "
			   "notification", name, grown->of[PROOF_CE_MARKED].sum ? ": " : "",
			   strbuf_str(&grown->of[PROOF_CE_MARKED].text));
	} else {
		judge_fail(g, "cnp-not-handled", fix,
			   "%s: congestion notifications are sent (%s) and no sender slows "
			   "down%s%s", name, strbuf_str(&sent->text), ignored->sum ? ": " : "",
			   strbuf_str(&ignored->text));
	}
	return false;
}

/* --- PFC, with ECN and without ---------------------------------------------------------------- */

/* Two runs of one load differ by about this much in their pauses. Assumed, not measured. */
#define PAUSE_NOISE 0.10

/* PFC frames by 10^9 bytes of payload; negative: not told. */
static double pauses(struct judging *g, const struct proof_record *p,
		     const struct proof_growth *grown)
{
	json_t *payload = proof_record_fact(g, p, "local", "counters", "payload_bytes");
	double gb = json_number_value(payload) / 1e9;

	if (!(gb > 0) || !(proof_growth_pfc_known(grown, 0) || proof_growth_pfc_known(grown, 1)))
		return -1;
	return (double)proof_growth_pfc(grown) / gb;
}

static const char *judge_pauses(struct judging *g, const struct proof_record *pfc,
				const struct proof_record *ecn, const struct proof_growth *with_ecn)
{
	_cleanup_proof_growth_ struct proof_growth without = {0};
	double then, now;

	proof_growth_read(g, pfc, &without);
	then = pauses(g, pfc, &without);
	now = pauses(g, ecn, with_ecn);
	if (then < 0 || now < 0)
		return "";
	if (now > then * (1 + PAUSE_NOISE))
		judge_warn(g, "ecn-pauses-more",
			   "set the ECN thresholds of the switch below the level at which PFC "
			   "fires",
			   "%s: PFC fires more with ECN than without: %.1f frames per GB, %.1f "
			   "without; ECN should come before PFC",
			   proof_record_name(g, ecn), now, then);
	return judge_text(g, ", PFC frames per GB %.1f with ECN and %.1f without", now, then);
}

/* --- all of it -------------------------------------------------------------------------------- */

/* What was measured before ECN: with PFC where the site has it. */
static bool find_earlier(struct judging *g, const struct site_rdma *port, struct proof_record *out)
{
	return proof_record_find(g, judge_proof_pfc_absent(g) ? "baseline" : "pfc", port, out);
}

static void judge_port(struct judging *g, const struct site_rdma *port)
{
	_cleanup_proof_growth_ struct proof_growth grown = {0};
	struct proof_record p, earlier;
	const char *paused = "";
	size_t compared = 0;

	if (!proof_record_find(g, "ecn", port, &p) || !proof_record_judge_runs(g, &p) ||
	    !proof_record_judge_complete(g, &p) || !proof_record_judge_counters(g, &p))
		return;
	proof_growth_read(g, &p, &grown);

	bool reacts = judge_marks(g, &p, &grown) && judge_hosts(g, &p, &grown);
	bool kept = find_earlier(g, port, &earlier) &&
		    proof_compare(g, &earlier, &p, "slower-with-ecn", &compared);

	if (kept && !strcmp(earlier.kind, "pfc"))
		paused = judge_pauses(g, &earlier, &p, &grown);
	if (reacts && kept)
		judge_pass(g, "%s: packets are marked, %llu notifications sent and %llu handled%s, "
			      "%zu speeds not worse than before (%s)",
			   proof_record_name(g, &p),
			   (unsigned long long)grown.of[PROOF_CNP_SENT].sum,
			   (unsigned long long)grown.of[PROOF_CNP_HANDLED].sum, paused, compared,
			   json_get_string(p.record, "taken", "?"));
}

void judge_proof_ecn(struct judging *g)
{
	for (size_t i = 0; i < g->node->n_rdma; i++)
		judge_port(g, &g->node->rdma[i]);
}
