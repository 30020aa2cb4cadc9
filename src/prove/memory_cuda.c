/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of an NVIDIA GPU, given to the NIC as a DMA-BUF and filled and checked on the GPU. One
 * whole allocation of whole 2 MiB pages: an exporter hands out pages, and a NIC that knows 2 MiB
 * pages (E810) needs 1 entry instead of 512 where address and iova agree modulo 2 MiB, as they do
 * because the iova is the GPU virtual address.
 *
 * This project has not run it on a GPU, only on a double of libcuda; see cuda.h.
 */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "prove/cuda_gpu.h"
#include "prove/cuda_kernels.h"
#include "prove/memory_kind.h"

#define GPU_PAGE (2ull << 20)
/* Copied from the GPU around the first wrong byte, on either side, to tell what it is. */
#define WINDOW 4096u

struct cuda_memory {
	struct cuda_gpu gpu;
	cu_address base;	/* 0: not allocated */
	struct cuda_kernels kernels;
	size_t chunk;		/* of one DMA-BUF, 0: all in one */
	bool register_beneath;	/* what the double maps, where the provider takes no DMA-BUF */
};

static int allocate(struct memory *memory, struct cuda_memory *m, struct error *err)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), range;
	cu_address base;
	cu_result result;

	result = m->gpu.cuda.alloc(&m->base, memory->region);
	if (result != 0) {
		m->base = 0;
		return cuda_error(&m->gpu.cuda, result, err, "GPU %s: cuMemAlloc_v2 of %zu bytes",
				  m->gpu.bdf, memory->region);
	}
	result = m->gpu.cuda.address_range(&base, &range, m->base);
	if (result != 0)
		return cuda_error(&m->gpu.cuda, result, err, "GPU %s: cuMemGetAddressRange_v2",
				  m->gpu.bdf);
	/* Part of a larger allocation would take its neighbours into the DMA-BUF. */
	if (base != m->base || range < memory->region || base % page != 0)
		return error_set(err, -EINVAL, "GPU %s: the allocation at 0x%llx is not one of its "
				 "own that begins on a host page (%zu bytes), so it cannot be "
				 "exported", m->gpu.bdf, (unsigned long long)m->base, page);
	json_put_u64(json_obj(memory->facts, "gpu"), "alignment",
		     base % GPU_PAGE == 0 ? GPU_PAGE : page);
	memory->address = base;
	return 0;
}

/* The GPU, with nothing on it yet. */
static int cuda_source(struct memory *memory, const struct memory_request *request,
		       struct error *err)
{
	struct cuda_memory *m = xcalloc(1, sizeof(*m));
	int rc;

	memory->own = m;
	rc = cuda_gpu_open(&m->gpu, request->gpu, request->gpus, json_obj(memory->facts, "gpu"),
			   err);
	memory->is_double = m->gpu.cuda.is_double;
	m->register_beneath = m->gpu.cuda.is_double && request->dmabuf_double;
	return rc;
}

static int cuda_make(struct memory *memory, const struct memory_request *request, struct error *err)
{
	struct cuda_memory *m;
	int rc;

	rc = cuda_source(memory, request, err);
	if (rc < 0)
		return rc;
	if (request->dmabuf_chunk % MEMORY_CANARY != 0)
		return error_set(err, -EINVAL, "a DMA-BUF of %zu bytes is not a multiple of %u",
				 request->dmabuf_chunk, MEMORY_CANARY);
	m = memory->own;
	m->chunk = request->dmabuf_chunk;
	if (m->chunk)
		json_put_u64(memory->facts, "dmabuf_chunk_bytes", m->chunk);
	rc = memory_size_region(memory, GPU_PAGE, err);
	if (rc == 0)
		rc = cuda_gpu_enter(&m->gpu, err);
	if (rc < 0)
		return rc;
	rc = allocate(memory, m, err);
	if (rc == 0)
		rc = cuda_kernels_load(&m->kernels, &m->gpu.cuda, m->gpu.device, err);
	cuda_gpu_leave(&m->gpu);
	return rc;
}

static void cuda_close(struct memory *memory)
{
	struct cuda_memory *m = memory->own;

	if (m->gpu.context && cuda_gpu_enter(&m->gpu, NULL) == 0) {
		cuda_kernels_unload(&m->kernels);
		if (m->base)
			m->gpu.cuda.free(m->base);
		cuda_gpu_leave(&m->gpu);
	}
	cuda_gpu_close(&m->gpu);
	free(m);
	memory->own = NULL;
}

