/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine: every gate for every subject, those that it needs first; then one ladder.
 *
 * A gate that needs one that did not pass (fail, unknown, blocked) for a subject that concerns it
 * is blocked and its judge does not run, so that a ladder has one root per fault. n/a and warn do
 * not block.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "judge/gate.h"

#include "base/alloc.h"
#include "base/strings.h"
#include "base/text.h"
#include "judge/pairs.h"
#include "judge/proof_index.h"
#include "judge/scope.h"

/* A verdict with what is needed to order it and to find out whom it blocks. */
struct rung {
	struct verdict v;
	const struct site_node *node, *peer;	/* NULL for site and cluster gates */
	const struct subject *subject;
	size_t gate_index, order;
};

/* Subjects of one node for one scope, made once. */
struct subjects {
	struct subject *s;
	size_t n;
};

struct engine {
	const struct judge_input *input;
	const struct gate *const *gates;
	size_t n_gates;
	bool *done;			/* by gate */
	size_t *first, *count;		/* by gate: its rungs stand together */
	struct rung *rungs;
	size_t n_rungs, capacity;
	struct subjects *subjects;	/* [node * (GATE_CLUSTER + 1) + scope] */
	struct judge_pair *pairs;
	size_t n_pairs;
	struct proof_index *proofs;
	struct subject whole;		/* stands for a pair, the site, the cluster */
};

static size_t gate_index(const struct engine *e, const char *id)
{
	for (size_t i = 0; i < e->n_gates; i++) {
		if (!strcmp(e->gates[i]->id, id))
			return i;
	}
	return e->n_gates;
}

static const struct subjects *node_subjects(struct engine *e, size_t node, enum gate_scope scope)
{
	struct subjects *s = &e->subjects[node * (GATE_CLUSTER + 1) + scope];

	if (!s->s)
		s->s = subjects_of(scope, e->input->nodes[node].node,
				   e->input->nodes[node].snapshot, &s->n);
	return s;
}

static bool holds(enum verdict_status status)
{
	return status == VERDICT_FAIL || status == VERDICT_BLOCKED || status == VERDICT_UNKNOWN;
}

/* Nodes in common, subjects that touch? */
static bool rung_concerns(const struct rung *r, const struct rung *needed)
{
	if (!needed->node || !r->node)
		return true;
	bool pair_of_nodes = r->peer != NULL;

	if (needed->peer)	/* a pair's verdict concerns the same pair only */
		return r->node == needed->node && r->peer == needed->peer;
	if (needed->node != r->node && needed->node != r->peer)
		return false;
	return pair_of_nodes || subject_concerns(r->subject, needed->subject);
}

static bool blocked(struct engine *e, struct rung *r, struct judging *g)
{
	const struct gate *gate = r->v.gate;

	/* what this site does not have waits for nothing */
	if (gate->not_applicable && gate->not_applicable(g))
		return false;
	for (size_t n = 0; gate->needs[n]; n++) {
		size_t need = gate_index(e, gate->needs[n]);

		if (need == e->n_gates)
			continue;
		for (size_t i = e->first[need]; i < e->first[need] + e->count[need]; i++) {
			const struct rung *needed = &e->rungs[i];

			if (!holds(needed->v.status) || !rung_concerns(r, needed))
				continue;
			strings_add(&r->v.blocked_by,
				    needed->v.subject ? xasprintf("%s (%s)", gate->needs[n],
								  needed->v.subject) :
							xstrdup(gate->needs[n]));
		}
	}
	if (!r->v.blocked_by)
		return false;
	r->v.status = VERDICT_BLOCKED;
	free(r->v.summary);
	r->v.summary = xasprintf("needs %s, which did not pass%s", r->v.blocked_by[0],
				 r->v.blocked_by[1] ? ", and others" : "");
	strings_free(g->texts);
	g->texts = NULL;
	return true;
}

