/* SPDX-License-Identifier: Apache-2.0 */
#include "judge/verdict.h"

#include <stdlib.h>

#include "base/strings.h"

const char *verdict_status_name(enum verdict_status status)
{
	static const char *const names[] = {
		[VERDICT_NA] = "n/a",	       [VERDICT_PASS] = "pass",
		[VERDICT_WARN] = "warn",       [VERDICT_UNKNOWN] = "unknown",
		[VERDICT_BLOCKED] = "blocked", [VERDICT_FAIL] = "fail",
	};

	return names[status];
}

static void verdict_clear(struct verdict *v)
{
	free(v->node);
	free(v->subject);
	free(v->summary);
	free(v->explained_by);
	free(v->obtain);
	strings_free(v->assumed);
	strings_free(v->blocked_by);
	for (size_t i = 0; i < v->n_causes; i++) {
		free(v->causes[i].id);
		free(v->causes[i].text);
		free(v->causes[i].fix);
		strings_free(v->causes[i].options);
	}
	free(v->causes);
	for (size_t i = 0; i < v->n_evidence; i++) {
		free(v->evidence[i].node);
		free(v->evidence[i].pointer);
		free(v->evidence[i].missing);
		json_decref(v->evidence[i].value);
	}
	free(v->evidence);
	for (size_t i = 0; i < v->n_unverified; i++) {
		free(v->unverified[i].text);
		free(v->unverified[i].gate);
	}
	free(v->unverified);
	*v = (struct verdict){0};
}

void ladder_free(struct ladder *ladder)
{
	if (!ladder)
		return;
	free(ladder->site_name);
	free(ladder->site_path);
	free(ladder->taken);
	strings_free(ladder->nodes);
	strings_free(ladder->sources);
	for (size_t i = 0; i < ladder->n_verdicts; i++)
		verdict_clear(&ladder->verdicts[i]);
	free(ladder->verdicts);
	free(ladder);
}

int ladder_exit_status(const struct ladder *ladder)
{
	return ladder->counts[VERDICT_FAIL] || ladder->counts[VERDICT_BLOCKED] ||
			       ladder->counts[VERDICT_UNKNOWN] || !ladder->n_verdicts ?
		       1 :
		       0;
}

const struct verdict *ladder_railhead(const struct ladder *ladder)
{
	/* n/a rungs carry nobody: the railhead stands on a gate that was really passed */
	for (size_t i = ladder->stopped_at; i-- > 0;) {
		enum verdict_status status = ladder->verdicts[i].status;

		if (status == VERDICT_PASS || status == VERDICT_WARN)
			return &ladder->verdicts[i];
	}
	return NULL;
}
