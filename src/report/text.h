/* SPDX-License-Identifier: Apache-2.0 */
/* The text form, shared by its files. */
#pragma once

#include "report/internal.h"

#define TEXT_ID_COLUMN 4u	/* after "  ✓ " */

struct text {
	struct wrap w;
	json_t *document, *verdicts;
	const struct report_options *options;
	unsigned text_column;	/* of the summaries */
	size_t boundary;	/* the railhead stands before this verdict */
};

/* One line (wrapped) at an indent. */
void text_line(struct text *t, unsigned indent, enum wrap_style style, const char *text);
/* Buffers of the switch and what stays unverified (text_plan.c); nothing when a document has
 * neither. */
void text_put_plan(struct text *t);
/* The row of a group with all that belongs below it. */
void text_put_row(struct text *t, const struct group *group);
