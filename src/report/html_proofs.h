/* SPDX-License-Identifier: Apache-2.0 */
/* The proofs between two ports on the page: what html_proofs.c, html_speed.c and html_counters.c
 * share. */
#pragma once

#include "report/html.h"
#include "report/proof.h"

/* A record among those of its pair. */
struct proof_series {
	json_t *record;
	char *name;		/* its kind; with the GPU where there are several of a kind */
	const char *colour;	/* class */
	const char *note;	/* proof_note() */
};

struct proof_pair {
	size_t number;		/* on the page, for ids */
	char *a, *b;		/* "node/link" of both ports */
	struct proof_series *series;	/* in the order of the phases */
	size_t n;
};

/* Does this end of a record belong to port a of the pair? */
bool proof_pair_is_a(const struct proof_pair *pair, json_t *record, json_t *end);

/* Charts and numbers of bandwidth, message rate, latency and CPU time. */
void html_put_speed(struct strbuf *out, const struct proof_pair *pair);
/* Tables of what memory was registered, of the marks that arrived, of the counters that grew. */
void html_put_registrations(struct strbuf *out, const struct proof_pair *pair);
void html_put_marks(struct strbuf *out, const struct proof_pair *pair);
void html_put_counters(struct strbuf *out, const struct proof_pair *pair);
