/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu.driver: one driver, loaded, installed and matched by its library.
 *
 * Up to four places tell a version, and after an incomplete update they differ: the loaded module
 * (/proc/driver/nvidia/version), the module file that the next boot loads, the user-space library,
 * and the packages. NVML prints two components only ("575.64" for 575.64.03), so its text never
 * proves equality.
 */
#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "judge/gpu.h"
#include "site/pci_path.h"

/* "3:575.64.03-1.el9" -> "575.64.03" */
static const char *upstream_version(struct judging *g, const char *package_version)
{
	const char *colon = strchr(package_version, ':');
	const char *start = colon ? colon + 1 : package_version;

	return judge_text(g, "%.*s", (int)strcspn(start, "-"), start);
}

/* Last part of a package name that is a driver version: "kmod-nvidia-5.14.0-570.el9_6-575.64". */
static const char *version_in_name(const char *name)
{
	const char *dash = strrchr(name, '-');

	return dash && isdigit((unsigned char)dash[1]) && strchr(dash, '.') ? dash + 1 : NULL;
}

static bool is_kmod_package(const char *name)
{
	static const char *const prefixes[] = { "kmod-nvidia", "akmod-nvidia", "nvidia-kmod",
						"nvidia-open-kmod", "nvidia-kernel-dkms",
						"nvidia-kernel-open-dkms", "dkms-nvidia" };

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
		if (text_starts_with(name, prefixes[i]))
			return true;
	}
	return false;
}

struct kmod {
	const char *package;	/* as printed: name, with the version unless the name has it */
	const char *kernel;	/* part of the name that stands for the kernel, "" when none */
	const char *version;	/* of the driver */
};

struct kmods {
	struct kmod *list;	/* owned; its texts live as long as the judge */
	size_t n, capacity;
};

static void cleanup_kmods(struct kmods *k)
{
	free(k->list);
}

static void kmods_of_package(struct judging *g, struct kmods *k, const char *name)
{
	const char *in_name = version_in_name(name);
	json_t *installed = fact_optional(g, "/os/packages/%s", name), *entry;
	size_t i;

	json_array_foreach(installed, i, entry) {
		const char *text = json_string_value(entry);

		if (!text)
			continue;
		array_reserve(k->list, k->n, k->capacity);
		k->list[k->n++] = (struct kmod){
			.package = in_name ? name : judge_text(g, "%s %s", name, text),
			.kernel = in_name ? judge_text(g, "%.*s", (int)(in_name - name), name) : "",
			.version = in_name ? in_name : upstream_version(g, text),
		};
	}
}

/* Two module packages for one kernel with different driver versions. */
static bool kmods_conflict(const struct kmods *k, const struct kmod **a, const struct kmod **b)
{
	for (size_t i = 0; i < k->n; i++) {
		for (size_t j = i + 1; j < k->n; j++) {
			if (strcmp(k->list[i].kernel, k->list[j].kernel) ||
			    !strcmp(k->list[i].version, k->list[j].version))
				continue;
			*a = &k->list[i];
			*b = &k->list[j];
			return true;
		}
	}
	return false;
}

static struct kmods kmods_installed(struct judging *g)
{
	struct kmods k = {0};
	const char *name;
	json_t *versions;

	json_object_foreach(peek(g, "/os/packages"), name, versions) {
		if (is_kmod_package(name))
			kmods_of_package(g, &k, name);
	}
	return k;
}

/* Version of the user-space libraries, from the best witness; NULL: nothing tells it in full. */
static const char *library_version(struct judging *g)
{
	static const char *const packages[] = {
		"libnvidia-ml", "nvidia-driver-cuda-libs", "nvidia-driver-libs", "libnvidia-ml1",
		"nvidia-driver-cuda", "nvidia-driver",
	};
	const char *path = fact_optional_string(g, "/gpu/nvml/library_path");
	const char *so = path ? strstr(path, "libnvidia-ml.so.") : NULL;

	/* the file name ends in the full version, unless the path is the link libnvidia-ml.so.1 */
	if (so && strchr(so + strlen("libnvidia-ml.so."), '.'))
		return so + strlen("libnvidia-ml.so.");
	for (size_t i = 0; i < ARRAY_SIZE(packages); i++) {
		json_t *list = peek(g, "/os/packages/%s", packages[i]);

		if (json_array_size(list) == 1 && json_is_string(json_array_get(list, 0))) {
			fact(g, "/os/packages/%s", packages[i]);
			return upstream_version(g, json_string_value(json_array_get(list, 0)));
		}
	}
	return NULL;
}

