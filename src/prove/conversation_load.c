/* SPDX-License-Identifier: Apache-2.0 */
/* CPU time of a speed run: each end takes its own, and both tell each other. */
#include "prove/conversation.h"

#include "base/alloc.h"

void conversation_load_note(void *arg, bool over)
{
	struct conversation_load *load = arg;

	load_read(over ? &load->after : &load->before, load->host);
}

int conversation_load_share(const struct conversation *c, const struct conversation_load *load,
			    uint64_t bytes, json_t *result, struct error *err)
{
	_cleanup_json_ json_t *mine = json_object_new(), *theirs = NULL, *here = NULL,
			      *there = NULL, *used = load_difference(&load->before, &load->after);
	json_t *cpu = json_object_new();

	json_put(mine, "cpu", json_incref(used));
	int rc = conversation_exchange(c, mine, "load", &theirs, err);
	if (!rc)
		rc = load_facts(&here, used, bytes, err);
	if (!rc)
		rc = load_facts(&there, json_object_get(theirs, "cpu"), bytes, err);
	json_put(cpu, c->initiator ? "initiator" : "listener", json_incref(here));
	json_put(cpu, c->initiator ? "listener" : "initiator", json_incref(there));
	json_put(result, "cpu", cpu);
	return rc;
}
