/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stand-in for libnvidia-ml.so.1 on machines without a GPU. It exports `railhead_double`, so that
 * a snapshot taken with it says so. NVML_DOUBLE chooses how it behaves:
 *
 *	ok		two GPUs (the default); the second has no ECC
 *	hang		nvmlInit_v2() does not return
 *	crash		nvmlInit_v2() dies of SIGSEGV
 *	mismatch	nvmlInit_v2() says that library and kernel module differ
 *	no-driver	nvmlInit_v2() says that no driver is loaded
 *	lost		two GPUs are counted, the second cannot be reached
 *	endless		texts are written without a final NUL
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* nvmlReturn_t */
enum {
	SUCCESS = 0,
	ERROR_NOT_SUPPORTED = 3,
	ERROR_DRIVER_NOT_LOADED = 9,
	ERROR_GPU_IS_LOST = 15,
	ERROR_LIB_RM_VERSION_MISMATCH = 18,
};

struct pci_info {
	char bus_id_legacy[16];
	unsigned int domain, bus, device, pci_device_id, pci_subsystem_id;
	char bus_id[32];
};

struct bar1_memory {
	unsigned long long total, free, used;
};

/* The handle of GPU N is the address of gpus[N]. */
static const struct pci_info gpus[] = {
	{"0000:1B:00.0", 0, 0x1b, 0, 0x318210de, 0, "00000000:1B:00.0"},
	{"10000:43:00.0", 0x10000, 0x43, 0, 0x318210de, 0, "00010000:43:00.0"},
};

EXPORT const int railhead_double = 1;

static int mode_is(const char *mode)
{
	const char *wanted = getenv("NVML_DOUBLE");

	return strcmp(wanted ? wanted : "ok", mode) == 0;
}

static int text(char *out, unsigned int length, const char *value)
{
	if (mode_is("endless"))
		memset(out, 'x', length);
	else
		strncpy(out, value, length);
	return SUCCESS;
}

EXPORT int nvmlInit_v2(void);
EXPORT int nvmlInit_v2(void)
{
	if (mode_is("hang"))
		for (;;)
			pause();
	if (mode_is("crash")) {
		signal(SIGSEGV, SIG_DFL);
		raise(SIGSEGV);
	}
	return mode_is("mismatch") ? ERROR_LIB_RM_VERSION_MISMATCH :
	       mode_is("no-driver") ? ERROR_DRIVER_NOT_LOADED : SUCCESS;
}

EXPORT int nvmlShutdown(void);
EXPORT int nvmlShutdown(void)
{
	return SUCCESS;
}

EXPORT const char *nvmlErrorString(int result);
EXPORT const char *nvmlErrorString(int result)
{
	switch (result) {
	case ERROR_DRIVER_NOT_LOADED:
		return "Driver Not Loaded";
	case ERROR_GPU_IS_LOST:
		return "GPU is lost";
	case ERROR_LIB_RM_VERSION_MISMATCH:
		return "Driver/library version mismatch";
	default:
		return NULL;
	}
}

EXPORT int nvmlSystemGetDriverVersion(char *version, unsigned int length);
EXPORT int nvmlSystemGetDriverVersion(char *version, unsigned int length)
{
	return text(version, length, "580.82.07");
}

EXPORT int nvmlSystemGetNVMLVersion(char *version, unsigned int length);
EXPORT int nvmlSystemGetNVMLVersion(char *version, unsigned int length)
{
	return text(version, length, "13.580.82.07");
}

EXPORT int nvmlDeviceGetCount_v2(unsigned int *n);
EXPORT int nvmlDeviceGetCount_v2(unsigned int *n)
{
	*n = sizeof(gpus) / sizeof(gpus[0]);
	return SUCCESS;
}

EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned int index, const struct pci_info **gpu);
EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned int index, const struct pci_info **gpu)
{
	if (index == 1 && mode_is("lost"))
		return ERROR_GPU_IS_LOST;
	*gpu = &gpus[index];
	return SUCCESS;
}

EXPORT int nvmlDeviceGetPciInfo_v3(const struct pci_info *gpu, struct pci_info *pci);
EXPORT int nvmlDeviceGetPciInfo_v3(const struct pci_info *gpu, struct pci_info *pci)
{
	*pci = *gpu;
	return SUCCESS;
}

EXPORT int nvmlDeviceGetName(const struct pci_info *gpu, char *name, unsigned int length);
EXPORT int nvmlDeviceGetName(const struct pci_info *gpu, char *name, unsigned int length)
{
	(void)gpu;
	return text(name, length, "NVML test double");
}

EXPORT int nvmlDeviceGetUUID(const struct pci_info *gpu, char *uuid, unsigned int length);
EXPORT int nvmlDeviceGetUUID(const struct pci_info *gpu, char *uuid, unsigned int length)
{
	return text(uuid, length, gpu == &gpus[0] ? "GPU-double-0" : "GPU-double-1");
}

EXPORT int nvmlDeviceGetBAR1MemoryInfo(const struct pci_info *gpu, struct bar1_memory *bar1);
EXPORT int nvmlDeviceGetBAR1MemoryInfo(const struct pci_info *gpu, struct bar1_memory *bar1)
{
	(void)gpu;
	*bar1 = (struct bar1_memory){512ull << 30, 511ull << 30, 1ull << 30};
	return SUCCESS;
}

EXPORT int nvmlDeviceGetEccMode(const struct pci_info *gpu, int *current, int *pending);
EXPORT int nvmlDeviceGetEccMode(const struct pci_info *gpu, int *current, int *pending)
{
	*current = *pending = 1;
	return gpu == &gpus[0] ? SUCCESS : ERROR_NOT_SUPPORTED;
}

EXPORT int nvmlDeviceGetPersistenceMode(const struct pci_info *gpu, int *mode);
EXPORT int nvmlDeviceGetPersistenceMode(const struct pci_info *gpu, int *mode)
{
	*mode = gpu == &gpus[0];
	return SUCCESS;
}

#define PCIE(name, number)                                                                     \
	EXPORT int name(const struct pci_info *gpu, unsigned int *value);                      \
	EXPORT int name(const struct pci_info *gpu, unsigned int *value)                       \
	{                                                                                      \
		(void)gpu;                                                                     \
		*value = (number);                                                             \
		return SUCCESS;                                                                \
	}

PCIE(nvmlDeviceGetCurrPcieLinkGeneration, 5)
PCIE(nvmlDeviceGetMaxPcieLinkGeneration, 6)
PCIE(nvmlDeviceGetCurrPcieLinkWidth, 8)
PCIE(nvmlDeviceGetMaxPcieLinkWidth, 16)
