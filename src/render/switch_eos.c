/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arista EOS.
 *
 * Sources: Arista EOS User Manual, "Quality of Service" (maps, trust, transmit queues, ECN),
 * "Data Center Bridging" (PFC, DCBX), "Port Channels and LACP", "Multi-Chassis Link Aggregation";
 * spelling of each line as in Arista's own aristanetworks/avd, python-avd/pyavd/
 * _eos_cli_config_gen/j2templates/eos (qos.j2, qos-profiles.j2, port-channel-interfaces.j2,
 * ethernet-interfaces.j2). What was compared: docs/switch.md.
 *
 * DCBX is off on EOS ports unless `dcbx mode` is given, so nothing is pushed to the hosts.
 */
#include <string.h>

#include "base/strings.h"
#include "render/switch.h"

#define PROFILE "ROCE"

static const char *queue_mode(const struct switch_plan *plan)
{
	return json_get_string(render_declared(plan->r, "/switch"), "tx_queue", "tx-queue");
}

static void put_maps(const struct switch_class *class, struct strbuf *b)
{
	/* the default of EOS has DSCP 0 to 7 in class 1 and 8 to 15 in class 0 */
	strbuf_puts(b, "!\nqos map dscp ");
	switch_other_dscps(b, class, " ", false);
	strbuf_puts(b, " to traffic-class 0\n");
	strbuf_printf(b, "qos map dscp %d to traffic-class %d\n", class->dscp, class->priority);
	if (class->cnp_dscp >= 0)
		strbuf_printf(b, "qos map dscp %d to traffic-class %d\n", class->cnp_dscp,
			      class->cnp_queue);
	strbuf_puts(b, "qos map traffic-class 0 to tx-queue 0\n");
	/* traffic class 7 is queue 7 and cannot be mapped */
	if (class->priority != 7)
		strbuf_printf(b, "qos map traffic-class %d to tx-queue %d\n", class->priority,
			      class->priority);
	if (class->cnp_dscp >= 0 && class->cnp_queue != 7)
		strbuf_printf(b, "qos map traffic-class %d to tx-queue %d\n", class->cnp_queue,
			      class->cnp_queue);
}

static void put_profile(const struct switch_plan *plan, struct strbuf *b)
{
	const struct switch_class *class = &plan->class;
	const char *mode = queue_mode(plan);

	strbuf_puts(b, "!\nqos profile " PROFILE "\n   qos trust dscp\n");
	if (class->scheduled)
		strbuf_printf(b, "   !\n   %s 0\n      no priority\n      bandwidth percent %d\n",
			      mode, 100 - class->share);
	if (class->scheduled || class->ecn)
		strbuf_printf(b, "   !\n   %s %d\n", mode, class->priority);
	if (class->scheduled)
		strbuf_printf(b, "      no priority\n      bandwidth percent %d\n", class->share);
	if (class->ecn)
		strbuf_printf(b, "      random-detect ecn minimum-threshold %lld bytes "
				 "maximum-threshold %lld bytes max-mark-probability %d weight 0\n",
			      (long long)class->ecn_min, (long long)class->ecn_max,
			      class->ecn_probability);
	if (class->scheduled && class->cnp_dscp >= 0)
		strbuf_printf(b, "   !\n   %s %d\n      priority strict\n", mode, class->cnp_queue);
	if (class->pfc)
		strbuf_printf(b, "   !\n   priority-flow-control on\n"
				 "   priority-flow-control priority %d no-drop\n",
			      class->priority);
	if (class->watchdog)
		strbuf_puts(b, "   priority-flow-control pause watchdog\n"
			       "   priority-flow-control pause watchdog port action drop\n"
			       "   priority-flow-control pause watchdog port timer timeout 0.2 "
			       "polling-interval auto recovery-time 0.2\n");
}

