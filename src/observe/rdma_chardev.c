/* SPDX-License-Identifier: Apache-2.0 */
/* What RDMA applications open, and rdma_cm's defaults: /rdma/chardev, /rdma/devices/NAME/cm. */
#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "observe/rdma.h"
#include "observe/sysfs.h"

#define CONFIGFS "/sys/kernel/config/rdma_cm"

json_t *rdma_uverbs_map(struct observation *o)
{
	_cleanup_strings_ char **names = NULL;
	json_t *map = json_object_new();
	int n = host_list(o->host, &names, NULL, "/sys/class/infiniband_verbs");

	for (int i = 0; i < n; i++) {
		if (!text_starts_with(names[i], "uverbs"))
			continue;
		_cleanup_free_ char *device = host_read_text(o->host, NULL,
							     "/sys/class/infiniband_verbs/%s/ibdev",
							     names[i]);
		if (device && *device)
			json_put_string(map, device, names[i]);
	}
	return map;
}

/* `backed`: the kernel has the device behind the node, so that opening it loads no module. */
static void observe_chardev(struct observation *o, json_t *chardevs, const char *name, bool backed)
{
	_cleanup_error_ struct error err = {0};
	struct host_stat st = {0};
	int rc = host_stat(o->host, &st, backed, &err, "/dev/infiniband/%s", name);

	if (rc < 0 && rc != -ENOENT) {
		observe_gap(o, rc, NULL, error_text(&err), "/rdma/chardev/%s", name);
		return;
	}
	json_t *facts = json_obj(chardevs, name);
	json_put_bool(facts, "present", rc == 0 && st.type == 'c');
	if (rc < 0 || st.type != 'c')
		return;
	json_put_stringf(facts, "mode", "%04o", st.mode);
	if (!backed) {
		observe_gap(o, -ENODEV, "modprobe rdma_ucm",
			    "the module behind the device node is not loaded",
			    "/rdma/chardev/%s/usable", name);
		return;
	}
	json_put_bool(facts, "usable", st.usable == 0);
	if (st.usable < 0)
		json_put_int(facts, "errno", -st.usable);
}

void rdma_chardevs_observe(struct observation *o, json_t *rdma, json_t *uverbs)
{
	json_t *chardevs = json_obj(rdma, "chardev"), *name;
	_cleanup_strings_ char **mads = NULL;
	struct host_stat st;
	const char *device;

	observe_chardev(o, chardevs, "rdma_cm",
			host_stat(o->host, &st, false, NULL, "/sys/class/misc/rdma_cm") == 0);
	json_object_foreach(uverbs, device, name)
		observe_chardev(o, chardevs, json_string_value(name), true);

	/* Not issmN: opening it makes the port announce a subnet manager. */
	int n = host_list(o->host, &mads, NULL, "/sys/class/infiniband_mad");
	for (int i = 0; i < n; i++)
		if (text_starts_with(mads[i], "umad"))
			observe_chardev(o, chardevs, mads[i], true);
}

/* --- configfs of rdma_cm ---------------------------------------------------------------------- */

static void observe_cm_device(struct observation *o, json_t *facts, const char *name)
{
	_cleanup_error_ struct error err = {0};
	_cleanup_strings_ char **ports = NULL;
	int n = host_list(o->host, &ports, &err, CONFIGFS "/%s/ports", name);

	/* The folder is made by whoever sets a default; making it here would change the machine. */
	if (n == -ENOENT) {
		json_put(facts, "cm", json_null());
		return;
	}
	if (n < 0) {
		observe_gap(o, n, NULL, error_text(&err), "/rdma/devices/%s/cm", name);
		return;
	}
	json_t *cm = json_obj(facts, "cm");
	for (int i = 0; i < n; i++) {
		_cleanup_free_ char *path = xasprintf(CONFIGFS "/%s/ports/%s", name, ports[i]);
		_cleanup_free_ char *pointer = json_pointer_format("/rdma/devices/%s/cm/%s", name,
								   ports[i]);
		const struct sysfs_object port = {o, json_obj(cm, ports[i]), pointer, path};

		sysfs_put_int(&port, "default_roce_tos", "default_roce_tos");
		sysfs_put_text(&port, "default_roce_mode", "default_roce_mode");
	}
}

void rdma_cm_observe(struct observation *o, json_t *devices)
{
	_cleanup_error_ struct error err = {0};
	struct host_stat st;
	const char *name;
	json_t *facts;
	int rc = host_stat(o->host, &st, false, &err, CONFIGFS);

	json_object_foreach(devices, name, facts) {
		if (rc == 0)
			observe_cm_device(o, facts, name);
		else
			observe_gap(o, rc,
				    "modprobe rdma_cm; mount -t configfs none /sys/kernel/config",
				    error_text(&err), "/rdma/devices/%s/cm", name);
	}
}
