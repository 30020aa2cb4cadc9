/* SPDX-License-Identifier: Apache-2.0 */
/* The choice of a path, by snapshots of tests/data: what is chosen, why, and what stands against
 * it. */
#include <errno.h>
#include <string.h>

#include "../judge/scene.h"
#include "base/strings.h"
#include "prove/path.h"

#define SNAPSHOTS RAILHEAD_SOURCE "/tests/data/snapshots/"
#define SITES RAILHEAD_SOURCE "/tests/data/sites/"

struct change {
	const char *pointer, *value;	/* JSON with ' for "; NULL removes */
};

struct row {
	const char *name, *snapshot;
	const char *site, *node;	/* NULL: none */
	struct change changes[4];
	struct path_request request;	/* peer and overrides; gid_index 0 stands for -1 */
	int rc;
	const char *error;		/* in the message */
	/* what is chosen */
	const char *link, *device, *address;
	int gid_index;
	unsigned mtu;
	const char *reasons[4];		/* each in some line */
};

#define E810 "e810-b300-healthy.json"
#define GIDS "/rdma/devices/rocep27s0f0/ports/1/gids"

static const struct row rows[] = {
	/* --- without a site: by route --- */
	{ "by route", E810, .request = { .peer_address = "198.51.100.21" }, .link = "ens1f0",
	  .device = "rocep27s0f0", .address = "198.51.100.11", .gid_index = 1, .mtu = 4096,
	  .reasons = { "link ens1f0: the route to 198.51.100.21 leaves by it (198.51.100.0/24)",
		       "address 198.51.100.11: on that link, of the peer's family",
		       "device rocep27s0f0 port 1: it has the GID of 198.51.100.11",
		       "GID index 1: that of the address, RoCE v2, "
		       "0000:0000:0000:0000:0000:ffff:c633:640b" } },
	{ "the other rail", E810, .request = { .peer_address = "203.0.113.21" }, .link = "ens1f1",
	  .device = "rocep27s0f1", .address = "203.0.113.11", .gid_index = 1, .mtu = 4096,
	  .reasons = { "RoCE MTU 4096: active MTU of the port; the smaller of both" } },
	{ "device of a bond", "e810-b300-bond-oot.json",
	  .request = { .peer_address = "198.51.100.21" }, .link = "bond1",
	  .device = "rocep27s0f0", .address = "198.51.100.11", .gid_index = 1, .mtu = 4096,
	  .reasons = { "link bond1: the route", "port 1: it has the GID of 198.51.100.11" } },
	{ "v1 entries are passed over", "mlx5-h100-lag.json",
	  .request = { .peer_address = "198.51.100.22" }, .link = "bond1",
	  .device = "mlx5_bond_0", .address = "198.51.100.12", .gid_index = 3, .mtu = 4096 },
	{ "one of eight rails", "mlx5-h100-rails.json", .request = { .peer_address = "10.0.5.22" },
	  .link = "ens5np0", .device = "mlx5_5", .address = "10.0.5.12", .gid_index = 3,
	  .mtu = 4096 },
	{ "VLAN on a bond", "e810-b300-bond-oot.json",
	  .changes = { { "/links/bond1.100",
			 "{'kind': 'vlan', 'lower': 'bond1', 'addresses': [{'family': 'ipv4', "
			 "'address': '198.51.100.11', 'prefix': 24, 'scope': 'global'}]}" },
		       { "/links/bond1/addresses", "[]" },
		       { "/routes", "[{'family': 'ipv4', 'destination': '198.51.100.0/24', "
				    "'link': 'bond1.100', 'table': 'main'}]" },
		       { GIDS, "[{'index': 4, 'gid': '::ffff:198.51.100.11', 'type': 'RoCE v2', "
			       "'link': 'bond1.100'}]" } },
	  .request = { .peer_address = "198.51.100.21" }, .link = "bond1.100",
	  .device = "rocep27s0f0", .address = "198.51.100.11", .gid_index = 4, .mtu = 4096 },
	{ "IPv6", E810,
	  .changes = { { "/routes", "[{'family': 'ipv6', 'destination': 'fd00:5::/64', 'link': "
				    "'ens1f0', 'table': 'main'}]" },
		       { "/links/ens1f0/addresses",
			 "[{'family': 'ipv6', 'address': 'fe80::1', 'scope': 'link'}, {'family': "
			 "'ipv4', 'address': '198.51.100.11', 'scope': 'global'}, {'family': "
			 "'ipv6', 'address': 'fd00:5::11', 'scope': 'global'}]" },
		       { GIDS, "[{'index': 5, 'gid': 'fd00:0005::11', 'type': 'RoCE v2', 'link': "
			       "'ens1f0'}]" } },
	  .request = { .peer_address = "fd00:5::21" }, .link = "ens1f0", .device = "rocep27s0f0",
	  .address = "fd00:5::11", .gid_index = 5, .mtu = 4096 },
	{ "longest prefix wins, then the metric", E810,
	  .changes = { { "/routes",
			 "[{'family': 'ipv4', 'destination': 'default', 'link': 'bond0', 'table': "
			 "'main'}, {'family': 'ipv4', 'destination': '198.51.100.0/25', 'link': "
			 "'ens1f1', 'metric': 20, 'table': 'main'}, {'family': 'ipv4', "
			 "'destination': '198.51.100.0/25', 'link': 'ens1f0', 'metric': 10, "
			 "'table': 'main'}, {'family': 'ipv4', 'destination': '198.51.100.21/32', "
			 "'link': 'bond0', 'table': 7}]" } },
	  .request = { .peer_address = "198.51.100.21" }, .link = "ens1f0",
	  .device = "rocep27s0f0", .address = "198.51.100.11", .gid_index = 1, .mtu = 4096 },
	{ "the only one, before a peer is known", "mlx5-h100.json", .link = "ens2np0",
	  .device = "mlx5_0", .address = "198.51.100.12", .gid_index = 3, .mtu = 4096,
	  .reasons = { "link ens2np0: the only one with an address and an RDMA device" } },
	{ "MTU that was not seen", E810,
	  .changes = { { "/rdma/devices/rocep27s0f0/ports/1/active_mtu", NULL } },
	  .request = { .peer_address = "198.51.100.21" }, .link = "ens1f0",
	  .device = "rocep27s0f0", .address = "198.51.100.11", .gid_index = 1, .mtu = 0,
	  .reasons = { "RoCE MTU: not seen in the facts" } },
	/* --- by the site --- */
	{ "by rail", E810, "e810-rails.yaml", "gpu-node-01",
	  .request = { .peer_address = "203.0.113.21" }, .link = "ens1f1",
	  .device = "rocep27s0f1", .address = "203.0.113.11", .gid_index = 1, .mtu = 4096,
	  .reasons = { "link ens1f1: declared for rail1, the rail of 203.0.113.21 (aistor-01)",
		       "address 203.0.113.11: declared in the site" } },
	{ "the only declared port", "e810-b300-bond-oot.json", "e810-bond.yaml", "gpu-node-01",
	  .link = "bond1", .device = "rocep27s0f0", .address = "198.51.100.11", .gid_index = 1,
	  .mtu = 4096,
	  .reasons = { "link bond1: the RDMA port that the site declares for gpu-node-01" } },
	{ "a peer that the site does not have", E810, "e810-rails.yaml", "gpu-node-01",
	  .request = { .peer_address = "203.0.113.77" }, .link = "ens1f1",
	  .device = "rocep27s0f1", .address = "203.0.113.11", .gid_index = 1, .mtu = 4096,
	  .reasons = { "of the declared RDMA ports, the one of the route to 203.0.113.77" } },
	{ "the route leaves elsewhere", E810, "e810-rails.yaml", "gpu-node-01",
	  .changes = { { "/routes", "[{'family': 'ipv4', 'destination': 'default', 'link': "
				    "'bond0', 'table': 'main'}]" } },
	  .request = { .peer_address = "203.0.113.21" }, .link = "ens1f1",
	  .device = "rocep27s0f1", .address = "203.0.113.11", .gid_index = 1, .mtu = 4096,
	  .reasons = { "warning: the route to 203.0.113.21 leaves by bond0, not by ens1f1" } },
	{ "several ports, no peer", E810, "e810-rails.yaml", "gpu-node-01", .rc = -EINVAL,
	  .error = "gpu-node-01 has several RDMA ports (ens1f0, ens1f1)" },
	{ "declared address on no link", E810, "e810-rails.yaml", "gpu-node-01",
	  .changes = { { "/links/ens1f1/addresses", "[]" } },
	  .request = { .peer_address = "203.0.113.21" }, .rc = -EADDRNOTAVAIL,
	  .error = "address 203.0.113.11 is declared for ens1f1, and is on no link" },
	/* --- overrides --- */
	{ "link", E810, .request = { .peer_address = "198.51.100.21", .link = "ens1f1" },
	  .link = "ens1f1", .device = "rocep27s0f1", .address = "203.0.113.11", .gid_index = 1,
	  .mtu = 4096,
	  .reasons = { "link ens1f1: asked for", "warning: the route to 198.51.100.21 leaves by "
						  "ens1f0, not by ens1f1" } },
	{ "device", E810, .request = { .device = "rocep27s0f1" }, .link = "ens1f1",
	  .device = "rocep27s0f1", .address = "203.0.113.11", .gid_index = 1, .mtu = 4096,
	  .reasons = { "link ens1f1: rocep27s0f1 has a GID of it",
		       "device rocep27s0f1 port 1: asked for" } },
	{ "GID index", "mlx5-h100.json", .request = { .gid_index = 2 }, .link = "ens2np0",
	  .device = "mlx5_0", .address = "198.51.100.12", .gid_index = 2, .mtu = 4096,
	  .reasons = { "GID index 2: asked for, IB/RoCE v1" } },
	{ "no such GID index", "mlx5-h100.json", .request = { .gid_index = 9 }, .rc = -ENOENT,
	  .error = "mlx5_0 port 1 has no GID at index 9; it has 0: fe80" },
	{ "no such device", E810, .request = { .link = "ens1f0", .device = "mlx5_7" },
	  .rc = -ENODEV, .error = "there is no RDMA device mlx5_7; there is rocep27s0f0 of ens1f0" },
	{ "no such port", E810,
	  .request = { .link = "ens1f0", .device = "rocep27s0f0", .port = 2 }, .rc = -ENODEV,
	  .error = "RDMA device rocep27s0f0 has no port 2" },
	{ "no such link", E810, .request = { .link = "eth7" }, .rc = -ENODEV,
	  .error = "there is no link eth7" },
	/* --- what stands against it --- */
	{ "no device of the bond", "e810-b300-bond-in-tree.json",
	  .request = { .peer_address = "198.51.100.21" }, .rc = -ENODEV,
	  .error = "no RDMA device belongs to bond1: this host has none" },
	{ "route by a link without RDMA", E810, .request = { .peer_address = "192.0.2.21" },
	  .rc = -ENODEV,
	  .error = "no RDMA device belongs to bond0; there is rocep27s0f0 of ens1f0, rocep27s0f1 "
		   "of ens1f1" },
	{ "no route", "mlx5-h100.json", .request = { .peer_address = "203.0.113.1" },
	  .rc = -ENETUNREACH, .error = "no route leads to 203.0.113.1" },
	{ "only link-local GIDs", E810,
	  .changes = { { GIDS, "[{'index': 0, 'gid': 'fe80::1', 'type': 'RoCE v2', 'link': "
			       "'ens1f0'}]" } },
	  .request = { .peer_address = "198.51.100.21" }, .rc = -EADDRNOTAVAIL,
	  .error = "has only link-local GIDs, none of 198.51.100.11" },
	{ "RoCE v1 only", E810,
	  .changes = { { GIDS, "[{'index': 1, 'gid': '::ffff:198.51.100.11', 'type': 'IB/RoCE "
			       "v1', 'link': 'ens1f0'}]" } },
	  .request = { .peer_address = "198.51.100.21" }, .rc = -EPROTONOSUPPORT,
	  .error = "as RoCE v1 only, which is not routed" },
	{ "empty GID table", E810, .changes = { { GIDS, "[]" } },
	  .request = { .peer_address = "198.51.100.21" }, .rc = -EADDRNOTAVAIL,
	  .error = "the GID table of rocep27s0f0 port 1 is empty" },
	{ "GIDs of other addresses", E810,
	  .changes = { { GIDS, "[{'index': 0, 'gid': 'fe80::1', 'type': 'RoCE v2'}, {'index': 1, "
			       "'gid': '::ffff:198.51.100.99', 'type': 'RoCE v2'}]" } },
	  .request = { .peer_address = "198.51.100.21" }, .rc = -EADDRNOTAVAIL,
	  .error = "none of the 2 GIDs of rocep27s0f0 port 1 is of 198.51.100.11" },
	{ "port down", E810, .changes = { { "/rdma/devices/rocep27s0f0/ports/1/state", "'DOWN'" } },
	  .request = { .peer_address = "198.51.100.21" }, .rc = -ENETDOWN,
	  .error = "port 1 of rocep27s0f0 is DOWN, not ACTIVE" },
	{ "iWARP", E810, .changes = { { "/rdma/devices/rocep27s0f0/protocol", "'iwarp'" } },
	  .request = { .peer_address = "198.51.100.21" }, .rc = -EPROTONOSUPPORT,
	  .error = "rocep27s0f0 speaks iWARP, not RoCE" },
	{ "no address on the link", E810, .changes = { { "/links/ens1f0/addresses", "[]" } },
	  .request = { .link = "ens1f0" }, .rc = -EADDRNOTAVAIL,
	  .error = "ens1f0 has no address that another host can route to" },
	{ "no address of the family", E810, .request = { .link = "ens1f0", .peer_address = "fd00::1" },
	  .rc = -EADDRNOTAVAIL, .error = "ens1f0 has no IPv6 address" },
	{ "the peer is this host", E810, .request = { .peer_address = "198.51.100.11" },
	  .rc = -EINVAL, .error = "198.51.100.11 is an address of this host (ens1f0)" },
	{ "no address at all", E810, .request = { .peer_address = "gpu-node-02" }, .rc = -EINVAL,
	  .error = "'gpu-node-02' is no address" },
	{ "several links, no peer", E810, .rc = -EINVAL,
	  .error = "several links have an address and an RDMA device (ens1f0, ens1f1)" },
	{ "nothing", "bare.json", .rc = -ENODEV, .error = "no link has both an address and an RDMA" },
};

