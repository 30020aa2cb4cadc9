/* SPDX-License-Identifier: Apache-2.0 */
/* From a checked tree to the structs of site.h, by the offsets in the schema. */
#include <string.h>

#include "base/alloc.h"
#include "site/schema.h"

#define PRIORITIES 8u

static void *member(void *base, size_t at)
{
	return (char *)base + at;
}

/* Every struct of a table begins with its place in the file. */
static void bind_table(const struct schema_key *key, const struct tree *tree, void *base)
{
	const struct schema_type *type = key->type;
	size_t n = tree ? tree->n : 0;
	char *array = n ? xcalloc(n, type->size) : NULL;

	for (size_t i = 0; i < n; i++) {
		char *one = array + i * type->size;
		const struct tree_pair *pair = &tree->pairs[i];

		*(struct site_where *)(void *)one = pair->key->where;
		*(char **)member(one, type->name_at) = xstrdup(pair->key->text);
		schema_bind(type->item, pair->value, one);
	}
	*(void **)member(base, key->at) = array;
	*(size_t *)member(base, key->n_at) = n;
}

static void bind_texts(const struct tree *tree, char ***texts)
{
	if (!tree)
		return;
	*texts = xcalloc(tree->n + 1, sizeof(**texts));
	for (size_t i = 0; i < tree->n; i++)
		(*texts)[i] = xstrdup(tree->items[i]->text);
}

static void bind_eight(const struct schema_type *type, const struct tree *tree, int *eight)
{
	for (size_t i = 0; i < PRIORITIES; i++)
		eight[i] = -1;
	for (size_t i = 0; tree && i < tree->n; i++) {
		const struct tree_pair *pair = &tree->pairs[i];
		int64_t value;

		if (type->item->convert(pair->value->text, &value))
			eight[pair->key->text[0] - '0'] = (int)value;
	}
}

static void bind_roles(const struct schema_type *type, const struct tree *tree, unsigned *roles)
{
	for (size_t i = 0; tree && i < tree->n; i++)
		for (unsigned bit = 0; type->item->words[bit]; bit++)
			if (!strcmp(type->item->words[bit], tree->items[i]->text))
				*roles |= 1u << bit;
}

static void bind_key(const struct schema_key *key, const struct tree *tree, void *base)
{
	void *to = member(base, key->at);
	struct site_number *number;
	struct site_bool *truth;

	switch (key->type->kind) {
	case SCHEMA_OBJECT:
		schema_bind(key->type, tree, to);
		break;
	case SCHEMA_TABLE:
		bind_table(key, tree, base);
		break;
	case SCHEMA_LIST:
		bind_texts(tree, to);
		break;
	case SCHEMA_EIGHT:
		bind_eight(key->type, tree, to);
		break;
	case SCHEMA_ROLES:
		bind_roles(key->type, tree, to);
		break;
	case SCHEMA_NUMBER:
		number = to;
		number->set = tree && key->type->convert(tree->text, &number->value);
		break;
	case SCHEMA_TRUTH:
		truth = to;
		truth->set = tree;
		truth->value = tree && !strcmp(tree->text, "true");
		break;
	case SCHEMA_TEXT:
	case SCHEMA_WORD:
		if (tree || key->fallback)
			*(char **)to = xstrdup(tree ? tree->text : key->fallback);
		break;
	}
}

void schema_bind(const struct schema_type *object, const struct tree *tree, void *base)
{
	const struct schema_key *key;

	for (size_t i = 0; (key = schema_key_at(object, i)); i++)
		if (key->at != SCHEMA_UNBOUND)
			bind_key(key, tree_get(tree, key->name), base);
}

static void release_table(const struct schema_key *key, void *base)
{
	char *array = *(char **)member(base, key->at);

	for (size_t i = 0; i < *(size_t *)member(base, key->n_at); i++) {
		char *one = array + i * key->type->size;

		free(*(char **)member(one, key->type->name_at));
		schema_release(key->type->item, one);
	}
	free(array);
}

void schema_release(const struct schema_type *object, void *base)
{
	const struct schema_key *key;

	for (size_t i = 0; (key = schema_key_at(object, i)); i++) {
		if (key->at == SCHEMA_UNBOUND)
			continue;
		void *from = member(base, key->at);
		switch (key->type->kind) {
		case SCHEMA_OBJECT:
			schema_release(key->type, from);
			break;
		case SCHEMA_TABLE:
			release_table(key, base);
			break;
		case SCHEMA_LIST:
			for (char **s = *(char ***)from; s && *s; s++)
				free(*s);
			free(*(char ***)from);
			break;
		case SCHEMA_TEXT:
		case SCHEMA_WORD:
			free(*(char **)from);
			break;
		default:
			break;
		}
	}
}
