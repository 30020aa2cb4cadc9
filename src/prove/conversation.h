/* SPDX-License-Identifier: Apache-2.0 */
/* One proof while it goes on: what session.c and conversation.c share. */
#pragma once

#include "prove/endpoint.h"
#include "prove/memory.h"
#include "prove/record.h"
#include "prove/session.h"

struct conversation {
	const struct session_end *end;
	bool initiator;
	bool double_used;	/* at either end */
	struct session_parameters parameters;
	struct path path;
	json_t *local, *peer;	/* the ends, as a record has them */
	json_t *runs, *marks;	/* lists of what was run over RC and over UD */
	bool failed;		/* a run saw a wrong byte: nothing more is run */
	/* of the present stage */
	struct endpoint *endpoint;
	struct memory *memory;
};

/* Both stages with all of their runs, and the counters around them. */
int conversation_run(struct conversation *c, struct error *err);
void conversation_stage_close(struct conversation *c);
/* The records that it gives: a list, the caller's. */
int conversation_records(const struct conversation *c, json_t **records, struct error *err);
