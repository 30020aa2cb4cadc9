/* SPDX-License-Identifier: Apache-2.0 */
/* proof.baseline and proof.pfc: a before, and an after that is no worse. */
#include <string.h>

#include "suites.h"

#define BASELINE { .kind = "baseline", .senders = 2 }
/* Places of runs in what suites_add() makes. */
#define BANDWIDTH 4
#define BANDWIDTH_BACK 5
#define LATENCY 9
#define FIRED ", 'rx_priority_3_xoff.nic': 1200"
#define PFC { .kind = "pfc", .senders = 2, .pause = FIRED }

struct row {
	struct suites_form form;
	const char *cause, *text;
	enum verdict_status status;
};

static void expect(const struct verdict *v, const struct row *row)
{
	scene_status(v, row->status);
	if (row->cause)
		scene_cause(v, row->cause, row->text);
	else
		scene_summary(v, row->text);
}

/* --- proof.baseline --------------------------------------------------------------------------- */

static void baseline(void **state)
{
	static const struct row rows[] = {
		{ { .kind = "baseline" }, NULL,
		  "write 96.00 Gbit/s (1 MiB), read 96.00 Gbit/s (1 MiB), latency 2.00 µs, CPU 12.2 "
		  "and 3.5 ms per GB, 1 sender, PFC and ECN off", VERDICT_PASS },
		{ BASELINE, NULL, "2 senders", VERDICT_PASS },
		{ { .kind = "baseline", .turned = true }, NULL, "write 96.00", VERDICT_PASS },
		{ { .kind = "baseline", .no_cpu = true }, NULL, "CPU time of both ends",
		  VERDICT_UNKNOWN },
		{ { .kind = "baseline", .no_latency = true }, NULL, "has no latency",
		  VERDICT_UNKNOWN },
		{ { .kind = "baseline", .pause = FIRED }, NULL,
		  "PFC frames of priority 3 went while it was taken (gpu-node-01 ens1f0 "
		  "rx_priority_3_xoff.nic +1200)", VERDICT_UNKNOWN },
		{ { .kind = "baseline", .rdma = ", 'RxECNMrkd': 4" }, NULL,
		  "a switch marked packets", VERDICT_UNKNOWN },
		{ { .kind = "baseline", .pause = ", 'link_xoff_rx.nic': 3" },
		  "link-pause-in-baseline", "takes line rate without any drop", VERDICT_FAIL },
		{ { .kind = "baseline", .pause = ", 'rx_dropped.nic': 3" }, "loss-in-baseline",
		  "packets were dropped without flow control: gpu-node-01 ens1f0 rx_dropped.nic +3",
		  VERDICT_WARN },
		{ { .kind = "baseline", .rdma = ", 'tcpRetransSegs': '18446744073709551615'" },
		  "loss-in-baseline", "sent again", VERDICT_WARN },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct proofs_test *t = *state;

		suites_add(t, rows[i].form);
		expect(proofs_judge(t, "proof.baseline"), &rows[i]);
		suites_again(state);
	}
}

/* What the site and the record say of how it was taken. */
static void baseline_taken(void **state)
{
	static const struct {
		const char *pointer, *value, *text;
		enum verdict_status status;
	} rows[] = {
		{ "/peer/fingerprint/nics/ens1f0/dcb/pfc", "[3]",
		  "PFC was on at ens1f0 of aistor-01 when it was taken", VERDICT_UNKNOWN },
		{ "/local/fingerprint/nics/ens1f0/dcb", NULL,
		  "does not tell whether PFC was on at ens1f0 of gpu-node-01", VERDICT_UNKNOWN },
		{ "/parameters/ecn", "true", "packets that a switch may mark", VERDICT_UNKNOWN },
		{ "/local/fingerprint/kernel", "'6.13'", "is stale, because gpu-node-01 has changed",
		  VERDICT_UNKNOWN },
		{ "/local/fingerprint/nics/ens1f0/firmware", "'1'", "is stale", VERDICT_UNKNOWN },
		/* what QoS changes by design */
		{ "/local/fingerprint/nics/ens1f0/dcb/prio_tc", "[0]", "write 96.00", VERDICT_PASS },
		{ "/peer/fingerprint/roce_tos", NULL, "write 96.00", VERDICT_PASS },
		{ "/peer/counters/difference", "{}",
		  "no counter of aistor-01 tells pause frames and drops", VERDICT_UNKNOWN },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct proofs_test *t = *state;

		scene_set(suites_add(t, (struct suites_form)BASELINE), rows[i].pointer,
			  rows[i].value);
		expect(proofs_judge(t, "proof.baseline"),
		       &(struct row){ .text = rows[i].text, .status = rows[i].status });
		suites_again(state);
	}
}

