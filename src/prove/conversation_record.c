/* SPDX-License-Identifier: Apache-2.0 */
/* What a proof came to, as the records that both ends keep. */
#include "prove/conversation.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"

/* A proof with a GPU's memory is one of GPUDirect; a dma-buf of host memory is neither. */
static const char *kind_of(const struct session_parameters *p)
{
	bool host = true;

	if (p->suite)
		return session_suite_names[p->suite];
	for (int i = 0; i < 2; i++) {
		if (!strcmp(p->memory[i], "cuda"))
			return "gdr";
		host = host && strcmp(p->memory[i], "udmabuf");
	}
	return host ? "host" : "dmabuf";
}

int conversation_records(const struct conversation *c, json_t **records, struct error *err)
{
	_cleanup_json_ json_t *parameters = session_parameters_message(&c->parameters);
	_cleanup_free_ char *run = xasprintf("%016" PRIx64, c->parameters.seed);
	_cleanup_json_ json_t *list = json_array_new();
	struct host_time now;
	int rc = host_time(c->end->host, &now, err);

	json_object_del(parameters, "type");
	json_put_int(parameters, "traffic_class", conversation_traffic_class(&c->parameters));
	json_put_int(parameters, "iterations", SESSION_ITERATIONS);
	struct proof_parts parts = {
		.kind = kind_of(&c->parameters),
		.run = run,
		.realtime_s = now.realtime_s,
		.double_used = c->double_used,
		.parameters = parameters,
		.local = c->local,
		.peer = c->peer,
	};
	_cleanup_json_ json_t *all = json_copy(c->runs);
	if (c->parameters.suite)
		json_array_extend(all, c->marks);
	parts.runs = all;
	if (!rc)
		json_append(list, proof_record_new(&parts));
	parts.kind = "marking";
	parts.runs = c->marks;
	if (!rc && json_array_size(c->marks))
		json_append(list, proof_record_new(&parts));
	json_t *record;
	size_t i;

	/* half of it is what the other end said */
	json_array_foreach(list, i, record) {
		if (!rc)
			rc = proof_record_check(record, "what both ends saw", err);
	}
	if (!rc)
		*records = json_incref(list);
	return rc;
}
