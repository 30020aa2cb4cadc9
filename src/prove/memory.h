/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that a proof reads and writes, of several kinds behind one interface. The kind makes it,
 * registers it, fills and checks it where it lies (GPU memory on the GPU).
 */
#pragma once

#include "base/json.h"
#include "host/verbs.h"
#include "prove/gpu_choice.h"
#include "prove/pattern.h"

struct memory;

struct memory_request {
	const char *kind;	/* "host", "huge", "udmabuf", "cuda" */
	size_t length;		/* usable bytes; canaries stand around them */
	int numa_node;		/* of the NIC, -1: not known */
	const char *gpu;	/* BDF, for cuda; NULL: the first of `gpus` that CUDA sees */
	const struct gpu_choice *gpus;	/* NULL, or none that CUDA sees: its first */
	/* Usable bytes of one DMA-BUF of cuda, each with an MR of its own: where the IOMMU
	 * translates, irdma fails with ENOMEM above some 2 GiB. 0: all in one. */
	size_t dmabuf_chunk;
	/* Where a DMA-BUF cannot be registered or is a double's, register the mapping beneath it
	 * instead. The record then says "double": it proves nothing of DMA-BUF. */
	bool dmabuf_double;
};

/* What to ask for as dmabuf_chunk where the IOMMU translates. */
#define MEMORY_CHUNK_IOMMU (1ull << 30)

/*
 * Errors tell the step that failed and why in the field's words (EOPNOTSUPP: the kernel's RDMA core
 * or the provider has no dma-buf; EINVAL: length, offset or alignment; ENOMEM: memlock or IOMMU).
 * -ENODEV: this machine has no such memory.
 */
int memory_new(struct memory **memory, const struct memory_request *request, struct error *err);
/* Deregisters: before the PD goes. NULL is allowed. */
void memory_free(struct memory *memory);

/* Register with remote read and write. One MR for all, or several chunks where the IOMMU
 * translates. The MRs belong to the memory. */
int memory_register(struct memory *memory, const struct verbs *v, struct ibv_pd *pd,
		    struct error *err);

/* Address for SGEs and the peer (never mr->addr), and the key for an offset. */
struct memory_place {
	uint64_t address;
	uint32_t lkey, rkey;
	size_t length;	/* usable bytes from here on that these keys reach */
};
/* After memory_register(); `offset` below the usable length. */
struct memory_place memory_at(const struct memory *memory, size_t offset);

int memory_fill(struct memory *memory, size_t offset, size_t len, uint64_t stream_offset,
		const struct pattern *p, struct error *err);
/* 0: right. -EBADMSG: wrong, `*fault` says how, its offset counted from the first usable byte, and
 * the message is its text. Other codes: could not be looked at. */
int memory_check(struct memory *memory, size_t offset, size_t len, uint64_t stream_offset,
		 const struct pattern *p, struct pattern_fault *fault, struct error *err);
/* Poison a part; the first time with this seed, the canaries too: once only, so that what happens
 * to them stays to be seen. The byte at an offset is the same however the memory is cut, so that a
 * part can be poisoned anew and all of it be looked at together. */
int memory_poison(struct memory *memory, size_t offset, size_t len, uint64_t seed,
		  struct error *err);
/* 0: still what memory_poison() put there. -EBADMSG: not, `*fault` has the first changed offset,
 * and how many bytes are changed; `kind` CORRUPT. */
int memory_untouched(struct memory *memory, size_t offset, size_t len, uint64_t seed,
		     struct pattern_fault *fault, struct error *err);
/* Canaries before and behind the usable bytes, after memory_poison() with this seed. 0: untouched.
 * -EBADMSG: written to; the message says where, and fault->offset counts from the first usable byte
 * (before it: a negative number as int64_t). */
int memory_canaries(struct memory *memory, uint64_t seed, struct pattern_fault *fault,
		    struct error *err);

/* Usable bytes. */
size_t memory_length(const struct memory *memory);
/* Where the CPU reads and writes the byte at `offset`; NULL: it cannot (memory of a GPU). */
void *memory_pointer(const struct memory *memory, size_t offset);

/* What a record says of it, new reference: kind, length, canary, page_bytes, numa_wanted, numa
 * (where the pages are), numa_note (what could not be had), registrations, registration_ns,
 * dmabuf_chunk_bytes, double, double_why, gpu. */
json_t *memory_facts(const struct memory *memory);