/* A speed of one direction tells nothing of the other. */
static void baseline_one_way(void **state)
{
	struct proofs_test *t = *state;
	json_t *runs = json_object_get(suites_add(t, (struct suites_form)BASELINE), "runs");

	assert_int_equal(json_array_remove(runs, BANDWIDTH_BACK), 0);
	const struct verdict *v = proofs_judge(t, "proof.baseline");
	scene_status(v, VERDICT_UNKNOWN);
	scene_summary(v, "no verified bandwidth of write both ways");
}

/* --- proof.pfc -------------------------------------------------------------------------------- */

static void pfc(void **state)
{
	static const struct row rows[] = {
		{ PFC, NULL, "1200 PFC frames on priority 3 alone, no drops, 5 speeds not worse than "
			     "the baseline", VERDICT_PASS },
		{ { .kind = "pfc", .senders = 2, .pause = FIRED, .turned = true }, NULL,
		  "5 speeds not worse", VERDICT_PASS },
		{ { .kind = "pfc", .senders = 2 }, NULL,
		  "no PFC frame of priority 3 was counted at either end", VERDICT_UNKNOWN },
		{ { .kind = "pfc", .pause = FIRED }, NULL, "no incast was made: 1 sender",
		  VERDICT_UNKNOWN },
		{ { .kind = "pfc", .senders = 3, .pause = FIRED }, NULL,
		  "--senders was 2 in the baseline record and 3 in the pfc record",
		  VERDICT_UNKNOWN },
		{ { .kind = "pfc", .senders = 2, .pause = FIRED ", 'tx_priority_0_xoff.nic': 7" },
		  "pfc-other-priority",
		  "PFC frames of priority 0: gpu-node-01 ens1f0 tx_priority_0_xoff.nic +7",
		  VERDICT_FAIL },
		{ { .kind = "pfc", .senders = 2, .pause = FIRED ", 'rx_dropped.nic': 1" },
		  "pfc-drops", "rx_dropped.nic +1", VERDICT_FAIL },
		{ { .kind = "pfc", .senders = 2, .pause = FIRED, .rdma = ", 'RetransSegs': 1" },
		  "pfc-loss", "RetransSegs +1", VERDICT_FAIL },
		{ { .kind = "pfc", .senders = 2, .pause = FIRED ", 'link_xoff_rx.nic': 1" },
		  "link-pause", "stops all priorities", VERDICT_FAIL },
		/* noise: 5 % at least, and what the runs themselves show */
		{ { .kind = "pfc", .senders = 2, .pause = FIRED, .gbit = 91.3 }, NULL, "not worse",
		  VERDICT_PASS },
		{ { .kind = "pfc", .senders = 2, .pause = FIRED, .gbit = 91.1 }, "slower-with-pfc",
		  "96.00 Gbit/s in the baseline record and 91.10 Gbit/s in the pfc record, 5 % less; "
		  "the noise of both is 5 %", VERDICT_FAIL },
		{ { .kind = "pfc", .senders = 2, .pause = FIRED, .gbit = 88, .variation = 0.09 },
		  NULL, "not worse", VERDICT_PASS },
		{ { .kind = "pfc", .senders = 2, .pause = FIRED, .gbit = 200 }, NULL, "not worse",
		  VERDICT_PASS },
		{ { .kind = "pfc", .senders = 2, .pause = FIRED, .median_ns = 2190 }, NULL,
		  "not worse", VERDICT_PASS },
		{ { .kind = "pfc", .senders = 2, .pause = FIRED, .median_ns = 2300 },
		  "slower-with-pfc",
		  "latency of write by gpu-node-01, 8 B: 2.00 µs in the baseline record and 2.30 µs "
		  "in the pfc record, 15 % more", VERDICT_FAIL },
		{ { .kind = "pfc", .senders = 2, .pause = FIRED, .unsteady = true }, NULL,
		  "was not steady in the pfc record, so nothing can be compared",
		  VERDICT_UNKNOWN },
		{ { .kind = "pfc", .senders = 2, .pause = FIRED, .no_latency = true }, NULL,
		  "the baseline record has latency of write by gpu-node-01, 8 B, and that of kind "
		  "pfc has it not", VERDICT_UNKNOWN },
		/* other drivers' names of the same */
		{ { .kind = "pfc", .senders = 2, .pause = ", 'rx_prio3_pause': 9" }, NULL,
		  "9 PFC frames on priority 3", VERDICT_PASS },
		{ { .kind = "pfc", .senders = 2,
		    .pause = ", 'rx_prio3_pause': 9, 'tx_prio5_pause': 2, 'rx_prio4_packets': 8, "
			     "'rx_prio4_pause_duration': 8, 'rx_prio9_pause': 8" },
		  "pfc-other-priority", "priority 5: gpu-node-01 ens1f0 tx_prio5_pause +2",
		  VERDICT_FAIL },
		{ { .kind = "pfc", .senders = 2, .pause = ", 'rx_pfc_ena_frames_pri3': 9" }, NULL,
		  "9 PFC frames", VERDICT_PASS },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct proofs_test *t = *state;

		suites_add(t, (struct suites_form)BASELINE);
		suites_add(t, rows[i].form);
		const struct verdict *v = proofs_judge(t, "proof.pfc");
		expect(v, &rows[i]);
		if (rows[i].status == VERDICT_FAIL && strstr(rows[i].cause, "other"))
			assert_int_equal(v->n_causes, 1);
		suites_again(state);
	}
}

