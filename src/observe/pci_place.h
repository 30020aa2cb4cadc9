/* SPDX-License-Identifier: Apache-2.0 */
/* Places in the device tree, by the path that a sysfs link leads to. */
#pragma once

#include <stdbool.h>

#include "base/alloc.h"

struct pci_place {
	char *root;	/* "pci0000:00", NULL when the path passes no PCI root */
	char *bdf;	/* last PCI device on the path, or NULL */
	char *parent;	/* bridge above it, NULL at a root bus */
	char *rest;	/* what follows it: "net/ens1f0", "" for the device itself */
};

/* "0000:01:00.0": domain of four digits or more, lower-case hexadecimal. */
bool pci_is_bdf(const char *s);
/* A link of sysfs: "../../../devices/pci0000:00/0000:00:01.0/0000:01:00.0/net/ens1f0". Always
 * succeeds; what the path does not tell is NULL. To be released with pci_place_clear(). */
void pci_place_parse(struct pci_place *place, const char *target);
void pci_place_clear(struct pci_place *place);
#define _cleanup_pci_place_ __attribute__((cleanup(pci_place_clear)))
