/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the other end of a proof says, as JSON: {"parameters": …, "end": …, "cpu": …}. What is taken
 * must be within the limits that protect this end, and come back from a message unchanged.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "prove/endpoint.h"
#include "prove/load.h"
#include "prove/record.h"
#include "prove/session.h"
#include "prove/suite.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void parameters(json_t *message)
{
	_cleanup_error_ struct error err = {0};
	struct session_parameters p, again;
	_cleanup_suite_ struct suite suite = {0};

	if (session_parameters_read(&p, message, &err) < 0) {
		if (err.code >= 0 || !err.message)
			abort();
		return;
	}
	if (session_memory_bytes(&p) > SESSION_MEMORY_MAX || p.size_max > SESSION_SIZE_MAX ||
	    p.size_min > p.size_max || !p.qps || p.qps > ENDPOINT_QPS_MAX ||
	    p.depth > SESSION_DEPTH_MAX || !(p.seconds >= 0 && p.seconds <= SESSION_SECONDS_MAX))
		abort();
	suite_make(&suite, &p);
	for (size_t i = 0; i < suite.n; i++) {
		if (!suite.step[i].size_min || suite.step[i].size_min > suite.step[i].size_max)
			abort();
		if (suite.step[i].size_max > session_memory_bytes(&p))
			abort();
	}
	_cleanup_json_ json_t *told = session_parameters_message(&p);
	if (session_parameters_read(&again, told, NULL) < 0 || again.seed != p.seed ||
	    again.size_max != p.size_max || again.suite != p.suite || again.dscp != p.dscp)
		abort();
}

static void cpu(json_t *told)
{
	_cleanup_json_ json_t *facts = NULL;

	if (load_facts(&facts, told, 1, NULL) == 0 && json_object_size(facts) > 4)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_json_ json_t *all = NULL;

	if (json_parse(&all, (const char *)data, size, "peer", NULL) < 0)
		return 0;
	parameters(json_object_get(all, "parameters"));
	cpu(json_object_get(all, "cpu"));
	(void)proof_end_check(json_object_get(all, "end"), "peer", NULL);
	return 0;
}
