/* SPDX-License-Identifier: Apache-2.0 */
/* From libyaml's events to a tree of marked values. */
#include <string.h>

#include "base/alloc.h"
#include "site/syntax.h"
#include "site/tree.h"

struct anchor {
	char *name;
	struct tree *tree;
	bool open;	/* its value is still being read: an alias to it would contain itself */
};

struct reader {
	yaml_parser_t parser;
	const char *text;
	size_t len;
	struct tree_document *doc;
	struct complaints *complaints;
	size_t values;	/* read so far, aliases expanded */
	struct anchor anchors[TREE_ANCHORS_MAX];
	size_t n_anchors;
};

/* Next event, which the caller deletes; false after a complaint. */
static bool next_event(struct reader *r, yaml_event_t *event)
{
	if (yaml_parser_parse(&r->parser, event))
		return true;
	syntax_complain(&r->parser, r->text, r->len, r->complaints);
	return false;
}

static bool count_values(struct reader *r, struct site_where where, size_t n)
{
	r->values += n;
	if (r->values <= TREE_VALUES_MAX)
		return true;
	complain(r->complaints, where, NULL,
		 "more than %u values (aliases count as often as they are used)", TREE_VALUES_MAX);
	return false;
}

static bool check_depth(struct reader *r, struct site_where where, unsigned depth)
{
	if (depth <= TREE_DEPTH_MAX)
		return true;
	complain(r->complaints, where, NULL, "nested deeper than %u levels", TREE_DEPTH_MAX);
	return false;
}

/* The schema types every value, so a tag can say nothing new; the core ones are harmless. */
static bool check_tag(struct reader *r, struct site_where where, const yaml_char_t *tag)
{
	static const char *const core[] = {
		YAML_STR_TAG, YAML_INT_TAG, YAML_FLOAT_TAG, YAML_BOOL_TAG,
		YAML_NULL_TAG, YAML_SEQ_TAG, YAML_MAP_TAG,
	};

	if (!tag)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(core); i++)
		if (!strcmp((const char *)tag, core[i]))
			return true;
	_cleanup_free_ char *shown = complaint_quote((const char *)tag);
	complain(r->complaints, where, NULL, "tag %s is not used in %s", shown,
		 complaints_what(r->complaints));
	return false;
}

static bool open_anchor(struct reader *r, struct site_where where, const yaml_char_t *name,
			struct tree *tree, size_t *index)
{
	*index = SIZE_MAX;
	if (!name)
		return true;
	for (size_t i = 0; i < r->n_anchors; i++) {
		if (strcmp(r->anchors[i].name, (const char *)name))
			continue;
		_cleanup_free_ char *shown = complaint_quote((const char *)name);
		complain(r->complaints, where, NULL, "anchor %s stands twice (first in line %u)",
			 shown, r->anchors[i].tree->where.line);
		return false;
	}
	if (r->n_anchors == TREE_ANCHORS_MAX) {
		complain(r->complaints, where, NULL, "more than %u anchors", TREE_ANCHORS_MAX);
		return false;
	}
	*index = r->n_anchors++;
	r->anchors[*index] = (struct anchor){ xstrdup((const char *)name), tree, true };
	return true;
}

static bool read_alias(struct reader *r, struct site_where where, const char *name, unsigned depth,
		       struct tree **out)
{
	_cleanup_free_ char *shown = complaint_quote(name);

	for (size_t i = 0; i < r->n_anchors; i++) {
		const struct anchor *anchor = &r->anchors[i];

		if (strcmp(anchor->name, name))
			continue;
		if (anchor->open) {
			complain(r->complaints, where, NULL,
				 "alias %s stands inside its own anchor (line %u)", shown,
				 anchor->tree->where.line);
			return false;
		}
		*out = anchor->tree;
		return count_values(r, where, anchor->tree->weight) &&
		       check_depth(r, where, depth + anchor->tree->height);
	}
	complain(r->complaints, where, NULL, "alias %s has no anchor before it", shown);
	return false;
}

