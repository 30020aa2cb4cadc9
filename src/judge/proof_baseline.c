/* SPDX-License-Identifier: Apache-2.0 */
/* proof.baseline: what the path does with PFC and ECN off: the before of what comes after. */
#include <string.h>

#include "judge/later.h"
#include "judge/proof_compare.h"
#include "judge/proof_growth.h"
#include "judge/subject.h"

static const char again[] = "switch PFC and ECN off on the NICs and on the switch, run `railhead "
			    "prove HOST --token T --suite baseline`, and switch them on again";

/* --- was it before? --------------------------------------------------------------------------- */

/* Links of an end whose fingerprint has PFC on; or, with `untold`, those that do not tell. */
static const char *nics_with_pfc(struct judging *g, json_t *end, bool untold)
{
	_cleanup_strbuf_ struct strbuf list = {0};
	json_t *nics = json_object_get(json_object_get(end, "fingerprint"), "nics"), *nic;
	const char *name;

	json_object_foreach(nics, name, nic) {
		json_t *pfc = json_object_get(json_object_get(nic, "dcb"), "pfc");
		const char *driver = json_get_string(nic, "driver", NULL);
		bool hit = untold ? !json_is_array(pfc) &&
					    !(driver && subject_is_virtual_driver(driver)) :
				    json_array_size(pfc) > 0;

		if (hit)
			strbuf_printf(&list, "%s%s", list.len ? ", " : "", name);
	}
	return list.len ? judge_text(g, "%s", strbuf_str(&list)) : NULL;
}

/* PFC of the NICs, as the fingerprints have it. */
static bool judge_pfc_off(struct judging *g, const struct proof_record *p)
{
	static const char *const ends[] = { "local", "peer" };
	bool dcb = !g->site->qos.dcb.set || g->site->qos.dcb.value, good = true;

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		json_t *end = json_object_get(p->record, ends[i]);
		const char *node = json_get_string(end, "node", "?");
		const char *on = nics_with_pfc(g, end, false);
		const char *untold = dcb ? nics_with_pfc(g, end, true) : NULL;

		proof_record_fact(g, p, ends[i], "fingerprint", "nics");
		if (on)
			judge_unknown(g, again,
				      "%s: PFC was on at %s of %s when it was taken, so it is no "
				      "before", proof_record_name(g, p), on, node);
		else if (untold)
			judge_unknown(g, again,
				      "%s: the record does not tell whether PFC was on at %s of %s",
				      proof_record_name(g, p), untold, node);
		good &= !on && !untold;
	}
	return good;
}

/* PFC and ECN as the packets and counters have it, which includes the switch. */
static bool judge_before(struct judging *g, const struct proof_record *p,
			 const struct proof_growth *grown)
{
	json_t *ecn = proof_record_fact(g, p, "parameters", "ecn", NULL);
	const struct proof_class *marked = &grown->of[PROOF_CE_MARKED];
	bool good = judge_pfc_off(g, p);

	if (json_is_true(ecn)) {
		judge_unknown(g, again,
			      "%s: it was taken with packets that a switch may mark (ECN)",
			      proof_record_name(g, p));
		good = false;
	}
	for (size_t i = 0; i < PROOF_PRIORITIES; i++) {
		if (!grown->pfc[i].sum)
			continue;
		judge_unknown(g, again,
			      "%s: PFC frames of priority %zu went while it was taken (%s), so it "
			      "is no before", proof_record_name(g, p), i,
			      strbuf_str(&grown->pfc[i].text));
		good = false;
	}
	if (marked->sum) {
		judge_unknown(g, again, "%s: a switch marked packets while it was taken (%s)",
			      proof_record_name(g, p), strbuf_str(&marked->text));
		good = false;
	}
	return good;
}

/* --- is all there? ---------------------------------------------------------------------------- */

static bool is_virtual(json_t *end)
{
	json_t *nics = json_object_get(json_object_get(end, "fingerprint"), "nics"), *nic;
	const char *name;

	json_object_foreach(nics, name, nic) {
		const char *driver = json_get_string(nic, "driver", NULL);

		if (!driver || !subject_is_virtual_driver(driver))
			return false;
	}
	return json_object_size(nics) > 0;
}

