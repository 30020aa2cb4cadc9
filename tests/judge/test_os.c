/* SPDX-License-Identifier: Apache-2.0 */
/* Gates of the operating system: every cause, and the healthy node. */
#include <string.h>

#include "judge/kernel_release.h"
#include "judge/memlock.h"
#include "judge/registry.h"
#include "scene.h"

#define JUDGE(s) scene_judge(s, gates_os, n_gates_os)

static const struct verdict *judged(struct scene *s, const char *gate)
{
	return scene_verdict(JUDGE(s), gate, NULL);
}

static void healthy(void **state)
{
	const struct ladder *l = JUDGE(*state);

	assert_int_equal(l->n_verdicts, n_gates_os);
	for (size_t i = 0; i < l->n_verdicts; i++)
		scene_status(&l->verdicts[i], VERDICT_PASS);
}

/* --- os.release ------------------------------------------------------------------------------- */

static void release_differs(void **state)
{
	struct scene *s = *state;
	const struct verdict *v;

	scene_set(s->snapshots[0], "/os/release/version_id", "'9.6'");
	v = judged(s, "os.release");
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "os-other-version", "rhel 9.6, declared is 10.2");

	scene_set(s->snapshots[0], "/os/release/id", "'debian'");
	v = judged(s, "os.release");
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "os-other-distribution", "declared is rhel 10.2");

	scene_set(s->snapshots[0], "/os/release", NULL);
	scene_status(judged(s, "os.release"), VERDICT_UNKNOWN);
}

static void release_not_declared(void **state)
{
	struct scene *s = *state;
	const struct verdict *v;

	s->nodes[0].os_id = s->nodes[0].os_version = NULL;
	v = judged(s, "os.release");
	scene_status(v, VERDICT_PASS);
	assert_non_null(v->assumed);
}

/* --- os.kernel -------------------------------------------------------------------------------- */

static void kernel_tags(void **state)
{
	static const struct {
		const char *release;
		int major, minor;
		const char *variant;
	} cases[] = {
		{ "6.12.0-124.8.1.el10_1.x86_64", 10, 1, "" },
		{ "6.12.0-55.el10.x86_64", 10, -1, "" },
		{ "5.14.0-570.22.1.el9_6.x86_64+debug", 9, 6, "+debug" },
		{ "6.12.117+deb12-cloud-amd64", 0, -1, "-cloud-amd64" },
		{ "6.8.0-45-generic", 0, -1, "-generic" },
		{ "6.12.0-rc1", 0, -1, "" },
		{ "6.12.0.el", 0, -1, "" },
		{ "", 0, -1, "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct kernel_tag tag = kernel_release_tag(cases[i].release);

		assert_int_equal(tag.major, cases[i].major);
		assert_int_equal(tag.minor, cases[i].minor);
		assert_string_equal(kernel_release_variant(cases[i].release), cases[i].variant);
	}
}

static void newer_kernels(void **state)
{
	_cleanup_json_ json_t *installed =
		scene_json("['6.12.0-55.el10.x86_64', '6.12.0-211.el10_2.x86_64+debug', 3,"
			   " '6.12.0-124.el10_1.x86_64', '6.12.0-99.el10.x86_64']");

	(void)state;
	assert_string_equal(kernel_release_newer(installed, "6.12.0-55.el10.x86_64"),
			    "6.12.0-124.el10_1.x86_64");
	assert_null(kernel_release_newer(installed, "6.12.0-124.el10_1.x86_64"));
	assert_null(kernel_release_newer(NULL, "6.12.0"));
}

static void old_kernel_still_runs(void **state)
{
	struct scene *s = *state;
	const struct verdict *v;

	/* a newer build of the same release: as declared, so a warning */
	scene_set(s->snapshots[0], "/os/kernel/installed",
		  "['6.12.0-211.7.1.el10_2.x86_64', '6.12.0-211.9.1.el10_2.x86_64']");
	v = judged(s, "os.kernel");
	scene_status(v, VERDICT_WARN);
	scene_cause(v, "kernel-old-running", "installed is 6.12.0-211.9.1.el10_2");

	/* the kernel of the release before */
	scene_set(s->snapshots[0], "/os/kernel/release", "'6.12.0-124.8.1.el10_1.x86_64'");
	v = judged(s, "os.kernel");
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "kernel-old-running", "6.12.0-124.8.1.el10_1.x86_64");

	s->nodes[0].kernel = NULL;
	v = judged(s, "os.kernel");
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "kernel-old-running", "10.1 still runs after the update to 10.2");

	scene_set(s->snapshots[0], "/os/kernel/release", "'5.14.0-570.el9_6.x86_64'");
	v = judged(s, "os.kernel");
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "kernel-old-running", "before the update still runs");
}

