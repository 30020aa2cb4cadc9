/* SPDX-License-Identifier: Apache-2.0 */
/* proof.host and proof.marking: from stored records of both ends to the verdict. */
#include <string.h>

#include "proofs.h"

static const struct verdict *judged(struct proofs_test *t)
{
	return proofs_judge(t, "proof.host");
}

#define COUNTERS(rdma, tcp)                                                                      \
	"{'difference': {}, 'payload_bytes': 1, 'rdma_moved': " rdma ", 'tcp_moved': " tcp ", " \
	"'why': []}"
#define RUN(operation, reverse, result)                                               \
	"{'run': 'integrity', 'operation': '" operation "', 'reverse': " reverse ", " result "}"
#define RIGHT "'result': {'verified': true, 'bytes': 64}"
#define THREE                                                                \
	RUN("write", "false", RIGHT) "," RUN("write", "true", RIGHT) "," RUN( \
		"read", "false", RIGHT)

static void good(void **state)
{
	struct proofs_test *t = *state;

	proofs_add(t, (struct records_form){ .realtime_s = 60 });
	const struct verdict *v = judged(t);

	scene_status(v, VERDICT_PASS);
	scene_summary(v, "gpu-1/ens1f0 ↔ gpu-2/ens1f0: write and read both ways, all bytes right");
	scene_summary(v, "1970-01-01T00:01:00Z");
}

static void good_by_the_peer(void **state)
{
	struct proofs_test *t = *state;

	proofs_turn(proofs_add(t, (struct records_form){0}));
	scene_status(judged(t), VERDICT_PASS);
}

static void none(void **state)
{
	const struct verdict *v = judged(*state);

	scene_status(v, VERDICT_UNKNOWN);
	scene_summary(v, "no run of this kind is recorded for gpu-1/ens1f0 ↔ gpu-2/ens1f0");
	assert_non_null(strstr(v->obtain, "railhead prove --listen"));
}

/* A file that could not be read may have been it. */
static void damaged(void **state)
{
	struct proofs_test *t = *state;

	scene_set(t->s->snapshots[0], "/gaps",
		  "[{'pointer': '/proofs', 'reason': 'host-x.json: no time', 'errno': 22}]");
	const struct verdict *v = judged(t);
	scene_status(v, VERDICT_UNKNOWN);
	scene_summary(v, "gpu-2/ens1f0; host-x.json: no time");
}

static void of_another_pair(void **state)
{
	struct proofs_test *t = *state;

	scene_set(proofs_add(t, (struct records_form){0}), "/peer/node", "'aistor-02'");
	scene_set(proofs_add(t, (struct records_form){0}), "/peer/path/link", "'ens1f1'");
	scene_status(judged(t), VERDICT_UNKNOWN);
}

/* Each declared port needs its own. */
static void one_rail_of_two(void **state)
{
	struct proofs_test *t = *state;

	t->s->nodes[0].n_rdma = t->s->nodes[1].n_rdma = 2;
	proofs_add(t, (struct records_form){0});
	const struct verdict *v = judged(t);
	scene_status(v, VERDICT_UNKNOWN);
	scene_summary(v, "recorded for gpu-1/ens1f1 ↔ gpu-2/ens1f1");
}

static void doubles(void **state)
{
	struct proofs_test *t = *state;

	proofs_add(t, (struct records_form){ .double_used = true });
	const struct verdict *v = judged(t);
	scene_status(v, VERDICT_UNKNOWN);
	scene_summary(v, "test double, which proves nothing");
}

static void stale(void **state)
{
	for (int end = 0; end < 2; end++) {
		struct proofs_test *t = *state;

		proofs_add(t, (struct records_form){0});
		scene_set(t->s->snapshots[end], "/os/kernel/release", "'6.13'");
		const struct verdict *v = judged(t);
		scene_status(v, VERDICT_UNKNOWN);
		scene_summary(v, end ? "because aistor-01 has changed: kernel was" :
				       "because gpu-node-01 has changed: kernel was");
		proofs_again(state);
	}
}