/* The flag CU_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE is never asked for: the driver refuses to
 * attach such a DMA-BUF where the GPU is not coherent, as on x86. */
static int export_range(const struct cuda_memory *m, int *fd, cu_address address, size_t length,
			struct error *err)
{
	cu_result result = m->gpu.cuda.export_range(fd, address, length, CU_HANDLE_DMA_BUF_FD, 0);

	if (result != 0)
		return cuda_error(&m->gpu.cuda, result, err,
				  "GPU %s: cuMemGetHandleForAddressRange of %zu bytes at 0x%llx",
				  m->gpu.bdf, length, (unsigned long long)address);
	return 0;
}

/* GPU addresses of the double are addresses of this process. */
static int register_beneath(struct memory *memory, struct ibv_pd *pd, size_t start, size_t length,
			    struct error *why, struct error *err)
{
	int rc;

	json_put_string(memory->facts, "double_why", error_text(why));
	memory->mapped = (void *)(uintptr_t)memory->address;
	rc = memory_add_mr(memory, pd, start, length, err);
	memory->mapped = NULL;
	return rc;
}

static int register_chunk(struct memory *memory, struct ibv_pd *pd, size_t start, size_t length,
			  struct error *err)
{
	struct cuda_memory *m = memory->own;
	_cleanup_error_ struct error why = {0};
	_cleanup_close_ int fd = -1;
	int rc;

	rc = export_range(m, &fd, memory->address + start, length, err);
	if (rc < 0)
		return rc;
	rc = memory_add_dmabuf(memory, pd, fd, 0, start, length, &why);
	if (rc == 0)
		return 0;
	if (m->register_beneath)
		return register_beneath(memory, pd, start, length, &why, err);
	if (rc == -ENOMEM && length > MEMORY_CHUNK_IOMMU)
		return error_set(err, rc, "GPU %s: %s; where the IOMMU translates, chunks of 1 GiB "
				 "have room", m->gpu.bdf, error_text(&why));
	return error_set(err, rc, "GPU %s: %s", m->gpu.bdf, error_text(&why));
}

/*
 * The first chunk has the canary besides its share of the usable bytes, and the last one the rest:
 * so blocks of a power of two, laid out from usable byte 0 on, never lie in two.
 */
static int cuda_register(struct memory *memory, struct ibv_pd *pd, struct error *err)
{
	struct cuda_memory *m = memory->own;
	size_t start = 0, usable = MEMORY_CANARY, next;
	int rc;

	rc = cuda_gpu_enter(&m->gpu, err);
	if (rc < 0)
		return rc;
	do {
		next = memory->region;
		if (m->chunk != 0 && m->chunk < MEMORY_CANARY + memory->length - usable)
			next = usable + m->chunk;
		rc = register_chunk(memory, pd, start, next - start, err);
		start = usable = next;
	} while (rc == 0 && start < memory->region);
	cuda_gpu_leave(&m->gpu);
	return rc;
}

/* Smaller ones are parts of an allocation of whole pages: an allocation of its own of less than
 * that may lie anywhere in such a page. */
static int try_entered(struct memory *memory, struct ibv_pd *pd, size_t length, const char **call,
		       struct error *err)
{
	struct cuda_memory *m = memory->own;
	_cleanup_close_ int fd = -1;
	cu_address address;

	*call = "cuMemAlloc_v2";
	cu_result result = m->gpu.cuda.alloc(&address, length > GPU_PAGE ? length : GPU_PAGE);

	if (result != 0)
		return cuda_error(&m->gpu.cuda, result, err, "GPU %s: cuMemAlloc_v2 of %zu bytes",
				  m->gpu.bdf, length);
	*call = "cuMemGetHandleForAddressRange";
	int rc = export_range(m, &fd, address, length, err);

	if (rc == 0) {
		*call = "ibv_reg_dmabuf_mr";
		rc = memory_try_dmabuf(memory, pd, fd, address, length, err);
	}
	m->gpu.cuda.free(address);
	return rc;
}

static int cuda_try(struct memory *memory, struct ibv_pd *pd, size_t length, const char **call,
		    struct error *err)
{
	struct cuda_memory *m = memory->own;
	int rc = cuda_gpu_enter(&m->gpu, err);

	*call = "cuCtxPushCurrent_v2";
	if (rc < 0)
		return rc;
	rc = try_entered(memory, pd, length, call, err);
	cuda_gpu_leave(&m->gpu);
	return rc;
}

