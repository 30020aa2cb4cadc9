/* SPDX-License-Identifier: Apache-2.0 */
/* A tree against the schema: what is wrong, in the words of the table, and the tree as JSON. */
#include <string.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "site/schema.h"

const struct schema_key *schema_key_at(const struct schema_type *object, size_t index)
{
	size_t n = 0;

	while (object->keys[n].name)
		n++;
	if (index < n)
		return &object->keys[index];
	return object->also ? schema_key_at(object->also, index - n) : NULL;
}

const struct schema_key *schema_key_find(const struct schema_type *object, const char *name)
{
	/* most of the time of reading a large site went by here: few names are compared in full */
	for (; object; object = object->also) {
		for (const struct schema_key *key = object->keys; key->name; key++)
			if (key->name[0] == name[0] && !strcmp(key->name, name))
				return key;
	}
	return NULL;
}

/* The caller frees. */
static char *path_text(const struct schema_path *path)
{
	if (!path || !path->name)
		return xstrdup("");
	_cleanup_free_ char *before = path_text(path->parent);
	_cleanup_free_ char *quoted = complaint_quote(path->name);

	/* the path is one word already: without the quotes */
	return xasprintf("%s%s%.*s", before, before[0] ? "/" : "", (int)strlen(quoted) - 2,
			 quoted + 1);
}

static void complain_type(const struct schema_type *type, const struct tree *tree,
			  const struct schema_path *path, struct complaints *c)
{
	static const char *const kinds[] = { [TREE_LIST] = "a list", [TREE_MAP] = "a map" };
	_cleanup_free_ char *at = path_text(path);

	if (tree->kind != TREE_SCALAR) {
		complain(c, tree->where, at, "expected %s, found %s", type->what,
			 kinds[tree->kind]);
		return;
	}
	_cleanup_free_ char *found = complaint_quote(tree->text);
	complain(c, tree->where, at, "expected %s, found %s", type->what, found);
}

static bool is_null(const struct tree *tree)
{
	static const char *const words[] = { "", "~", "null", "Null", "NULL" };

	if (tree->kind != TREE_SCALAR || tree->quoted)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(tree->text, words[i]))
			return true;
	return false;
}

static void complain_unknown_key(const struct schema_type *type, const struct tree *key,
				 const struct schema_path *path, struct complaints *c)
{
	_cleanup_free_ const char **names = NULL;
	_cleanup_strbuf_ struct strbuf all = {0};
	_cleanup_free_ char *at = path_text(path);
	_cleanup_free_ char *found = complaint_quote(key->text);
	const struct schema_key *known;
	size_t n = 0, capacity = 0;

	if (!strcmp(key->text, "<<")) {
		complain(c, key->where, at, "%s has no merge keys%s", complaints_what(c),
			 c->what ? "" : "; use a profile");
		return;
	}
	for (size_t i = 0; (known = schema_key_at(type, i)); i++) {
		array_reserve(names, n, capacity);
		names[n++] = known->name;
		strbuf_printf(&all, "%s%s", i ? ", " : "", known->name);
	}
	const char *nearest = text_nearest(key->text, names, n);
	if (nearest)
		complain(c, key->where, at, "unknown key %s; did you mean '%s'?", found, nearest);
	else
		complain(c, key->where, at, "unknown key %s; known here: %s", found,
			 strbuf_str(&all));
}

static void check_object(const struct schema_type *type, const struct tree *tree,
			 const struct schema_path *path, struct complaints *c)
{
	for (size_t i = 0; i < tree->n && !complaints_full(c); i++) {
		const struct tree_pair *pair = &tree->pairs[i];
		const struct schema_key *key = schema_key_find(type, pair->key->text);
		struct schema_path below = { path, pair->key->text };

		if (key)
			schema_check(key->type, pair->value, &below, c);
		else
			complain_unknown_key(type, pair->key, path, c);
	}
}

static void check_scalar(const struct schema_type *type, const struct tree *tree,
			 const struct schema_path *path, struct complaints *c);

static void check_table(const struct schema_type *type, const struct tree *tree,
			const struct schema_path *path, struct complaints *c)
{
	for (size_t i = 0; i < tree->n && !complaints_full(c); i++) {
		const struct tree_pair *pair = &tree->pairs[i];
		struct schema_path below = { path, pair->key->text };

		check_scalar(type->name, pair->key, path, c);
		schema_check(type->item, pair->value, &below, c);
	}
}

static void check_eight(const struct schema_type *type, const struct tree *tree,
			const struct schema_path *path, struct complaints *c)
{
	for (size_t i = 0; i < tree->n && !complaints_full(c); i++) {
		const struct tree_pair *pair = &tree->pairs[i];
		struct schema_path below = { path, pair->key->text };

		const char *key = pair->key->text;

		if (!(key[0] >= '0' && key[0] <= '7' && !key[1])) {
			_cleanup_free_ char *at = path_text(path);
			_cleanup_free_ char *found = complaint_quote(key);

			complain(c, pair->key->where, at, "expected a key from 0 to 7, found %s",
				 found);
		}
		schema_check(type->item, pair->value, &below, c);
	}
}

static void check_list(const struct schema_type *item, const struct tree *tree,
		       const struct schema_path *path, struct complaints *c)
{
	for (size_t i = 0; i < tree->n && !complaints_full(c); i++)
		schema_check(item, tree->items[i], path, c);
}

