/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PCI devices on the path from GPU to NIC, and the bridges between them: /pci.
 * The devices are listed once and each is looked at once, by its class first: the work grows with
 * the number of devices, not with their place in the tree.
 */
#include "observe/pci.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "observe/pci_config.h"
#include "observe/pci_place.h"
#include "observe/sysfs.h"

#define DEVICES "/sys/bus/pci/devices"

/* Base classes and classes of <linux/pci_ids.h>. */
#define BASE_CLASS_NETWORK 0x02		/* Ethernet 0x0200, InfiniBand 0x0207 */
#define BASE_CLASS_DISPLAY 0x03
#define BASE_CLASS_ACCELERATOR 0x12
#define CLASS_BRIDGE_PCI 0x0604
#define CLASS_BRIDGE_OTHER 0x0680

bool pci_class_of_interest(uint32_t class_code)
{
	switch (class_code >> 16) {
	case BASE_CLASS_NETWORK:
	case BASE_CLASS_DISPLAY:
	case BASE_CLASS_ACCELERATOR:
		return true;
	}
	return class_code >> 8 == CLASS_BRIDGE_PCI || class_code >> 8 == CLASS_BRIDGE_OTHER;
}

bool pci_speed_parse(const char *text, double *gts)
{
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return false;
	/* The program runs in the C locale: a point is a point. */
	*gts = strtod(text, &end);
	return text_starts_with(end, " GT/s");
}

int pci_resource_parse(const char *text, uint64_t *bytes)
{
	/* <linux/ioport.h>, a kernel-internal header whose flags sysfs shows */
	const uint64_t ioresource_mem = 0x200;
	_cleanup_free_ char *copy = xstrdup(text);
	char *cursor = copy, *line;

	*bytes = 0;
	for (int bar = 0; bar < 6 && (line = text_next_line(&cursor)); bar++) {
		uint64_t value[3];

		for (size_t i = 0; i < ARRAY_SIZE(value); i++) {
			const char *word = text_next_word(&line);
			if (!word || text_to_u64(word, 16, &value[i]) < 0)
				return -EBADMSG;
		}
		if (!(value[2] & ioresource_mem))
			continue;
		if (value[1] < value[0] || value[1] - value[0] == UINT64_MAX)
			return -EBADMSG;
		if (value[1] - value[0] + 1 > *bytes)
			*bytes = value[1] - value[0] + 1;
	}
	return 0;
}

/* --- one device ------------------------------------------------------------------------------- */

static void put_speed(const struct sysfs_object *device, json_t *link, const char *key,
		      const char *file)
{
	_cleanup_free_ char *text = sysfs_text(device, "link", file);
	double gts;

	if (text && pci_speed_parse(text, &gts))
		json_put(link, key, json_real(gts));
}

static void put_width(const struct sysfs_object *device, json_t *link, const char *key,
		      const char *file)
{
	_cleanup_free_ char *text = sysfs_text(device, "link", file);
	uint64_t width;

	/* 0 and 255 are the kernel's words for unknown; 32 lanes are the widest link. */
	if (text && text_to_u64(text, 10, &width) == 0 && width > 0 && width <= 32)
		json_put_u64(link, key, width);
}

static void put_link(const struct sysfs_object *device)
{
	_cleanup_json_ json_t *link = json_object_new();

	put_speed(device, link, "speed_gts", "current_link_speed");
	put_width(device, link, "width", "current_link_width");
	put_speed(device, link, "max_speed_gts", "max_link_speed");
	put_width(device, link, "max_width", "max_link_width");
	if (json_object_size(link))
		json_put(device->facts, "link", json_incref(link));
}

static json_t *acs_new(const struct pci_config *config)
{
	/* Bits of the ACS capability and control registers: PCI Express Base Specification,
	 * "ACS Control Register". */
	static const char *const bits[] = {
		"source_validation", "translation_blocking", "request_redirect",
		"completion_redirect", "upstream_forwarding", "egress_control", "direct_translated",
	};
	json_t *acs = json_object_new();

	json_put_stringf(acs, "cap", "0x%04x", config->acs_cap);
	json_put_stringf(acs, "ctrl", "0x%04x", config->acs_ctrl);
	for (size_t i = 0; i < ARRAY_SIZE(bits); i++)
		json_put_bool(acs, bits[i], config->acs_ctrl >> i & 1);
	return acs;
}

