/* SPDX-License-Identifier: Apache-2.0 */
/* Gates of later work: n/a, unknown, and the records that are judged already. */
#include <string.h>

#include "judge/registry.h"
#include "scene.h"

#define JUDGE(s) scene_judge(s, gates_later, n_gates_later)
#define PATH "0000:1c:00.0 → ens1f0"

static const struct verdict *judged(struct scene *s, const char *gate, const char *subject)
{
	return scene_verdict(JUDGE(s), gate, subject);
}

/* --- what nobody has seen --------------------------------------------------------------------- */

static void nothing_declared(void **state)
{
	static const char *const na[] = { "k8s.node", "k8s.cni", "gpu.operator", "gpu.allocatable",
					  "k8s.rdma-resource", "proof.pod", "storage.client",
					  "storage.path", "vllm.ready", "vllm.paths" };
	const struct ladder *l = JUDGE(*state);

	for (size_t i = 0; i < ARRAY_SIZE(na); i++)
		scene_status(scene_verdict(l, na[i], NULL), VERDICT_NA);
	scene_status(scene_verdict(l, "proof.gdr", PATH), VERDICT_UNKNOWN);
}

static void everything_declared(void **state)
{
	struct scene *s = *state;
	const struct ladder *l;

	s->site.kubernetes = s->site.storage = s->site.workload = s->site.qos.declared = true;
	l = JUDGE(s);
	/* no record exists, so nothing may be green */
	for (size_t i = 0; i < l->n_verdicts; i++) {
		const struct verdict *v = &l->verdicts[i];

		if (v->status != VERDICT_UNKNOWN && v->status != VERDICT_BLOCKED)
			fail_msg("%s is %s", v->gate->id, verdict_status_name(v->status));
		if (v->status == VERDICT_UNKNOWN)
			assert_non_null(v->obtain);
	}
}

static void on_paper(void **state)
{
	const struct ladder *l = scene_judge_paper(*state, gates_plan, n_gates_plan, true);

	/* nothing of it is declared, and there is no matrix: nothing may be green */
	assert_int_equal(l->n_verdicts, n_gates_plan);
	for (size_t i = 0; i < l->n_verdicts; i++) {
		const struct verdict *v = &l->verdicts[i];

		if (v->status != VERDICT_NA && v->status != VERDICT_UNKNOWN &&
		    strcmp(v->gate->id, "plan.network-operator"))
			fail_msg("%s is %s", v->gate->id, verdict_status_name(v->status));
	}
	/* `check` does not list them */
	assert_int_equal(scene_judge(*state, gates_plan, n_gates_plan)->n_verdicts, 0);
}

/* Every gate has its texts, and what it needs is told by id. */
static void texts(void **state)
{
	static const struct {
		const struct gate *gates;
		const size_t *n;
	} groups[] = { { gates_plan, &n_gates_plan }, { gates_os, &n_gates_os },
		       { gates_gpu, &n_gates_gpu }, { gates_gdr, &n_gates_gdr },
		       { gates_later, &n_gates_later } };

	(void)state;
	for (size_t k = 0; k < ARRAY_SIZE(groups); k++) {
		for (size_t i = 0; i < *groups[k].n; i++) {
			const struct gate *g = &groups[k].gates[i];
			const char *const t[] = { g->title, g->proves, g->why, g->fix, g->obtain,
						  g->source };

			for (size_t j = 0; j < ARRAY_SIZE(t); j++) {
				if (!t[j] || !*t[j] || t[j][strlen(t[j]) - 1] == ' ')
					fail_msg("%s: text %zu", g->id, j);
			}
		}
	}
}

/* --- k8s.rdma-resource ------------------------------------------------------------------------ */

#define PLUGIN(version, exposed, selectors, log)                                               \
	"{'name': 'k8s-rdma-shared-dev-plugin', 'version': '" version "', 'resources': [{'name': " \
	"'rdma/roce', 'exposed': " exposed ", 'selectors': " selectors "}], 'log': [" log "]}"

static const struct verdict *plugin(struct scene *s, const char *record)
{
	s->site.kubernetes = true;
	scene_set(s->snapshots[0], "/k8s/device_plugin", record);
	return judged(s, "k8s.rdma-resource", NULL);
}

