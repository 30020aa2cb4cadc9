/* SPDX-License-Identifier: Apache-2.0 */
/* The engine with gates made for the purpose: what blocks what, what weighs more, what is
 * evidence. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "judge/gate.h"

/* --- a site of two nodes with two ports each, and their snapshots ----------------------------- */

static char p0[] = "p0", p1[] = "p1", a[] = "a", b[] = "b", one[] = "one", two[] = "two", name[] = "test";

static struct site_rdma ports[] = {
	{ .link = p0, .rail = a },
	{ .link = p1, .rail = b },
};
static struct site_node nodes[] = {
	{ .name = one, .roles = SITE_ROLE_CLIENT, .rdma = ports, .n_rdma = 2 },
	{ .name = two, .roles = SITE_ROLE_STORAGE, .rdma = ports, .n_rdma = 2 },
};
static struct site site = { .name = name, .nodes = nodes, .n_nodes = 2 };

static json_t *snapshot_new(int64_t mtu0, int64_t mtu1)
{
	return json_pack("{s:s, s:{s:{s:I}, s:{s:I}}, s:[{s:s, s:s, s:s}], s:{s:s}, s:{s:s}}", "schema",
			 "railhead.snapshot/1", "links", "p0", "mtu", (json_int_t)mtu0, "p1", "mtu",
			 (json_int_t)mtu1, "gaps", "pointer", "/rdma", "reason", "no NETLINK_RDMA", "hint",
			 "load ib_core", "source", "kind", "handmade", "taken", "realtime",
			 "2026-01-01T00:00:00Z");
}

static struct ladder *judge(const struct gate *const *gates, size_t n, json_t *first_seen,
			    json_t *second_seen)
{
	struct judge_node seen[] = { { &nodes[0], first_seen }, { &nodes[1], second_seen } };
	struct judge_input input = {
		.site = &site,
		.nodes = seen,
		.n_nodes = second_seen ? 2 : 1,
		.gates = gates,
		.n_gates = n,
	};
	struct ladder *ladder = NULL;

	assert_int_equal(judge_all(&ladder, &input, NULL), 0);
	return ladder;
}

static const struct verdict *find(const struct ladder *l, const char *gate, const char *node,
				  const char *subject)
{
	for (size_t i = 0; i < l->n_verdicts; i++) {
		const struct verdict *v = &l->verdicts[i];

		if (!strcmp(v->gate->id, gate) && (!node || !strcmp(v->node, node)) &&
		    (!subject || (v->subject && !strcmp(v->subject, subject))))
			return v;
	}
	return NULL;
}

/* --- judges ----------------------------------------------------------------------------------- */

static void mtu_is_9000(struct judging *g)
{
	int64_t mtu;

	if (!fact_int(g, &mtu, "/links/%s/mtu", g->port->link))
		return;
	if (mtu == 9000)
		judge_pass(g, "MTU 9000");
	else
		judge_fail(g, "mtu-other", NULL, "MTU %d", (int)mtu);
}

static void reads_rdma(struct judging *g)
{
	if (fact(g, "/rdma/devices"))
		judge_pass(g, "seen");
}

static void says_pass(struct judging *g)
{
	judge_pass(g, "fine");
}

static void says_nothing(struct judging *g)
{
	peek(g, "/links");
}

static void says_much(struct judging *g)
{
	judge_pass(g, "one thing is right");
	judge_warn(g, "slow", NULL, "another is slow");
	judge_unknown(g, "look", "a third was not seen");
	judge_fail(g, "broken", "mend it", "a fourth is broken");
	judge_fail(g, "broken-too", NULL, "a fifth too");
	judge_candidate(g, "perhaps", NULL, "or it is this");
	judge_warn(g, "late", NULL, "said after the failure");
}

static void blames_the_first(struct judging *g)
{
	judge_fail(g, "consequence", NULL, "follows");
	judge_explained_by(g, "t.first", g->port->link);
}

static void compares(struct judging *g)
{
	int64_t here, there;

	if (fact_int(g, &here, "/links/%s/mtu", g->port->link) &&
	    fact_peer_int(g, &there, "/links/%s/mtu", g->peer_port->link)) {
		if (here == there)
			judge_pass(g, "equal");
		else
			judge_fail(g, "unequal", NULL, "%d and %d", (int)here, (int)there);
	}
}

static const char *not_here(struct judging *g)
{
	return g ? "this site has none" : NULL;
}

