/* SPDX-License-Identifier: Apache-2.0 */
/* PCI configuration space: the input is the space. */
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "observe/pci_config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_error_ struct error err = {0};
	_cleanup_free_ uint8_t *space = xcalloc(4096, 1);
	struct pci_config config;

	if (pci_config_parse(&config, data, size, &err) == 0)
		pci_config_port_type(&config);
	/* The mutations shorten: also as the beginning of a whole space. */
	memcpy(space, data, size < 4096 ? size : 4096);
	if (pci_config_parse(&config, space, 4096, NULL) == 0)
		pci_config_port_type(&config);
	return 0;
}
