/* SPDX-License-Identifier: Apache-2.0 */
/* proof.gdr: what a record of a proof with GPU memory comes to, by each thing that it may tell. */
#include <string.h>

#include "judge/registry.h"
#include "scene.h"

#define PATH "0000:1c:00.0 → ens1f0"

/* This node connected, and has the GPU. */
#define RECORD_OF(is_double, local, peer, log)                                                 \
	"[{'double': " is_double ", 'taken': '2026-01-01T00:00:00Z', 'local': {'node': "          \
	"'gpu-node-01', 'role': 'initiator', 'path': {'link': 'ens1f0'}, 'memory': {'kind': "     \
	"'cuda', 'gpu': {'bdf': '0000:1c:00.0'}}, 'kernel_log': {" log "}}, 'peer': {'node': "   \
	"'aistor-01'}, 'freshness': {'local': {'same': " local "}, 'peer': {'same': " peer "}}, " \
	"'runs': [%s]}]"
#define RUN(kind, operation, reverse, result)                                             \
	"{'run': '" kind "', 'operation': '" operation "', 'reverse': " reverse ", " result "}"
#define RIGHT "'result': {'verified': true}"
#define OF(operation, reverse, result) RUN("integrity", operation, reverse, result)
#define OUT OF("write", "false", RIGHT) ", " OF("read", "true", RIGHT)
#define INTO OF("write", "true", RIGHT) ", " OF("read", "false", RIGHT)
#define NO_FAULT "'iommu_faults': 0"

static const struct verdict *judged_as(struct scene *s, const char *form, const char *runs)
{
	_cleanup_free_ char *list = NULL;
	const char *at = strstr(form, "%s");

	list = xasprintf("%.*s%s%s", (int)(at - form), form, runs, at + 2);
	scene_set(s->snapshots[0], "/proofs/gdr", list);
	return scene_verdict(scene_judge(s, gates_later, n_gates_later), "proof.gdr", PATH);
}

static const struct verdict *judged(struct scene *s, const char *runs)
{
	return judged_as(s, RECORD_OF("false", "true", "true", NO_FAULT), runs);
}

static void good(void **state)
{
	const struct verdict *v = judged(*state, INTO ", " OUT);

	scene_status(v, VERDICT_PASS);
	scene_summary(v, "write and read both ways, all bytes right in GPU memory");
	scene_status(scene_verdict(((struct scene *)*state)->ladder, "proof.gdr",
				   "0000:1d:00.0 → ens1f0"), VERDICT_UNKNOWN);
}

/* Runs beside those that prove: not looked at for a pass. */
static void other_runs(void **state)
{
	static const char more[] =
		", {'run': 'register', 'end': 'initiator', 'result': {'tried': []}}, "
		"{'run': 'perftest', 'operation': 'write', 'error': 'not installed'}";
	_cleanup_free_ char *runs = xasprintf("%s%s", INTO ", " OUT, more);

	scene_status(judged(*state, runs), VERDICT_PASS);
}

#define SPEED(reverse, gbit) \
	RUN("bandwidth", "write", reverse, "'result': {'verified': true, 'gbit_per_s': " gbit "}")

static void low_speed_is_a_note(void **state)
{
	const struct verdict *v;

	v = judged(*state, INTO ", " OUT ", " SPEED("true", "11.5") ", " SPEED("false", "3.5"));
	scene_status(v, VERDICT_PASS);
	scene_summary(v, "11.5 Gb/s into it, 3.5 out of it, which is less than half of the NIC's "
			 "PCIe link");
	v = judged(*state, INTO ", " OUT ", " SPEED("true", "900.5") ", " SPEED("false", "900.5"));
	scene_summary(v, "900.5 out of it");
	assert_null(strstr(v->summary, "half"));
}

static void does_not_count(void **state)
{
	static const struct {
		const char *form, *text;
	} rows[] = {
		{ RECORD_OF("true", "true", "true", NO_FAULT), "test double" },
		{ RECORD_OF("false", "false", "true", NO_FAULT), "gpu-node-01 has changed" },
		{ RECORD_OF("false", "true", "false", NO_FAULT), "aistor-01 has changed" },
		{ RECORD_OF("false", "true", "null", NO_FAULT), "stale" },
		{ RECORD_OF("false", "true", "true", "'why': 'not permitted'"),
		  "the kernel log was not read: not permitted" },
		{ RECORD_OF("false", "true", "true", ""), "the kernel log was not read" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct verdict *v = judged_as(*state, rows[i].form, INTO ", " OUT);

		scene_status(v, VERDICT_UNKNOWN);
		scene_summary(v, rows[i].text);
	}
}

static void one_direction_only(void **state)
{
	scene_status(judged(*state, INTO), VERDICT_UNKNOWN);
	scene_status(judged(*state, OUT), VERDICT_UNKNOWN);
	scene_status(judged(*state, ""), VERDICT_UNKNOWN);
	scene_summary(judged(*state, INTO ", " OF("read", "true", RIGHT)),
		      "no write by the end that connected was verified");
	/* speed alone proves nothing */
	scene_status(judged(*state, SPEED("true", "90.5") ", " SPEED("false", "90.5")),
		     VERDICT_UNKNOWN);
}

#define FAILED(end, status) \
	"'error': 'no', 'completion': {'end': '" end "', 'status': " status ", 'vendor_error': 129}"

static void protection_error(void **state)
{
	static const char runs[] = OF("write", "false", FAILED("initiator", "4"));
	struct scene *s = *state;
	const struct verdict *v = judged(s, runs);

	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "gdr-protection-error", "completion status 4, vendor error 0x81: no");
	scene_candidate(v, "acs-redirect");
	scene_no_cause(v, "acs-redirect");

	scene_set(s->snapshots[0], "/pci/devices/0000:17:01.0/acs/request_redirect", "true");
	v = judged(s, runs);
	scene_cause(v, "acs-redirect", "0000:17:01.0");
	scene_no_cause(v, "gdr-protection-error");
	/* a path without that bridge keeps its candidates */
	v = scene_verdict(s->ladder, "proof.gdr", "0000:1d:00.0 → ens1f0");
	scene_no_cause(v, "acs-redirect");

	/* of the other end's memory: no bridge of this node has to do with it */
	v = judged(s, OF("write", "true", FAILED("listener", "4")));
	scene_cause(v, "gdr-run-failed", "status 4");
	scene_no_cause(v, "acs-redirect");
}