/* NVML's two-component version against a full one: may they be the same? */
static bool may_be_same(const char *nvml, const char *full)
{
	size_t len = strlen(nvml);

	return !strncmp(nvml, full, len) && (full[len] == '\0' || full[len] == '.');
}

#define FIX_ONE_KMOD                                                                           \
	"complete the update so that module package and library have one version, remove the " \
	"other module package (`dnf remove PACKAGE`), rebuild the initramfs (`depmod -a`, "    \
	"`dracut -f`) and reboot"

static void judge_mismatch(struct judging *g, const char *loaded, const char *library,
			   const char *file, const struct kmods *kmods)
{
	const struct kmod *a, *b;

	judge_fail(g, "driver-library-mismatch", FIX_ONE_KMOD,
		   "the loaded module is %s, the library is %s", loaded, library);
	if (kmods_conflict(kmods, &a, &b))
		judge_fail(g, "driver-two-kmods", FIX_ONE_KMOD,
			   "two module packages are installed, %s and %s, and the one of %s is "
			   "loaded",
			   a->package, b->package, loaded);
	else if (file && !strcmp(file, library))
		judge_fail(g, "driver-old-module-loaded", "reboot, or unload and load the module",
			   "the update to %s is installed, but the module of %s is still loaded",
			   library,
			   loaded);
	else if (file && !strcmp(file, loaded))
		judge_fail(g, "driver-module-not-updated",
			   "install the module package of the library's version, then reboot; with "
			   "DKMS look at `dkms status`",
			   "the library was updated to %s, the module file is still %s", library,
			   file);
}

static void judge_versions(struct judging *g, const char *loaded)
{
	const char *file = fact_optional_string(g, "/os/modules/nvidia/file/version");
	const char *nvml = fact_optional_string(g, "/gpu/nvml/library_version");
	const char *status = fact_optional_string(g, "/gpu/nvml/status");
	const char *library = library_version(g);
	__attribute__((cleanup(cleanup_kmods))) struct kmods kmods = kmods_installed(g);
	const struct kmod *a, *b;

	/* NVML itself refuses to work with another version than its own: "ok" settles it */
	bool settled = status && !strcmp(status, "ok");

	if (!settled && library && strcmp(library, loaded)) {
		judge_mismatch(g, loaded, library, file, &kmods);
	} else if (!settled && nvml && !may_be_same(nvml, loaded)) {
		judge_mismatch(g, loaded, nvml, file, &kmods);
	} else if (status && !strcmp(status, "version-mismatch")) {
		judge_mismatch(g, loaded, judge_text(g, "another (NVML shows %s, two components "
							"only)",
						     nvml ? nvml : "no version"), file, &kmods);
	} else if (kmods_conflict(&kmods, &a, &b)) {
		judge_warn(g, "driver-two-kmods", FIX_ONE_KMOD,
			   "two module packages are installed, %s and %s: the next boot may load "
			   "the other one", a->package, b->package);
	} else if (file && strcmp(file, loaded)) {
		judge_fail(g, "driver-loaded-not-installed",
			   "reboot so that the installed module is loaded, then check again",
			   "the loaded module is %s, the installed module file is %s", loaded,
			   file);
	}
}

