/* SPDX-License-Identifier: Apache-2.0 */
/* The sections of a plan that stand below its ladder, on the page. */
#include <string.h>

#include "report/html.h"

static void open_table(struct strbuf *out, const char *id, const char *title,
		       const char *const *columns)
{
	strbuf_printf(out, "<section aria-labelledby=\"%s\"><h2 class=\"section\" id=\"%s\">%s</h2>\n"
			   "<table class=\"plan\"><thead><tr>", id, id, title);
	for (; *columns; columns++)
		strbuf_printf(out, "<th scope=\"col\">%s</th>", *columns);
	strbuf_puts(out, "</tr></thead><tbody>\n");
}

static void close_table(struct strbuf *out)
{
	strbuf_puts(out, "</tbody></table></section>\n");
}

static void put_cell(struct strbuf *out, json_t *obj, const char *key)
{
	strbuf_puts(out, "<td>");
	html_put_rich(out, json_get_string(obj, key, "–"));
	strbuf_puts(out, "</td>");
}

/* A second, quieter line in a cell. */
static void put_small(struct strbuf *out, const char *text)
{
	if (!text)
		return;
	strbuf_puts(out, "<small>");
	html_put_rich(out, text);
	strbuf_puts(out, "</small>");
}

static void put_buffers(struct strbuf *out, json_t *numbers)
{
	static const char *const columns[] = { "what", "computed", "declared", "how", NULL };
	json_t *number;
	size_t i;

	if (!json_array_size(numbers))
		return;
	open_table(out, "buffers", "Buffers of the switch", columns);
	json_array_foreach(numbers, i, number) {
		strbuf_puts(out, "<tr><th scope=\"row\">");
		html_put(out, json_get_string(number, "name", ""));
		strbuf_puts(out, "</th>");
		put_cell(out, number, "value");
		put_cell(out, number, "declared");
		strbuf_puts(out, "<td>");
		html_put_rich(out, json_get_string(number, "formula", ""));
		put_small(out, json_get_string(number, "source", NULL));
		strbuf_puts(out, "</td></tr>\n");
	}
	close_table(out);
}

static void put_unverified(struct strbuf *out, json_t *document)
{
	static const char *const columns[] = { "what nobody has seen yet", "what will show it",
					       NULL };
	_cleanup_json_ json_t *list = document_unverified(document);
	json_t *item;
	size_t i;

	if (!json_array_size(list))
		return;
	open_table(out, "unverified", "Stays unverified", columns);
	json_array_foreach(list, i, item) {
		_cleanup_free_ char *prover = document_prover(item);

		strbuf_puts(out, "<tr>");
		put_cell(out, item, "text");
		strbuf_puts(out, "<td>");
		html_put(out, prover);
		strbuf_puts(out, "</td></tr>\n");
	}
	close_table(out);
}

static void put_components(struct strbuf *out, json_t *components)
{
	static const char *const columns[] = { "component", "where", "version", "need", "why",
					       NULL };
	json_t *one;
	size_t i;

	if (!json_array_size(components))
		return;
	open_table(out, "components", "Components", columns);
	json_array_foreach(components, i, one) {
		strbuf_puts(out, "<tr><th scope=\"row\">");
		html_put(out, json_get_string(one, "component", ""));
		strbuf_puts(out, "</th>");
		put_cell(out, one, "where");
		put_cell(out, one, "version");
		strbuf_puts(out, "<td class=\"");
		html_put(out, json_get_string(one, "need", ""));
		strbuf_puts(out, "\">");
		html_put(out, json_get_string(one, "need", ""));
		strbuf_puts(out, "</td><td>");
		html_put_rich(out, json_get_string(one, "why", ""));
		put_small(out, json_get_string(one, "source", NULL));
		strbuf_puts(out, "</td></tr>\n");
	}
	close_table(out);
}

void html_put_plan(struct strbuf *out, json_t *document)
{
	put_buffers(out, json_at(document, "/buffers/numbers"));
	put_unverified(out, document);
	put_components(out, json_object_get(document, "components"));
}
