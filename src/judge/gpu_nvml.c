/* SPDX-License-Identifier: Apache-2.0 */
/* gpu.nvml: does every GPU answer the management library? */
#include <string.h>

#include "judge/gpu.h"
#include "site/pci_path.h"

/* What NVML said instead of "ok". */
static void judge_status(struct judging *g, const char *status)
{
	const char *error = fact_optional_string(g, "/gpu/nvml/error");
	const char *library = fact_optional_string(g, "/gpu/nvml/library_version");
	const char *loaded = fact_optional_string(g, "/gpu/driver/version");

	if (!strcmp(status, "version-mismatch")) {
		judge_fail(g, "nvml-version-mismatch",
			   "bring module and library to one version; gpu.driver names what is "
			   "installed",
			   "NVML refuses: driver/library version mismatch (loaded module %s; "
			   "library %s as NVML shows it, two components only)", 
			   loaded ? loaded : "unknown",
			   library ? library : "unknown");
		judge_explained_by(g, "gpu.driver", NULL);
	} else if (!strcmp(status, "no-library")) {
		judge_fail(g, "nvml-no-library",
			   "RHEL: install the package with libnvidia-ml.so.1 "
			   "(nvidia-driver-cuda-libs or libnvidia-ml); with the driver container "
			   "the library lies below /run/nvidia/driver: run railhead with "
			   "LD_LIBRARY_PATH set to it",
			   "libnvidia-ml.so.1 was not found");
	} else if (!strcmp(status, "no-driver")) {
		judge_fail(g, "nvml-no-driver", "load the driver; gpu.driver says what keeps it "
						"away",
			   "NVML finds no driver");
		judge_explained_by(g, "gpu.driver", NULL);
	} else if (!strcmp(status, "timeout")) {
		judge_fail(g, "nvml-timeout",
			   "read the kernel log for Xid lines; a GPU that no longer answers needs "
			   "a reset (`nvidia-smi --gpu-reset`) or a power cycle of the node",
			   "NVML did not answer in time: a GPU or its firmware (GSP) hangs");
	} else if (!strcmp(status, "crashed")) {
		judge_fail(g, "nvml-crashed",
			   "reinstall the library in the version of the loaded module",
			   "NVML crashed in its child process%s%s", error ? ": " : "",
			   error ? error : "");
	} else {
		judge_fail(g, "nvml-error", "read the kernel log for NVRM and Xid lines",
			   "NVML answers with an error%s%s", error ? ": " : "", error ? error : "");
	}
}

struct tally {
	size_t answering, persistence_off;
	int64_t bar1_min_bytes;
};

static void judge_one(struct judging *g, const char *bdf, struct tally *t)
{
	json_t *entry = fact_optional(g, "/gpu/devices/%s", bdf);
	json_t *bar1 = json_object_get(entry, "bar1_total_bytes");
	json_t *ecc = json_object_get(entry, "ecc"), *mode = json_object_get(entry, "persistence");

	if (!entry || (!bar1 && !ecc && !mode)) {
		judge_fail(g, "gpu-not-answering",
			   "look for Xid 79 (fallen off the bus) in the kernel log; reset the GPU "
			   "or power cycle the node; when it returns, check seating and power",
			   "GPU %s is on the PCI bus, but NVML does not list it", bdf);
		return;
	}
	t->answering++;
	if (!bar1 || !json_is_integer(bar1))
		judge_unknown(g, NULL, "GPU %s did not tell its BAR1 size", bdf);
	else if (t->answering == 1 || json_integer_value(bar1) < t->bar1_min_bytes)
		t->bar1_min_bytes = json_integer_value(bar1);
	if (json_is_false(ecc))
		judge_warn(g, "gpu-ecc-off", judge_text(g, "`nvidia-smi -i %s -e 1`, then reset",
							   bdf),
			   "GPU %s runs without ECC: bit errors in HBM go unseen", bdf);
	t->persistence_off += json_is_false(mode);
}

void judge_gpu_nvml(struct judging *g)
{
	const char *status = fact_string(g, "/gpu/nvml/status");
	struct tally t = {0};
	const char *bdf;
	json_t *device;

	if (!status)
		return;
	if (strcmp(status, "ok")) {
		judge_status(g, status);
		return;
	}
	if (gpu_count(g) && !fact(g, "/gpu/devices"))
		return;
	json_object_foreach(peek(g, "/pci/devices"), bdf, device) {
		if (pci_is_gpu(device))
			judge_one(g, bdf, &t);
	}
	if (!t.answering) {
		if (!gpu_count(g))
			judge_unknown(g, NULL, "no GPU is on the PCI bus to be asked");
		return;
	}
	judge_pass(g, "%zu GPU%s answer%s; smallest BAR1 %lld MiB%s", t.answering,
		   t.answering == 1 ? "" : "s", t.answering == 1 ? "s" : "",
		   (long long)(t.bar1_min_bytes >> 20),
		   t.persistence_off ? "; persistence mode is off" : "");
}
