/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory regions, and what a refusal means. The codes are those of the kernel's RDMA core
 * (drivers/infiniband/core: umem.c, umem_dmabuf.c, uverbs_ioctl.c), of the providers, and of
 * dma_map_sgtable(); the same code says different things of host memory and of a DMA-BUF.
 */
#include <errno.h>
#include <sys/resource.h>

#include "base/alloc.h"
#include "prove/memory_kind.h"

#define ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)
/* The kernel's own "not supported" (include/linux/errno.h), which some exporters let out. */
#define ENOTSUPP_KERNEL 524

struct meaning {
	int code;
	const char *name, *text;
	bool memlock;	/* the limit of locked memory belongs to it */
};

static const struct meaning of_mr[] = {
	{ ENOMEM, "ENOMEM", "not enough memory may be locked, or the adapter or the IOMMU has no "
	  "room for it", .memlock = true },
	{ EPERM, "EPERM", "this process may not lock memory", .memlock = true },
	{ EFAULT, "EFAULT", "pages of it cannot be pinned" },
	{ EINVAL, "EINVAL", "the provider refuses length, alignment or access rights" },
};

/* Pages of a DMA-BUF are not counted as locked memory of the process. */
static const struct meaning of_dmabuf[] = {
	{ EOPNOTSUPP, "EOPNOTSUPP", "not supported by this provider: its library or its kernel "
	  "driver takes no DMA-BUF" },
	{ EPROTONOSUPPORT, "EPROTONOSUPPORT",
	  "the kernel's RDMA core knows no DMA-BUF (Linux 5.12 or newer does)" },
	{ EINVAL, "EINVAL", "length, offset or alignment do not fit the DMA-BUF, or it cannot be "
	  "attached to this device" },
	{ ENOMEM, "ENOMEM", "the adapter or the IOMMU has no room for it in one piece" },
	{ EFAULT, "EFAULT", "its pages cannot be mapped for this device" },
	{ ENOTSUPP_KERNEL, "ENOTSUPP", "the exporter refuses to be attached to this device" },
	{ EREMOTEIO, "EREMOTEIO", "the NIC cannot reach the exporter's memory over PCIe" },
	{ EBADF, "EBADF", "the descriptor is no DMA-BUF" },
};

static int refused(int code, const char *what, const struct meaning *meanings, size_t n,
		   size_t length, struct error *err)
{
	struct rlimit limit;

	for (size_t i = 0; i < n; i++) {
		const struct meaning *m = &meanings[i];

		if (m->code != code)
			continue;
		if (m->memlock && getrlimit(RLIMIT_MEMLOCK, &limit) == 0 &&
		    limit.rlim_cur != RLIM_INFINITY)
			return error_set(err, -code, "%s of %zu bytes: %s: %s; the limit of locked "
					 "memory is %llu kB (ulimit -l)", what, length, m->name,
					 m->text, (unsigned long long)limit.rlim_cur >> 10);
		return error_set(err, -code, "%s of %zu bytes: %s: %s", what, length, m->name,
				 m->text);
	}
	return error_set_errno(err, -code, "%s of %zu bytes", what, length);
}

static void add_chunk(struct memory *memory, struct ibv_mr *mr, size_t start, size_t length)
{
	memory->chunks = xreallocarray(memory->chunks, memory->n_chunks + 1,
				       sizeof(*memory->chunks));
	memory->chunks[memory->n_chunks++] = (struct memory_chunk){ mr, start, length };
}

int memory_add_mr(struct memory *memory, struct ibv_pd *pd, size_t start, size_t length,
		  struct error *err)
{
	char *first = (char *)memory->mapped + start;
	struct ibv_mr *mr = memory->verbs->reg_mr(pd, first, length, ACCESS);

	if (!mr)
		return refused(errno, "ibv_reg_mr", of_mr, ARRAY_SIZE(of_mr), length, err);
	add_chunk(memory, mr, start, length);
	return 0;
}

/* NULL: refused, and `*rc` and `err` say how. */
static struct ibv_mr *register_dmabuf(const struct memory *memory, struct ibv_pd *pd, int fd,
				      uint64_t fd_offset, uint64_t iova, size_t length, int *rc,
				      struct error *err)
{
	struct ibv_mr *mr;

	if (!memory->verbs->reg_dmabuf_mr) {
		*rc = error_set(err, -EOPNOTSUPP, "this libibverbs has no ibv_reg_dmabuf_mr: "
				"rdma-core 34 or newer has");
		return NULL;
	}
	mr = memory->verbs->reg_dmabuf_mr(pd, fd_offset, length, iova, fd, ACCESS);
	*rc = mr ? 0 : refused(errno, "ibv_reg_dmabuf_mr", of_dmabuf, ARRAY_SIZE(of_dmabuf), length,
			       err);
	return mr;
}

int memory_add_dmabuf(struct memory *memory, struct ibv_pd *pd, int fd, uint64_t fd_offset,
		      size_t start, size_t length, struct error *err)
{
	int rc;
	struct ibv_mr *mr = register_dmabuf(memory, pd, fd, fd_offset, memory->address + start,
					    length, &rc, err);

	if (mr)
		add_chunk(memory, mr, start, length);
	return rc;
}

int memory_try_dmabuf(const struct memory *memory, struct ibv_pd *pd, int fd, uint64_t address,
		      size_t length, struct error *err)
{
	int rc;
	struct ibv_mr *mr = register_dmabuf(memory, pd, fd, 0, address, length, &rc, err);

	if (mr)
		memory->verbs->dereg_mr(mr);
	return rc;
}