static const struct gate first = { .id = "t.first", .phase = 1, .scope = GATE_PORT, .judge = mtu_is_9000 };
static const struct gate second = {
	.id = "t.second", .phase = 2, .scope = GATE_PORT, .judge = says_pass, .needs = { "t.first" }
};
static const struct gate on_node = {
	.id = "t.node", .phase = 3, .scope = GATE_NODE, .judge = says_pass, .needs = { "t.first" }
};
static const struct gate rdma = {
	.id = "t.rdma", .phase = 0, .scope = GATE_NODE, .judge = reads_rdma, .obtain = "run as root"
};
static const struct gate silent = { .id = "t.silent", .scope = GATE_NODE, .judge = says_nothing };
static const struct gate later = { .id = "t.later", .scope = GATE_NODE, .title = "later",
				   .obtain = "a later verb" };
static const struct gate much = { .id = "t.much", .scope = GATE_NODE, .judge = says_much };
static const struct gate absent = {
	.id = "t.absent", .scope = GATE_NODE, .judge = says_much, .not_applicable = not_here
};
static const struct gate needs_absent = {
	.id = "t.needs-absent", .scope = GATE_NODE, .judge = says_pass, .needs = { "t.absent" }
};
static const struct gate blames = { .id = "t.blames", .phase = 2, .scope = GATE_PORT, .judge = blames_the_first };
static const struct gate paired = {
	.id = "t.paired", .phase = 1, .scope = GATE_PORT, .judge = says_pass, .judge_pair = compares
};
static const struct gate pair = { .id = "t.pair", .scope = GATE_PAIR, .title = "traffic", .needs = { "t.first" } };
static const struct gate on_paper = { .id = "t.paper", .scope = GATE_SITE, .judge = says_pass };

