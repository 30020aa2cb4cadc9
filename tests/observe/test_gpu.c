/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <time.h>

#include "observe/gpu.h"
#include "tree.h"

/* --- text of the driver ----------------------------------------------------------------------- */

static void check_version(const char *line, const char *version, bool open)
{
	_cleanup_json_ json_t *driver = json_object();
	_cleanup_free_ char *text = xasprintf("%s\nGCC version:  gcc version 14.2.1\n", line);

	assert_int_equal(nvidia_version_parse(driver, text), 0);
	assert_string_equal(json_get_string(driver, "version", "-"), version);
	assert_string_equal(json_get_string(driver, "text", "-"), line);
	assert_int_equal(json_get_bool(driver, "open", !open), open);
}

static void reads_the_version_line(void **state)
{
	_cleanup_json_ json_t *driver = json_object();

	(void)state;
	check_version("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.82.07  Release Build"
		      "  (dvs-builder@U22-I3-AF05-04-1)  Tue Aug 12 2025", "580.82.07", true);
	check_version("NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19 18:56:32"
		      " UTC 2023", "535.129.03", false);
	check_version("NVRM version: something else, Open to all", "-", false);
	assert_int_equal(nvidia_version_parse(driver, ""), -EINVAL);
	assert_int_equal(nvidia_version_parse(driver, "GCC version: 1.2\n"), -EINVAL);
}

static void reads_parameters(void **state)
{
	struct observation o;

	(void)state;
	observation_start(&o);
	nvidia_parameters_parse(o.snapshot, "EnableGpuFirmware: 18\nRegistryDwords: \"\"\n"
					    "RmMsg: \"a: b\"\nno colon\n: nameless\nOdd: \"\n");
	assert_fact(&o, "", "{\"EnableGpuFirmware\": \"18\", \"RegistryDwords\": \"\","
			    " \"RmMsg\": \"a: b\", \"Odd\": \"\\\"\"}");
	observation_end(&o);
}

static void reads_gpu_information(void **state)
{
	struct observation o;

	(void)state;
	observation_start(&o);
	nvidia_information_parse(o.snapshot,
		"Model: \t\t NVIDIA B300 SXM6 AC\nIRQ:   \t\t 210\n"
		"GPU UUID: \t GPU-6a1c\nVideo BIOS: \t 97.10.3f\nBus Location: \t 0000:1b:00.0\n"
		"Device Minor: \t 3\nGPU Firmware: \t 580.82.07\n");
	assert_fact(&o, "", "{\"model\": \"NVIDIA B300 SXM6 AC\", \"uuid\": \"GPU-6a1c\","
			    " \"minor\": 3, \"firmware\": \"580.82.07\"}");
	json_object_clear(o.snapshot);
	nvidia_information_parse(o.snapshot,
		"Model: \nGPU UUID: GPU-\?\?\?\?\?\?\?\?-\?\?\?\?\nDevice Minor: none\nGPU Firmware: N/A\n");
	assert_fact(&o, "", "{}");
	observation_end(&o);
}

/* --- trees ------------------------------------------------------------------------------------ */

static void tells_the_driver(void **state)
{
	struct tree t;

	(void)state;
	tree_start(&t);
	tree_file(&t, "/proc/driver/nvidia/version",
		  "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.82.07  Release Build\n");
	tree_file(&t, "/proc/driver/nvidia/params", "DmaRemapPeerMmio: 1\n");
	tree_file(&t, "/proc/driver/nvidia/gpus/0000:1b:00.0/information", "Device Minor: 0\n");
	tree_folder(&t, "/proc/driver/nvidia/gpus/0000:43:00.0/information");
	tree_folder(&t, "/proc/driver/nvidia/gpus/other");
	observe_gpu(&t.o);
	assert_fact(&t.o, "/gpu/driver/loaded", "true");
	assert_fact(&t.o, "/gpu/driver/open", "true");
	assert_fact(&t.o, "/gpu/driver/parameters", "{\"DmaRemapPeerMmio\": \"1\"}");
	assert_fact(&t.o, "/gpu/devices", "{\"0000:1b:00.0\": {\"minor\": 0}, \"0000:43:00.0\": {}}");
	assert_gap(&t.o, "/gpu/devices/0000:43:00.0");
	/* probes are not run below a root */
	assert_fact(&t.o, "/gpu/nvml", "{}");
	assert_gap(&t.o, "/gpu/nvml");
	tree_end(&t);
}

static void no_driver(void **state)
{
	struct tree t;

	(void)state;
	tree_start(&t);
	tree_folder(&t, "/sys/module");
	observe_gpu(&t.o);
	assert_fact(&t.o, "/gpu", "{\"driver\": {\"loaded\": false}, \"devices\": {}}");
	assert_int_equal(gaps(&t.o), 0);
	tree_end(&t);

	tree_start(&t);
	tree_file(&t, "/proc/driver/nvidia/version", "");
	observe_gpu(&t.o);
	assert_fact(&t.o, "/gpu/driver", "{\"loaded\": true}");
	assert_gap(&t.o, "/gpu/driver/text");
	assert_gap(&t.o, "/gpu/driver/parameters");
	tree_end(&t);

	tree_start(&t);
	observe_gpu(&t.o);
	assert_absent(&t.o, "/gpu/driver/loaded");
	assert_gap(&t.o, "/gpu/driver/loaded");
	tree_end(&t);
}

