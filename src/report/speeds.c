/* SPDX-License-Identifier: Apache-2.0 */
#include "report/speeds.h"

#include <math.h>
#include <string.h>

void speeds_clear(struct speeds *speeds)
{
	free(speeds->list);
}

static bool same_run(const struct speed *speed, json_t *run)
{
	return !strcmp(speed->operation, json_get_string(run, "operation", "")) &&
	       json_get_bool(speed->run, "reverse", false) == json_get_bool(run, "reverse", false);
}

static void collect(struct speeds *speeds, const struct proof_pair *pair,
		    const struct proof_series *series)
{
	json_t *run;
	size_t i, first = speeds->n;

	json_array_foreach(json_object_get(series->record, "runs"), i, run) {
		const char *kind = json_get_string(run, "run", "");
		json_t *result = json_object_get(run, "result");
		struct speed *last = speeds->n > first ? &speeds->list[speeds->n - 1] : NULL;

		/* a run of perftest follows the one that it is compared with */
		if (last && !last->other && !strcmp(kind, "perftest") && same_run(last, run))
			last->other = result;
		if (!result || (strcmp(kind, "bandwidth") && strcmp(kind, "latency")))
			continue;
		array_reserve(speeds->list, speeds->n, speeds->capacity);
		speeds->list[speeds->n++] = (struct speed){
			.series = series,
			.run = run,
			.result = result,
			.operation = json_get_string(run, "operation", "?"),
			.size_bytes = proof_number(result, "size_bytes"),
			.latency = !strcmp(kind, "latency"),
			.from_a = proof_pair_is_a(pair, series->record,
						  proof_source(series->record, run)),
		};
	}
}

static size_t operation_rank(const char *operation)
{
	static const char *const order[] = { "write", "read", "send" };
	size_t i = 0;

	while (i < ARRAY_SIZE(order) && strcmp(order[i], operation))
		i++;
	return i;
}

/* By operation and size; in one row of a chart by the order of the records. */
static int compare(const void *left, const void *right)
{
	const struct speed *a = left, *b = right;
	size_t x = operation_rank(a->operation), y = operation_rank(b->operation);
	/* a size that is no number comes first */
	double s = isnan(a->size_bytes) ? -1 : a->size_bytes;
	double t = isnan(b->size_bytes) ? -1 : b->size_bytes;

	if (x != y)
		return x < y ? -1 : 1;
	if (s < t || s > t)
		return s < t ? -1 : 1;
	if (a->series != b->series)
		return a->series < b->series ? -1 : 1;
	json_int_t i = a->from_a, k = b->from_a;
	return (i < k) - (i > k);
}

/* Sizes of an operation ascend: the last of its bandwidths are the largest. */
static void mark_largest(struct speeds *speeds)
{
	const struct speed *last = NULL;

	for (size_t i = speeds->n; i-- > 0;) {
		struct speed *s = &speeds->list[i];

		if (s->latency)
			continue;
		if (!last || strcmp(last->operation, s->operation))
			last = s;
		s->largest = s->size_bytes >= last->size_bytes;
	}
}

void speeds_collect(struct speeds *speeds, const struct proof_pair *pair)
{
	*speeds = (struct speeds){0};
	for (size_t i = 0; i < pair->n; i++)
		collect(speeds, pair, &pair->series[i]);
	if (speeds->n)
		qsort(speeds->list, speeds->n, sizeof(*speeds->list), compare);
	mark_largest(speeds);
}

json_t *speed_cpu(const struct speed *speed, bool of_a)
{
	json_t *record = speed->series->record;
	bool is_source = speed->from_a == of_a;
	bool source_began = proof_source(record, speed->run) == proof_end(record, "initiator");

	return json_object_get(json_object_get(speed->result, "cpu"),
			       is_source == source_began ? "initiator" : "listener");
}

char *speed_size(const struct speed *speed)
{
	return isnan(speed->size_bytes) ? xstrdup("?") : proof_size(speed->size_bytes);
}
