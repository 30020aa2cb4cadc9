/* SPDX-License-Identifier: Apache-2.0 */
#include "prove/run_samples.h"

#include <math.h>

#include "base/alloc.h"

/* Of the samples the first quarter is left out (adapters, flow control and clocks of the processor
 * come to their pace), and the last one, which is not whole. */
#define WARM_UP_DIVISOR 4u
/* Fewer in which anything was done tell neither a speed of the middle nor how steady it was: on a
 * slow network large messages are done in lumps, and between two of them nothing is. */
#define MIDDLE_MIN 8u
/* Of the speeds in the middle: standard deviation by mean, and change from its first half to its
 * second by mean. */
#define VARIATION_MAX 0.10
#define DRIFT_MAX 0.05

void run_samples_begin(struct run_samples *samples, double seconds)
{
	*samples = (struct run_samples){
		.n = 1,
		.capacity = (size_t)(seconds * 1e9 / RUN_SAMPLE_NS) + 16,
	};
	samples->sample = xcalloc(samples->capacity, sizeof(*samples->sample));
}

bool run_samples_add(struct run_samples *samples, uint64_t ns, uint64_t messages)
{
	if (ns < samples->sample[samples->n - 1].ns + RUN_SAMPLE_NS ||
	    samples->n == samples->capacity)
		return false;
	samples->sample[samples->n++] = (struct run_sample){ ns, messages };
	return true;
}

void run_samples_clear(struct run_samples *samples)
{
	free(samples->sample);
	*samples = (struct run_samples){0};
}

/* Messages per second from sample `a` to sample `b`. */
static double rate(const struct run_samples *samples, size_t a, size_t b)
{
	const struct run_sample *from = &samples->sample[a], *to = &samples->sample[b];

	return (double)(to->messages - from->messages) * 1e9 / (double)(to->ns - from->ns);
}

static double gbit(double messages_per_s, size_t size)
{
	return messages_per_s * (double)size * 8 / 1e9;
}

/* Four digits behind the point: what is behind those is noise. */
static json_t *number(double value)
{
	return json_real(round(value * 1e4) / 1e4);
}

static json_t *course(const struct run_samples *samples, size_t size)
{
	json_t *list = json_array_new();

	for (size_t i = 1; i < samples->n; i++)
		json_append(list, number(gbit(rate(samples, i - 1, i), size)));
	return list;
}

/* Samples from `from` to `to` in which anything was done. */
static unsigned active(const struct run_samples *samples, size_t from, size_t to)
{
	unsigned n = 0;

	for (size_t i = from; i < to; i++)
		n += samples->sample[i + 1].messages > samples->sample[i].messages;
	return n;
}

/* Samples `from` to `to` are the middle. */
static void judge_steadiness(json_t *speed, const struct run_samples *samples, size_t from,
			     size_t to)
{
	double mean = rate(samples, from, to), squares = 0;
	size_t half = from + (to - from) / 2;

	for (size_t i = from; i < to; i++) {
		double off = rate(samples, i, i + 1) - mean;

		squares += off * off;
	}
	double variation = sqrt(squares / (double)(to - from)) / mean;
	double drift = (rate(samples, half, to) - rate(samples, from, half)) / mean;
	bool steady = variation <= VARIATION_MAX && fabs(drift) <= DRIFT_MAX;
	json_put_bool(speed, "steady", steady);
	json_put(speed, "variation", number(variation));
	json_put(speed, "drift", number(drift));
	json_put_stringf(speed, "steady_why",
			 "variation %.1f %% (limit %.0f %%), drift %+.1f %% (limit %.0f %%)",
			 variation * 100, VARIATION_MAX * 100, drift * 100, DRIFT_MAX * 100);
}

json_t *run_samples_speed(const struct run_samples *samples, size_t size, uint64_t messages,
			  uint64_t ns)
{
	size_t from = (samples->n - 1) / WARM_UP_DIVISOR, to = samples->n - 1;
	double whole = (double)messages * 1e9 / (double)(ns ? ns : 1);
	json_t *speed = json_object_new();

	if (to > from + 1)
		to--;
	unsigned n = active(samples, from, to);
	bool few = n < MIDDLE_MIN;
	double best = few ? whole : rate(samples, from, to);
	json_put(speed, "gbit_per_s", number(gbit(best, size)));
	json_put(speed, "messages_per_s", number(best));
	json_put_stringf(speed, "derivation",
			 "%s done from %.2f s to %.2f s by that time; times %zu bytes of payload, times 8; Gbit are 10^9; headers do not count",
			 few ? "all messages of the run, as the middle of it has too few samples,"
			     : "messages",
			 few ? 0 : (double)samples->sample[from].ns / 1e9,
			 (double)(few ? ns : samples->sample[to].ns) / 1e9, size);
	json_put(speed, "gbit_per_s_whole_run", number(gbit(whole, size)));
	json_put(speed, "seconds", number((double)ns / 1e9));
	json_put_u64(speed, "messages", messages);
	json_put_u64(speed, "bytes", messages * size);
	json_put_int(speed, "samples_in_middle", (int64_t)(to - from));
	if (few) {
		json_put_bool(speed, "steady", false);
		json_put_stringf(speed, "steady_why",
				 "messages were done in %u samples of %u ms in the middle: fewer than %u tell nothing",
				 n, RUN_SAMPLE_NS / 1000000, MIDDLE_MIN);
	} else {
		judge_steadiness(speed, samples, from, to);
	}
	json_put_int(speed, "sample_ms", RUN_SAMPLE_NS / 1000000);
	json_put(speed, "samples_gbit_per_s", course(samples, size));
	return speed;
}
