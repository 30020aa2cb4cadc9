/* SPDX-License-Identifier: Apache-2.0 */
#include "judge/proof_compare.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"

/*
 * How much two good runs of one machine differ by themselves, at least: another choice of memory
 * pages, clocks of the processors, traffic of others. Assumed, not measured on a site.
 */
#define NOISE_MIN_BANDWIDTH 0.05
#define NOISE_MIN_LATENCY 0.10
/* Values that scatter by more hide any loss that matters. */
#define NOISE_MAX 0.50

/* What is compared of a run, and which way is worse. */
static const struct quantity {
	const char *run, *member;
	const char *unit;
	double scale;		/* from the member to the unit */
	double noise_min;
	bool less_is_better;
} quantities[] = {
	{ "bandwidth", "gbit_per_s", "Gbit/s", 1, NOISE_MIN_BANDWIDTH, false },
	{ "latency", "median_ns", "µs", 1e-3, NOISE_MIN_LATENCY, true },
};

static const struct quantity *quantity_of(json_t *run)
{
	for (size_t i = 0; i < ARRAY_SIZE(quantities); i++) {
		if (!strcmp(json_get_string(run, "run", ""), quantities[i].run))
			return &quantities[i];
	}
	return NULL;
}

const char *proof_size_text(struct judging *g, int64_t bytes)
{
	if (bytes >= 1 << 20 && bytes % (1 << 20) == 0)
		return judge_text(g, "%lld MiB", (long long)(bytes >> 20));
	if (bytes >= 1 << 10 && bytes % (1 << 10) == 0)
		return judge_text(g, "%lld KiB", (long long)(bytes >> 10));
	return judge_text(g, "%lld B", (long long)bytes);
}

/* --- which runs belong together --------------------------------------------------------------- */

/* Either end may have begun either record, so the mover counts and not the direction. A round trip
 * has none. The caller frees. */
static char *key_of(json_t *record, json_t *run, const struct quantity *q)
{
	json_t *result = json_object_get(run, "result");

	return xasprintf("%s %s %lld %s", q->run, json_get_string(run, "operation", "?"),
			 (long long)json_get_int(result, "size_bytes", -1),
			 q->less_is_better ? "" : proof_record_mover(record, run));
}

/* Speed runs of a record by their keys: places in the list of runs. New reference. */
static json_t *runs_of(json_t *record)
{
	json_t *places = json_object_new(), *run;
	size_t i;

	json_array_foreach(json_object_get(record, "runs"), i, run) {
		const struct quantity *q = quantity_of(run);

		if (!q)
			continue;
		_cleanup_free_ char *key = key_of(record, run, q);
		json_put_int(places, key, (int64_t)i);
	}
	return places;
}

static json_t *run_at(json_t *record, int64_t place)
{
	return place < 0 ? NULL :
			   json_array_get(json_object_get(record, "runs"), (size_t)place);
}

/* "bandwidth of write by gpu-node-01, 1 MiB" */
static const char *run_text(struct judging *g, const struct proof_record *p, size_t at)
{
	json_t *run = run_at(p->record, (int64_t)at);

	return judge_text(g, "%s, %s", proof_record_run_name(g, p, at),
			  proof_size_text(g, json_get_int(json_object_get(run, "result"),
							  "size_bytes", 0)));
}

static const char again[] = "run that suite again with a longer --duration, without other load on "
			    "both ends";

/* --- one run ---------------------------------------------------------------------------------- */

/* A run of one record, as far as it is compared. */
struct measured {
	double value, spread;	/* spread by value */
	bool steady;
};

static bool measure(struct judging *g, const struct proof_record *p, size_t at,
		    const struct quantity *q, struct measured *out)
{
	json_t *result = json_object_get(run_at(p->record, (int64_t)at), "result");

	out->value = json_number_value(proof_record_run_fact(g, p, at, q->member));
	if (q->less_is_better) {
		json_t *min = json_object_get(result, "min_ns");

		out->steady = true;
		out->spread = json_is_number(min) ?
				      (out->value - json_number_value(min)) / out->value :
				      1;
	} else {
		out->steady = json_is_true(proof_record_run_fact(g, p, at, "steady"));
		out->spread = json_number_value(json_object_get(result, "variation"));
	}
	/* of a hostile or half-made record, too */
	if (!(out->value > 0))
		return false;
	if (!(out->spread >= 0 && out->spread <= 1))
		out->spread = 1;
	return true;
}

/* Of the difference of two runs, by value: their spreads as independent errors. */
static double noise_of(const struct quantity *q, const struct measured *a, const struct measured *b)
{
	return fmax(q->noise_min, sqrt(a->spread * a->spread + b->spread * b->spread));
}

