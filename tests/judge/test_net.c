/* SPDX-License-Identifier: Apache-2.0 */
/* net.bond, net.address, net.mtu: each cause, and the healthy forms. */
#include <string.h>

#include "bench.h"
#include "judge/net.h"

static void declare_no_ports(struct bench *b)
{
	b->bond.ports = NULL;
}

static void declare_slow_port(struct bench *b)
{
	b->links[0].speed_mbps.value = 200000;
}

static void declare_third_port(struct bench *b)
{
	b->bond_ports[1] = NULL;
}

static void declare_other_policy(struct bench *b)
{
	b->bond.xmit_hash_policy = TEXT("layer2");
}

static void declare_slow_rate(struct bench *b)
{
	b->bond.lacp_rate = TEXT("slow");
}

static void declare_backup(struct bench *b)
{
	b->bond.mode = TEXT("active-backup");
	b->bond.xmit_hash_policy = b->bond.lacp_rate = NULL;
}

static void declare_vlan(struct bench *b)
{
	b->vlan.name = TEXT("bond1.100");
	b->vlan.link = TEXT("bond1");
	b->vlan.mtu = (struct site_number){ true, 9000 };
	b->s->nodes[0].vlans = &b->vlan;
	b->s->nodes[0].n_vlans = 1;
	b->s->ports[0].link = TEXT("bond1.100");
}

static void declare_one_subnet(struct bench *b)
{
	b->addresses[1][0] = TEXT("198.51.100.12/24");
	b->s->ports[1].address = TEXT("198.51.100.12");
}

static void declare_nothing(struct bench *b)
{
	b->links[0].addresses = b->links[1].addresses = NULL;
	b->s->ports[0].address = b->s->ports[1].address = NULL;
}

static struct site_rdma peer_port = { .link = TEXT("ens1f0"),
				      .rail = TEXT("rail0"),
				      .address = TEXT("198.51.100.21") };

static void declare_peer(struct bench *b)
{
	b->s->nodes[1].rdma = &peer_port;
	b->s->nodes[1].n_rdma = 1;
}

static void peer_with_mtu_1500(struct bench *b)
{
	declare_peer(b);
	b->s->snapshots[1] = json_deep_copy(b->s->snapshots[0]);
	scene_set(b->s->snapshots[1], "/links/ens1f0/mtu", "1500");
}

#define PORT0 "/links/ens1f0/bond_port/"
#define PORT1 "/links/ens1f1/bond_port/"
#define SAFE_MODE                                                                                 \
	"[{'time_us': 1, 'level': 3, 'text': 'ice 0000:1b:00.0: Direct firmware load for "        \
	"intel/ice/ddp/ice.pkg failed with error -2'}, {'time_us': 2, 'level': 3, 'text': 'ice "  \
	"0000:1b:00.0: The "                                                                      \
	"DDP package file was not found or could not be read. Entering Safe Mode'}, {'time_us': " \
	"3, 'level': 3, "                                                                         \
	"'text': 'ice 0000:1b:00.1: The DDP package file was not found or could not be read. "    \
	"Entering Safe Mode'}]"
#define NO_PARTNER "/links/bond1/bond/aggregator/partner_mac", "'00:00:00:00:00:00'"

#define BOND .gate = "net.bond", .subject = "bond1"
#define ADDRESS .base = BASE_RAILS, .gate = "net.address"
#define MTU .base = BASE_RXE, .gate = "net.mtu"

