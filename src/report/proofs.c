/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proof records as a part of a report: the newest of each kind between two ports, in the form of
 * docs/proof.md, with what a reader of the report looks at. Addresses, GIDs and fingerprints stay
 * where they are; what may be long is limited.
 */
#include <math.h>
#include <string.h>

#include "report/internal.h"
#include "report/proof.h"

/* A suite has about 30 runs, a histogram about 20 buckets, an end about 100 such counters. */
#define RUNS_MAX 128u
#define BUCKETS_MAX 64u
#define TEXTS_MAX 16u
#define COUNTERS_MAX 512u
#define FAILURES_MAX 4u

static const char *const ends[] = { "local", "peer" };

/* --- parts of a record ------------------------------------------------------------------------ */

static void copy(json_t *to, json_t *from, const char *const *keys)
{
	for (; *keys; keys++) {
		json_t *value = json_object_get(from, *keys);

		if (value && !json_is_object(value) && !json_is_array(value))
			json_put(to, *keys, json_incref(value));
	}
}

static void copy_list(json_t *to, json_t *from, const char *key, size_t max)
{
	json_t *list = json_object_get(from, key), *value;
	size_t i;

	json_array_foreach(list, i, value) {
		if (i < max)
			json_append(json_arr(to, key), json_incref(value));
	}
}

/* Counters of loss, of pause, of congestion and of what was sent again, by words of their names. */
static bool is_counter_shown(const char *name)
{
	static const char *const words[] = {
		"pause", "xoff", "discard", "drop",  "retrans", "Retrans", "retry", "rnr",
		"out_of", "seq_err", "cnp",  "ecn",	"ECN",	 "timeout", "duplicate",
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (strstr(name, words[i]))
			return true;
	}
	return false;
}

/* `left`: how many more may be told. */
static json_t *counters_of(json_t *part, size_t *left)
{
	json_t *out = json_object_new(), *value;
	const char *name;

	json_object_foreach(part, name, value) {
		bool number = json_is_integer(value) || json_is_string(value);

		if (!number || !*left || !is_counter_shown(name))
			continue;
		json_put(out, name, json_incref(value));
		--*left;
	}
	return out;
}

static void put_counters(json_t *to, json_t *end)
{
	static const char *const keys[] = { "payload_bytes", "rdma_moved", "tcp_moved", NULL };
	static const char *const parts[] = { "rdma", "link", "tcp" };
	json_t *counters = json_object_get(end, "counters"), *out, *values;
	json_t *difference = json_object_get(counters, "difference");
	size_t left = COUNTERS_MAX;
	const char *nic;

	if (!json_is_object(counters))
		return;
	out = json_obj(to, "counters");
	copy(out, counters, keys);
	copy_list(out, counters, "why", TEXTS_MAX);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		json_t *part = json_object_get(difference, parts[i]);

		if (part)
			json_put(json_obj(out, "difference"), parts[i], counters_of(part, &left));
	}
	json_object_foreach(json_object_get(difference, "pause"), nic, values)
		json_put(json_obj(json_obj(out, "difference"), "pause"), nic,
			 counters_of(values, &left));
}

static json_t *end_of(json_t *end)
{
	static const char *const keys[] = { "node", "role", "double", NULL };
	static const char *const path_keys[] = { "link", "device", NULL };
	static const char *const memory_keys[] = { "kind", "double", NULL };
	static const char *const gpu_keys[] = { "bdf", "model", NULL };
	json_t *out = json_object_new(), *memory = json_object_get(end, "memory");

	copy(out, end, keys);
	copy(json_obj(out, "path"), json_object_get(end, "path"), path_keys);
	if (memory)
		copy(json_obj(out, "memory"), memory, memory_keys);
	if (json_object_get(memory, "gpu"))
		copy(json_obj(json_obj(out, "memory"), "gpu"), json_object_get(memory, "gpu"),
		     gpu_keys);
	put_counters(out, end);
	return out;
}

