/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/link_table.h"

#include <string.h>

#include "base/alloc.h"

static int by_index(const void *a, const void *b)
{
	const struct link_entry *x = a, *y = b;

	return x->index < y->index ? -1 : x->index > y->index;
}

void link_table_load(struct link_table *table, json_t *snapshot)
{
	json_t *links = json_object_get(snapshot, "links");
	const char *name;
	json_t *link;

	*table = (struct link_table){0};
	if (!json_object_size(links))
		return;
	table->entries = xcalloc(json_object_size(links), sizeof(*table->entries));
	json_object_foreach(links, name, link) {
		int64_t index = json_get_int(link, "index", -1);

		if (index < 0 || index > UINT32_MAX)
			continue;
		table->entries[table->n++] = (struct link_entry){
			.index = (uint32_t)index, .name = name, .link = link,
		};
	}
	qsort(table->entries, table->n, sizeof(*table->entries), by_index);
}

void link_table_clear(struct link_table *table)
{
	free(table->entries);
	*table = (struct link_table){0};
}

const struct link_entry *link_table_find(const struct link_table *table, uint32_t index)
{
	struct link_entry key = {.index = index};

	if (!table->n)
		return NULL;
	return bsearch(&key, table->entries, table->n, sizeof(key), by_index);
}

bool link_has_parent(json_t *link)
{
	return json_is_string(json_object_get(link, "parent_device"));
}

/* Representors have the adapter for parent, and a port name such as "pf0vf3", "c1pf0sf12"
 * (__devlink_port_phys_port_name_get(), net/devlink/port.c); ports have "p0" or none. */
static bool is_representor(json_t *link)
{
	const char *name = json_get_string(link, "port_name", "");

	return strstr(name, "pf") && (strstr(name, "vf") || strstr(name, "sf"));
}

bool link_is_port(json_t *link)
{
	return link_has_parent(link) && !json_get_bool(link, "virtual_function", false) &&
	       strcmp(json_get_string(link, "parent_bus", ""), "auxiliary") != 0 &&
	       !is_representor(link);
}
