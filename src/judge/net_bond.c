/* SPDX-License-Identifier: Apache-2.0 */
/* net.bond: the bond and its ports. What LACP says of them is in net_lacp.c. */
#include "judge/net_bond.h"

#include <string.h>

#include "base/alloc.h"
#include "judge/net.h"
#include "judge/subject.h"

static bool declares(char *const *names, const char *name)
{
	for (; names && *names; names++) {
		if (!strcmp(*names, name))
			return true;
	}
	return false;
}

/* --- is it there, and of the right mode? --- */

static bool bond_is_there(struct judging *g)
{
	const char *name = g->bond->name;

	if (!fact(g, "/links"))
		return false;
	if (!peek(g, "/links/%s", name)) {
		judge_fail(g, "bond-missing",
			   judge_text(g,
				      "nmcli connection up %s; see that its profile exists and "
				      "autoconnects",
				      name),
			   "there is no link %s", name);
		return false;
	}
	if (!peek(g, "/links/%s/bond", name) &&
	    strcmp(json_string_value(peek(g, "/links/%s/kind", name)) ?: "", "bond")) {
		fact_optional(g, "/links/%s/kind", name);
		judge_fail(g, "not-a-bond",
			   judge_text(g, "ip -d link show %s; remove it and create the bond", name),
			   "%s is no bond", name);
		return false;
	}
	return true;
}

static bool judge_mode(struct bond_view *b)
{
	struct judging *g = b->g;
	const char *mode = fact_string(g, "/links/%s/bond/mode", b->name);
	const char *want = g->bond->mode;

	if (!mode)
		return false;
	b->lacp = !strcmp(mode, "802.3ad");
	if (!want) {
		judge_assume(g, "bond mode %s of %s as it is", mode, b->name);
		return true;
	}
	fact_declared(g, &g->bond->where, json_text_new(want), "nodes/%s/bonds/%s/mode",
		      g->node->name, b->name);
	if (strcmp(mode, want)) {
		judge_fail(g, "bond-mode",
			   judge_text(g,
				      "nmcli connection modify %s +bond.options mode=%s && nmcli "
				      "connection up %s",
				      b->name, want, b->name),
			   "%s is in mode %s, declared is %s", b->name, mode, want);
		return false;
	}
	return true;
}

static void judge_options(struct bond_view *b)
{
	struct judging *g = b->g;
	const char *rate = g->bond->lacp_rate, *policy = g->bond->xmit_hash_policy;
	const char *is;

	if (b->lacp && rate && (is = fact_string(g, "/links/%s/bond/lacp_rate", b->name)) &&
	    strcmp(is, rate))
		judge_warn(g, "lacp-rate",
			   judge_text(g, "nmcli connection modify %s +bond.options lacp_rate=%s",
				      b->name, rate),
			   "LACP rate of %s is %s, declared is %s", b->name, is, rate);
	if (policy && (is = fact_string(g, "/links/%s/bond/xmit_hash_policy", b->name)) &&
	    strcmp(is, policy))
		judge_warn(
			g, "xmit-hash-policy",
			judge_text(g,
				   "nmcli connection modify %s +bond.options xmit_hash_policy=%s",
				   b->name, policy),
			"transmit hash of %s is %s, declared is %s", b->name, is, policy);
	if (!fact_optional_int(g, 1, "/links/%s/bond/miimon_ms", b->name))
		judge_warn(g, "bond-no-monitor",
			   judge_text(g, "nmcli connection modify %s +bond.options miimon=100",
				      b->name),
			   "MII monitoring of %s is off: unless ARP monitoring is set, a lost link "
			   "goes unnoticed",
			   b->name);
}

/* --- each port --- */

