/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports: one ladder, five forms.
 *
 * A ladder is turned into one JSON document (schema "railhead.report/1", docs/report.md) and every
 * form is made from that document alone, so that the forms cannot drift apart and a stored report
 * can be shown again in another form. Text is made safe while the document is made: whatever a
 * fact, a file or a stored report contained, no control character reaches a terminal, a page or an
 * XML parser.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/error.h"
#include "base/json.h"
#include "judge/gate.h"
#include "judge/verdict.h"

#define REPORT_SCHEMA "railhead.report/1"
#define REPORT_GATES_SCHEMA "railhead.gates/1"
#define REPORT_COMPONENTS_SCHEMA "railhead.components/1"
#define REPORT_DIFFERENCE_SCHEMA "railhead.difference/1"

enum report_format {
	REPORT_TEXT,
	REPORT_JSON,
	REPORT_HTML,	/* one self-contained page */
	REPORT_JUNIT,	/* JUnit XML */
	REPORT_CTRF,	/* Common Test Report Format, JSON */
};

/* colour, ascii, verbose, quiet and width are for REPORT_TEXT; the other forms are always
 * complete. */
struct report_options {
	enum report_format format;
	bool colour;		/* the caller decides: terminal, --color, NO_COLOR */
	bool ascii;		/* the terminal does not speak UTF-8, see report_locale_is_utf8() */
	unsigned verbose;	/* 1: each verdict for itself, with evidence; 2: all of it */
	bool quiet;		/* the closing line only, on one line whatever its length */
	unsigned width;		/* columns; 0: never wrap */
};

/* "text", "json", "html", "junit" or "ctrf". -EINVAL names the nearest one. */
int report_format_from_name(enum report_format *format, const char *name, struct error *err);

/* Does the locale of the environment (LC_ALL, LC_CTYPE, LANG) use UTF-8? Needs no setlocale(). */
bool report_locale_is_utf8(void);

/*
 * Write the ladder to `out` and flush it. Nothing is written before the whole report is made, and
 * the result of the write is looked at: a full disk or a closed pipe is a negative errno (the
 * caller ignores SIGPIPE if it wants -EPIPE to arrive here).
 */
int report_write(FILE *out, const struct ladder *ladder, const struct report_options *options,
		 struct error *err);

/* The document of a ladder; the caller owns the reference. Never NULL. */
json_t *report_document(const struct ladder *ladder);

/*
 * Add proof records (docs/proof.md) to the document: of each kind and pair of ports the newest one,
 * with what a reader looks at. The records have the form that proof_record_check() asks for.
 */
void report_put_proofs(json_t *document, json_t *records);

/*
 * The document of a ladder of gates on paper, with the bill of components and the buffers of the
 * switch (plan/plan.h; NULL: none). The caller owns the reference.
 */
json_t *report_plan_document(const struct ladder *ladder, json_t *components, json_t *buffers);

/*
 * Check a document that came from outside and give back a copy that report_write_document() may
 * be called with; members that this version does not know are kept. `name` is for messages.
 * -EINVAL: another schema, or a member that is missing, has the wrong type or contradicts another.
 */
int report_read(json_t **document, json_t *json, const char *name, struct error *err);

/* report_write() for a document of report_document() or report_read(). */
int report_write_document(FILE *out, json_t *document, const struct report_options *options,
			  struct error *err);

/*
 * The bill of components for itself: `site` is the member of a report document, `components` the
 * list of plan_components(). The caller owns the reference.
 */
json_t *report_components_document(json_t *site, json_t *components);

/*
 * What an upgrade changes: two documents of report_plan_document(), plan_difference() of them, and
 * the values that were set (NULL-terminated). The caller owns the reference.
 */
json_t *report_difference_document(json_t *before, json_t *after, json_t *difference,
				   const char *const *upgrades);

/* Those documents, and that of matrix_document(). Text or JSON; -ENOTSUP for the other forms. */
int report_components(FILE *out, json_t *document, const struct report_options *options,
		      struct error *err);
int report_difference(FILE *out, json_t *document, const struct report_options *options,
		      struct error *err);
int report_matrix(FILE *out, json_t *document, const struct report_options *options,
		  struct error *err);

/* A list of proof records (prove/record.h). Text, JSON or HTML; -ENOTSUP for the other forms. */
int report_proofs(FILE *out, json_t *records, const struct report_options *options,
		  struct error *err);

/* The table of `railhead gates`. Text or JSON; -ENOTSUP for the other forms. */
int report_gates(FILE *out, const struct gate *const *gates, size_t n,
		 const struct report_options *options, struct error *err);

/* All that is known about one gate, for `railhead explain`. Text or JSON. */
int report_explain(FILE *out, const struct gate *gate, const struct report_options *options,
		   struct error *err);

/* Title of a phase of the plan of record, 0…21; "" beyond. */
const char *report_phase_title(unsigned phase);

/* Title of a level, 0 (on paper) … 5; "" beyond. */
const char *report_level_title(unsigned level);
