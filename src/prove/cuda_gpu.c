/* SPDX-License-Identifier: Apache-2.0 */
/* What a GPU must be able to do before its memory is given to a NIC. */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "prove/cuda_gpu.h"

#define NAME_SIZE 256

/* "GPU 0000:1b:00.0: …; there are 0000:43:00.0, …" */
static int no_such_gpu(const struct cuda_gpu *gpu, const char *bdf, struct error *err)
{
	_cleanup_strbuf_ struct strbuf seen = {0};
	int n = 0;

	if (gpu->cuda.device_count(&n) != 0)
		n = 0;
	for (int i = 0; i < n; i++) {
		char name[CUDA_BDF_SIZE];
		cu_device device;

		if (gpu->cuda.device_get(&device, i) == 0 &&
		    gpu->cuda.device_bus_id(name, sizeof(name), device) == 0)
			strbuf_printf(&seen, "%s%s", seen.len ? ", " : "", name);
	}
	_cleanup_free_ char *safe = text_printable(bdf, strlen(bdf));

	return error_set(err, -ENODEV, "GPU %s: CUDA sees no such GPU; there is %s", safe,
			 seen.len ? strbuf_str(&seen) : "none");
}

static int gpu_asked_for(struct cuda_gpu *gpu, const char *bdf, struct error *err)
{
	cu_result result = gpu->cuda.device_by_bus_id(&gpu->device, bdf);

	if (result == CU_ERROR_INVALID_VALUE || result == CU_ERROR_INVALID_DEVICE)
		return no_such_gpu(gpu, bdf, err);
	if (result != 0)
		return cuda_error(&gpu->cuda, result, err, "GPU %s (cuDeviceGetByPCIBusId)", bdf);
	return 0;
}

/* A container sees some of the host's GPUs only. */
static int gpu_nearest(struct cuda_gpu *gpu, const struct gpu_choice *choice, struct error *err)
{
	cu_result result;

	for (size_t i = 0; choice && i < choice->n; i++) {
		if (gpu->cuda.device_by_bus_id(&gpu->device, choice->list[i].bdf) == 0)
			return 0;
	}
	result = gpu->cuda.device_get(&gpu->device, 0);
	return result == 0 ? 0 :
			     cuda_error(&gpu->cuda, result, err, "the first GPU (cuDeviceGet)");
}

