/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What libibverbs says about the RDMA devices. Runs in a child: providers are code of vendors, and
 * devices may hang.
 */
#include <errno.h>
#include <string.h>

#include "host/verbs.h"
#include "observe/userspace.h"

/* IBV_MTU_256 … IBV_MTU_4096 are 1 … 5. */
static void put_mtu(json_t *facts, const char *key, enum ibv_mtu mtu)
{
	if (mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096)
		json_put_int(facts, key, 128 << mtu);
}

static void put_capabilities(json_t *facts, const struct ibv_device_attr *attr)
{
	static const char *const atomics[] = {"NONE", "HCA", "GLOB"};
	json_t *capabilities = json_obj(facts, "capabilities");

	json_put_u64(capabilities, "max_mr_size", attr->max_mr_size);
	json_put_int(capabilities, "max_qp", attr->max_qp);
	json_put_int(capabilities, "max_sge", attr->max_sge);
	if ((size_t)attr->atomic_cap < ARRAY_SIZE(atomics))
		json_put_string(capabilities, "atomic", atomics[attr->atomic_cap]);
	json_put_u64(capabilities, "page_size_cap", attr->page_size_cap);
}

static void probe_device(const struct verbs *v, struct ibv_device *device, json_t *result)
{
	const char *name = v->get_device_name(device);
	struct ibv_device_attr attr = {0};
	struct ibv_context *context;
	int rc;

	errno = 0;
	context = v->open_device(device);
	if (!context) {
		json_put_string(json_obj(result, "failed"), name,
				errno ? strerror(errno) : "the provider gave no reason");
		return;
	}
	rc = v->query_device(context, &attr);
	if (rc) {
		json_put_string(json_obj(result, "failed"), name, strerror(rc));
	} else {
		json_t *facts = json_obj(json_obj(result, "devices"), name);

		json_append_text(json_arr(result, "opened"), name);
		put_capabilities(facts, &attr);
		for (unsigned port = 1; port <= attr.phys_port_cnt; port++) {
			struct ibv_port_attr port_attr = {0};
			_cleanup_free_ char *number = xasprintf("%u", port);

			if (v->query_port(context, (uint8_t)port, &port_attr))
				continue;
			json_t *port_facts = json_obj(json_obj(facts, "ports"), number);
			put_mtu(port_facts, "active_mtu", port_attr.active_mtu);
			put_mtu(port_facts, "max_mtu", port_attr.max_mtu);
		}
	}
	v->close_device(context);
}

int verbs_probe(json_t *result, struct error *err)
{
	struct verbs v = {0};
	struct ibv_device **list;
	int n = 0, rc;

	/* Makes the library say which device has no provider, and why. Set in the child only. */
	setenv("IBV_SHOW_WARNINGS", "1", 1);
	rc = verbs_load(&v, err);
	if (rc < 0)
		return rc;
	list = v.get_device_list(&n);
	if (!list)
		return error_set_errno(err, errno ? -errno : -EIO, "ibv_get_device_list");
	json_arr(result, "opened");
	json_obj(result, "failed");
	for (int i = 0; i < n; i++)
		probe_device(&v, list[i], result);
	v.free_device_list(list);
	return 0;
}