static void plugin_works(void **state)
{
	struct scene *s = *state;
	const struct verdict *v;

	/* "issm not found" beside exposed devices is normal */
	v = plugin(s, PLUGIN("v1.5.2", "100", "{'drivers': ['ice']}",
			     "'RDMA device \\\"issm\\\" not found'"));
	scene_status(v, VERDICT_PASS);
	scene_set(s->snapshots[0], "/k8s/node/allocatable/rdma~1roce", "'0'");
	v = judged(s, "k8s.rdma-resource", NULL);
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "allocatable-stuck", "exposes 100");
}

/* As the public report has it: an old plugin, and selectors that match nothing. */
static void plugin_exposes_nothing(void **state)
{
	struct scene *s = *state;
	const struct verdict *v;

	v = plugin(s, PLUGIN("v1.5.1", "0",
			     "{'vendors': ['8086'], 'deviceIDs': ['1b00'], 'drivers': ['irdma'],"
			     " 'ifNames': ['ens1f0'], 'linkTypes': ['ethernet']}",
			     "'missing RDMA device spec for device 0000:1b:00.0, RDMA device "
			     "\\\"issm\\\" not found'"));
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "plugin-requires-issm", "v1.5.1 requires an issm node");
	scene_cause(v, "selector-matches-nothing", "selector deviceIDs [1b00] matches no network "
						   "device");
	assert_non_null(strstr(v->causes[1].text, "1b00 is a PCI bus number"));
	assert_non_null(strstr(v->causes[2].text, "selector drivers [irdma]"));
	assert_non_null(strstr(v->causes[2].text, "irdma is the RDMA driver"));
	assert_non_null(strstr(v->causes[2].fix, "ice"));
	scene_no_cause(v, "plugin-node-missing");
	scene_no_cause(v, "no-rdma-device");
	scene_candidate(v, "link-type-spelling");
	assert_null(v->explained_by);
}

static void plugin_other_causes(void **state)
{
	struct scene *s = *state;
	const struct verdict *v;

	v = plugin(s, PLUGIN("v1.5.3", "0", "{'drivers': ['ice']}",
			     "'RDMA device \\\"umad\\\" not found'"));
	scene_cause(v, "plugin-node-missing", "umad");
	assert_non_null(strstr(v->causes[0].fix, "modprobe ib_umad"));
	scene_no_cause(v, "plugin-requires-issm");

	v = plugin(s, PLUGIN("v1.5.3", "0", "{'vendors': ['14e4'], 'ifNames': ['ens1f0']}", ""));
	scene_cause(v, "selector-matches-nothing", "selector vendors [14e4]");

	scene_set(s->snapshots[0], "/pci/devices/0000:02:00.0/driver", "'tg3'");
	v = plugin(s, PLUGIN("v1.5.3", "0", "{'drivers': ['tg3'], 'ifNames': ['ens1f0']}", ""));
	scene_cause(v, "selectors-exclude-each-other", NULL);

	v = plugin(s, PLUGIN("v1.5.3", "0", "{'vendors': ['8086'], 'ifNames': ['ens1f0']}", ""));
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "plugin-exposes-nothing", NULL);

	scene_set(s->snapshots[0], "/pci/devices/0000:1b:00.0/rdma", NULL);
	v = plugin(s, PLUGIN("v1.5.3", "0", "{'ifNames': ['ens1f0']}", ""));
	scene_cause(v, "no-rdma-device", "none has an RDMA device");

	v = plugin(s, "{'resources': [{'name': 'rdma/roce'}]}");
	scene_status(v, VERDICT_UNKNOWN);
	v = plugin(s, "{'resources': []}");
	scene_status(v, VERDICT_UNKNOWN);
}

/* --- proof.pod -------------------------------------------------------------------------------- */

static const struct verdict *pod(struct scene *s, const char *record)
{
	scene_set(s->snapshots[0], "/pods/a", record);
	return judged(s, "proof.pod", NULL);
}

static void pod_in_order(void **state)
{
	const struct verdict *v = pod(
		*state, "{'userspace': {'providers': ['irdma'], 'warnings': []},"
			" 'rdma': {'devices': {'rocep27s0f0': {'ports': {'1':"
			" {'gids': [{'index': 1}]}}}}},"
			" 'memlock': {'soft_bytes': -1, 'uid': 1000}}");

	/* in order is not proven */
	scene_status(v, VERDICT_UNKNOWN);
	assert_int_equal(v->n_causes, 0);
}

