/* SPDX-License-Identifier: Apache-2.0 */
/* GPU gates of level 1: every cause, and the healthy node. */
#include <string.h>

#include "judge/registry.h"
#include "scene.h"

#define JUDGE(s) scene_judge(s, gates_gpu, n_gates_gpu)
#define GPU "/pci/devices/0000:1c:00.0"

static const struct verdict *judged(struct scene *s, const char *gate)
{
	return scene_verdict(JUDGE(s), gate, NULL);
}

static void healthy(void **state)
{
	const struct ladder *l = JUDGE(*state);

	for (size_t i = 0; i < l->n_verdicts; i++)
		scene_status(&l->verdicts[i], strcmp(l->verdicts[i].gate->id, "cuda.run") ?
						      VERDICT_PASS :
						      VERDICT_UNKNOWN);
	scene_summary(scene_verdict(l, "gpu.pci", NULL), "8 GPUs on the bus (10de:3182, B300 SXM6 "
							 "AC)");
}

static void no_gpu_wanted(void **state)
{
	struct scene *s = *state;
	const struct ladder *l;

	scene_set(s->snapshots[0], "/pci/devices", "{}");
	s->nodes[0].roles = SITE_ROLE_STORAGE;
	s->nodes[0].n_gpus = 0;
	l = JUDGE(s);
	for (size_t i = 0; i < l->n_verdicts; i++)
		scene_status(&l->verdicts[i], VERDICT_NA);

	/* an unseen bus is no reason for n/a */
	scene_set(s->snapshots[0], "/pci", NULL);
	scene_status(judged(s, "gpu.pci"), VERDICT_UNKNOWN);
}

/* --- gpu.pci ---------------------------------------------------------------------------------- */

/* A device whose id, vendor or class was not read may be the one that seems to be missing. */
static void gpu_not_readable(void **state)
{
	struct scene *s = *state;
	const struct verdict *v;

	scene_set(s->snapshots[0], GPU "/device", NULL);
	v = judged(s, "gpu.pci");
	scene_status(v, VERDICT_UNKNOWN);
	scene_summary(v, GPU "/device");
	scene_no_cause(v, "gpu-missing");

	/* without a declared id it counts as what it is */
	s->gpu.pci_id = NULL;
	scene_status(judged(s, "gpu.pci"), VERDICT_PASS);
	s->gpu.pci_id = TEXT("10de:3182");

	/* two that lack cannot be one that was not read */
	s->gpu.count.value = 9;
	v = judged(s, "gpu.pci");
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "gpu-missing", "7 of 9 B300");
	s->gpu.count.value = 8;

	scene_set(s->snapshots[0], GPU "/vendor", NULL);
	v = judged(s, "gpu.pci");
	scene_status(v, VERDICT_UNKNOWN);
	scene_summary(v, GPU "/vendor");

	scene_set(s->snapshots[0], GPU, NULL);
	scene_set(s->snapshots[0], "/gaps", "[{'pointer': '" GPU "', 'reason': 'Input/output error'}]");
	v = judged(s, "gpu.pci");
	scene_status(v, VERDICT_UNKNOWN);
	scene_summary(v, "Input/output error");

	scene_set(s->snapshots[0], "/pci/devices", "{}");
	scene_status(judged(s, "gpu.pci"), VERDICT_FAIL);
	s->nodes[0].n_gpus = 0;
	scene_status(judged(s, "gpu.pci"), VERDICT_UNKNOWN);
}

static void gpu_count_differs(void **state)
{
	struct scene *s = *state;
	const struct verdict *v;

	scene_set(s->snapshots[0], GPU, NULL);
	v = judged(s, "gpu.pci");
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "gpu-missing", "7 of 8 B300");

	s->gpu.count.value = 6;
	v = judged(s, "gpu.pci");
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "gpu-surplus", "declared are 6");

	s->gpu.pci_id = TEXT("10de:31c2");
	v = judged(s, "gpu.pci");
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "gpu-other-model", "7 other NVIDIA GPUs");

	s->nodes[0].n_gpus = 0;
	v = judged(s, "gpu.pci");
	scene_status(v, VERDICT_PASS);
	assert_non_null(v->assumed);

	scene_set(s->snapshots[0], "/pci/devices", "{}");
	v = judged(s, "gpu.pci");
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "gpu-missing", "no GPU");
}

