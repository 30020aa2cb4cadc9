/* SPDX-License-Identifier: Apache-2.0 */
/* What a plan says besides its verdicts, as all forms need it. */
#include <string.h>

#include "report/internal.h"

char *document_prover(json_t *unverified)
{
	const char *gate = json_get_string(unverified, "gate", NULL);
	int64_t phase = json_get_int(unverified, "phase", -1);

	if (!gate)
		return xstrdup("no gate proves it");
	return phase < 0 ? xasprintf("%s proves it", gate) :
			   xasprintf("%s proves it, phase %lld", gate, (long long)phase);
}

json_t *document_unverified(json_t *document)
{
	_cleanup_json_ json_t *seen = json_object_new();
	json_t *list = json_array_new(), *v, *item;
	size_t i, k;

	json_array_foreach(json_object_get(document, "verdicts"), i, v) {
		json_array_foreach(json_object_get(v, "unverified"), k, item) {
			const char *text = json_get_string(item, "text", "");
			const char *gate = json_get_string(item, "gate", "");
			_cleanup_free_ char *key = xasprintf("%s\n%s", gate, text);
			size_t at = (size_t)json_get_int(seen, key,
							 (int64_t)json_array_size(list));
			json_t *one;

			if (at == json_array_size(list)) {
				json_put_int(seen, key, (int64_t)at);
				json_append(list, json_copy(item));
			}
			one = json_array_get(list, at);
			json_append_text(json_arr(one, "from"), json_get_string(v, "gate", ""));
		}
	}
	return list;
}

char *document_buffer_lines(json_t *document)
{
	struct strbuf b = {0};
	json_t *number;
	size_t i;

	json_array_foreach(json_at(document, "/buffers/numbers"), i, number) {
		const char *declared = json_get_string(number, "declared", NULL);
		const char *formula = json_get_string(number, "formula", NULL);

		strbuf_printf(&b, "%s: %s", json_get_string(number, "name", ""),
			      json_get_string(number, "value", ""));
		if (declared)
			strbuf_printf(&b, " (declared %s)", declared);
		strbuf_putc(&b, '\n');
		if (formula)
			strbuf_printf(&b, "  %s\n", formula);
		strbuf_printf(&b, "  source: %s\n", json_get_string(number, "source", ""));
	}
	return b.s ? strbuf_steal(&b) : xstrdup("");
}