static void check_word(const struct schema_type *type, const struct tree *tree,
		       const struct schema_path *path, struct complaints *c)
{
	_cleanup_strbuf_ struct strbuf all = {0};
	size_t n = 0;

	for (; type->words[n]; n++) {
		if (!strcmp(type->words[n], tree->text))
			return;
		strbuf_printf(&all, "%s%s", n ? ", " : "", type->words[n]);
	}
	_cleanup_free_ char *at = path_text(path);
	_cleanup_free_ char *found = complaint_quote(tree->text);
	const char *nearest = text_nearest(tree->text, type->words, n);
	if (nearest)
		complain(c, tree->where, at, "%s is not %s; did you mean '%s'?", found, type->what,
			 nearest);
	else
		complain(c, tree->where, at, "%s is not %s; one of %s", found, type->what,
			 strbuf_str(&all));
}

static void check_number(const struct schema_type *type, const struct tree *tree,
			 const struct schema_path *path, struct complaints *c)
{
	int64_t value;

	if (tree->quoted || !type->convert(tree->text, &value)) {
		complain_type(type, tree, path, c);
		return;
	}
	if (value >= type->min && value <= type->max)
		return;
	_cleanup_free_ char *at = path_text(path);
	complain(c, tree->where, at, "%s is out of range, expected %s%s%s", tree->text, type->what,
		 type->range_hint ? "; " : "", type->range_hint ? type->range_hint : "");
}

static void check_truth(const struct schema_type *type, const struct tree *tree,
			const struct schema_path *path, struct complaints *c)
{
	if (tree->quoted || (strcmp(tree->text, "true") && strcmp(tree->text, "false")))
		complain_type(type, tree, path, c);
}

static void check_text(const struct schema_type *type, const struct tree *tree,
		       const struct schema_path *path, struct complaints *c)
{
	const char *wrong = tree->text[0] ? NULL : "it is empty";

	if (type->check)
		wrong = type->check(tree->text);
	if (!wrong)
		return;
	_cleanup_free_ char *at = path_text(path);
	_cleanup_free_ char *found = complaint_quote(tree->text);
	complain(c, tree->where, at, "%s is not %s: %s", found, type->what, wrong);
}

static void check_scalar(const struct schema_type *type, const struct tree *tree,
			 const struct schema_path *path, struct complaints *c)
{
	switch (type->kind) {
	case SCHEMA_WORD:
		check_word(type, tree, path, c);
		break;
	case SCHEMA_NUMBER:
		check_number(type, tree, path, c);
		break;
	case SCHEMA_TRUTH:
		check_truth(type, tree, path, c);
		break;
	default:
		check_text(type, tree, path, c);
		break;
	}
}

enum tree_kind schema_tree_kind(const struct schema_type *type)
{
	switch (type->kind) {
	case SCHEMA_OBJECT:
	case SCHEMA_TABLE:
	case SCHEMA_EIGHT:
		return TREE_MAP;
	case SCHEMA_LIST:
	case SCHEMA_ROLES:
		return TREE_LIST;
	default:
		return TREE_SCALAR;
	}
}

void schema_check(const struct schema_type *type, const struct tree *tree,
		  const struct schema_path *path, struct complaints *c)
{
	if (is_null(tree)) {
		_cleanup_free_ char *at = path_text(path);
		complain(c, tree->where, at, "no value; expected %s%s", type->what,
			 schema_tree_kind(type) == TREE_MAP ? " ({} when it is empty)" : "");
		return;
	}
	if (tree->kind != schema_tree_kind(type)) {
		complain_type(type, tree, path, c);
		return;
	}
	switch (type->kind) {
	case SCHEMA_OBJECT:
		check_object(type, tree, path, c);
		break;
	case SCHEMA_TABLE:
		check_table(type, tree, path, c);
		break;
	case SCHEMA_EIGHT:
		check_eight(type, tree, path, c);
		break;
	case SCHEMA_LIST:
	case SCHEMA_ROLES:
		check_list(type->item, tree, path, c);
		break;
	default:
		check_scalar(type, tree, path, c);
		break;
	}
}

void schema_check_required(const struct schema_type *type, const struct tree *tree,
			   const struct schema_path *path, struct complaints *c)
{
	const struct schema_key *key;

	if (type->kind == SCHEMA_TABLE || type->kind == SCHEMA_LIST) {
		for (size_t i = 0; i < tree->n && !complaints_full(c); i++) {
			const struct tree *item =
				tree->kind == TREE_LIST ? tree->items[i] : tree->pairs[i].value;
			struct schema_path below = {
				path, tree->kind == TREE_LIST ? NULL : tree->pairs[i].key->text };

			schema_check_required(type->item, item, below.name ? &below : path, c);
		}
	}
	if (type->kind != SCHEMA_OBJECT)
		return;
	for (size_t i = 0; (key = schema_key_at(type, i)) && !complaints_full(c); i++) {
		const struct tree *value = tree_get(tree, key->name);
		struct schema_path below = { path, key->name };

		if (value) {
			schema_check_required(key->type, value, &below, c);
		} else if (key->required) {
			_cleanup_free_ char *at = path_text(path);

			complain(c, tree->where, at, "key '%s' is missing", key->name);
		}
	}
}
