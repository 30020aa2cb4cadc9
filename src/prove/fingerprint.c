/* SPDX-License-Identifier: Apache-2.0 */
/* What a proof rests on, and what has changed since (docs/proof.md, "Fingerprint"). */
#include "prove/record.h"

#include <string.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "prove/path_links.h"

/* Copy members of one object that stand in the list, those that are there. */
static void copy_members(json_t *to, json_t *from, const char *const *names)
{
	for (; *names; names++) {
		json_t *value = json_object_get(from, *names);

		if (value)
			json_put(to, *names, json_deep_copy(value));
	}
}

/* Where a driver comes from: versions of out-of-tree modules stand here, those of the kernel's own
 * in its release. */
static void put_module(json_t *to, json_t *snapshot, const char *driver)
{
	static const char *const members[] = { "version", "srcversion", "in_tree", NULL };

	if (driver)
		copy_members(to, json_at(snapshot, "/os/modules/%s", driver), members);
}

static void put_dcb(json_t *to, json_t *dcb)
{
	static const char *const ets[] = { "prio_tc", "tc_tx_bw", NULL };
	static const char *const map[] = { "dscp", NULL };
	json_t *enabled = json_object_get(json_object_get(dcb, "pfc"), "enabled");

	if (!json_is_object(dcb))
		return;
	json_t *out = json_obj(to, "dcb");
	copy_members(out, json_object_get(dcb, "ets"), ets);
	copy_members(out, dcb, map);
	if (enabled)
		json_put(out, "pfc", json_deep_copy(enabled));
}

static void put_nic(json_t *nics, json_t *snapshot, const char *name)
{
	static const char *const link_members[] = { "mtu", NULL };
	json_t *link = json_at(snapshot, "/links/%s", name), *nic = json_obj(nics, name);
	json_t *ethtool = json_object_get(link, "ethtool");
	const char *pci = path_pci_of_link(snapshot, name);
	const char *driver = json_get_string(ethtool, "driver", NULL);

	if (!driver && pci)
		driver = json_get_string(json_at(snapshot, "/pci/devices/%s", pci), "driver",
					 NULL);
	json_put_string(nic, "pci", pci);
	json_put_string(nic, "driver", driver);
	put_module(nic, snapshot, driver);
	json_put_string(nic, "firmware", json_get_string(ethtool, "firmware", NULL));
	copy_members(nic, link, link_members);
	put_dcb(nic, json_object_get(link, "dcb"));
}

/* Those that were configured: temporary IPv6 addresses change every day. */
static void put_addresses(json_t *to, json_t *addresses)
{
	json_t *entry, *flag;
	size_t i, k;

	json_array_foreach(addresses, i, entry) {
		const char *address = json_get_string(entry, "address", NULL);

		json_array_foreach(json_object_get(entry, "flags"), k, flag) {
			const char *name = json_string_value(flag);

			if (address && name && !strcmp(name, "permanent") &&
			    !strcmp(json_get_string(entry, "scope", ""), "global"))
				json_append_text(json_arr(to, "addresses"), address);
		}
	}
}

static void put_link(json_t *to, json_t *snapshot, const char *name)
{
	static const char *const members[] = { "kind", "mtu", "vlan", NULL };
	static const char *const of_bond[] = { "mode", "xmit_hash_policy", NULL };
	json_t *link = json_at(snapshot, "/links/%s", name);
	_cleanup_strings_ char **below = path_physical_links(snapshot, name);

	json_t *out = json_obj(to, "link");
	json_put_string(out, "name", name);
	copy_members(out, link, members);

	put_addresses(out, json_object_get(link, "addresses"));
	json_t *bond = json_at(snapshot, "/links/%s/bond", path_base_link(snapshot, name));
	if (bond)
		copy_members(json_obj(out, "bond"), bond, of_bond);

	json_t *nics = json_obj(to, "nics");
	for (char **nic = below; nic && *nic; nic++)
		put_nic(nics, snapshot, *nic);
}