static void put_cpu(json_t *to, json_t *result)
{
	static const char *const roles[] = { "initiator", "listener" };
	static const char *const keys[] = { "process_ms", "host_ms", "process_ms_per_gb",
					    "host_ms_per_gb", NULL };
	json_t *cpu = json_object_get(result, "cpu");

	for (size_t i = 0; i < ARRAY_SIZE(roles); i++) {
		if (json_object_get(cpu, roles[i]))
			copy(json_obj(json_obj(to, "cpu"), roles[i]),
			     json_object_get(cpu, roles[i]), keys);
	}
}

/* Of the lengths that were tried to be registered, those that were refused. */
static void put_failures(json_t *to, json_t *result)
{
	static const char *const keys[] = { "length_bytes", "call", "errno", "text", NULL };
	json_t *attempt;
	size_t i, n = 0;

	json_array_foreach(json_object_get(result, "tried"), i, attempt) {
		json_t *failure;

		if (!json_get_int(attempt, "errno", 0) || n++ >= FAILURES_MAX)
			continue;
		failure = json_object_new();
		copy(failure, attempt, keys);
		json_append(json_arr(to, "tried"), failure);
	}
}

static json_t *result_of(json_t *result)
{
	static const char *const keys[] = {
		"verified", "messages", "bytes", "size_bytes", "qps", "depth", "gbit_per_s",
		"messages_per_s", "steady", "steady_why", "variation", "samples", "min_ns",
		"median_ns", "p99_ns", "p99_9_ns", "max_ns", "messages_arrived", "ce_marked", "why",
		"largest_bytes", "stopped", "tool", "version", "ratio", NULL
	};
	static const char *const fault_keys[] = { "kind", "offset", "text", NULL };
	static const char *const sent_keys[] = { "dscp", "ecn", NULL };
	json_t *out = json_object_new();

	copy(out, result, keys);
	copy_list(out, result, "histogram", BUCKETS_MAX);
	copy_list(out, result, "arrived", TEXTS_MAX);
	if (json_is_object(json_object_get(result, "fault")))
		copy(json_obj(out, "fault"), json_object_get(result, "fault"), fault_keys);
	if (json_object_get(result, "sent"))
		copy(json_obj(out, "sent"), json_object_get(result, "sent"), sent_keys);
	put_failures(out, result);
	put_cpu(out, result);
	return out;
}

static json_t *run_of(json_t *run)
{
	static const char *const texts[] = { "operation", "end", "error" };
	static const char *const keys[] = { "reverse", NULL };
	json_t *out = json_object_new(), *result = json_object_get(run, "result");

	json_put_string(out, "run", json_get_string(run, "run", "?"));
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		json_put_string(out, texts[i], json_get_string(run, texts[i], NULL));
	copy(out, run, keys);
	if (json_is_object(result))
		json_put(out, "result", result_of(result));
	return out;
}

static json_t *record_of(json_t *record)
{
	static const char *const keys[] = { "kind", "run", "taken", "railhead", "double", NULL };
	static const char *const verdict_keys[] = { "status", NULL };
	static const char *const parameter_keys[] = { "qps", "depth", "seconds", "dscp", "ecn",
						      "traffic_class", "senders", NULL };
	json_t *out = json_object_new(), *verdict = json_object_get(record, "verdict"), *run;
	size_t i;

	copy(out, record, keys);
	copy(json_obj(out, "parameters"), json_object_get(record, "parameters"), parameter_keys);
	for (i = 0; i < ARRAY_SIZE(ends); i++)
		json_put(out, ends[i], end_of(json_object_get(record, ends[i])));
	json_t *runs = json_arr(out, "runs");
	json_array_foreach(json_object_get(record, "runs"), i, run) {
		if (i < RUNS_MAX)
			json_append(runs, run_of(run));
	}
	copy(json_obj(out, "verdict"), verdict, verdict_keys);
	copy_list(json_obj(out, "verdict"), verdict, "why", TEXTS_MAX);
	return out;
}

