/* SPDX-License-Identifier: Apache-2.0 */
/* How much a switch must buffer after it asked a peer to pause, and when it should mark before. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "matrix/matrix.h"

struct headroom_input {
	int64_t speed_mbps;
	int64_t cable_metres;
	int64_t mtu_bytes;	/* of the lossless class */
	int64_t port_mtu_bytes;	/* largest frame that may be on the wire when the pause is sent */
	int64_t cell_bytes;	/* 0: not known; then both ends of the usual range are computed */
};

struct headroom {
	bool known;		/* false: no row of the matrix for this speed */
	int64_t quanta;		/* pause quanta that the peer may take to react */
	int64_t response_bytes;	/* the same in bytes */
	int64_t cable_bytes;	/* both directions of the cable */
	int64_t phy_bytes;	/* delay of MAC and PHY */
	/* lowest and highest need: cell occupancy 1 and the worst case of `cell_bytes` */
	int64_t low_bytes, high_bytes;
	json_t *row;		/* row of the matrix that gave the quanta; borrowed */
};

/*
 * Headroom of one lossless priority on one port:
 *
 *	mtu + (port_mtu + 2 * cable + phy + quanta * 64) * cell occupancy      [bytes]
 *
 * cable = metres / 2e8 m/s * speed. Source: SONiC doc/qos/dynamically-headroom-calculation.md;
 * quanta: IEEE 802.3 31B.3.7.
 */
struct headroom headroom_compute(const struct matrix *matrix, const struct headroom_input *input);

/* The formula with its numbers put in, one line. The caller frees. */
char *headroom_text(const struct headroom_input *input, const struct headroom *headroom);
