/* SPDX-License-Identifier: Apache-2.0 */
/* libcuda.so.1 at run time, and what its errors mean. Facts: cuda.h of CUDA 12.9. */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "prove/cuda.h"

static const struct {
	cu_result result;
	int code;
	const char *meaning;
} meanings[] = {
	{1, EINVAL, "an argument is not accepted"},
	{2, ENOMEM, "the GPU has not that much free memory"},
	{3, ENODEV, "the driver could not be initialized"},
	{34, ELIBACC, "this libcuda is a stub for linking, not the driver's"},
	{46, EBUSY, "another process has the GPU in exclusive mode"},
	{100, ENODEV, "the driver sees no GPU"},
	{101, ENODEV, "there is no such GPU"},
	{209, ENOEXEC, "the GPU is older than what the kernels are written for"},
	{214, EIO, "the GPU met an uncorrectable ECC error"},
	{218, ENOEXEC, "the driver does not take the kernels' PTX"},
	{220, EIO, "NVLink met an uncorrectable error"},
	{221, ENOEXEC, "libnvidia-ptxjitcompiler.so.1 is not where libcuda.so.1 is"},
	{222, ENOEXEC, "the driver is too old for the kernels' PTX"},
	{223, ENOEXEC, "CUDA_DISABLE_PTX_JIT forbids to compile the kernels"},
	{304, EIO, "a call of the operating system failed"},
	{700, EFAULT, "a kernel went to an address that is not mapped"},
	{716, EFAULT, "a kernel went to an address that is not aligned"},
	{719, EIO, "a kernel failed on the GPU"},
	{800, EPERM, "not permitted"},
	{801, EOPNOTSUPP, "not supported by this GPU or its driver"},
	{802, EAGAIN, "the system is not ready; with NVSwitch: does the fabric manager run?"},
	{803, ELIBACC, "libcuda and the kernel module are of different versions"},
	{804, ELIBACC, "the forward compatibility package does not support this GPU"},
	{999, EIO, "the driver does not say why; see the kernel log for Xid"},
};

int cuda_error(const struct cuda *cuda, cu_result result, struct error *err, const char *fmt, ...)
{
	const char *name = NULL, *meaning = NULL;
	int code = EIO;
	va_list ap;

	for (size_t i = 0; i < ARRAY_SIZE(meanings); i++)
		if (meanings[i].result == result) {
			code = meanings[i].code;
			meaning = meanings[i].meaning;
		}
	if (!cuda->error_name || cuda->error_name(result, &name) != 0 || !name)
		name = "CUresult";
	va_start(ap, fmt);
	_cleanup_free_ char *what = xvasprintf(fmt, ap);
	va_end(ap);
	return error_set(err, -code, "%s: %s (%d)%s%s", what, name, result, meaning ? ": " : "",
			 meaning ? meaning : "");
}

/* The name of a function that the library lacks, NULL: it has all. */
static const char *look_up(struct cuda *cuda, void *library, const char **since)
{
	const struct {
		const char *name;
		void *function;
		const char *since;	/* CUDA version; NULL: older than any driver in use */
	} table[] = {
		{"cuInit", &cuda->init},
		{"cuDriverGetVersion", &cuda->driver_version},
		{"cuGetErrorName", &cuda->error_name},
		{"cuDeviceGetCount", &cuda->device_count},
		{"cuDeviceGet", &cuda->device_get},
		{"cuDeviceGetByPCIBusId", &cuda->device_by_bus_id},
		{"cuDeviceGetPCIBusId", &cuda->device_bus_id},
		{"cuDeviceGetName", &cuda->device_name},
		{"cuDeviceGetAttribute", &cuda->device_attribute},
		{"cuDevicePrimaryCtxRetain", &cuda->context_retain},
		{"cuDevicePrimaryCtxRelease_v2", &cuda->context_release, "11.0"},
		{"cuCtxPushCurrent_v2", &cuda->context_push},
		{"cuCtxPopCurrent_v2", &cuda->context_pop},
		{"cuCtxSynchronize", &cuda->context_synchronize},
		{"cuMemAlloc_v2", &cuda->alloc},
		{"cuMemFree_v2", &cuda->free},
		{"cuMemGetInfo_v2", &cuda->memory_info},
		{"cuMemGetAddressRange_v2", &cuda->address_range},
		{"cuMemcpyHtoD_v2", &cuda->copy_to_gpu},
		{"cuMemcpyDtoH_v2", &cuda->copy_to_host},
		{"cuMemGetHandleForAddressRange", &cuda->export_range, "11.7"},
		{"cuFlushGPUDirectRDMAWrites", &cuda->flush_writes, "11.3"},
		{"cuModuleLoadDataEx", &cuda->module_load},
		{"cuModuleUnload", &cuda->module_unload},
		{"cuModuleGetFunction", &cuda->module_function},
		{"cuLaunchKernel", &cuda->launch},
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		void *symbol = dlsym(library, table[i].name);

		if (!symbol) {
			*since = table[i].since;
			return table[i].name;
		}
		memcpy(table[i].function, &symbol, sizeof(symbol));
	}
	return NULL;
}

int cuda_load(struct cuda *cuda, struct error *err)
{
	const char *name = getenv("RAILHEAD_CUDA"), *since = NULL, *missing;
	cu_result result;
	void *library;
	int n = 0;

	*cuda = (struct cuda){0};
	if (!name || !*name)
		name = "libcuda.so.1";
	library = dlopen(name, RTLD_NOW);
	if (!library)
		return error_set(err, -ENODEV, "no CUDA on this machine: %s", dlerror());
	cuda->is_double = dlsym(library, "railhead_double") != NULL;
	missing = look_up(cuda, library, &since);
	/* The version can be asked before cuInit(). */
	if (cuda->driver_version && cuda->driver_version(&cuda->version) != 0)
		cuda->version = 0;
	if (missing)
		return error_set(err, -ELIBACC, "%s (CUDA %d.%d) has no %s%s%s", name,
				 cuda->version / 1000, cuda->version % 1000 / 10, missing,
				 since ? "; it exists since CUDA " : "", since ? since : "");
	result = cuda->init(0);
	if (result != 0)
		return cuda_error(cuda, result, err, "cuInit");
	result = cuda->device_count(&n);
	if (result != 0)
		return cuda_error(cuda, result, err, "cuDeviceGetCount");
	if (n == 0)
		return error_set(err, -ENODEV, "%s sees no GPU", name);
	return 0;
}
