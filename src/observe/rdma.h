/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of /rdma. */
#pragma once

#include <libmnl/libmnl.h>

#include "observe/observe.h"

/* --- rdma_netlink.c: NETLINK_RDMA, the nldev interface of <rdma/rdma_netlink.h> --------------- */

/*
 * Fill rdma["netns_mode"] and rdma["devices"] with what the kernel tells by netlink: devices, their
 * ports and resources, and with `uverbs` (ib_uverbs is loaded) their drivers. 0, or a negative
 * errno when devices could not be listed: "devices" is then not made. Smaller failures are gaps.
 */
int rdma_netlink_observe(struct observation *o, json_t *rdma, bool uverbs, struct error *err);

/* Callbacks for host_netlink(), each for one kind of message; malformed messages are -EBADMSG.
 * data = json_t *devices (name -> facts). */
int rdma_netlink_device(const struct nlmsghdr *nlh, void *data);
int rdma_netlink_resources(const struct nlmsghdr *nlh, void *data);
/* data = json_t *ports (number as text -> facts). */
int rdma_netlink_port(const struct nlmsghdr *nlh, void *data);
/* data = json_t *rdma, for netns_mode. */
int rdma_netlink_system(const struct nlmsghdr *nlh, void *data);
/* data = json_t *facts of one device. */
int rdma_netlink_chardev(const struct nlmsghdr *nlh, void *data);

/* Names for state numbers, the same for netlink and sysfs; NULL when unknown. */
const char *rdma_port_state_name(uint64_t state);
const char *rdma_physical_state_name(uint64_t state);
const char *rdma_node_type_name(uint64_t type);

/* --- rdma_sysfs.c: /sys/class/infiniband ------------------------------------------------------ */

/* What netlink did not tell about the device `name`, from sysfs. */
void rdma_sysfs_device(struct observation *o, json_t *facts, const char *name);

/* "100 Gb/sec (4X EDR)" -> 100.0; false for other text. */
bool rdma_rate_parse(const char *text, double *gbps);
/* The number of "4: ACTIVE", -1 for other text. */
int64_t rdma_numbered_parse(const char *text);

/* --- rdma_chardev.c: what applications open, and configfs of rdma_cm -------------------------- */

/* RDMA device -> "uverbsN". New reference, never NULL; NULL names are never in it. */
json_t *rdma_uverbs_map(struct observation *o);
void rdma_chardevs_observe(struct observation *o, json_t *rdma, json_t *uverbs);
/* /rdma/devices/NAME/cm of all devices */
void rdma_cm_observe(struct observation *o, json_t *devices);
