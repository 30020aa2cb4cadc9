/* SPDX-License-Identifier: Apache-2.0 */
/* CPU time that the timed part of a speed run takes, at both ends. */
#pragma once

#include "base/json.h"
#include "host/host.h"

/* CPU time since the start of this process and of the machine, in microseconds. */
struct load {
	bool process_known, host_known;
	uint64_t process_us;	/* of this program, user and system, its children left out */
	uint64_t host_us;	/* of all CPUs, for whatever: interrupts too */
};

void load_read(struct load *load, struct host *host);
/* What was used between two readings: {"process_ms", "host_ms"}. What is not known, or went back,
 * is absent. New reference. */
json_t *load_difference(const struct load *before, const struct load *after);
/*
 * The part of one end as a record has it: numbers of `told`, which may be the other end's words,
 * and with `bytes` of payload (0: leave it out) each by 10^9 of them, "process_ms_per_gb" and
 * "host_ms_per_gb". New reference; NULL and -EPROTO: a number that is none.
 */
int load_facts(json_t **facts, json_t *told, uint64_t bytes, struct error *err);