static bool read_scalar(struct reader *r, const yaml_event_t *event, struct tree *tree)
{
	const char *value = (const char *)event->data.scalar.value;
	size_t len = event->data.scalar.length;

	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)value[i];
		/* U+0080…U+009F are control characters to a terminal */
		bool c1 = c == 0xc2 && i + 1 < len && (unsigned char)value[i + 1] < 0xa0;

		if (c >= 0x20 && c != 0x7f && !c1)
			continue;
		if (c == '\n')
			complain(r->complaints, tree->where, NULL,
				 "text of several lines; a value is one line");
		else
			complain(r->complaints, tree->where, NULL,
				 "control character 0x%02x in a value",
				 c1 ? (unsigned char)value[i + 1] : c);
		return false;
	}
	char *text = tree_alloc(r->doc, len + 1, 1);
	memcpy(text, value, len);
	tree->text = text;
	tree->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	return true;
}

static bool read_value(struct reader *r, yaml_event_t *event, unsigned depth, struct tree **out);

static bool read_list(struct reader *r, struct tree *list, unsigned depth)
{
	_cleanup_free_ struct tree **items = NULL;
	size_t n = 0, capacity = 0;

	for (;;) {
		yaml_event_t event;

		if (!next_event(r, &event))
			return false;
		if (event.type == YAML_SEQUENCE_END_EVENT) {
			yaml_event_delete(&event);
			break;
		}
		array_reserve(items, n, capacity);
		if (!read_value(r, &event, depth + 1, &items[n]))
			return false;
		list->weight += items[n]->weight;
		if (list->height < items[n]->height + 1)
			list->height = items[n]->height + 1;
		n++;
	}
	list->items = tree_alloc(r->doc, n, sizeof(*list->items));
	if (n)
		memcpy(list->items, items, n * sizeof(*items));
	list->n = n;
	return true;
}

static bool read_key(struct reader *r, yaml_event_t *event, unsigned depth, struct tree **key)
{
	struct site_where where = syntax_where(event->start_mark);
	bool plain = event->type == YAML_SCALAR_EVENT;

	if (!read_value(r, event, depth, key))
		return false;
	if (!plain)
		complain(r->complaints, where, NULL, "a key must be plain text");
	return plain;
}

static void complain_duplicates(struct reader *r, const struct tree *map)
{
	for (size_t i = 1; i < map->n; i++) {
		const struct tree *first = map->pairs[map->sorted[i - 1]].key;
		const struct tree *again = map->pairs[map->sorted[i]].key;

		if (strcmp(first->text, again->text))
			continue;
		_cleanup_free_ char *shown = complaint_quote(again->text);
		complain(r->complaints, again->where, NULL,
			 "key %s stands twice (first in line %u)", shown, first->where.line);
	}
}

static bool read_map(struct reader *r, struct tree *map, unsigned depth)
{
	_cleanup_free_ struct tree_pair *pairs = NULL;
	size_t n = 0, capacity = 0;

	for (;;) {
		yaml_event_t event;

		if (!next_event(r, &event))
			return false;
		if (event.type == YAML_MAPPING_END_EVENT) {
			yaml_event_delete(&event);
			break;
		}
		array_reserve(pairs, n, capacity);
		if (!read_key(r, &event, depth + 1, &pairs[n].key) || !next_event(r, &event) ||
		    !read_value(r, &event, depth + 1, &pairs[n].value))
			return false;
		n++;
	}
	tree_map_fill(r->doc, map, pairs, n);
	complain_duplicates(r, map);
	return true;
}

static bool read_collection(struct reader *r, const yaml_event_t *event, unsigned depth,
			    struct tree **out)
{
	bool is_map = event->type == YAML_MAPPING_START_EVENT;
	struct site_where where = syntax_where(event->start_mark);
	struct tree *tree = tree_new(r->doc, is_map ? TREE_MAP : TREE_LIST, where);
	const yaml_char_t *tag, *name;
	size_t anchor;