static const struct bench_row rows[] = {
	/* --- net.bond --- */
	{ .name = "bond: not there",
	  BOND,
	  .status = VERDICT_FAIL,
	  .base = BASE_RXE,
	  .changes = { { "/links/bond1", NULL } },
	  .cause = "bond-missing" },
	{ .name = "bond: links not observed",
	  BOND,
	  .base = BASE_RXE,
	  .changes = { { "/links", NULL } },
	  .status = VERDICT_UNKNOWN },
	{ .name = "bond: a bridge of that name",
	  BOND,
	  .status = VERDICT_FAIL,
	  .base = BASE_RXE,
	  .changes = { { "/links/bond1/kind", "'bridge'" }, { "/links/bond1/bond", NULL } },
	  .cause = "not-a-bond" },
	{ .name = "bond: without ports, and none declared",
	  BOND,
	  .status = VERDICT_FAIL,
	  .base = BASE_RXE,
	  .site = declare_no_ports,
	  .changes = { { "/links/ens1f0/master", NULL }, { "/links/ens1f1/master", NULL } },
	  .cause = "bond-no-ports" },
	{ .name = "bond: wrong mode",
	  BOND,
	  .status = VERDICT_FAIL,
	  .base = BASE_RXE,
	  .changes = { { "/links/bond1/bond/mode", "'active-backup'" } },
	  .cause = "bond-mode",
	  .text = "active-backup, declared is 802.3ad" },
	{ .name = "bond: port set down",
	  BOND,
	  .status = VERDICT_FAIL,
	  .base = BASE_RXE,
	  .changes = { { "/links/ens1f0/up", "false" }, { "/links/ens1f0/carrier", "false" } },
	  .cause = "port-admin-down",
	  .text = "ens1f0",
	  .not_cause = "port-no-carrier" },
	{ .name = "bond: port without carrier",
	  BOND,
	  .status = VERDICT_FAIL,
	  .base = BASE_RXE,
	  .changes = { { "/links/ens1f1/carrier", "false" },
		       { "/links/ens1f1/ethtool/speed_mbps", "-1" },
		       { PORT1 "aggregator_id", "2" } },
	  .cause = "port-no-carrier",
	  .text = "ens1f1",
	  .not_cause = "port-speed-unknown" },
	{ .name = "bond: port held down by the monitor",
	  BOND,
	  .status = VERDICT_FAIL,
	  .base = BASE_RXE,
	  .changes = { { PORT0 "mii", "'down'" } },
	  .cause = "port-mii-down" },
	{ .name = "bond: port coming up",
	  BOND,
	  .base = BASE_RXE,
	  .status = VERDICT_WARN,
	  .changes = { { PORT0 "mii", "'back'" } },
	  .cause = "port-changing" },
	{ .name = "bond: port missing",
	  BOND,
	  .status = VERDICT_FAIL,
	  .base = BASE_RXE,
	  .changes = { { "/links/ens1f1", NULL } },
	  .cause = "port-missing",
	  .explained_by = "nic.driver (ens1f1)" },
	{ .name = "bond: port not in it",
	  BOND,
	  .status = VERDICT_FAIL,
	  .base = BASE_RXE,
	  .changes = { { "/links/ens1f1/master", NULL } },
	  .cause = "port-not-in-bond",
	  .text = "is in no bond" },
	{ .name = "bond: port in another",
	  BOND,
	  .status = VERDICT_FAIL,
	  .base = BASE_RXE,
	  .changes = { { "/links/ens1f1/master", "'bond0'" } },
	  .cause = "port-not-in-bond",
	  .text = "belongs to bond0" },
	{ .name = "bond: port not declared",
	  BOND,
	  .base = BASE_RXE,
	  .status = VERDICT_WARN,
	  .site = declare_third_port,
	  .cause = "port-not-declared",
	  .text = "ens1f1" },
	{ .name = "bond: speed not known",
	  BOND,
	  .status = VERDICT_FAIL,
	  .base = BASE_RXE,
	  .changes = { { "/links/ens1f0/ethtool/speed_mbps", "-1" },
		       { PORT0 "actor_state", "69" } },
	  .cause = "port-speed-unknown",
	  .not_cause = "lacp-port-silent" },
	{ .name = "bond: half duplex",
	  BOND,
	  .status = VERDICT_FAIL,
	  .base = BASE_RXE,
	  .changes = { { "/links/ens1f0/ethtool/duplex", "'half'" } },
	  .cause = "port-half-duplex" },
	{ .name = "bond: slower than declared",
	  BOND,
	  .status = VERDICT_FAIL,
	  .base = BASE_BOND,
	  .site = declare_slow_port,
	  .cause = "port-speed-low" },
	{ .name = "bond: no partner",
	  BOND,
	  .status = VERDICT_FAIL,
	  .base = BASE_RXE,
	  .changes = { { NO_PARTNER },
		       { PORT0 "actor_state", "69" },
		       { PORT1 "actor_state", "69" },
		       { PORT1 "aggregator_id", "2" } },
	  .cause = "lacp-no-partner",
	  .candidate = "lacp-off-on-switch",
	  .not_cause = "port-other-aggregator" },
	{ .name = "bond: no partner, states not observed",
	  BOND,
	  .status = VERDICT_FAIL,
	  .base = BASE_RXE,
	  .changes = { { NO_PARTNER },
		       { PORT0 "actor_state", NULL },
		       { PORT1 "actor_state", NULL },
		       { PORT0 "partner_mac", "'00:00:00:00:00:00'" },
		       { PORT1 "partner_mac", NULL } },
	  .cause = "lacp-no-partner" },
	{ .name = "bond: both sides passive",
	  BOND,
	  .status = VERDICT_FAIL,
	  .base = BASE_RXE,
	  .changes = { { NO_PARTNER },
		       { PORT0 "actor_state", "68" },
		       { PORT1 "actor_state", "68" },
		       { "/links/bond1/bond/lacp_active", "false" } },
	  .cause = "lacp-no-partner",
	  .candidate = "lacp-both-passive" },
	{ .name = "bond: one port silent",
	  BOND,
	  .status = VERDICT_FAIL,
	  .base = BASE_RXE,
	  .changes = { { PORT1 "actor_state", "69" }, { PORT1 "aggregator_id", "2" } },
	  .cause = "lacp-port-silent",
	  .text = "ens1f1",
	  .not_cause = "port-other-aggregator" },
	{ .name = "bond: no partner because of Safe Mode",
	  BOND,
	  .status = VERDICT_FAIL,
	  .base = BASE_BOND,
	  .changes = { { NO_PARTNER },
		       { PORT0 "actor_state", "69" },
		       { PORT1 "actor_state", "69" },
		       { "/os/log/lines", SAFE_MODE },
		       { "/devlink/pci/0000:1b:00.0/versions/running", "{}" },
		       { "/devlink/pci/0000:1b:00.1/versions/running", "{}" } },
	  .cause = "nic-safe-mode",
	  .explained_by = "nic.firmware (ens1f0)",
	  .not_cause = "lacp-no-partner" },
	{ .name = "bond: partner fell silent",
	  BOND,
	  .status = VERDICT_FAIL,
	  .base = BASE_RXE,
	  .changes = { { PORT0 "actor_state", "143" } },
	  .cause = "lacp-partner-silent",
	  .text = "ens1f0" },
	{ .name = "bond: other aggregator, churned",
	  BOND,
	  .status = VERDICT_FAIL,
	  .base = BASE_RXE,
	  .changes = { { PORT0 "aggregator_id", "2" }, { PORT0 "actor_churn", "'churned'" } },
	  .cause = "port-other-aggregator",
	  .text = "in aggregator 2, the active one of bond1 is 1, and has churned: 1 of 2",
	  .not_cause = "lacp-no-partner" },
	{ .name = "bond: other aggregator by speed",
	  BOND,
	  .status = VERDICT_FAIL,
	  .base = BASE_RXE,
	  .changes = { { PORT0 "aggregator_id", "2" },
		       { "/links/ens1f0/ethtool/speed_mbps", "1000" } },
	  .cause = "port-speed-mismatch",
	  .not_cause = "port-other-aggregator" },
	{ .name = "bond: two partners",
	  BOND,
	  .status = VERDICT_FAIL,
	  .base = BASE_RXE,
	  .changes = { { PORT0 "aggregator_id", "2" },
		       { PORT0 "partner_mac", "'00:00:5e:00:01:02'" } },
	  .cause = "lacp-two-partners" },
	{ .name = "bond: two channel groups",
	  BOND,
	  .status = VERDICT_FAIL,
	  .base = BASE_RXE,
	  .changes = { { PORT0 "aggregator_id", "2" }, { PORT0 "partner_key", "67" } },
	  .cause = "lacp-partner-key" },
	{ .name = "bond: partner individual",
	  BOND,
	  .status = VERDICT_FAIL,
	  .base = BASE_RXE,
	  .changes = { { PORT0 "partner_state", "1" } },
	  .cause = "lacp-partner-individual" },
	{ .name = "bond: partner not in sync",
	  BOND,
	  .status = VERDICT_FAIL,
	  .base = BASE_RXE,
	  .changes = { { PORT0 "partner_state", "5" } },
	  .cause = "lacp-partner-not-in-sync" },
	{ .name = "bond: not distributing",
	  BOND,
	  .status = VERDICT_FAIL,
	  .base = BASE_RXE,
	  .changes = { { PORT0 "actor_state", "15" } },
	  .cause = "lacp-not-distributing" },
	{ .name = "bond: churned in the aggregator",
	  BOND,
	  .status = VERDICT_FAIL,
	  .base = BASE_RXE,
	  .changes = { { PORT0 "partner_churn", "'churned'" } },
	  .cause = "lacp-churned" },
	{ .name = "bond: set down",
	  BOND,
	  .status = VERDICT_FAIL,
	  .base = BASE_RXE,
	  .changes = { { "/links/bond1/up", "false" } },
	  .cause = "bond-admin-down" },
	{ .name = "bond: below min_links",
	  BOND,
	  .status = VERDICT_FAIL,
	  .base = BASE_RXE,
	  .changes = { { "/links/bond1/bond/min_links", "2" },
		       { "/links/ens1f0/carrier", "false" } },
	  .cause = "bond-min-links" },
	{ .name = "bond: no active port",
	  BOND,
	  .status = VERDICT_FAIL,
	  .base = BASE_RXE,
	  .site = declare_backup,
	  .changes = { { "/links/bond1/bond/mode", "'active-backup'" } },
	  .cause = "bond-no-active-port" },
	{ .name = "bond: no ports",
	  BOND,
	  .status = VERDICT_FAIL,
	  .base = BASE_RXE,
	  .site = declare_third_port,
	  .changes = { { "/links/ens1f0/master", NULL }, { "/links/ens1f1/master", NULL } },
	  .cause = "port-not-in-bond" },
	{ .name = "bond: other LACP rate",
	  BOND,
	  .base = BASE_RXE,
	  .status = VERDICT_WARN,
	  .site = declare_slow_rate,
	  .cause = "lacp-rate" },
	{ .name = "bond: other hash",
	  BOND,
	  .base = BASE_RXE,
	  .status = VERDICT_WARN,
	  .site = declare_other_policy,
	  .cause = "xmit-hash-policy" },
	{ .name = "bond: not monitored",
	  BOND,
	  .base = BASE_RXE,
	  .status = VERDICT_WARN,
	  .changes = { { "/links/bond1/bond/miimon_ms", "0" } },
	  .cause = "bond-no-monitor" },
	{ .name = "bond: healthy, 400G, slow rate, VRRP-like partner",
	  BOND,
	  .base = BASE_RXE,
	  .status = VERDICT_PASS,
	  .site = declare_slow_rate,
	  .changes = { { PORT0 "actor_state", "61" },
		       { PORT1 "actor_state", "61" },
		       { "/links/ens1f0/ethtool/speed_mbps", "400000" },
		       { "/links/ens1f1/ethtool/speed_mbps", "400000" },
		       { "/links/bond1/bond/aggregator/actor_key", "65505" },
		       { "/links/bond1/bond/lacp_rate", "'slow'" } },
	  .text = "2 ports in aggregator 1, partner 00:00:5e:00:01:01" },
	{ .name = "bond: active-backup with an active port",
	  BOND,
	  .base = BASE_RXE,
	  .status = VERDICT_PASS,
	  .site = declare_backup,
	  .changes = { { "/links/bond1/bond/mode", "'active-backup'" },
		       { "/links/bond1/bond/active_port", "'ens1f0'" },
		       { "/links/bond1/bond/aggregator", NULL } },
	  .text = "active-backup, 2 ports up" },
	/* --- net.address --- */
	{ .name = "address: missing",
	  ADDRESS,
	  .status = VERDICT_FAIL,
	  .changes = { { "/links/ens1f0/addresses", "[]" } },
	  .cause = "address-missing",
	  .text = "198.51.100.11/24 is not on ens1f0",
	  .not_cause = "route-missing" },
	{ .name = "address: not observed",
	  ADDRESS,
	  .status = VERDICT_UNKNOWN,
	  .changes = { { "/links/ens1f0/addresses", NULL } } },
	{ .name = "address: on another link",
	  ADDRESS,
	  .status = VERDICT_FAIL,
	  .changes = { { "/links/ens1f0/addresses", "[]" },
		       { "/links/bond0/addresses",
			 "[{'family': 'ipv4', 'address': '198.51.100.11', 'prefix': 24, 'scope': "
			 "'global'}]" } },
	  .cause = "address-on-other-link",
	  .text = "is on bond0, declared is ens1f0" },
	{ .name = "address: on two links",
	  ADDRESS,
	  .status = VERDICT_FAIL,
	  .changes = { { "/links/bond0/addresses",
			 "[{'family': 'ipv4', 'address': '198.51.100.11', 'prefix': 24, 'scope': "
			 "'global'}]" } },
	  .cause = "address-twice" },
	{ .name = "address: other prefix",
	  ADDRESS,
	  .status = VERDICT_FAIL,
	  .changes = { { "/links/ens1f0/addresses",
			 "[{'family': 'ipv4', 'address': '198.51.100.11', 'prefix': 16, 'scope': "
			 "'global'}]" } },
	  .cause = "address-prefix",
	  .text = "prefix /16" },
	{ .name = "address: used twice in the network",
	  ADDRESS,
	  .status = VERDICT_FAIL,
	  .changes = { { "/links/ens1f0/addresses",
			 "[{'family': 'ipv4', 'address': '198.51.100.11', 'prefix': 24, 'scope': "
			 "'global', 'flags': ['dadfailed']}]" } },
	  .cause = "address-duplicate" },
	{ .name = "address: link missing",
	  ADDRESS,
	  .status = VERDICT_FAIL,
	  .changes = { { "/links/ens1f0", NULL } },
	  .cause = "address-link-missing",
	  .explained_by = "nic.driver (ens1f0)" },
	{ .name = "address: no route",
	  ADDRESS,
	  .status = VERDICT_FAIL,
	  .changes = { { "/routes", "[]" } },
	  .cause = "route-missing" },
	{ .name = "address: route by another link",
	  ADDRESS,
	  .status = VERDICT_FAIL,
	  .changes = { { "/routes", "[{'destination': '198.51.100.0/24', 'link': 'bond0'}, "
				    "{'destination': '203.0.113.0/24', 'link': 'ens1f1'}]" } },
	  .cause = "route-other-link",
	  .text = "leaves by bond0, declared is ens1f0" },
	{ .name = "address: a more specific route to the peer",
	  ADDRESS,
	  .status = VERDICT_FAIL,
	  .site = declare_peer,
	  .changes = { { "/routes", "[{'destination': '198.51.100.0/24', 'link': 'ens1f0'}, "
				    "{'destination': '203.0.113.0/24', 'link': 'ens1f1'}, "
				    "{'destination': '198.51.100.21/32', 'link': 'bond0'}]" } },
	  .cause = "route-other-link",
	  .text = "gpu-2 (198.51.100.21)" },
	{ .name = "address: routes of other tables do not count",
	  ADDRESS,
	  .status = VERDICT_FAIL,
	  .changes = { { "/routes",
			 "[{'destination': '198.51.100.0/24', 'link': 'ens1f0', 'table': 100}, "
			 "{'destination': '203.0.113.0/24', 'link': 'ens1f1', 'table': 254}]" } },
	  .cause = "route-missing",
	  .text = "198.51.100.11" },
	{ .name = "address: one subnet for two rails",
	  ADDRESS,
	  .status = VERDICT_FAIL,
	  .site = declare_one_subnet,
	  .changes = { { "/links/ens1f1/addresses",
			 "[{'family': 'ipv4', 'address': '198.51.100.12', 'prefix': 24, 'scope': "
			 "'global'}]" },
		       { "/os/sysctl/net.ipv4.conf.all.arp_ignore", "'0'" } },
	  .cause = "subnet-overlap",
	  .not_cause = "route-other-link" },
	{ .name = "address: one subnet, strict ARP",
	  ADDRESS,
	  .status = VERDICT_WARN,
	  .site = declare_one_subnet,
	  .changes = { { "/links/ens1f1/addresses",
			 "[{'family': 'ipv4', 'address': '198.51.100.12', 'prefix': 24, 'scope': "
			 "'global'}]" } },
	  .cause = "subnet-overlap" },
	{ .name = "address: none declared, one there",
	  ADDRESS,
	  .status = VERDICT_PASS,
	  .site = declare_nothing,
	  .text = "198.51.100.11 on ens1f0" },
	{ .name = "address: none declared, none there",
	  ADDRESS,
	  .status = VERDICT_UNKNOWN,
	  .site = declare_nothing,
	  .changes = { { "/links/ens1f0/addresses", "[]" } },
	  .text = "none is declared" },
	{ .name = "address: bond down explains the route",
	  .base = BASE_RXE,
	  .gate = "net.address",
	  .status = VERDICT_FAIL,
	  .changes = { { "/links/bond1/up", "false" },
		       { "/links/bond1/carrier", "false" },
		       { "/routes", "[]" } },
	  .cause = "route-missing",
	  .explained_by = "net.bond (bond1)" },
	/* --- net.mtu --- */
	{ .name = "mtu: low",
	  MTU,
	  .status = VERDICT_FAIL,
	  .subject = "bond1",
	  .changes = { { "/links/bond1/mtu", "1500" },
		       { "/links/ens1f0/mtu", "1500" },
		       { "/links/ens1f1/mtu", "1500" } },
	  .cause = "mtu-low",
	  .text = "RoCE MTU 1024",
	  .not_cause = "mtu-member-low" },
	{ .name = "mtu: high",
	  MTU,
	  .status = VERDICT_FAIL,
	  .subject = "bond1",
	  .changes = { { "/links/bond1/mtu", "9600" },
		       { "/links/ens1f0/mtu", "9600" },
		       { "/links/ens1f1/mtu", "9600" } },
	  .cause = "mtu-high" },
	{ .name = "mtu: one bond port low",
	  MTU,
	  .status = VERDICT_FAIL,
	  .subject = "bond1",
	  .changes = { { "/links/ens1f1/mtu", "1500" } },
	  .cause = "mtu-member-low",
	  .text = "ens1f1",
	  .not_cause = "mtu-low" },
	{ .name = "mtu: one bond port high",
	  MTU,
	  .subject = "bond1",
	  .status = VERDICT_WARN,
	  .changes = { { "/links/ens1f1/mtu", "9600" } },
	  .cause = "mtu-member-high" },
	{ .name = "mtu: VLAN larger than its parent",
	  MTU,
	  .status = VERDICT_FAIL,
	  .subject = "bond1.100",
	  .site = declare_vlan,
	  .was_any = true,
	  .changes = { { "/links/bond1.100",
			 "{'kind': 'vlan', 'lower': 'bond1', 'mtu': 9000, 'vlan': {'id': 100}}" },
		       { "/links/bond1/mtu", "8000" },
		       { "/links/ens1f0/mtu", "8000" },
		       { "/links/ens1f1/mtu", "8000" } },
	  .cause = "mtu-below-vlan" },
	{ .name = "mtu: link missing",
	  MTU,
	  .status = VERDICT_FAIL,
	  .subject = "bond1",
	  .changes = { { "/links/bond1", NULL } },
	  .cause = "link-missing",
	  .explained_by = "net.bond (bond1)" },
	{ .name = "mtu: not observed",
	  MTU,
	  .subject = "bond1",
	  .status = VERDICT_UNKNOWN,
	  .changes = { { "/links/bond1/mtu", NULL } } },
	{ .name = "mtu: peer has another",
	  .base = BASE_RAILS,
	  .gate = "net.mtu",
	  .subject = "gpu-1/ens1f0 ↔ gpu-2/ens1f0",
	  .site = peer_with_mtu_1500,
	  .was_any = true,
	  .status = VERDICT_FAIL,
	  .cause = "mtu-pair",
	  .text = "is 9000, of ens1f0 on gpu-2 1500" },
};

