/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dell SmartFabric OS10.
 *
 * Source: Dell EMC SmartFabric OS10 User Guide 10.5: "Priority flow control" and "Enhanced
 * transmission selection" (PFC and ETS configuration notes, Configure ETS), "Congestion
 * avoidance" (WRED and ECN), "LACP commands", "Rates", "Virtual Link Trunking". What was compared:
 * docs/switch.md.
 */
#include <string.h>

#include "base/strings.h"
#include "render/switch.h"

/* "random-detect color": thresholds from 1 to 12480, in KB */
#define WRED_MAX_KB 12480

static long long kilobytes(int64_t bytes)
{
	int64_t kb = switch_kilobytes(bytes);

	return kb > WRED_MAX_KB ? WRED_MAX_KB : kb;
}

static bool has_queuing(const struct switch_class *class)
{
	return class->scheduled || class->ecn;
}

static void put_queuing_class(const char *name, int queue, struct strbuf *b)
{
	strbuf_printf(b, "!\nclass-map type queuing %s\n match queue %d\n", name, queue);
}

static void put_queuing(const struct switch_class *class, struct strbuf *b)
{
	if (class->ecn)
		strbuf_printf(b, "!\nwred ROCE-ECN\n random-detect color green "
				 "minimum-threshold %lld maximum-threshold %lld "
				 "drop-probability %d\n random-detect ecn\n",
			      kilobytes(class->ecn_min), kilobytes(class->ecn_max),
			      class->ecn_probability);
	put_queuing_class("ROCE-QUEUE", class->priority, b);
	if (class->scheduled)
		put_queuing_class("REST-QUEUE", 0, b);
	if (class->scheduled && class->cnp_dscp >= 0)
		put_queuing_class("CNP-QUEUE", class->cnp_queue, b);
	strbuf_puts(b, "!\npolicy-map type queuing ROCE-OUT\n");
	if (class->scheduled && class->cnp_dscp >= 0)
		strbuf_puts(b, " !\n class CNP-QUEUE\n  priority\n");
	strbuf_puts(b, " !\n class ROCE-QUEUE\n");
	if (class->scheduled)
		strbuf_printf(b, "  bandwidth percent %d\n", class->share);
	if (class->ecn)
		strbuf_puts(b, "  random-detect ROCE-ECN\n");
	if (class->scheduled)
		strbuf_printf(b, " !\n class REST-QUEUE\n  bandwidth percent %d\n",
			      100 - class->share);
}

static void put_qos(const struct switch_plan *plan, struct strbuf *b)
{
	const struct switch_class *class = &plan->class;

	strbuf_printf(b, "!\ntrust dscp-map ROCE-TRUST\n qos-group %d dscp %d\n", class->priority,
		      class->dscp);
	if (class->cnp_dscp >= 0)
		strbuf_printf(b, " qos-group %d dscp %d\n", class->cnp_queue, class->cnp_dscp);
	strbuf_puts(b, " qos-group 0 dscp ");
	switch_other_dscps(b, class, ",", true);
	strbuf_printf(b, "\n!\nqos-map traffic-class ROCE-MAP\n queue 0 qos-group 0\n"
			 " queue %d qos-group %d\n",
		      class->priority, class->priority);
	if (class->cnp_dscp >= 0)
		strbuf_printf(b, " queue %d qos-group %d\n", class->cnp_queue, class->cnp_queue);
	if (class->pfc)
		strbuf_printf(b, "!\nclass-map type network-qos ROCE\n match qos-group %d\n"
				 "!\npolicy-map type network-qos ROCE-PFC\n"
				 " !\n class ROCE\n  pause\n  pfc-cos %d\n",
			      class->priority, class->priority);
	if (has_queuing(class))
		put_queuing(class, b);
}

