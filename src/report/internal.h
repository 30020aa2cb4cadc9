/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the report room share. */
#pragma once

#include "base/strbuf.h"
#include "report/report.h"

/* --- safe text, width (safe.c) ---------------------------------------------------------------- */

/*
 * Copy of `s` (NULL: "") that is valid UTF-8 and holds no character that a terminal, a browser or
 * an XML parser would act on. Newlines stay, tabs become a blank, CR LF becomes a newline. Bytes
 * that are not UTF-8 and C0 controls become \xNN; C1 controls, bidirectional overrides, line and
 * paragraph separators, tag characters and noncharacters become \u{NNNN}. The caller frees.
 */
char *safe_text(const char *s);
char *safe_textn(const char *s, size_t len);
bool safe_is_clean(const char *s, size_t len);

/* Copy in ASCII: arrows, dashes and the like by their usual spelling, the rest as \u{NNNN}. */
char *safe_ascii(const char *s);

/* Columns that valid UTF-8 takes on a terminal: 2 for Hangul and other wide characters, 0 for
 * combining ones. Right only between width_enter() and width_leave(). */
unsigned width_of(const char *s, size_t len);

/* wcwidth(3) knows only the characters of the current locale; these put a UTF-8 one in place for
 * the calling thread, and restore the previous one. */
struct width_scope {
	void *utf8;
	void *previous;
};
void width_enter(struct width_scope *scope);
void width_leave(struct width_scope *scope);

/* --- wrapped text (wrap.c) -------------------------------------------------------------------- */

enum wrap_style {
	WRAP_PLAIN,
	WRAP_BOLD,
	WRAP_DIM,
	WRAP_GREEN,
	WRAP_YELLOW,
	WRAP_RED,
	WRAP_BLUE,
	WRAP_MAGENTA,
};

struct wrap {
	struct strbuf *out;
	unsigned width;		/* columns of a line; 0: no limit */
	bool colour;
	bool ascii;
	unsigned indent;	/* of the lines that wrapping begins */
	unsigned column;	/* where the line ends now */
	unsigned blanks;	/* owed before the next word */
};

/* A wrap that writes as the options say. */
struct wrap wrap_of(struct strbuf *out, const struct report_options *options);
/* Add text; line breaks come between words only, unless one word is longer than a whole line. A
 * newline in the text begins a line at the indent and keeps the blanks that follow it. */
void wrap_put(struct wrap *w, enum wrap_style style, const char *text);
void wrap_putf(struct wrap *w, enum wrap_style style, const char *fmt, ...) RH_PRINTF(3, 4);
/* Blanks up to `column` (at least one when the line is already there or beyond). */
void wrap_to(struct wrap *w, unsigned column);
/* End the line. */
void wrap_end(struct wrap *w);

/* --- documents (document.c, read.c) ----------------------------------------------------------- */

/* Member of `obj`, made safe; NULL leaves it out. */
void document_put(json_t *obj, const char *key, const char *text);
/* Copy of a value in which all text is safe; the same reference when it already is. */
json_t *document_value(json_t *value);

/* Index of the verdict that result/KEY names, or the number of verdicts when it is null. */
size_t document_index(json_t *document, const char *key);
/* "net.mtu gpu-1 bond1"; the node is left out when the report has one node only. Caller frees. */
char *document_name(json_t *document, json_t *verdict);
/* "gpu-1 bond1", "bond1", "gpu-1" or "". Caller frees. */
char *document_subject(json_t *document, json_t *verdict);
enum verdict_status document_status(json_t *verdict);
/* How far, what stops it, what fails first when that is something else, counts: statements with
 * `between` between them. Caller frees. */
char *document_closing(json_t *document, const char *between);
/* Was it judged on paper (`railhead plan`)? Then nothing is proven, and no railhead shown. */
bool document_is_paper(json_t *document);
/* Index of the failure to mend first: the first one that no other gate explains, else the first
 * one; the number of verdicts when nothing fails. */
size_t document_root_failure(json_t *document);
/* Index behind the railhead: 0 when nothing is proven. */
size_t document_boundary(json_t *document);
/* A value of evidence as one line of text, at most `limit` bytes of it (0: all). Caller frees. */
char *document_evidence_text(json_t *evidence, size_t limit);

/* --- verdicts alike (group.c) ----------------------------------------------------------------- */

/* Verdicts of one gate that say the same: equal but for the names of their own node and subject. */
struct group {
	size_t *members;	/* indexes into the verdicts, ascending */
	size_t n, capacity;
};

struct groups {
	struct group *list;	/* by first member */
	size_t n, capacity;
};

/* Last index + 1 of the run of verdicts with the gate of verdict `from`; never across
 * `boundary`. */
size_t group_run_end(json_t *verdicts, size_t from, size_t boundary);
/* Groups of the verdicts from…to-1, which belong to one gate. */
void group_verdicts(struct groups *groups, json_t *verdicts, size_t from, size_t to);
void groups_clear(struct groups *groups);
#define _cleanup_groups_ __attribute__((cleanup(groups_clear)))

/* --- plans (plan.c) --------------------------------------------------------------------------- */

/* Who can prove what an item of "unverified" takes for granted: "proof.gdr proves it, phase 19", or
 * "no gate proves it". Caller frees. */
char *document_prover(json_t *unverified);
/* The items of "unverified" of all verdicts, each text once, with the gates that name it as
 * {text, gate, phase, from: []}. New reference. */
json_t *document_unverified(json_t *document);
/* The numbers of "buffers" as lines of text. Caller frees. */
char *document_buffer_lines(json_t *document);

/* --- the forms: each appends to `out` --------------------------------------------------------- */

void text_render(struct strbuf *out, json_t *document, const struct report_options *options);
void html_render(struct strbuf *out, json_t *document);
/* A page of proof records alone. */
void html_render_proofs(struct strbuf *out, json_t *records);
void junit_render(struct strbuf *out, json_t *document);
json_t *ctrf_document(json_t *document);

/* Appends a document as text; called between width_enter() and width_leave(). */
typedef void report_text(struct strbuf *out, json_t *document,
			 const struct report_options *options);
/* Write a document that has no other forms: as JSON, or as the text that `render` makes of it.
 * -ENOTSUP for another format; the message says that `what` has none. */
int report_text_or_json(FILE *out, json_t *document, const char *what, report_text render,
			const struct report_options *options, struct error *err);
/* Write all of `text` to `out` and flush. */
int report_emit(FILE *out, const struct strbuf *text, struct error *err);
int report_emit_json(FILE *out, json_t *json, struct error *err);
