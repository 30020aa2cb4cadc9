/* SPDX-License-Identifier: Apache-2.0 */
/* The parsers of pci.c, apart from the machine. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "observe/observe.h"

/* Devices that the snapshot keeps, by class code (0xBBSSPP, <linux/pci_ids.h>): network, display,
 * processing accelerators, InfiniBand, PCI-to-PCI bridges and "other" bridges (NVSwitch). */
bool pci_class_of_interest(uint32_t class_code);

/* "16.0 GT/s PCIe" -> 16.0; false for "Unknown" and other text. */
bool pci_speed_parse(const char *text, double *gts);

/* Size in bytes of the largest memory BAR in the text of sysfs' "resource" (start, end and flags of
 * BARs 0 to 5 in its first six lines); 0 bytes when there is none. 0, or -EBADMSG when a line has
 * another form. */
int pci_resource_parse(const char *text, uint64_t *bytes);

/* /os/iommu, and the type of each group: number (as text) -> type. New reference. */
json_t *observe_iommu(struct observation *o);
