/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The 40 bytes that stand before each message of a UD QP ("GRH"). For RoCE v2 they hold the header
 * of the IP packet as it arrived: an IPv6 header in all of them, or an IPv4 header in the last 20,
 * behind 20 bytes of anything (Annex A17 of the InfiniBand Architecture Specification).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define GRH_BYTES 40u

struct grh {
	unsigned ip_version;	/* 4 or 6 */
	uint8_t dscp, ecn;
	const char *why;	/* unreadable: what is wrong with it; static */
};

/* False: what stands there is no header that could be believed. */
bool run_grh_read(struct grh *grh, const uint8_t area[GRH_BYTES]);
