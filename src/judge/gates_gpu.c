/* SPDX-License-Identifier: Apache-2.0 */
/* GPU gates of level 1: on the bus, driver, open module, NVML, CUDA. */
#include <string.h>

#include "base/text.h"
#include "judge/gpu.h"
#include "judge/registry.h"
#include "site/pci_path.h"

/* --- gpu.pci ---------------------------------------------------------------------------------- */

/* "10de:3182" of a PCI device of the snapshot. */
static const char *pci_id_of(struct judging *g, json_t *device)
{
	const char *vendor = json_get_string(device, "vendor", "");
	const char *id = json_get_string(device, "device", "");

	return judge_text(g, "%s:%s", text_starts_with(vendor, "0x") ? vendor + 2 : vendor,
			  text_starts_with(id, "0x") ? id + 2 : id);
}

#define PCI_DEVICES "/pci/devices/"

static size_t count_of(struct judging *g, const char *pci_id)
{
	const char *bdf;
	json_t *device;
	size_t n = 0;

	json_object_foreach(peek(g, "/pci/devices"), bdf, device) {
		if (!pci_is_gpu(device) || (pci_id && strcmp(pci_id_of(g, device), pci_id)))
			continue;
		fact_optional(g, "/pci/devices/%s/device", bdf);
		n++;
	}
	return n;
}

/* What of a device must be read to tell whether it is the declared GPU, or NULL: it is known. */
static const char *unread_of(json_t *device, const char *pci_id)
{
	const char *class = json_get_string(device, "class", "");

	if (!text_starts_with(class, "0x0300") && !text_starts_with(class, "0x0302"))
		return NULL;
	if (!json_get_string(device, "vendor", NULL))
		return "vendor";
	if (pci_id && pci_is_gpu(device) && !json_get_string(device, "device", NULL))
		return "device";
	return NULL;
}

/*
 * Devices that may be the declared GPU: their id was not read, or not even their class. With `say`
 * they are required facts, which make the verdict unknown with pointer and reason.
 */
static size_t count_unread(struct judging *g, const char *pci_id, bool say)
{
	const char *bdf, *member;
	json_t *device, *gap;
	size_t n = 0, i;

	json_object_foreach(peek(g, "/pci/devices"), bdf, device) {
		member = unread_of(device, pci_id);
		if (member && say)
			fact(g, "/pci/devices/%s/%s", bdf, member);
		n += member != NULL;
	}
	json_array_foreach(peek(g, "/gaps"), i, gap) {
		const char *pointer = json_get_string(gap, "pointer", "");

		if (!text_starts_with(pointer, PCI_DEVICES))
			continue;
		bdf = pointer + strlen(PCI_DEVICES);
		if (strchr(bdf, '/') || peek(g, PCI_DEVICES "%s", bdf))
			continue;
		if (say)
			fact(g, PCI_DEVICES "%s", bdf);
		n++;
	}
	return n;
}

#define FIX_MISSING_GPU                                                                        \
	"Look for the GPU in the BMC's inventory and for PCIe errors in the kernel log (AER, Xid " \
	"79 \"fallen off the bus\"); power cycle the node; check seating and power of the board."

