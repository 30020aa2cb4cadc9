/* SPDX-License-Identifier: Apache-2.0 */
#include "judge/proof_index.h"

#include <string.h>

#include "base/alloc.h"

/* A storage node has a record with each port of each client: looking through its list once for each
 * of them would take the square of that. */
struct proof_index {
	json_t *places;	/* key of a record -> its place in its list */
};

static const char *link_of(json_t *end)
{
	return json_get_string(json_object_get(end, "path"), "link", "");
}

/* Names of hosts and links come with any bytes: their lengths part them. */
static char *key_of(json_t *snapshot, const char *kind, const char *link, const char *peer,
		    const char *peer_link)
{
	return xasprintf("%p %zu %zu %zu %s %s %s %s", (void *)snapshot, strlen(kind), strlen(link),
			 strlen(peer), kind, link, peer, peer_link);
}

bool proof_is_newer(json_t *a, json_t *b)
{
	int64_t x = json_get_int(a, "serial", 0), y = json_get_int(b, "serial", 0);

	return x != y ? x > y :
			strcmp(json_get_string(a, "taken", ""), json_get_string(b, "taken", "")) > 0;
}

static void add(struct proof_index *index, json_t *snapshot, const char *kind, json_t *list,
		size_t at)
{
	json_t *record = json_array_get(list, at), *known;
	json_t *local = json_object_get(record, "local"), *peer = json_object_get(record, "peer");
	const char *hostname = json_get_string(json_at(snapshot, "/node"), "hostname", "");

	if (strcmp(json_get_string(local, "node", ""), hostname) != 0)
		return;
	_cleanup_free_ char *key = key_of(snapshot, kind, link_of(local),
					  json_get_string(peer, "node", ""), link_of(peer));

	known = json_array_get(list, (size_t)json_get_int(index->places, key, -1));
	/* the folder gave one for each GPU (proof_load()) */
	if (!known || proof_is_newer(record, known))
		json_put_int(index->places, key, (int64_t)at);
}

struct proof_index *proof_index_new(const struct judge_node *nodes, size_t n)
{
	struct proof_index *index = xcalloc(1, sizeof(*index));
	const char *kind;
	json_t *list;

	index->places = json_object_new();
	for (size_t i = 0; i < n; i++) {
		json_object_foreach(json_at(nodes[i].snapshot, "/proofs"), kind, list) {
			for (size_t at = 0; at < json_array_size(list); at++)
				add(index, nodes[i].snapshot, kind, list, at);
		}
	}
	return index;
}

void proof_index_free(struct proof_index *index)
{
	json_decref(index->places);
	free(index);
}

json_t *proof_index_find(const struct proof_index *index, json_t *snapshot, const char *kind,
			 const char *link, const char *peer_hostname, const char *peer_link,
			 size_t *at)
{
	_cleanup_free_ char *key = key_of(snapshot, kind, link, peer_hostname, peer_link);
	int64_t place = json_get_int(index->places, key, -1);

	if (place < 0)
		return NULL;
	*at = (size_t)place;
	return json_array_get(json_at(snapshot, "/proofs/%s", kind), *at);
}
