/* SPDX-License-Identifier: Apache-2.0 */
/* The schema table: types that are used everywhere, and the keys of a node. */
#include "site/schema.h"

#include "site/kubernetes_name.h"

#define NUMBER(low, high) \
	.kind = SCHEMA_NUMBER, .convert = schema_convert_decimal, .min = low, .max = high
#define WORDS(...) .kind = SCHEMA_WORD, .words = (const char *const[]){ __VA_ARGS__, NULL }

static const struct schema_type link_name = {
	.kind = SCHEMA_TEXT, .what = "a link name", .check = schema_check_link };
const struct schema_type schema_node_name = {
	.kind = SCHEMA_TEXT, .what = "a node name", .check = schema_check_name };
static const struct schema_type profile_name = {
	.kind = SCHEMA_TEXT, .what = "a profile name", .check = schema_check_name };
const struct schema_type schema_any_text = { .kind = SCHEMA_TEXT, .what = "text" };
const struct schema_type schema_version = {
	.kind = SCHEMA_TEXT, .what = "a version", .check = schema_check_version };
static const struct schema_type word = {
	.kind = SCHEMA_TEXT, .what = "a name without white space", .check = schema_check_word };
static const struct schema_type prefix = {
	.kind = SCHEMA_TEXT, .what = "an address with its prefix length",
	.check = schema_check_prefix };
static const struct schema_type ip_address = {
	.kind = SCHEMA_TEXT, .what = "an address", .check = schema_check_ip };
const struct schema_type schema_image = {
	.kind = SCHEMA_TEXT, .what = "an image with its registry and tag or digest",
	.check = schema_check_image };
const struct schema_type schema_truth = { .kind = SCHEMA_TRUTH, .what = "true or false" };
const struct schema_type schema_speed = {
	.kind = SCHEMA_NUMBER, .what = "a speed with its unit, like 100G or 25000M",
	.convert = schema_convert_speed, .min = 10, .max = 10000000 };
/* IPv6 needs 1280, IPv4 68; 65536 is the kernel's loopback and larger than any NIC */
const struct schema_type schema_mtu = {
	NUMBER(68, 65536), .what = "an MTU in bytes (68 to 65536)" };
const struct schema_type schema_dscp = {
	NUMBER(0, 63), .what = "a DSCP from 0 to 63",
	.range_hint = "the DSCP is the upper six bits of the IP ToS byte: ToS 96 is DSCP 24" };
const struct schema_type schema_priority = { NUMBER(0, 7), .what = "a priority from 0 to 7" };
const struct schema_type schema_traffic_class = {
	NUMBER(0, 7), .what = "a traffic class from 0 to 7",
	.range_hint = "this is the queue group of the port, not the IP ToS byte" };
const struct schema_type schema_percent = {
	.kind = SCHEMA_NUMBER, .what = "a share from 0% to 100%", .convert = schema_convert_percent,
	.min = 0, .max = 100 };
const struct schema_type schema_texts = {
	.kind = SCHEMA_LIST, .what = "a list of texts", .item = &schema_any_text };
static const struct schema_type prefixes = {
	.kind = SCHEMA_LIST, .what = "a list of addresses with prefix length",
	.item = &prefix };
const struct schema_type schema_priority_to_tc = {
	.kind = SCHEMA_EIGHT, .what = "a map from priority to traffic class",
	.item = &schema_traffic_class };
const struct schema_type schema_tc_to_percent = {
	.kind = SCHEMA_EIGHT, .what = "a map from traffic class to its share",
	.item = &schema_percent };
const struct schema_type schema_lacp_rate = { WORDS("slow", "fast"), .what = "a LACP rate" };
static const struct schema_type tcp_port = { NUMBER(1, 65535), .what = "a port number" };

static const struct schema_type bdf = {
	.kind = SCHEMA_TEXT, .what = "a PCI address", .check = schema_check_bdf };
static const struct schema_type pci_id = {
	.kind = SCHEMA_TEXT, .what = "a PCI id", .check = schema_check_pci_id };
static const struct schema_type link_names = {
	.kind = SCHEMA_LIST, .what = "a list of link names", .item = &link_name };