/* The site, or the step before, decide whether there is anything to judge. */
static void pfc_without(void **state)
{
	struct proofs_test *t = *state;

	suites_add(t, (struct suites_form)PFC);
	scene_status(proofs_judge(t, "proof.pfc"), VERDICT_BLOCKED);	/* no baseline */

	suites_again(state);
	t = *state;
	suites_add(t, (struct suites_form)BASELINE);
	scene_set(suites_add(t, (struct suites_form)PFC), "/local/memory/kind", "'cuda'");
	scene_summary(proofs_judge(t, "proof.pfc"), "they cannot be compared");

	suites_again(state);
	t = *state;
	t->s->site.qos.pfc.value = false;
	scene_status(proofs_judge(t, "proof.pfc"), VERDICT_NA);
	t->s->site.qos.pfc.value = true;
	t->s->site.qos.dcb = (struct site_bool){ true, false };
	scene_status(proofs_judge(t, "proof.pfc"), VERDICT_NA);

	suites_again(state);
	t = *state;
	suites_add(t, (struct suites_form)BASELINE);
	suites_add(t, (struct suites_form)PFC);
	t->s->site.qos.priority.set = false;
	scene_summary(proofs_judge(t, "proof.pfc"), "declares no RoCE priority");
}

/* A run is compared with that of the node that moved, whichever end began. */
static void pfc_directions(void **state)
{
	static const struct {
		bool begun_by_peer, turned, slower;
	} rows[] = {
		{ false, false, false }, { true, false, true }, { false, true, false },
		{ true, true, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct proofs_test *t = *state;

		suites_add(t, (struct suites_form){ .kind = "baseline", .senders = 2, .gbit = 90,
						    .back_gbit = 50 });
		suites_add(t, (struct suites_form){ .kind = "pfc", .senders = 2, .gbit = 90,
						    .back_gbit = 50, .pause = FIRED,
						    .begun_by_peer = rows[i].begun_by_peer,
						    .turned = rows[i].turned });
		const struct verdict *v = proofs_judge(t, "proof.pfc");
		scene_status(v, rows[i].slower ? VERDICT_FAIL : VERDICT_PASS);
		if (rows[i].slower)
			scene_cause(v, "slower-with-pfc",
				    "by gpu-node-01, 1 MiB: 90.00 Gbit/s in the baseline record and "
				    "50.00 Gbit/s");
		suites_again(state);
	}
}

/* Members of other types than the schema says: never a pass, and nothing crashes. */
static void hostile(void **state)
{
	static const struct {
		const char *pointer, *value;
	} rows[] = {
		{ "/runs", "7" },
		{ "/runs", "[7, {'run': 'bandwidth', 'result': 5}, {'run': 'latency', 'result': "
			   "{'median_ns': 'x'}}]" },
		{ "/runs", "[{'run': 'bandwidth', 'operation': 7, 'result': {'gbit_per_s': -1e300, "
			   "'verified': true, 'size_bytes': -9223372036854775808, 'steady': true, "
			   "'variation': 1e308}}]" },
		{ "/local/counters", "[]" },
		{ "/local/counters/difference", "{'rdma': 7, 'pause': {'ens1f0': [], 'x': 'y'}}" },
		{ "/local/counters/difference", "7" },
		{ "/local/fingerprint", "7" },
		{ "/local/fingerprint/nics", "[]" },
		{ "/parameters/senders", "'2'" },
	};
	static const char *const kinds[] = { "baseline", "pfc" };

	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
		for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
			struct proofs_test *t = *state;
			_cleanup_free_ char *gate = xasprintf("proof.%s", kinds[k]);
			json_t *of[2] = { suites_add(t, (struct suites_form)BASELINE),
					  suites_add(t, (struct suites_form)PFC) };

			scene_set(of[k], rows[i].pointer, rows[i].value);
			const struct verdict *v = proofs_judge(t, gate);
			if (v->status == VERDICT_PASS && (k || i + 1 < ARRAY_SIZE(rows)))
				fail_msg("%s %s: pass: %s", gate, rows[i].pointer, v->summary);
			suites_again(state);
		}
	}
}

