/* SPDX-License-Identifier: Apache-2.0 */
#include "prove/kernel_watch.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"

/* A storm of faults repeats itself; a record is to be read by people. */
#define LINES_MAX 16u

/* Who speaks when a DMA-BUF is exported, registered or reached. */
static const char *const needles[] = {
	"NVRM", "DMAR", "AMD-Vi", "irdma", "mlx5", "bnxt_re", "infiniband", NULL,
};

/* One line of each fault: drivers/iommu/intel/dmar.c (a line that names the interrupt comes before
 * those with the addresses) and drivers/iommu/amd/iommu.c. */
static bool is_iommu_fault(const char *text)
{
	return (strstr(text, "DMAR") && strstr(text, "fault addr")) ||
	       (strstr(text, "AMD-Vi") && strstr(text, "IO_PAGE_FAULT"));
}

/* Lines newer than those that are known; NULL: unreadable. */
static json_t *newer(struct kernel_watch *watch)
{
	_cleanup_error_ struct error err = {0};
	_cleanup_json_ json_t *lines = NULL;
	json_t *found = json_array_new(), *line;
	int64_t newest = watch->newest_us;
	size_t i;
	int rc = host_kernel_log(watch->host, needles, &lines, &err);

	if (rc < 0) {
		bool may_not = rc == -EPERM || rc == -EACCES;

		free(watch->unreadable);
		watch->unreadable = xasprintf("%s%s", error_text(&err),
					      may_not ? "; root may read it, or anybody where "
							"kernel.dmesg_restrict is 0" : "");
		json_decref(found);
		return NULL;
	}
	json_array_foreach(lines, i, line) {
		int64_t time_us = json_get_int(line, "time_us", 0);

		if (time_us <= watch->newest_us)
			continue;
		newest = time_us > newest ? time_us : newest;
		json_append_text(found, json_get_string(line, "text", ""));
	}
	watch->newest_us = newest;
	return found;
}

void kernel_watch_begin(struct kernel_watch *watch, struct host *host)
{
	*watch = (struct kernel_watch){ .host = host, .newest_us = -1 };
	json_decref(newer(watch));
}

void kernel_watch_clear(struct kernel_watch *watch)
{
	free(watch->unreadable);
	*watch = (struct kernel_watch){0};
}

json_t *kernel_watch_take(struct kernel_watch *watch, size_t max, int64_t *faults)
{
	json_t *lines = watch->unreadable ? NULL : newer(watch), *line;
	size_t i;

	if (!lines)
		return NULL;
	json_array_foreach(lines, i, line) {
		if (faults && is_iommu_fault(json_string_value(line)))
			(*faults)++;
	}
	while (json_array_size(lines) > max)
		json_array_remove(lines, json_array_size(lines) - 1);
	return lines;
}

json_t *kernel_watch_facts(struct kernel_watch *watch)
{
	json_t *facts = json_object_new();
	int64_t faults = 0;
	json_t *lines = kernel_watch_take(watch, LINES_MAX, &faults);

	if (lines) {
		json_put_int(facts, "iommu_faults", faults);
		json_put(facts, "lines", lines);
	} else {
		json_put_string(facts, "why", watch->unreadable);
	}
	return facts;
}
