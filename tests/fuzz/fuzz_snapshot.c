/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a snapshot file, judged by every gate against the site that is discovered from it.
 * Beyond not crashing: no verdict without a sentence, and no pass without evidence.
 */
#include <stdlib.h>

#include "judge/gate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct ladder *ladder)
{
	for (size_t i = 0; i < ladder->n_verdicts; i++) {
		const struct verdict *v = &ladder->verdicts[i];

		if (v->status > VERDICT_FAIL || !v->summary || !*v->summary)
			abort();
		if (v->status == VERDICT_PASS && !v->n_evidence)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_json_ json_t *snapshot = NULL;
	_cleanup_site_ struct site *site = NULL;
	_cleanup_ladder_ struct ladder *ladder = NULL;

	if (json_parse(&snapshot, (const char *)data, size, "fuzz", NULL) < 0 ||
	    !json_is_object(snapshot) || site_discover(&site, &snapshot, 1, NULL) < 0 ||
	    !site->n_nodes)
		return 0;
	/* everything applies, so that every judge runs */
	site->kubernetes = site->storage = site->workload = site->gpudirect = true;

	struct judge_node node = { &site->nodes[0], snapshot };
	struct judge_input input = { .site = site, .nodes = &node, .n_nodes = 1, .paper = true };

	if (judge_all(&ladder, &input, NULL) == 0)
		check(ladder);
	return 0;
}