static void pod_abi(void **state)
{
	struct scene *s = *state;
	const struct verdict *v;

	scene_set(s->snapshots[0], "/os/modules/bnxt_re/in_tree", "false");
	v = pod(s, "{'userspace': {'providers': ['bnxt_re'], 'opened': [], 'warnings': "
		   "['libibverbs: Warning: Driver bnxt_re does not support the kernel ABI of 6 "
		   "(supports 1 to 1) for device /sys/class/infiniband/bnxt_re2']}, 'error': "
		   "{'call': 'ibv_open_device', 'text': 'No IB devices found'}}");
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "pod-provider-abi", "out-of-tree: the kernel speaks ABI 6, the library 1 to "
					   "1");
	assert_int_equal(v->n_causes, 1);
}

static void pod_provider_missing(void **state)
{
	const struct verdict *v = pod(
		*state, "{'userspace': {'providers': ['mlx5']},"
			" 'rdma': {'devices': {'rocep27s0f0': {'ports': {}}}}}");

	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "pod-provider-missing", "irdma for rocep27s0f0");
}

#define NO_GIDS                                                                                \
	"{'rdma': {'devices': {'rocep27s0f0': {'ports': {'1': {'gids': []}}}}},"               \
	" 'links': {'eth0': {'kind': 'veth'}},"                                                \
	" 'error': {'call': 'ibv_modify_qp', 'text': 'Failed to modify QP 12 to RTR'}}"

static void pod_without_gids(void **state)
{
	struct scene *s = *state;
	const struct verdict *v;

	/* inbox core: it hides nothing, so it is not named as the cause */
	v = pod(s, NO_GIDS);
	scene_status(v, VERDICT_FAIL);
	scene_no_cause(v, "pod-gid-hidden");
	scene_cause(v, "pod-gid-empty", "rocep27s0f0");
	scene_candidate(v, "pod-gid-hidden");

	scene_set(s->snapshots[0], "/os/modules/ib_core/in_tree", "false");
	v = pod(s, NO_GIDS);
	scene_cause(v, "pod-gid-hidden", "not in the pod's network namespace");
	assert_int_equal(v->n_causes, 1);

	scene_set(s->snapshots[0], "/os/modules/ib_core", NULL);
	scene_set(s->snapshots[0], "/os/packages/mlnx-ofed-kernel", "['5.0']");
	scene_cause(pod(s, NO_GIDS), "pod-gid-hidden", NULL);

	/* nor has the host any */
	scene_set(s->snapshots[0], "/rdma/devices/rocep27s0f0/ports/1/gids", "[]");
	scene_cause(pod(s, NO_GIDS), "no-gid-on-host", NULL);
}

static void pod_locked_memory(void **state)
{
	struct scene *s = *state;
	const struct verdict *v;

	v = pod(s, "{'memlock': {'soft_bytes': 8388608, 'uid': 1000, 'cap_effective': '0'},"
		   " 'error': {'call': 'ibv_reg_mr', 'errno': 12}}");
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "memlock-pod-low", "ENOMEM; it may lock 8 MiB as uid 1000");
	scene_no_cause(v, "pod-enomem");

	/* root with the capability: the limit does not bind, so it is not the cause */
	v = pod(s, "{'memlock': {'soft_bytes': 8388608, 'uid': 0, 'cap_effective': 'a80465fb'},"
		   " 'error': {'call': 'ibv_reg_mr', 'errno': 12}}");
	scene_cause(v, "pod-enomem", NULL);
	scene_no_cause(v, "memlock-pod-low");
	scene_candidate(v, "adapter-page-tables");
	scene_candidate(v, "pod-memory-limit");
}

static void pod_other_errors(void **state)
{
	struct scene *s = *state;
	const struct verdict *v;

	v = pod(s, "{'error': {'call': 'rdma_bind_addr', 'errno': 19}}");
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "pod-rdma-cm-namespace", "own network namespace");
	v = pod(s, "{'error': {'call': 'ibv_create_qp', 'errno': 22, 'text': 'odd'}}");
	scene_cause(v, "pod-attempt-failed", "ibv_create_qp failed with errno 22: odd");
}

/* --- storage.path ----------------------------------------------------------------------------- */

static const struct verdict *storage(struct scene *s, const char *transfers, const char *counters)
{
	_cleanup_free_ char *record = xasprintf("{'transfers': [%s]%s}", transfers, counters);

	scene_set(s->snapshots[0], "/storage/path", record);
	return judged(s, "storage.path", NULL);
}

