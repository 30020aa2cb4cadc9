/* SPDX-License-Identifier: Apache-2.0 */
/* The sections of a plan that stand below its ladder, as text. */
#include <string.h>

#include "report/text.h"

#define BUFFER_COLUMN 22u	/* behind "  ECN marking, highest" */

static void heading(struct text *t, const char *text)
{
	wrap_end(&t->w);
	text_line(t, 0, WRAP_BOLD, text);
}

static void put_buffers(struct text *t)
{
	json_t *numbers = json_at(t->document, "/buffers/numbers"), *number;
	size_t i;

	if (!json_array_size(numbers))
		return;
	heading(t, "Buffers of the switch");
	json_array_foreach(numbers, i, number) {
		const char *declared = json_get_string(number, "declared", NULL);
		const char *formula = json_get_string(number, "formula", NULL);

		t->w.indent = BUFFER_COLUMN;
		wrap_to(&t->w, 2);
		wrap_put(&t->w, WRAP_BOLD, json_get_string(number, "name", ""));
		wrap_to(&t->w, BUFFER_COLUMN);
		wrap_put(&t->w, WRAP_PLAIN, json_get_string(number, "value", ""));
		if (declared)
			wrap_putf(&t->w, WRAP_PLAIN, "; declared %s", declared);
		wrap_end(&t->w);
		if (formula)
			text_line(t, BUFFER_COLUMN, WRAP_PLAIN, formula);
		if (t->options->verbose)
			text_line(t, BUFFER_COLUMN, WRAP_DIM,
				  json_get_string(number, "source", ""));
	}
}

static void put_unverified(struct text *t)
{
	_cleanup_json_ json_t *list = document_unverified(t->document);
	json_t *item, *gate;
	size_t i, k;

	if (!json_array_size(list))
		return;
	heading(t, "Stays unverified");
	json_array_foreach(list, i, item) {
		_cleanup_free_ char *prover = document_prover(item);

		t->w.indent = TEXT_ID_COLUMN;
		wrap_to(&t->w, 2);
		wrap_putf(&t->w, WRAP_PLAIN, "? %s ", json_get_string(item, "text", ""));
		wrap_putf(&t->w, WRAP_BOLD, "— %s", prover);
		if (t->options->verbose) {
			json_array_foreach(json_object_get(item, "from"), k, gate)
				wrap_putf(&t->w, WRAP_DIM, "%s%s", k ? ", " : " (said by ",
					  json_string_value(gate));
			wrap_put(&t->w, WRAP_DIM, ")");
		}
		wrap_end(&t->w);
	}
}

void text_put_plan(struct text *t)
{
	put_buffers(t);
	put_unverified(t);
}
