/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What if: values laid over a site file before it is checked, each as KEY=VALUE.
 *
 * KEY is the path of a key as messages name it, with slashes ("nodes/gpu-1/os/version") or, when no
 * name on the way has a dot in it, with dots ("gpu_operator.version"). Keys of the schema may be
 * written in camel case, as Helm does. VALUE is one YAML value. What stands on the way to the key
 * is copied, so that an alias elsewhere in the file keeps its value.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "site/schema.h"

#define OVERRIDE_SEGMENTS_MAX 16u	/* the schema is less deep */

struct override {
	struct tree_document *doc;
	struct complaints complaints;
	struct tree *value;
	char *segments[OVERRIDE_SEGMENTS_MAX];	/* point into a copy of KEY */
	size_t n_segments;
};

/* No place in the file: the name of the override stands before the message. */
static const struct site_where nowhere;

/* "kernelModuleType" -> "kernel_module_type". The caller frees. */
static char *snake_case(const char *name)
{
	struct strbuf b = {0};

	for (const char *s = name; *s; s++) {
		if (isupper((unsigned char)*s) && s != name)
			strbuf_putc(&b, '_');
		strbuf_putc(&b, (char)tolower((unsigned char)*s));
	}
	return b.s ? strbuf_steal(&b) : xstrdup("");
}

static char *path_text(const struct override *o, size_t n)
{
	struct strbuf b = {0};

	for (size_t i = 0; i < n; i++)
		strbuf_printf(&b, "%s%s", i ? "/" : "", o->segments[i]);
	return b.s ? strbuf_steal(&b) : xstrdup("");
}

static struct tree *scalar_of(struct override *o, const char *text)
{
	struct tree *tree = tree_new(o->doc, TREE_SCALAR, nowhere);
	size_t size = strlen(text) + 1;

	tree->text = memcpy(tree_alloc(o->doc, size, 1), text, size);
	return tree;
}

/* Copy of `map` (NULL: an empty one) in which `key` has this value. */
static struct tree *map_with(struct override *o, const struct tree *map, const char *key,
			     struct tree *value)
{
	size_t n = map ? map->n : 0, at = n;
	_cleanup_free_ struct tree_pair *pairs = xcalloc(n + 1, sizeof(*pairs));
	struct tree *copy = tree_new(o->doc, TREE_MAP, map ? map->where : nowhere);

	for (size_t i = 0; i < n; i++) {
		pairs[i] = map->pairs[i];
		if (!strcmp(pairs[i].key->text, key))
			at = i;
	}
	pairs[at] = (struct tree_pair){ scalar_of(o, key), value };
	tree_map_fill(o->doc, copy, pairs, at == n ? n + 1 : n);
	return copy;
}

/* Copy of `list` (NULL: an empty one) in which item `index`, at most one behind its end, is this
 * value. */
static struct tree *list_with(struct override *o, const struct tree *list, size_t index,
			      struct tree *value)
{
	size_t n = list ? list->n : 0, n_copy = index == n ? n + 1 : n;
	struct tree *copy = tree_new(o->doc, TREE_LIST, list ? list->where : nowhere);

	copy->items = tree_alloc(o->doc, n_copy, sizeof(*copy->items));
	copy->n = n_copy;
	for (size_t i = 0; i < n_copy; i++) {
		copy->items[i] = i == index ? value : list->items[i];
		copy->weight += copy->items[i]->weight;
		if (copy->height < copy->items[i]->height + 1)
			copy->height = copy->items[i]->height + 1;
	}
	return copy;
}

static struct tree *with_value(struct override *o, const struct schema_type *type,
			       const struct tree *tree, size_t depth,
			       const struct schema_path *path);

static struct tree *object_with(struct override *o, const struct schema_type *type,
				const struct tree *tree, size_t depth,
				const struct schema_path *path)
{
	const char *segment = o->segments[depth];
	_cleanup_free_ char *snake = snake_case(segment);
	const struct schema_key *key = schema_key_find(type, segment);

	if (!key)
		key = schema_key_find(type, snake);
	if (!key) {
		/* the common check tells which key is near */
		schema_check(type, map_with(o, NULL, snake, o->value), path, &o->complaints);
		return NULL;
	}
	struct schema_path below = { path, key->name };
	struct tree *value =
		with_value(o, key->type, tree_get(tree, key->name), depth + 1, &below);
	return value ? map_with(o, tree, key->name, value) : NULL;
}

/* A new link or driver may be declared; a new node by a slip of the hand would go unnoticed. */
static bool may_add(const struct schema_type *table)
{
	return table->item != &schema_node && table->item != &schema_profile;
}

static struct tree *table_with(struct override *o, const struct schema_type *type,
			       const struct tree *tree, size_t depth,
			       const struct schema_path *path)
{
	const char *name = o->segments[depth];
	struct tree *old = tree_get(tree, name);
	struct schema_path below = { path, name };

	if (!old && !may_add(type)) {
		_cleanup_free_ char *at = path_text(o, depth);
		_cleanup_free_ char *shown = complaint_quote(name);
		_cleanup_free_ char *hint = site_nearest_key(name, &tree, 1);

		complain(&o->complaints, nowhere, at, "there is no %s in the file%s", shown, hint);
		return NULL;
	}
	struct tree *value = with_value(o, type->item, old, depth + 1, &below);
	return value ? map_with(o, tree, name, value) : NULL;
}

