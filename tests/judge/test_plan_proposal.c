/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan of the first proposal, gate by gate: in-tree E810 with RoCE on an LACP bond, RHEL 10.2,
 * Kubernetes 1.33, GPU Operator 26.3.3 in an air gap, AIStor with its own client.
 */
#include "judge/registry.h"
#include "paper.h"

static const struct {
	const char *gate;
	enum verdict_status status;
	const char *cause;	/* NULL: none */
	const char *summary;
} expected[] = {
	{ "plan.os-matrix", VERDICT_PASS, NULL, "rhel 10.2 with Kubernetes 1.33.11" },
	{ "plan.gpu-matrix", VERDICT_PASS, NULL, "B300 with driver 580.126" },
	{ "plan.gdr-matrix", VERDICT_WARN, "gdr-nic-not-listed",
	  "unverified, level 3 gates are the proof" },
	{ "plan.kernel-module", VERDICT_PASS, NULL, "`auto` ends as open" },
	{ "plan.driver-rdma", VERDICT_PASS, NULL, "driver.rdma is off" },
	{ "plan.network-operator", VERDICT_PASS, NULL, "no Network Operator is declared" },
	/* 26.3.x mounts the subscription paths, which nobody declares to exist */
	{ "plan.operator-repo", VERDICT_FAIL, "entitlement-paths", "v26.3.3 mounts the subscription" },
	{ "plan.images", VERDICT_PASS, NULL, "each with a mirror declared for it" },
	{ "plan.kubespray", VERDICT_PASS, NULL, "kube_version: 1.33.11" },
	{ "plan.bond-rdma", VERDICT_FAIL, "bond-in-tree-ice", "aistor-01" },
	{ "plan.driver-pair", VERDICT_PASS, NULL, "ice inbox and irdma inbox" },
	{ "plan.qos", VERDICT_PASS, NULL, "DSCP 24 (ToS 96) to priority 3 to class 3 with 50 %" },
	{ "plan.qos-order", VERDICT_PASS, NULL, "before they are bonded" },
	{ "plan.ecn-host", VERDICT_WARN, "ecn-switch-only", "\"switch-only\"" },
	{ "plan.pod-network", VERDICT_PASS, NULL, "raw verbs with the host's GIDs" },
	{ "plan.storage-client", VERDICT_FAIL, "storage-client-needs-dc",
	  "falls back to HTTP in silence" },
	{ "plan.headroom", VERDICT_PASS, NULL, "headroom of 131072 bytes" },
};

static void every_gate(void **state)
{
	const struct ladder *l = paper_load(RAILHEAD_SOURCE "/examples/original-proposal.yaml");

	(void)state;
	assert_int_equal(l->n_verdicts, ARRAY_SIZE(expected));
	assert_int_equal(n_gates_plan, ARRAY_SIZE(expected));
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		const struct verdict *v = scene_verdict(l, expected[i].gate, NULL);

		scene_status(v, expected[i].status);
		scene_summary(v, expected[i].summary);
		if (expected[i].cause)
			scene_cause(v, expected[i].cause, NULL);
		else
			assert_int_equal(v->n_causes, 0);
	}
}

static void ways_out(void **state)
{
	const struct ladder *l = paper_load(RAILHEAD_SOURCE "/examples/original-proposal.yaml");
	const struct verdict *bond = scene_verdict(l, "plan.bond-rdma", NULL);
	const struct verdict *repo = scene_verdict(l, "plan.operator-repo", NULL);
	const struct verdict *client = scene_verdict(l, "plan.storage-client", NULL);

	(void)state;
	/* both nodes have the same bond: told once */
	assert_int_equal(bond->n_causes, 1);
	assert_int_equal(paper_options(bond, "bond-in-tree-ice"), 3);
	paper_option(bond, "bond-in-tree-ice", "several rails");
	paper_option(bond, "bond-in-tree-ice", "ice_lag DDP");
	paper_option(bond, "bond-in-tree-ice", "keep the bond for TCP");
	assert_int_equal(repo->n_causes, 1);
	paper_option(repo, "entitlement-paths", "v26.7.0");
	paper_option(client, "storage-client-needs-dc", "DC transport");
	paper_unverified(scene_verdict(l, "plan.gdr-matrix", NULL), "proof.gdr", "");
	paper_unverified(scene_verdict(l, "plan.ecn-host", NULL), "proof.ecn", "");
	paper_unverified(scene_verdict(l, "plan.pod-network", NULL), "proof.pod", "");
	paper_unverified(scene_verdict(l, "plan.qos", NULL), "qos.ets", "with 4 classes");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(every_gate, paper_close),
		cmocka_unit_test_teardown(ways_out, paper_close),
	};

	return cmocka_run_group_tests_name("judge/plan_proposal", tests, NULL, NULL);
}
