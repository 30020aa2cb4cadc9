/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the files of net.bond. LACP states are those of IEEE 802.1AX (clause 6.4.2.3) as
 * drivers/net/bonding/bond_3ad.c keeps them.
 */
#pragma once

#include "judge/gate.h"

#define LACP_AGGREGATION 0x04
#define LACP_SYNCHRONIZATION 0x08
#define LACP_COLLECTING 0x10
#define LACP_DISTRIBUTING 0x20
#define LACP_DEFAULTED 0x40	/* no LACPDU was received: the partner's values are made up */
#define LACP_EXPIRED 0x80	/* LACPDUs came, and came no more */
#define LACP_WORKING                                                                               \
	(LACP_AGGREGATION | LACP_SYNCHRONIZATION | LACP_COLLECTING | LACP_DISTRIBUTING)

/* What was found on one port; a later look at it is spared when it has its cause. */
struct bond_port {
	const char *name;
	bool usable;		/* in the bond, up, with carrier: LACP can work on it */
	bool faulty;		/* has its cause already */
	int64_t speed_mbps;	/* -1 unknown */
	int64_t aggregator;	/* -1 unknown */
	int64_t actor_state, partner_state;	/* -1 unknown */
};

struct bond_view {
	struct judging *g;
	const char *name;
	bool lacp;
	struct bond_port *ports;
	size_t n;
	int64_t aggregator;
	const char *partner_mac;
};

/* 802.3ad: adds a cause for each port on which LACP does not work. Fills aggregator and
 * partner_mac. */
void judge_bond_lacp(struct bond_view *b);
