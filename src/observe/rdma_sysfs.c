/* SPDX-License-Identifier: Apache-2.0 */
/* RDMA devices by /sys/class/infiniband: what netlink does not carry, or all without it. */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "observe/pci_place.h"
#include "observe/rdma.h"
#include "observe/sysfs.h"

bool rdma_rate_parse(const char *text, double *gbps)
{
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return false;
	*gbps = strtod(text, &end);
	return text_starts_with(end, " Gb/sec");
}

int64_t rdma_numbered_parse(const char *text)
{
	const size_t n = strcspn(text, ":");
	_cleanup_free_ char *number = xstrndup(text, n);
	int64_t value;

	if (!text[n] || text_to_i64(number, 10, &value) < 0 || value < 0)
		return -1;
	return value;
}

/* facts[key] = the name of the number in `file` ("4: ACTIVE"), unless netlink has told it. */
static void put_named(const struct sysfs_object *s, const char *key, const char *file,
		      const char *(*name_of)(uint64_t value))
{
	if (json_object_get(s->facts, key))
		return;
	_cleanup_free_ char *text = sysfs_text(s, key, file);
	const int64_t number = text ? rdma_numbered_parse(text) : -1;
	if (number >= 0)
		json_put_string(s->facts, key, name_of((uint64_t)number));
}

/* --- ports ------------------------------------------------------------------------------------ */

/* Every file of `folder` below the port (or device) that holds a number. */
static void put_counters(const struct sysfs_object *s, const char *folder)
{
	_cleanup_error_ struct error err = {0};
	_cleanup_strings_ char **names = NULL;
	int n = host_list(s->o->host, &names, &err, "%s/%s", s->path, folder);

	if (n == -ENOENT)
		return;
	if (n < 0) {
		_cleanup_free_ char *at = xasprintf("%s/%s", s->pointer, folder);
		observe_gap_at(s->o, n, NULL, error_text(&err), at);
		return;
	}
	json_t *counters = json_obj(s->facts, folder);
	for (int i = 0; i < n; i++) {
		uint64_t value;

		/* How long the driver may keep values, in ms: a setting, not a counter. */
		if (strcmp(names[i], "lifespan") == 0)
			continue;
		/* A counter that the device does not have reads as an error or as "N/A". */
		_cleanup_free_ char *text = host_read_text(s->o->host, NULL, "%s/%s/%s", s->path,
							   folder, names[i]);
		if (text && text_to_u64(text, 10, &value) == 0)
			json_put_u64(counters, names[i], value);
	}
}

