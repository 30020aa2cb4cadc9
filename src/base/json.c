/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

/* Depth of documents that railhead writes is below 12; the limit keeps hostile ones off the
 * stack. */
#define JSON_DEPTH_MAX 64
/* A node with 800 links and a full table of routes has a tenth of it. */
#define JSON_VALUES_MAX ((size_t)1 << 20)

static json_t *checked(json_t *value)
{
	if (!value)
		alloc_exhausted();
	return value;
}

json_t *json_object_new(void)
{
	return checked(json_object());
}

json_t *json_array_new(void)
{
	return checked(json_array());
}

json_t *json_integer_new(int64_t value)
{
	return checked(json_integer(value));
}

void json_put(json_t *obj, const char *key, json_t *value)
{
	/* _nocheck: keys are literals or went through json_textn_new()'s cleaning */
	if (value && json_object_set_new_nocheck(obj, key, value) < 0)
		alloc_exhausted();
}

json_t *json_textn_new(const char *value, size_t len)
{
	bool clean = text_is_utf8(value, len);

	for (size_t i = 0; clean && i < len; i++)
		clean = (unsigned char)value[i] >= 0x20 || value[i] == '\n' || value[i] == '\t';
	if (clean)
		return checked(json_stringn_nocheck(value, len));
	_cleanup_free_ char *safe = text_printable(value, len);
	return checked(json_string_nocheck(safe));
}

json_t *json_text_new(const char *value)
{
	return json_textn_new(value, strlen(value));
}

void json_put_string(json_t *obj, const char *key, const char *value)
{
	if (value)
		json_put(obj, key, json_text_new(value));
}

void json_put_stringf(json_t *obj, const char *key, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	_cleanup_free_ char *text = xvasprintf(fmt, ap);
	va_end(ap);
	json_put_string(obj, key, text);
}

void json_put_int(json_t *obj, const char *key, int64_t value)
{
	json_put(obj, key, json_integer_new(value));
}

void json_put_u64(json_t *obj, const char *key, uint64_t value)
{
	if (value <= INT64_MAX)
		json_put_int(obj, key, (int64_t)value);
	else
		json_put_stringf(obj, key, "%llu", (unsigned long long)value);
}

bool json_u64(const json_t *counter, uint64_t *value)
{
	uint64_t number;

	if (json_is_integer(counter) && json_integer_value(counter) >= 0)
		number = (uint64_t)json_integer_value(counter);
	else if (!json_is_string(counter) ||
		 text_to_u64(json_string_value(counter), 10, &number) < 0)
		return false;
	*value = number;
	return true;
}

void json_put_bool(json_t *obj, const char *key, bool value)
{
	json_put(obj, key, json_boolean(value));
}

void json_append(json_t *array, json_t *value)
{
	if (json_array_append_new(array, value) < 0)
		alloc_exhausted();
}

void json_append_text(json_t *array, const char *value)
{
	json_append(array, json_text_new(value));
}

json_t *json_obj(json_t *obj, const char *key)
{
	json_t *child = json_object_get(obj, key);

	if (!json_is_object(child)) {
		child = json_object_new();
		json_put(obj, key, child);
	}
	return child;
}

json_t *json_arr(json_t *obj, const char *key)
{
	json_t *child = json_object_get(obj, key);

	if (!json_is_array(child)) {
		child = json_array_new();
		json_put(obj, key, child);
	}
	return child;
}

const char *json_get_string(json_t *obj, const char *key, const char *fallback)
{
	const char *s = json_string_value(json_object_get(obj, key));

	return s ? s : fallback;
}

int64_t json_get_int(json_t *obj, const char *key, int64_t fallback)
{
	json_t *v = json_object_get(obj, key);

	return json_is_integer(v) ? json_integer_value(v) : fallback;
}

bool json_get_bool(json_t *obj, const char *key, bool fallback)
{
	json_t *v = json_object_get(obj, key);

	return json_is_boolean(v) ? json_is_true(v) : fallback;
}

/* What a text will unfold to, counted outside strings before anything is parsed. */
struct extent {
	size_t depth;	/* of the deepest bracket */
	size_t values;	/* at least as many as there are: brackets and commas */
};

static struct extent extent_of(const char *text, size_t len)
{
	struct extent extent = { 0, 1 };
	size_t depth = 0;
	bool in_string = false;

	for (size_t i = 0; i < len; i++) {
		char c = text[i];

		if (in_string) {
			if (c == '\\')
				i++;
			else if (c == '"')
				in_string = false;
		} else if (c == '"') {
			in_string = true;
		} else if (c == '{' || c == '[') {
			extent.values++;
			if (++depth > extent.depth)
				extent.depth = depth;
		} else if (c == ',') {
			extent.values++;
		} else if ((c == '}' || c == ']') && depth) {
			depth--;
		}
	}
	return extent;
}

int json_parse_large(json_t **out, const char *text, size_t len, size_t values_max,
		     const char *name, struct error *err)
{
	struct extent extent = extent_of(text, len);
	json_error_t e;

	if (!len)
		return error_set(err, -EINVAL, "%s: empty, a JSON document was expected", name);
	/* jansson itself takes 2048 levels, too deep for the recursive users of a document */
	if (extent.depth > JSON_DEPTH_MAX)
		return error_set(err, -EINVAL, "%s: nested deeper than %d levels", name,
				 JSON_DEPTH_MAX);
	/* "[]," is three bytes and unfolds to a hundred and more */
	if (extent.values > values_max)
		return error_set(err, -EINVAL, "%s: more than %zu values", name, values_max);
	*out = json_loadb(text, len, JSON_REJECT_DUPLICATES, &e);
	if (!*out) {
		_cleanup_free_ char *safe = text_printable(e.text, strlen(e.text));
		return error_set(err, -EINVAL, "%s:%d:%d: %s", name, e.line, e.column, safe);
	}
	return 0;
}

int json_parse(json_t **out, const char *text, size_t len, const char *name, struct error *err)
{
	return json_parse_large(out, text, len, JSON_VALUES_MAX, name, err);
}

char *json_to_text(const json_t *j, bool pretty)
{
	char *text = json_dumps(j, JSON_ENCODE_ANY | (pretty ? JSON_INDENT(2) : JSON_COMPACT));

	if (!text)
		alloc_exhausted();
	return text;
}