/* Yesterday's fault is no finding of today's machine. */
static void stale_and_wrong(void **state)
{
	struct proofs_test *t = *state;

	proofs_add(t, (struct records_form){
		       .runs = "[" RUN("write", "false", "'result': {'verified': false}") "]" });
	scene_set(t->s->snapshots[1], "/links/ens1f0/mtu", "1500");
	scene_status(judged(t), VERDICT_UNKNOWN);
}

static void not_compared(void **state)
{
	struct proofs_test *t = *state;

	proofs_add(t, (struct records_form){0});
	proof_attach(t->s->snapshots, 1, t->proofs);
	const struct verdict *v = scene_verdict(scene_judge(t->s, gates_later, n_gates_later),
						"proof.host", NULL);
	scene_status(v, VERDICT_UNKNOWN);
	scene_summary(v, "the fingerprint of aistor-01 was not compared");
}

static void newest_counts(void **state)
{
	struct proofs_test *t = *state;

	proofs_add(t, (struct records_form){ .realtime_s = 1 });
	proofs_turn(proofs_add(t, (struct records_form){ .realtime_s = 2, .runs = "[]" }));
	scene_status(judged(t), VERDICT_UNKNOWN);
}

static void wrong_bytes(void **state)
{
	struct proofs_test *t = *state;

	proofs_add(t, (struct records_form){
		       .runs = "[" THREE "," RUN("read", "true",
						 "'result': {'verified': false, 'fault': {'kind': "
						 "'stale', 'offset': 4096}}") "]" });
	const struct verdict *v = judged(t);
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "bytes-wrong", "integrity of read by aistor-01: what arrived is not what was "
				      "sent: stale from offset 4096 on");
}

static void one_way_only(void **state)
{
	struct proofs_test *t = *state;

	proofs_add(t, (struct records_form){ .runs = "[" THREE "]" });
	const struct verdict *v = judged(t);
	scene_status(v, VERDICT_UNKNOWN);
	scene_summary(v, "no read by the end that listened was verified");
}

static void speed_is_no_proof(void **state)
{
	struct proofs_test *t = *state;

	proofs_add(t, (struct records_form){
		       .runs = "[" THREE ", {'run': 'bandwidth', 'operation': 'read', 'reverse': "
			       "true, 'result': {'verified': true}}]" });
	scene_status(judged(t), VERDICT_UNKNOWN);
}

static void did_not_run(void **state)
{
	struct proofs_test *t = *state;

	proofs_add(t, (struct records_form){
		       .runs = "[" THREE "," RUN("read", "true", "'error': 'retry exceeded'") "]" });
	const struct verdict *v = judged(t);
	scene_status(v, VERDICT_UNKNOWN);
	scene_summary(v, "integrity of read by aistor-01 did not take place: retry exceeded");
}