static void kernel_of_another_release(void **state)
{
	struct scene *s = *state;
	const struct verdict *v;

	scene_set(s->snapshots[0], "/os/kernel/release", "'5.14.0-570.el9_6.x86_64'");
	scene_set(s->snapshots[0], "/os/kernel/installed", "['5.14.0-570.el9_6.x86_64']");
	v = judged(s, "os.kernel");
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "kernel-not-declared", "does not match the declared");

	s->nodes[0].kernel = NULL;
	v = judged(s, "os.kernel");
	scene_cause(v, "kernel-other-release", "belongs to release 9");
	scene_no_cause(v, "kernel-old-running");

	scene_set(s->snapshots[0], "/os/kernel/release", "'6.12.0-55.el10_0.x86_64'");
	v = judged(s, "os.kernel");
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "kernel-other-minor", "is of 10.0");

	scene_set(s->snapshots[0], "/os/kernel/release", "'6.15.3-custom'");
	v = judged(s, "os.kernel");
	scene_status(v, VERDICT_WARN);
	scene_cause(v, "kernel-not-distribution", "6.15.3-custom");
}

static void kernel_differs_in_role(void **state)
{
	struct scene *s = *state;
	const struct verdict *v;

	s->snapshots[1] = json_deep_copy(s->snapshots[0]);
	scene_status(judged(s, "os.kernel"), VERDICT_PASS);
	scene_set(s->snapshots[1], "/os/kernel/release", "'6.12.0-211.9.1.el10_2.x86_64'");
	v = judged(s, "os.kernel");
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "kernel-differs-in-role", "6.12.0-211.9.1.el10_2.x86_64 on gpu-2");

	s->site.assumed = true;
	scene_status(judged(s, "os.kernel"), VERDICT_WARN);
	s->nodes[1].roles = SITE_ROLE_STORAGE;
	scene_status(judged(s, "os.kernel"), VERDICT_PASS);
}

static void kernel_headers(void **state)
{
	struct scene *s = *state;
	const struct verdict *v;

	scene_set(s->snapshots[0], "/os/kernel/headers", "false");
	scene_status(judged(s, "os.kernel"), VERDICT_PASS);	/* the driver is loaded */
	scene_set(s->snapshots[0], "/gpu/driver/loaded", "false");
	v = judged(s, "os.kernel");
	scene_status(v, VERDICT_WARN);
	scene_cause(v, "kernel-headers-missing", "6.12.0-211.7.1");
	s->nodes[0].roles = SITE_ROLE_STORAGE;
	scene_status(judged(s, "os.kernel"), VERDICT_PASS);
}

/* --- os.memlock ------------------------------------------------------------------------------- */

static void memlock_arithmetic(void **state)
{
	(void)state;
	assert_true(memlock_is_enough(-1, -1));
	assert_true(memlock_is_enough(-1, 1 << 30));
	assert_true(memlock_is_enough(1 << 30, 1 << 30));
	assert_false(memlock_is_enough((1 << 30) - 1, 1 << 30));
	assert_false(memlock_is_enough(1 << 30, -1));
	_cleanup_json_ json_t *root = scene_json("{'cap_effective': '00000000a80465fb'}");
	_cleanup_json_ json_t *user = scene_json("{'cap_effective': '0000000000000000'}");
	/* root in a container without IPC_LOCK: bit 14 is not in the default set */
	_cleanup_json_ json_t *plain = scene_json("{'cap_effective': '00000000a80425fb'}");
	_cleanup_json_ json_t *told = scene_json("{'cap_ipc_lock': true}");

	assert_true(memlock_pod_has_cap(root));
	assert_false(memlock_pod_has_cap(user));
	assert_false(memlock_pod_has_cap(plain));
	assert_true(memlock_pod_has_cap(told));
	assert_false(memlock_pod_has_cap(NULL));
}

static void memlock_of_this_process(void **state)
{
	struct scene *s = *state;
	const struct verdict *v;

	scene_set(s->snapshots[0], "/os/memlock/self/soft_bytes", "8388608");
	v = judged(s, "os.memlock");
	scene_status(v, VERDICT_PASS);	/* root: CAP_IPC_LOCK is effective */
	scene_summary(v, "8 MiB does not bind");

	scene_set(s->snapshots[0], "/os/memlock/self/cap_ipc_lock", "false");
	v = judged(s, "os.memlock");
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "memlock-low", "8 MiB, declared is unlimited");

	/* as large as declared */
	s->nodes[0].memlock_bytes.value = 8 << 20;
	scene_status(judged(s, "os.memlock"), VERDICT_PASS);

	/* nothing declared: a limit that somebody chose is a warning, the default fails */
	s->nodes[0].memlock_bytes.set = false;
	scene_cause(judged(s, "os.memlock"), "memlock-low", "assumed is unlimited");
	scene_set(s->snapshots[0], "/os/memlock/self/soft_bytes", "68719476736");
	v = judged(s, "os.memlock");
	scene_status(v, VERDICT_WARN);
	scene_cause(v, "memlock-finite", "64 GiB");

	scene_set(s->snapshots[0], "/os/memlock/self", NULL);
	scene_status(judged(s, "os.memlock"), VERDICT_UNKNOWN);
}