#define LADDER(l, here, there, ...)                                                            \
	const struct gate *const l##_gates[] = { __VA_ARGS__ };                             \
	_cleanup_json_ json_t *l##_here = here, *l##_there = there;                            \
	_cleanup_ladder_ struct ladder *l =                                                 \
		judge(l##_gates, ARRAY_SIZE(l##_gates), l##_here, l##_there)

/* --- tests ------------------------------------------------------------------------------------ */

static void a_failure_blocks_its_own_subject_only(void **state)
{
	(void)state;
	LADDER(l, snapshot_new(1500, 9000), NULL, &first, &second, &on_node);
	assert_int_equal(find(l, "t.first", NULL, "p0")->status, VERDICT_FAIL);
	assert_int_equal(find(l, "t.second", NULL, "p0")->status, VERDICT_BLOCKED);
	assert_string_equal(find(l, "t.second", NULL, "p0")->blocked_by[0], "t.first (p0)");
	assert_int_equal(find(l, "t.second", NULL, "p1")->status, VERDICT_PASS);
	/* what is asked of the whole node waits for every port of it */
	assert_int_equal(find(l, "t.node", NULL, NULL)->status, VERDICT_BLOCKED);
}

static void another_nodes_failure_does_not_block(void **state)
{
	(void)state;
	LADDER(l, snapshot_new(9000, 9000), snapshot_new(1500, 1500), &first, &second, &on_node);
	assert_int_equal(find(l, "t.node", "one", NULL)->status, VERDICT_PASS);
	assert_int_equal(find(l, "t.node", "two", NULL)->status, VERDICT_BLOCKED);
}

static void a_missing_fact_is_unknown_with_its_reason(void **state)
{
	(void)state;
	LADDER(l, snapshot_new(9000, 9000), NULL, &rdma);
	const struct verdict *v = find(l, "t.rdma", NULL, NULL);

	assert_int_equal(v->status, VERDICT_UNKNOWN);
	assert_non_null(strstr(v->summary, "/rdma/devices"));
	assert_non_null(strstr(v->summary, "no NETLINK_RDMA"));
	assert_string_equal(v->obtain, "load ib_core");
	assert_int_equal(v->n_evidence, 1);
	assert_null(v->evidence[0].value);
	assert_string_equal(v->evidence[0].missing, "no NETLINK_RDMA");
	assert_int_equal(ladder_exit_status(l), 1);
}

static void facts_that_were_read_are_evidence(void **state)
{
	(void)state;
	LADDER(l, snapshot_new(9000, 9000), NULL, &first);
	const struct verdict *v = find(l, "t.first", NULL, "p1");

	assert_int_equal(v->n_evidence, 1);
	assert_string_equal(v->evidence[0].node, "one");
	assert_string_equal(v->evidence[0].pointer, "/links/p1/mtu");
	assert_int_equal(json_integer_value(v->evidence[0].value), 9000);
}

static void silence_is_never_a_pass(void **state)
{
	(void)state;
	LADDER(l, snapshot_new(9000, 9000), NULL, &silent, &later);
	assert_int_equal(find(l, "t.silent", NULL, NULL)->status, VERDICT_UNKNOWN);
	assert_int_equal(find(l, "t.later", NULL, NULL)->status, VERDICT_UNKNOWN);
	assert_string_equal(find(l, "t.later", NULL, NULL)->obtain, "a later verb");
}

static void the_heaviest_finding_decides(void **state)
{
	(void)state;
	LADDER(l, snapshot_new(9000, 9000), NULL, &much);
	const struct verdict *v = find(l, "t.much", NULL, NULL);

	assert_int_equal(v->status, VERDICT_FAIL);
	assert_string_equal(v->summary, "a fourth is broken");
	assert_int_equal(v->n_causes, 5);
	assert_string_equal(v->causes[1].id, "broken");
	assert_string_equal(v->causes[1].fix, "mend it");
	assert_false(v->causes[1].candidate);
	assert_true(v->causes[3].candidate);
}

static void what_does_not_apply_blocks_nothing(void **state)
{
	(void)state;
	LADDER(l, snapshot_new(9000, 9000), NULL, &absent, &needs_absent);
	assert_int_equal(find(l, "t.absent", NULL, NULL)->status, VERDICT_NA);
	assert_string_equal(find(l, "t.absent", NULL, NULL)->summary, "this site has none");
	assert_int_equal(find(l, "t.needs-absent", NULL, NULL)->status, VERDICT_PASS);
	assert_int_equal(ladder_exit_status(l), 0);
	/* n/a carries nobody */
	assert_string_equal(ladder_railhead(l)->gate->id, "t.needs-absent");
}

static void an_explanation_must_stand(void **state)
{
	(void)state;
	LADDER(l, snapshot_new(1500, 9000), NULL, &first, &blames);
	assert_string_equal(find(l, "t.blames", NULL, "p0")->explained_by, "t.first (p0)");
	assert_null(find(l, "t.blames", NULL, "p1")->explained_by);
}

static void pairs_compare_ports_of_a_rail(void **state)
{
	(void)state;
	LADDER(l, snapshot_new(9000, 9000), snapshot_new(9000, 1500), &paired);
	assert_int_equal(find(l, "t.paired", NULL, "one/p0 ↔ two/p0")->status, VERDICT_PASS);
	assert_int_equal(find(l, "t.paired", NULL, "one/p1 ↔ two/p1")->status, VERDICT_FAIL);
	assert_int_equal(l->n_verdicts, 6);	/* four ports, two pairs of ports, each once */
	/* each node for itself comes first */
	assert_int_equal(l->verdicts[3].phase, 1);
	assert_int_equal(l->verdicts[4].phase, 6);
}

static void a_peer_without_snapshot_is_unknown(void **state)
{
	(void)state;
	LADDER(l, snapshot_new(9000, 9000), NULL, &paired);
	const struct verdict *v = find(l, "t.paired", NULL, "one/p0 ↔ two/p0");

	assert_int_equal(v->status, VERDICT_UNKNOWN);
	assert_non_null(strstr(v->obtain, "railhead snapshot"));
}

static void a_pair_waits_for_both_ends(void **state)
{
	(void)state;
	LADDER(l, snapshot_new(9000, 9000), snapshot_new(9000, 1500), &first, &pair);
	assert_int_equal(find(l, "t.pair", NULL, "one ↔ two")->status, VERDICT_BLOCKED);
}

static void paper_gates_are_for_plan(void **state)
{
	(void)state;
	LADDER(l, snapshot_new(9000, 9000), NULL, &on_paper, &first);
	assert_null(find(l, "t.paper", NULL, NULL));
}

static void the_railhead_is_the_last_pass_before_the_first_stop(void **state)
{
	(void)state;
	LADDER(l, snapshot_new(9000, 1500), NULL, &first, &second);
	/* ladder order: first p0, first p1, second p0, second p1 */
	assert_int_equal(l->stopped_at, 1);
	assert_string_equal(ladder_railhead(l)->subject, "p0");
	assert_int_equal(l->counts[VERDICT_PASS], 2);
	assert_int_equal(l->counts[VERDICT_FAIL], 1);
	assert_int_equal(l->counts[VERDICT_BLOCKED], 1);
	assert_string_equal(l->taken, "2026-01-01T00:00:00Z");
	assert_string_equal(l->sources[0], "handmade");
}

static void a_node_without_snapshot_is_refused(void **state)
{
	struct judge_node seen[] = { { &nodes[0], NULL } };
	struct judge_input input = { .site = &site, .nodes = seen, .n_nodes = 1 };
	struct ladder *ladder = NULL;

	(void)state;
	assert_int_equal(judge_all(&ladder, &input, NULL), -EINVAL);
	assert_null(ladder);
}

/* The registry: every need exists, and no gate waits for itself by a detour. */
static bool reaches(const struct gate *from, const struct gate *to, unsigned depth)
{
	if (depth > 64)
		return true;
	for (size_t i = 0; from->needs[i]; i++) {
		const struct gate *need = gate_find(from->needs[i]);

		if (!need)
			fail_msg("%s needs %s, which does not exist", from->id, from->needs[i]);
		if (need == to || reaches(need, to, depth + 1))
			return true;
	}
	return false;
}

static void the_registry_has_no_loops(void **state)
{
	size_t n;
	const struct gate *const *gates = gate_registry(&n);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		if (reaches(gates[i], gates[i], 0))
			fail_msg("%s needs itself", gates[i]->id);
		if (i)
			assert_true(gates[i - 1]->phase <= gates[i]->phase);
	}
}