/* False when the port is not in the bond at all. */
static bool port_is_in(struct bond_view *b, struct bond_port *p)
{
	struct judging *g = b->g;
	const char *master;

	if (!peek(g, "/links/%s", p->name)) {
		judge_fail(g, "port-missing",
			   "look for the adapter with `lspci -nnk` and for a renamed link with `ip "
			   "-br link`; gate nic.driver tells more",
			   "there is no link %s, which is declared as a port of %s", p->name,
			   b->name);
		judge_explained_by(g, "nic.driver", p->name);
		return false;
	}
	master = fact_optional_string(g, "/links/%s/master", p->name);
	if (!master || strcmp(master, b->name)) {
		judge_fail(g, "port-not-in-bond",
			   judge_text(g,
				      "activate the NetworkManager profile that makes %s a port of "
				      "%s; by hand: ip link set %s down && ip link set %s master %s",
				      p->name, b->name, p->name, p->name, b->name),
			   "%s is declared as a port of %s and %s%s", p->name, b->name,
			   master ? "belongs to " : "is in no bond", master ? master : "");
		return false;
	}
	if (g->bond->ports && !declares(g->bond->ports, p->name))
		judge_warn(g, "port-not-declared",
			   judge_text(g, "ip link set %s nomaster, or declare it", p->name),
			   "%s is a port of %s and not declared", p->name, b->name);
	return true;
}

static bool port_has_link(struct bond_view *b, struct bond_port *p)
{
	struct judging *g = b->g;
	bool carrier;

	if (json_is_false(fact_optional(g, "/links/%s/up", p->name))) {
		judge_fail(g, "port-admin-down", judge_text(g, "ip link set %s up", p->name),
			   "port %s of %s is set down", p->name, b->name);
		return false;
	}
	if (!fact_bool(g, &carrier, "/links/%s/carrier", p->name))
		return false;
	if (!carrier) {
		judge_fail(
			g, "port-no-carrier",
			judge_text(
				g,
				"check cable and transceiver (ethtool -m %s), the switch port, and "
				"that both ends use the same speed and FEC (ethtool --show-fec %s)",
				p->name, p->name),
			"port %s of %s has no carrier", p->name, b->name);
		return false;
	}
	return true;
}

/* Does the bond's own monitor agree that the port has link? */
static bool port_is_monitored_up(struct bond_view *b, struct bond_port *p)
{
	struct judging *g = b->g;
	const char *mii = fact_optional_string(g, "/links/%s/bond_port/mii", p->name);

	if (mii && (!strcmp(mii, "back") || !strcmp(mii, "fail")))
		judge_warn(g, "port-changing",
			   "wait for updelay or downdelay to pass and check again",
			   "the link of port %s is changing (MII %s)", p->name, mii);
	else if (mii && strcmp(mii, "up")) {
		judge_fail(
			g, "port-mii-down",
			judge_text(g,
				   "ip link set %s down && ip link set %s up; check updelay of %s",
				   p->name, p->name, b->name),
			"port %s of %s has carrier, but the bond holds it down (MII %s)", p->name,
			b->name, mii);
		return false;
	}
	return true;
}

static void port_speed(struct bond_view *b, struct bond_port *p)
{
	struct judging *g = b->g;
	const struct site_link *link = site_link_find(g->node, p->name);
	const char *duplex;

	if (peek(g, "/links/%s/ethtool/speed_mbps", p->name))
		p->speed_mbps = fact_optional_int(g, -1, "/links/%s/ethtool/speed_mbps", p->name);
	else
		p->speed_mbps = fact_optional_int(g, -1, "/links/%s/bond_port/speed_mbps", p->name);
	duplex = json_string_value(peek(g, "/links/%s/ethtool/duplex", p->name));
	if (!duplex)
		duplex = json_string_value(peek(g, "/links/%s/bond_port/duplex", p->name));

	bool working = p->actor_state >= 0 && (p->actor_state & LACP_WORKING) == LACP_WORKING;

	/* bond_miimon_commit() keeps such a port down; half duplex clears AD_PORT_LACP_ENABLED */
	if (b->lacp && !working && p->speed_mbps <= 0 &&
	    (peek(g, "/links/%s/ethtool/speed_mbps", p->name) ||
	     peek(g, "/links/%s/bond_port/speed_mbps", p->name))) {
		p->faulty = true;
		judge_fail(g, "port-speed-unknown",
			   judge_text(g,
				      "ethtool %s; for a virtual NIC: ethtool -s %s speed 10000 "
				      "duplex full",
				      p->name, p->name),
			   "the speed of port %s is not known, and 802.3ad does not run on such a "
			   "port",
			   p->name);
	} else if (b->lacp && duplex && !strcmp(duplex, "half")) {
		p->faulty = true;
		judge_fail(g, "port-half-duplex",
			   judge_text(g, "ethtool -s %s autoneg on", p->name),
			   "port %s runs half duplex, and 802.3ad needs full duplex", p->name);
	} else if (link && link->speed_mbps.set && p->speed_mbps > 0 &&
		   p->speed_mbps < link->speed_mbps.value) {
		fact_declared(g, &link->where, json_integer(link->speed_mbps.value),
			      "nodes/%s/links/%s/speed", g->node->name, p->name);
		judge_fail(g, "port-speed-low",
			   judge_text(g,
				      "check transceiver, cable and the switch port's speed; "
				      "ethtool %s shows what both ends advertise",
				      p->name),
			   "port %s runs at %lld Mb/s, declared are %lld Mb/s", p->name,
			   (long long)p->speed_mbps, (long long)link->speed_mbps.value);
	}
}

