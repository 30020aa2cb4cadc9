/* SPDX-License-Identifier: Apache-2.0 */
/* One GPU with its primary context. */
#pragma once

#include "base/json.h"
#include "prove/cuda.h"

#define CUDA_BDF_SIZE 32

struct cuda_gpu {
	struct cuda cuda;
	cu_device device;
	cu_context context;	/* NULL: not retained */
	char bdf[CUDA_BDF_SIZE];	/* as sysfs writes it */
	bool needs_flush;
};

/*
 * Load libcuda and take the GPU at `bdf` (NULL: the first), which must be able to export memory as
 * a DMA-BUF. `facts` gets bdf, model, compute_capability, cuda, write_ordering, flushed. Errors tell
 * the step. cuda_gpu_close() also after a failure; `gpu` begins as zeros.
 */
int cuda_gpu_open(struct cuda_gpu *gpu, const char *bdf, json_t *facts, struct error *err);
void cuda_gpu_close(struct cuda_gpu *gpu);

/* Make the context current in this thread; cuda_gpu_leave() undoes it. */
int cuda_gpu_enter(const struct cuda_gpu *gpu, struct error *err);
void cuda_gpu_leave(const struct cuda_gpu *gpu);

/* Before the GPU reads what a NIC wrote: nothing where it orders such writes itself. */
int cuda_gpu_flush(const struct cuda_gpu *gpu, struct error *err);
