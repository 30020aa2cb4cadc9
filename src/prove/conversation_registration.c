/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Before memory of a proof is made: how much of it can be registered as a DMA-BUF at each end that
 * has such memory, as runs "register" in both records. Where nothing can, they say why the proof
 * that follows cannot take place.
 */
#include "prove/conversation.h"

#include <errno.h>

#include "base/alloc.h"
#include "prove/registration.h"

/* The other end waits meanwhile: a part of the time that it has. */
#define LIMIT_MS 5000
#define LIMIT_SHARE 4

static const char *const end_names[] = { "initiator", "listener" };

/* {"memory", "result"} of this end, and "gpu" of its fingerprint; without them when its memory is
 * no DMA-BUF. New reference. */
static json_t *try_own(const struct conversation *c)
{
	const int share = c->end->timeout_ms / LIMIT_SHARE;
	_cleanup_gpu_choice_ struct gpu_choice gpus = {0};
	struct memory_request request;
	json_t *mine = json_object_new(), *result, *memory;

	if (!registration_applies(c->parameters.memory[!c->initiator]))
		return mine;
	if (c->end->progress)
		c->end->progress("register: memory as a DMA-BUF, with rising lengths");
	request = conversation_memory_request(c, &gpus);
	registration_try(&result, &memory, &request, c->end->verbs, endpoint_pd(c->endpoint),
			 c->end->host, share < LIMIT_MS ? share : LIMIT_MS);
	json_put(mine, "result", result);
	json_put(mine, "memory", memory);
	const char *bdf = json_get_string(json_object_get(memory, "gpu"), "bdf", NULL);

	if (bdf)
		json_put(mine, "gpu", proof_fingerprint_gpu(c->end->want.snapshot, bdf));
	return mine;
}

/* What one end told of itself becomes part of the record. */
static int take(struct conversation *c, json_t *told, bool initiator, struct error *err)
{
	json_t *end = initiator == c->initiator ? c->local : c->peer, *run;
	json_t *result = json_object_get(told, "result"), *memory = json_object_get(told, "memory");

	if (!registration_applies(c->parameters.memory[!initiator]))
		return 0;
	if (!json_is_object(result) || !json_is_object(memory))
		return error_set(err, -EPROTO,
				 "the other end does not tell what it could register");
	run = json_object_new();
	json_put_string(run, "run", "register");
	json_put_string(run, "end", end_names[!initiator]);
	json_put(run, "result", json_incref(result));
	json_append(c->runs, run);
	if (json_object_get(told, "gpu"))
		json_put(json_obj(end, "fingerprint"), "gpu",
			 json_incref(json_object_get(told, "gpu")));
	/* what memory_facts() tells takes its place, once there is memory */
	json_put(end, "memory", json_incref(memory));
	return 0;
}

int conversation_registration(struct conversation *c, struct error *err)
{
	_cleanup_json_ json_t *mine = NULL, *theirs = NULL;

	if (!registration_applies(c->parameters.memory[0]) &&
	    !registration_applies(c->parameters.memory[1]))
		return 0;
	mine = try_own(c);
	int rc = conversation_exchange(c, mine, "registration", &theirs, err);

	for (int listener = 0; listener < 2 && !rc; listener++) {
		bool own = !listener == c->initiator;

		rc = take(c, own ? mine : theirs, !listener, err);
	}
	return rc;
}