static void other_failures(void **state)
{
	struct scene *s = *state;
	const struct verdict *v;

	v = judged(s, INTO ", " OF("read", "true", FAILED("listener", "10")));
	scene_cause(v, "gdr-read-fails", "read out of GPU memory by aistor-01 failed with "
					 "completion status 10");
	v = judged(s, OF("write", "true", FAILED("listener", "12")));
	scene_cause(v, "gdr-run-failed", "write into GPU memory by aistor-01 failed");
	/* no completion tells of the path: the other end may have gone */
	v = judged(s, OF("write", "true", "'error': 'the other end is gone'"));
	scene_status(v, VERDICT_UNKNOWN);
	scene_summary(v, "did not take place: the other end is gone");
	v = judged(s, OF("write", "true", "'result': {'verified': false, 'fault': {'kind': "
					  "'canary'}}"));
	scene_cause(v, "canary-overwritten", "write into GPU memory");
	v = judged_as(s, RECORD_OF("false", "true", "true", "'iommu_faults': 3"), INTO ", " OUT);
	scene_cause(v, "iommu-fault", "3 IOMMU faults");
}

/* They need not say anything, but nothing else either. */
static void counters(void **state)
{
	static const char form[] = RECORD_OF("false", "true", "true", NO_FAULT);
	struct scene *s = *state;
	const struct {
		const char *pointer, *value, *cause, *text;
	} rows[] = {
		{ "/peer/counters", "{'rdma_moved': null, 'tcp_moved': null}", NULL, NULL },
		{ "/peer/counters", "{'rdma_moved': true, 'tcp_moved': false}", NULL, NULL },
		{ "/local/counters", "{'rdma_moved': false}", "rdma-idle",
		  "the RDMA counters of gpu-node-01 did not move" },
		{ "/peer/counters", "{'tcp_moved': true}", "tcp-carried",
		  "TCP of aistor-01 moved" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		judged_as(s, form, INTO ", " OUT);
		scene_set(json_at(s->snapshots[0], "/proofs/gdr/0"), rows[i].pointer,
			  rows[i].value);
		const struct verdict *v = scene_verdict(scene_judge(s, gates_later, n_gates_later),
							"proof.gdr", PATH);

		if (rows[i].cause)
			scene_cause(v, rows[i].cause, rows[i].text);
		else
			scene_status(v, VERDICT_PASS);
	}
}

static void wrong_bytes(void **state)
{
	static const char runs[] = OF("write", "true", "'result': {'verified': false, 'fault': "
						       "{'kind': 'missing'}}");
	struct scene *s = *state;
	const struct verdict *v = judged(s, runs);

	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "bytes-wrong", "write into GPU memory by aistor-01: the completion is good "
				      "and the bytes are wrong: missing");
	scene_set(s->snapshots[0], "/pci/devices/0000:1b:00.0/iommu_type", "'DMA'");
	v = judged(s, runs);
	scene_cause(v, "iommu-translating", "bytes are wrong");
	scene_no_cause(v, "bytes-wrong");
}

/* The link of the record is the bond, of which the judged NIC is a part. */
static void through_a_bond(void **state)
{
	struct scene *s = *state;

	judged(s, INTO ", " OUT);
	json_t *record = json_at(s->snapshots[0], "/proofs/gdr/0");

	scene_set(record, "/local/path/link", "'bond7'");
	scene_status(scene_verdict(scene_judge(s, gates_later, n_gates_later), "proof.gdr", PATH),
		     VERDICT_UNKNOWN);
	scene_set(s->snapshots[0], "/links/bond7", "{'kind': 'bond'}");
	scene_set(s->snapshots[0], "/links/ens1f0/master", "'bond7'");
	scene_status(scene_verdict(scene_judge(s, gates_later, n_gates_later), "proof.gdr", PATH),
		     VERDICT_PASS);
}

static void hostile(void **state)
{
	static const char *const runs[] = {
		"7", "{}, 'x'", "{'run': 5, 'result': 7, 'completion': 3, 'error': 8}",
		"{'run': 'integrity', 'operation': {}, 'reverse': 7, 'result': {'verified': 'yes'}}",
	};

	for (size_t i = 0; i < ARRAY_SIZE(runs); i++)
		scene_status(judged(*state, runs[i]), VERDICT_UNKNOWN);
}

#define SCENE(f) cmocka_unit_test_setup_teardown(f, scene_open, scene_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(good), SCENE(other_runs), SCENE(low_speed_is_a_note), SCENE(does_not_count),
		SCENE(one_direction_only), SCENE(protection_error), SCENE(other_failures),
		SCENE(counters), SCENE(wrong_bytes), SCENE(through_a_bond), SCENE(hostile),
	};

	return cmocka_run_group_tests_name("proof_gdr", tests, NULL, NULL);
}