static bool has_double_evidence(const struct judging *g)
{
	/* what an active proof or the GPU library says may come from a test double; the record says
	 * so */
	return !strcmp(json_get_string(json_at(g->snapshot, "/source"), "kind", ""), "double") ||
	       !strcmp(json_get_string(json_at(g->peer_snapshot, "/source"), "kind", ""), "double");
}

static void run_judge(struct judging *g, gate_judge judge)
{
	const char *why_not = g->gate->not_applicable ? g->gate->not_applicable(g) : NULL;

	if (why_not) {
		judge_na(g, "%s", why_not);
	} else if (g->peer && !g->peer_snapshot) {
		judge_unknown(g, judge_text(g, "run `railhead snapshot -o %s.json` there and pass "
					       "both files to `railhead check`", g->peer->name),
			      "no snapshot of %s", g->peer->name);
	} else if (!judge) {
		judge_unknown(g, NULL, "not observed yet: %s", g->gate->title);
	} else {
		judge(g);
		if (!g->decided)
			judge_unknown(g, NULL, "nothing was judged");
	}
	if (g->verdict->status == VERDICT_UNKNOWN && !g->verdict->obtain && g->gate->obtain)
		g->verdict->obtain = xstrdup(g->gate->obtain);
	g->verdict->double_used = has_double_evidence(g);
	strings_free(g->texts);
	g->texts = NULL;
}

/* Nodes are compared when each was seen for itself: in the phase that first needs two of them. */
#define PHASE_TWO_NODES 6u

/* Append an empty rung. The pointer is good until the next call. */
static struct rung *rung_add(struct engine *e, size_t gate, const struct subject *subject)
{
	array_reserve(e->rungs, e->n_rungs, e->capacity);
	e->rungs[e->n_rungs] = (struct rung){
		.v = { .gate = e->gates[gate],
		       .phase = e->gates[gate]->phase,
		       .status = VERDICT_NA },
		.subject = subject,
		.gate_index = gate,
		.order = e->n_rungs,
	};
	return &e->rungs[e->n_rungs++];
}

static void judge_subject(struct engine *e, size_t gate, size_t node, const struct subject *s)
{
	const struct judge_input *in = e->input;
	struct rung *r = rung_add(e, gate, s);

	r->node = in->nodes[node].node;
	r->v.node = xstrdup(r->node->name);
	r->v.subject = s->name ? xstrdup(s->name) : NULL;
	struct judging g = {
		.gate = e->gates[gate],
		.site = in->site,
		.matrix = in->matrix,
		.node = r->node,
		.snapshot = in->nodes[node].snapshot,
		.bond = s->bond,
		.port = s->port,
		.nic = s->nic,
		.gpu = s->gpu,
		.all = in->nodes,
		.n_all = in->n_nodes,
		.proofs = e->proofs,
		.verdict = &r->v,
	};
	if (!blocked(e, r, &g))
		run_judge(&g, e->gates[gate]->judge);
}

static void judge_pair_of(struct engine *e, size_t gate, const struct judge_pair *p,
			  const struct site_rdma *port, gate_judge judge)
{
	const struct site_rdma *peer_port = port ? judge_pair_port(p->a->node, port, p->b) : NULL;
	struct rung *r = rung_add(e, gate, &e->whole);

	r->node = p->a->node;
	r->peer = p->b;
	if (r->v.phase < PHASE_TWO_NODES)
		r->v.phase = PHASE_TWO_NODES;
	r->v.node = xstrdup(r->node->name);
	if (p->unseen > 1)
		r->v.subject = xasprintf("%s ↔ %zu peers", r->node->name, p->unseen);
	else if (port)
		r->v.subject = xasprintf("%s/%s ↔ %s/%s", r->node->name, port->link, p->b->name,
					 peer_port ? peer_port->link : "?");
	else
		r->v.subject = xasprintf("%s ↔ %s", r->node->name, p->b->name);
	struct judging g = {
		.gate = e->gates[gate],
		.site = e->input->site,
		.matrix = e->input->matrix,
		.node = r->node,
		.snapshot = p->a->snapshot,
		.port = port,
		.peer = p->b,
		.peer_snapshot = p->b_snapshot,
		.peer_port = peer_port,
		.all = e->input->nodes,
		.n_all = e->input->n_nodes,
		.proofs = e->proofs,
		.verdict = &r->v,
	};
	if (blocked(e, r, &g))
		return;
	if (port && !peer_port && p->b_snapshot)
		judge_na(&g, "%s has no port for %s", p->b->name,
			 port->rail ? port->rail : port->link);
	else
		run_judge(&g, judge);
}