/* Pause and loss must have been counted for their absence to mean anything. */
static bool judge_counted(struct judging *g, const struct proof_record *p,
			  const struct proof_growth *grown)
{
	static const char *const ends[] = { "local", "peer" };
	bool good = true;

	for (int i = 0; i < 2; i++) {
		json_t *end = json_object_get(p->record, ends[i]);
		bool pause = proof_growth_pfc_known(grown, i) ||
			     grown->of[PROOF_LINK_PAUSE].known[i] || is_virtual(end);
		bool loss = proof_growth_loss_known(grown, i);

		if (pause && loss)
			continue;
		judge_unknown(g, NULL, "%s: no counter of %s tells %s%s%s", proof_record_name(g, p),
			      json_get_string(end, "node", "?"), pause ? "" : "pause frames",
			      pause || loss ? "" : " and ", loss ? "" : "drops or retransmissions");
		good = false;
	}
	return good;
}

/* What a record has of speed. */
struct speeds {
	struct {
		double gbit_per_s;	/* the slower way, of the largest size */
		int64_t size;
		bool way[2];		/* of that size: is it told, and is the reverse? */
	} of[3];			/* by operation_names */
	double latency_ns;		/* the best median; 0: none */
	json_t *cpu;			/* of the fastest run; NULL: none tells */
	double cpu_gbit_per_s;
};

static const char *const operation_names[] = { "write", "read", "send" };

static void take_bandwidth(struct judging *g, const struct proof_record *p, size_t run,
			   json_t *told, struct speeds *s)
{
	double gbit = json_number_value(proof_record_run_fact(g, p, run, "gbit_per_s"));
	json_t *result = json_object_get(told, "result"), *cpu = json_object_get(result, "cpu");
	int64_t size = json_get_int(result, "size_bytes", 0);

	if (!(gbit > 0) || !json_is_true(proof_record_run_fact(g, p, run, "verified")))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(operation_names); i++) {
		if (strcmp(json_get_string(told, "operation", ""), operation_names[i]) != 0 ||
		    size < s->of[i].size)
			continue;
		if (size > s->of[i].size)
			memset(&s->of[i], 0, sizeof(s->of[i]));
		if (s->of[i].gbit_per_s <= 0 || gbit < s->of[i].gbit_per_s)
			s->of[i].gbit_per_s = gbit;
		s->of[i].size = size;
		s->of[i].way[json_get_bool(told, "reverse", false)] = true;
	}
	if (json_is_object(cpu) && gbit > s->cpu_gbit_per_s) {
		s->cpu = proof_record_run_fact(g, p, run, "cpu");
		s->cpu_gbit_per_s = gbit;
	}
}

static void take_speeds(struct judging *g, const struct proof_record *p, struct speeds *s)
{
	json_t *run;
	size_t i;

	json_array_foreach(json_object_get(p->record, "runs"), i, run) {
		const char *kind = json_get_string(run, "run", "");

		if (!strcmp(kind, "bandwidth")) {
			take_bandwidth(g, p, i, run, s);
		} else if (!strcmp(kind, "latency")) {
			double ns = json_number_value(proof_record_run_fact(g, p, i, "median_ns"));

			if (ns > 0 && (s->latency_ns <= 0 || ns < s->latency_ns))
				s->latency_ns = ns;
		}
	}
}

static json_t *cpu_of(const struct speeds *s, const char *end, const char *whose)
{
	return json_object_get(json_object_get(s->cpu, end), whose);
}

static bool judge_speeds(struct judging *g, const struct proof_record *p, const struct speeds *s)
{
	const char *name = proof_record_name(g, p);
	bool good = true;

	for (size_t i = 0; i < ARRAY_SIZE(operation_names); i++) {
		if ((s->of[i].way[0] && s->of[i].way[1]) || !strcmp(operation_names[i], "send"))
			continue;
		judge_unknown(g, again, "%s: the record has no verified bandwidth of %s %s", name,
			      operation_names[i], s->of[i].size ? "both ways" : "at all");
		good = false;
	}
	if (s->latency_ns <= 0) {
		judge_unknown(g, NULL, "%s: the record has no latency", name);
		good = false;
	}
	if (!json_is_number(cpu_of(s, "initiator", "process_ms_per_gb")) ||
	    !json_is_number(cpu_of(s, "listener", "process_ms_per_gb"))) {
		judge_unknown(g, NULL, "%s: the record does not tell the CPU time of both ends",
			      name);
		good = false;
	}
	return good;
}

