/* SPDX-License-Identifier: Apache-2.0 */
/* Records of runs between two nodes: which one counts, whether it still does, and what all of their
 * gates ask. docs/proof.md has their form. */
#include "judge/proof_record.h"

#include <string.h>

#include "base/strbuf.h"
#include "judge/pairs.h"
#include "judge/proof_index.h"

static const char *hostname_of(json_t *snapshot)
{
	return json_get_string(json_at(snapshot, "/node"), "hostname", "");
}

/* Among the records of one of both snapshots. */
static void look(struct judging *g, struct proof_record *best, bool of_peer)
{
	json_t *own = of_peer ? g->peer_snapshot : g->snapshot;
	json_t *other = of_peer ? g->snapshot : g->peer_snapshot;
	const char *link = (of_peer ? best->peer_port : best->port)->link;
	const char *other_link = (of_peer ? best->port : best->peer_port)->link;
	size_t index;
	json_t *record = proof_index_find(g->proofs, own, best->kind, link, hostname_of(other),
					  other_link, &index);

	if (!record || (best->record && strcmp(json_get_string(record, "taken", ""),
					       json_get_string(best->record, "taken", "")) <= 0))
		return;
	best->record = record;
	best->index = index;
	best->of_peer = of_peer;
}

json_t *proof_record_fact(struct judging *g, const struct proof_record *p, const char *a,
			  const char *b, const char *c)
{
	static const char one[] = "/proofs/%s/%zu/%s", two[] = "/proofs/%s/%zu/%s/%s",
			  three[] = "/proofs/%s/%zu/%s/%s/%s";

	if (p->of_peer)
		return !b ? fact_peer_optional(g, one, p->kind, p->index, a) :
		       !c ? fact_peer_optional(g, two, p->kind, p->index, a, b) :
			    fact_peer_optional(g, three, p->kind, p->index, a, b, c);
	return !b ? fact_optional(g, one, p->kind, p->index, a) :
	       !c ? fact_optional(g, two, p->kind, p->index, a, b) :
		    fact_optional(g, three, p->kind, p->index, a, b, c);
}

json_t *proof_record_run_fact(struct judging *g, const struct proof_record *p, size_t run,
			      const char *name)
{
	static const char form[] = "/proofs/%s/%zu/runs/%zu/result/%s";

	return p->of_peer ? fact_peer_optional(g, form, p->kind, p->index, run, name) :
			    fact_optional(g, form, p->kind, p->index, run, name);
}

json_t *proof_record_counter_fact(struct judging *g, const struct proof_record *p, const char *end,
				  const char *group, const char *a, const char *b)
{
	static const char one[] = "/proofs/%s/%zu/%s/counters/difference/%s/%s",
			  two[] = "/proofs/%s/%zu/%s/counters/difference/%s/%s/%s";

	if (p->of_peer)
		return !b ? fact_peer_optional(g, one, p->kind, p->index, end, group, a) :
			    fact_peer_optional(g, two, p->kind, p->index, end, group, a, b);
	return !b ? fact_optional(g, one, p->kind, p->index, end, group, a) :
		    fact_optional(g, two, p->kind, p->index, end, group, a, b);
}

const char *proof_record_name(struct judging *g, const struct proof_record *p)
{
	return judge_text(g, "%s/%s ↔ %s/%s", g->node->name, p->port->link, g->peer->name,
			  p->peer_port->link);
}

const char *proof_record_node(const struct proof_record *p, int end)
{
	return json_get_string(json_object_get(p->record, end ? "peer" : "local"), "node", "?");
}

/* --- freshness -------------------------------------------------------------------------------- */

static const char *again(struct judging *g, const struct proof_record *p)
{
	static const char *const suites[] = { "baseline", "pfc", "ecn" };
	const char *with = "";

	for (size_t i = 0; i < ARRAY_SIZE(suites); i++) {
		if (!strcmp(p->kind, suites[i]))
			with = judge_text(g, ", with --suite %s,", suites[i]);
	}
	if (!strcmp(p->kind, "marking"))
		with = ", with --dscp,";
	return judge_text(g, "run `railhead prove --listen` on one node and the command line that "
			     "it prints%s on the other, then `railhead check` with --proofs", with);
}