static void put_config(const struct sysfs_object *device, bool bridge)
{
	_cleanup_error_ struct error err = {0};
	_cleanup_free_ char *acs_at = xasprintf("%s/acs", device->pointer);
	_cleanup_free_ char *type_at = xasprintf("%s/port_type", device->pointer);
	_cleanup_free_ char *data = NULL;
	struct pci_config config;
	size_t len;
	int rc = host_read(device->o->host, &data, &len, &err, "%s/config", device->path);

	if (rc == 0)
		rc = pci_config_parse(&config, (const uint8_t *)data, len, &err);
	if (rc < 0) {
		error_wrap(&err, "configuration space");
		observe_gap_at(device->o, rc, NULL, error_text(&err), acs_at);
		if (bridge)
			observe_gap_at(device->o, rc, NULL, error_text(&err), type_at);
		return;
	}

	static const char short_space[] = "only the start of the configuration space is readable";
	static const char hint[] = "run as root";
	if (config.acs == PCI_PRESENT)
		json_put(device->facts, "acs", acs_new(&config));
	else if (config.acs == PCI_NONE && (bridge || config.multifunction))
		json_put(device->facts, "acs", json_null());
	else if (config.acs == PCI_UNSEEN && (bridge || config.multifunction))
		observe_gap_at(device->o, -EACCES, hint, short_space, acs_at);
	if (!bridge)
		return;
	const char *type = pci_config_port_type(&config);
	json_put_string(device->facts, "port_type", type);
	if (!type)
		observe_gap_at(device->o, -EACCES, hint, short_space, type_at);
}

static void put_bar(const struct sysfs_object *device)
{
	_cleanup_free_ char *text = sysfs_text(device, "bar_max_bytes", "resource");
	uint64_t bytes;

	if (!text)
		return;
	int rc = pci_resource_parse(text, &bytes);
	if (rc < 0) {
		_cleanup_free_ char *at = xasprintf("%s/bar_max_bytes", device->pointer);
		_cleanup_free_ char *reason = xasprintf("%s/resource has another form",
							device->path);
		observe_gap_at(device->o, rc, NULL, reason, at);
	} else if (bytes) {
		json_put_u64(device->facts, "bar_max_bytes", bytes);
	}
}

static void put_iommu(const struct sysfs_object *device, json_t *groups)
{
	_cleanup_free_ char *group = host_readlink_base(device->o->host, "%s/iommu_group",
							device->path);
	int64_t number;

	if (!group || text_to_i64(group, 10, &number) < 0)
		return;
	json_put_int(device->facts, "iommu_group", number);
	json_put_string(device->facts, "iommu_type", json_get_string(groups, group, NULL));
}

static void put_place(const struct sysfs_object *device, const char *bdf)
{
	_cleanup_pci_place_ struct pci_place place = {0};
	_cleanup_error_ struct error err = {0};
	_cleanup_free_ char *target = NULL;
	int rc = host_readlink(device->o->host, &target, &err, DEVICES "/%s", bdf);

	if (rc == 0) {
		pci_place_parse(&place, target);
		if (!place.root || !place.bdf || strcmp(place.bdf, bdf) != 0)
			rc = error_set(&err, -EBADMSG, "%s/%s leads to %s, which is no place below "
				       "a PCI root", DEVICES, bdf, target);
	}
	if (rc < 0) {
		_cleanup_free_ char *at = xasprintf("%s/parent", device->pointer);
		observe_gap_at(device->o, rc, NULL, error_text(&err), at);
		return;
	}
	if (place.parent)
		json_put_string(device->facts, "parent", place.parent);
	else
		json_put(device->facts, "parent", json_null());
	json_put_string(device->facts, "root", place.root);
}

/* Names of the class devices that belong to each PCI device: what the device and its functions of
 * virtio carry, not what its sub-functions (auxiliary devices) do. */
static json_t *children_new(struct observation *o, const char *class)
{
	_cleanup_error_ struct error err = {0};
	_cleanup_strings_ char **names = NULL;
	int n = host_list(o->host, &names, &err, "/sys/class/%s", class);
	json_t *children = json_object_new();

	for (int i = 0; i < n; i++) {
		_cleanup_pci_place_ struct pci_place place = {0};
		_cleanup_free_ char *target = NULL;

		if (host_readlink(o->host, &target, NULL, "/sys/class/%s/%s", class, names[i]) < 0)
			continue;
		pci_place_parse(&place, target);
		if (!place.bdf)
			continue;
		const char *rest = place.rest;
		if (text_starts_with(rest, "virtio") && strchr(rest, '/'))
			rest = strchr(rest, '/') + 1;
		if (text_starts_with(rest, class) && rest[strlen(class)] == '/')
			json_append_text(json_arr(children, place.bdf), names[i]);
	}
	return children;
}

static void put_children(json_t *facts, const char *key, json_t *children, const char *bdf)
{
	json_t *names = json_object_get(children, bdf);

	if (names)
		json_put(facts, key, json_incref(names));
	else
		json_arr(facts, key);
}

