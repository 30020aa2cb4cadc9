/* SPDX-License-Identifier: Apache-2.0 */
#include "site/tree.h"

#include <string.h>

#include "base/alloc.h"

/* Each piece is its own allocation, so that a sanitizer sees an access past its end. */
struct tree_piece {
	struct tree_piece *next;
	max_align_t data[];
};

struct tree_holder {
	struct tree tree;	/* first: a tree is its holder */
	struct tree *next;
};

void *tree_alloc(struct tree_document *doc, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes) ||
	    __builtin_add_overflow(bytes, sizeof(struct tree_piece), &bytes))
		alloc_exhausted();
	struct tree_piece *piece = xcalloc(1, bytes);
	piece->next = doc->pieces;
	doc->pieces = piece;
	return piece->data;
}

struct tree *tree_new(struct tree_document *doc, enum tree_kind kind, struct site_where where)
{
	struct tree_holder *holder = xcalloc(1, sizeof(*holder));

	holder->next = doc->trees;
	doc->trees = &holder->tree;
	holder->tree.kind = kind;
	holder->tree.where = where;
	holder->tree.weight = 1;
	holder->tree.text = "";
	return &holder->tree;
}

void tree_document_clear(struct tree_document *doc)
{
	while (doc->trees) {
		struct tree_holder *holder = (struct tree_holder *)doc->trees;

		doc->trees = holder->next;
		json_decref(holder->tree.json);
		free(holder);
	}
	while (doc->pieces) {
		struct tree_piece *piece = doc->pieces;

		doc->pieces = piece->next;
		free(piece);
	}
	doc->root = NULL;
}

static int by_key(const void *a, const void *b, void *arg)
{
	const struct tree_pair *pairs = arg;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	int order = strcmp(pairs[x].key->text, pairs[y].key->text);

	if (order)
		return order;
	return x < y ? -1 : x > y;
}

void tree_map_fill(struct tree_document *doc, struct tree *map, const struct tree_pair *pairs,
		   size_t n)
{
	struct tree_pair *copy = tree_alloc(doc, n, sizeof(*copy));
	size_t *sorted = tree_alloc(doc, n, sizeof(*sorted));

	map->weight = 1;
	map->height = 0;
	for (size_t i = 0; i < n; i++) {
		copy[i] = pairs[i];
		sorted[i] = i;
		map->weight += 1 + pairs[i].value->weight;
		if (map->height < pairs[i].value->height + 1)
			map->height = pairs[i].value->height + 1;
	}
	qsort_r(sorted, n, sizeof(*sorted), by_key, copy);
	map->pairs = copy;
	map->sorted = sorted;
	map->n = n;
}

const struct tree_pair *tree_pair(const struct tree *map, const char *key)
{
	if (!map || map->kind != TREE_MAP)
		return NULL;
	size_t low = 0, high = map->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct tree_pair *pair = &map->pairs[map->sorted[middle]];
		int order = strcmp(key, pair->key->text);

		if (!order)
			return pair;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

struct tree *tree_get(const struct tree *map, const char *key)
{
	const struct tree_pair *pair = tree_pair(map, key);

	return pair ? pair->value : NULL;
}

const char *tree_text(const struct tree *map, const char *key)
{
	const struct tree *value = tree_get(map, key);

	return value && value->kind == TREE_SCALAR ? value->text : NULL;
}
