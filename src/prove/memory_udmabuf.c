/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A DMA-BUF of host memory, registered as one of a GPU would be: the whole way of DMA-BUF through
 * kernel and provider, on machines without a GPU. The processor sees the pages through the memfd;
 * udmabuf's own mapping cannot be registered (VM_PFNMAP) and is not needed.
 */
#include <errno.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "host/udmabuf.h"
#include "prove/memory_kind.h"

struct udmabuf {
	int memfd, dmabuf;	/* -1: not there */
	bool may_be_double;
};

/* From here on it is not what it says it is. */
static void become_double(struct memory *memory, struct error *why)
{
	memory->is_double = true;
	json_put_string(memory->facts, "double_why", error_text(why));
	error_clear(why);
}

static int map(struct memory *memory, int memfd, struct error *err)
{
	void *mapped = mmap(NULL, memory->region, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);

	if (mapped == MAP_FAILED)
		return error_set_errno(err, -errno, "mapping %zu bytes for udmabuf",
				       memory->region);
	memory->mapped = mapped;
	memory->address = (uintptr_t)mapped;
	return 0;
}

static struct udmabuf *udmabuf_new(struct memory *memory, const struct memory_request *request)
{
	struct udmabuf *u = xmalloc(sizeof(*u));

	*u = (struct udmabuf){ .memfd = -1, .dmabuf = -1,
			       .may_be_double = request->dmabuf_double };
	memory->own = u;
	return u;
}

static int udmabuf_open(struct memory *memory, const struct memory_request *request,
			struct error *err)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct udmabuf *u = udmabuf_new(memory, request);
	_cleanup_error_ struct error why = {0};
	int rc;

	rc = memory_size_region(memory, page, err);
	if (rc < 0)
		return rc;
	u->memfd = udmabuf_memory(memory->region, err);
	if (u->memfd < 0)
		return u->memfd;
	/* near the NIC before udmabuf pins them */
	rc = map(memory, u->memfd, err);
	if (rc == 0)
		rc = memory_place_pages(memory, request->numa_node, page, err);
	if (rc < 0)
		return rc;
	u->dmabuf = udmabuf_export(u->memfd, memory->region, &why);
	if (u->dmabuf >= 0)
		return 0;
	if (!u->may_be_double)
		return error_set(err, u->dmabuf, "%s", error_text(&why));
	become_double(memory, &why);
	return 0;
}

static void udmabuf_close(struct memory *memory)
{
	struct udmabuf *u = memory->own;

	if (memory->mapped)
		munmap(memory->mapped, memory->region);
	if (u->dmabuf >= 0)
		close(u->dmabuf);
	if (u->memfd >= 0)
		close(u->memfd);
	free(u);
}

static int udmabuf_register(struct memory *memory, struct ibv_pd *pd, struct error *err)
{
	struct udmabuf *u = memory->own;
	_cleanup_error_ struct error why = {0};
	int rc;

	if (u->dmabuf >= 0) {
		rc = memory_add_dmabuf(memory, pd, u->dmabuf, 0, 0, memory->region, &why);
		if (rc == 0)
			return 0;
		if (!u->may_be_double)
			return error_set(err, rc, "%s", error_text(&why));
		become_double(memory, &why);
	}
	return memory_add_mr(memory, pd, 0, memory->region, err);
}

static int udmabuf_source(struct memory *memory, const struct memory_request *request,
			  struct error *err RH_UNUSED)
{
	udmabuf_new(memory, request);
	return 0;
}

static int udmabuf_try(struct memory *memory, struct ibv_pd *pd, size_t length, const char **call,
		       struct error *err)
{
	*call = "memfd_create";
	_cleanup_close_ int memfd = udmabuf_memory(length, err);

	if (memfd < 0)
		return memfd;
	*call = "UDMABUF_CREATE";
	_cleanup_close_ int dmabuf = udmabuf_export(memfd, length, err);

	if (dmabuf < 0)
		return dmabuf;
	*call = "ibv_reg_dmabuf_mr";
	/* nothing is mapped: any iova of the right phase will do */
	return memory_try_dmabuf(memory, pd, dmabuf, length, length, err);
}

/* The size_limit_mb that drivers/dma-buf/udmabuf.c has unless it was changed. */
static size_t udmabuf_try_limit(const struct memory *memory RH_UNUSED)
{
	return (size_t)64 << 20;
}

const struct memory_kind memory_kind_udmabuf = {
	.name = "udmabuf",
	.make = udmabuf_open,
	.close = udmabuf_close,
	.reg = udmabuf_register,
	.try_open = udmabuf_source,
	.try_length = udmabuf_try,
	.try_limit = udmabuf_try_limit,
};