static void put_freshness(json_t *to, json_t *record)
{
	json_t *freshness = json_object_get(record, "freshness"), *out = json_obj(to, "freshness");

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		json_t *end = json_object_get(freshness, ends[i]);
		json_t *same = json_object_get(end, "same");

		if (!json_is_boolean(same))
			continue;
		json_put(json_obj(out, ends[i]), "same", json_incref(same));
		json_put_string(json_obj(out, ends[i]), "changed",
				json_get_string(end, "changed", NULL));
	}
}

/* --- which of them ---------------------------------------------------------------------------- */

char *proof_port(json_t *end)
{
	return xasprintf("%s/%s", json_get_string(end, "node", "?"),
			 json_get_string(json_object_get(end, "path"), "link", "?"));
}

static const char *gpu_of(json_t *end)
{
	return json_get_string(json_object_get(json_object_get(end, "memory"), "gpu"), "bdf", "");
}

/* The same for both ends' records. A newline is in none of the names. */
static char *key_of(json_t *record)
{
	json_t *local = json_object_get(record, "local"), *peer = json_object_get(record, "peer");
	_cleanup_free_ char *a = proof_port(local), *b = proof_port(peer);
	bool order = strcmp(a, b) <= 0;

	return xasprintf("%s\n%s\n%s\n%s\n%s", json_get_string(record, "kind", ""), order ? a : b,
			 order ? b : a, gpu_of(order ? local : peer), gpu_of(order ? peer : local));
}

/* In how many ends were facts compared with it? Both ends keep a record of the same run. */
static size_t compared(json_t *record)
{
	return json_object_size(json_object_get(record, "freshness"));
}

static bool is_better(json_t *record, json_t *known)
{
	int newer = strcmp(json_get_string(record, "taken", ""), json_get_string(known, "taken", ""));

	return newer ? newer > 0 : compared(record) > compared(known);
}

void report_put_proofs(json_t *document, json_t *records)
{
	_cleanup_json_ json_t *chosen = json_object_new();
	const char *key;
	json_t *record;
	size_t i;

	json_array_foreach(records, i, record) {
		_cleanup_free_ char *pair = key_of(record);
		json_t *known = json_object_get(chosen, pair);

		if (!known || is_better(record, known))
			json_put(chosen, pair, json_incref(record));
	}
	json_object_foreach(chosen, key, record) {
		_cleanup_json_ json_t *part = record_of(record);

		put_freshness(part, record);
		json_append(json_arr(document, "proofs"), document_value(part));
	}
}

/* --- how they are read ------------------------------------------------------------------------ */

/* What anything measured may come to, in any unit that is shown; beyond it a file is wrong. */
#define NUMBER_MAX 1e15
#define NUMBER_MIN 1e-9

double proof_number(json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);
	double number = json_is_number(value) ? json_number_value(value) : NAN;

	return number == 0 || (number >= NUMBER_MIN && number <= NUMBER_MAX) ? number : NAN;
}

json_t *proof_end(json_t *record, const char *role)
{
	json_t *local = json_object_get(record, "local");

	return !strcmp(json_get_string(local, "role", ""), role) ? local :
								   json_object_get(record, "peer");
}

json_t *proof_source(json_t *record, json_t *run)
{
	bool reverse = json_get_bool(run, "reverse", false);
	/* what is read comes the other way */
	bool back = reverse != !strcmp(json_get_string(run, "operation", ""), "read");

	return proof_end(record, back ? "listener" : "initiator");
}

const char *proof_note(json_t *record)
{
	const char *status =
		json_get_string(json_object_get(record, "verdict"), "status", "unknown");
	json_t *freshness = json_object_get(record, "freshness");
	const char *note = NULL;

	if (!json_is_false(json_object_get(record, "double")))
		return "test double";
	if (!strcmp(status, "fail"))
		return "failed";
	for (size_t i = 0; i < ARRAY_SIZE(ends) && freshness; i++) {
		json_t *same = json_object_get(json_object_get(freshness, ends[i]), "same");

		if (json_is_false(same))
			return "stale";
		if (!json_is_true(same))
			note = "not compared";
	}
	return strcmp(status, "pass") ? "not proven" : note;
}
