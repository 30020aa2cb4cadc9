/* SPDX-License-Identifier: Apache-2.0 */
/* net.bond in mode 802.3ad: who answers, in which aggregator, in which state. */
#include <string.h>

#include "judge/family.h"
#include "judge/net_bond.h"

static bool is_zero_mac(const char *mac)
{
	return mac && !strcmp(mac, "00:00:00:00:00:00");
}

static bool port_hears_nothing(struct bond_view *b, struct bond_port *p)
{
	const char *mac = json_string_value(peek(b->g, "/links/%s/bond_port/partner_mac", p->name));

	if (p->actor_state >= 0)
		return p->actor_state & LACP_DEFAULTED;
	return mac ? is_zero_mac(mac) : is_zero_mac(b->partner_mac);
}

/* A NIC in Safe Mode receives nothing: that comes before any thought about the other end. */
static bool silent_by_safe_mode(struct bond_view *b, struct bond_port *p)
{
	if (!family_ice_safe_mode(b->g, p->name))
		return false;
	judge_fail(b->g, "nic-safe-mode", "see gate nic.firmware: the DDP package comes first",
		   "no LACPDU is received on %s because the adapter runs in Safe Mode", p->name);
	return true;
}

static void judge_silence(struct bond_view *b)
{
	struct judging *g = b->g;
	size_t usable = 0, silent = 0, unexplained = 0;
	const char *first = NULL, *safe = NULL;

	for (size_t i = 0; i < b->n; i++) {
		struct bond_port *p = &b->ports[i];

		usable += p->usable && !p->faulty;
		if (!p->usable || p->faulty || !port_hears_nothing(b, p))
			continue;
		p->faulty = true;
		silent++;
		if (silent_by_safe_mode(b, p)) {
			safe = safe ? safe : p->name;
		} else {
			unexplained++;
			first = p->name;
		}
	}
	if (safe)
		judge_explained_by(g, "nic.firmware", safe);
	if (!unexplained)
		return;

	bool all = silent == usable;

	if (all)
		judge_fail(g, "lacp-no-partner",
			   "show the LACP state on the switch (show lacp neighbor, show "
			   "port-channel); put its ports into one LACP channel",
			   "%s has no LACP partner: no LACPDU is received on any of its ports that "
			   "are up (%zu)",
			   b->name, usable);
	else
		judge_fail(g, "lacp-port-silent",
			   "compare this port's configuration on the switch with that of the other "
			   "ports",
			   "no LACPDU is received on %s, while other ports of %s have a partner",
			   first, b->name);
	if (json_is_false(fact_optional(g, "/links/%s/bond/lacp_active", b->name)))
		judge_candidate(g, "lacp-both-passive",
				judge_text(g, "ip link set %s type bond lacp_active on", b->name),
				"this side is passive (lacp_active off); when the switch is "
				"passive too, nobody begins");
	judge_candidate(g, "lacp-off-on-switch", "switch the port-channel to LACP (mode active)",
			"the switch ports run no LACP: the switch shows no received LACPDU "
			"counters for them");
	judge_candidate(
		g, "lacp-not-delivered",
		"check cabling; look for LACPDUs with tcpdump -i PORT ether proto 0x8809",
		"LACPDUs are sent and do not arrive: tcpdump on the port shows outgoing ones only");
}

/* The first port that is in the active aggregator, to compare with. */
static struct bond_port *reference_port(struct bond_view *b)
{
	for (size_t i = 0; i < b->n; i++) {
		if (b->ports[i].usable && b->ports[i].aggregator == b->aggregator)
			return &b->ports[i];
	}
	return NULL;
}

static bool differs(struct bond_view *b, const struct bond_port *p, const struct bond_port *q,
		    const char *key)
{
	json_t *x = peek(b->g, "/links/%s/bond_port/%s", p->name, key);
	json_t *y = peek(b->g, "/links/%s/bond_port/%s", q->name, key);

	if (!x || !y || json_equal(x, y))
		return false;
	fact_optional(b->g, "/links/%s/bond_port/%s", p->name, key);
	fact_optional(b->g, "/links/%s/bond_port/%s", q->name, key);
	return true;
}

