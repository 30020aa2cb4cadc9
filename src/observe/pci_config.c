/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/pci_config.h"

#include <errno.h>
#include <linux/pci_regs.h>
#include <string.h>

#include "base/compiler.h"

/* Capabilities are four bytes or more, from 0x40 on; extended ones eight or more, from 0x100 on. */
#define CAPABILITIES_MAX ((PCI_CFG_SPACE_SIZE - PCI_STD_HEADER_SIZEOF) / 4)
#define EXTENDED_MAX ((PCI_CFG_SPACE_EXP_SIZE - PCI_CFG_SPACE_SIZE) / 8)

/* Little-endian registers; the caller has compared the offset with the length. */
static uint16_t get16(const uint8_t *data, size_t offset)
{
	return (uint16_t)(data[offset] | data[offset + 1] << 8);
}

static uint32_t get32(const uint8_t *data, size_t offset)
{
	return get16(data, offset) | (uint32_t)get16(data, offset + 2) << 16;
}

static int parse_capabilities(struct pci_config *config, const uint8_t *data, size_t len,
			      struct error *err)
{
	if (!(get16(data, PCI_STATUS) & PCI_STATUS_CAP_LIST)) {
		config->pcie = PCI_NONE;
		return 0;
	}
	if (len < PCI_CFG_SPACE_SIZE)
		return 0;

	size_t at = data[PCI_CAPABILITY_LIST] & ~3u;
	for (int left = CAPABILITIES_MAX; at; at = data[at + PCI_CAP_LIST_NEXT] & ~3u) {
		/* `at` is a multiple of four below 256: four bytes are there. */
		if (at < PCI_STD_HEADER_SIZEOF)
			return error_set(err, -EBADMSG, "capability inside the header, at 0x%02zx",
					 at);
		if (left-- == 0)
			return error_set(err, -EBADMSG, "the capability list is a loop");
		if (data[at + PCI_CAP_LIST_ID] == 0xff)
			return error_set(err, -EBADMSG, "capability 0xff at 0x%02zx", at);
		if (data[at + PCI_CAP_LIST_ID] == PCI_CAP_ID_EXP) {
			config->pcie = PCI_PRESENT;
			config->port_type =
				(get16(data, at + PCI_EXP_FLAGS) & PCI_EXP_FLAGS_TYPE) >> 4;
			return 0;
		}
	}
	config->pcie = PCI_NONE;
	return 0;
}

static int parse_extended(struct pci_config *config, const uint8_t *data, size_t len,
			  struct error *err)
{
	size_t at = PCI_CFG_SPACE_SIZE;

	if (len < PCI_CFG_SPACE_EXP_SIZE) {
		/* A conventional device has no extended space, so no ACS. */
		if (config->pcie == PCI_NONE)
			config->acs = PCI_NONE;
		return 0;
	}
	for (int left = EXTENDED_MAX; at; left--) {
		if (left == 0)
			return error_set(err, -EBADMSG, "the extended capability list is a loop");
		const uint32_t header = get32(data, at);
		/* An empty header: no list, or its end. */
		if (header == 0 || (header == UINT32_MAX && at == PCI_CFG_SPACE_SIZE))
			break;
		if (header == UINT32_MAX)
			return error_set(err, -EBADMSG,
					 "extended capability at 0x%03zx reads as ones", at);
		if (PCI_EXT_CAP_ID(header) == PCI_EXT_CAP_ID_ACS) {
			if (at + PCI_ACS_CTRL + 2 > len)
				return error_set(err, -EBADMSG, "ACS at 0x%03zx leaves the space",
						 at);
			config->acs = PCI_PRESENT;
			config->acs_cap = get16(data, at + PCI_ACS_CAP);
			config->acs_ctrl = get16(data, at + PCI_ACS_CTRL);
			return 0;
		}
		/* A multiple of four below 4096: the next header is inside. */
		at = PCI_EXT_CAP_NEXT(header);
		if (at && at < PCI_CFG_SPACE_SIZE)
			return error_set(err, -EBADMSG, "extended capability at 0x%03zx", at);
	}
	config->acs = PCI_NONE;
	return 0;
}

int pci_config_parse(struct pci_config *config, const uint8_t *data, size_t len, struct error *err)
{
	uint8_t ones[PCI_STD_HEADER_SIZEOF];

	memset(ones, 0xff, sizeof(ones));
	memset(config, 0, sizeof(*config));
	config->port_type = -1;
	if (len < PCI_STD_HEADER_SIZEOF)
		return error_set(err, -EBADMSG, "configuration space of %zu bytes", len);
	if (memcmp(data, ones, sizeof(ones)) == 0)
		return error_set(err, -ENODEV, "the device does not answer (all ones)");
	config->multifunction = data[PCI_HEADER_TYPE] & 0x80;
	int rc = parse_capabilities(config, data, len, err);
	return rc < 0 ? rc : parse_extended(config, data, len, err);
}

const char *pci_config_port_type(const struct pci_config *config)
{
	if (config->pcie == PCI_NONE)
		return "pci";
	if (config->pcie == PCI_UNSEEN)
		return NULL;
	switch (config->port_type) {
	case PCI_EXP_TYPE_ROOT_PORT:
		return "root_port";
	case PCI_EXP_TYPE_UPSTREAM:
		return "upstream";
	case PCI_EXP_TYPE_DOWNSTREAM:
		return "downstream";
	case PCI_EXP_TYPE_PCI_BRIDGE:
		return "pcie_to_pci";
	case PCI_EXP_TYPE_PCIE_BRIDGE:
		return "pci_to_pcie";
	default:
		return NULL;
	}
}
