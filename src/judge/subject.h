/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions that several judges ask of a snapshot: which links lie below a port, which RDMA device
 * belongs to it, which signatures the kernel log holds. Pure look-ups (peek, no evidence).
 */
#pragma once

#include "base/strings.h"
#include "judge/gate.h"

/* The link below VLANs: "bond1.100" -> "bond1". Never NULL for a non-NULL name. Loops end. */
const char *subject_base_link(json_t *snapshot, const char *link);

/* Bond that `link` is a member of, or NULL. */
const char *subject_bond_of(json_t *snapshot, const char *link);

/* Physical links below `link`: the members of a bond, the parent of a VLAN, or the link itself.
 * From the snapshot, else from the declaration in `node`. A list of
 * base/strings.h that the caller frees. */
char **subject_physical_links(const struct site_node *node, json_t *snapshot, const char *link);
/* All physical links below the node's RDMA ports, each once, in the order of the site. */
char **subject_nics_of_node(const struct site_node *node, json_t *snapshot);

/* PCI address of a physical link, or NULL. Of a virtio link: of the PCI device below it. */
const char *subject_pci_of_link(json_t *snapshot, const char *link);

/* "0000:01:00.0": domain, bus, device, function in lower-case hex? */
bool subject_is_bdf(const char *s);
/* Bytes of the part that all functions of one device share: 10 of "0000:01:00.1". */
size_t subject_pci_slot_length(const char *bdf);
/* Functions of one device (same domain, bus and device)? */
bool subject_same_pci_device(const char *a, const char *b);

/* Driver of a link as ethtool tells it, else of its PCI device; NULL when neither is known. */
const char *subject_driver_of_link(json_t *snapshot, const char *link);
/* One of a virtual NIC (virtio_net, veth, …): no PCI link, no firmware, no LLDP agent to judge. */
bool subject_is_virtual_driver(const char *driver);
/* The link's driver when it is such a one. NULL for hardware and for what is not known. */
const char *subject_virtual_driver(json_t *snapshot, const char *link);

/* RDMA device and port number for an RDMA port of the site: by declared name, by the port's netdev
 * (the link itself, the bond it is or is below, its VLAN parent). NULL when there is none. */
struct subject_rdma {
	const char *device;
	const char *port;	/* "1" */
	json_t *port_object;	/* /rdma/devices/D/ports/P */
};
bool subject_rdma_of_port(json_t *snapshot, const struct site_node *node,
			  const struct site_rdma *port, struct subject_rdma *out);
/* The same for any link. `node` may be NULL. */
bool subject_rdma_of_link(json_t *snapshot, const struct site_node *node, const char *link,
			  struct subject_rdma *out);
