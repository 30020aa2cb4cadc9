/* SPDX-License-Identifier: Apache-2.0 */
/* proof.ecn: marks, notifications, and what they do to PFC. */
#include <string.h>

#include "judge/family.h"
#include "matrix/matrix.h"
#include "suites.h"

#define FIRED ", 'rx_priority_3_xoff.nic': 1200"
#define LESS ", 'rx_priority_3_xoff.nic': 20"
#define MARKED ", 'RxECNMrkd': 900"
#define ANSWERED MARKED ", 'cnpSent': 90, 'cnpHandled': 80"
#define MARKING(reverse)                                                                      \
	"{'run': 'marking', 'reverse': " reverse ", 'result': {'messages': 4, 'sent': {'dscp': " \
	"0, 'ecn': 2}, 'arrived': [{'dscp': 0, 'ecn': 2, 'messages': 4}]}}"
#define ECN .kind = "ecn", .senders = 2

/* An out-of-tree irdma, which has DCQCN, in the records and on the nodes. */
static void out_of_tree(struct proofs_test *t)
{
	for (int i = 0; i < 2; i++) {
		scene_set(t->s->snapshots[i], "/os/modules/irdma/in_tree", "false");
	}
}

static void start(struct proofs_test *t, bool in_tree)
{
	if (!in_tree) {
		out_of_tree(t);
		/* those that suites_open() made are of the other driver */
		json_object_clear(t->proofs);
		proofs_add(t, (struct records_form){0});
		t->s->site.qos.dscp.set = false;
		proofs_add(t, (struct records_form){
				      .kind = "marking",
				      .runs = "[" MARKING("false") ", " MARKING("true") "]" });
	}
	suites_add(t, (struct suites_form){ .kind = "baseline", .senders = 2 });
	suites_add(t, (struct suites_form){ .kind = "pfc", .senders = 2, .pause = FIRED });
}

static void ecn(void **state)
{
	static const struct {
		bool in_tree;
		struct suites_form form;
		const char *cause, *text;
		enum verdict_status status;
	} rows[] = {
		{ false, { ECN, .rdma = ANSWERED, .pause = LESS }, NULL,
		  "packets are marked, 90 notifications sent and 80 handled, PFC frames per GB 10.0 "
		  "with ECN and 600.0 without, 5 speeds not worse than before", VERDICT_PASS },
		{ false, { ECN, .rdma = ", 'np_ecn_marked_roce_packets': 9, 'np_cnp_sent': 8, "
					"'rp_cnp_handled': 7", .pause = LESS }, NULL,
		  "8 notifications sent and 7 handled", VERDICT_PASS },
		{ false, { ECN, .rdma = ANSWERED, .pause = ", 'rx_priority_3_xoff.nic': 1400" },
		  "ecn-pauses-more", "700.0 frames per GB, 600.0 without", VERDICT_WARN },
		{ false, { ECN }, NULL,
		  "either no congestion was made (2 senders), or ECN is off on the switch",
		  VERDICT_UNKNOWN },
		{ false, { ECN, .ce_marked = 5 }, NULL,
		  "5 messages of the marking run were marked, and no packet of the load",
		  VERDICT_UNKNOWN },
		{ false, { ECN, .rdma = MARKED, .pause = LESS }, "cnp-not-sent",
		  "the receiver sends no congestion notification", VERDICT_FAIL },
		{ false, { ECN, .rdma = MARKED ", 'cnpSent': 9, 'cnpIgnored': 9", .pause = LESS },
		  "cnp-not-handled", "no sender slows down: gpu-node-01 cnpIgnored +9",
		  VERDICT_FAIL },
		{ true, { ECN, .rdma = MARKED ", 'cnpSent': 9, 'cnpIgnored': 9", .pause = LESS },
		  "ecn-switch-only",
		  "switch-only: packets arrive marked and nobody slows down, because in-tree irdma "
		  "of gpu-node-01 has no DCQCN; gpu-node-01 cnpIgnored +9", VERDICT_WARN },
		/* what is seen outweighs what a table says */
		{ true, { ECN, .rdma = ANSWERED, .pause = LESS }, NULL, "80 handled",
		  VERDICT_PASS },
		{ false, { ECN, .rdma = ANSWERED, .pause = LESS, .gbit = 60 }, "slower-with-ecn",
		  "96.00 Gbit/s in the pfc record and 60.00 Gbit/s in the ecn record",
		  VERDICT_FAIL },
		{ false, { .kind = "ecn", .senders = 3, .rdma = ANSWERED }, NULL,
		  "--senders was 2 in the pfc record and 3 in the ecn record", VERDICT_UNKNOWN },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct proofs_test *t = *state;

		start(t, rows[i].in_tree);
		suites_add(t, rows[i].form);
		const struct verdict *v = proofs_judge(t, "proof.ecn");
		scene_status(v, rows[i].status);
		if (rows[i].cause)
			scene_cause(v, rows[i].cause, rows[i].text);
		else
			scene_summary(v, rows[i].text);
		suites_again(state);
	}
}