static struct tree *item_with(struct override *o, const struct schema_type *type,
			      const struct tree *tree, size_t depth,
			      const struct schema_path *path)
{
	const char *segment = o->segments[depth];
	struct schema_path below = { path, segment };
	size_t n = tree ? tree->n : 0;
	int64_t index;

	if (!schema_convert_decimal(segment, &index) || index < 0 || (uint64_t)index > n) {
		_cleanup_free_ char *at = path_text(o, depth);
		_cleanup_free_ char *shown = complaint_quote(segment);

		complain(&o->complaints, nowhere, at,
			 "expected the index of an item, from 0 to %zu (which adds one), found %s",
			 n, shown);
		return NULL;
	}
	const struct tree *old = (size_t)index < n ? tree->items[index] : NULL;
	struct tree *value = with_value(o, type->item, old, depth + 1, &below);
	return value ? list_with(o, tree, (size_t)index, value) : NULL;
}

/* Copy of `tree` (NULL: not in the file) with the value at the rest of the path; NULL after a
 * complaint. */
static struct tree *with_value(struct override *o, const struct schema_type *type,
			       const struct tree *tree, size_t depth,
			       const struct schema_path *path)
{
	size_t before = o->complaints.n;

	if (depth == o->n_segments) {
		schema_check(type, o->value, path, &o->complaints);
		return o->complaints.n == before ? o->value : NULL;
	}
	_cleanup_free_ char *at = path_text(o, depth);
	if (tree && tree->kind != schema_tree_kind(type)) {
		complain(&o->complaints, nowhere, at, "the file has something else than %s here",
			 type->what);
		return NULL;
	}
	switch (type->kind) {
	case SCHEMA_OBJECT:
		return object_with(o, type, tree, depth, path);
	case SCHEMA_TABLE:
	case SCHEMA_EIGHT:
		return table_with(o, type, tree, depth, path);
	case SCHEMA_LIST:
	case SCHEMA_ROLES:
		return item_with(o, type, tree, depth, path);
	default:
		complain(&o->complaints, nowhere, at,
			 "it is %s and has no keys (a path with a name like nvcr.io in it is "
			 "written with slashes)", type->what);
		return NULL;
	}
}

/* Cut KEY at its slashes, or at its dots when it has none. */
static bool cut_key(struct override *o, char *key)
{
	const char *separators = strchr(key, '/') ? "/" : ".";
	char *rest = key, *segment;

	while ((segment = strsep(&rest, separators))) {
		if (!*segment || o->n_segments == OVERRIDE_SEGMENTS_MAX) {
			complain(&o->complaints, nowhere, NULL,
				 *segment ? "the path has too many keys" :
					    "a key in the path is empty");
			return false;
		}
		o->segments[o->n_segments++] = segment;
	}
	return true;
}

/* Places within VALUE mean nothing to a reader of the file. */
static void forget_places(struct tree *tree)
{
	tree->where = nowhere;
	for (size_t i = 0; tree->kind == TREE_LIST && i < tree->n; i++)
		forget_places(tree->items[i]);
	for (size_t i = 0; tree->kind == TREE_MAP && i < tree->n; i++) {
		tree->pairs[i].key->where = nowhere;
		forget_places(tree->pairs[i].value);
	}
}

static bool read_value(struct override *o, const char *text)
{
	struct tree *root = o->doc->root;
	const char *start = text + strspn(text, " \t");

	if (!*start || *start == '#') {
		complain(&o->complaints, nowhere, NULL, "no value behind '='");
		return false;
	}
	bool good = tree_read(o->doc, text, strlen(text), &o->complaints) && !o->complaints.n;
	o->value = o->doc->root;
	o->doc->root = root;
	for (size_t i = 0; i < o->complaints.n; i++)
		o->complaints.list[i].where = nowhere;
	if (good)
		forget_places(o->value);
	return good;
}

static int override_one(struct tree_document *doc, const char *text, struct error *err)
{
	_cleanup_free_ char *name = xasprintf("--upgrade %s", text);
	_cleanup_free_ char *key = xstrdup(text);
	struct override o = { .doc = doc, .complaints = { .file = name } };
	char *equals = strchr(key, '=');
	struct tree *root = NULL;

	if (equals)
		*equals++ = '\0';
	else
		complain(&o.complaints, nowhere, NULL, "expected KEY=VALUE");
	if (equals && cut_key(&o, key) && read_value(&o, equals))
		root = with_value(&o, &schema_site, doc->root, 0, NULL);
	int rc = complaints_tell(&o.complaints, err);
	complaints_clear(&o.complaints);
	if (!rc)
		doc->root = root;
	return rc;
}

int site_override(struct tree_document *doc, const char *const *overrides, struct error *err)
{
	int rc = 0;

	for (; overrides && *overrides && !rc; overrides++)
		rc = override_one(doc, *overrides, err);
	return rc;
}
