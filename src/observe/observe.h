/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Observers: one file per kernel interface. Each fills its section of the snapshot
 * (docs/snapshot.md) from the doors of host/. An observer states facts; it never judges, and it
 * never fails the snapshot: what it could not see it notes as a gap, with the reason and a hint how
 * to see it.
 */
#pragma once

#include "host/host.h"

#define SNAPSHOT_SCHEMA "railhead.snapshot/1"

struct observation {
	struct host *host;
	json_t *snapshot;	/* the whole document, borrowed */
};

/* Take a whole snapshot of `host`: a new reference, never NULL. What could not be seen is in its
 * gaps. */
json_t *observe_snapshot(struct host *host);

/*
 * Note that the fact at `pointer` (and all below it) was not seen: `code` is the negative errno,
 * `reason` one sentence ("no NETLINK_RDMA in this kernel"), `hint` how to obtain it or NULL.
 */
void observe_gap(struct observation *o, int code, const char *hint, const char *reason,
		 const char *pointer_fmt, ...) RH_PRINTF(5, 6);
/* The same for a whole pointer that is already escaped. */
void observe_gap_at(struct observation *o, int code, const char *hint, const char *reason,
		    const char *pointer);

/* Each fills its section; order matters where noted in observe.c. */
void observe_node(struct observation *o);	/* /node, /taken, /os/release, /os/kernel */
void observe_limits(struct observation *o);	/* /os/memlock */
void observe_kernel_log(struct observation *o);	/* /os/log */
void observe_pci(struct observation *o);	/* /pci, /os/iommu */
void observe_modules(struct observation *o);	/* /os/modules, /os/packages */
void observe_links(struct observation *o);	/* /links, /routes */
void observe_ethtool(struct observation *o);	/* /links/NAME/ethtool */
void observe_dcb(struct observation *o);	/* /links/NAME/dcb */
void observe_devlink(struct observation *o);	/* /devlink */
void observe_rdma(struct observation *o);	/* /rdma */
void observe_userspace(struct observation *o);	/* /userspace */
void observe_gpu(struct observation *o);	/* /gpu */