struct relations {
	json_t *groups;		/* IOMMU group -> type */
	json_t *links, *rdma;	/* BDF -> names */
};

static void observe_device(struct observation *o, json_t *devices, const char *bdf,
			   const struct relations *relations)
{
	_cleanup_error_ struct error err = {0};
	_cleanup_free_ char *path = xasprintf(DEVICES "/%s", bdf);
	_cleanup_free_ char *pointer = json_pointer_format("/pci/devices/%s", bdf);
	_cleanup_free_ char *class = host_read_text(o->host, &err, "%s/class", path);
	uint64_t code;

	if (!class || text_to_u64(class, 16, &code) < 0 || code > 0xffffff) {
		observe_gap_at(o, err.code, NULL,
			       class ? "the class is no number" : error_text(&err), pointer);
		return;
	}
	if (!pci_class_of_interest((uint32_t)code))
		return;

	json_t *facts = json_obj(devices, bdf);
	const struct sysfs_object device = {o, facts, pointer, path};
	const bool bridge = code >> 8 == CLASS_BRIDGE_PCI;

	sysfs_put_text(&device, "vendor", "vendor");
	sysfs_put_text(&device, "device", "device");
	sysfs_put_text(&device, "subsystem_vendor", "subsystem_vendor");
	sysfs_put_text(&device, "subsystem_device", "subsystem_device");
	json_put_string(facts, "class", class);
	sysfs_put_link(&device, "driver", "driver");
	sysfs_put_int(&device, "numa_node", "numa_node");
	put_place(&device, bdf);
	put_iommu(&device, relations->groups);
	put_link(&device);
	_cleanup_free_ char *physfn = host_readlink_base(o->host, "%s/physfn", path);
	if (!physfn)
		put_config(&device, bridge);
	if (bridge)
		return;
	if (code >> 16 == BASE_CLASS_NETWORK) {
		put_children(facts, "links", relations->links, bdf);
		put_children(facts, "rdma", relations->rdma, bdf);
	}
	json_put_string(facts, "physfn", physfn);
	if (!physfn)
		sysfs_put_int(&device, "vfs", "sriov_numvfs");
	put_bar(&device);
}

/* --- all of them ------------------------------------------------------------------------------ */

/* Entries of a bus, 0 when this kernel has no such bus, or a negative errno with the gap noted. */
static int list_bus(struct observation *o, char ***names, const char *bus, const char *pointer)
{
	_cleanup_error_ struct error err = {0};
	struct host_stat st;
	int n = host_list(o->host, names, &err, "/sys/bus/%s/devices", bus);

	if (n == -ENOENT && host_stat(o->host, &st, false, NULL, "/sys/bus") == 0)
		return 0;
	if (n < 0)
		observe_gap_at(o, n, NULL, error_text(&err), pointer);
	return n;
}

/* /pci/auxiliary */
static void observe_auxiliary(struct observation *o, json_t *pci)
{
	_cleanup_strings_ char **names = NULL;
	int n = list_bus(o, &names, "auxiliary", "/pci/auxiliary");

	if (n < 0)
		return;
	json_t *auxiliary = json_obj(pci, "auxiliary");
	for (int i = 0; i < n; i++) {
		_cleanup_error_ struct error err = {0};
		_cleanup_free_ char *path = xasprintf("/sys/bus/auxiliary/devices/%s", names[i]);
		_cleanup_free_ char *pointer = json_pointer_format("/pci/auxiliary/%s", names[i]);
		_cleanup_free_ char *target = NULL;
		_cleanup_pci_place_ struct pci_place place = {0};
		json_t *facts = json_obj(auxiliary, names[i]);
		const struct sysfs_object device = {o, facts, pointer, path};

		int rc = host_readlink(o->host, &target, &err, "%s", path);
		if (rc < 0)
			observe_gap(o, rc, NULL, error_text(&err), "/pci/auxiliary/%s/parent",
				    names[i]);
		else
			pci_place_parse(&place, target);
		json_put_string(facts, "parent", place.bdf);
		sysfs_put_link(&device, "driver", "driver");
	}
}

void observe_pci(struct observation *o)
{
	json_t *pci = json_obj(o->snapshot, "pci");
	_cleanup_json_ json_t *groups = observe_iommu(o);
	_cleanup_strings_ char **names = NULL;
	int n = list_bus(o, &names, "pci", "/pci/devices");

	if (n >= 0) {
		_cleanup_json_ json_t *links = children_new(o, "net");
		_cleanup_json_ json_t *rdma = children_new(o, "infiniband");
		const struct relations relations = {groups, links, rdma};
		json_t *devices = json_obj(pci, "devices");

		for (int i = 0; i < n; i++)
			observe_device(o, devices, names[i], &relations);
	}
	observe_auxiliary(o, pci);
}