static void put_switchport(const struct switch_plan *plan, const struct switch_interface *interface,
			   struct strbuf *b)
{
	if (plan->vlan && !interface->n_vlans)
		strbuf_puts(b, " switchport mode access\n");
	if (interface->n_vlans)
		strbuf_puts(b, " switchport mode trunk\n");
	/* in trunk mode too, "access" is the untagged VLAN */
	if (plan->vlan)
		strbuf_printf(b, " switchport access vlan %lld\n", (long long)plan->vlan);
	if (interface->n_vlans) {
		strbuf_puts(b, " switchport trunk allowed vlan ");
		switch_vlans(b, interface->vlans, interface->n_vlans);
		strbuf_putc(b, '\n');
	}
	if (plan->n_vlans)
		strbuf_puts(b, " spanning-tree port type edge\n");
}

static void put_mtu(const struct switch_plan *plan, struct strbuf *b)
{
	if (plan->mtu)
		strbuf_printf(b, " mtu %lld\n", (long long)switch_mtu(plan, &switch_os10));
}

/* PFC and the policies stand on the physical ports, also of a port channel. */
static void put_port_qos(const struct switch_class *class, struct strbuf *b)
{
	if (!class->known)
		return;
	/* link level flow control and PFC exclude each other */
	if (class->pfc)
		strbuf_puts(b, " flowcontrol receive off\n flowcontrol transmit off\n"
			       " priority-flow-control mode on\n"
			       " service-policy input type network-qos ROCE-PFC\n");
	if (has_queuing(class))
		strbuf_puts(b, " service-policy output type queuing ROCE-OUT\n");
	if (class->scheduled)
		strbuf_puts(b, " ets mode on\n");
	strbuf_puts(b, " qos-map traffic-class ROCE-MAP\n trust-map dscp ROCE-TRUST\n");
}

static void put_interface(const struct switch_plan *plan, const struct switch_interface *interface,
			  struct strbuf *b)
{
	if (interface->number) {
		strbuf_printf(b, "!\ninterface port-channel%u\n description %s:%s\n no shutdown\n",
			      interface->number, interface->node, interface->link);
		put_switchport(plan, interface, b);
		put_mtu(plan, b);
		if (interface->pair)
			strbuf_printf(b, " vlt-port-channel %u\n", interface->number);
	}
	for (size_t i = 0; i < interface->n_members; i++) {
		const struct switch_member *member = &interface->members[i];

		strbuf_printf(b, "!\ninterface %s\n description %s:%s\n no shutdown\n",
			      member->port, interface->node, member->link);
		if (interface->number) {
			strbuf_printf(b, " no switchport\n channel-group %u mode active\n",
				      interface->number);
			if (plan->lacp_rate)
				strbuf_printf(b, " lacp rate %s\n",
					      !strcmp(plan->lacp_rate, "fast") ? "fast" : "normal");
		} else {
			put_switchport(plan, interface, b);
		}
		put_mtu(plan, b);
		put_port_qos(&plan->class, b);
	}
}

static void os10_config(const struct switch_plan *plan, const struct switch_device *device,
			struct strbuf *b)
{
	if (plan->class.known)
		put_qos(plan, b);
	for (size_t i = 0; i < plan->n_vlans; i++)
		strbuf_printf(b, "!\ninterface vlan%u\n no shutdown\n", plan->vlans[i]);
	for (size_t i = 0; i < device->n_interfaces; i++)
		put_interface(plan, &device->interfaces[i], b);
}

static void os10_notes(const struct switch_plan *plan, char ***notes)
{
	const struct switch_class *class = &plan->class;

	if (class->watchdog)
		strings_add(notes, xstrdup("PFC watchdog: no command of OS10 for it is known "
					   "here"));
	if (class->pfc && plan->headroom)
		strings_add(notes,
			    xasprintf("headroom of %lld bytes: `pause` takes the reserved buffer "
				      "of the platform; `pause buffer-size KB pause-threshold KB "
				      "resume-threshold KB` sets another",
				      (long long)plan->headroom));
	if (class->pfc)
		strings_add(notes, xstrdup("`dcbx enable` must not be set: a willing port would "
					   "take its settings from the peer"));
	if (class->ecn && class->ecn_max > WRED_MAX_KB * 1024LL)
		strings_add(notes, xasprintf("ECN: thresholds end at %d KB on OS10", WRED_MAX_KB));
	if (switch_has_pair(plan))
		strings_add(notes, xstrdup("vlt-port-channel: the vlt-domain with its "
					   "discovery-interface must be there before"));
}

