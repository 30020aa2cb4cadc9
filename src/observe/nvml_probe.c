/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What NVML says about the GPUs. Runs in a child: after a driver update or a GPU fault the library
 * may hang or crash. The declarations are the few that are used, of the public interface (nvml.h),
 * so that nothing of CUDA is needed to build.
 */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "observe/gpu.h"

/* nvmlReturn_t */
#define NVML_SUCCESS 0
#define NVML_ERROR_DRIVER_NOT_LOADED 9
#define NVML_ERROR_LIB_RM_VERSION_MISMATCH 18

/* Sizes of nvml.h: NVML_DEVICE_PCI_BUS_ID_BUFFER_SIZE and NVML_DEVICE_PCI_BUS_ID_BUFFER_V2_SIZE;
 * for versions and names the largest there is (NVML_DEVICE_NAME_V2_BUFFER_SIZE). */
#define BUS_ID_SIZE 32
#define BUS_ID_V2_SIZE 16
#define TEXT_SIZE 96

struct nvml_pci_info {
	char bus_id_legacy[BUS_ID_V2_SIZE];
	unsigned int domain, bus, device, pci_device_id, pci_subsystem_id;
	char bus_id[BUS_ID_SIZE];
};

struct nvml_bar1_memory {
	unsigned long long total, free, used;
};

typedef struct nvml_device *nvml_device;

struct nvml {
	int (*init)(void);
	int (*shutdown)(void);
	const char *(*error_string)(int result);
	int (*driver_version)(char *version, unsigned int length);
	int (*nvml_version)(char *version, unsigned int length);
	int (*count)(unsigned int *n);
	int (*by_index)(unsigned int index, nvml_device *device);
	int (*pci_info)(nvml_device device, struct nvml_pci_info *pci);
	int (*name)(nvml_device device, char *name, unsigned int length);
	int (*uuid)(nvml_device device, char *uuid, unsigned int length);
	int (*bar1)(nvml_device device, struct nvml_bar1_memory *bar1);
	int (*ecc)(nvml_device device, int *current, int *pending);
	int (*persistence)(nvml_device device, int *mode);
	int (*generation)(nvml_device device, unsigned int *value);
	int (*max_generation)(nvml_device device, unsigned int *value);
	int (*width)(nvml_device device, unsigned int *value);
	int (*max_width)(nvml_device device, unsigned int *value);
};

/* NULL, or the name of a function that the library lacks. */
static const char *nvml_load(struct nvml *nvml, void *library)
{
	const struct {
		const char *name;
		void *function;
	} table[] = {
		{"nvmlInit_v2", &nvml->init},
		{"nvmlShutdown", &nvml->shutdown},
		{"nvmlErrorString", &nvml->error_string},
		{"nvmlSystemGetDriverVersion", &nvml->driver_version},
		{"nvmlSystemGetNVMLVersion", &nvml->nvml_version},
		{"nvmlDeviceGetCount_v2", &nvml->count},
		{"nvmlDeviceGetHandleByIndex_v2", &nvml->by_index},
		{"nvmlDeviceGetPciInfo_v3", &nvml->pci_info},
		{"nvmlDeviceGetName", &nvml->name},
		{"nvmlDeviceGetUUID", &nvml->uuid},
		{"nvmlDeviceGetBAR1MemoryInfo", &nvml->bar1},
		{"nvmlDeviceGetEccMode", &nvml->ecc},
		{"nvmlDeviceGetPersistenceMode", &nvml->persistence},
		{"nvmlDeviceGetCurrPcieLinkGeneration", &nvml->generation},
		{"nvmlDeviceGetMaxPcieLinkGeneration", &nvml->max_generation},
		{"nvmlDeviceGetCurrPcieLinkWidth", &nvml->width},
		{"nvmlDeviceGetMaxPcieLinkWidth", &nvml->max_width},
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		void *symbol = dlsym(library, table[i].name);
		if (!symbol)
			return table[i].name;
		memcpy(table[i].function, &symbol, sizeof(symbol));
	}
	return NULL;
}

static void put_text(json_t *facts, const char *key, const char *text)
{
	json_put(facts, key, json_textn_new(text, strnlen(text, TEXT_SIZE)));
}

static void put_flag(json_t *facts, const char *key, int rc, int value)
{
	if (rc == NVML_SUCCESS)
		json_put_bool(facts, key, value);
}

