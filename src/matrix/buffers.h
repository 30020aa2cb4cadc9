/* SPDX-License-Identifier: Apache-2.0 */
/* What the section `switch` of a site says of its buffers, and what is taken where it is silent: one
 * place for the gate, the plan and the configurations. */
#pragma once

#include "matrix/headroom.h"
#include "site/site.h"

struct switch_buffers {
	bool declared;		/* the site has a section `switch` */
	/* For headroom_compute(). Speed and cable are 0 when nobody declares them. The lossless class
	 * gets the MTU of the port: a frame of any size that the port carries may belong to it. */
	struct headroom_input input;
	bool speed_of_hosts;	/* port_speed is not declared: that of the fastest RDMA port */
	bool mtu_assumed;	/* mtu is not declared: the usual one */
	bool cell_unknown;
	int64_t headroom_bytes;	/* declared, 0: not declared */
	/* thresholds of marking, declared; 0 and -1 percent: not declared */
	int64_t ecn_min_bytes, ecn_max_bytes;
	int ecn_percent;
};

/* Pure; nothing is owned. All zero, with `declared` false, when the site has no section `switch`. */
struct switch_buffers switch_buffers_of(const struct site *site);

struct ecn_thresholds {
	int64_t min_bytes, max_bytes;
	int percent;
	bool scaled;	/* the row is of another speed */
	json_t *row;	/* borrowed */
};

/*
 * Thresholds where none are declared: the row of this speed in the table `ecn`, else the first one
 * in proportion, which keeps the delay of the queue; as it is when the speed is not known (0). False
 * when the table is empty.
 */
bool ecn_thresholds_usual(struct ecn_thresholds *ecn, const struct matrix *matrix,
			  int64_t speed_mbps);
