/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the writers of src/render/format.h and diff.h make of JSON on standard input, for
 * test_format.py:
 *	render-print yaml	any value: one YAML document
 *	render-print shell	texts: a command that prints each with a final NUL
 *	render-print keyfile	texts: group "g" with keys k0, k1, …
 *	render-print html	texts: each in a <p>
 *	render-print comment	a text
 *	render-print word	texts: "1" or "0" for each
 *	render-print diff	{before, after}: the unified difference
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/strbuf.h"
#include "render/diff.h"
#include "render/format.h"

static void print_texts(struct strbuf *out, const char *what, json_t *texts)
{
	json_t *item;
	size_t i;

	json_array_foreach(texts, i, item) {
		const char *text = json_string_value(item);

		if (!strcmp(what, "shell")) {
			strbuf_putc(out, ' ');
			format_shell(out, text);
		} else if (!strcmp(what, "keyfile")) {
			_cleanup_free_ char *key = xasprintf("k%zu", i);
			format_keyfile(out, key, text);
		} else if (!strcmp(what, "html")) {
			strbuf_puts(out, "<p>");
			format_html(out, text);
			strbuf_puts(out, "</p>");
		} else {
			strbuf_putc(out, format_is_word(text) ? '1' : '0');
		}
	}
}

static void print_diff(struct strbuf *out, json_t *pair)
{
	json_t *before = json_object_get(pair, "before"), *after = json_object_get(pair, "after");
	struct diff_text a = { .data = "" }, b = { .data = "" };

	if (json_is_string(before))
		a = (struct diff_text){ "a/f", json_string_value(before), json_string_length(before) };
	if (json_is_string(after))
		b = (struct diff_text){ "b/f", json_string_value(after), json_string_length(after) };
	diff_unified(out, &a, &b);
}

int main(int argc, char **argv)
{
	_cleanup_strbuf_ struct strbuf out = {0};
	const char *what = argc > 1 ? argv[1] : "";
	_cleanup_json_ json_t *value = json_loadf(stdin, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);

	if (!value) {
		fprintf(stderr, "render-print: no JSON on standard input\n");
		return 2;
	}
	if (!strcmp(what, "yaml"))
		format_yaml(&out, value);
	else if (!strcmp(what, "comment"))
		format_comment(&out, json_string_value(value));
	else if (!strcmp(what, "diff"))
		print_diff(&out, value);
	else
		print_texts(&out, what, value);
	fwrite(strbuf_str(&out), 1, out.len, stdout);
	return 0;
}