static void put_rdma(json_t *to, json_t *snapshot, const char *name)
{
	static const char *const members[] = { "driver", "firmware", NULL };
	json_t *device = json_at(snapshot, "/rdma/devices/%s", name), *port;
	const char *driver = json_get_string(device, "driver", NULL), *number;

	json_t *out = json_obj(to, "rdma");
	json_put_string(out, "device", name);
	copy_members(out, device, members);
	put_module(out, snapshot,
		   driver && !strcmp(driver, "mlx5_ib") ? "mlx5_core" : driver);
	json_object_foreach(json_object_get(device, "ports"), number, port) {
		json_t *mtu = json_object_get(port, "active_mtu");

		if (mtu)
			json_put(json_obj(out, "active_mtu"), number, json_deep_copy(mtu));
	}
	json_object_foreach(json_object_get(device, "cm"), number, port) {
		json_t *tos = json_object_get(port, "default_roce_tos");

		if (tos)
			json_put(json_obj(to, "roce_tos"), number, json_deep_copy(tos));
	}
}

static void put_copy(json_t *to, const char *key, json_t *value)
{
	if (value)
		json_put(to, key, json_deep_copy(value));
}

json_t *proof_fingerprint(json_t *snapshot, const char *link, const char *device)
{
	json_t *print = json_object_new();

	put_copy(print, "kernel", json_at(snapshot, "/os/kernel/release"));
	put_copy(print, "iommu", json_at(snapshot, "/os/iommu/types"));
	put_copy(print, "rdma_core", json_at(snapshot, "/userspace/rdma_core"));
	put_rdma(print, snapshot, device);
	put_link(print, snapshot, link);
	return print;
}

json_t *proof_fingerprint_gpu(json_t *snapshot, const char *bdf)
{
	static const char *const driver_members[] = { "version", "open", NULL };
	static const char *const device_members[] = { "firmware", NULL };
	static const char *const pci_members[] = { "iommu_type", NULL };
	json_t *gpu = json_object_new();

	json_put_string(gpu, "bdf", bdf);
	copy_members(gpu, json_at(snapshot, "/gpu/driver"), driver_members);
	copy_members(gpu, json_at(snapshot, "/gpu/devices/%s", bdf), device_members);
	copy_members(gpu, json_at(snapshot, "/pci/devices/%s", bdf), pci_members);
	return gpu;
}

/* --- what differs ----------------------------------------------------------------------------- */

/* Differences that are told; a proof is as stale with ten of them. */
#define TOLD_MAX 10u

struct difference {
	struct strbuf text;
	unsigned n;
};

static void tell(struct difference *d, const char *name, json_t *then, json_t *now)
{
	_cleanup_free_ char *was = then ? json_to_text(then, false) : xstrdup("not observed");
	_cleanup_free_ char *is = now ? json_to_text(now, false) : xstrdup("not observed");

	if (d->n++ < TOLD_MAX)
		strbuf_printf(&d->text, "%s%s was %s, is %s", d->text.len ? "; " : "", name, was,
			      is);
}

/* Objects are walked one below the other; their depth is limited by the parser. */
static void compare(struct difference *d, const char *name, json_t *then, json_t *now)
{
	const char *key;
	json_t *value;

	if (!json_is_object(then) || !json_is_object(now)) {
		if (!then || !now || !json_equal(then, now))
			tell(d, name, then, now);
		return;
	}
	json_object_foreach(then, key, value) {
		_cleanup_free_ char *below = xasprintf("%s%s%s", name, *name ? " " : "", key);

		compare(d, below, value, json_object_get(now, key));
	}
	json_object_foreach(now, key, value) {
		_cleanup_free_ char *below = xasprintf("%s%s%s", name, *name ? " " : "", key);

		if (!json_object_get(then, key))
			compare(d, below, NULL, value);
	}
}

char *proof_fingerprint_difference(json_t *then, json_t *now)
{
	struct difference d = {0};

	compare(&d, "", then, now);
	if (!d.n)
		return NULL;
	if (d.n > TOLD_MAX)
		strbuf_printf(&d.text, "; and %u more", d.n - TOLD_MAX);
	return strbuf_steal(&d.text);
}
