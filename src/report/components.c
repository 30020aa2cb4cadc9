/* SPDX-License-Identifier: Apache-2.0 */
/* The bill of components for itself. */
#include <string.h>

#include "config.h"
#include "report/internal.h"

#define WHERE_COLUMN 36u
#define WHY_COLUMN 6u

static const struct {
	const char *need, *heading;
	enum wrap_style style;
} needs[] = {
	{ "required", "Required", WRAP_PLAIN },
	{ "recommended", "Recommended", WRAP_PLAIN },
	{ "must-not", "Must not be there", WRAP_RED },
	{ "not-needed", "Not needed", WRAP_DIM },
};

json_t *report_components_document(json_t *site, json_t *components)
{
	json_t *document = json_object_new();

	document_put(document, "schema", REPORT_COMPONENTS_SCHEMA);
	document_put(document, "railhead", RAILHEAD_VERSION);
	json_put(document, "site", document_value(site));
	json_put(document, "components", document_value(components));
	return document;
}

static void put_component(struct wrap *w, json_t *one, const struct report_options *options)
{
	const char *version = json_get_string(one, "version", NULL);
	bool declared = !strcmp(json_get_string(one, "version_from", ""), "declared");

	w->indent = WHERE_COLUMN;
	wrap_to(w, 2);
	wrap_put(w, WRAP_BOLD, json_get_string(one, "component", ""));
	wrap_to(w, WHERE_COLUMN);
	wrap_put(w, WRAP_DIM, json_get_string(one, "where", ""));
	if (version)
		wrap_putf(w, WRAP_PLAIN, ": %s%s", version, declared ? "" : " (matrix)");
	wrap_end(w);
	w->indent = WHY_COLUMN;
	wrap_to(w, WHY_COLUMN);
	wrap_put(w, WRAP_PLAIN, json_get_string(one, "why", ""));
	wrap_end(w);
	if (!options->verbose)
		return;
	wrap_to(w, WHY_COLUMN);
	wrap_putf(w, WRAP_DIM, "source: %s", json_get_string(one, "source", ""));
	if (version && !declared)
		wrap_putf(w, WRAP_DIM, "; version: %s", json_get_string(one, "version_from", ""));
	wrap_end(w);
}

static void render(struct strbuf *out, json_t *document, const struct report_options *options)
{
	json_t *components = json_object_get(document, "components"), *one;
	json_t *site = json_object_get(document, "site");
	struct wrap w = wrap_of(out, options);
	size_t i;

	wrap_putf(&w, WRAP_BOLD, "site %s", json_get_string(site, "name", ""));
	wrap_putf(&w, WRAP_PLAIN, ": %zu components", json_array_size(components));
	wrap_end(&w);
	for (size_t k = 0; k < ARRAY_SIZE(needs); k++) {
		bool headed = false;

		json_array_foreach(components, i, one) {
			if (strcmp(json_get_string(one, "need", ""), needs[k].need))
				continue;
			if (!headed) {
				wrap_end(&w);
				w.indent = 0;
				wrap_put(&w, needs[k].style == WRAP_PLAIN ? WRAP_BOLD :
									    needs[k].style,
					 needs[k].heading);
				wrap_end(&w);
				headed = true;
			}
			put_component(&w, one, options);
		}
	}
}

int report_components(FILE *out, json_t *document, const struct report_options *options,
		      struct error *err)
{
	return report_text_or_json(out, document, "components", render, options, err);
}