/* --- NVML ------------------------------------------------------------------------------------- */

static void start_live(struct observation *o, const char *library_variable, const char *mode)
{
	const struct host_options live = {0};
	const char *library = getenv(library_variable);

	if (!library)
		fail_msg("%s is not set: run this test through meson", library_variable);
	setenv("RAILHEAD_NVML", library, 1);
	setenv("NVML_DOUBLE", mode, 1);
	o->snapshot = json_object();
	assert_int_equal(host_open(&o->host, &live, NULL), 0);
	observe_gpu(o);
}

static void end_live(struct observation *o)
{
	host_close(o->host);
	json_decref(o->snapshot);
	unsetenv("RAILHEAD_NVML");
}

static void asks_nvml(void **state)
{
	struct observation o;

	(void)state;
	start_live(&o, "NVML_DOUBLE_PATH", "ok");
	assert_fact(&o, "/gpu/nvml/status", "\"ok\"");
	assert_fact(&o, "/gpu/nvml/double", "true");
	assert_fact(&o, "/source/kind", "\"double\"");
	assert_fact(&o, "/gpu/nvml/driver_version", "\"580.82.07\"");
	assert_fact(&o, "/gpu/nvml/library_version", "\"13.580.82.07\"");
	assert_fact(&o, "/gpu/devices",
		    "{\"0000:1b:00.0\": {\"model\": \"NVML test double\", \"uuid\": \"GPU-double-0\","
		    "  \"bar1_total_bytes\": 549755813888, \"bar1_used_bytes\": 1073741824, \"ecc\": true,"
		    "  \"persistence\": true, \"pcie\": {\"generation\": 5, \"width\": 8,"
		    "  \"max_generation\": 6, \"max_width\": 16}},"
		    " \"10000:43:00.0\": {\"model\": \"NVML test double\", \"uuid\": \"GPU-double-1\","
		    "  \"bar1_total_bytes\": 549755813888, \"bar1_used_bytes\": 1073741824,"
		    "  \"persistence\": false, \"pcie\": {\"generation\": 5, \"width\": 8,"
		    "  \"max_generation\": 6, \"max_width\": 16}}}");
	assert_absent(&o, "/gpu/nvml/error");
	end_live(&o);
}

static void names_each_refusal(void **state)
{
	static const struct {
		const char *mode, *status, *error;
	} table[] = {
		{"mismatch", "\"version-mismatch\"",
		 "\"nvmlInit_v2: Driver/library version mismatch (18)\""},
		{"no-driver", "\"no-driver\"", "\"nvmlInit_v2: Driver Not Loaded (9)\""},
		{"lost", "\"error\"", "\"GPU 1: GPU is lost (15)\""},
		{"crash", "\"crashed\"", "\"the nvml probe was killed by SIGSEGV\""},
	};
	struct observation o;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		start_live(&o, "NVML_DOUBLE_PATH", table[i].mode);
		assert_fact(&o, "/gpu/nvml/status", table[i].status);
		assert_fact(&o, "/gpu/nvml/error", table[i].error);
		end_live(&o);
	}
}

static void ends_a_hang(void **state)
{
	struct timespec begin, end;
	struct observation o;

	(void)state;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	start_live(&o, "NVML_DOUBLE_PATH", "hang");
	clock_gettime(CLOCK_MONOTONIC, &end);
	assert_fact(&o, "/gpu/nvml/status", "\"timeout\"");
	/* 5 s are allowed; a loaded machine takes a little longer to end the child */
	assert_in_range(end.tv_sec - begin.tv_sec, 4, 15);
	end_live(&o);
}

static void bounds_texts(void **state)
{
	struct observation o;

	(void)state;
	start_live(&o, "NVML_DOUBLE_PATH", "endless");
	assert_fact(&o, "/gpu/nvml/status", "\"ok\"");
	assert_int_equal(json_string_length(json_at(o.snapshot, "/gpu/nvml/driver_version")), 96);
	end_live(&o);
}

static void a_library_without_functions(void **state)
{
	struct observation o;

	(void)state;
	start_live(&o, "NVML_EMPTY_PATH", "ok");
	assert_fact(&o, "/gpu/nvml/status", "\"error\"");
	assert_fact(&o, "/gpu/nvml/error", "\"the library has no nvmlInit_v2\"");
	assert_absent(&o, "/gpu/nvml/double");
	assert_absent(&o, "/source");
	end_live(&o);
}

static void no_library(void **state)
{
	const struct host_options live = {0};
	struct observation o = {.snapshot = json_object()};

	(void)state;
	setenv("RAILHEAD_NVML", "/nonexistent/libnvidia-ml.so.1", 1);
	assert_int_equal(host_open(&o.host, &live, NULL), 0);
	observe_gpu(&o);
	assert_fact(&o, "/gpu/nvml/status", "\"no-library\"");
	end_live(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_the_version_line),
		cmocka_unit_test(reads_parameters),
		cmocka_unit_test(reads_gpu_information),
		cmocka_unit_test(tells_the_driver),
		cmocka_unit_test(no_driver),
		cmocka_unit_test(asks_nvml),
		cmocka_unit_test(names_each_refusal),
		cmocka_unit_test(ends_a_hang),
		cmocka_unit_test(bounds_texts),
		cmocka_unit_test(a_library_without_functions),
		cmocka_unit_test(no_library),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