/* The catalogue of docs: a gate that disappears must be missed. */
static void the_catalogue_is_complete(void **state)
{
	static const char *const ids[] = {
		"plan.os-matrix", "plan.gpu-matrix", "plan.gdr-matrix", "plan.kernel-module",
		"plan.driver-rdma", "plan.network-operator", "plan.operator-repo", "plan.images",
		"plan.kubespray", "plan.bond-rdma", "plan.driver-pair", "plan.qos", "plan.qos-order",
		"plan.ecn-host", "plan.pod-network", "plan.storage-client", "plan.headroom",
		"os.release", "os.kernel", "os.memlock", "os.kernel-log", "k8s.node", "k8s.cni",
		"gpu.pci", "gpu.driver", "gpu.open-module", "gpu.nvml", "gpu.operator",
		"gpu.allocatable", "cuda.run", "net.bond", "net.address", "net.mtu", "pci.link",
		"nic.driver", "nic.firmware", "nic.driver-pair", "rdma.module", "rdma.device",
		"rdma.protocol", "rdma.gid", "rdma.mtu", "rdma.chardev", "rdma.userspace",
		"rdma.netns", "rdma.counters", "qos.fw-lldp", "qos.dcbx", "qos.flow-control",
		"qos.dscp", "qos.ets", "qos.pfc", "qos.equal", "qos.tos", "qos.vlan", "proof.host",
		"proof.baseline", "proof.pfc", "proof.ecn", "proof.marking", "k8s.rdma-resource",
		"proof.pod", "gdr.topology", "gdr.acs", "gdr.iommu", "gdr.kernel", "gdr.export",
		"gdr.register", "proof.gdr", "gdr.peermem", "storage.server", "storage.path",
		"storage.client", "vllm.ready", "vllm.paths",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		if (!gate_find(ids[i]))
			fail_msg("%s is not registered", ids[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_failure_blocks_its_own_subject_only),
		cmocka_unit_test(another_nodes_failure_does_not_block),
		cmocka_unit_test(a_missing_fact_is_unknown_with_its_reason),
		cmocka_unit_test(facts_that_were_read_are_evidence),
		cmocka_unit_test(silence_is_never_a_pass),
		cmocka_unit_test(the_heaviest_finding_decides),
		cmocka_unit_test(what_does_not_apply_blocks_nothing),
		cmocka_unit_test(an_explanation_must_stand),
		cmocka_unit_test(pairs_compare_ports_of_a_rail),
		cmocka_unit_test(a_peer_without_snapshot_is_unknown),
		cmocka_unit_test(a_pair_waits_for_both_ends),
		cmocka_unit_test(paper_gates_are_for_plan),
		cmocka_unit_test(the_railhead_is_the_last_pass_before_the_first_stop),
		cmocka_unit_test(a_node_without_snapshot_is_refused),
		cmocka_unit_test(the_registry_has_no_loops),
		cmocka_unit_test(the_catalogue_is_complete),
	};

	return cmocka_run_group_tests_name("judge/engine", tests, NULL, NULL);
}
