/* SPDX-License-Identifier: Apache-2.0 */
/* Memory regions of the double. */
#include <errno.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "doubles/verbs_double_internal.h"

static struct ibv_mr *add_mr(struct ibv_pd *pd, unsigned char *bytes, size_t length, uint64_t iova,
			     int access)
{
	struct dbl_mr *mr = xcalloc(1, sizeof(*mr));

	mr->iova = iova;
	mr->bytes = bytes;
	mr->access = access;
	mr->base.context = pd->context;
	mr->base.pd = pd;
	mr->base.length = length;
	pthread_mutex_lock(&dbl.lock);
	mr->base.handle = ++dbl.keys;
	mr->base.lkey = mr->base.handle * KEY_STEP + 1;
	mr->base.rkey = mr->base.handle * KEY_STEP + 2;
	mr->next = dbl.mrs;
	dbl.mrs = mr;
	pthread_mutex_unlock(&dbl.lock);
	return &mr->base;
}

static bool access_allowed(size_t length, int access)
{
	bool written_from_afar = access & IBV_ACCESS_REMOTE_WRITE;

	return length && (!written_from_afar || access & IBV_ACCESS_LOCAL_WRITE);
}

struct ibv_mr *dbl_reg_mr(struct ibv_pd *pd, void *address, size_t length, int access)
{
	struct ibv_mr *mr;

	if (!access_allowed(length, access)) {
		errno = EINVAL;
		return NULL;
	}
	if (!dbl_may_make("reg_mr"))
		return NULL;
	mr = add_mr(pd, address, length, (uintptr_t)address, access);
	mr->addr = address;
	return mr;
}

/* As providers have it, mr->addr is the offset in the dma-buf, not an address. */
struct ibv_mr *dbl_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length,
				 uint64_t iova, int fd, int access)
{
	size_t lead = offset % (uint64_t)sysconf(_SC_PAGESIZE);
	struct ibv_mr *mr;
	void *mapping;

	errno = dbl.setup.dmabuf_errno;
	if (errno)
		return NULL;
	if (!access_allowed(length, access)) {
		errno = EINVAL;
		return NULL;
	}
	mapping = mmap(NULL, length + lead, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		       (off_t)(offset - lead));
	if (mapping == MAP_FAILED)
		return NULL;
	if (!dbl_may_make("reg_dmabuf_mr")) {
		int code = errno;

		munmap(mapping, length + lead);
		errno = code;
		return NULL;
	}
	mr = add_mr(pd, (unsigned char *)mapping + lead, length, iova, access);
	((struct dbl_mr *)mr)->mapping = mapping;
	((struct dbl_mr *)mr)->mapping_length = length + lead;
	mr->addr = (void *)(uintptr_t)offset;
	return mr;
}

int dbl_dereg_mr(struct ibv_mr *ibv)
{
	struct dbl_mr *mr = (struct dbl_mr *)ibv, **link = &dbl.mrs;

	pthread_mutex_lock(&dbl.lock);
	while (*link && *link != mr)
		link = &(*link)->next;
	if (*link) {
		*link = mr->next;
		dbl_lies_forget(mr);
	} else {
		dbl_complain("dereg_mr of a region that does not exist");
		mr = NULL;
	}
	pthread_mutex_unlock(&dbl.lock);
	if (!mr)
		return EINVAL;
	if (mr->mapping)
		munmap(mr->mapping, mr->mapping_length);
	return dbl_gone(mr);
}

struct dbl_mr *dbl_mr_find(struct ibv_pd *pd, uint32_t key, uint64_t address, uint64_t length,
			   int access)
{
	for (struct dbl_mr *mr = dbl.mrs; mr; mr = mr->next) {
		bool remote = access & (IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE);

		if (mr->base.pd != pd || key != (remote ? mr->base.rkey : mr->base.lkey))
			continue;
		if ((mr->access & access) != access || address < mr->iova ||
		    address - mr->iova > mr->base.length ||
		    length > mr->base.length - (address - mr->iova))
			return NULL;
		return mr;
	}
	return NULL;
}