#define GET                                                                                    \
	"{'operation': 'GET', 'rdma_reply': '200', 'body_bytes': 0, 'payload_bytes': 1048576," \
	" 'hash_ok': true}"
#define PUT                                                                                    \
	"{'operation': 'PUT', 'etag': 'd41d8', 'body_bytes': 0, 'payload_bytes': 1048576}"
#define COUNTERS ", 'server_rdma_bytes': 2097152, 'nic_rdma_bytes': 2200000, 'tcp_bytes': 3000"

static void storage_by_rdma(void **state)
{
	struct scene *s = *state;

	/* AIStor answers a PUT that went well without the header */
	scene_status(storage(s, GET ", " PUT, COUNTERS), VERDICT_PASS);
	/* slower than TCP is no fault */
	scene_status(storage(s, "{'operation': 'GET', 'rdma_reply': '206', 'body_bytes': 0,"
				" 'payload_bytes': 1048576, 'seconds': 100.0}", COUNTERS),
		     VERDICT_PASS);
}

static void storage_fallback(void **state)
{
	struct scene *s = *state;
	const struct verdict *v;

	v = storage(s, "{'operation': 'GET', 'body_bytes': 1048576, 'payload_bytes': 1048576}",
		    ", 'server_rdma_bytes': 0, 'nic_rdma_bytes': 0, 'tcp_bytes': 1100000");
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "silent-http", "no x-amz-rdma-reply");
	scene_cause(v, "server-counters-still", "grew by 0 bytes");
	scene_cause(v, "nic-counters-still", NULL);
	scene_cause(v, "tcp-carried", "1100000 bytes went over TCP");
	v = storage(s, "{'operation': 'PUT', 'body_bytes': 0, 'payload_bytes': 1048576}", COUNTERS);
	scene_cause(v, "silent-http", "PUT");	/* neither header nor ETag */
	v = storage(s, "{'operation': 'GET', 'rdma_reply': '501', 'payload_bytes': 9}", COUNTERS);
	scene_cause(v, "rdma-declined", "501");
	v = storage(s, "{'operation': 'GET', 'rdma_reply': '302', 'payload_bytes': 9}", COUNTERS);
	scene_cause(v, "rdma-reply-odd", "302");
	v = storage(s, "{'operation': 'GET', 'rdma_reply': '200', 'body_bytes': 9, "
		       "'payload_bytes': 9}",
		    COUNTERS);
	scene_cause(v, "body-beside-rdma", NULL);
	v = storage(s, "{'operation': 'GET', 'rdma_reply': '200', 'body_bytes': 0, "
		       "'payload_bytes': 9, 'hash_ok': false}", ", 'server_rdma_bytes': 9, "
								"'nic_rdma_bytes': 9");
	scene_cause(v, "object-hash-wrong", NULL);
	v = storage(s, GET, ", 'server_rdma_bytes': 1048576, 'nic_rdma_bytes': 1048576,"
			    " 'tcp_bytes': 200000");
	scene_status(v, VERDICT_WARN);
	scene_cause(v, "tcp-share", NULL);
}

static void storage_witness_missing(void **state)
{
	struct scene *s = *state;

	scene_status(storage(s, GET, ", 'nic_rdma_bytes': 1048576, 'tcp_bytes': 10"),
				     VERDICT_UNKNOWN);
	scene_status(storage(s, GET, ", 'server_rdma_bytes': 1048576, 'tcp_bytes': 10"),
		     VERDICT_UNKNOWN);
	scene_status(storage(s, GET, ", 'server_rdma_bytes': 1048576, 'nic_rdma_bytes': 1048576"),
		     VERDICT_UNKNOWN);
	scene_status(storage(s, "", COUNTERS), VERDICT_UNKNOWN);
}

#define SCENE(f) cmocka_unit_test_setup_teardown(f, scene_open, scene_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(nothing_declared),
		SCENE(everything_declared),
		SCENE(on_paper),
		cmocka_unit_test(texts),
		SCENE(plugin_works),
		SCENE(plugin_exposes_nothing),
		SCENE(plugin_other_causes),
		SCENE(pod_in_order),
		SCENE(pod_abi),
		SCENE(pod_provider_missing),
		SCENE(pod_without_gids),
		SCENE(pod_locked_memory),
		SCENE(pod_other_errors),
		SCENE(storage_by_rdma),
		SCENE(storage_fallback),
		SCENE(storage_witness_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
