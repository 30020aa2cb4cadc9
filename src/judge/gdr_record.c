/* SPDX-License-Identifier: Apache-2.0 */
#include "judge/gdr_record.h"

#include <string.h>

#include "judge/proof_index.h"
#include "judge/subject.h"

static const char again[] = "run `railhead prove --listen` on one node and `railhead prove HOST "
			    "--suite gdr` on the other, then `railhead check` with --proofs";

static json_t *end_of(json_t *record, const char *which)
{
	return json_object_get(record, which);
}

/* Does the link of the record stand on this physical link? */
static bool is_through(const struct judging *g, json_t *record, const char *nic)
{
	const char *link = json_get_string(json_object_get(end_of(record, "local"), "path"), "link",
					   "");
	_cleanup_strings_ char **physical = NULL;

	if (!nic || !strcmp(link, nic))
		return true;
	physical = subject_physical_links(g->node, g->snapshot, link);
	return strings_have(physical, nic);
}

bool gdr_record_newest(const struct judging *g, const char *gpu, const char *nic,
		       struct gdr_record *out)
{
	json_t *record;
	size_t i;

	*out = (struct gdr_record){0};
	json_array_foreach(peek(g, "/proofs/gdr"), i, record) {
		json_t *memory = json_object_get(end_of(record, "local"), "memory");
		json_t *of = json_object_get(memory, "gpu");

		if (strcmp(json_get_string(of, "bdf", ""), gpu) || !is_through(g, record, nic) ||
		    (out->record && !proof_is_newer(record, out->record)))
			continue;
		*out = (struct gdr_record){ i, record };
	}
	return out->record;
}

static bool is_fresh(struct judging *g, const struct gdr_record *r, const char *end)
{
	const char *node = json_get_string(end_of(r->record, end), "node", "?");
	json_t *same = fact_optional(g, "/proofs/gdr/%zu/freshness/%s/same", r->index, end);

	if (json_is_true(same))
		return true;
	if (!same) {
		judge_unknown(g, "give the snapshots of both nodes and the folder of records to "
				 "`railhead check --proofs DIR A.json B.json`",
			      "the fingerprint of %s in the record was not compared with its facts",
			      node);
		return false;
	}
	const char *changed = fact_optional_string(g, "/proofs/gdr/%zu/freshness/%s/changed",
						   r->index, end);

	judge_unknown(g, again, "the proof is stale, because %s has changed: %s", node,
		      changed ? changed : "?");
	return false;
}

bool gdr_record_find(struct judging *g, const char *nic, bool both, struct gdr_record *out)
{
	if (!gdr_record_newest(g, g->gpu, nic, out)) {
		const char *gap = peek_gap(g, "/proofs/gdr");

		judge_unknown(g, again, "no GPUDirect RDMA run is recorded for this GPU%s%s%s",
			      nic ? " and NIC" : "", gap ? "; " : "", gap ? gap : "");
		return false;
	}
	fact_optional(g, "/proofs/gdr/%zu/run", out->index);
	fact_optional(g, "/proofs/gdr/%zu/taken", out->index);
	if (!json_is_false(fact_optional(g, "/proofs/gdr/%zu/double", out->index))) {
		judge_unknown(g, again, "the record was made with a test double, which proves "
					"nothing");
		return false;
	}
	bool local = is_fresh(g, out, "local");

	return local && (!both || is_fresh(g, out, "peer"));
}

const char *gdr_record_role(const struct gdr_record *r)
{
	return json_get_string(end_of(r->record, "local"), "role", "");
}

/* Index of the run "register" of the end with this role, -1: none. */
static int64_t registration_of(json_t *record)
{
	const char *role = json_get_string(end_of(record, "local"), "role", "");
	json_t *run;
	size_t i;

	json_array_foreach(json_object_get(record, "runs"), i, run) {
		if (!strcmp(json_get_string(run, "run", ""), "register") &&
		    !strcmp(json_get_string(run, "end", "?"), role))
			return (int64_t)i;
	}
	return -1;
}

int64_t gdr_record_registration(const struct gdr_record *r)
{
	return registration_of(r->record);
}

/* --- attempts --------------------------------------------------------------------------------- */

bool gdr_attempt_is_dmabuf(json_t *attempt)
{
	return !strcmp(json_get_string(attempt, "call", ""), "ibv_reg_dmabuf_mr");
}

bool gdr_attempt_registers(json_t *attempt)
{
	return gdr_attempt_is_dmabuf(attempt) ||
	       !strcmp(json_get_string(attempt, "call", "ibv_reg_mr"), "ibv_reg_mr");
}

static bool attempt_in(json_t *record, int64_t code, struct gdr_attempt *out)
{
	json_t *freshness = json_object_get(json_object_get(record, "freshness"), "local");
	int64_t run = registration_of(record);
	json_t *attempt, *result;
	size_t i;

	if (run < 0 || !json_is_false(json_object_get(record, "double")) ||
	    !json_get_bool(freshness, "same", false))
		return false;
	result = json_object_get(json_array_get(json_object_get(record, "runs"), (size_t)run),
				 "result");
	json_array_foreach(json_object_get(result, "tried"), i, attempt) {
		json_t *told = json_object_get(attempt, "errno");

		if (!gdr_attempt_is_dmabuf(attempt) || !json_is_integer(told) ||
		    json_integer_value(told) != code)
			continue;
		out->run = (size_t)run;
		out->number = i;
		out->attempt = attempt;
		return true;
	}
	return false;
}

bool gdr_attempt_find(const struct judging *g, int64_t code, struct gdr_attempt *out)
{
	static const char *const kinds[] = { "gdr", "dmabuf" };
	json_t *record;

	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
		*out = (struct gdr_attempt){ .kind = kinds[k] };
		json_array_foreach(peek(g, "/proofs/%s", kinds[k]), out->record, record) {
			if (attempt_in(record, code, out))
				return true;
		}
	}
	return false;
}

void gdr_attempt_fact(struct judging *g, const struct gdr_attempt *a)
{
	fact_optional(g, "/proofs/%s/%zu/runs/%zu/result/tried/%zu", a->kind, a->record, a->run,
		      a->number);
}
