/* SPDX-License-Identifier: Apache-2.0 */
/* One proof while it goes on: what session.c and conversation.c share. */
#pragma once

#include "prove/endpoint.h"
#include "prove/kernel_watch.h"
#include "prove/load.h"
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
	int incast_ms;		/* longest wait for the other senders before a step */
	json_t *runs, *marks;	/* lists of what was run over RC and over UD */
	bool failed;		/* a run saw a wrong byte: nothing more is run */
	json_t *skipped;	/* what perftest moved of the counters; NULL: it was not run */
	struct kernel_watch log;	/* of the runs over RC */
	json_t *detail;	/* for the other end, with the error of this one: {"completion"} */
	/* of the present stage */
	struct endpoint *endpoint;
	struct memory *memory;
};

uint8_t conversation_traffic_class(const struct session_parameters *p);
/* Both send and both wait: what one has to say and the other. */
int conversation_exchange(const struct conversation *c, json_t *mine, const char *type,
			  json_t **theirs, struct error *err);
int conversation_meet(const struct conversation *c, const char *type, struct error *err);

/* Of the message "agreed": the listening end says how many senders there are, when all of them run
 * the same; the connecting one hears it. */
int conversation_incast_agree(struct conversation *c, json_t *agreed, struct error *err);
int conversation_incast_read(struct conversation *c, json_t *agreed, struct error *err);
/* Wait for the other senders, when there are any. -ECANCELED: one of them is gone. */
int conversation_go(const struct conversation *c, struct error *err);

/* The memory of this end, as the parameters have it. `*gpus` is to be cleared after use. */
struct memory_request conversation_memory_request(const struct conversation *c,
						  struct gpu_choice *gpus);
/* Both ends, when the memory of one is given as a DMA-BUF: the runs "register". An error is of the
 * other end or of the channel; what cannot be registered is in the runs. */
int conversation_registration(struct conversation *c, struct error *err);

/* Endpoint and memory of a stage (RC, or UD), connected. */
int conversation_stage_open(struct conversation *c, bool ud, struct error *err);
void conversation_stage_close(struct conversation *c);
/* CPU time of this end around the timed part of one run. */
struct conversation_load {
	struct host *host;
	struct load before, after;
};
/* run_end.timed of that. */
void conversation_load_note(void *arg, bool over);
/* Both ends tell each other, and the result of the run gets "cpu". `bytes` of payload, 0: it is not
 * told by size. */
int conversation_load_share(const struct conversation *c, const struct conversation_load *load,
			    uint64_t bytes, json_t *result, struct error *err);

struct suite_step;
/* The step once more, by perftest. `own`: the result of our run; `*outcome`: "result" or "error" as
 * a run has it, new reference. */
int conversation_compare(struct conversation *c, const struct suite_step *step,
			 const char *operation, json_t *own, json_t **outcome, struct error *err);

/* Both stages with all of their runs, and the counters around them. After an error the lists have
 * what was run before it, and it. */
int conversation_run(struct conversation *c, struct error *err);
/* The records that it gives: a list, the caller's. */
int conversation_records(const struct conversation *c, json_t **records, struct error *err);
