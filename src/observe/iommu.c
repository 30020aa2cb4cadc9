/* SPDX-License-Identifier: Apache-2.0 */
/* IOMMU groups and their types: /os/iommu. */
#include <errno.h>
#include <string.h>

#include "observe/pci.h"

#define GROUPS "/sys/kernel/iommu_groups"

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Distinct values of `types`, sorted. */
static json_t *distinct(json_t *types)
{
	const size_t n = json_object_size(types);
	_cleanup_free_ const char **texts = xcalloc(n + 1, sizeof(*texts));
	json_t *list = json_array_new(), *type;
	const char *group;
	size_t used = 0;

	json_object_foreach(types, group, type)
		texts[used++] = json_string_value(type);
	qsort(texts, used, sizeof(*texts), compare_texts);
	for (size_t i = 0; i < used; i++)
		if (i == 0 || strcmp(texts[i], texts[i - 1]) != 0)
			json_append_text(list, texts[i]);
	return list;
}

json_t *observe_iommu(struct observation *o)
{
	json_t *types = json_object_new();
	_cleanup_error_ struct error err = {0};
	_cleanup_strings_ char **groups = NULL;
	struct host_stat st;
	bool complete = true;

	int n = host_list(o->host, &groups, &err, GROUPS);
	/* A kernel without IOMMU support has no such folder; a container without sysfs neither. */
	if (n == -ENOENT && host_stat(o->host, &st, false, NULL, "/sys/kernel") == 0)
		n = 0;
	if (n < 0) {
		observe_gap(o, n, NULL, error_text(&err), "/os/iommu");
		return types;
	}
	for (int i = 0; i < n; i++) {
		_cleanup_error_ struct error unread = {0};
		_cleanup_free_ char *type = host_read_text(o->host, &unread, "%s/%s/type", GROUPS,
							   groups[i]);
		if (type) {
			json_put_string(types, groups[i], type);
		} else if (complete) {
			complete = false;
			observe_gap(o, unread.code, NULL, error_text(&unread), "/os/iommu/types");
		}
	}
	json_t *iommu = json_obj(json_obj(o->snapshot, "os"), "iommu");
	json_put_int(iommu, "groups", n);
	if (complete)
		json_put(iommu, "types", distinct(types));
	return types;
}
