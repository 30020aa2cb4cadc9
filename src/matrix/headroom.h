/* SPDX-License-Identifier: Apache-2.0 */
/* How much a switch must buffer after it asked a peer to pause. */
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
	bool known;		/* false: the matrix lacks a row for this speed, or mac-phy-delay */
	int64_t quanta;		/* pause quanta that the peer may take to react */
	int64_t response_bytes;	/* the same in bytes */
	int64_t cable_bytes;	/* both directions of the cable */
	int64_t phy_bytes;	/* delay of MAC and PHY */
	/* lowest and highest need: cell occupancy 1 and its worst case */
	int64_t low_bytes, high_bytes;
	/* the worst case as a fraction; 2/1 when the cell is not known */
	int64_t worst_numerator, worst_denominator;
	json_t *row;		/* row of the matrix that gave the quanta; borrowed */
};

/*
 * Headroom of one lossless priority on one port:
 *
 *	mtu + (port_mtu + 2 * cable + phy + quanta * 64) * cell occupancy      [bytes]
 *
 * - cable = metres / 2e8 m/s * speed: what is under way when the pause leaves, and as much again
 *   until it arrives (62.5 bytes per metre and direction at 100G);
 * - phy: what MAC and PHY hold, row mac-phy-delay of the table `buffers`;
 * - quanta: how long the peer may take to stop, in units of 512 bit times, table `pause-quanta`
 *   (IEEE 802.3, 31B.3.7);
 * - mtu: a frame of the class that the peer had begun to send.
 *
 * A switch stores frames in cells, so small frames take more room than they have bytes. Cell
 * occupancy is 1 when frames fill their cells; the worst case is a stream of 64-byte frames in
 * cells of more than 128 bytes (cell / 64), or else of frames one byte larger than a cell
 * (2 * cell / (cell + 1)). With a known cell both results are rounded up to whole cells; without,
 * the highest takes 2, which holds for cells up to 128 bytes. All divisions round up; a result that
 * does not fit is INT64_MAX.
 *
 * Source: sonic-net/SONiC doc/qos/dynamically-headroom-calculation.md, without a gearbox.
 */
struct headroom headroom_compute(const struct matrix *matrix, const struct headroom_input *input);

/* The formula with its numbers put in, one line. The caller frees. */
char *headroom_text(const struct headroom_input *input, const struct headroom *headroom);
