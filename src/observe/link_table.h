/* SPDX-License-Identifier: Apache-2.0 */
/* The links of a snapshot by interface index, for messages that name a link by its number. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"

struct link_entry {
	uint32_t index;
	const char *name;	/* key in /links, borrowed from the snapshot */
	json_t *link;		/* value in /links, borrowed from the snapshot */
};

struct link_table {
	struct link_entry *entries; /* owned, sorted by index */
	size_t n;
};

/* Fill `table` from /links of `snapshot`; valid until a link is removed from it. */
void link_table_load(struct link_table *table, json_t *snapshot);
void link_table_clear(struct link_table *table);
#define _cleanup_link_table_ __attribute__((cleanup(link_table_clear)))

/* The link of that interface index, or NULL. */
const struct link_entry *link_table_find(const struct link_table *table, uint32_t index);

/* A link that is a device of a bus (pci, virtio, …); functions of another device included. */
bool link_has_parent(json_t *link);

/*
 * A port of a network adapter: it has a parent device, and is neither an SR-IOV virtual function
 * nor a subfunction (bus "auxiliary") nor the representor of one. Of these there are few; of the
 * others there may be hundreds on one node, which are therefore not asked one by one for what only
 * a port knows (DCB, driver statistics).
 */
bool link_is_port(json_t *link);