static const struct schema_type route_target = {
	.kind = SCHEMA_TEXT, .what = "a network with its prefix length",
	.check = schema_check_prefix };
static const struct schema_key route_keys[] = {
	{ "to", &route_target, "destination, `0.0.0.0/0` is the default route", SCHEMA_UNBOUND,
	  .required = true },
	{ "via", &ip_address, "next hop", SCHEMA_UNBOUND, .required = true },
	{0}
};
static const struct schema_type route = {
	.kind = SCHEMA_OBJECT, .what = "a map with the keys of a route",
	.title = "A route: `routes`", .keys = route_keys };
static const struct schema_type routes = {
	.kind = SCHEMA_LIST, .what = "a list of routes", .item = &route };
static const struct schema_type ip_addresses = {
	.kind = SCHEMA_LIST, .what = "a list of addresses", .item = &ip_address };

static const struct schema_key link_keys[] = {
	{ "pci", &bdf, "PCI address of the port", offsetof(struct site_link, pci) },
	{ "driver", &schema_any_text, "kernel driver that must be bound: `ice`, `mlx5_core`, …",
	  offsetof(struct site_link, driver) },
	{ "firmware", &schema_any_text,
	  "beginning of the firmware version: devlink `fw.bundle_id` or `fw.mgmt`, or ethtool's",
	  offsetof(struct site_link, firmware) },
	{ "ddp", &schema_any_text, "name of the DDP package (devlink `fw.app.name`)",
	  offsetof(struct site_link, ddp) },
	{ "speed", &schema_speed, "speed of the port", offsetof(struct site_link, speed_mbps) },
	{ "mtu", &schema_mtu, "MTU of the link", offsetof(struct site_link, mtu) },
	{ "addresses", &prefixes, "addresses of the link",
	  offsetof(struct site_link, addresses) },
	{ "gateway", &ip_address, "default gateway", SCHEMA_UNBOUND },
	{ "routes", &routes, "routes by this link", SCHEMA_UNBOUND },
	{ "switch", &word, "switch at the other end of the cable", SCHEMA_UNBOUND },
	{ "switch_port", &word, "its port, as the switch names it: `Ethernet12`, `swp3`",
	  SCHEMA_UNBOUND },
	{0}
};
static const struct schema_type link = {
	.kind = SCHEMA_OBJECT, .what = "a map with the keys of a link",
	.title = "A link: `links/LINK`",
	.text = "A physical port. `{}` declares that it exists and no more.", .keys = link_keys };
static const struct schema_type links = {
	.kind = SCHEMA_TABLE, .what = "a map of links by name", .name = &link_name,
	.item = &link,
	.size = sizeof(struct site_link), .name_at = offsetof(struct site_link, name) };

/* drivers/net/bonding/bond_options.c: the kernel's names */
static const struct schema_type bond_mode = {
	WORDS("802.3ad", "active-backup", "balance-rr", "balance-xor", "broadcast", "balance-tlb",
	      "balance-alb"),
	.what = "a bond mode" };
static const struct schema_type hash_policy = {
	WORDS("layer2", "layer2+3", "layer3+4", "encap2+3", "encap3+4", "vlan+srcmac"),
	.what = "a transmit hash policy" };
/* SONiC has four digits (sonic-portchannel.yang) */
const struct schema_type schema_port_channel = {
	NUMBER(1, 9999), .what = "a port channel from 1 to 9999" };
static const struct schema_key bond_keys[] = {
	{ "mode", &bond_mode, "bond mode, as the kernel spells it",
	  offsetof(struct site_bond, mode),
	  .required = true },
	{ "ports", &link_names, "declared links below it, in enslave order",
	  offsetof(struct site_bond, ports), .required = true },
	{ "lacp_rate", &schema_lacp_rate, "LACPDU rate, of mode 802.3ad",
	  offsetof(struct site_bond, lacp_rate) },
	{ "xmit_hash_policy", &hash_policy, "how a port is chosen for a packet",
	  offsetof(struct site_bond, xmit_hash_policy) },
	{ "mtu", &schema_mtu, "MTU of the bond", offsetof(struct site_bond, mtu) },
	{ "port_channel", &schema_port_channel,
	  "number of the port channel on the switch, and of its MLAG, vPC or VLT",
	  SCHEMA_UNBOUND, .fallback_text = "counted from `switch/port_channel_first`" },
	{ "addresses", &prefixes, "addresses of the bond",
	  offsetof(struct site_bond, addresses) },
	{ "gateway", &ip_address, "default gateway", SCHEMA_UNBOUND },
	{ "routes", &routes, "routes by this link", SCHEMA_UNBOUND },
	{0}
};
static const struct schema_type bond = {
	.kind = SCHEMA_OBJECT, .what = "a map with the keys of a bond",
	.title = "A bond: `bonds/LINK`",
	.keys = bond_keys };