static void gpu_link_degraded(void **state)
{
	struct scene *s = *state;
	const struct verdict *v;

	scene_set(s->snapshots[0], GPU "/link/width", "8");
	v = judged(s, "gpu.pci");
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "gpu-link-width", "0000:1c:00.0 runs at x8 of x16");

	scene_set(s->snapshots[0], "/pci/devices/0000:17:01.0/link/max_width", "8");
	v = judged(s, "gpu.pci");
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "gpu-slot-width", "0000:17:01.0");
	scene_no_cause(v, "gpu-link-width");

	scene_set(s->snapshots[0], GPU "/link/width", "16");
	scene_set(s->snapshots[0], GPU "/link/speed_gts", "2.5");
	v = judged(s, "gpu.pci");
	scene_status(v, VERDICT_WARN);
	scene_cause(v, "gpu-link-speed", "2.5 of 64 GT/s");
	scene_candidate(v, "gpu-link-power-saving");
	scene_candidate(v, "gpu-link-training");

	scene_set(s->snapshots[0], GPU "/link/speed_gts", "32.0");
	v = judged(s, "gpu.pci");
	scene_status(v, VERDICT_WARN);
	scene_cause(v, "gpu-slot-speed", "has 32 GT/s");

	scene_set(s->snapshots[0], GPU "/link", NULL);
	scene_status(judged(s, "gpu.pci"), VERDICT_UNKNOWN);
}

/* --- gpu.open-module -------------------------------------------------------------------------- */

static void closed_module(void **state)
{
	struct scene *s = *state;
	const struct verdict *v;

	scene_set(s->snapshots[0], "/gpu/driver/open", "false");
	scene_set(s->snapshots[0], "/gpu/driver/text",
		  "'NVRM version: NVIDIA UNIX x86_64 Kernel Module  595.91.07'");
	scene_set(s->snapshots[0], "/os/modules/nvidia/file/license", "'NVIDIA'");
	v = judged(s, "gpu.open-module");
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "driver-closed-module", "NVIDIA UNIX x86_64 Kernel Module");
	assert_non_null(strstr(v->causes[0].fix, "kernelModuleType=open"));

	/* the file is the open one already: a reboot is missing */
	scene_set(s->snapshots[0], "/os/modules/nvidia/file/license", "'Dual MIT/GPL'");
	v = judged(s, "gpu.open-module");
	assert_non_null(strstr(v->causes[0].fix, "reboot"));

	s->site.gpudirect = false;
	scene_status(judged(s, "gpu.open-module"), VERDICT_WARN);
}

static void module_kind_is_not_guessed(void **state)
{
	struct scene *s = *state;

	scene_set(s->snapshots[0], "/gpu/driver/open", NULL);
	scene_status(judged(s, "gpu.open-module"), VERDICT_UNKNOWN);
	scene_set(s->snapshots[0], "/gpu/driver/loaded", "false");
	scene_status(judged(s, "gpu.open-module"), VERDICT_UNKNOWN);
}

/* --- gpu.driver ------------------------------------------------------------------------------- */

static void driver_out_of_range(void **state)
{
	struct scene *s = *state;
	const struct verdict *v;

	s->gpu.driver_min = TEXT("595.126");
	v = judged(s, "gpu.driver");
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "driver-too-old", "595.91.07 is older than the declared 595.126");
	s->gpu.driver_min = NULL;
	s->gpu.driver_max = TEXT("580.173.02");
	v = judged(s, "gpu.driver");
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "driver-too-new", "580.173.02");
}

