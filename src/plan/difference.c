/* SPDX-License-Identifier: Apache-2.0 */
/* What an upgrade changes: two plans of one site, and of each what is not the same in the other. */
#include <string.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "plan/plan.h"

/* Members of a list by their identity, so that thousands of them are compared in one walk. */
static json_t *by_identity(json_t *list, const char *const *keys)
{
	json_t *index = json_object_new(), *one;
	size_t i;

	json_array_foreach(list, i, one) {
		_cleanup_strbuf_ struct strbuf b = {0};

		for (const char *const *key = keys; *key; key++)
			strbuf_printf(&b, "%s\n", json_get_string(one, *key, ""));
		json_put(index, strbuf_str(&b), json_incref(one));
	}
	return index;
}

static bool same(json_t *a, json_t *b, const char *const *members)
{
	for (; *members; members++) {
		json_t *x = json_object_get(a, *members), *y = json_object_get(b, *members);

		if (x != y && (!x || !y || !json_equal(x, y)))
			return false;
	}
	return true;
}

static void add(json_t *changes, json_t *before, json_t *after, const char *const *keys)
{
	json_t *change = json_object_new(), *known = after ? after : before;

	for (; *keys; keys++)
		json_put(change, *keys, json_incref(json_object_get(known, *keys)));
	if (before)
		json_put(change, "before", json_incref(before));
	if (after)
		json_put(change, "after", json_incref(after));
	json_append(changes, change);
}

/* What differs in `members` between two lists whose items are told apart by `keys`: in the order of
 * the later list, then what is gone. */
static json_t *changes_of(json_t *before, json_t *after, const char *const *keys,
			  const char *const *members)
{
	_cleanup_json_ json_t *old = by_identity(before, keys), *new = by_identity(after, keys);
	json_t *changes = json_array_new(), *one;
	const char *identity;

	json_object_foreach(new, identity, one) {
		json_t *was = json_object_get(old, identity);

		if (!was || !same(was, one, members))
			add(changes, was, one, keys);
	}
	json_object_foreach(old, identity, one) {
		if (!json_object_get(new, identity))
			add(changes, one, NULL, keys);
	}
	return changes;
}

json_t *plan_difference(json_t *before, json_t *after)
{
	static const char *const verdict_keys[] = { "gate", "node", "subject", NULL };
	static const char *const verdict_members[] = { "status", "summary", "causes", "unverified",
						       NULL };
	static const char *const component_keys[] = { "component", "where", NULL };
	static const char *const component_members[] = { "version", "need", "why", NULL };
	static const char *const buffer_keys[] = { "name", NULL };
	static const char *const buffer_members[] = { "value", "declared", NULL };
	json_t *difference = json_object_new();

	json_put(difference, "verdicts",
		 changes_of(json_object_get(before, "verdicts"), json_object_get(after, "verdicts"),
			    verdict_keys, verdict_members));
	json_put(difference, "components",
		 changes_of(json_object_get(before, "components"),
			    json_object_get(after, "components"), component_keys,
			    component_members));
	json_put(difference, "buffers",
		 changes_of(json_at(before, "/buffers/numbers"), json_at(after, "/buffers/numbers"),
			    buffer_keys, buffer_members));
	return difference;
}
