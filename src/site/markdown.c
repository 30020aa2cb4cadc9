/* SPDX-License-Identifier: Apache-2.0 */
/* The schema table as the reference part of docs/site.md. */
#include <string.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "site/schema.h"

struct writer {
	struct strbuf text;
	const struct schema_type **done;	/* objects that have their table */
	size_t n_done, capacity;
};

/* A '|' would end the cell. */
static void put_cell(struct strbuf *b, const char *text)
{
	for (const char *s = text; *s; s++) {
		if (*s == '|')
			strbuf_putc(b, '\\');
		strbuf_putc(b, *s);
	}
}

static void put_value(struct strbuf *b, const struct schema_type *type)
{
	if (type->kind == SCHEMA_WORD) {
		for (size_t i = 0; type->words[i]; i++)
			strbuf_printf(b, "%s`%s`", i ? ", " : "", type->words[i]);
		return;
	}
	put_cell(b, type->what);
}

static void put_key(struct strbuf *b, const struct schema_key *key)
{
	strbuf_printf(b, "| `%s` | ", key->name);
	put_value(b, key->type);
	strbuf_puts(b, " | ");
	put_cell(b, key->text);
	if (key->required)
		strbuf_puts(b, " (required)");
	if (key->fallback)
		strbuf_printf(b, " (default: `%s`)", key->fallback);
	if (key->fallback_text)
		strbuf_printf(b, " (default: %s)", key->fallback_text);
	strbuf_puts(b, " |\n");
}

void schema_markdown_keys(struct strbuf *b, const struct schema_type *object)
{
	strbuf_puts(b, "| key | value | meaning |\n|---|---|---|\n");
	for (const struct schema_key *key = object->keys; key->name; key++)
		put_key(b, key);
}

static void put_object(struct writer *w, const struct schema_type *object)
{
	for (size_t i = 0; i < w->n_done; i++)
		if (w->done[i] == object)
			return;
	array_reserve(w->done, w->n_done, w->capacity);
	w->done[w->n_done++] = object;
	strbuf_printf(&w->text, "### %s\n\n", object->title);
	if (object->text)
		strbuf_printf(&w->text, "%s\n\n", object->text);
	schema_markdown_keys(&w->text, object);
	strbuf_puts(&w->text, "\n");
	for (const struct schema_key *key = object->keys; key->name; key++) {
		const struct schema_type *below = key->type->item ? key->type->item : key->type;

		if (below->kind == SCHEMA_OBJECT)
			put_object(w, below);
	}
	if (object->also)
		put_object(w, object->also);
}

char *site_schema_markdown(void)
{
	struct writer w = {0};

	put_object(&w, &schema_site);
	free(w.done);
	/* one newline at the end, not the empty line between two parts */
	w.text.s[w.text.len - 1] = '\0';
	return strbuf_steal(&w.text);
}
