/* SPDX-License-Identifier: Apache-2.0 */
/*
 * YAML from JSON values, by libyaml's emitter. The emitter chooses escapes and layout; which text
 * may stand without quotes is decided here, since libyaml asks only whether the text would stay a
 * scalar, not whether the reader would take it for a number or a truth value.
 */
#include "render/format.h"

#include <string.h>
#include <strings.h>
#include <yaml.h>

#include "base/alloc.h"

/*
 * Words that are no text in YAML 1.1 (yaml.org/type: bool, null, float) or 1.2, in any case. What
 * begins with a digit, '.', '+', '-', '~', '=' or '<' is quoted by its first character.
 */
static const char *const reserved[] = {
	"true", "false", "yes", "no", "on", "off", "y", "n", "null", "nan", "inf",
};

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_plain(const char *text, size_t len)
{
	static const char inside[] = "0123456789_./+@%=()-";

	if (!len || (!is_letter(text[0]) && text[0] != '/'))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(reserved); i++) {
		if (!strcasecmp(text, reserved[i]))
			return false;
	}
	for (size_t i = 1; i < len; i++) {
		/* a colon or a blank between two other characters */
		bool between = (text[i] == ':' || text[i] == ' ') && i + 1 < len &&
			       text[i + 1] != ' ' && text[i + 1] != ':' && text[i - 1] != ':';

		if (!is_letter(text[i]) && (!text[i] || !strchr(inside, text[i])) && !between)
			return false;
	}
	return true;
}

/* Several lines that a literal block keeps as they are, whatever the reader. */
static bool is_block(const char *text, size_t len)
{
	const char *newline = memchr(text, '\n', len);

	if (!newline || text[0] == '\n' || text[0] == ' ')
		return false;
	if (newline == text + len - 1 || (len > 1 && text[len - 1] == '\n' && text[len - 2] == '\n'))
		return false;
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		/* ASCII only: YAML 1.1 knows line breaks beyond it */
		if ((c < 0x20 && c != '\n') || c >= 0x7f)
			return false;
		if (c == ' ' && (i + 1 == len || text[i + 1] == '\n'))
			return false;
	}
	return true;
}

static void emit(yaml_emitter_t *emitter, yaml_event_t *event, int made)
{
	/* the events are well-formed and the sink takes everything: only memory can be missing */
	if (!made || !yaml_emitter_emit(emitter, event))
		alloc_exhausted();
}

static void emit_scalar(yaml_emitter_t *emitter, const char *text, size_t len,
			yaml_scalar_style_t style)
{
	yaml_event_t event;

	emit(emitter, &event,
	     yaml_scalar_event_initialize(&event, NULL, NULL, (const yaml_char_t *)text, (int)len,
					  1, 1, style));
}

static void emit_text(yaml_emitter_t *emitter, const char *text, size_t len, bool key)
{
	yaml_scalar_style_t style = YAML_DOUBLE_QUOTED_SCALAR_STYLE;

	if (is_plain(text, len))
		style = YAML_PLAIN_SCALAR_STYLE;
	else if (!key && is_block(text, len))
		style = YAML_LITERAL_SCALAR_STYLE;
	emit_scalar(emitter, text, len, style);
}

static void emit_word(yaml_emitter_t *emitter, const char *word)
{
	emit_scalar(emitter, word, strlen(word), YAML_PLAIN_SCALAR_STYLE);
}

/* YAML 1.1 demands a point of a float, and a sign of its exponent. */
static void emit_real(yaml_emitter_t *emitter, double value)
{
	_cleanup_free_ char *digits = xasprintf("%.15g", value);
	size_t mantissa = strcspn(digits, "e");
	_cleanup_free_ char *number = xasprintf("%.*s%s%s", (int)mantissa, digits,
						memchr(digits, '.', mantissa) ? "" : ".0",
						digits + mantissa);

	emit_word(emitter, number);
}

static void emit_value(yaml_emitter_t *emitter, const json_t *value);

static void emit_object(yaml_emitter_t *emitter, const json_t *object)
{
	yaml_event_t event;
	const char *key;
	json_t *member;

	emit(emitter, &event,
	     yaml_mapping_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_MAPPING_STYLE));
	json_object_foreach((json_t *)(uintptr_t)object, key, member) {
		emit_text(emitter, key, strlen(key), true);
		emit_value(emitter, member);
	}
	emit(emitter, &event, yaml_mapping_end_event_initialize(&event));
}

static void emit_array(yaml_emitter_t *emitter, const json_t *array)
{
	yaml_event_t event;
	size_t i;
	json_t *item;

	emit(emitter, &event,
	     yaml_sequence_start_event_initialize(&event, NULL, NULL, 1,
						  YAML_BLOCK_SEQUENCE_STYLE));
	json_array_foreach(array, i, item)
		emit_value(emitter, item);
	emit(emitter, &event, yaml_sequence_end_event_initialize(&event));
}

static void emit_value(yaml_emitter_t *emitter, const json_t *value)
{
	_cleanup_free_ char *number = NULL;

	switch (json_typeof(value)) {
	case JSON_OBJECT:
		emit_object(emitter, value);
		break;
	case JSON_ARRAY:
		emit_array(emitter, value);
		break;
	case JSON_STRING:
		emit_text(emitter, json_string_value(value), json_string_length(value), false);
		break;
	case JSON_INTEGER:
		number = xasprintf("%" JSON_INTEGER_FORMAT, json_integer_value(value));
		emit_word(emitter, number);
		break;
	case JSON_REAL:
		emit_real(emitter, json_real_value(value));
		break;
	case JSON_TRUE:
		emit_word(emitter, "true");
		break;
	case JSON_FALSE:
		emit_word(emitter, "false");
		break;
	case JSON_NULL:
		emit_word(emitter, "null");
		break;
	}
}

static int sink(void *data, unsigned char *bytes, size_t size)
{
	strbuf_add(data, bytes, size);
	return 1;
}

void format_yaml(struct strbuf *b, const json_t *value)
{
	yaml_emitter_t emitter;
	yaml_event_t event;

	if (!yaml_emitter_initialize(&emitter))
		alloc_exhausted();
	yaml_emitter_set_output(&emitter, sink, b);
	yaml_emitter_set_unicode(&emitter, 1);
	yaml_emitter_set_width(&emitter, -1);
	emit(&emitter, &event, yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING));
	emit(&emitter, &event, yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1));
	emit_value(&emitter, value);
	emit(&emitter, &event, yaml_document_end_event_initialize(&event, 1));
	emit(&emitter, &event, yaml_stream_end_event_initialize(&event));
	yaml_emitter_delete(&emitter);
}
