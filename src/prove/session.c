/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages, each {"type": …} of the control channel (wire.h):
 *
 *	connecting end			listening end
 *	hello {end, double}	 ->
 *				<-	hello {end, double}
 *	parameters {…}		 ->
 *				<-	agreed	of several senders: conversation_incast.c
 *	then for each stage (RC, and UD for marking), both at once:
 *	registration {…}	<->	registration {…}	of a DMA-BUF, over RC
 *	endpoint {…}		<->	endpoint {…}
 *	ready			<->	ready
 *	start			<->	start			over RC
 *	the runs, which speak for themselves (run.h); after one of speed
 *	load {cpu}		<->	load {cpu}
 *	and perftest beside it (perftest_run.c)
 *	done			<->	done			over RC
 *	outcome {memory, counters, kernel_log}	<->	the same
 *
 * "end" is what a record has of an end (docs/proof.md). Whoever fails says so with an error message
 * and leaves.
 */
#include "prove/session.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "config.h"
#include "host/verbs.h"
#include "prove/conversation.h"

static int choose(struct conversation *c, const char *address, struct error *err)
{
	struct path_request want = c->end->want;

	want.peer_address = address;
	int rc = path_choose(&c->path, &want, err);
	if (!rc)
		c->local = proof_end_new(want.snapshot, &c->path, c->initiator);
	return rc;
}

static int hello_send(struct conversation *c, struct error *err)
{
	_cleanup_json_ json_t *message = json_object_new();

	json_put_string(message, "type", "hello");
	json_put_string(message, "railhead", RAILHEAD_VERSION);
	json_put_bool(message, "double", c->end->verbs->is_double);
	json_put(message, "end", json_deep_copy(c->local));
	return wire_send(c->end->wire, message, c->end->timeout_ms, err);
}

static int hello_receive(struct conversation *c, struct error *err)
{
	_cleanup_json_ json_t *message = NULL;

	int rc = wire_receive(c->end->wire, "hello", &message, c->end->timeout_ms, err);
	if (rc < 0)
		return rc;
	json_t *end = json_object_get(message, "end");
	if (!json_get_string(json_object_get(end, "path"), "address", NULL))
		return error_set(err, -EPROTO, "the other end does not say which address it uses");
	/* now, as nobody would hear of it when the record is made */
	rc = proof_end_check(end, "what the other end says of itself", err);
	if (rc < 0)
		return rc;
	c->peer = json_deep_copy(end);
	c->double_used = c->end->verbs->is_double || json_get_bool(message, "double", false);
	return 0;
}

static int meet_as_initiator(struct conversation *c, const struct session_parameters *p,
			     struct error *err)
{
	_cleanup_json_ json_t *parameters = session_parameters_message(p), *agreed = NULL;

	c->parameters = *p;
	int rc = choose(c, wire_peer(c->end->wire), err);
	if (!rc)
		rc = hello_send(c, err);
	if (!rc)
		rc = hello_receive(c, err);
	if (!rc)
		rc = wire_send(c->end->wire, parameters, c->end->timeout_ms, err);
	if (!rc)
		rc = wire_receive(c->end->wire, "agreed", &agreed, c->end->timeout_ms, err);
	return rc < 0 ? rc : conversation_incast_read(c, agreed, err);
}

static int meet_as_listener(struct conversation *c, struct error *err)
{
	_cleanup_json_ json_t *parameters = NULL, *agreed = json_object_new();

	json_put_string(agreed, "type", "agreed");
	int rc = hello_receive(c, err);
	if (!rc)
		rc = choose(c, json_get_string(json_object_get(c->peer, "path"), "address", NULL),
			    err);
	if (!rc)
		rc = hello_send(c, err);
	if (!rc)
		rc = wire_receive(c->end->wire, "parameters", &parameters, c->end->timeout_ms, err);
	if (!rc)
		rc = session_parameters_read(&c->parameters, parameters, err);
	if (!rc)
		rc = conversation_incast_agree(c, agreed, err);
	if (!rc)
		rc = wire_send(c->end->wire, agreed, c->end->timeout_ms, err);
	return rc;
}

static void conversation_clear(struct conversation *c)
{
	conversation_stage_close(c);
	path_clear(&c->path);
	json_decref(c->local);
	json_decref(c->peer);
	json_decref(c->runs);
	json_decref(c->marks);
	json_decref(c->skipped);
	json_decref(c->detail);
	kernel_watch_clear(&c->log);
}

/* Who fails says why; who was told, or has nobody to tell it to, does not. */
static void tell_failure(const struct conversation *c, int rc, struct error *err)
{
	if (rc < 0 && rc != -EREMOTEIO && rc != -ECONNRESET && rc != -ENOTCONN)
		wire_send_error_detail(c->end->wire, err, c->detail);
}

static int finish(struct conversation *c, int rc, json_t **records, struct error *err)
{
	_cleanup_error_ struct error of_records = {0};

	*records = NULL;
	if (!rc) {
		rc = conversation_run(c, err);
		if (!rc)
			rc = conversation_records(c, records, err);
		else if (json_array_size(c->runs))
			conversation_records(c, records, &of_records);
	}
	tell_failure(c, rc, err);
	conversation_clear(c);
	return rc;
}

int session_propose(json_t **records, const struct session_end *end,
		    const struct session_parameters *p, struct error *err)
{
	struct conversation c = { .end = end, .initiator = true };

	return finish(&c, meet_as_initiator(&c, p, err), records, err);
}

int session_answer(json_t **records, const struct session_end *end, struct error *err)
{
	struct conversation c = { .end = end };

	return finish(&c, meet_as_listener(&c, err), records, err);
}
