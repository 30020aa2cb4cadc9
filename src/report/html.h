/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the page, shared by its files. */
#pragma once

#include "report/internal.h"

/* Text, or an attribute value between double quotes: & < > " ' escaped. */
void html_put(struct strbuf *out, const char *text);
/* Text in which `such` stretches become <code>. */
void html_put_rich(struct strbuf *out, const char *text);
/* The sign of a status; `name` makes it speak to a screen reader, NULL hides it from one. */
void html_put_mark(struct strbuf *out, enum verdict_status status, const char *name);
/* Class of a status: as its name, but "na". */
const char *html_class(enum verdict_status status);
/* Where the verdicts are that may be referred to (neither pass nor n/a): a new object for
 * html_put_reference(), made once since a page has as many references as verdicts. */
json_t *html_places_new(json_t *document);
/* "net.address (bond1)" with a link to that verdict, when the report has it. `node` is tried
 * first. */
void html_put_reference(struct strbuf *out, json_t *places, const char *name, const char *node);
/* The gate and the subject of a verdict, the gate in <code>. */
void html_put_name(struct strbuf *out, json_t *document, json_t *verdict);
/* "cause", "fix" … under a verdict; `rich` may be several lines: paragraphs, and <pre> for the
 * indented ones. */
void html_put_note(struct strbuf *out, const char *label, const char *rich, const char *id);
/* Causes, fixes and options. Texts equal to the summary are left out. */
void html_put_causes(struct strbuf *out, json_t *verdict);

void html_put_ladder(struct strbuf *out, json_t *document, json_t *places);

/* Buffers of the switch, what stays unverified, and the bill of components; nothing of what a
 * document does not have. */
void html_put_plan(struct strbuf *out, json_t *document);

/* Heaviest status of verdicts that `pick` chooses; false when it chooses none. */
struct html_sum {
	size_t counts[VERDICT_FAIL + 1], n;
	size_t first, last;	/* index of the first and the last one */
};
void html_sum_add(struct html_sum *sum, json_t *verdict, size_t index);
/* fail > blocked > unknown > warn > pass > n/a; VERDICT_NA when there is none. */
enum verdict_status html_sum_status(const struct html_sum *sum);