static void put_switchport(const struct switch_plan *plan, const struct switch_interface *interface,
			   struct strbuf *b)
{
	size_t n;
	_cleanup_free_ unsigned *vlans = switch_vlans_all(plan, interface, &n);

	if (plan->mtu)
		strbuf_printf(b, "   mtu %lld\n", (long long)switch_mtu(plan, &switch_eos));
	if (plan->vlan && !interface->n_vlans)
		strbuf_printf(b, "   switchport access vlan %lld\n   switchport mode access\n",
			      (long long)plan->vlan);
	if (interface->n_vlans) {
		if (plan->vlan)
			strbuf_printf(b, "   switchport trunk native vlan %lld\n",
				      (long long)plan->vlan);
		else
			strbuf_puts(b, "   switchport trunk native vlan tag\n");
		strbuf_puts(b, "   switchport trunk allowed vlan ");
		switch_vlans(b, vlans, n);
		strbuf_puts(b, "\n   switchport mode trunk\n");
	}
	if (n)
		strbuf_puts(b, "   switchport\n");
}

static void put_port(const struct switch_plan *plan, const struct switch_interface *interface,
		     const struct switch_member *member, struct strbuf *b)
{
	const struct switch_class *class = &plan->class;

	strbuf_printf(b, "!\ninterface %s\n   description %s:%s\n", member->port, interface->node,
		      member->link);
	if (interface->number) {
		strbuf_printf(b, "   channel-group %u mode active\n", interface->number);
		if (plan->lacp_rate)
			strbuf_printf(b, "   lacp timer %s\n",
				      !strcmp(plan->lacp_rate, "fast") ? "fast" : "normal");
	} else {
		put_switchport(plan, interface, b);
		strbuf_puts(b, "   spanning-tree portfast\n");
	}
	if (class->known)
		strbuf_puts(b, "   service-profile " PROFILE "\n");
	if (class->ecn)
		strbuf_printf(b, "   !\n   %s %d\n      random-detect ecn count\n",
			      queue_mode(plan), class->priority);
}

static void eos_config(const struct switch_plan *plan, const struct switch_device *device,
		       struct strbuf *b)
{
	if (plan->class.known) {
		put_maps(&plan->class, b);
		put_profile(plan, b);
	}
	for (size_t i = 0; i < plan->n_vlans; i++)
		strbuf_printf(b, "!\nvlan %u\n", plan->vlans[i]);
	for (size_t i = 0; i < device->n_interfaces; i++) {
		const struct switch_interface *interface = &device->interfaces[i];

		if (interface->number) {
			strbuf_printf(b, "!\ninterface Port-Channel%u\n   description %s:%s\n",
				      interface->number, interface->node, interface->link);
			put_switchport(plan, interface, b);
			if (interface->pair)
				strbuf_printf(b, "   mlag %u\n", interface->number);
			strbuf_puts(b, "   spanning-tree portfast\n");
			/* the trust of a member is that of its port channel */
			if (plan->class.known)
				strbuf_puts(b, "   service-profile " PROFILE "\n");
		}
		for (size_t j = 0; j < interface->n_members; j++)
			put_port(plan, interface, &interface->members[j], b);
	}
	strbuf_puts(b, "!\nend\n");
}

static void eos_notes(const struct switch_plan *plan, char ***notes)
{
	const struct switch_class *class = &plan->class;

	if (class->known)
		strings_add(notes,
			    xasprintf("queues are configured in mode %s (switch/tx_queue): Trident "
				      "and Tomahawk have uc-tx-queue",
				      queue_mode(plan)));
	if (class->pfc && plan->headroom)
		strings_add(notes, xasprintf("the headroom of %lld bytes: its command differs from "
					     "platform to platform and is not rendered",
					     (long long)plan->headroom));
	if (class->known && (class->priority == 7 || class->cnp_queue == 7))
		strings_add(notes, xstrdup("queue 7 is that of the switch's own control traffic"));
	if (switch_has_pair(plan))
		strings_add(notes, xstrdup("mlag: `mlag configuration` with domain-id, peer-link, "
					   "local-interface and peer-address must be there "
					   "before"));
}