	*out = tree;
	if (is_map) {
		tag = event->data.mapping_start.tag;
		name = event->data.mapping_start.anchor;
	} else {
		tag = event->data.sequence_start.tag;
		name = event->data.sequence_start.anchor;
	}
	if (!count_values(r, where, 1) || !check_depth(r, where, depth) ||
	    !check_tag(r, where, tag) || !open_anchor(r, where, name, tree, &anchor))
		return false;
	if (is_map ? !read_map(r, tree, depth) : !read_list(r, tree, depth))
		return false;
	if (anchor != SIZE_MAX)
		r->anchors[anchor].open = false;
	return true;
}

/* Read the value that begins with `event`, which is deleted; false when reading cannot go on. */
static bool read_value(struct reader *r, yaml_event_t *event, unsigned depth, struct tree **out)
{
	struct site_where where = syntax_where(event->start_mark);
	bool good = false;
	size_t anchor;

	if (event->type == YAML_ALIAS_EVENT) {
		good = read_alias(r, where, (const char *)event->data.alias.anchor, depth, out);
	} else if (event->type == YAML_SCALAR_EVENT) {
		struct tree *tree = tree_new(r->doc, TREE_SCALAR, where);

		*out = tree;
		good = count_values(r, where, 1) && check_tag(r, where, event->data.scalar.tag) &&
		       open_anchor(r, where, event->data.scalar.anchor, tree, &anchor) &&
		       read_scalar(r, event, tree);
		if (good && anchor != SIZE_MAX)
			r->anchors[anchor].open = false;
	} else {
		good = read_collection(r, event, depth, out);
	}
	yaml_event_delete(event);
	return good;
}

/* One document and nothing after it. */
static bool read_stream(struct reader *r)
{
	yaml_event_t event;

	do {
		if (!next_event(r, &event))
			return false;
		if (event.type == YAML_STREAM_END_EVENT) {
			yaml_event_delete(&event);
			complain(r->complaints, (struct site_where){ 1, 1 }, NULL,
				 "the file is empty; %s begins with 'schema: %s'",
				 complaints_what(r->complaints),
				 r->complaints->schema ? r->complaints->schema : SITE_SCHEMA);
			return false;
		}
		if (event.type == YAML_STREAM_START_EVENT ||
		    event.type == YAML_DOCUMENT_START_EVENT) {
			yaml_event_delete(&event);
			continue;
		}
		break;
	} while (true);
	if (!read_value(r, &event, 1, &r->doc->root))
		return false;
	for (bool end = false; !end;) {
		if (!next_event(r, &event))
			return false;
		if (event.type == YAML_DOCUMENT_START_EVENT) {
			complain(r->complaints, syntax_where(event.start_mark), NULL,
				 "a second document; %s holds one", complaints_what(r->complaints));
			yaml_event_delete(&event);
			return false;
		}
		end = event.type == YAML_STREAM_END_EVENT;
		yaml_event_delete(&event);
	}
	return true;
}

bool tree_read(struct tree_document *doc, const char *text, size_t len, struct complaints *c)
{
	static const char mark[] = "\xef\xbb\xbf"; /* U+FEFF, which some editors write first */
	size_t valid;

	if (len >= strlen(mark) && !memcmp(text, mark, strlen(mark))) {
		text += strlen(mark);
		len -= strlen(mark);
	}
	if (len > TREE_FILE_MAX) {
		complain(c, (struct site_where){0}, NULL, "larger than %u MiB",
			 TREE_FILE_MAX >> 20);
		return false;
	}
	valid = syntax_utf8_until(text, len);
	if (valid < len) {
		complain(c, syntax_where_of_byte(text, valid), NULL, "byte 0x%02x is not UTF-8",
			 (unsigned char)text[valid]);
		return false;
	}
	struct reader *r = xcalloc(1, sizeof(*r));
	*r = (struct reader){ .text = text, .len = len, .doc = doc, .complaints = c };
	if (!yaml_parser_initialize(&r->parser))
		alloc_exhausted();
	yaml_parser_set_encoding(&r->parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&r->parser, (const unsigned char *)text, len);
	bool good = read_stream(r);
	yaml_parser_delete(&r->parser);
	for (size_t i = 0; i < r->n_anchors; i++)
		free(r->anchors[i].name);
	free(r);
	return good;
}
