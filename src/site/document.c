/* SPDX-License-Identifier: Apache-2.0 */
/* A checked tree as JSON. A value that several nodes take from one profile is one JSON value. */
#include <string.h>

#include "base/alloc.h"
#include "site/schema.h"

static json_t *scalar_new(const struct schema_type *type, const struct tree *tree)
{
	int64_t value;

	if (type->kind == SCHEMA_TRUTH)
		return json_boolean(!strcmp(tree->text, "true"));
	/* a number with a unit in its text keeps it: "100G" says more than 100000 */
	if (type->kind == SCHEMA_NUMBER && schema_convert_decimal(tree->text, &value))
		return json_integer_new(value);
	return json_text_new(tree->text);
}

static const struct schema_type *type_of_member(const struct schema_type *type, const char *name)
{
	return type->kind == SCHEMA_OBJECT ? schema_key_find(type, name)->type : type->item;
}

json_t *schema_json(const struct schema_type *type, struct tree *tree)
{
	json_t *json;

	if (tree->json && tree->json_type == type)
		return tree->json;
	if (tree->kind == TREE_MAP) {
		json = json_object_new();
		for (size_t i = 0; i < tree->n; i++) {
			const char *name = tree->pairs[i].key->text;
			const struct schema_type *below = type_of_member(type, name);

			json_put(json, name, json_incref(schema_json(below, tree->pairs[i].value)));
		}
	} else if (tree->kind == TREE_LIST) {
		json = json_array_new();
		for (size_t i = 0; i < tree->n; i++)
			json_append(json, json_incref(schema_json(type->item, tree->items[i])));
	} else {
		json = scalar_new(type, tree);
	}
	json_decref(tree->json);
	tree->json = json;
	tree->json_type = type;
	return json;
}