static bool is_fresh(struct judging *g, const struct proof_record *p, const char *end)
{
	json_t *same = proof_record_fact(g, p, "freshness", end, "same");
	const char *node = json_get_string(json_object_get(p->record, end), "node", "?");

	if (json_is_true(same))
		return true;
	if (!same) {
		judge_unknown(g, "give both snapshots and the folder of records to `railhead "
				 "check --proofs DIR A.json B.json`",
			      "%s: the fingerprint of %s was not compared with its facts",
			      proof_record_name(g, p), node);
		return false;
	}
	json_t *changed = proof_record_fact(g, p, "freshness", end, "changed");

	judge_unknown(g, again(g, p), "%s: the proof is stale, because %s has changed: %s",
		      proof_record_name(g, p), node,
		      json_string_value(changed) ? json_string_value(changed) : "?");
	return false;
}

bool proof_record_find(struct judging *g, const char *kind, const struct site_rdma *port,
		       struct proof_record *out)
{
	*out = (struct proof_record){
		.kind = kind,
		.port = port,
		.peer_port = judge_pair_port(g->node, port, g->peer),
	};
	if (!out->peer_port)
		return false;	/* the site pairs this port with none of that node */
	look(g, out, false);
	look(g, out, true);
	if (!out->record) {
		/* a damaged file may have been it */
		const char *gap = peek_gap(g, "/proofs/%s", kind);

		judge_unknown(g, again(g, out), "no run of this kind is recorded for %s%s%s",
			      proof_record_name(g, out), gap ? "; " : "", gap ? gap : "");
		return false;
	}
	proof_record_fact(g, out, "run", NULL, NULL);
	proof_record_fact(g, out, "taken", NULL, NULL);
	if (!json_is_false(proof_record_fact(g, out, "double", NULL, NULL))) {
		judge_unknown(g, again(g, out),
			      "%s: the record was made with a test double, which proves nothing",
			      proof_record_name(g, out));
		return false;
	}

	bool local = is_fresh(g, out, "local"), peer = is_fresh(g, out, "peer");

	return local && peer;
}

int64_t proof_record_senders(struct judging *g, const struct proof_record *p)
{
	json_t *senders = proof_record_fact(g, p, "parameters", "senders", NULL);

	return json_is_integer(senders) ? json_integer_value(senders) : 1;
}

/* --- runs ------------------------------------------------------------------------------------- */

const char *proof_record_mover(json_t *record, json_t *run)
{
	json_t *local = json_object_get(record, "local"), *peer = json_object_get(record, "peer");
	bool local_began = !strcmp(json_get_string(local, "role", ""), "initiator");
	bool by_local = local_began != json_get_bool(run, "reverse", false);

	return json_get_string(by_local ? local : peer, "node", "?");
}

const char *proof_record_run_name(struct judging *g, const struct proof_record *p, size_t run)
{
	json_t *r = json_array_get(json_object_get(p->record, "runs"), run);

	return judge_text(g, "%s of %s by %s", json_get_string(r, "run", "?"),
			  json_get_string(r, "operation", "?"), proof_record_mover(p->record, r));
}

/* {"kind": "corrupt", "offset": 4096, …} */
static const char *fault_text(struct judging *g, json_t *fault)
{
	if (!json_is_object(fault))
		return "";
	return judge_text(g, ": %s from offset %lld on", json_get_string(fault, "kind", "wrong"),
			  (long long)json_get_int(fault, "offset", 0));
}

/* Runs whose bytes must have been looked at; of a round trip only the last message is. */
static bool verifies(json_t *run)
{
	const char *kind = json_get_string(run, "run", "");

	return !strcmp(kind, "integrity") || !strcmp(kind, "bandwidth");
}

