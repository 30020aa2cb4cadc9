/* SPDX-License-Identifier: Apache-2.0 */
/* What the runs of a proof record came to, in words. */
#include <math.h>
#include <string.h>

#include "report/proof.h"

char *proof_size(double bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	size_t unit = 0;

	while (bytes >= 1024 && unit + 1 < ARRAY_SIZE(units)) {
		bytes /= 1024;
		unit++;
	}
	return xasprintf(bytes == floor(bytes) ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
}

static void put_size(struct wrap *w, int64_t bytes)
{
	_cleanup_free_ char *size = proof_size((double)bytes);

	wrap_put(w, WRAP_PLAIN, size);
}

bool proof_has_fault(json_t *result)
{
	return json_is_false(json_object_get(result, "verified"));
}

static bool put_fault(struct wrap *w, json_t *result)
{
	const char *text = json_get_string(json_object_get(result, "fault"), "text", NULL);

	if (!proof_has_fault(result))
		return false;
	wrap_put(w, WRAP_RED, text ? text : "not what was sent arrived");
	return true;
}

static void put_verified(struct wrap *w, json_t *result, const char *text)
{
	if (json_is_true(json_object_get(result, "verified")))
		wrap_put(w, WRAP_PLAIN, text);
	else
		wrap_put(w, WRAP_YELLOW, "; no byte was looked at");
}

static void put_integrity(struct wrap *w, json_t *result)
{
	json_t *sizes = json_object_get(result, "sizes_bytes");
	size_t n = json_array_size(sizes);

	put_size(w, json_get_int(result, "bytes", 0));
	wrap_putf(w, WRAP_PLAIN, " in %lld messages",
		  (long long)json_get_int(result, "messages", 0));
	if (n) {
		wrap_put(w, WRAP_PLAIN, " of ");
		put_size(w, json_integer_value(json_array_get(sizes, 0)));
		if (n > 1) {
			wrap_put(w, WRAP_PLAIN, " to ");
			put_size(w, json_integer_value(json_array_get(sizes, n - 1)));
		}
	}
	put_verified(w, result, ": every byte right");
}

static double real(json_t *result, const char *key)
{
	return json_number_value(json_object_get(result, key));
}

/* What both ends spent on it: this program, and its whole machine. */
static void put_load(struct wrap *w, json_t *result)
{
	static const char *const ends[] = { "initiator", "listener" };
	json_t *cpu = json_object_get(result, "cpu");
	const char *before = "; CPU";

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		json_t *end = json_object_get(cpu, ends[i]);

		if (!json_is_number(json_object_get(end, "process_ms_per_gb")))
			continue;
		wrap_putf(w, WRAP_PLAIN, "%s %.3g ms/GB at the %s", before,
			  real(end, "process_ms_per_gb"), ends[i]);
		if (json_is_number(json_object_get(end, "host_ms_per_gb")))
			wrap_putf(w, WRAP_PLAIN, " (its machine %.3g)",
				  real(end, "host_ms_per_gb"));
		before = ",";
	}
}

static void put_bandwidth(struct wrap *w, json_t *result)
{
	wrap_putf(w, WRAP_BOLD, "%.3g Gbit/s", real(result, "gbit_per_s"));
	wrap_put(w, WRAP_PLAIN, " with messages of ");
	put_size(w, json_get_int(result, "size_bytes", 0));
	wrap_putf(w, WRAP_PLAIN, " (%s)", json_get_string(result, "derivation", "no derivation"));
	if (!json_get_bool(result, "steady", false))
		wrap_putf(w, WRAP_YELLOW, "; not steady: %s",
			  json_get_string(result, "steady_why", "no reason"));
	put_load(w, result);
	put_verified(w, result, "; then every byte right");
}