/* 96 bytes of headers: iboe_get_mtu() */
static void roce_mtu(void **state)
{
	static const struct {
		int64_t link, roce;
	} table[] = {
		{ 9702, 4096 }, { 9000, 4096 }, { 4200, 4096 }, { 4192, 4096 }, { 4191, 2048 },
		{ 2144, 2048 }, { 2143, 1024 }, { 1500, 1024 }, { 1120, 1024 }, { 1119, 512 },
		{ 576, 256 },   { 352, 256 },   { 351, 0 },     { 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		assert_int_equal(roce_mtu_of_link(table[i].link), table[i].roce);
	assert_int_equal(roce_mtu_needs_link(4096), 4192);
}

/* A fault of one gate leaves the others alone. */
static void faults_stay_local(void **state)
{
	struct bench *b = *state;
	const struct ladder *l;

	bench_set(b, "/links/ens1f0/mtu", "1500");
	bench_set(b, "/rdma/devices/rocep27s0f0/ports/1/active_mtu", "1024");
	l = bench_judge(b);
	scene_status(scene_verdict(l, "net.mtu", "ens1f0"), VERDICT_FAIL);
	scene_status(scene_verdict(l, "net.mtu", "ens1f1"), VERDICT_PASS);
	scene_status(scene_verdict(l, "qos.pfc", "ens1f0"), VERDICT_PASS);
	scene_status(scene_verdict(l, "rdma.gid", "ens1f0"), VERDICT_PASS);
	scene_status(scene_verdict(l, "rdma.mtu", "ens1f0"), VERDICT_FAIL);
	assert_string_equal(scene_verdict(l, "rdma.mtu", "ens1f0")->explained_by,
			    "net.mtu (ens1f0)");
}

int main(void)
{
	static const struct CMUnitTest more[] = {
		cmocka_unit_test(roce_mtu),
		cmocka_unit_test(faults_stay_local),
	};

	return bench_run_with("net", rows, ARRAY_SIZE(rows), more, ARRAY_SIZE(more));
}