/* Half of what is free: others may work on this GPU. */
static size_t cuda_try_limit(const struct memory *memory)
{
	const struct cuda_memory *m = memory->own;
	size_t free_bytes = 0, total;

	if (cuda_gpu_enter(&m->gpu, NULL) < 0)
		return 0;
	if (m->gpu.cuda.memory_info(&free_bytes, &total) != 0)
		free_bytes = 0;
	cuda_gpu_leave(&m->gpu);
	return free_bytes / 2;
}

static int cuda_fill(struct memory *memory, size_t at, size_t len, uint64_t stream_offset,
		     const struct pattern *p, struct error *err)
{
	struct cuda_memory *m = memory->own;
	int rc = cuda_gpu_enter(&m->gpu, err);

	if (rc < 0)
		return rc;
	rc = cuda_kernels_fill(&m->kernels, memory->address + at, len, stream_offset, p, err);
	cuda_gpu_leave(&m->gpu);
	return rc;
}

static int cuda_poison(struct memory *memory, size_t at, size_t len, uint64_t seed,
		       struct error *err)
{
	struct cuda_memory *m = memory->own;
	int rc = cuda_gpu_enter(&m->gpu, err);

	if (rc < 0)
		return rc;
	rc = cuda_kernels_poison(&m->kernels, memory->address + at, len, seed, err);
	cuda_gpu_leave(&m->gpu);
	return rc;
}

/*
 * What the wrong byte at `first` is, from the bytes around it. They are copied to memory of the
 * same phase, because the poison goes by the address.
 */
static int describe(const struct memory *memory, size_t at, size_t len, uint64_t stream_offset,
		    const struct pattern *p, uint64_t first, struct pattern_fault *fault,
		    struct error *err)
{
	const struct cuda_memory *m = memory->own;
	size_t start = first > WINDOW ? first - WINDOW : 0;
	size_t end = len - first > WINDOW ? first + WINDOW : len;
	cu_address from = memory->address + at + start;
	_cleanup_free_ char *room = xmalloc(2 * WINDOW + 8);
	char *window = room + from % 8;
	cu_result result;

	result = m->gpu.cuda.copy_to_host(window, from, end - start);
	if (result != 0)
		return cuda_error(&m->gpu.cuda, result, err, "cuMemcpyDtoH_v2 of %zu bytes",
				  end - start);
	if (pattern_check(window, end - start, stream_offset + start, p, fault) ||
	    start + fault->offset != first)
		return error_set(err, -EIO, "the GPU says that the byte at %llu is the first wrong "
				 "one, the copy of it in host memory does not: they do not see the "
				 "same, or it was written to while it was looked at",
				 (unsigned long long)first);
	fault->offset = first;
	return 0;
}

static int cuda_check(struct memory *memory, size_t at, size_t len, uint64_t stream_offset,
		      const struct pattern *p, struct pattern_fault *fault, struct error *err)
{
	struct cuda_memory *m = memory->own;
	uint64_t first, wrong;
	int rc = cuda_gpu_enter(&m->gpu, err);

	if (rc < 0)
		return rc;
	rc = cuda_gpu_flush(&m->gpu, err);
	if (rc == 0)
		rc = cuda_kernels_check(&m->kernels, memory->address + at, len, stream_offset, p,
					&first, &wrong, err);
	if (rc == -EBADMSG) {
		int described = describe(memory, at, len, stream_offset, p, first, fault, err);

		fault->wrong_bytes = wrong;
		rc = described < 0 ? described : rc;
	}
	cuda_gpu_leave(&m->gpu);
	return rc;
}

static int cuda_poison_check(struct memory *memory, size_t at, size_t len, uint64_t seed,
			     uint64_t *offset, uint64_t *wrong_bytes, struct error *err)
{
	struct cuda_memory *m = memory->own;
	int rc = cuda_gpu_enter(&m->gpu, err);

	if (rc < 0)
		return rc;
	rc = cuda_gpu_flush(&m->gpu, err);
	if (rc == 0)
		rc = cuda_kernels_poison_check(&m->kernels, memory->address + at, len, seed, offset,
					       wrong_bytes, err);
	cuda_gpu_leave(&m->gpu);
	return rc;
}

const struct memory_kind memory_kind_cuda = {
	.name = "cuda",
	.make = cuda_make,
	.close = cuda_close,
	.reg = cuda_register,
	.try_open = cuda_source,
	.try_length = cuda_try,
	.try_limit = cuda_try_limit,
	.fill = cuda_fill,
	.check = cuda_check,
	.poison = cuda_poison,
	.poison_check = cuda_poison_check,
};