static void put_latency(struct wrap *w, json_t *result)
{
	wrap_putf(w, WRAP_BOLD, "%.1f us", real(result, "median_ns") / 1000);
	wrap_put(w, WRAP_PLAIN, " median with messages of ");
	put_size(w, json_get_int(result, "size_bytes", 0));
	wrap_putf(w, WRAP_PLAIN, " (min %.1f, 99 %% %.1f, 99.9 %% %.1f, max %.1f us of %lld; %s)",
		  real(result, "min_ns") / 1000, real(result, "p99_ns") / 1000,
		  real(result, "p99_9_ns") / 1000, real(result, "max_ns") / 1000,
		  (long long)json_get_int(result, "samples", 0),
		  json_get_string(result, "derivation", "no derivation"));
}

static void put_marking(struct wrap *w, json_t *result)
{
	json_t *sent = json_object_get(result, "sent"), *class;
	size_t i;

	wrap_putf(w, WRAP_PLAIN, "%lld of %lld messages sent with DSCP %lld, ECN %lld arrived",
		  (long long)json_get_int(result, "messages_arrived", 0),
		  (long long)json_get_int(result, "messages", 0),
		  (long long)json_get_int(sent, "dscp", 0),
		  (long long)json_get_int(sent, "ecn", 0));
	json_array_foreach(json_object_get(result, "arrived"), i, class)
		wrap_putf(w, WRAP_PLAIN, "%s %lld with DSCP %lld, ECN %lld", i ? "," : ":",
			  (long long)json_get_int(class, "messages", 0),
			  (long long)json_get_int(class, "dscp", 0),
			  (long long)json_get_int(class, "ecn", 0));
	if (!json_is_true(json_object_get(result, "verified")))
		wrap_putf(w, WRAP_YELLOW, "; not to be read: %s",
			  json_get_string(result, "why", "no reason"));
}

static void put_perftest(struct wrap *w, json_t *result)
{
	json_t *median = json_object_get(result, "median_ns"), *ratio;

	if (median)
		wrap_putf(w, WRAP_BOLD, "%.1f us", json_number_value(median) / 1000);
	else
		wrap_putf(w, WRAP_BOLD, "%.3g Gbit/s", real(result, "gbit_per_s"));
	wrap_putf(w, WRAP_PLAIN, "%s with messages of ", median ? " median" : "");
	put_size(w, json_get_int(result, "size_bytes", 0));
	wrap_putf(w, WRAP_PLAIN, " by %s %s", json_get_string(result, "tool", "?"),
		  json_get_string(result, "version", "?"));
	ratio = json_object_get(result, "ratio");
	if (ratio)
		wrap_putf(w, WRAP_PLAIN, "; railhead ÷ perftest %.2f", json_number_value(ratio));
}

/* How long a registration may be, and what refuses a longer one. */
static void put_register(struct wrap *w, json_t *result)
{
	json_t *attempt, *line;
	size_t i, k;

	wrap_put(w, WRAP_PLAIN, "up to ");
	put_size(w, json_get_int(result, "largest_bytes", 0));
	wrap_putf(w, WRAP_PLAIN, "; %s", json_get_string(result, "stopped", "why is not told"));
	json_array_foreach(json_object_get(result, "tried"), i, attempt) {
		int64_t number = json_get_int(attempt, "errno", 0);

		if (!number)
			continue;
		wrap_putf(w, WRAP_PLAIN, "; %s of ", json_get_string(attempt, "call", "?"));
		put_size(w, json_get_int(attempt, "length_bytes", 0));
		wrap_putf(w, WRAP_YELLOW, ": errno %lld, %s", (long long)number,
			  json_get_string(attempt, "text", "no text"));
		json_array_foreach(json_object_get(attempt, "kernel_log"), k, line)
			wrap_putf(w, WRAP_DIM, "; kernel: %s",
				  json_string_value(line) ? json_string_value(line) : "");
	}
}

void proof_put_result(struct wrap *w, const char *kind, json_t *result)
{
	static const struct {
		const char *kind;
		void (*put)(struct wrap *w, json_t *result);
	} kinds[] = {
		{ "integrity", put_integrity },
		{ "bandwidth", put_bandwidth },
		{ "latency", put_latency },
		{ "marking", put_marking },
		{ "perftest", put_perftest },
		{ "register", put_register },
	};

	if (put_fault(w, result))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!strcmp(kind, kinds[i].kind))
			kinds[i].put(w, result);
	}
}
