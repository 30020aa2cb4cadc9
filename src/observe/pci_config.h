/* SPDX-License-Identifier: Apache-2.0 */
/* PCI configuration space, as /sys/bus/pci/devices/BDF/config gives it: the capabilities that
 * decide about peer-to-peer traffic. Values of registers: <linux/pci_regs.h>. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

enum pci_seen {
	PCI_UNSEEN,	/* the bytes that would tell were not readable */
	PCI_NONE,
	PCI_PRESENT,
};

struct pci_config {
	bool multifunction;
	enum pci_seen pcie;	/* PCI Express capability */
	int port_type;		/* device/port type of that capability, PCI_EXP_TYPE_* */
	enum pci_seen acs;	/* Access Control Services */
	uint16_t acs_cap, acs_ctrl;
};

/*
 * Parse `len` bytes of configuration space. The kernel gives 64 bytes to processes without
 * CAP_SYS_ADMIN, 256 where the extended space cannot be reached, else 4096; what is not in the
 * bytes stays PCI_UNSEEN. -EBADMSG: fewer than 64 bytes, or a capability list that loops or leaves
 * the space; -ENODEV: all bytes are ones, the device does not answer.
 */
int pci_config_parse(struct pci_config *config, const uint8_t *data, size_t len, struct error *err);

/* "root_port", "upstream", "downstream", "pcie_to_pci", "pci_to_pcie" or "pci" for a bridge; NULL
 * when it is not known. */
const char *pci_config_port_type(const struct pci_config *config);
