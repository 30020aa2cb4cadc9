/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of NVIDIA's driver library (libcuda.so.1) that the proofs make, behind one table. The
 * declarations are the few that are used, of the public interface (cuda.h of CUDA 12.9), so that
 * nothing of CUDA is needed to build; the library is opened at run time. RAILHEAD_CUDA in the
 * environment names another one: the test double tests/doubles/cuda_double.c says that it is one.
 *
 * This project has not run these calls on a GPU. What it has run them on is that double.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef int cu_result;		/* CUresult: 0 or CUDA_ERROR_… */
typedef int cu_device;		/* CUdevice */
typedef uint64_t cu_address;	/* CUdeviceptr: a GPU virtual address */
typedef struct cu_context *cu_context;
typedef struct cu_module *cu_module;
typedef struct cu_function *cu_function;
typedef struct cu_stream *cu_stream;

/* Values of cuda.h. */
enum {
	/* CUresult */
	CU_ERROR_INVALID_VALUE = 1,
	CU_ERROR_INVALID_DEVICE = 101,
	/* CUdevice_attribute */
	CU_MULTIPROCESSOR_COUNT = 16,
	CU_COMPUTE_CAPABILITY_MAJOR = 75,
	CU_COMPUTE_CAPABILITY_MINOR = 76,
	CU_FLUSH_WRITES_OPTIONS = 117,	/* GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS */
	CU_WRITES_ORDERING = 118,	/* GPU_DIRECT_RDMA_WRITES_ORDERING */
	CU_DMA_BUF_SUPPORTED = 124,
	/* CUmemRangeHandleType */
	CU_HANDLE_DMA_BUF_FD = 1,
	/* CUflushGPUDirectRDMAWritesOptions, a mask */
	CU_FLUSH_OPTION_HOST = 1,
	/* CUGPUDirectRDMAWritesOrdering; the scope of a flush has the same numbers */
	CU_ORDERING_NONE = 0,
	CU_ORDERING_OWNER = 100,
	CU_ORDERING_ALL_DEVICES = 200,
	CU_FLUSH_TARGET_CURRENT = 0,	/* CUflushGPUDirectRDMAWritesTarget */
	/* CUjit_option */
	CU_JIT_ERROR_LOG = 5,
	CU_JIT_ERROR_LOG_SIZE = 6,
};

struct cuda {
	bool is_double;			/* every record that it touches says so */
	int version;			/* of the driver's CUDA: 12090 is 12.9 */
	cu_result (*init)(unsigned int flags);
	cu_result (*driver_version)(int *version);
	cu_result (*error_name)(cu_result result, const char **name);
	cu_result (*device_count)(int *n);
	cu_result (*device_get)(cu_device *device, int ordinal);
	cu_result (*device_by_bus_id)(cu_device *device, const char *bus_id);
	cu_result (*device_bus_id)(char *bus_id, int size, cu_device device);
	cu_result (*device_name)(char *name, int size, cu_device device);
	cu_result (*device_attribute)(int *value, int attribute, cu_device device);
	cu_result (*context_retain)(cu_context *context, cu_device device);
	cu_result (*context_release)(cu_device device);
	cu_result (*context_push)(cu_context context);
	cu_result (*context_pop)(cu_context *context);
	cu_result (*context_synchronize)(void);
	cu_result (*alloc)(cu_address *address, size_t size);
	cu_result (*free)(cu_address address);
	cu_result (*memory_info)(size_t *free, size_t *total);
	cu_result (*address_range)(cu_address *base, size_t *size, cu_address address);
	cu_result (*copy_to_gpu)(cu_address to, const void *from, size_t size);
	cu_result (*copy_to_host)(void *to, cu_address from, size_t size);
	cu_result (*export_range)(void *handle, cu_address address, size_t size, int type,
				  unsigned long long flags);
	cu_result (*flush_writes)(int target, int scope);
	cu_result (*module_load)(cu_module *module, const void *image, unsigned int n,
				 int *options, void **values);
	cu_result (*module_unload)(cu_module module);
	cu_result (*module_function)(cu_function *function, cu_module module, const char *name);
	cu_result (*launch)(cu_function function, unsigned int grid_x, unsigned int grid_y,
			    unsigned int grid_z, unsigned int block_x, unsigned int block_y,
			    unsigned int block_z, unsigned int shared_bytes, cu_stream stream,
			    void **parameters, void **extra);
};

/*
 * Open the library and initialize it. -ENODEV: it is not there, or sees no GPU. -ELIBACC: it lacks
 * a function; the message says since which CUDA it exists. Others: as cuda_error(). The library
 * stays open, because it cannot be unloaded safely.
 */
int cuda_load(struct cuda *cuda, struct error *err);

/*
 * Hold what a call that gave `result` (not 0) means: "what: CUDA_ERROR_OUT_OF_MEMORY (2): the GPU
 * has not that much free memory". Returns the negative errno that is nearest.
 */
int cuda_error(const struct cuda *cuda, cu_result result, struct error *err, const char *fmt, ...)
	RH_PRINTF(4, 5);
