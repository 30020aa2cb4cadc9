/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every member of two snapshots is, one at a time, taken away and replaced by a value of another
 * kind, and everything is judged by every gate: no crash, a sentence in each verdict, evidence
 * behind each pass. RAILHEAD_HOSTILE=all tries every value at every place (minutes).
 */
#include <string.h>

#include "scene.h"

static size_t judged, next_value;
static bool all_values;

static void judge(json_t *snapshot, const char *where)
{
	_cleanup_site_ struct site *site = NULL;
	_cleanup_ladder_ struct ladder *ladder = NULL;
	struct error err = {0};

	if (site_discover(&site, &snapshot, 1, &err) < 0)
		fail_msg("%s: %s", where, error_text(&err));
	if (!site->n_nodes)
		return;
	site->kubernetes = site->storage = site->workload = site->gpudirect = true;

	struct judge_node node = { &site->nodes[0], snapshot };
	struct judge_input input = { .site = site, .nodes = &node, .n_nodes = 1, .paper = true };

	if (judge_all(&ladder, &input, &err) < 0)
		fail_msg("%s: %s", where, error_text(&err));
	for (size_t i = 0; i < ladder->n_verdicts; i++) {
		const struct verdict *v = &ladder->verdicts[i];

		if (!v->summary || !*v->summary)
			fail_msg("%s: %s says nothing", where, v->gate->id);
		if (v->status == VERDICT_PASS && !v->n_evidence)
			fail_msg("%s: %s passes without evidence", where, v->gate->id);
		judged++;
	}
}

static const char *const values[] = {
	"null", "true", "-1", "0", "9223372036854775807", "1.5", "''", "'0x'", "'~/'", "[]", "[null]",
	"{}", "{'': {'': null}}",
};

static void spoil(json_t *root, json_t *at, const char *where);

/* The values for one place: all, or the next one in turn. Ends with NULL. */
static const char *value_of_turn(size_t i)
{
	if (all_values)
		return i < ARRAY_SIZE(values) ? values[i] : NULL;
	return i ? NULL : values[next_value++ % ARRAY_SIZE(values)];
}

/* A value in the place of another, then none; then what it had, spoiled inside. */
static void spoil_member(json_t *root, json_t *object, const char *key, const char *where)
{
	_cleanup_json_ json_t *kept = json_incref(json_object_get(object, key));
	const char *value;

	for (size_t i = 0; (value = value_of_turn(i)); i++) {
		json_object_set_new(object, key, scene_json(value));
		judge(root, where);
	}
	json_object_del(object, key);
	judge(root, where);
	json_object_set(object, key, kept);
	spoil(root, kept, where);
}

static void spoil_entry(json_t *root, json_t *array, size_t index, const char *where)
{
	_cleanup_json_ json_t *kept = json_incref(json_array_get(array, index));
	const char *value;

	for (size_t i = 0; (value = value_of_turn(i)); i++) {
		json_array_set_new(array, index, scene_json(value));
		judge(root, where);
	}
	json_array_set(array, index, kept);
	spoil(root, kept, where);
}

static void spoil(json_t *root, json_t *at, const char *where)
{
	size_t i;

	if (json_is_array(at)) {
		for (i = 0; i < json_array_size(at); i++) {
			_cleanup_free_ char *name = xasprintf("%s/%zu", where, i);

			spoil_entry(root, at, i, name);
		}
		return;
	}
	/* the keys first: the object changes while its members are replaced */
	size_t n = json_object_size(at);
	_cleanup_free_ char **keys = xcalloc(n + 1, sizeof(*keys));
	const char *key;
	json_t *value;

	i = 0;
	json_object_foreach(at, key, value)
		keys[i++] = xstrdup(key);
	for (i = 0; i < n; i++) {
		_cleanup_free_ char *name = xasprintf("%s/%s", where, keys[i]);

		spoil_member(root, at, keys[i], name);
		free(keys[i]);
	}
}

static void spoil_file(const char *name)
{
	_cleanup_free_ char *path =
		xasprintf("%s/tests/fuzz/corpus/snapshot/%s", RAILHEAD_SOURCE, name);
	_cleanup_json_ json_t *snapshot = json_load_file(path, 0, NULL);

	assert_non_null(snapshot);
	judge(snapshot, name);
	spoil(snapshot, snapshot, "");
}

static void healthy_node(void **state)
{
	(void)state;
	spoil_file("healthy");
}

static void records(void **state)
{
	(void)state;
	spoil_file("records");
	assert_true(judged > 50000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(healthy_node),
		cmocka_unit_test(records),
	};

	all_values = getenv("RAILHEAD_HOSTILE") != NULL;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