static void judge_pairs_of(struct engine *e, size_t gate, gate_judge judge)
{
	bool by_port = e->gates[gate]->scope == GATE_PORT;

	for (size_t i = 0; i < e->n_pairs; i++) {
		const struct judge_pair *p = &e->pairs[i];
		/* of peers without snapshot one row is enough */
		size_t n = !by_port ? 0 : p->unseen > 1 ? 1 : p->a->node->n_rdma;

		if (!by_port)
			judge_pair_of(e, gate, p, NULL, judge);
		for (size_t k = 0; k < n; k++)
			judge_pair_of(e, gate, p, &p->a->node->rdma[k], judge);
	}
}

static void judge_site(struct engine *e, size_t gate)
{
	struct rung *r = rung_add(e, gate, &e->whole);
	struct judging g = {
		.gate = e->gates[gate],
		.site = e->input->site,
		.matrix = e->input->matrix,
		.all = e->input->nodes,
		.n_all = e->input->n_nodes,
		.proofs = e->proofs,
		.verdict = &r->v,
	};

	if (!blocked(e, r, &g))
		run_judge(&g, e->gates[gate]->judge);
}

static void judge_everywhere(struct engine *e, size_t gate)
{
	const struct gate *g = e->gates[gate];

	if ((g->scope == GATE_SITE) != e->input->paper)
		return;
	if (g->scope == GATE_SITE || g->scope == GATE_CLUSTER) {
		judge_site(e, gate);
		return;
	}
	if (g->scope == GATE_PAIR) {
		judge_pairs_of(e, gate, g->judge);
		return;
	}
	for (size_t node = 0; node < e->input->n_nodes; node++) {
		const struct subjects *s = node_subjects(e, node, g->scope);

		for (size_t i = 0; i < s->n; i++)
			judge_subject(e, gate, node, &s->s[i]);
	}
	if (g->judge_pair)
		judge_pairs_of(e, gate, g->judge_pair);
}

static void judge_gate(struct engine *e, size_t gate)
{
	const struct gate *g = e->gates[gate];

	if (e->done[gate])
		return;
	/* before the needs: a loop in the registry must end (a test forbids it) */
	e->done[gate] = true;
	for (size_t i = 0; g->needs[i]; i++) {
		size_t need = gate_index(e, g->needs[i]);

		if (need < e->n_gates)
			judge_gate(e, need);
	}
	e->first[gate] = e->n_rungs;
	judge_everywhere(e, gate);
	e->count[gate] = e->n_rungs - e->first[gate];
}