/* --- what was in the way ---------------------------------------------------------------------- */

/* Link pause takes line rate with every drop counter at zero: what was measured are the pauses. */
static void judge_link_pause(struct judging *g, const struct proof_record *p,
			     const struct proof_class *pause)
{
	const struct site_qos *qos = &g->site->qos;
	static const char cause[] = "link-pause-in-baseline";
	static const char fix[] = "switch it off (`ethtool -A LINK autoneg off rx off tx off`, and "
				  "on the switch port), then run that suite again";

	if (!pause->sum)
		return;
	if (qos->declared && (!qos->pfc.set || qos->pfc.value))
		judge_fail(g, cause, fix,
			   "%s: link pause fired while it was taken (%s): it takes line rate "
			   "without any drop, so these speeds are no baseline",
			   proof_record_name(g, p), strbuf_str(&pause->text));
	else
		judge_warn(g, cause, fix,
			   "%s: link pause fired while it was taken (%s): it takes line rate "
			   "without any drop", proof_record_name(g, p), strbuf_str(&pause->text));
}

static void judge_loss(struct judging *g, const struct proof_record *p,
		       const struct proof_growth *grown)
{
	static const struct {
		enum proof_meaning meaning;
		const char *what;
	} losses[] = { { PROOF_DISCARD, "packets were dropped" },
		       { PROOF_RETRANSMIT, "packets were sent again" } };

	for (size_t i = 0; i < ARRAY_SIZE(losses); i++) {
		const struct proof_class *loss = &grown->of[losses[i].meaning];

		if (!loss->sum)
			continue;
		judge_warn(g, "loss-in-baseline",
			   "several senders: that is what PFC is to prevent, see proof.pfc; one "
			   "sender: compare the drop counters of the switch, and look at cable and "
			   "optics",
			   "%s: %s without flow control: %s", proof_record_name(g, p),
			   losses[i].what, strbuf_str(&loss->text));
	}
}

static void pass(struct judging *g, const struct proof_record *p, const struct speeds *s)
{
	_cleanup_strbuf_ struct strbuf text = {0};
	int64_t senders = proof_record_senders(g, p);

	for (size_t i = 0; i < ARRAY_SIZE(operation_names); i++) {
		if (s->of[i].gbit_per_s > 0)
			strbuf_printf(&text, "%s%s %.2f Gbit/s (%s)", text.len ? ", " : "",
				      operation_names[i], s->of[i].gbit_per_s,
				      proof_size_text(g, s->of[i].size));
	}
	judge_pass(g, "%s: %s, latency %.2f µs, CPU %.1f and %.1f ms per GB, %lld sender%s, PFC "
		      "and ECN off (%s)",
		   proof_record_name(g, p), strbuf_str(&text), s->latency_ns / 1e3,
		   json_number_value(cpu_of(s, "initiator", "process_ms_per_gb")),
		   json_number_value(cpu_of(s, "listener", "process_ms_per_gb")),
		   (long long)senders, senders == 1 ? "" : "s",
		   json_get_string(p->record, "taken", "?"));
}

static void judge_port(struct judging *g, const struct site_rdma *port)
{
	_cleanup_proof_growth_ struct proof_growth grown = {0};
	struct speeds speeds = {0};
	struct proof_record p;

	if (!proof_record_find(g, "baseline", port, &p) || !proof_record_judge_runs(g, &p) ||
	    !proof_record_judge_complete(g, &p) || !proof_record_judge_counters(g, &p))
		return;
	proof_growth_read(g, &p, &grown);
	take_speeds(g, &p, &speeds);
	judge_link_pause(g, &p, &grown.of[PROOF_LINK_PAUSE]);
	judge_loss(g, &p, &grown);

	bool before = judge_before(g, &p, &grown), counted = judge_counted(g, &p, &grown);
	bool told = judge_speeds(g, &p, &speeds);

	if (before && counted && told)
		pass(g, &p, &speeds);
}

void judge_proof_baseline(struct judging *g)
{
	for (size_t i = 0; i < g->node->n_rdma; i++)
		judge_port(g, &g->node->rdma[i]);
}
