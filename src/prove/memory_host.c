/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the host: in pages of the usual size, and in huge ones. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "prove/memory_kind.h"

static int map(struct memory *memory, int flags)
{
	void *mapped = mmap(NULL, memory->region, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	if (mapped == MAP_FAILED)
		return -errno;
	memory->mapped = mapped;
	memory->address = (uintptr_t)mapped;
	/* Before Linux 5.12 a fork() moved the parent's pages away from under the NIC at their next
	 * write. No child needs them. */
	madvise(mapped, memory->region, MADV_DONTFORK);
	return 0;
}

static void host_close_region(struct memory *memory)
{
	if (memory->mapped)
		munmap(memory->mapped, memory->region);
}

static int register_region(struct memory *memory, struct ibv_pd *pd, struct error *err)
{
	return memory_add_mr(memory, pd, 0, memory->region, err);
}

static int host_open_region(struct memory *memory, const struct memory_request *request,
			    struct error *err)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int rc = memory_size_region(memory, page, err);

	if (rc < 0)
		return rc;
	rc = map(memory, 0);
	if (rc < 0)
		return error_set_errno(err, rc, "%zu bytes of host memory", memory->region);
	return memory_place_pages(memory, request->numa_node, page, err);
}

/* Size of the kernel's default huge page, as it tells it for a file of such pages. */
static int huge_page_size(size_t *size, struct error *err)
{
	_cleanup_close_ int fd = memfd_create("railhead-huge", MFD_CLOEXEC | MFD_HUGETLB);
	struct stat st;

	if (fd < 0)
		return error_set(err, -ENODEV, "this kernel has no huge pages "
				 "(CONFIG_HUGETLBFS): %s", strerror(errno));
	if (fstat(fd, &st) < 0)
		return error_set_errno(err, -errno, "size of huge pages");
	*size = (size_t)st.st_blksize;
	return 0;
}

static int huge_open_region(struct memory *memory, const struct memory_request *request,
			    struct error *err)
{
	size_t page = 0;
	int rc = huge_page_size(&page, err);

	if (rc < 0)
		return rc;
	rc = memory_size_region(memory, page, err);
	if (rc < 0)
		return rc;
	rc = map(memory, MAP_HUGETLB);
	if (rc == -ENOMEM)
		return error_set(err, rc, "not enough free huge pages (%zu of %zu kB needed): "
				 "reserve them with \"sysctl -w vm.nr_hugepages=%zu\" or more, on "
				 "the NIC's NUMA node in /sys/devices/system/node/node%d/hugepages/"
				 "hugepages-%zukB/nr_hugepages", memory->region / page, page >> 10,
				 memory->region / page,
				 request->numa_node < 0 ? 0 : request->numa_node, page >> 10);
	if (rc < 0)
		return error_set_errno(err, rc, "%zu bytes of huge pages", memory->region);
	return memory_place_pages(memory, request->numa_node, page, err);
}

const struct memory_kind memory_kind_host = {
	.name = "host",
	.make = host_open_region,
	.close = host_close_region,
	.reg = register_region,
};

const struct memory_kind memory_kind_huge = {
	.name = "huge",
	.make = huge_open_region,
	.close = host_close_region,
	.reg = register_region,
};