/* RHEL 9.6 after an incomplete update: two kmod packages, the older one loaded. */
static void two_kmods(void **state)
{
	struct scene *s = *state;
	json_t *n = s->snapshots[0];
	const struct verdict *v;

	s->gpu.driver_min = NULL;
	scene_set(n, "/gpu/driver/version", "'575.64'");
	scene_set(n, "/os/modules/nvidia/file/version", "'575.64'");
	scene_set(n, "/gpu/nvml", "{'status': 'version-mismatch', 'library_version': '575.64'}");
	scene_set(n, "/os/packages",
		  "{'libnvidia-ml': ['3:575.64.03-1.el9'],"
		  " 'kmod-nvidia-5.14.0-570.el9_6-575.64': ['3:575.64-1.el9'],"
		  " 'kmod-nvidia-5.14.0-570.el9_6-575.64.03': ['3:575.64.03-1.el9']}");
	v = judged(s, "gpu.driver");
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "driver-library-mismatch", "module is 575.64, the library is 575.64.03");
	scene_cause(v, "driver-two-kmods", "kmod-nvidia-5.14.0-570.el9_6-575.64 and "
					   "kmod-nvidia-5.14.0-570.el9_6-575.64.03");
	v = scene_verdict(s->ladder, "gpu.nvml", NULL);
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "nvml-version-mismatch", NULL);
	assert_string_equal(v->explained_by, "gpu.driver");
	scene_status(scene_verdict(s->ladder, "gpu.pci", NULL), VERDICT_PASS);
	scene_status(scene_verdict(s->ladder, "gpu.open-module", NULL), VERDICT_PASS);

	/* the full library version is nowhere told: still no "same version" */
	scene_set(n, "/os/packages/libnvidia-ml", NULL);
	scene_status(judged(s, "gpu.driver"), VERDICT_FAIL);

	/* packages for two kernels are as they should be */
	scene_set(n, "/gpu/nvml", "{'status': 'ok', 'library_version': '575.64'}");
	scene_set(n, "/os/packages",
		  "{'kmod-nvidia-5.14.0-503.el9_5-575.64': ['1'],"
		  " 'kmod-nvidia-5.14.0-570.el9_6-575.64.03': ['1']}");
	scene_status(judged(s, "gpu.driver"), VERDICT_PASS);

	/* all fits, yet the other package may win at the next boot */
	scene_set(n, "/os/packages", "{'kmod-nvidia-open-dkms': ['3:575.64-1', '3:575.64.03-1']}");
	v = judged(s, "gpu.driver");
	scene_status(v, VERDICT_WARN);
	scene_cause(v, "driver-two-kmods", "kmod-nvidia-open-dkms 3:575.64.03-1");
}

static void library_and_module_differ(void **state)
{
	struct scene *s = *state;
	json_t *n = s->snapshots[0];
	const struct verdict *v;

	s->gpu.driver_min = NULL;
	scene_set(n, "/os/packages", "{}");
	scene_set(n, "/gpu/driver/version", "'580.173.02'");
	scene_set(n, "/gpu/nvml", "{'status': 'version-mismatch', 'library_version': '580.178',"
				  " 'library_path': '/usr/lib64/libnvidia-ml.so.580.178.04'}");
	scene_set(n, "/os/modules/nvidia/file/version", "'580.178.04'");
	v = judged(s, "gpu.driver");
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "driver-old-module-loaded", "580.173.02 is still loaded");

	scene_set(n, "/os/modules/nvidia/file/version", "'580.173.02'");
	v = judged(s, "gpu.driver");
	scene_cause(v, "driver-module-not-updated", "updated to 580.178.04");
	scene_no_cause(v, "driver-old-module-loaded");

	/* NVML works, so library and module fit; the file of the next boot does not */
	scene_set(n, "/gpu/nvml", "{'status': 'ok', 'library_version': '580.173'}");
	scene_set(n, "/os/modules/nvidia/file/version", "'580.178.04'");
	v = judged(s, "gpu.driver");
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "driver-loaded-not-installed", "module file is 580.178.04");
}

static void driver_not_loaded(void **state)
{
	struct scene *s = *state;
	json_t *n = s->snapshots[0];
	const struct verdict *v;

	scene_set(n, "/gpu/driver/loaded", "false");
	v = judged(s, "gpu.driver");
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "driver-not-loaded", NULL);

	scene_set(n, "/os/modules/nvidia/file/vermagic", "'6.12.0-211.el10_2.x86_64 SMP "
							 "mod_unload'");
	scene_cause(judged(s, "gpu.driver"), "driver-other-kernel", "built for "
								    "6.12.0-211.el10_2.x86_64");
	scene_set(n, "/os/modules/nvidia/blacklisted", "true");
	scene_cause(judged(s, "gpu.driver"), "driver-blacklisted", NULL);
	scene_set(n, "/os/modules/nvidia/file", "null");
	scene_cause(judged(s, "gpu.driver"), "driver-not-installed", NULL);
	scene_set(n, GPU "/driver", "'nouveau'");
	scene_cause(judged(s, "gpu.driver"), "gpu-other-driver", "bound to nouveau");
	scene_set(n, "/pci/devices", "{}");
	v = judged(s, "gpu.driver");
	scene_cause(v, "driver-no-gpu", NULL);
	assert_string_equal(v->explained_by, "gpu.pci");
	scene_set(n, "/gpu", NULL);
	scene_status(judged(s, "gpu.driver"), VERDICT_UNKNOWN);
}