static int compare_numbers(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Names of a folder that are numbers, in their order. The caller frees. */
static int list_numbers(struct host *host, int64_t **numbers, struct error *err, const char *path)
{
	_cleanup_strings_ char **names = NULL;
	int n = host_list(host, &names, err, "%s", path), used = 0;

	if (n < 0)
		return n;
	*numbers = xcalloc((size_t)n + 1, sizeof(**numbers));
	for (int i = 0; i < n; i++)
		if (text_to_i64(names[i], 10, &(*numbers)[used]) == 0 && (*numbers)[used] >= 0)
			used++;
	qsort(*numbers, (size_t)used, sizeof(**numbers), compare_numbers);
	return used;
}

static void put_gids(const struct sysfs_object *port)
{
	_cleanup_error_ struct error err = {0};
	_cleanup_free_ char *folder = xasprintf("%s/gids", port->path);
	_cleanup_free_ char *at = xasprintf("%s/gids", port->pointer);
	_cleanup_free_ int64_t *numbers = NULL;
	struct host *host = port->o->host;
	int n = list_numbers(host, &numbers, &err, folder);

	if (n < 0) {
		observe_gap_at(port->o, n, NULL, error_text(&err), at);
		return;
	}
	json_t *gids = json_arr(port->facts, "gids");
	for (int i = 0; i < n; i++) {
		_cleanup_error_ struct error unread = {0};
		const long long index = numbers[i];
		_cleanup_free_ char *gid = host_read_text(host, &unread, "%s/%lld", folder, index);

		if (!gid && unread.code != -ENOENT && unread.code != -EINVAL) {
			observe_gap_at(port->o, unread.code, NULL, error_text(&unread), at);
			return;
		}
		/* An empty entry is all zero; its type and link cannot be read. */
		if (!gid || gid[strspn(gid, "0:")] == '\0')
			continue;
		_cleanup_free_ char *type = host_read_text(host, NULL, "%s/gid_attrs/types/%lld",
							   port->path, index);
		_cleanup_free_ char *link = host_read_text(host, NULL, "%s/gid_attrs/ndevs/%lld",
							   port->path, index);
		json_t *entry = json_object_new();
		json_put_int(entry, "index", index);
		json_put_string(entry, "gid", gid);
		json_put_string(entry, "type", type);
		json_put_string(entry, "link", link);
		json_append(gids, entry);
	}
}

static void observe_port(struct observation *o, json_t *ports, const char *name, const char *number)
{
	_cleanup_free_ char *path = xasprintf("/sys/class/infiniband/%s/ports/%s", name, number);
	_cleanup_free_ char *pointer = json_pointer_format("/rdma/devices/%s/ports/%s", name,
							   number);
	json_t *facts = json_obj(ports, number);
	const struct sysfs_object port = {o, facts, pointer, path};
	double gbps;

	put_named(&port, "state", "state", rdma_port_state_name);
	put_named(&port, "physical_state", "phys_state", rdma_physical_state_name);
	sysfs_put_text(&port, "link_layer", "link_layer");
	_cleanup_free_ char *rate = sysfs_text(&port, "speed_gbps", "rate");
	if (rate && rdma_rate_parse(rate, &gbps))
		json_put(facts, "speed_gbps", json_real(gbps));
	put_gids(&port);
	put_counters(&port, "counters");
	put_counters(&port, "hw_counters");
}

/* --- the device ------------------------------------------------------------------------------- */

/* The RDMA driver that goes with the PCI driver of the parent device, where netlink told none. */
static const char *driver_by_parent(const char *parent_driver)
{
	static const struct {
		const char *parent, *rdma;
	} table[] = {
		{"ice", "irdma"}, {"i40e", "irdma"}, {"mlx5_core", "mlx5_ib"},
		{"mlx4_core", "mlx4_ib"}, {"bnxt_en", "bnxt_re"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (strcmp(table[i].parent, parent_driver) == 0)
			return table[i].rdma;
	return NULL;
}

static void put_parent(const struct sysfs_object *device)
{
	_cleanup_error_ struct error err = {0};
	_cleanup_free_ char *target = NULL;
	_cleanup_pci_place_ struct pci_place place = {0};
	int rc = host_readlink(device->o->host, &target, &err, "%s", device->path);

	if (rc < 0) {
		_cleanup_free_ char *at = xasprintf("%s/parent_device", device->pointer);
		observe_gap_at(device->o, rc, NULL, error_text(&err), at);
		return;
	}
	pci_place_parse(&place, target);
	if (place.bdf)
		json_put_string(device->facts, "parent_device", place.bdf);
	else
		json_put(device->facts, "parent_device", json_null());
}

static void put_driver(const struct sysfs_object *device)
{
	if (json_object_get(device->facts, "driver"))
		return;
	if (json_is_null(json_object_get(device->facts, "parent_device"))) {
		/* The software devices of the kernel, one for each protocol. */
		const char *protocol = json_get_string(device->facts, "protocol", "");
		if (strcmp(protocol, "roce") == 0)
			json_put_string(device->facts, "driver", "rdma_rxe");
		else if (strcmp(protocol, "iwarp") == 0)
			json_put_string(device->facts, "driver", "siw");
		return;
	}
	_cleanup_free_ char *parent = host_readlink_base(device->o->host, "%s/device/driver",
							 device->path);
	if (parent)
		json_put_string(device->facts, "driver", driver_by_parent(parent));
}

/* By node type and link layer, for kernels (before 5.1) that do not name the protocol. */
static void put_protocol(json_t *facts)
{
	if (json_object_get(facts, "protocol"))
		return;
	json_t *first = json_object_iter_value(json_object_iter(json_object_get(facts, "ports")));
	const char *type = json_get_string(facts, "node_type", "");
	const char *layer = json_get_string(first, "link_layer", "");

	if (strcmp(type, "rnic") == 0)
		json_put_string(facts, "protocol", "iwarp");
	else if (strcmp(type, "ca") == 0 && strcmp(layer, "Ethernet") == 0)
		json_put_string(facts, "protocol", "roce");
	else if (strcmp(layer, "InfiniBand") == 0)
		json_put_string(facts, "protocol", "ib");
}

void rdma_sysfs_device(struct observation *o, json_t *facts, const char *name)
{
	_cleanup_error_ struct error err = {0};
	_cleanup_free_ char *path = xasprintf("/sys/class/infiniband/%s", name);
	_cleanup_free_ char *pointer = json_pointer_format("/rdma/devices/%s", name);
	_cleanup_free_ char *folder = xasprintf("%s/ports", path);
	_cleanup_free_ int64_t *numbers = NULL;
	const struct sysfs_object device = {o, facts, pointer, path};

	put_named(&device, "node_type", "node_type", rdma_node_type_name);
	if (!json_object_get(facts, "node_guid"))
		sysfs_put_text(&device, "node_guid", "node_guid");
	if (!json_object_get(facts, "sys_image_guid"))
		sysfs_put_text(&device, "sys_image_guid", "sys_image_guid");
	if (!json_object_get(facts, "firmware"))
		sysfs_put_text(&device, "firmware", "fw_ver");
	put_parent(&device);

	int n = list_numbers(o->host, &numbers, &err, folder);
	if (n < 0)
		observe_gap(o, n, NULL, error_text(&err), "/rdma/devices/%s/ports", name);
	json_t *ports = n < 0 ? NULL : json_obj(facts, "ports");
	for (int i = 0; i < n; i++) {
		_cleanup_free_ char *number = xasprintf("%lld", (long long)numbers[i]);
		observe_port(o, ports, name, number);
	}
	put_counters(&device, "hw_counters");
	put_protocol(facts);
	put_driver(&device);
}
