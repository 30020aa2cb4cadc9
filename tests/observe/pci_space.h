/* SPDX-License-Identifier: Apache-2.0 */
/* Hand-made PCI configuration space. Offsets: <linux/pci_regs.h>. */
#pragma once

#include <linux/pci_regs.h>
#include <stdint.h>
#include <string.h>

#include "base/compiler.h"

struct pci_space {
	uint8_t bytes[4096];
};

static inline RH_UNUSED void pci_put16(struct pci_space *s, unsigned at, unsigned value)
{
	s->bytes[at] = (uint8_t)value;
	s->bytes[at + 1] = (uint8_t)(value >> 8);
}

/* Header of `type` (PCI_HEADER_TYPE_*, 0x80 = multi-function) with a capability list at `first`. */
static inline RH_UNUSED void pci_space_start(struct pci_space *s, unsigned type, unsigned first)
{
	memset(s, 0, sizeof(*s));
	pci_put16(s, PCI_VENDOR_ID, 0x10b5);
	s->bytes[PCI_HEADER_TYPE] = (uint8_t)type;
	pci_put16(s, PCI_STATUS, first ? PCI_STATUS_CAP_LIST : 0);
	s->bytes[PCI_CAPABILITY_LIST] = (uint8_t)first;
}

static inline RH_UNUSED void pci_capability(struct pci_space *s, unsigned at, unsigned id,
					    unsigned next)
{
	s->bytes[at] = (uint8_t)id;
	s->bytes[at + 1] = (uint8_t)next;
}

static inline RH_UNUSED void pci_express(struct pci_space *s, unsigned at, unsigned port_type)
{
	pci_capability(s, at, PCI_CAP_ID_EXP, 0);
	pci_put16(s, at + PCI_EXP_FLAGS, 2 | port_type << 4);
}

static inline RH_UNUSED void pci_extended(struct pci_space *s, unsigned at, unsigned id,
					  unsigned next)
{
	pci_put16(s, at, id);
	pci_put16(s, at + 2, 1 | next << 4);
}

static inline RH_UNUSED void pci_acs(struct pci_space *s, unsigned at, unsigned cap, unsigned ctrl)
{
	pci_extended(s, at, PCI_EXT_CAP_ID_ACS, 0);
	pci_put16(s, at + PCI_ACS_CAP, cap);
	pci_put16(s, at + PCI_ACS_CTRL, ctrl);
}
