/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting for the adapter. All runs look for what they wait for again and again, as an interrupt
 * costs more than most messages take; what differs is when a look that found nothing gives the
 * processor away.
 *
 * With several processors: after many looks, so that the time of a message is not that of a system
 * call. With one, after each: there whatever could bring the message (the kernel's part of a
 * software provider, or a program that does its work) waits for this end to stop looking.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct run_wait {
	uint64_t begun_ns, asked_ns;	/* 0: no look at the clock yet */
	uint64_t limit_ns;
	unsigned spin, looks;
};

/* Looks in a row on the processors that this program may use. */
unsigned run_wait_spin(void);

static inline struct run_wait run_wait_begin(unsigned spin, int limit_ms)
{
	return (struct run_wait){ .spin = spin, .limit_ns = (uint64_t)limit_ms * 1000000u };
}

/* A look found nothing. True every few milliseconds: look at the other end, and whether the wait is
 * over. Its limit counts from the first time that the processor was given away. */
bool run_wait_idle(struct run_wait *wait);
bool run_wait_is_over(const struct run_wait *wait);
