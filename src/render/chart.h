/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of a Helm chart, each checked against the keys that the chart of that version reads (table
 * chart-keys): Helm ignores a key that no template reads, in silence.
 */
#pragma once

#include "render/render.h"

struct chart {
	json_t *row;	/* of chart-keys, borrowed */
	json_t *values;	/* owned: the nested values */
};

/* -ENOENT and a refusal when the matrix has no keys of that version: it names those that it has. */
int chart_open(struct render *r, struct chart *chart, const char *name, const char *version);
void chart_close(struct chart *chart);
#define _cleanup_chart_ __attribute__((cleanup(chart_close)))

/*
 * "bool", "int", "string", "list" or "map" of a dotted key; "any" below a map, where what follows
 * is one name of the map, dots and all; NULL when the chart has no such key.
 */
const char *chart_type(const struct chart *chart, const char *key);

/* Set a key that railhead itself writes. A key that the chart does not have, or a value of another
 * type, is refused. Steals `value`; NULL is ignored. */
void chart_put(struct render *r, struct chart *chart, const char *key, json_t *value);
/* The same, and nothing when the chart has no such key: for what some versions lack. */
void chart_put_if(struct render *r, struct chart *chart, const char *key, json_t *value);

/* Set what the site declares below `pointer` ("/gpu_operator/values"), a map from dotted key to
 * text; the text is read as the chart's type, lists and maps as JSON. Replaces what was there. */
void chart_put_declared(struct render *r, struct chart *chart, const char *pointer);