static void look_at_port(struct bond_view *b, struct bond_port *p)
{
	struct judging *g = b->g;

	p->speed_mbps = p->aggregator = p->actor_state = p->partner_state = -1;
	if (!port_is_in(b, p))
		return;
	if (b->lacp) {
		p->actor_state =
			fact_optional_int(g, -1, "/links/%s/bond_port/actor_state", p->name);
		p->partner_state =
			fact_optional_int(g, -1, "/links/%s/bond_port/partner_state", p->name);
	}
	if (!port_has_link(b, p))
		return;
	port_speed(b, p);
	p->usable = p->faulty || port_is_monitored_up(b, p);
}

/* --- the whole --- */

static void judge_bond_itself(struct bond_view *b)
{
	struct judging *g = b->g;
	size_t usable = 0;
	int64_t min_links = fact_optional_int(g, 0, "/links/%s/bond/min_links", b->name);

	for (size_t i = 0; i < b->n; i++)
		usable += b->ports[i].usable;
	if (json_is_false(fact_optional(g, "/links/%s/up", b->name)))
		judge_fail(g, "bond-admin-down", judge_text(g, "ip link set %s up", b->name),
			   "%s is set down", b->name);
	else if (min_links > (int64_t)usable)
		judge_fail(g, "bond-min-links", "bring the other ports up, or lower min_links",
			   "%s wants %lld working ports and has %zu", b->name, (long long)min_links,
			   usable);
	else if (!b->lacp && usable &&
		 !strcmp(json_string_value(peek(g, "/links/%s/bond/mode", b->name)) ?: "",
			 "active-backup")) {
		const char *active = fact_optional_string(g, "/links/%s/bond/active_port", b->name);

		if (!active || !*active)
			judge_fail(g, "bond-no-active-port",
				   judge_text(g, "cat /proc/net/bonding/%s", b->name),
				   "%s has no active port", b->name);
	}
}

void judge_net_bond(struct judging *g)
{
	struct bond_view b = { .g = g, .name = g->bond->name };

	if (!bond_is_there(g) || !judge_mode(&b))
		return;
	judge_options(&b);

	char **names = subject_physical_links(g->node, g->snapshot, b.name);

	for (char **n = names; *n; n++)
		b.n++;
	if (b.n == 1 && !strcmp(names[0], b.name))
		b.n = 0;
	b.ports = xcalloc(b.n ? b.n : 1, sizeof(*b.ports));
	for (size_t i = 0; i < b.n; i++) {
		b.ports[i].name = names[i];
		look_at_port(&b, &b.ports[i]);
	}
	if (!b.n) {
		judge_fail(g, "bond-no-ports", judge_text(g, "ip link set PORT master %s", b.name),
			   "%s has no ports", b.name);
	} else {
		judge_bond_itself(&b);
		if (b.lacp)
			judge_bond_lacp(&b);
	}
	if (b.lacp && b.partner_mac)
		judge_pass(g, "802.3ad, %zu ports in aggregator %lld, partner %s", b.n,
			   (long long)b.aggregator, b.partner_mac);
	else if (!b.lacp && b.n)
		judge_pass(g, "mode %s, %zu port%s up",
			   json_string_value(peek(g, "/links/%s/bond/mode", b.name)), b.n,
			   b.n == 1 ? "" : "s");
	free(b.ports);
	strings_free(names);
}