static void sent_without(void **state)
{
	struct proofs_test *t = *state;

	start(t, false);
	scene_set(suites_add(t, (struct suites_form){ ECN, .rdma = ANSWERED }), "/parameters/ecn",
		  "false");
	scene_summary(proofs_judge(t, "proof.ecn"), "no switch may mark");
}

/* Where the site has no PFC the baseline is what was before. */
static void without_pfc(void **state)
{
	struct proofs_test *t = *state;

	start(t, false);
	t->s->site.qos.pfc.value = false;
	json_object_del(t->proofs, "pfc");
	suites_add(t, (struct suites_form){ ECN, .rdma = ANSWERED });
	scene_status(proofs_judge(t, "proof.ecn"), VERDICT_PASS);
}

/* A run that the baseline tried, and has no speed of. */
static void earlier_did_not_run(void **state)
{
	struct proofs_test *t = *state;

	start(t, false);
	t->s->site.qos.pfc.value = false;
	json_t *baseline = json_array_get(json_object_get(t->proofs, "baseline"), 0);
	json_append(json_object_get(baseline, "runs"),
		    scene_json("{'run': 'latency', 'operation': 'read', 'error': 'gone'}"));
	json_object_del(t->proofs, "pfc");
	suites_add(t, (struct suites_form){ ECN, .rdma = ANSWERED });
	const struct verdict *v = proofs_judge(t, "proof.ecn");
	scene_status(v, VERDICT_UNKNOWN);
	scene_summary(v, "latency of read by gpu-node-01 did not take place in the baseline record");
}

/* What the families say is what the table of NICs says on paper. */
static void same_as_table(void **state)
{
	_cleanup_matrix_ struct matrix *matrix = NULL;
	json_t *row;
	size_t i, seen = 0;

	(void)state;
	assert_int_equal(matrix_load(&matrix, RAILHEAD_SOURCE "/data", NULL), 0);
	json_array_foreach(matrix_rows(matrix, "nics"), i, row) {
		const struct family *f =
			family_of_rdma_driver(json_get_string(row, "rdma_driver", ""));

		if (!f || strcmp(json_get_string(row, "stack", ""), "inbox") != 0 ||
		    strcmp(json_get_string(row, "family", ""), f->name) != 0)
			continue;
		assert_int_equal(f->no_dcqcn_in_tree,
				 !strcmp(json_get_string(row, "dcqcn", ""), "none"));
		seen++;
	}
	assert_true(seen >= 4);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, suites_open, proofs_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(ecn), TEST(sent_without), TEST(without_pfc),
		TEST(earlier_did_not_run), TEST(same_as_table),
	};

	return cmocka_run_group_tests_name("proof_ecn", tests, NULL, NULL);
}
