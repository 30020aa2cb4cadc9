/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two nodes in one process, each with its own tree of files and its own device of the double, and
 * between them somebody who hands on what they say, or does not. Include after cmocka.h.
 */
#pragma once

#include <pthread.h>

#include "base/json.h"
#include "host/host.h"
#include "host/verbs.h"
#include "prove/session.h"

enum middle_does {
	MIDDLE_HANDS_ON,
	MIDDLE_KEEPS,	/* the message goes nowhere */
	MIDDLE_CUTS,	/* both ends see the other one gone */
};
/* Called for message `number` (from 0, of both ends), which it may change. */
typedef enum middle_does middle_hook(void *arg, unsigned number, bool of_initiator,
				     json_t *message);

struct node {
	char *root;
	json_t *snapshot;
	struct host *host;
	struct session_end end;
	const struct session_parameters *p;	/* of the one that connects */
	json_t *records;
	struct error err;
	int rc;
};

struct nodes {
	struct node initiator, listener;
	struct verbs verbs;
	struct wire *to_initiator, *to_listener;	/* of the one in the middle */
	middle_hook *hook;
	void *arg;
	unsigned messages;	/* that the one in the middle saw */
	int timeout_ms;		/* of each answer, 0: much */
};

/* Group setup and teardown; the nodes are *state. Their providers do not say that they are doubles,
 * so that a verdict can be seen. */
int nodes_open(void **state);
int nodes_close(void **state);
/* A whole session, from a fresh provider. */
void nodes_run(struct nodes *nodes, const struct session_parameters *p, middle_hook *hook,
	       void *arg);
/* The records at both ends, or none, and nothing is left of the provider's objects. */
void nodes_clear(struct nodes *nodes);
/* The one record of `kind` at this end; fails the test when there is none. Borrowed. */
json_t *node_record(const struct node *node, const char *kind);
/* Small, short, over writes, unmarked. */
struct session_parameters nodes_parameters(void);
