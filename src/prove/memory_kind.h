/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a kind of memory brings, for memory.c, registration.c and the kinds themselves only. A new
 * kind is a file that defines a struct memory_kind and one line in the table of memory.c.
 *
 * A memory is one region: canary, usable bytes, canary, all inside the same registration, so that a
 * provider that writes beside its target is seen and not stopped by the NIC. Functions of a kind
 * count `at` from the beginning of the region; memory.c has checked that it and `len` lie inside.
 */
#pragma once

#include "base/json.h"
#include "prove/memory.h"

/* Before the first usable byte, and at least as much behind the last. A multiple of every base page
 * size that Linux has, so that usable bytes begin on a page. */
#define MEMORY_CANARY (64u << 10)

struct memory_chunk {
	struct ibv_mr *mr;
	size_t start, length;	/* in the region */
};

struct memory {
	const struct memory_kind *kind;
	size_t length;		/* usable bytes, from MEMORY_CANARY on */

	/* --- set by the kind's make() --- */
	size_t region;		/* bytes in all, MEMORY_CANARY + length + MEMORY_CANARY or more */
	uint64_t address;	/* of the region's first byte: SGEs and the peer count from it */
	void *mapped;		/* the region as the processor sees it; NULL: it does not */
	void *own;		/* the kind's own state, freed by its close() */
	bool is_double;		/* not what it says it is: every record must tell */
	json_t *facts;		/* made before make(), which adds what is particular */

	/* --- set by memory_poison() --- */
	bool canaries_set;
	uint64_t canary_seed;

	/* --- set by memory_register() --- */
	const struct verbs *verbs;
	struct memory_chunk *chunks;	/* in the order of `start`, without gaps */
	size_t n_chunks;
	int64_t registration_ns;
};

struct memory_kind {
	const char *name;
	/* Make the region. After a failure close() is called as well. */
	int (*make)(struct memory *memory, const struct memory_request *request, struct error *err);
	/* All MRs are gone when it is called. */
	void (*close)(struct memory *memory);
	/* Add chunks that cover the region, by memory_add_mr() or memory_add_dmabuf(). */
	int (*reg)(struct memory *memory, struct ibv_pd *pd, struct error *err);

	/* How much a NIC can register of memory that is given as a DMA-BUF; all NULL for other kinds.
	 * try_open() finds where the memory is to come from, and its facts, without making the
	 * region; after a failure close() is called as well. try_length() makes `length` bytes (a
	 * power of two, whole pages), exports, registers and gives them back; `*call` becomes the
	 * call that failed. try_limit(): no longer one is worth a try. */
	int (*try_open)(struct memory *memory, const struct memory_request *request,
			struct error *err);
	int (*try_length)(struct memory *memory, struct ibv_pd *pd, size_t length,
			  const char **call, struct error *err);
	size_t (*try_limit)(const struct memory *memory);

	/* Work on the bytes where they lie. All NULL when `mapped` is set: memory.c does it. */
	int (*fill)(struct memory *memory, size_t at, size_t len, uint64_t stream_offset,
		    const struct pattern *p, struct error *err);
	int (*check)(struct memory *memory, size_t at, size_t len, uint64_t stream_offset,
		     const struct pattern *p, struct pattern_fault *fault, struct error *err);
	int (*poison)(struct memory *memory, size_t at, size_t len, uint64_t seed,
		      struct error *err);
	/* 0; -EBADMSG with the first wrong byte's place, counted from `at`, in `*offset`, and the
	 * number of wrong bytes. */
	int (*poison_check)(struct memory *memory, size_t at, size_t len, uint64_t seed,
			    uint64_t *offset, uint64_t *wrong_bytes, struct error *err);
};

extern const struct memory_kind memory_kind_host, memory_kind_huge, memory_kind_udmabuf,
	memory_kind_cuda;

/* NULL: there is no such kind. */
const struct memory_kind *memory_kind_find(const char *name);

/* For a kind's make(): region = canary, memory->length, canary, in whole pages of `page` bytes (a
 * power of two). -EINVAL: the length is 0, or more than an address can hold. */
int memory_size_region(struct memory *memory, size_t page, struct error *err);

/* For kinds that the processor sees: make all pages present, on `node` where that can be had
 * (-1: anywhere). Facts: page_bytes, numa_wanted, numa (where they are), numa_note (what could not
 * be had). */
int memory_place_pages(struct memory *memory, int node, size_t page, struct error *err);

/*
 * Register `length` bytes of the region from `start` on, with local and remote write and remote
 * read, and keep the MR as the next chunk. Errors are named in the field's words.
 * memory_add_mr() registers the bytes at memory->mapped (pages are pinned by get_user_pages).
 */
int memory_add_mr(struct memory *memory, struct ibv_pd *pd, size_t start, size_t length,
		  struct error *err);
/* The DMA-BUF `fd`, whose byte `fd_offset` is the region's byte `start`; the iova is the region's
 * address (a GPU virtual address for CUDA). */
int memory_add_dmabuf(struct memory *memory, struct ibv_pd *pd, int fd, uint64_t fd_offset,
		      size_t start, size_t length, struct error *err);
/* Register a DMA-BUF of `length` bytes at `address` as memory_add_dmabuf() does, and deregister it
 * at once. */
int memory_try_dmabuf(const struct memory *memory, struct ibv_pd *pd, int fd, uint64_t address,
		      size_t length, struct error *err);