/* Without a look at the PCI bus and a word of the site nobody knows of a GPU to drive. */
static void driver_of_no_known_gpu(void **state)
{
	struct scene *s = *state;

	scene_set(s->snapshots[0], "/gpu/driver/loaded", "false");
	scene_set(s->snapshots[0], "/pci/devices", NULL);
	scene_status(judged(s, "gpu.driver"), VERDICT_FAIL);
	s->nodes[0].n_gpus = 0;
	s->nodes[0].roles = 0;
	scene_status(judged(s, "gpu.driver"), VERDICT_UNKNOWN);
}

/* --- gpu.nvml --------------------------------------------------------------------------------- */

static void nvml_does_not_answer(void **state)
{
	static const struct {
		const char *nvml, *cause;
	} cases[] = {
		{ "{'status': 'no-library'}", "nvml-no-library" },
		{ "{'status': 'no-driver'}", "nvml-no-driver" },
		{ "{'status': 'timeout'}", "nvml-timeout" },
		{ "{'status': 'crashed', 'error': 'SIGSEGV'}", "nvml-crashed" },
		{ "{'status': 'error', 'error': 'GPU is lost'}", "nvml-error" },
		{ "{'status': 'version-mismatch'}", "nvml-version-mismatch" },
	};
	struct scene *s = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct verdict *v;

		scene_set(s->snapshots[0], "/gpu/nvml", cases[i].nvml);
		v = judged(s, "gpu.nvml");
		scene_status(v, VERDICT_FAIL);
		scene_cause(v, cases[i].cause, NULL);
		/* a consequence elsewhere must wait for it */
		scene_status(scene_verdict(s->ladder, "cuda.run", NULL), VERDICT_BLOCKED);
	}
	scene_set(s->snapshots[0], "/gpu/nvml", NULL);
	scene_status(judged(s, "gpu.nvml"), VERDICT_UNKNOWN);
}

static void one_gpu_is_silent(void **state)
{
	struct scene *s = *state;
	const struct verdict *v;

	scene_set(s->snapshots[0], "/gpu/devices/0000:3d:00.0", NULL);
	v = judged(s, "gpu.nvml");
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "gpu-not-answering", "0000:3d:00.0");

	/* /proc knows it, NVML does not */
	scene_set(s->snapshots[0], "/gpu/devices/0000:3d:00.0", "{'model': 'NVIDIA B300', 'minor': "
								"2}");
	scene_cause(judged(s, "gpu.nvml"), "gpu-not-answering", "0000:3d:00.0");

	scene_set(s->snapshots[0], "/gpu/devices/0000:3d:00.0",
		  "{'bar1_total_bytes': 1048576, 'ecc': false, 'persistence': false}");
	v = judged(s, "gpu.nvml");
	scene_status(v, VERDICT_WARN);
	scene_cause(v, "gpu-ecc-off", "0000:3d:00.0");

	scene_set(s->snapshots[0], "/gpu/devices/0000:3d:00.0", "{'ecc': true}");
	scene_status(judged(s, "gpu.nvml"), VERDICT_UNKNOWN);
}

#define SCENE(f) cmocka_unit_test_setup_teardown(f, scene_open, scene_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(healthy),
		SCENE(no_gpu_wanted),
		SCENE(gpu_not_readable),
		SCENE(gpu_count_differs),
		SCENE(gpu_link_degraded),
		SCENE(closed_module),
		SCENE(module_kind_is_not_guessed),
		SCENE(driver_out_of_range),
		SCENE(two_kmods),
		SCENE(library_and_module_differ),
		SCENE(driver_not_loaded),
		SCENE(driver_of_no_known_gpu),
		SCENE(nvml_does_not_answer),
		SCENE(one_gpu_is_silent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
