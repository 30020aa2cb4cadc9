/* SPDX-License-Identifier: Apache-2.0 */
/* Records of suites between two E810 nodes, good but for what a test says. */
#pragma once

#include "proofs.h"

struct suites_form {
	const char *kind;
	int senders;		/* 0: the record does not tell, which means 1 */
	double gbit, variation;	/* of each bandwidth; 0: 96, 0.01 */
	double back_gbit;	/* of those that the end which listened moves; 0: as `gbit` */
	double median_ns;	/* 0: 2000 */
	const char *rdma;	/* that grew at the node that is judged: ", 'cnpSent': 5" */
	const char *pause;	/* and of its link */
	int ce_marked;		/* of the marking run; -1: there is none */
	bool unsteady, no_cpu, no_latency;
	bool turned;		/* the peer stored it */
	bool begun_by_peer;	/* the peer connected */
};

/* The site has PFC on priority 3 and ECN; a good host and a good marking record are there. */
int suites_open(void **state);
void suites_again(void **state);
/* Borrowed. */
json_t *suites_add(struct proofs_test *t, struct suites_form form);