static int find_gpu(struct cuda_gpu *gpu, const char *bdf, const struct gpu_choice *choice,
		    json_t *facts, struct error *err)
{
	int rc = bdf ? gpu_asked_for(gpu, bdf, err) : gpu_nearest(gpu, choice, err);

	if (rc < 0)
		return rc;
	cu_result result = gpu->cuda.device_bus_id(gpu->bdf, sizeof(gpu->bdf), gpu->device);

	if (result != 0)
		return cuda_error(&gpu->cuda, result, err, "cuDeviceGetPCIBusId");
	/* as sysfs writes it */
	for (char *c = gpu->bdf; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	const struct gpu_candidate *place = gpu_choice_find(choice, gpu->bdf);

	json_put_string(facts, "bdf", gpu->bdf);
	json_put_stringf(facts, "why", "%s%s%s",
			 bdf ? "asked for" : place ? "the nearest that CUDA sees" :
						     "the first that CUDA names",
			 place ? ": " : "", place ? place->distance : "");
	return 0;
}

static int attribute(const struct cuda_gpu *gpu, int *value, int number, const char *name,
		     struct error *err)
{
	cu_result result = gpu->cuda.device_attribute(value, number, gpu->device);

	if (result != 0)
		return cuda_error(&gpu->cuda, result, err, "GPU %s: cuDeviceGetAttribute %s",
				  gpu->bdf, name);
	return 0;
}

static int put_facts(const struct cuda_gpu *gpu, json_t *facts, struct error *err)
{
	char name[NAME_SIZE] = "";
	int major, minor, rc;

	if (gpu->cuda.device_name(name, sizeof(name), gpu->device) == 0)
		json_put_string(facts, "model", name);
	rc = attribute(gpu, &major, CU_COMPUTE_CAPABILITY_MAJOR, "COMPUTE_CAPABILITY_MAJOR", err);
	if (rc == 0)
		rc = attribute(gpu, &minor, CU_COMPUTE_CAPABILITY_MINOR, "COMPUTE_CAPABILITY_MINOR",
			       err);
	if (rc < 0)
		return rc;
	json_put_stringf(facts, "compute_capability", "%d.%d", major, minor);
	json_put_stringf(facts, "cuda", "%d.%d", gpu->cuda.version / 1000,
			 gpu->cuda.version % 1000 / 10);
	return 0;
}

/* Are writes of the NIC in order with its completion for a kernel that starts afterwards, or must
 * they be flushed? */
static int find_ordering(struct cuda_gpu *gpu, json_t *facts, struct error *err)
{
	int ordering, options, rc;

	rc = attribute(gpu, &ordering, CU_WRITES_ORDERING, "GPU_DIRECT_RDMA_WRITES_ORDERING", err);
	if (rc == 0)
		rc = attribute(gpu, &options, CU_FLUSH_WRITES_OPTIONS,
			       "GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS", err);
	if (rc < 0)
		return rc;
	json_put_string(facts, "write_ordering",
			ordering >= CU_ORDERING_ALL_DEVICES ? "all-devices" :
			ordering >= CU_ORDERING_OWNER ? "owner" : "none");
	if (ordering >= CU_ORDERING_OWNER)
		return 0;
	if (!(options & CU_FLUSH_OPTION_HOST))
		return error_set(err, -EOPNOTSUPP, "GPU %s: writes of a NIC are neither ordered "
				 "nor can they be flushed by the host: what the GPU reads proves "
				 "nothing", gpu->bdf);
	gpu->needs_flush = true;
	json_put_bool(facts, "flushed", true);
	return 0;
}

static int find_dmabuf(const struct cuda_gpu *gpu, json_t *facts, struct error *err)
{
	int supported, rc;

	rc = attribute(gpu, &supported, CU_DMA_BUF_SUPPORTED, "DMA_BUF_SUPPORTED", err);
	if (rc < 0)
		return rc;
	json_put_bool(facts, "dmabuf", supported);
	if (!supported)
		return error_set(err, -EOPNOTSUPP, "GPU %s: the driver cannot export memory as a "
				 "DMA-BUF (CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED is 0): that needs "
				 "NVIDIA's open kernel modules, Turing or newer, Linux 5.12 or "
				 "newer", gpu->bdf);
	return 0;
}

int cuda_gpu_open(struct cuda_gpu *gpu, const char *bdf, const struct gpu_choice *choice,
		  json_t *facts, struct error *err)
{
	cu_result result;
	int rc;

	rc = cuda_load(&gpu->cuda, err);
	if (rc == 0)
		rc = find_gpu(gpu, bdf, choice, facts, err);
	if (rc == 0)
		rc = put_facts(gpu, facts, err);
	if (rc == 0)
		rc = find_dmabuf(gpu, facts, err);
	if (rc == 0)
		rc = find_ordering(gpu, facts, err);
	if (rc < 0)
		return rc;
	result = gpu->cuda.context_retain(&gpu->context, gpu->device);
	if (result != 0) {
		gpu->context = NULL;
		return cuda_error(&gpu->cuda, result, err, "GPU %s: cuDevicePrimaryCtxRetain",
				  gpu->bdf);
	}
	return 0;
}

void cuda_gpu_close(struct cuda_gpu *gpu)
{
	if (gpu->context)
		gpu->cuda.context_release(gpu->device);
	gpu->context = NULL;
}

int cuda_gpu_enter(const struct cuda_gpu *gpu, struct error *err)
{
	cu_result result = gpu->cuda.context_push(gpu->context);

	return result == 0 ? 0 : cuda_error(&gpu->cuda, result, err, "cuCtxPushCurrent_v2");
}

void cuda_gpu_leave(const struct cuda_gpu *gpu)
{
	cu_context context;

	gpu->cuda.context_pop(&context);
}

int cuda_gpu_flush(const struct cuda_gpu *gpu, struct error *err)
{
	cu_result result;

	if (!gpu->needs_flush)
		return 0;
	result = gpu->cuda.flush_writes(CU_FLUSH_TARGET_CURRENT, CU_ORDERING_OWNER);
	return result == 0 ? 0 : cuda_error(&gpu->cuda, result, err, "cuFlushGPUDirectRDMAWrites");
}