static void judge_count(struct judging *g)
{
	size_t seen;

	for (size_t i = 0; i < g->node->n_gpus; i++) {
		const struct site_gpu *gpu = &g->node->gpus[i];
		const char *what = gpu->model ? gpu->model : gpu->pci_id ? gpu->pci_id : "GPU";
		int64_t wanted = gpu->count.set ? gpu->count.value : 1;
		size_t other;

		if (!gpu->count.set && !gpu->pci_id)
			continue;
		fact_declared(g, &gpu->where, json_integer(wanted), "nodes/%s/gpus/%zu/count",
			      g->node->name, i);
		seen = count_of(g, gpu->pci_id);
		other = gpu_count(g) - seen;
		if ((int64_t)seen < wanted &&
		    (int64_t)(seen + count_unread(g, gpu->pci_id, false)) >= wanted)
			count_unread(g, gpu->pci_id, true);
		else if (!seen && other)
			judge_fail(g, "gpu-other-model",
				   "correct the PCI ID in the site file, or put the declared GPU "
				   "into the node",
				   "no %s (%s) on the bus, but %zu other NVIDIA GPU%s", what,
				   gpu->pci_id,
				   other, other == 1 ? "" : "s");
		else if (gpu->count.set && (int64_t)seen < gpu->count.value)
			judge_fail(g, "gpu-missing", FIX_MISSING_GPU,
				   "%zu of %lld %s on the PCI bus", seen,
				   (long long)gpu->count.value,
				   what);
		else if (gpu->count.set && (int64_t)seen > gpu->count.value)
			judge_fail(g, "gpu-surplus", "correct the count in the site file",
				   "%zu %s on the PCI bus, declared are %lld", seen, what,
				   (long long)gpu->count.value);
	}
	if (!g->node->n_gpus)
		judge_assume(g, "the GPUs that the bus shows are all there should be");
}

/* Width below the maximum stays until repaired; a lower speed may be an idle link. */
static void judge_link(struct judging *g, const char *bdf)
{
	json_t *link = fact_optional(g, "/pci/devices/%s/link", bdf);
	const char *parent = json_string_value(peek(g, "/pci/devices/%s/parent", bdf));
	json_t *above = parent ? peek(g, "/pci/devices/%s/link", parent) : NULL;
	double speed = json_number_value(json_object_get(link, "speed_gts"));
	double max_speed = json_number_value(json_object_get(link, "max_speed_gts"));
	int64_t width = json_get_int(link, "width", 0), max_width = json_get_int(link, "max_width",
										       0);

	if (!link || !width || !max_width || speed <= 0 || max_speed <= 0) {
		judge_unknown(g, NULL, "speed and width of GPU %s were not observed", bdf);
		return;
	}
	if (width < max_width) {
		int64_t slot = json_get_int(above, "max_width", 0);

		if (slot && slot <= width) {
			fact(g, "/pci/devices/%s/link", parent);
			judge_fail(g, "gpu-slot-width", "move the GPU to a slot with all of its "
							"lanes",
				   "GPU %s runs at x%lld of x%lld: the bridge above it, %s, has "
				   "x%lld", bdf,
				   (long long)width, (long long)max_width, parent, (long long)slot);
		} else {
			judge_fail(g, "gpu-link-width",
				   "reseat the GPU or its riser, look at the slot's bifurcation in "
				   "the BIOS, then reboot: lanes are negotiated at start",
				   "GPU %s runs at x%lld of x%lld: lanes were lost", bdf,
				   (long long)width,
				   (long long)max_width);
		}
	}
	if (speed < max_speed) {
		double slot = json_number_value(json_object_get(above, "max_speed_gts"));

		if (slot > 0 && slot <= speed) {
			fact(g, "/pci/devices/%s/link", parent);
			judge_warn(g, "gpu-slot-speed", "nothing, when the host has no faster PCIe",
				   "GPU %s runs at %g of %g GT/s: the bridge above it, %s, has %g "
				   "GT/s", bdf,
				   speed, max_speed, parent, slot);
			return;
		}
		judge_warn(g, "gpu-link-speed",
			   judge_text(g, "read it again while the GPU works: `cat "
					 "/sys/bus/pci/devices/%s/current_link_speed`; if it stays "
					 "low: BIOS link speed, riser, retimer", bdf),
			   "GPU %s runs at %g of %g GT/s", bdf, speed, max_speed);
		judge_candidate(g, "gpu-link-power-saving", NULL,
				"an idle link may save power: the speed rises under load");
		judge_candidate(g, "gpu-link-training", NULL,
				"the link trained below its speed: the speed stays low under load");
	}
}