/* What no counter of an end tells was not seen; what scatters cannot be compared. */
static void pfc_not_seen(void **state)
{
	static const struct {
		int run;	/* 0: of the record */
		const char *pointer, *value, *text;
	} rows[] = {
		{ 0, "/peer/counters/difference", "{}",
		  "no counter of aistor-01 tells PFC frames and drops or retransmissions" },
		{ 0, "/peer/counters/difference/pause", "{}",
		  "no counter of aistor-01 tells PFC frames" },
		{ LATENCY, "/result/min_ns", "500", "it scatters by 75 %" },
		{ LATENCY, "/result/min_ns", NULL, "it scatters by 100 %" },
		{ BANDWIDTH, "/result/variation", "0.9", "it scatters by 90 %" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct proofs_test *t = *state;

		suites_add(t, (struct suites_form)BASELINE);
		json_t *pfc = suites_add(t, (struct suites_form)PFC);
		json_t *run = json_array_get(json_object_get(pfc, "runs"), (size_t)rows[i].run);

		scene_set(rows[i].run ? run : pfc, rows[i].pointer, rows[i].value);
		const struct verdict *v = proofs_judge(t, "proof.pfc");
		scene_status(v, VERDICT_UNKNOWN);
		scene_summary(v, rows[i].text);
		suites_again(state);
	}
}

/* QoS that was changed since: only the baseline is of another one by design. */
static void pfc_stale(void **state)
{
	struct proofs_test *t = *state;

	suites_add(t, (struct suites_form)BASELINE);
	scene_set(suites_add(t, (struct suites_form)PFC),
		  "/local/fingerprint/nics/ens1f0/dcb/prio_tc", "[0]");
	const struct verdict *v = proofs_judge(t, "proof.pfc");
	scene_status(v, VERDICT_UNKNOWN);
	scene_summary(v, "nics ens1f0 dcb prio_tc was [0]");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, suites_open, proofs_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(baseline), TEST(baseline_taken), TEST(baseline_one_way), TEST(pfc), TEST(pfc_without), TEST(pfc_stale),
		TEST(pfc_directions), TEST(pfc_not_seen), TEST(hostile),
	};

	return cmocka_run_group_tests_name("proof_suites", tests, NULL, NULL);
}