static void put_pcie(const struct nvml *nvml, nvml_device device, json_t *facts)
{
	const struct {
		const char *key;
		int (*get)(nvml_device device, unsigned int *value);
	} table[] = {
		{"generation", nvml->generation}, {"width", nvml->width},
		{"max_generation", nvml->max_generation}, {"max_width", nvml->max_width},
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		unsigned int value;
		if (table[i].get(device, &value) == NVML_SUCCESS)
			json_put_int(json_obj(facts, "pcie"), table[i].key, value);
	}
}

static int probe_device(const struct nvml *nvml, unsigned int index, json_t *result)
{
	struct nvml_bar1_memory bar1;
	struct nvml_pci_info pci = {0};
	char text[TEXT_SIZE];
	nvml_device device;
	int value, pending, rc;

	rc = nvml->by_index(index, &device);
	if (rc == NVML_SUCCESS)
		rc = nvml->pci_info(device, &pci);
	if (rc != NVML_SUCCESS)
		return rc;
	/* As sysfs writes it; a GPU is function 0. */
	_cleanup_free_ char *bdf = xasprintf("%04x:%02x:%02x.0", pci.domain, pci.bus, pci.device);
	json_t *facts = json_obj(json_obj(result, "devices"), bdf);

	if (nvml->name(device, text, sizeof(text)) == NVML_SUCCESS)
		put_text(facts, "model", text);
	if (nvml->uuid(device, text, sizeof(text)) == NVML_SUCCESS)
		put_text(facts, "uuid", text);
	if (nvml->bar1(device, &bar1) == NVML_SUCCESS) {
		json_put_u64(facts, "bar1_total_bytes", bar1.total);
		json_put_u64(facts, "bar1_used_bytes", bar1.used);
	}
	rc = nvml->ecc(device, &value, &pending);
	put_flag(facts, "ecc", rc, value);
	rc = nvml->persistence(device, &value);
	put_flag(facts, "persistence", rc, value);
	put_pcie(nvml, device, facts);
	return NVML_SUCCESS;
}

static void put_status(json_t *result, const struct nvml *nvml, int rc, const char *what)
{
	const char *text;

	if (rc == NVML_SUCCESS) {
		json_put_string(result, "status", "ok");
		return;
	}
	json_put_string(result, "status", rc == NVML_ERROR_DRIVER_NOT_LOADED ? "no-driver" :
			rc == NVML_ERROR_LIB_RM_VERSION_MISMATCH ? "version-mismatch" : "error");
	text = nvml->error_string(rc);
	json_put_stringf(result, "error", "%s: %s (%d)", what, text ? text : "unknown", rc);
}

static void put_library(json_t *result, const struct nvml *nvml, void *library)
{
	char text[TEXT_SIZE];
	void *symbol = dlsym(library, "nvmlInit_v2");
	Dl_info info;

	if (dladdr(symbol, &info) && info.dli_fname)
		json_put_string(result, "library_path", info.dli_fname);
	/* A test double says what it is, so that nothing it says is taken for a real GPU. */
	if (dlsym(library, "railhead_double"))
		json_put_bool(result, "double", true);
	/* NVML tells its own version before it is initialized. */
	if (nvml->nvml_version(text, sizeof(text)) == NVML_SUCCESS)
		put_text(result, "library_version", text);
}

int nvml_probe(json_t *result, struct error *err)
{
	const char *name = getenv("RAILHEAD_NVML");
	void *library = dlopen(name && *name ? name : "libnvidia-ml.so.1", RTLD_NOW);
	struct nvml nvml = {0};
	unsigned int n = 0;
	int rc;

	(void)err;
	if (!library) {
		json_put_string(result, "status", "no-library");
		json_put_string(result, "error", dlerror());
		return 0;
	}
	const char *missing = nvml_load(&nvml, library);
	if (missing) {
		json_put_string(result, "status", "error");
		json_put_stringf(result, "error", "the library has no %s", missing);
		return 0;
	}
	put_library(result, &nvml, library);

	rc = nvml.init();
	if (rc != NVML_SUCCESS) {
		put_status(result, &nvml, rc, "nvmlInit_v2");
		return 0;
	}
	char text[TEXT_SIZE];
	if (nvml.driver_version(text, sizeof(text)) == NVML_SUCCESS)
		put_text(result, "driver_version", text);
	rc = nvml.count(&n);
	put_status(result, &nvml, rc, "nvmlDeviceGetCount_v2");
	json_obj(result, "devices");
	for (unsigned int i = 0; rc == NVML_SUCCESS && i < n; i++) {
		rc = probe_device(&nvml, i, result);
		if (rc != NVML_SUCCESS) {
			_cleanup_free_ char *what = xasprintf("GPU %u", i);
			put_status(result, &nvml, rc, what);
		}
	}
	nvml.shutdown();
	return 0;
}
