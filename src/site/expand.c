/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles and defaults, merged into the nodes that use them. */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "site/schema.h"

/* A site has kinds of nodes and variants of them; a longer chain is a mistake or an attack. */
#define EXTENDS_MAX 8u
/* Longer names cannot be near a mistyped one, and cost. */
#define NEAR_NAME_MAX 64u

struct profile {
	struct tree *merged;	/* NULL until asked for */
	unsigned levels;	/* profiles that it is made of, itself included */
	bool open;		/* being merged */
	bool broken;		/* complained about */
};

struct expander {
	struct tree_document *doc;
	struct complaints *complaints;
	struct tree *defaults;	/* may be NULL */
	struct tree *list;	/* `profiles`, may be NULL */
	struct profile *profiles;	/* by index in `list` */
	size_t values;		/* of all merged nodes */
};

char *site_nearest_key(const char *name, const struct tree *const *maps, size_t n_maps)
{
	_cleanup_free_ const char **names = NULL;
	size_t n = 0, capacity = 0;

	for (size_t i = 0; i < n_maps; i++) {
		for (size_t j = 0; maps[i] && j < maps[i]->n; j++) {
			const char *key = maps[i]->pairs[j].key->text;

			if (strnlen(key, NEAR_NAME_MAX) == NEAR_NAME_MAX)
				continue;
			array_reserve(names, n, capacity);
			names[n++] = key;
		}
	}
	const char *nearest = text_nearest(name, names, n);
	return nearest ? xasprintf("; did you mean '%s'?", nearest) : xstrdup("");
}

/* `under` with the values of `over` laid on it; maps in both are merged. At the `top`, what `under`
 * extends stays behind. */
static struct tree *merge(struct expander *e, struct tree *over, struct tree *under, bool top)
{
	_cleanup_free_ struct tree_pair *pairs = xcalloc(over->n + under->n, sizeof(*pairs));
	struct tree *merged = tree_new(e->doc, TREE_MAP, over->where);
	size_t n = 0;

	/* in the order of the lower layer: what a node adds does not reorder its links */
	for (size_t i = 0; i < under->n; i++) {
		const struct tree_pair *low = &under->pairs[i];
		const struct tree_pair *high = tree_pair(over, low->key->text);

		if (top && !strcmp(low->key->text, "extends"))
			continue;
		pairs[n] = high ? *high : *low;
		if (high && high->value->kind == TREE_MAP && low->value->kind == TREE_MAP)
			pairs[n].value = merge(e, high->value, low->value, false);
		n++;
	}
	for (size_t i = 0; i < over->n; i++) {
		const char *key = over->pairs[i].key->text;
		bool placed = tree_pair(under, key) && !(top && !strcmp(key, "extends"));

		if (!placed)
			pairs[n++] = over->pairs[i];
	}
	tree_map_fill(e->doc, merged, pairs, n);
	return merged;
}

/* Merged maps share what they did not merge, but every one of them is walked later. */
static bool count_values(struct expander *e, struct site_where where, const char *path,
			 const struct tree *merged)
{
	e->values += merged->weight;
	if (e->values <= TREE_VALUES_MAX)
		return true;
	complain(e->complaints, where, path, "with its profiles the site has more than %u values",
		 TREE_VALUES_MAX);
	return false;
}

/* `name` is in the list. */
static struct profile *profile_named(struct expander *e, const char *name)
{
	return &e->profiles[tree_pair(e->list, name) - e->list->pairs];
}

static struct tree *profile_merge(struct expander *e, const struct tree_pair *pair,
				  struct profile *profile, unsigned depth);

/* The merged profile that `name` (a scalar) names; NULL after a complaint. */
static struct tree *profile_merged(struct expander *e, const struct tree *name, const char *who,
				   unsigned depth)
{
	const struct tree_pair *pair = tree_pair(e->list, name->text);

	if (!pair) {
		const struct tree *lists[] = { e->list };
		_cleanup_free_ char *found = complaint_quote(name->text);
		_cleanup_free_ char *hint = site_nearest_key(name->text, lists, 1);

		complain(e->complaints, name->where, who, "there is no profile %s%s", found, hint);
		return NULL;
	}
	struct profile *profile = profile_named(e, name->text);
	if (profile->merged || profile->broken)
		return profile->merged;
	if (profile->open) {
		complain(e->complaints, name->where, who, "the profile extends itself through '%s'",
			 name->text);
		return NULL;
	}
	profile->open = true;
	profile->merged = profile_merge(e, pair, profile, depth);
	profile->open = false;
	profile->broken = !profile->merged;
	return profile->merged;
}

/* `depth`: how many profiles are being merged above this one. */
static struct tree *profile_merge(struct expander *e, const struct tree_pair *pair,
				  struct profile *profile, unsigned depth)
{
	_cleanup_free_ char *path = xasprintf("profiles/%s", pair->key->text);
	const struct tree *extends = tree_get(pair->value, "extends");
	struct tree *base = e->defaults;

	profile->levels = 1;
	if (extends && depth < EXTENDS_MAX) {
		base = profile_merged(e, extends, path, depth + 1);
		if (!base)
			return NULL;
		profile->levels += profile_named(e, extends->text)->levels;
	}
	if (depth == EXTENDS_MAX || profile->levels > EXTENDS_MAX) {
		complain(e->complaints, extends ? extends->where : pair->key->where, path,
			 "more than %u profiles extend one another", EXTENDS_MAX);
		return NULL;
	}
	struct tree *merged = base ? merge(e, pair->value, base, true) : pair->value;
	return count_values(e, pair->key->where, path, merged) ? merged : NULL;
}

static struct tree *node_merged(struct expander *e, const struct tree_pair *pair)
{
	_cleanup_free_ char *path = xasprintf("nodes/%s", pair->key->text);
	const struct tree *name = tree_get(pair->value, "profile");
	struct tree *base = name ? profile_merged(e, name, path, 0) : e->defaults;

	if (name && !base)
		return NULL;
	struct tree *node = base ? merge(e, pair->value, base, true) : pair->value;
	return count_values(e, pair->key->where, path, node) ? node : NULL;
}

struct tree *site_nodes_merged(struct tree_document *doc, struct complaints *c)
{
	struct tree *nodes = tree_get(doc->root, "nodes");
	_cleanup_free_ struct tree_pair *pairs = xcalloc(nodes->n, sizeof(*pairs));
	struct expander e = {
		.doc = doc,
		.complaints = c,
		.defaults = tree_get(doc->root, "defaults"),
		.list = tree_get(doc->root, "profiles"),
	};
	struct tree *merged = NULL;
	bool good = true;

	e.profiles = xcalloc(e.list ? e.list->n : 0, sizeof(*e.profiles));
	/* profiles that no node uses are looked at too */
	for (size_t i = 0; e.list && i < e.list->n && e.values <= TREE_VALUES_MAX; i++)
		if (!profile_merged(&e, e.list->pairs[i].key, "profiles", 0))
			good = false;
	for (size_t i = 0; i < nodes->n && e.values <= TREE_VALUES_MAX; i++) {
		pairs[i].key = nodes->pairs[i].key;
		pairs[i].value = node_merged(&e, &nodes->pairs[i]);
		if (!pairs[i].value)
			good = false;
	}
	free(e.profiles);
	if (good) {
		merged = tree_new(doc, TREE_MAP, nodes->where);
		tree_map_fill(doc, merged, pairs, nodes->n);
	}
	return merged;
}
