/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel logs while a proof runs: lines of the drivers on the path, and faults of the
 * IOMMU, which discards accesses of a NIC whose completions are good.
 */
#pragma once

#include "host/host.h"

struct kernel_watch {
	struct host *host;
	int64_t newest_us;	/* time of the newest line that was there before */
	char *unreadable;	/* why the log cannot be read; NULL: it can */
};

/* From here on. `host` must outlive the watch. */
void kernel_watch_begin(struct kernel_watch *watch, struct host *host);
void kernel_watch_clear(struct kernel_watch *watch);
#define _cleanup_kernel_watch_ __attribute__((cleanup(kernel_watch_clear)))

/*
 * Lines that came since the beginning or the last call, the first `max` of them: a list of texts,
 * new reference, NULL when the log cannot be read. `*faults` (may be NULL) is increased by those of
 * the IOMMU among all of them.
 */
json_t *kernel_watch_take(struct kernel_watch *watch, size_t max, int64_t *faults);

/* As a record has it: {"iommu_faults", "lines"}, or {"why"} when the log cannot be read. New
 * reference. */
json_t *kernel_watch_facts(struct kernel_watch *watch);
