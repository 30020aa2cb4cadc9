/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A YAML file as a tree of marked values. Nothing is typed here: a scalar is its text, and the
 * schema says what the text means, so that `version: 10.10` never becomes the number 10.1.
 *
 * What a site file does not need is refused while reading: several documents, tags outside the core
 * schema, keys that are no plain text, control characters, text of several lines, aliases to
 * something that contains them, and everything beyond the limits below.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/json.h"
#include "site/complaint.h"

/* A site of 1,000 nodes without profiles needs some 100,000 values. */
#define TREE_FILE_MAX (8u << 20)	/* bytes */
#define TREE_VALUES_MAX 500000u		/* values and keys, aliases and profiles expanded */
#define TREE_DEPTH_MAX 64u
#define TREE_ANCHORS_MAX 256u

enum tree_kind {
	TREE_SCALAR,
	TREE_LIST,
	TREE_MAP,
};

struct tree;
struct schema_type;

struct tree_pair {
	struct tree *key;	/* scalar */
	struct tree *value;
};

struct tree {
	enum tree_kind kind;
	struct site_where where;
	bool quoted;			/* scalar in quotes or as a block: surely text */
	const char *text;		/* of a scalar: no control characters, never NULL */
	size_t n;			/* entries of a list or map */
	struct tree **items;		/* of a list */
	const struct tree_pair *pairs;	/* of a map, in file order */
	const size_t *sorted;		/* of a map: indices of `pairs` by key */
	size_t weight;			/* values in it, itself included, aliases expanded */
	unsigned height;		/* levels below it */
	/* made by schema_json(): this value as JSON, read as a value of that type */
	json_t *json;
	const struct schema_type *json_type;
};

/* Owner of all values of one file. `struct tree_document doc = {0};` is a valid empty one. */
struct tree_piece;
struct tree_document {
	struct tree *root;
	struct tree_piece *pieces;
	struct tree *trees;
};

/* Read a file's text. What is wrong goes to `c`; false when there is no tree to look at. */
bool tree_read(struct tree_document *doc, const char *text, size_t len, struct complaints *c);
void tree_document_clear(struct tree_document *doc);
#define _cleanup_tree_document_ __attribute__((cleanup(tree_document_clear)))

/* Memory that lives as long as the document, zeroed. */
void *tree_alloc(struct tree_document *doc, size_t n, size_t size);
/* A new value of the document. */
struct tree *tree_new(struct tree_document *doc, enum tree_kind kind, struct site_where where);
/* Give a map its pairs (copied) and its order; weight and height follow from them. Indices of keys
 * that stand twice are adjacent in `sorted`, the earlier first. */
void tree_map_fill(struct tree_document *doc, struct tree *map, const struct tree_pair *pairs,
		   size_t n);

/* Pair of `map` with this key; NULL when `map` is NULL, no map, or has none. */
const struct tree_pair *tree_pair(const struct tree *map, const char *key);
/* Its value, or NULL. */
struct tree *tree_get(const struct tree *map, const char *key);
/* Text of a scalar member, or NULL. */
const char *tree_text(const struct tree *map, const char *key);