static const struct schema_type bonds = {
	.kind = SCHEMA_TABLE, .what = "a map of bonds by name", .name = &link_name,
	.item = &bond,
	.size = sizeof(struct site_bond), .name_at = offsetof(struct site_bond, name) };

const struct schema_type schema_vlan_id = { NUMBER(1, 4094), .what = "a VLAN id from 1 to 4094" };
static const struct schema_type egress = {
	.kind = SCHEMA_EIGHT, .what = "a map from kernel priority to PCP",
	.item = &schema_priority };
static const struct schema_key vlan_keys[] = {
	{ "link", &link_name, "declared link, bond or VLAN below it",
	  offsetof(struct site_vlan, link), .required = true },
	{ "id", &schema_vlan_id, "VLAN id", offsetof(struct site_vlan, id), .required = true },
	{ "mtu", &schema_mtu, "MTU of the VLAN link", offsetof(struct site_vlan, mtu) },
	{ "addresses", &prefixes, "addresses of the VLAN link",
	  offsetof(struct site_vlan, addresses) },
	{ "gateway", &ip_address, "default gateway", SCHEMA_UNBOUND },
	{ "routes", &routes, "routes by this link", SCHEMA_UNBOUND },
	{ "egress", &egress, "egress map: kernel priority → PCP in the VLAN tag",
	  offsetof(struct site_vlan, egress) },
	{0}
};
static const struct schema_type vlan = {
	.kind = SCHEMA_OBJECT, .what = "a map with the keys of a VLAN",
	.title = "A VLAN: `vlans/LINK`",
	.keys = vlan_keys };
static const struct schema_type vlans = {
	.kind = SCHEMA_TABLE, .what = "a map of VLANs by name", .name = &link_name,
	.item = &vlan,
	.size = sizeof(struct site_vlan), .name_at = offsetof(struct site_vlan, name) };

static const struct schema_type protocol = { WORDS("roce", "iwarp"), .what = "an RDMA protocol" };
static const struct schema_type roce_mtu = {
	.kind = SCHEMA_NUMBER, .what = "a RoCE MTU: 256, 512, 1024, 2048 or 4096",
	.convert = schema_convert_roce_mtu, .min = 256, .max = 4096 };
static const struct schema_key rdma_keys[] = {
	{ "device", &schema_any_text, "name of the RDMA device", offsetof(struct site_rdma, device),
	  .fallback_text = "the one that belongs to the link" },
	{ "address", &ip_address, "address whose GID is used", offsetof(struct site_rdma, address),
	  .fallback_text = "first address of the link" },
	{ "protocol", &protocol, "RDMA protocol that the port must speak",
	  offsetof(struct site_rdma, protocol), .fallback = "roce" },
	{ "rail", &schema_any_text, "ports of one rail talk to each other across nodes",
	  offsetof(struct site_rdma, rail) },
	{ "roce_mtu", &roce_mtu, "active MTU in bytes", offsetof(struct site_rdma, roce_mtu) },
	{0}
};
static const struct schema_type rdma_port = {
	.kind = SCHEMA_OBJECT, .what = "a map with the keys of an RDMA port",
	.title = "An RDMA port: `rdma/LINK`",
	.text = "LINK is the declared link, bond or VLAN that carries the address. "
		"`{}` takes all defaults.",
	.keys = rdma_keys };
static const struct schema_type rdma = {
	.kind = SCHEMA_TABLE, .what = "a map of RDMA ports by link", .name = &link_name,
	.item = &rdma_port, .size = sizeof(struct site_rdma),
	.name_at = offsetof(struct site_rdma, link) };