static void judge_pci(struct judging *g)
{
	const char *bdf, *first = NULL;
	json_t *device;
	size_t n;

	if (!peek(g, "/pci/devices")) {
		fact(g, "/pci/devices");	/* says why */
		return;
	}
	n = gpu_count(g);
	judge_count(g);
	json_object_foreach(peek(g, "/pci/devices"), bdf, device) {
		if (!pci_is_gpu(device))
			continue;
		judge_link(g, bdf);
		first = first ? first : bdf;
	}
	if (!first && count_unread(g, NULL, true))
		return;
	if (!first) {
		judge_fail(g, "gpu-missing", FIX_MISSING_GPU, "no GPU is on the PCI bus");
		return;
	}
	const char *id = json_get_string(peek(g, "/pci/devices/%s", first), "device", "");
	const char *model = gpu_model_name(id);

	judge_pass(g, "%zu GPU%s on the bus (%s%s%s), links at full width and speed", n,
		   n == 1 ? "" : "s", pci_id_of(g, peek(g, "/pci/devices/%s", first)),
		   model ? ", " : "", model ? model : "");
}

/* --- gpu.open-module -------------------------------------------------------------------------- */

static void judge_open_module(struct judging *g)
{
	const char *text, *license, *fix;
	bool loaded, open;

	if (!fact_bool(g, &loaded, "/gpu/driver/loaded"))
		return;
	if (!loaded) {
		judge_unknown(g, "load the driver (gpu.driver says what keeps it away)",
			      "no driver is loaded, so the loaded module is neither open nor "
			      "closed");
		judge_explained_by(g, "gpu.driver", NULL);
		return;
	}
	text = fact_optional_string(g, "/gpu/driver/text");
	if (!fact_bool(g, &open, "/gpu/driver/open"))
		return;
	license = fact_optional_string(g, "/os/modules/nvidia/file/license");
	if (open) {
		judge_pass(g, "open kernel module%s%s", license ? ", license of the file " : "",
			   license ? license : "");
		return;
	}
	fix = license && strstr(license, "GPL") ?
		      "reboot (or unload and load nvidia): the module file on disk is the open one" :
		      "GPU Operator: driver.kernelModuleType=open; host packages: nvidia-open "
		      "(kmod-nvidia-open-dkms) instead of the proprietary module; then reboot";
	if (!g->site->gpudirect && !g->site->assumed)
		judge_warn(g, "driver-closed-module", fix,
			   "closed kernel module (%s): no DMA-BUF export with it",
			   text ? text : "its text does not say Open");
	else
		judge_fail(g, "driver-closed-module", fix,
			   "closed kernel module (%s): it cannot export GPU memory as DMA-BUF",
			   text ? text : "its text does not say Open");
}

/* --- the gates -------------------------------------------------------------------------------- */

