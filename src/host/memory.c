/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions and answers in memory: {door: {key: [answer, ...]}}.
 *
 * The same question may be asked several times and answered differently each time (a counter). All
 * answers are kept in order and come back in order; the last one repeats for ever.
 */
#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "host/door.h"

struct door_memory {
	json_t *doors;		/* {door: {key: [answer, ...]}} */
	json_t *next;		/* {door: {key: index of the next answer}}, for a replay */
};

struct door_memory *door_memory_new(void)
{
	struct door_memory *m = xcalloc(1, sizeof(*m));

	m->doors = json_object_new();
	m->next = json_object_new();
	return m;
}

void door_memory_free(struct door_memory *m)
{
	if (!m)
		return;
	json_decref(m->doors);
	json_decref(m->next);
	free(m);
}

/* JSON keys must be UTF-8; a path of other bytes is kept in its printable form. */
static char *json_key(const char *key)
{
	size_t len = strlen(key);

	return text_is_utf8(key, len) ? xstrdup(key) : text_printable(key, len);
}

void door_memory_keep(struct door_memory *m, const char *door, const char *key, json_t *answer)
{
	_cleanup_free_ char *name = json_key(key);

	json_append(json_arr(json_obj(m->doors, door), name), answer);
}

json_t *door_memory_next(struct door_memory *m, const char *door, const char *key)
{
	_cleanup_free_ char *name = json_key(key);
	json_t *answers = json_object_get(json_object_get(m->doors, door), name);
	size_t n = json_array_size(answers), i;

	if (!n)
		return NULL;
	if (n == 1)
		return json_array_get(answers, 0);

	json_t *next = json_obj(m->next, door);
	i = (size_t)json_get_int(next, name, 0);
	if (i + 1 < n)
		json_put_int(next, name, (int64_t)i + 1);
	return json_array_get(answers, i);
}

static int compare_keys(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Keys of `object` in bytewise order, NULL-terminated; they belong to the object. */
static const char **sorted_keys(json_t *object)
{
	size_t n = 0;
	const char **keys = xcalloc(json_object_size(object) + 1, sizeof(*keys));
	const char *key;
	json_t *value;

	json_object_foreach(object, key, value)
		keys[n++] = key;
	if (n)
		qsort(keys, n, sizeof(*keys), compare_keys);
	return keys;
}

/* The answers, without those at the end that only repeat the one before. */
static json_t *answers_shortened(json_t *answers)
{
	size_t n = json_array_size(answers);
	json_t *out = json_array_new();

	while (n > 1 && json_equal(json_array_get(answers, n - 1), json_array_get(answers, n - 2)))
		n--;
	for (size_t i = 0; i < n; i++)
		json_append(out, json_incref(json_array_get(answers, i)));
	return out;
}

json_t *door_memory_document(const struct door_memory *m)
{
	_cleanup_free_ const char **doors = sorted_keys(m->doors);
	json_t *document = json_object_new();

	for (size_t i = 0; doors[i]; i++) {
		json_t *from = json_object_get(m->doors, doors[i]);
		json_t *to = json_obj(document, doors[i]);
		_cleanup_free_ const char **keys = sorted_keys(from);

		for (size_t j = 0; keys[j]; j++)
			json_put(to, keys[j], answers_shortened(json_object_get(from, keys[j])));
	}
	return document;
}

int door_memory_load(struct door_memory *m, json_t *document, struct error *err)
{
	const char *door, *key;
	json_t *questions, *answers, *answer;
	size_t i;

	if (!json_is_object(document))
		return error_set(err, -EBADMSG, "\"doors\" is not an object");
	json_object_foreach(document, door, questions) {
		if (!json_is_object(questions))
			return error_set(err, -EBADMSG, "door \"%s\" is not an object", door);
		json_object_foreach(questions, key, answers) {
			if (!json_is_array(answers) || !json_array_size(answers))
				return error_set(err, -EBADMSG, "%s \"%s\" has no list of answers",
						 door, key);
			json_array_foreach(answers, i, answer)
				if (!json_is_object(answer))
					return error_set(err, -EBADMSG,
							 "answer %zu of %s \"%s\" is "
							 "not an object",
							 i, door, key);
		}
	}
	json_decref(m->doors);
	m->doors = json_incref(document);
	return 0;
}