static const struct schema_type gpu_count = { NUMBER(1, 1024), .what = "a number of GPUs" };
static const struct schema_key gpu_keys[] = {
	{ "pci_id", &pci_id, "vendor and device: `10de:3182` is a B300 SXM6",
	  offsetof(struct site_gpu, pci_id) },
	{ "count", &gpu_count, "how many the node has", offsetof(struct site_gpu, count),
	  .required = true },
	{ "driver_min", &schema_version, "lowest driver version",
	  offsetof(struct site_gpu, driver_min) },
	{ "driver_max", &schema_version, "highest driver version",
	  offsetof(struct site_gpu, driver_max) },
	{0}
};
static const struct schema_type gpu = {
	.kind = SCHEMA_OBJECT, .what = "a map with the keys of a GPU model",
	.title = "A GPU model: `gpus/MODEL`",
	.keys = gpu_keys };
static const struct schema_type gpus = {
	.kind = SCHEMA_TABLE, .what = "a map of GPUs by model", .name = &schema_any_text,
	.item = &gpu,
	.size = sizeof(struct site_gpu), .name_at = offsetof(struct site_gpu, model) };

static const struct schema_key os_keys[] = {
	{ "id", &word, "`ID` of os-release: `rhel`, `debian`",
	  offsetof(struct site_node, os_id) },
	{ "version", &schema_version, "`VERSION_ID` of os-release",
	  offsetof(struct site_node, os_version) },
	{0}
};
static const struct schema_type os = {
	.kind = SCHEMA_OBJECT, .what = "a map with the keys of an operating system",
	.title = "The system: `os`",
	.keys = os_keys };

static const struct schema_key ssh_keys[] = {
	{ "address", &word, "host name or address", SCHEMA_UNBOUND },
	{ "user", &word, "login", SCHEMA_UNBOUND },
	{ "port", &tcp_port, "TCP port", SCHEMA_UNBOUND },
	{0}
};
static const struct schema_type ssh = {
	.kind = SCHEMA_OBJECT, .what = "a map with the keys of an ssh login",
	.title = "A login: `ssh`",
	.keys = ssh_keys };

static const struct schema_type role = { WORDS("gpu", "storage", "client"), .what = "a role" };
static const struct schema_type roles = {
	.kind = SCHEMA_ROLES, .what = "a list of roles", .item = &role };
static const struct schema_type kernel = {
	.kind = SCHEMA_TEXT, .what = "a pattern of kernel releases",
	.check = schema_check_kernel };
static const struct schema_type memlock = {
	.kind = SCHEMA_NUMBER, .what = "unlimited, or a size like 64KiB or 1GiB",
	.convert = schema_convert_memlock, .min = -1, .max = INT64_MAX };
static const struct schema_type netns = {
	WORDS("shared", "exclusive"), .what = "an RDMA netns mode" };
static const struct schema_type label_name = {
	.kind = SCHEMA_TEXT, .what = "a label name", .check = schema_check_label_name };
static const struct schema_type label_value = {
	.kind = SCHEMA_TEXT, .what = "a label value", .check = schema_check_label_value };
static const struct schema_type labels = {
	.kind = SCHEMA_TABLE, .what = "a map of labels", .name = &label_name,
	.item = &label_value };
static const struct schema_type taint = {
	.kind = SCHEMA_TEXT, .what = "a taint", .check = schema_check_taint };
static const struct schema_type taints = {
	.kind = SCHEMA_LIST, .what = "a list of taints", .item = &taint };

static const struct schema_type driver_source = {
	WORDS("inbox", "out-of-tree"), .what = "where a driver comes from" };
static const struct schema_key driver_keys[] = {
	{ "source", &driver_source,
	  "`inbox`: of the distribution's kernel; `out-of-tree`: built from the vendor's source",
	  offsetof(struct site_driver, source), .fallback = "inbox" },
	{ "version", &schema_version, "version of an out-of-tree driver",
	  offsetof(struct site_driver, version) },
	{0}
};
static const struct schema_type driver = {
	.kind = SCHEMA_OBJECT, .what = "a map with the keys of a driver",
	.title = "A driver: `drivers/DRIVER`",
	.text = "A driver that is not named here is taken as inbox.", .keys = driver_keys };
