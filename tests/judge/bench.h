/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows for the level 2 gates: a healthy base, a few changed facts, and the verdict that must come
 * out. The base must give that verdict as `pass` (or `was`) before the change, so that the change
 * is what is tested.
 */
#pragma once

#include "scene.h"

enum bench_base {
	BASE_RAILS, /* two E810 ports without a bond, in-tree drivers, QoS declared */
	BASE_BOND,  /* the two in bond1, out-of-tree drivers, LAG DDP, one RDMA device */
	BASE_RXE,   /* bond1 over two virtio NICs with DCB, rxe on the bond */
	BASE_MLX5,  /* as rails, ConnectX */
	BASE_BNXT,  /* as rails, NetXtreme-E */
};

struct bench {
	struct scene *s;
	const struct bench_row *row;
	/* what the site declares; tests change it before judging */
	struct site_link links[2];
	struct site_bond bond;
	struct site_vlan vlan;
	char *bond_ports[3], *addresses[2][2];
};

struct bench_change {
	const char *pointer, *value; /* JSON with ' for "; NULL removes */
};

struct bench_row {
	const char *name;
	enum bench_base base;
	void (*site)(struct bench *b); /* changes of the site, and of anything else */
	struct bench_change changes[10];
	const char *gate, *subject;
	enum verdict_status status;
	const char *cause, *text; /* a certain cause of this id with this text in it */
	const char *candidate;
	const char *explained_by;
	const char *not_cause;   /* a cause that must not be named in this verdict */
	enum verdict_status was; /* status on the base; 0 (n/a) stands for pass */
	bool was_any;            /* the base gives some other status: do not look */
};

int bench_run(const char *group, const struct bench_row *rows, size_t n);
/* The same with further tests of the caller, whose state is a struct bench on BASE_RAILS. */
int bench_run_with(const char *group, const struct bench_row *rows, size_t n,
		   const struct CMUnitTest *more, size_t n_more);

void bench_open(struct bench *b, enum bench_base base);
void bench_close(struct bench *b);
/* Judge net, nic, rdma and qos gates. */
const struct ladder *bench_judge(struct bench *b);
/* An extra test on a base of its own. */
void bench_set(struct bench *b, const char *pointer, const char *value);