static void judge_range(struct judging *g, const char *loaded)
{
	for (size_t i = 0; i < g->node->n_gpus; i++) {
		const struct site_gpu *gpu = &g->node->gpus[i];

		if (gpu->driver_min) {
			fact_declared(g, &gpu->where, json_text_new(gpu->driver_min),
				      "nodes/%s/gpus/%zu/driver/min", g->node->name, i);
			if (text_version_compare(loaded, gpu->driver_min) < 0)
				judge_fail(g, "driver-too-old",
					   "install the declared driver (GPU Operator: "
					   "driver.version) and reboot or let the operator restart "
					   "the driver pod",
					   "driver %s is older than the declared %s", loaded,
					   gpu->driver_min);
		}
		if (gpu->driver_max) {
			fact_declared(g, &gpu->where, json_text_new(gpu->driver_max),
				      "nodes/%s/gpus/%zu/driver/max", g->node->name, i);
			if (text_version_compare(loaded, gpu->driver_max) > 0)
				judge_fail(g, "driver-too-new",
					   "install a driver of the declared range, or widen the "
					   "range after a look at its release notes",
					   "driver %s is newer than the declared %s", loaded,
					   gpu->driver_max);
		}
	}
}

/* Not loaded: what has the GPU instead, or what keeps the module away? */
static void judge_not_loaded(struct judging *g)
{
	const char *release = fact_optional_string(g, "/os/kernel/release");
	const char *vermagic = fact_optional_string(g, "/os/modules/nvidia/file/vermagic");
	json_t *file = fact_optional(g, "/os/modules/nvidia/file");
	json_t *blacklisted = fact_optional(g, "/os/modules/nvidia/blacklisted");
	const char *bdf;
	json_t *device;

	if (peek(g, "/pci/devices") && !gpu_count(g)) {
		judge_fail(g, "driver-no-gpu", NULL, "no driver is loaded, and no GPU is on the "
						     "PCI bus");
		judge_explained_by(g, "gpu.pci", NULL);
		return;
	}
	json_object_foreach(peek(g, "/pci/devices"), bdf, device) {
		const char *driver = json_get_string(device, "driver", NULL);

		if (!pci_is_gpu(device) || !driver || !strcmp(driver, "nvidia"))
			continue;
		fact(g, "/pci/devices/%s/driver", bdf);
		judge_fail(g, "gpu-other-driver",
			   judge_text(g, "free the GPU from %s: nouveau is kept away by `options "
					 "nouveau modeset=0` and `blacklist nouveau` in modprobe.d "
					 "and a new initramfs; vfio-pci by removing its device IDs "
					 "from its options", driver),
			   "the driver is not loaded; GPU %s is bound to %s", bdf, driver);
		return;
	}
	if (json_is_null(file)) {
		judge_fail(g, "driver-not-installed",
			   "let the GPU Operator's driver container build it, or install the "
			   "driver packages of the host",
			   "the driver is not loaded, and there is no module nvidia for this "
			   "kernel");
		return;
	}
	if (json_is_true(blacklisted)) {
		judge_fail(g, "driver-blacklisted",
			   "remove the `blacklist nvidia` line from modprobe.d, then `modprobe "
			   "nvidia`",
			   "the driver is not loaded: the module nvidia is blacklisted in "
			   "modprobe.d");
		return;
	}
	if (vermagic && release && (strncmp(vermagic, release, strlen(release)) ||
				    vermagic[strlen(release)] != ' ')) {
		judge_fail(g, "driver-other-kernel",
			   "build or install the module for the running kernel, or boot the kernel "
			   "that it was built for",
			   "the driver is not loaded: its module was built for %.*s, and %s runs",
			   (int)strcspn(vermagic, " "), vermagic, release);
		return;
	}
	judge_fail(g, "driver-not-loaded",
		   "`modprobe nvidia`, and read the kernel log for what it says (signature refused "
		   "under Secure Boot, GPU not supported by this branch)",
		   "the NVIDIA driver is not loaded");
}

void judge_gpu_driver(struct judging *g)
{
	const char *version;
	bool loaded;

	if (!fact_bool(g, &loaded, "/gpu/driver/loaded"))
		return;
	if (!loaded) {
		/* a driver is missed where a GPU is known of */
		if (gpu_declared(g) || fact(g, "/pci/devices"))
			judge_not_loaded(g);
		return;
	}
	version = fact_string(g, "/gpu/driver/version");
	if (!version)
		return;
	judge_versions(g, version);
	judge_range(g, version);
	judge_pass(g, "driver %s loaded", version);
}