const struct gate gates_gpu[] = {
	{
		.id = "gpu.pci",
		.phase = 7,
		.level = 1,
		.scope = GATE_NODE,
		.title = "declared GPUs on the PCI bus, links at full width and speed",
		.judge = judge_pci,
		.not_applicable = gpu_absent,
		.proves = "As many GPUs of the declared PCI ID as declared answer on the bus, and "
			  "each link runs at the width and speed that the GPU has.",
		.why = "A GPU that fell off the bus, or trained at x8, still lets the operator and "
		       "the workload start: the first with one GPU less, the second with half the "
		       "bandwidth. 10de:3182 is the B300 SXM6 AC, 10de:31c2 the GB300.",
		.fix = "Count: BMC inventory, kernel log, power cycle. Width: seating, riser, "
		       "bifurcation. Speed: read it under load first, since an idle link may save "
		       "power.",
		.obtain = "/sys/bus/pci/devices must be readable; run `railhead snapshot` on the "
			  "node itself.",
		.source = "Linux Documentation/ABI/testing/sysfs-bus-pci (current_link_width, "
			  "max_link_width); device IDs: NVIDIA open-gpu-kernel-modules README, "
			  "first listed in 580.82.07",
	},
	{
		.id = "gpu.open-module",
		.phase = 8,
		.level = 1,
		.scope = GATE_NODE,
		.title = "open NVIDIA kernel module",
		.judge = judge_open_module,
		.not_applicable = gpu_absent,
		.proves = "The loaded NVIDIA module is the open one: /proc/driver/nvidia/version "
			  "says \"Open Kernel Module\".",
		.why = "DMA-BUF export of GPU memory exists in the open module only, and it is the "
		       "one way into an E810: nvidia-peermem needs a peer-memory API that inbox "
		       "RDMA does not have. That Blackwell has no proprietary module at all is "
		       "general knowledge and unverified here.",
		.fix = "GPU Operator: driver.kernelModuleType=open (`auto` needs a driver "
		       "container of 570.86.15, 570.124.06 or later). Host packages: the "
		       "nvidia-open flavour. Then reboot.",
		.obtain = "/proc/driver/nvidia/version exists while the driver is loaded.",
		.source = "NVIDIA cloud-native-docs gpu-operator-rdma.rst (DMA-BUF column: open "
			  "kernel module required); gpu-driver-container rhel10/nvidia-driver",
	},
	{
		.id = "gpu.driver",
		.phase = 9,
		.level = 1,
		.scope = GATE_NODE,
		.title = "one NVIDIA driver: loaded, installed and in range",
		.judge = judge_gpu_driver,
		.not_applicable = gpu_absent,
		.proves = "The driver is loaded, its version lies in the declared range, and "
			  "loaded module, module file, library and packages are of one version.",
		.why = "After an incomplete update the old module stays loaded, or two module "
		       "packages are installed and the older one wins: everything looks installed "
		       "and NVML refuses to work. NVML prints two components only (575.64 for "
		       "575.64.03), so equality in its text proves nothing.",
		.fix = "One version of module and library, `depmod -a`, `dracut -f`, reboot. B300 "
		       "needs 580.82.07 or later.",
		.obtain = "/proc/driver/nvidia/version, module file and package database must be "
			  "readable on the node.",
		.source = "NVIDIA open-gpu-kernel-modules (version text, device list from "
			  "580.82.07); negativo17/nvidia-driver#180 (two kmod packages)",
	},
	{
		.id = "gpu.nvml",
		.phase = 9,
		.level = 1,
		.scope = GATE_NODE,
		.title = "every GPU answers NVML",
		.judge = judge_gpu_nvml,
		.not_applicable = gpu_absent,
		.proves = "The management library loads, agrees with the module, and every GPU of "
			  "the PCI bus tells its BAR1 size, ECC and persistence mode within a "
			  "bounded time.",
		.why = "A GPU on the bus is not a GPU that works: firmware may hang (timeout), the "
		       "device may have fallen off (listed by PCI, unknown to NVML), or library "
		       "and module may not fit. BAR1 must hold every buffer that a NIC is to reach "
		       "on x86.",
		.fix = "Version mismatch: see gpu.driver. Timeout or missing GPU: Xid lines, "
		       "reset, power cycle.",
		.obtain = "libnvidia-ml.so.1 on the library path (with the driver container: below "
			  "/run/nvidia/driver).",
		.source = "NVML API (nvmlInit_v2, nvmlDeviceGetBAR1MemoryInfo); NVIDIA Xid "
			  "catalogue",
	},
	{
		.id = "cuda.run",
		.phase = 10,
		.level = 1,
		.scope = GATE_NODE,
		.title = "a CUDA kernel runs and returns the right result",
		.needs = { "gpu.driver", "gpu.nvml" },
		.judge = NULL,
		.not_applicable = gpu_absent,
		.proves = "A small kernel, run on each GPU through the driver API, gave the result "
			  "that was computed beforehand.",
		.why = "NVML is management only. That the compute path works (context, memory, "
		       "execution, copy back) is shown by nothing but a computation.",
		.fix = "Read the kernel log for Xid lines; check that /dev/nvidia* exist and that "
		       "libcuda.so.1 is of the module's version.",
		.obtain = "An active test on the GPU; it writes its record to /proofs/cuda.",
		.source = "CUDA driver API (cuInit, cuLaunchKernel)",
	},
};

const size_t n_gates_gpu = ARRAY_SIZE(gates_gpu);
