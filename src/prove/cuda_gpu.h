/* SPDX-License-Identifier: Apache-2.0 */
/* One GPU with its primary context. */
#pragma once

#include "base/json.h"
#include "prove/cuda.h"
#include "prove/gpu_choice.h"

#define CUDA_BDF_SIZE 32

struct cuda_gpu {
	struct cuda cuda;
	cu_device device;
	cu_context context;	/* NULL: not retained */
	char bdf[CUDA_BDF_SIZE];	/* as sysfs writes it */
	bool needs_flush;
};

/*
 * Load libcuda and take the GPU at `bdf`; NULL: the first of `choice` that CUDA sees, which may be
 * fewer than there are, else (`choice` may be NULL) its first. It must be able to export memory as
 * a DMA-BUF. `facts` gets bdf, why (it was taken), model, compute_capability, cuda, dmabuf,
 * write_ordering, flushed, as far as the opening came. Errors tell the step. cuda_gpu_close() also
 * after a failure; `gpu` begins as zeros.
 */
int cuda_gpu_open(struct cuda_gpu *gpu, const char *bdf, const struct gpu_choice *choice,
		  json_t *facts, struct error *err);
void cuda_gpu_close(struct cuda_gpu *gpu);

/* Make the context current in this thread; cuda_gpu_leave() undoes it. */
int cuda_gpu_enter(const struct cuda_gpu *gpu, struct error *err);
void cuda_gpu_leave(const struct cuda_gpu *gpu);

/* Before the GPU reads what a NIC wrote: nothing where it orders such writes itself. */
int cuda_gpu_flush(const struct cuda_gpu *gpu, struct error *err);