static void os10_verify(const struct switch_plan *plan, const struct switch_device *device,
			struct strbuf *b)
{
	const struct switch_class *class = &plan->class;
	const struct switch_interface *bundle = switch_first_bundle(device);
	const char *port = switch_first_port(device);

	switch_heading(b, "Apply");
	strbuf_puts(b, "  copy running-configuration config://before-roce.xml\n"
		       "  configure terminal\n"
		       "  (paste config.cfg)\n"
		       "  write memory\n\n"
		       "Back: copy config://before-roce.xml startup-configuration, reload\n");
	switch_heading(b, "Look");
	if (class->known) {
		_cleanup_free_ char *qos = xasprintf("show qos interface %s", port);
		_cleanup_free_ char *queues =
			xasprintf("show queuing statistics interface %s", port);

		switch_check(b, "show qos maps", "ROCE-TRUST: DSCP %d is qos-group %d, 0 is 0; "
						 "ROCE-MAP: qos-group %d is queue %d",
			     class->dscp, class->priority, class->priority, class->priority);
		switch_check(b, qos, "the trust map, the queue map and the policies of config.cfg");
		switch_check(b, queues, "RoCE traffic counts in queue %d, dropped stays 0",
			     class->priority);
	}
	if (class->pfc) {
		_cleanup_free_ char *pfc =
			xasprintf("show interface %s priority-flow-control details", port);

		switch_check(b, pfc, "Admin Mode On, Operstatus On, PFC priorities %d only; under "
				     "load Cos %d counts, Rx and Tx",
			     class->priority, class->priority);
	}
	if (class->ecn)
		switch_check(b, "show qos wred-profile ROCE-ECN",
			     "green %lld to %lld KB, %d, ECN on",
			     kilobytes(class->ecn_min), kilobytes(class->ecn_max),
			     class->ecn_probability);
	if (class->known) {
		_cleanup_free_ char *dcbx = xasprintf("show lldp dcbx interface %s", port);

		switch_check(b, dcbx, "DCBX is disabled");
	}
	if (bundle) {
		switch_check(b, "show port-channel summary", "%u: U, every port (P)",
			     bundle->number);
		switch_check(b, "show lacp port-channel",
			     "port-channel %u up, mode lacp; members A%s E G I K",
			     bundle->number,
			     plan->lacp_rate && !strcmp(plan->lacp_rate, "fast") ? " C" : " D");
	}
	if (bundle && switch_has_pair(plan))
		switch_check(b, "show vlt all vlt-port-detail", "vlt-port-channel %u: up on both",
			     bundle->number);
	if (plan->n_vlans)
		switch_check(b, "show vlan", "the host ports in their VLANs");
	if (plan->mtu) {
		_cleanup_free_ char *mtu = xasprintf("show interface %s", port);

		switch_check(b, mtu, "MTU %lld bytes", (long long)switch_mtu(plan, &switch_os10));
	}
}

const struct switch_system switch_os10 = {
	.platform = "os10",
	.title = "Dell SmartFabric OS10",
	.file = "config.cfg",
	.comment = "!",
	.documents = "Dell EMC SmartFabric OS10 User Guide 10.5, \"PFC configuration notes\", "
		     "\"ETS configuration notes\", \"Configure ETS\"\n"
		     "the same, \"Quality of service\": trust dscp-map, qos-map, random-detect "
		     "color, random-detect ecn\n"
		     "the same, \"LACP commands\", \"Rates\", \"Virtual Link Trunking\"\n",
	.mtu_max = 9216,
	.port_channel_max = 128,	/* "LACP commands": channel-group 1 to 128 */
	.vlan_min = 1,
	.description_max = 240,
	.notes = os10_notes,
	.config = os10_config,
	.verify = os10_verify,
};
