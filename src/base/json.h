/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jansson with railhead's conventions: constructors that cannot fail, text made safe, JSON
 * pointers. Ownership follows jansson: *_new references are the caller's, `put` functions steal the
 * value.
 */
#pragma once

#include <jansson.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/error.h"

static inline RH_UNUSED void cleanup_json_p(json_t **j)
{
	json_decref(*j);
}
#define _cleanup_json_ __attribute__((cleanup(cleanup_json_p)))

/* obj[key] = value; steals `value`; NULL value is ignored (the fact is absent). */
void json_put(json_t *obj, const char *key, json_t *value);
/* Text goes through text_printable() when it is not clean UTF-8; NULL is ignored. */
void json_put_string(json_t *obj, const char *key, const char *value);
void json_put_stringf(json_t *obj, const char *key, const char *fmt, ...) RH_PRINTF(3, 4);
void json_put_int(json_t *obj, const char *key, int64_t value);
/* Counters above INT64_MAX are kept as their decimal text. */
void json_put_u64(json_t *obj, const char *key, uint64_t value);
/* Such a counter, as number or as text. False: it is none, `*value` is left alone. NULL is allowed. */
bool json_u64(const json_t *counter, uint64_t *value);
void json_put_bool(json_t *obj, const char *key, bool value);

/* New values, never NULL: memory that is exhausted ends the program (base/alloc.h). */
json_t *json_object_new(void);
json_t *json_array_new(void);
json_t *json_integer_new(int64_t value);
json_t *json_text_new(const char *value);	/* made safe, as json_put_string() */
json_t *json_textn_new(const char *value, size_t len);

/* Add to an array; steals `value`. */
void json_append(json_t *array, json_t *value);
void json_append_text(json_t *array, const char *value);

/* obj[key] as an object, made if absent. Borrowed reference. */
json_t *json_obj(json_t *obj, const char *key);
/* obj[key] as an array, made if absent. Borrowed reference. */
json_t *json_arr(json_t *obj, const char *key);

/*
 * JSON pointers (RFC 6901). json_pointer_format() escapes every %s argument, so that a link name
 * with '~' or '/' stays one segment; it knows %s, %d, %u, %zu and %% only. The caller frees.
 * json_pointer_get() returns a borrowed reference or NULL.
 */
char *json_pointer_format(const char *fmt, ...) RH_PRINTF(1, 2);
char *json_pointer_vformat(const char *fmt, va_list ap) RH_PRINTF(1, 0);
json_t *json_pointer_get(json_t *root, const char *pointer);
/* json_pointer_get() with json_pointer_format(). */
json_t *json_at(json_t *root, const char *fmt, ...) RH_PRINTF(2, 3);

/* Typed reads with a default: of a member of `obj` (NULL and non-objects allowed). */
const char *json_get_string(json_t *obj, const char *key, const char *fallback);
int64_t json_get_int(json_t *obj, const char *key, int64_t fallback);
bool json_get_bool(json_t *obj, const char *key, bool fallback);

/*
 * Parse a JSON text that came from outside: refuses duplicate keys, depth over 64, trailing bytes,
 * and more than about a million values, whatever their bytes. `name` (file name or what it is) goes
 * into the message with line and column. json_parse_large() is for what may be larger: its memory
 * is some 150 bytes for each of `values_max`.
 */
int json_parse(json_t **out, const char *text, size_t len, const char *name, struct error *err);
int json_parse_large(json_t **out, const char *text, size_t len, size_t values_max,
		     const char *name, struct error *err);

/* Deterministic text: insertion order kept, two-space indent when `pretty`. Caller frees. */
char *json_to_text(const json_t *j, bool pretty);
