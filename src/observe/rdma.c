/* SPDX-License-Identifier: Apache-2.0 */
/* RDMA devices of this node: /rdma. */
#include "observe/rdma.h"

#include <errno.h>
#include <string.h>

#include "observe/sysfs.h"

/* Devices by name only, for a kernel or a view without NETLINK_RDMA. Which link a port has is then
 * not known: the links of its GIDs need not be it, as in a bond. */
static void list_devices(struct observation *o, json_t *rdma, char **names, int n,
			 const struct error *refused)
{
	json_t *devices = json_obj(rdma, "devices");

	for (int i = 0; i < n; i++) {
		json_obj(devices, names[i]);
		observe_gap(o, refused->code, NULL, error_text(refused),
			    "/rdma/devices/%s/resources", names[i]);
		observe_gap(o, refused->code, NULL, error_text(refused),
			    "/rdma/devices/%s/ports/1/link", names[i]);
	}
}

static void put_uverbs(struct observation *o, json_t *facts, const char *name, json_t *uverbs)
{
	const char *node = json_get_string(uverbs, name, NULL);

	if (!node)
		return;
	_cleanup_free_ char *path = xasprintf("/sys/class/infiniband_verbs/%s", node);
	_cleanup_free_ char *pointer = json_pointer_format("/rdma/devices/%s", name);
	const struct sysfs_object device = {o, facts, pointer, path};

	json_put_string(facts, "uverbs", node);
	sysfs_put_int(&device, "abi_version", "abi_version");
}

void observe_rdma(struct observation *o)
{
	json_t *rdma = json_obj(o->snapshot, "rdma");
	_cleanup_error_ struct error err = {0};
	_cleanup_strings_ char **names = NULL;
	struct host_stat st;
	int n = host_list(o->host, &names, &err, "/sys/class/infiniband");

	if (n < 0 && n != -ENOENT) {
		observe_gap(o, n, NULL, error_text(&err), "/rdma");
		return;
	}
	if (n == -ENOENT && host_stat(o->host, &st, false, NULL, "/sys/class") < 0) {
		observe_gap(o, n, NULL, error_text(&err), "/rdma");
		return;
	}

	_cleanup_json_ json_t *uverbs = rdma_uverbs_map(o);
	if (n == -ENOENT) {
		/* ib_core is not there. Opening the socket would load it: an observer must not. */
		json_put_bool(rdma, "netlink", false);
		json_obj(rdma, "devices");
		rdma_chardevs_observe(o, rdma, uverbs);
		return;
	}

	_cleanup_error_ struct error refused = {0};
	int rc = rdma_netlink_observe(o, rdma, json_object_size(uverbs) > 0, &refused);
	if (rc == 0 || rc == -EPROTONOSUPPORT)
		json_put_bool(rdma, "netlink", rc == 0);
	else
		observe_gap(o, rc, NULL, error_text(&refused), "/rdma/netlink");
	if (rc < 0) {
		observe_gap(o, rc, NULL, error_text(&refused), "/rdma/netns_mode");
		list_devices(o, rdma, names, n, &refused);
	}

	json_t *devices = json_object_get(rdma, "devices"), *facts;
	const char *name;
	json_object_foreach(devices, name, facts) {
		rdma_sysfs_device(o, facts, name);
		put_uverbs(o, facts, name, uverbs);
	}
	rdma_cm_observe(o, devices);
	rdma_chardevs_observe(o, rdma, uverbs);
}
