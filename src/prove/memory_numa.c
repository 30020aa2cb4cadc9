/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages near the NIC: mbind(2) before the first touch, and get_mempolicy(2) to see what came of it.
 * By system calls, since glibc has no wrapper and libnuma would be one more library. A kernel
 * without NUMA (ENOSYS) or a container's seccomp filter (EPERM) costs speed, not the proof: it is
 * told among the facts.
 */
#include <errno.h>
#include <linux/mempolicy.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/alloc.h"
#include "prove/memory_kind.h"

#define NODES_MAX 1024u
#define BITS (8 * sizeof(unsigned long))
/* Pages that are asked for their node, spread over the region. */
#define SAMPLES 64u

static void prefer_node(struct memory *memory, int node)
{
	unsigned long mask[NODES_MAX / BITS] = {0};

	if (node < 0)
		return;
	json_put_int(memory->facts, "numa_wanted", node);
	if ((unsigned)node >= NODES_MAX) {
		json_put_stringf(memory->facts, "numa_note", "no such node: %d", node);
		return;
	}
	mask[(unsigned)node / BITS] = 1ul << (unsigned)node % BITS;
	/* preferred, not bound: a node that is full must not end in the OOM killer. The kernel
	 * takes one bit less than it is told. */
	if (syscall(SYS_mbind, memory->mapped, memory->region, MPOL_PREFERRED, mask, NODES_MAX + 1,
		    0) < 0)
		json_put_stringf(memory->facts, "numa_note", "mbind: %s", strerror(errno));
}

static void tell_node(struct memory *memory)
{
	size_t step = memory->region / SAMPLES + 1;
	int first = -1, node;

	for (size_t at = 0; at < memory->region; at += step) {
		if (syscall(SYS_get_mempolicy, &node, NULL, 0, (char *)memory->mapped + at,
			    MPOL_F_NODE | MPOL_F_ADDR) < 0) {
			if (!json_object_get(memory->facts, "numa_note"))
				json_put_stringf(memory->facts, "numa_note", "get_mempolicy: %s",
						 strerror(errno));
			return;
		}
		if (first >= 0 && node != first) {
			json_put_stringf(memory->facts, "numa_note",
					 "pages lie on several nodes, %d and %d among them", first,
					 node);
			return;
		}
		first = node;
	}
	json_put_int(memory->facts, "numa", first);
}

/* Every page there now, and not in the middle of a measurement. */
static int touch_pages(struct memory *memory, size_t page, struct error *err)
{
	if (madvise(memory->mapped, memory->region, MADV_POPULATE_WRITE) == 0)
		return 0;
	/* EFAULT: what would be SIGBUS, a huge page that is not to be had on the allowed nodes */
	if (errno != EINVAL)
		return error_set_errno(err, errno == EFAULT ? -ENOMEM : -errno,
				       "making %zu bytes of memory present", memory->region);
	for (size_t at = 0; at < memory->region; at += page) /* before Linux 5.14 */
		((volatile char *)memory->mapped)[at] = 0;
	return 0;
}

int memory_place_pages(struct memory *memory, int node, size_t page, struct error *err)
{
	int rc;

	json_put_int(memory->facts, "page_bytes", (int64_t)page);
	prefer_node(memory, node);
	rc = touch_pages(memory, page, err);
	if (rc == 0)
		tell_node(memory);
	return rc;
}