static void eos_verify(const struct switch_plan *plan, const struct switch_device *device,
		       struct strbuf *b)
{
	const struct switch_class *class = &plan->class;
	const struct switch_interface *bundle = switch_first_bundle(device);
	const char *port = switch_first_port(device);

	switch_heading(b, "Apply");
	strbuf_puts(b, "  configure session roce\n"
		       "  (paste config.cfg without its last line)\n"
		       "  show session-config diffs\n"
		       "  commit timer 00:10:00\n"
		       "  configure session roce commit      (when everything below holds)\n"
		       "  write memory\n\n"
		       "Back: let the timer expire.\n");
	switch_heading(b, "Look");
	if (class->known) {
		_cleanup_free_ char *trust = xasprintf("show qos interfaces %s trust", port);

		switch_check(b, "show qos maps", "DSCP %d is traffic class %d and queue %d; DSCP 0 "
						 "is traffic class 0 and queue 0",
			     class->dscp, class->priority, class->priority);
		switch_check(b, trust, "operational trust mode: DSCP");
	}
	if (class->pfc) {
		switch_check(b, "show priority-flow-control",
			     "%s and every other host port: Enabled Yes, Priorities %d, Active "
			     "Yes, DCBX disabled",
			     port, class->priority);
		switch_check(b, "show priority-flow-control counters detail",
			     "under load priority %d only, receive and transmit", class->priority);
	}
	if (class->watchdog)
		switch_check(b, "show priority-flow-control counters watchdog",
			     "no queue was stuck");
	if (class->ecn) {
		_cleanup_free_ char *ecn = xasprintf("show qos interfaces %s ecn", port);
		_cleanup_free_ char *counters =
			xasprintf("show qos interfaces %s ecn counters queue", port);

		switch_check(b, ecn, "queue %d: %lld to %lld bytes", class->priority,
			     (long long)class->ecn_min, (long long)class->ecn_max);
		switch_check(b, counters, "marks in queue %d only, and only under load",
			     class->priority);
	}
	if (class->known) {
		_cleanup_free_ char *queues = xasprintf("show interfaces %s counters queue", port);

		switch_check(b, queues, "RoCE traffic counts in queue %d, drops stay 0",
			     class->priority);
	}
	if (bundle) {
		switch_check(b, "show port-channel dense", "Po%u(U), every port (PG+)",
			     bundle->number);
		switch_check(b, "show lacp peer", "the peer of every port is bundled");
	}
	if (bundle && switch_has_pair(plan))
		switch_check(b, "show mlag interfaces", "%u: active-full", bundle->number);
	if (plan->n_vlans)
		switch_check(b, "show vlan", "the host ports in their VLANs");
	if (plan->mtu) {
		_cleanup_free_ char *mtu = xasprintf("show interfaces %s", port);

		switch_check(b, mtu, "MTU %lld bytes", (long long)switch_mtu(plan, &switch_eos));
	}
}

const struct switch_system switch_eos = {
	.platform = "eos",
	.title = "Arista EOS",
	.file = "config.cfg",
	.comment = "!",
	.documents = "Arista EOS User Manual, \"Quality of Service\", \"Data Center Bridging\"\n"
		     "Arista EOS User Manual, \"Port Channels and LACP\", \"Multi-Chassis Link "
		     "Aggregation\"\n"
		     "aristanetworks/avd, pyavd/_eos_cli_config_gen/j2templates/eos\n",
	.mtu_max = 9214,	/* without the Ethernet header: AVD, p2p_uplinks_mtu */
	.port_channel_max = 2000,	/* mlag id: "Multi-Chassis Link Aggregation" */
	.vlan_min = 1,
	.description_max = 240,
	.watchdog = true,
	.notes = eos_notes,
	.config = eos_config,
	.verify = eos_verify,
};