/* What was not looked at is no proof, and neither is what has no bytes. */
static void nothing_was_looked_at(void **state)
{
	static const struct {
		const char *runs, *text;
	} rows[] = {
		{ "[" THREE "," RUN("read", "true", RIGHT) "," RUN("write", "false",
			"'result': {'verified': null, 'bytes': 64}") "]",
		  "integrity of write by gpu-node-01: no byte was looked at" },
		{ "[" THREE "," RUN("read", "true", RIGHT) ", {'run': 'bandwidth', 'operation': "
		  "'read', 'reverse': true}]", "bandwidth of read by aistor-01: no byte was looked at" },
		{ "[" THREE "," RUN("read", "true", "'result': {'verified': true, 'bytes': 0}") "]",
		  "no read by the end that listened was verified" },
		{ "[" THREE "," RUN("read", "true", "'result': {'verified': true}") "]",
		  "no read by the end that listened was verified" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct proofs_test *t = *state;

		proofs_add(t, (struct records_form){ .runs = rows[i].runs });
		const struct verdict *v = judged(t);
		scene_status(v, VERDICT_UNKNOWN);
		scene_summary(v, rows[i].text);
		proofs_again(state);
	}
}

/* Of two in one list the order of the folder counts, not the clock. */
static void highest_serial_counts(void **state)
{
	for (int turn = 0; turn < 2; turn++) {
		struct proofs_test *t = *state;

		json_put_int(proofs_add(t, (struct records_form){ .realtime_s = 9 }), "serial",
			     1 + turn);
		json_put_int(proofs_add(t, (struct records_form){ .realtime_s = 5, .runs = "[]" }),
			     "serial", 2 - turn);
		scene_status(judged(t), turn ? VERDICT_PASS : VERDICT_UNKNOWN);
		proofs_again(state);
	}
}

static void perftest_has_no_say(void **state)
{
	struct proofs_test *t = *state;

	proofs_add(t, (struct records_form){
			      .runs = "[" THREE "," RUN("read", "true", RIGHT) ", {'run': 'perftest', "
				      "'operation': 'write', 'error': 'not installed'}]" });
	scene_status(judged(t), VERDICT_PASS);
}

static void counters(void **state)
{
	static const struct {
		const char *local, *peer, *cause, *text;
		enum verdict_status status;
	} rows[] = {
		{ COUNTERS("false", "false"), NULL, "rdma-idle", "gpu-node-01 did not move",
		  VERDICT_FAIL },
		{ NULL, COUNTERS("false", "true"), "rdma-idle", "aistor-01", VERDICT_FAIL },
		{ NULL, COUNTERS("true", "true"), "tcp-carried", "TCP of aistor-01",
		  VERDICT_FAIL },
		{ COUNTERS("null", "false"), NULL, NULL, "no counter of gpu-node-01",
		  VERDICT_UNKNOWN },
		{ NULL, COUNTERS("true", "null"), NULL, "do not tell whether TCP",
		  VERDICT_UNKNOWN },
		{ "{}", NULL, NULL, "no counter of gpu-node-01", VERDICT_UNKNOWN },
		{ "7", NULL, NULL, "no counter of gpu-node-01", VERDICT_UNKNOWN },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct proofs_test *t = *state;

		proofs_add(t, (struct records_form){ .local_counters = rows[i].local,
					      .peer_counters = rows[i].peer });
		const struct verdict *v = judged(t);
		scene_status(v, rows[i].status);
		if (rows[i].cause)
			scene_cause(v, rows[i].cause, rows[i].text);
		else
			scene_summary(v, rows[i].text);
		proofs_again(state);
	}
}

/* --- proof.marking ---------------------------------------------------------------------------- */

#define MARKS(reverse, sent, arrived)                                                              \
	"{'run': 'marking', 'operation': 'send', 'reverse': " reverse ", 'result': {'verified': " \
	"true, 'messages': 8, 'sent': " sent ", 'arrived': [" arrived "]}}"
#define MARK(dscp, ecn) "{'dscp': " dscp ", 'ecn': " ecn ", 'messages': 8}"
#define HALF(dscp, ecn) "{'dscp': " dscp ", 'ecn': " ecn ", 'messages': 4}"
#define BACK MARKS("true", MARK("24", "2"), MARK("24", "2"))

static void marking(void **state)
{
	static const struct {
		const char *runs, *cause, *text;
		enum verdict_status status;
	} rows[] = {
		{ "[" MARKS("false", MARK("24", "2"), MARK("24", "2")) "," BACK "]", NULL,
		  "DSCP and ECN arrived as sent, both ways", VERDICT_PASS },
		{ "[" MARKS("false", MARK("24", "2"), HALF("24", "2") "," HALF("24", "3")) "," BACK
		  "]", NULL, "arrived as sent", VERDICT_PASS },
		{ "[" MARKS("false", MARK("24", "2"), HALF("24", "2") "," HALF("0", "2")) "," BACK
		  "]", "dscp-remarked", "marking of send by gpu-node-01: DSCP 24 was sent, 0 "
					"arrived", VERDICT_FAIL },
		{ "[" BACK "," MARKS("false", MARK("24", "2"), MARK("24", "0")) "]", "ecn-remarked",
		  "ECN 2 was sent, 0 arrived", VERDICT_FAIL },
		{ "[" MARKS("false", MARK("26", "2"), MARK("26", "2")) "," BACK "]", NULL,
		  "DSCP 26 was sent, and the site declares 24", VERDICT_UNKNOWN },
		{ "[" MARKS("false", MARK("24", "0"), MARK("24", "0")) "," BACK "]", NULL,
		  "sent without ECN, which the site declares", VERDICT_UNKNOWN },
		/* what was lost, or not read, may have been remarked */
		{ "[" MARKS("false", MARK("24", "2"), HALF("24", "2")) "," BACK "]", NULL,
		  "marking of send by gpu-node-01: the marks of 4 of 8 messages are known",
		  VERDICT_UNKNOWN },
		{ "[" MARKS("false", MARK("24", "2"), "{'messages': 8}") "," BACK "]", NULL,
		  "does not tell how packets arrived", VERDICT_UNKNOWN },
		{ "[" MARKS("false", MARK("24", "2"), "{'dscp': 24, 'ecn': 2}") "," BACK "]", NULL,
		  "the marks of 0 of 8 messages are known", VERDICT_UNKNOWN },
		{ "[" BACK "]", NULL, "marks were not sent both ways", VERDICT_UNKNOWN },
		{ "[" MARKS("false", MARK("24", "2"), "") "," BACK "]", NULL,
		  "the marks of no packet could be read", VERDICT_UNKNOWN },
		{ "[{'run': 'marking', 'operation': 'send', 'error': 'no UD'}," BACK "]", NULL,
		  "did not take place: no UD", VERDICT_UNKNOWN },
		{ "[{'run': 'marking', 'result': 7}," BACK "]", NULL, "does not tell what was sent",
		  VERDICT_UNKNOWN },
		{ "[]", NULL, "not sent both ways", VERDICT_UNKNOWN },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct proofs_test *t = *state;

		t->s->site.qos.declared = true;
		t->s->site.qos.dscp = (struct site_number){ true, 24 };
		t->s->site.qos.ecn = (struct site_bool){ true, true };
		proofs_add(t, (struct records_form){0});
		proofs_add(t, (struct records_form){ .kind = "marking", .runs = rows[i].runs });
		judged(t);
		const struct verdict *v = scene_verdict(t->s->ladder, "proof.marking", NULL);
		scene_status(v, rows[i].status);
		if (rows[i].cause)
			scene_cause(v, rows[i].cause, rows[i].text);
		else
			scene_summary(v, rows[i].text);
		proofs_again(state);
	}
}

/* Nothing that a snapshot from outside may hold there is a pass, or crashes. */
static void hostile(void **state)
{
	static const char *const lists[] = {
		"7", "[7]", "{}", "[{}]", "[{'local': 7, 'peer': []}]",
		"[{'taken': 5, 'local': {'node': 'gpu-node-01', 'path': {'link': 'ens1f0'}}, "
		"'peer': {'node': 'aistor-01', 'path': {'link': 'ens1f0'}}, 'double': false, "
		"'freshness': {'local': {'same': true}, 'peer': {'same': true}}, 'runs': [7, "
		"{'run': 5, 'result': 'x'}]}]",
	};

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		struct proofs_test *t = *state;

		scene_set(t->s->snapshots[0], "/proofs/host", lists[i]);
		scene_set(t->s->snapshots[1], "/proofs/host", lists[i]);
		const struct verdict *v = scene_verdict(
			scene_judge(t->s, gates_later, n_gates_later), "proof.host", NULL);
		scene_status(v, VERDICT_UNKNOWN);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, proofs_open, proofs_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(good),	      TEST(good_by_the_peer), TEST(none),
		TEST(of_another_pair), TEST(one_rail_of_two), TEST(doubles),
		TEST(stale),	      TEST(stale_and_wrong),  TEST(not_compared),
		TEST(newest_counts),  TEST(wrong_bytes),      TEST(one_way_only),
		TEST(speed_is_no_proof), TEST(did_not_run),   TEST(counters),
		TEST(hostile),	      TEST(damaged),	      TEST(marking),
		TEST(perftest_has_no_say), TEST(nothing_was_looked_at), TEST(highest_serial_counts),
	};

	return cmocka_run_group_tests_name("proof", tests, NULL, NULL);
}