static bool told(char **reasons, const char *text)
{
	for (; *reasons; reasons++) {
		if (strstr(*reasons, text))
			return true;
	}
	return false;
}

static void check_path(const struct row *row, const struct path *path, json_t *snapshot)
{
	json_t *device = json_at(snapshot, "/rdma/devices/%s", path->device);
	const char *pci = json_get_string(device, "parent_device", NULL);

	assert_string_equal(path->link, row->link);
	assert_string_equal(path->device, row->device);
	assert_string_equal(path->address, row->address);
	assert_int_equal(path->port, 1);
	assert_int_equal(path->gid_index, row->gid_index);
	assert_int_equal(path->mtu_bytes, row->mtu);
	assert_string_equal(path->pci, pci);
	assert_int_equal(path->numa_node, json_get_int(json_at(snapshot, "/pci/devices/%s", pci),
						       "numa_node", -1));
	for (size_t i = 0; i < ARRAY_SIZE(row->reasons) && row->reasons[i]; i++) {
		if (told(path->reasons, row->reasons[i]))
			continue;
		for (char **r = path->reasons; *r; r++)
			print_error("  %s\n", *r);
		fail_msg("%s: no line has \"%s\"", row->name, row->reasons[i]);
	}
}

static void choose(void **state)
{
	const struct row *row = *state;
	_cleanup_free_ char *at = xasprintf(SNAPSHOTS "%s", row->snapshot);
	_cleanup_json_ json_t *snapshot = json_load_file(at, 0, NULL);
	_cleanup_site_ struct site *site = NULL;
	_cleanup_error_ struct error err = {0};
	struct path_request request = row->request;
	struct path path;

	assert_non_null(snapshot);
	for (size_t i = 0; i < ARRAY_SIZE(row->changes) && row->changes[i].pointer; i++)
		scene_set(snapshot, row->changes[i].pointer, row->changes[i].value);
	if (row->site) {
		_cleanup_free_ char *file = xasprintf(SITES "%s", row->site);

		if (site_load(&site, file, &err) < 0)
			fail_msg("%s", error_text(&err));
		request.site = site;
		request.node = site_node_find(site, row->node);
		assert_non_null(request.node);
	}
	request.snapshot = snapshot;
	request.gid_index = request.gid_index ? request.gid_index : -1;

	int rc = path_choose(&path, &request, &err);
	if (rc != row->rc)
		fail_msg("%s: %d, not %d: %s", row->name, rc, row->rc, error_text(&err));
	if (!rc)
		check_path(row, &path, snapshot);
	else if (!strstr(error_text(&err), row->error))
		fail_msg("%s: \"%s\" is not in \"%s\"", row->name, row->error, error_text(&err));
	else
		assert_null(path.link);
	path_clear(&path);
}

int main(void)
{
	struct CMUnitTest tests[ARRAY_SIZE(rows)];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		tests[i] = (struct CMUnitTest){
			.name = rows[i].name,
			.test_func = choose,
			.initial_state = (void *)(uintptr_t)&rows[i],
		};
	return cmocka_run_group_tests_name("path", tests, NULL, NULL);
}