static void judge_other_aggregator(struct bond_view *b, struct bond_port *p)
{
	struct judging *g = b->g;
	struct bond_port *ref = reference_port(b);
	size_t active = 0;
	const char *churn = json_string_value(peek(g, "/links/%s/bond_port/actor_churn", p->name));
	const char *churned = churn && !strcmp(churn, "churned") ? ", and has churned" : "";

	for (size_t i = 0; i < b->n; i++)
		active += b->ports[i].usable && b->ports[i].aggregator == b->aggregator;
	p->faulty = true;

	const char *split = judge_text(g,
				       "port %s is in aggregator %lld, the active one of %s is "
				       "%lld%s: %zu of %zu ports carry traffic",
				       p->name, (long long)p->aggregator, b->name,
				       (long long)b->aggregator, churned, active, b->n);

	if (ref && p->speed_mbps > 0 && ref->speed_mbps > 0 && p->speed_mbps != ref->speed_mbps)
		judge_fail(g, "port-speed-mismatch",
			   "set both switch ports and transceivers to one speed",
			   "%s; speeds differ: %s %lld Mb/s, %s %lld Mb/s", split, p->name,
			   (long long)p->speed_mbps, ref->name, (long long)ref->speed_mbps);
	else if (ref && differs(b, p, ref, "partner_mac"))
		judge_fail(g, "lacp-two-partners",
			   "cable both ports to one switch, or to two that form one LACP system "
			   "(MLAG)",
			   "%s; the partners differ: %s hears another system than %s", split,
			   p->name, ref->name);
	else if (ref && differs(b, p, ref, "partner_key"))
		judge_fail(g, "lacp-partner-key", "put both switch ports into one channel group",
			   "%s; the partner's keys differ: the switch has the ports in two channel "
			   "groups",
			   split);
	else
		judge_fail(
			g, "port-other-aggregator",
			judge_text(g,
				   "ip link set %s down && ip link set %s up after all ports have "
				   "carrier; see that all switch ports are in one channel group",
				   p->name, p->name),
			"%s", split);
}

/* In the active aggregator, and not working. */
static void judge_states(struct bond_view *b, struct bond_port *p)
{
	struct judging *g = b->g;
	const char *actor = fact_optional_string(g, "/links/%s/bond_port/actor_churn", p->name);
	const char *partner = fact_optional_string(g, "/links/%s/bond_port/partner_churn", p->name);

	if (p->actor_state >= 0 && (p->actor_state & LACP_EXPIRED)) {
		judge_fail(g, "lacp-partner-silent",
			   "see on the switch why it stopped sending LACPDUs",
			   "the partner of port %s stopped sending LACPDUs (state %lld, expired)",
			   p->name, (long long)p->actor_state);
	} else if (p->partner_state >= 0 && !(p->partner_state & LACP_AGGREGATION)) {
		judge_fail(g, "lacp-partner-individual",
			   "put the switch port into the channel group of the others",
			   "the switch treats port %s as an individual link (partner state %lld)",
			   p->name, (long long)p->partner_state);
	} else if (p->partner_state >= 0 && !(p->partner_state & LACP_SYNCHRONIZATION)) {
		judge_fail(g, "lacp-partner-not-in-sync",
			   "see on the switch why the port is not bundled: other speed, VLAN list, "
			   "MTU or channel group",
			   "the switch has not bundled port %s (partner state %lld, not in sync)",
			   p->name, (long long)p->partner_state);
	} else if (p->actor_state >= 0 && (p->actor_state & LACP_WORKING) != LACP_WORKING) {
		judge_fail(
			g, "lacp-not-distributing",
			judge_text(g, "ip link set %s down && ip link set %s up", p->name, p->name),
			"port %s does not collect and distribute (state %lld)", p->name,
			(long long)p->actor_state);
	} else if ((actor && !strcmp(actor, "churned")) ||
		   (partner && !strcmp(partner, "churned"))) {
		judge_fail(g, "lacp-churned",
			   "see LACP on the switch: this port did not reach sync in time",
			   "port %s has churned (actor %s, partner %s)", p->name,
			   actor ? actor : "?", partner ? partner : "?");
	} else {
		return;
	}
	p->faulty = true;
}

void judge_bond_lacp(struct bond_view *b)
{
	struct judging *g = b->g;
	size_t usable = 0;

	for (size_t i = 0; i < b->n; i++)
		usable += b->ports[i].usable && !b->ports[i].faulty;
	if (!usable)
		return; /* each port has its cause; without a port up there is no active aggregator
			 */
	if (!fact_int(g, &b->aggregator, "/links/%s/bond/aggregator/id", b->name))
		return;
	b->partner_mac = fact_string(g, "/links/%s/bond/aggregator/partner_mac", b->name);
	if (!b->partner_mac)
		return;
	judge_silence(b);
	for (size_t i = 0; i < b->n; i++) {
		struct bond_port *p = &b->ports[i];

		if (p->usable && !p->faulty &&
		    fact_int(g, &p->aggregator, "/links/%s/bond_port/aggregator_id", p->name))
			continue;
		p->faulty |= p->usable;
	}
	for (size_t i = 0; i < b->n; i++) {
		struct bond_port *p = &b->ports[i];

		if (p->usable && !p->faulty && p->aggregator != b->aggregator)
			judge_other_aggregator(b, p);
		else if (p->usable && !p->faulty)
			judge_states(b, p);
	}
}