static const struct schema_type drivers = {
	.kind = SCHEMA_TABLE, .what = "a map of drivers by name", .name = &word, .item = &driver,
	.size = sizeof(struct site_driver), .name_at = offsetof(struct site_driver, name) };

static const struct schema_key node_keys[] = {
	{ "roles", &roles, "`gpu`, `storage`, `client`", offsetof(struct site_node, roles),
	  .fallback_text = "[gpu] with GPUs, else [client]" },
	{ "os", &os, "operating system", 0 },
	{ "kernel", &kernel, "shell pattern of `uname -r`: `6.12.0-*.el10_2.x86_64`",
	  offsetof(struct site_node, kernel) },
	{ "rdma_core_min", &schema_version, "lowest rdma-core version",
	  offsetof(struct site_node, rdma_core_min) },
	{ "memlock", &memlock, "lowest accepted limit of locked memory",
	  offsetof(struct site_node, memlock_bytes) },
	{ "rdma_netns", &netns, "mode of RDMA network namespaces",
	  offsetof(struct site_node, rdma_netns) },
	{ "links", &links, "physical ports by name", offsetof(struct site_node, links),
	  offsetof(struct site_node, n_links) },
	{ "bonds", &bonds, "bonds by name", offsetof(struct site_node, bonds),
	  offsetof(struct site_node, n_bonds) },
	{ "vlans", &vlans, "VLAN links by name", offsetof(struct site_node, vlans),
	  offsetof(struct site_node, n_vlans) },
	{ "rdma", &rdma, "RDMA ports by the link that carries their address",
	  offsetof(struct site_node, rdma), offsetof(struct site_node, n_rdma) },
	{ "gpus", &gpus, "GPUs by model", offsetof(struct site_node, gpus),
	  offsetof(struct site_node, n_gpus) },
	{ "drivers", &drivers, "kernel drivers by name: `ice`, `irdma`, `mlx5_core`",
	  offsetof(struct site_node, drivers), offsetof(struct site_node, n_drivers) },
	{ "dns", &ip_addresses, "name servers", SCHEMA_UNBOUND },
	{ "node_ip", &ip_address, "address that Kubernetes uses for the node", SCHEMA_UNBOUND,
	  .fallback_text = "`ssh/address` when that is an address" },
	{ "kube_node", &schema_truth, "true: a worker of the cluster", SCHEMA_UNBOUND,
	  .fallback_text = "true, but false for a node that has only the role `storage`" },
	{ "ssh", &ssh, "how to reach the node", SCHEMA_UNBOUND },
	{ "labels", &labels, "Kubernetes node labels", SCHEMA_UNBOUND },
	{ "taints", &taints, "Kubernetes node taints, `key=value:effect`", SCHEMA_UNBOUND },
	{0}
};
const struct schema_type schema_node_keys = {
	.kind = SCHEMA_OBJECT, .what = "a map with the keys of a node",
	.title = "Keys of a node: `defaults`, `profiles/NAME`, `nodes/NAME`",
	.text = "What a node does not declare, its profile does, then the profile that this one "
		"extends, then `defaults`. "
		"Maps are merged key by key; lists and values replace.",
	.keys = node_keys };

static const struct schema_key node_only_keys[] = {
	{ "profile", &profile_name, "profile that supplies what the node does not declare",
	  SCHEMA_UNBOUND },
	{0}
};
const struct schema_type schema_node = {
	.kind = SCHEMA_OBJECT, .what = "a map with the keys of a node",
	.title = "A node: `nodes/NAME`",
	.text = "NAME is the host name. Besides the keys of a node:",
	.keys = node_only_keys, .also = &schema_node_keys };

static const struct schema_key profile_only_keys[] = {
	{ "extends", &profile_name, "profile that supplies what this one does not declare",
	  SCHEMA_UNBOUND },
	{0}
};
const struct schema_type schema_profile = {
	.kind = SCHEMA_OBJECT, .what = "a map with the keys of a profile",
	.title = "A profile: `profiles/NAME`",
	.text = "Besides the keys of a node:", .keys = profile_only_keys,
	.also = &schema_node_keys };