static bool judge_run(struct judging *g, const struct proof_record *earlier, size_t then_at,
		      const struct proof_record *later, size_t now_at, const char *cause)
{
	const struct quantity *q = quantity_of(run_at(later->record, (int64_t)now_at));
	const char *name = judge_text(g, "%s: %s", proof_record_name(g, later),
				      run_text(g, later, now_at));
	struct measured then, now;

	if (!measure(g, earlier, then_at, q, &then) || !measure(g, later, now_at, q, &now)) {
		judge_unknown(g, NULL, "%s: the records do not tell how fast it was", name);
		return false;
	}
	if (!then.steady || !now.steady) {
		judge_unknown(g, again, "%s: it was not steady in the %s record, so nothing can be compared",
			      name, (then.steady ? later : earlier)->kind);
		return false;
	}

	double noise = noise_of(q, &then, &now), change = (now.value - then.value) / then.value;
	if ((q->less_is_better ? change : -change) <= noise) {
		if (noise <= NOISE_MAX)
			return true;
		judge_unknown(g, again, "%s: it scatters by %.0f %% in the %s and %s records, so "
					"nothing can be compared",
			      name, noise * 100, earlier->kind, later->kind);
		return false;
	}
	judge_fail(g, cause, NULL,
		   "%s: %.2f %s in the %s record and %.2f %s in the %s record, %.0f %% %s; the "
		   "noise of both is %.0f %%",
		   name, then.value * q->scale, q->unit, earlier->kind, now.value * q->scale,
		   q->unit, later->kind, fabs(change) * 100, q->less_is_better ? "more" : "less",
		   noise * 100);
	return false;
}

/* --- two records ------------------------------------------------------------------------------ */

/* Parameters that decide over speed: what is not the same cannot be compared. */
static const struct parameter {
	const char *name, *option;
	json_int_t absent;	/* what a record without it means */
} parameters[] = {
	{ "senders", "--senders", 1 },
	{ "qps", "--qps", 0 },
	{ "depth", "--depth", 0 },
};

static bool judge_parameters(struct judging *g, const struct proof_record *earlier,
			     const struct proof_record *later)
{
	json_t *then = json_object_get(earlier->record, "parameters");
	json_t *now = json_object_get(later->record, "parameters");

	for (size_t i = 0; i < ARRAY_SIZE(parameters); i++) {
		const struct parameter *p = &parameters[i];
		int64_t a = json_get_int(then, p->name, p->absent);
		int64_t b = json_get_int(now, p->name, p->absent);

		if (a == b)
			continue;
		proof_record_fact(g, earlier, "parameters", p->name, NULL);
		proof_record_fact(g, later, "parameters", p->name, NULL);
		judge_unknown(g,
			      judge_text(g, "run both suites with the same %s; a baseline needs "
					    "PFC and ECN off on hosts and switch", p->option),
			      "%s: %s was %lld in the %s record and %lld in the %s record: they "
			      "cannot be compared", proof_record_name(g, later), p->option,
			      (long long)a, earlier->kind, (long long)b, later->kind);
		return false;
	}
	return true;
}

static const char *memory_of(const struct proof_record *p, bool peer)
{
	json_t *end = json_object_get(p->record, p->of_peer != peer ? "peer" : "local");

	return json_get_string(json_object_get(end, "memory"), "kind", "?");
}

static bool judge_memory(struct judging *g, const struct proof_record *earlier,
			 const struct proof_record *later)
{
	for (int peer = 0; peer < 2; peer++) {
		const char *then = memory_of(earlier, peer), *now = memory_of(later, peer);

		if (!strcmp(then, now))
			continue;
		judge_unknown(g, "run both suites with the same --memory",
			      "%s: %s memory of %s in the %s record and %s memory in the %s "
			      "record: they cannot be compared", proof_record_name(g, later), then,
			      peer ? g->peer->name : g->node->name, earlier->kind, now,
			      later->kind);
		return false;
	}
	return true;
}

bool proof_compare(struct judging *g, const struct proof_record *earlier,
		   const struct proof_record *later, const char *cause, size_t *compared)
{
	_cleanup_json_ json_t *then = NULL, *now = NULL;
	const char *key;
	json_t *place;
	bool good = true;

	*compared = 0;
	if (!judge_parameters(g, earlier, later) || !judge_memory(g, earlier, later))
		return false;
	then = runs_of(earlier->record);
	now = runs_of(later->record);
	json_object_foreach(then, key, place) {
		size_t then_at = (size_t)json_integer_value(place);
		int64_t now_at = json_get_int(now, key, -1);

		if (!json_object_get(run_at(earlier->record, (int64_t)then_at), "result")) {
			judge_unknown(g, again, "%s: %s did not take place in the %s record",
				      proof_record_name(g, later),
				      proof_record_run_name(g, earlier, then_at), earlier->kind);
			good = false;
		} else if (now_at < 0) {
			judge_unknown(g, NULL, "%s: the %s record has %s, and that of kind %s has "
					       "it not", proof_record_name(g, later),
				      earlier->kind, run_text(g, earlier, then_at), later->kind);
			good = false;
		} else if (judge_run(g, earlier, then_at, later, (size_t)now_at, cause)) {
			(*compared)++;
		} else {
			good = false;
		}
	}
	if (good && !*compared)
		judge_unknown(g, NULL, "%s: the %s record has no speed to compare with",
			      proof_record_name(g, later), earlier->kind);
	return good && *compared;
}
