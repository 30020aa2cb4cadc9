/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPU time around the timed part of a speed run. An end that polls uses all of a CPU, one that hardware
 * serves hardly any; and what a software device spends on packets in interrupts is charged to no
 * process. So both are told: what this process used, and the machine.
 */
#include "prove/load.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"

#define US_PER_S 1000000u
/* Years of a machine with thousands of CPUs: beyond it a number of the peer is a lie. */
#define LOAD_MAX_MS 1e15

static const char *const members[] = { "process_ms", "host_ms" };

/* --- reading ---------------------------------------------------------------------------------- */

static uint64_t microseconds(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * US_PER_S + (uint64_t)t->tv_usec;
}

/*
 * First line of /proc/stat, in ticks, over all CPUs (proc_stat(5)): user nice system idle iowait irq
 * softirq steal guest guest_nice. Time of guests is part of user and nice.
 */
static bool busy_ticks(uint64_t *ticks, char *line)
{
	static const bool counts[] = { true, true, true, false, false, true, true, true };
	const char *word = text_next_word(&line);

	*ticks = 0;
	if (!word || strcmp(word, "cpu"))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		uint64_t value;

		word = text_next_word(&line);
		if (!word || text_to_u64(word, 10, &value) < 0)
			return false;
		*ticks += counts[i] ? value : 0;
	}
	return true;
}

static bool host_us(uint64_t *us, struct host *host)
{
	static const char *const needles[] = { "cpu ", NULL };
	const long ticks_per_s = sysconf(_SC_CLK_TCK);
	_cleanup_free_ char *text = NULL;
	uint64_t ticks;

	if (ticks_per_s <= 0 || host_read_matching(host, &text, needles, NULL, "/proc/stat") < 0)
		return false;
	char *cursor = text, *line = text_next_line(&cursor);

	if (!line || !busy_ticks(&ticks, line))
		return false;
	*us = ticks * (US_PER_S / (uint64_t)ticks_per_s);
	return true;
}

void load_read(struct load *load, struct host *host)
{
	struct rusage usage;

	*load = (struct load){0};
	load->process_known = getrusage(RUSAGE_SELF, &usage) == 0;
	if (load->process_known)
		load->process_us = microseconds(&usage.ru_utime) + microseconds(&usage.ru_stime);
	load->host_known = host_us(&load->host_us, host);
}

/* --- what was used ---------------------------------------------------------------------------- */

static void put_ms(json_t *to, const char *name, uint64_t before, uint64_t after)
{
	if (after >= before)
		json_put(to, name, json_real((double)(after - before) / 1000));
}

json_t *load_difference(const struct load *before, const struct load *after)
{
	json_t *used = json_object_new();

	if (before->process_known && after->process_known)
		put_ms(used, members[0], before->process_us, after->process_us);
	if (before->host_known && after->host_known)
		put_ms(used, members[1], before->host_us, after->host_us);
	return used;
}

int load_facts(json_t **facts, json_t *told, uint64_t bytes, struct error *err)
{
	_cleanup_json_ json_t *own = json_object_new();

	*facts = NULL;
	if (!json_is_object(told))
		return error_set(err, -EPROTO, "no CPU time was told");
	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		json_t *number = json_object_get(told, members[i]);
		double ms = json_number_value(number);

		if (!number)
			continue;
		if (!json_is_number(number) || !isfinite(ms) || ms < 0 || ms > LOAD_MAX_MS)
			return error_set(err, -EPROTO, "CPU time: %s is no number of milliseconds",
					 members[i]);
		_cleanup_free_ char *by_size = xasprintf("%s_per_gb", members[i]);

		json_put(own, members[i], json_real(ms));
		if (bytes)
			json_put(own, by_size, json_real(ms * 1e9 / (double)bytes));
	}
	*facts = json_incref(own);
	return 0;
}