static void memlock_of_the_runtime(void **state)
{
	struct scene *s = *state;
	const struct verdict *v;

	scene_set(s->snapshots[0], "/os/memlock/services/containerd/soft_bytes", "8388608");
	v = judged(s, "os.memlock");
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "memlock-runtime-low", "IPC_LOCK does not help non-root");

	/* a non-root pod with IPC_LOCK in its spec: never effective */
	scene_set(s->snapshots[0], "/pods/user/memlock",
		  "{'soft_bytes': 8388608, 'uid': 1000, 'cap_effective': '0000000000000000'}");
	v = judged(s, "os.memlock");
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "memlock-pod-low", "pod user (uid 1000");

	/* a root pod with it effective: not blocking */
	scene_set(s->snapshots[0], "/pods/user", NULL);
	scene_set(s->snapshots[0], "/pods/root/memlock",
		  "{'soft_bytes': 8388608, 'uid': 0, 'cap_effective': '00000000a80465fb'}");
	v = judged(s, "os.memlock");
	scene_status(v, VERDICT_WARN);
	scene_no_cause(v, "memlock-pod-low");

	/* kubelet's own limit is nobody's */
	scene_set(s->snapshots[0], "/pods", NULL);
	scene_set(s->snapshots[0], "/os/memlock/services/containerd/soft_bytes", "-1");
	scene_set(s->snapshots[0], "/os/memlock/services/kubelet/soft_bytes", "8388608");
	scene_status(judged(s, "os.memlock"), VERDICT_PASS);

	s->site.kubernetes = true;
	scene_status(judged(s, "os.memlock"), VERDICT_PASS);
	scene_set(s->snapshots[0], "/os/memlock/services/containerd", NULL);
	scene_status(judged(s, "os.memlock"), VERDICT_UNKNOWN);
}

/* --- os.kernel-log ---------------------------------------------------------------------------- */

#define SAFE_MODE                                                                              \
	"{'text': 'ice 0000:1b:00.0: The DDP package file was not found or could not be read. " \
	"Entering Safe Mode'}"
#define LOADED                                                                                 \
	"{'text': 'ice 0000:1b:00.0: The DDP package was successfully loaded: ICE OS Default " \
	"Package version 1.3.36.0'}"

static void kernel_log_lines(void **state)
{
	struct scene *s = *state;
	const struct verdict *v;

	scene_set(s->snapshots[0], "/os/log/lines",
		  "[{'text': 'NVRM: Xid (PCI:0000:1c:00): 79, GPU has fallen off the bus.'}, "
		  "{'text': 'nothing of interest'}, {'text': 'DMAR: [DMA Write NO_PASID] Request "
		  "device [1b:00.0] fault addr 0x1'}]");
	v = judged(s, "os.kernel-log");
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "nvrm-xid", "79, GPU has fallen off");
	scene_cause(v, "iommu-fault", "1b:00.0");

	scene_set(s->snapshots[0], "/os/log/lines",
		  "[{'text': 'ice 0000:1b:00.0: 63.008 Gb/s available PCIe bandwidth, limited by "
		  "8.0 GT/s PCIe x8 link at 0000:17:00.0'}]");
	v = judged(s, "os.kernel-log");
	scene_status(v, VERDICT_WARN);
	scene_cause(v, "pcie-limited", "0000:17:00.0");
}

static void kernel_log_later_line_holds(void **state)
{
	struct scene *s = *state;

	scene_set(s->snapshots[0], "/os/log/lines", "[" SAFE_MODE "]");
	scene_cause(judged(s, "os.kernel-log"), "ice-ddp-not-found", "0000:1b:00.0");
	scene_set(s->snapshots[0], "/os/log/lines", "[" SAFE_MODE ", " LOADED "]");
	scene_status(judged(s, "os.kernel-log"), VERDICT_PASS);
	scene_set(s->snapshots[0], "/os/log/lines", "[" LOADED ", " SAFE_MODE "]");
	scene_status(judged(s, "os.kernel-log"), VERDICT_FAIL);
}

static void kernel_log_unseen(void **state)
{
	struct scene *s = *state;

	scene_set(s->snapshots[0], "/os/log/readable", "false");
	scene_status(judged(s, "os.kernel-log"), VERDICT_UNKNOWN);
	scene_set(s->snapshots[0], "/os/log/readable", "true");
	scene_set(s->snapshots[0], "/os/log/lines", NULL);
	scene_status(judged(s, "os.kernel-log"), VERDICT_UNKNOWN);
	scene_set(s->snapshots[0], "/os/log", NULL);
	scene_status(judged(s, "os.kernel-log"), VERDICT_UNKNOWN);
}

#define SCENE(f) cmocka_unit_test_setup_teardown(f, scene_open, scene_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(healthy),
		SCENE(release_differs),
		SCENE(release_not_declared),
		cmocka_unit_test(kernel_tags),
		cmocka_unit_test(newer_kernels),
		SCENE(old_kernel_still_runs),
		SCENE(kernel_of_another_release),
		SCENE(kernel_differs_in_role),
		SCENE(kernel_headers),
		cmocka_unit_test(memlock_arithmetic),
		SCENE(memlock_of_this_process),
		SCENE(memlock_of_the_runtime),
		SCENE(kernel_log_lines),
		SCENE(kernel_log_later_line_holds),
		SCENE(kernel_log_unseen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