static int by_ladder(const void *a, const void *b)
{
	const struct rung *x = a, *y = b;

	if (x->v.phase != y->v.phase)
		return x->v.phase < y->v.phase ? -1 : 1;
	if (x->gate_index != y->gate_index)
		return x->gate_index < y->gate_index ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* "nic.firmware (ens1f0)" -> is there such a verdict that did not pass, on this node? */
static bool explanation_stands(const struct engine *e, const struct rung *r)
{
	for (size_t i = 0; i < e->n_rungs; i++) {
		const struct rung *other = &e->rungs[i];

		if (other->v.status != VERDICT_FAIL && other->v.status != VERDICT_WARN)
			continue;
		if (other->node && r->node && other->node != r->node && other->node != r->peer)
			continue;
		_cleanup_free_ char *name =
			other->v.subject ?
				xasprintf("%s (%s)", other->v.gate->id, other->v.subject) :
				xstrdup(other->v.gate->id);
		/* a subject may be left out: any verdict of that gate on the node will do */
		if (!strcmp(name, r->v.explained_by) ||
		    !strcmp(other->v.gate->id, r->v.explained_by))
			return true;
	}
	return false;
}

static void keep_true_explanations(struct engine *e)
{
	for (size_t i = 0; i < e->n_rungs; i++) {
		struct rung *r = &e->rungs[i];

		if (r->v.explained_by && !explanation_stands(e, r)) {
			free(r->v.explained_by);
			r->v.explained_by = NULL;
		}
	}
}

static struct ladder *ladder_make(struct engine *e)
{
	const struct judge_input *in = e->input;
	struct ladder *l = xcalloc(1, sizeof(*l));

	l->site_name = xstrdup(in->site->name ? in->site->name : "(none declared)");
	l->site_path = in->site->path ? xstrdup(in->site->path) : NULL;
	l->assumed = in->site->assumed;
	for (size_t i = 0; i < in->n_nodes; i++) {
		json_t *s = in->nodes[i].snapshot;
		const char *taken = json_get_string(json_at(s, "/taken"), "realtime", NULL);

		strings_add(&l->nodes, xstrdup(in->nodes[i].node->name));
		strings_add(&l->sources,
			    xstrdup(json_get_string(json_at(s, "/source"), "kind", "unknown")));
		/* RFC 3339 in UTC sorts as text */
		if (taken && (!l->taken || strcmp(taken, l->taken) > 0)) {
			free(l->taken);
			l->taken = xstrdup(taken);
		}
	}
	l->verdicts = xcalloc(e->n_rungs, sizeof(*l->verdicts));
	for (size_t i = 0; i < e->n_rungs; i++)
		l->verdicts[i] = e->rungs[i].v;
	l->n_verdicts = e->n_rungs;
	l->stopped_at = l->n_verdicts;
	for (size_t i = l->n_verdicts; i-- > 0;) {
		l->counts[l->verdicts[i].status]++;
		if (holds(l->verdicts[i].status))
			l->stopped_at = i;
	}
	return l;
}

int judge_all(struct ladder **ladder, const struct judge_input *input, struct error *err)
{
	struct engine e = { .input = input, .whole = { .scope = GATE_NODE } };

	for (size_t i = 0; i < input->n_nodes; i++) {
		if (!input->nodes[i].node || !json_is_object(input->nodes[i].snapshot))
			return error_set(err, -EINVAL, "node %zu of the input has no snapshot",
					 i + 1);
	}
	e.gates = input->gates;
	e.n_gates = input->n_gates;
	if (!e.gates)
		e.gates = gate_registry(&e.n_gates);
	e.done = xcalloc(e.n_gates, sizeof(*e.done));
	e.first = xcalloc(e.n_gates, sizeof(*e.first));
	e.count = xcalloc(e.n_gates, sizeof(*e.count));
	e.subjects = xcalloc(input->n_nodes * (GATE_CLUSTER + 1), sizeof(*e.subjects));
	e.pairs = judge_pairs(input, &e.n_pairs);
	e.proofs = proof_index_new(input->nodes, input->n_nodes);
	for (size_t i = 0; i < e.n_gates; i++)
		judge_gate(&e, i);
	keep_true_explanations(&e);
	if (e.n_rungs)
		qsort(e.rungs, e.n_rungs, sizeof(*e.rungs), by_ladder);
	*ladder = ladder_make(&e);

	free(e.rungs);	/* the verdicts' contents went into the ladder */
	free(e.done);
	free(e.first);
	free(e.count);
	for (size_t i = 0; i < input->n_nodes * (GATE_CLUSTER + 1); i++)
		subjects_free(e.subjects[i].s, e.subjects[i].n);
	free(e.subjects);
	free(e.pairs);
	proof_index_free(e.proofs);
	return 0;
}
