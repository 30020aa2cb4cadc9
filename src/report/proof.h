/* SPDX-License-Identifier: Apache-2.0 */
/* What the files about proof records share. */
#pragma once

#include "report/internal.h"

/* --- reading (proofs.c): of a whole record as of its part in a report -------------------------- */

/* A number that something measured may have; NAN for everything else: absent, negative, absurd. */
double proof_number(json_t *object, const char *key);
/* "gpu-node-01/bond1" of an end. The caller frees. */
char *proof_port(json_t *end);
/* The end with this role: "initiator" or "listener". Borrowed. */
json_t *proof_end(json_t *record, const char *role);
/* The end from which the bytes of a run come. Borrowed. */
json_t *proof_source(json_t *record, json_t *run);
/* Why the record proves nothing now, in a word or two: a test double, wrong bytes, a changed
 * fingerprint, one that was not compared, a run that is missing. NULL: it does prove. */
const char *proof_note(json_t *record);

/* --- text (proof_run.c, proof_table.c) --------------------------------------------------------------------- */

/* "1 B", "4 KiB", "1.5 MiB": sizes as engineers choose them. The caller frees. */
char *proof_size(double bytes);
/* Were bytes not what was sent? */
bool proof_has_fault(json_t *result);
/* The speed runs that follow each other from `from` on, as a table; gives back how many runs that
 * were. 0: it is one alone, or no speed run, and nothing was put. */
size_t proof_put_table(struct wrap *w, json_t *record, size_t from);
/* What a run of this kind came to, in words, with how each number was got. */
void proof_put_result(struct wrap *w, const char *kind, json_t *result);

/* --- HTML ------------------------------------------------------------------------------------- */

/* The records of a list, by pairs of ports, with charts (html_proofs.c). Nothing when there are
 * none. */
void html_put_proofs(struct strbuf *out, json_t *records);
