/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fill and check GPU memory on the GPU. All functions want the context of the GPU to be current,
 * and return when the GPU has done the work. Addresses and lengths are any; the caller knows that they
 * lie in one allocation.
 */
#pragma once

#include "prove/cuda.h"
#include "prove/pattern.h"

struct cuda_kernels {
	const struct cuda *cuda;
	cu_module module;
	cu_function words;	/* see cuda_words.ptx */
	cu_address result;	/* two u64 in GPU memory */
	unsigned int blocks;	/* that keep the whole GPU at work */
};

/* Compile the PTX for `device`. The compiler's first line is in the message when it fails.
 * cuda_kernels_unload() also after a failure. */
int cuda_kernels_load(struct cuda_kernels *k, const struct cuda *cuda, cu_device device,
		      struct error *err);
void cuda_kernels_unload(struct cuda_kernels *k);

/* As pattern_fill() and pattern_poison(). */
int cuda_kernels_fill(const struct cuda_kernels *k, cu_address address, size_t len,
		      uint64_t offset, const struct pattern *p, struct error *err);
int cuda_kernels_poison(const struct cuda_kernels *k, cu_address address, size_t len, uint64_t seed,
			struct error *err);

/* 0: every byte is right. -EBADMSG, without a message: `*first` is the place of the first that is
 * not, counted from `address`, `*wrong` their number. */
int cuda_kernels_check(const struct cuda_kernels *k, cu_address address, size_t len,
		       uint64_t offset, const struct pattern *p, uint64_t *first, uint64_t *wrong,
		       struct error *err);
int cuda_kernels_poison_check(const struct cuda_kernels *k, cu_address address, size_t len,
			      uint64_t seed, uint64_t *first, uint64_t *wrong, struct error *err);