static bool judge_run(struct judging *g, const struct proof_record *p, size_t i, json_t *run)
{
	const char *error = json_get_string(run, "error", NULL);
	json_t *verified = proof_record_run_fact(g, p, i, "verified");
	const char *name = judge_text(g, "%s: %s", proof_record_name(g, p),
				      proof_record_run_name(g, p, i));

	if (json_is_false(verified))
		judge_fail(g, "bytes-wrong",
			   "trust no number of this run; look at the kernel log and the error "
			   "counters of both ends",
			   "%s: what arrived is not what was sent%s", name,
			   fault_text(g, proof_record_run_fact(g, p, i, "fault")));
	else if (error)
		judge_unknown(g, again(g, p), "%s did not take place: %s", name, error);
	else if (verifies(run) && !json_is_true(verified))
		judge_unknown(g, again(g, p), "%s: no byte was looked at", name);
	else
		return true;
	return false;
}

bool proof_record_judge_runs(struct judging *g, const struct proof_record *p)
{
	json_t *run;
	size_t i;
	bool good = true;

	json_array_foreach(json_object_get(p->record, "runs"), i, run) {
		/* a program beside the proof, which looks at no byte and need not be there */
		if (strcmp(json_get_string(run, "run", ""), "perftest") != 0)
			good &= judge_run(g, p, i, run);
	}
	return good;
}

/* The runs that must have verified their bytes. */
static const struct wanted {
	const char *operation;
	bool reverse;
} wanted[] = { { "write", false }, { "write", true }, { "read", false }, { "read", true } };

static bool is_verified(struct judging *g, const struct proof_record *p, const struct wanted *w)
{
	json_t *run;
	uint64_t bytes;
	size_t i;

	json_array_foreach(json_object_get(p->record, "runs"), i, run) {
		/* of nothing everything is right */
		if (!strcmp(json_get_string(run, "run", ""), "integrity") &&
		    !strcmp(json_get_string(run, "operation", ""), w->operation) &&
		    json_get_bool(run, "reverse", false) == w->reverse &&
		    json_is_true(proof_record_run_fact(g, p, i, "verified")) &&
		    json_u64(proof_record_run_fact(g, p, i, "bytes"), &bytes) && bytes)
			return true;
	}
	return false;
}

/* Every operation of both ways; the initiator is the one that moves unless it is reversed. */
bool proof_record_judge_complete(struct judging *g, const struct proof_record *p)
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

/* --- counters --------------------------------------------------------------------------------- */

static bool judge_end(struct judging *g, const struct proof_record *p, const char *end)
{
	const char *node = json_get_string(json_object_get(p->record, end), "node", "?");
	json_t *rdma = proof_record_fact(g, p, end, "counters", "rdma_moved");
	json_t *tcp = proof_record_fact(g, p, end, "counters", "tcp_moved");

	if (json_is_true(rdma) && json_is_false(tcp))
		return true;
	if (json_is_false(rdma))
		judge_fail(g, "rdma-idle",
			   "see which device and GID the record names, and that its counters are "
			   "those of the port that was meant",
			   "%s: the RDMA counters of %s did not move by the payload",
			   proof_record_name(g, p), node);
	if (json_is_true(tcp))
		judge_fail(g, "tcp-carried", "stop other traffic of the host and run it again",
			   "%s: TCP of %s moved by the payload", proof_record_name(g, p), node);
	if (!json_is_boolean(rdma))
		judge_unknown(g, again(g, p), "%s: no counter of %s tells whether RDMA carried the "
					"payload", proof_record_name(g, p), node);
	else if (!json_is_boolean(tcp))
		judge_unknown(g, "run it with a larger payload, and without other traffic",
			      "%s: the counters of %s do not tell whether TCP carried a part",
			      proof_record_name(g, p), node);
	return false;
}

bool proof_record_judge_counters(struct judging *g, const struct proof_record *p)
{
	bool local = judge_end(g, p, "local"), peer = judge_end(g, p, "peer");

	return local && peer;
}
