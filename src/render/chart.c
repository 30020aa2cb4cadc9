/* SPDX-License-Identifier: Apache-2.0 */
#include "render/chart.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/strings.h"
#include "base/text.h"

int chart_open(struct render *r, struct chart *chart, const char *name, const char *version)
{
	_cleanup_strbuf_ struct strbuf known = {0};
	json_t *row;
	size_t i;

	*chart = (struct chart){ .values = json_object_new() };
	json_array_foreach(matrix_rows(r->matrix, "chart-keys"), i, row) {
		if (strcmp(json_get_string(row, "chart", ""), name))
			continue;
		if (!strcmp(json_get_string(row, "version", ""), version)) {
			chart->row = row;
			return 0;
		}
		strbuf_printf(&known, "%s%s", known.len ? ", " : "",
			      json_get_string(row, "version", ""));
	}
	render_refuse(r, "the keys of chart %s %s are not known, so its values cannot be checked "
			 "(known: %s); add a row to chart-keys.yaml with --data",
		      name, version, known.len ? known.s : "none");
	return -ENOENT;
}

void chart_close(struct chart *chart)
{
	json_decref(chart->values);
	*chart = (struct chart){0};
}

static json_t *keys_of(const struct chart *chart)
{
	return json_object_get(chart->row, "keys");
}

/* Length of the longest proper part of `key` that is a map of the chart; 0: none. */
static size_t map_above(const struct chart *chart, const char *key)
{
	for (size_t len = strlen(key); len; len--) {
		if (key[len] != '.')
			continue;
		_cleanup_free_ char *above = xstrndup(key, len);

		if (!strcmp(json_get_string(keys_of(chart), above, ""), "map"))
			return len;
	}
	return 0;
}

const char *chart_type(const struct chart *chart, const char *key)
{
	const char *type = json_get_string(keys_of(chart), key, NULL);

	if (type)
		return type;
	return map_above(chart, key) ? "any" : NULL;
}

static void set(struct chart *chart, const char *key, json_t *value)
{
	size_t map = map_above(chart, key);
	json_t *at = chart->values;
	const char *part = key, *dot;

	while ((dot = strchr(part, '.')) && !(map && part > key + map)) {
		_cleanup_free_ char *name = xstrndup(part, (size_t)(dot - part));

		at = json_obj(at, name);
		part = dot + 1;
	}
	json_put(at, part, value);
}

static bool fits(const char *type, const json_t *value)
{
	static const struct {
		const char *type;
		int a, b;
	} types[] = {
		{ "bool", JSON_TRUE, JSON_FALSE }, { "int", JSON_INTEGER, JSON_INTEGER },
		{ "string", JSON_STRING, JSON_STRING }, { "list", JSON_ARRAY, JSON_ARRAY },
		{ "map", JSON_OBJECT, JSON_OBJECT },
	};
	int kind = json_typeof(value);

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		if (!strcmp(types[i].type, type))
			return kind == types[i].a || kind == types[i].b;
	}
	return true;
}

/* "; did you mean 'driver.version'?", or "". The caller frees. */
static char *nearest(const struct chart *chart, const char *key)
{
	_cleanup_free_ const char **all = xcalloc(json_object_size(keys_of(chart)), sizeof(*all));
	const char *name, *near;
	size_t n = 0;
	json_t *type;

	json_object_foreach(keys_of(chart), name, type)
		all[n++] = name;
	near = text_nearest(key, all, n);
	return near ? xasprintf("; did you mean '%s'?", near) : xstrdup("");
}

/* Refuse a key that the chart lacks; `origin` says whose it is. */
static void refuse_key(struct render *r, const struct chart *chart, const char *origin,
		       const char *key)
{
	_cleanup_free_ char *hint = nearest(chart, key);

	render_refuse(r, "%schart %s %s has no key '%s', and Helm would ignore it%s", origin,
		      json_get_string(chart->row, "chart", ""),
		      json_get_string(chart->row, "version", ""), key, hint);
}

void chart_put(struct render *r, struct chart *chart, const char *key, json_t *value)
{
	const char *type = chart_type(chart, key);

	if (!value)
		return;
	if (type && fits(type, value)) {
		set(chart, key, value);
		return;
	}
	if (type)
		render_refuse(r, "chart %s %s takes a %s as '%s' (%s)",
			      json_get_string(chart->row, "chart", ""),
			      json_get_string(chart->row, "version", ""), type, key,
			      json_get_string(chart->row, "at", ""));
	else
		refuse_key(r, chart, "", key);
	json_decref(value);
}

void chart_put_if(struct render *r, struct chart *chart, const char *key, json_t *value)
{
	if (chart_type(chart, key))
		chart_put(r, chart, key, value);
	else
		json_decref(value);
}

/* --- declared values -------------------------------------------------------------------------- */

/* A text as a value of the type; NULL when it is none. */
static json_t *read_value(const char *type, const char *text)
{
	json_t *value = NULL;
	int64_t number;

	if (!strcmp(type, "string"))
		return json_text_new(text);
	if (!strcmp(type, "bool"))
		return !strcmp(text, "true")	? json_true() :
		       !strcmp(text, "false")	? json_false() :
						  NULL;
	if (!strcmp(type, "int"))
		return text_to_i64(text, 10, &number) ? NULL : json_integer_new(number);
	/* lists and maps as JSON; below a map also words without quotes */
	if (!strcmp(type, "any") && (!strcmp(text, "true") || !strcmp(text, "false")))
		return json_boolean(!strcmp(text, "true"));
	if (!strcmp(type, "any") && !text_to_i64(text, 10, &number))
		return json_integer_new(number);
	if (!strcmp(type, "any") && text[0] == '"') {
		_cleanup_free_ char *list = xasprintf("[%s]", text);
		_cleanup_json_ json_t *parsed = NULL;

		if (!json_parse(&parsed, list, strlen(list), "", NULL) &&
		    json_array_size(parsed) == 1)
			return json_incref(json_array_get(parsed, 0));
		return NULL;
	}
	if (!strcmp(type, "any") && text[0] != '[' && text[0] != '{')
		return json_text_new(text);
	if (json_parse(&value, text, strlen(text), "", NULL))
		return NULL;
	if (fits(type, value))
		return value;
	json_decref(value);
	return NULL;
}

static const char *wanted(const char *type)
{
	if (!strcmp(type, "bool"))
		return "true or false";
	if (!strcmp(type, "int"))
		return "a number";
	if (!strcmp(type, "any"))
		return "JSON";
	return !strcmp(type, "list") ? "a list, written as JSON" : "a map, written as JSON";
}

void chart_put_declared(struct render *r, struct chart *chart, const char *pointer)
{
	json_t *text;
	const char *key;

	json_object_foreach(json_pointer_get(r->site->document, pointer), key, text) {
		_cleanup_free_ char *tail = json_pointer_format("/%s", key);
		_cleanup_free_ char *at = xasprintf("%s%s", pointer, tail);
		_cleanup_free_ char *origin =
			xasprintf("%s:%u: %s: ", r->site->path ? r->site->path : "site",
				  site_line(r->site, at), at + 1);
		const char *type = chart_type(chart, key);
		json_t *value = type ? read_value(type, json_string_value(text)) : NULL;

		if (!type)
			refuse_key(r, chart, origin, key);
		else if (!value)
			render_refuse(r, "%s'%s' is not %s", origin, json_string_value(text),
				      wanted(type));
		else
			set(chart, key, value);
	}
}
