/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cisco NX-OS on Nexus 9000.
 *
 * Source: Cisco Nexus 9000 Series NX-OS Quality of Service Configuration Guide, Release 10.5(x):
 * "Configuring Classification", "Configuring Network QoS", "Configuring Queuing and Scheduling",
 * "Configuring Priority Flow Control"; Interfaces Configuration Guide: "Configuring Port
 * Channels", "Configuring vPCs". The whole of it with the eight system-defined queues is also in
 * Microsoft's Azure Local reference for Nexus (QOS-Policy). What was compared: docs/switch.md.
 */
#include <string.h>

#include "base/strings.h"
#include "render/switch.h"

/* Strict priority is given to the highest queues: "Guidelines and Limitations" of queuing. The
 * number means nothing outside of the switch. */
static int notification_queue(const struct switch_class *class)
{
	return class->priority == 7 ? 6 : 7;
}

static void put_classification(const struct switch_class *class, struct strbuf *b)
{
	strbuf_printf(b, "!\nclass-map type qos match-any ROCE\n  match dscp %d\n", class->dscp);
	if (class->cnp_dscp >= 0)
		strbuf_printf(b, "class-map type qos match-any ROCE-CNP\n  match dscp %d\n",
			      class->cnp_dscp);
	strbuf_printf(b, "policy-map type qos ROCE-IN\n  class ROCE\n    set qos-group %d\n",
		      class->priority);
	if (class->cnp_dscp >= 0)
		strbuf_printf(b, "  class ROCE-CNP\n    set qos-group %d\n",
			      notification_queue(class));
	strbuf_puts(b, "  class class-default\n    set qos-group 0\n");
}

static void put_network_qos(const struct switch_plan *plan, struct strbuf *b)
{
	_cleanup_free_ char *mtu =
		plan->mtu ? xasprintf("    mtu %lld\n", (long long)switch_mtu(plan, &switch_nxos))
			  : xstrdup("");

	/* a class has the number of its qos-group: system-defined, eight queues */
	strbuf_printf(b, "!\npolicy-map type network-qos ROCE-NETWORK\n"
			 "  class type network-qos c-8q-nq%d\n%s    pause pfc-cos %d\n",
		      plan->class.priority, mtu, plan->class.priority);
	strbuf_printf(b, "  class type network-qos c-8q-nq-default\n%s", mtu);
}

static void put_queue(const struct switch_class *class, int queue, struct strbuf *b)
{
	bool roce = queue == class->priority;

	if (!class->scheduled && !roce)
		return;
	if (queue)
		strbuf_printf(b, "  class type queuing c-out-8q-q%d\n", queue);
	else
		strbuf_puts(b, "  class type queuing c-out-8q-q-default\n");
	/* queue 7 is served first in default-8q-out-policy too */
	if (class->scheduled && !roce &&
	    (queue == 7 || (class->cnp_dscp >= 0 && queue == notification_queue(class))))
		strbuf_puts(b, "    priority level 1\n");
	else if (class->scheduled)
		strbuf_printf(b, "    bandwidth remaining percent %d\n",
			      roce ? class->share : queue ? 0 : 100 - class->share);
	if (roce && class->ecn)
		strbuf_printf(b, "    random-detect minimum-threshold %lld kbytes "
				 "maximum-threshold %lld kbytes drop-probability %d weight 0 ecn\n",
			      (long long)switch_kilobytes(class->ecn_min),
			      (long long)switch_kilobytes(class->ecn_max),
			      class->ecn_probability);
}

static bool has_queuing(const struct switch_class *class)
{
	return class->scheduled || class->ecn;
}

static void put_qos(const struct switch_plan *plan, struct strbuf *b)
{
	const struct switch_class *class = &plan->class;

	put_classification(class, b);
	if (class->pfc)
		put_network_qos(plan, b);
	if (has_queuing(class)) {
		strbuf_puts(b, "!\npolicy-map type queuing ROCE-OUT\n");
		for (int queue = 7; queue >= 0; queue--)
			put_queue(class, queue, b);
	}
	if (class->pfc || has_queuing(class))
		strbuf_puts(b, "!\nsystem qos\n");
	if (class->pfc)
		strbuf_puts(b, "  service-policy type network-qos ROCE-NETWORK\n");
	if (has_queuing(class))
		strbuf_puts(b, "  service-policy type queuing output ROCE-OUT\n");
	if (class->watchdog)
		strbuf_puts(b, "!\npriority-flow-control watch-dog-interval on\n");
}

/* What a port channel and its members must have alike. */
static void put_switchport(const struct switch_plan *plan, const struct switch_interface *interface,
			   struct strbuf *b)
{
	size_t n;
	_cleanup_free_ unsigned *vlans = switch_vlans_all(plan, interface, &n);

	if (n)
		strbuf_puts(b, "  switchport\n");
	if (plan->vlan && !interface->n_vlans)
		strbuf_printf(b, "  switchport mode access\n  switchport access vlan %lld\n",
			      (long long)plan->vlan);
	if (interface->n_vlans) {
		strbuf_puts(b, "  switchport mode trunk\n");
		if (plan->vlan)
			strbuf_printf(b, "  switchport trunk native vlan %lld\n",
				      (long long)plan->vlan);
		strbuf_puts(b, "  switchport trunk allowed vlan ");
		switch_vlans(b, vlans, n);
		strbuf_putc(b, '\n');
	}
	if (plan->mtu)
		strbuf_printf(b, "  mtu %lld\n", (long long)switch_mtu(plan, &switch_nxos));
}

/* What stands on the port channel, or on a port without one. */
static void put_policy(const struct switch_plan *plan, const struct switch_interface *interface,
		       struct strbuf *b)
{
	const struct switch_class *class = &plan->class;

	if (plan->n_vlans)
		strbuf_printf(b, "  spanning-tree port type edge%s\n",
			      interface->n_vlans ? " trunk" : "");
	/* "on": whatever the peer says by DCBX */
	if (class->pfc)
		strbuf_puts(b, "  priority-flow-control mode on\n");
	if (class->watchdog)
		strbuf_puts(b, "  priority-flow-control watch-dog-interval on\n");
	if (class->known)
		strbuf_puts(b, "  service-policy type qos input ROCE-IN\n");
}

static void put_interface(const struct switch_plan *plan, const struct switch_interface *interface,
			  struct strbuf *b)
{
	if (interface->number) {
		strbuf_printf(b, "!\ninterface port-channel%u\n  description %s:%s\n",
			      interface->number, interface->node, interface->link);
		put_switchport(plan, interface, b);
		put_policy(plan, interface, b);
		if (interface->pair)
			strbuf_printf(b, "  vpc %u\n", interface->number);
		strbuf_puts(b, "  no shutdown\n");
	}
	for (size_t i = 0; i < interface->n_members; i++) {
		const struct switch_member *member = &interface->members[i];

		strbuf_printf(b, "!\ninterface %s\n  description %s:%s\n", member->port,
			      interface->node, member->link);
		put_switchport(plan, interface, b);
		if (interface->number) {
			strbuf_printf(b, "  channel-group %u mode active\n", interface->number);
			if (plan->lacp_rate)
				strbuf_printf(b, "  lacp rate %s\n",
					      !strcmp(plan->lacp_rate, "fast") ? "fast" : "normal");
		} else {
			put_policy(plan, interface, b);
		}
		strbuf_puts(b, "  no shutdown\n");
	}
}

static void nxos_config(const struct switch_plan *plan, const struct switch_device *device,
			struct strbuf *b)
{
	if (switch_first_bundle(device))
		strbuf_puts(b, "!\nfeature lacp\n");
	if (plan->class.known)
		put_qos(plan, b);
	if (plan->n_vlans) {
		strbuf_puts(b, "!\nvlan ");
		switch_vlans(b, plan->vlans, plan->n_vlans);
		strbuf_putc(b, '\n');
	}
	for (size_t i = 0; i < device->n_interfaces; i++)
		put_interface(plan, &device->interfaces[i], b);
}

static void nxos_notes(const struct switch_plan *plan, char ***notes)
{
	const struct switch_class *class = &plan->class;

	if (class->known && class->cnp_dscp >= 0)
		strings_add(notes, xasprintf("congestion notifications have qos-group and queue %d "
					     "here: strict priority is for the highest",
					     notification_queue(class)));
	if (class->pfc || has_queuing(class))
		strings_add(notes, xstrdup("`system qos` replaces the network-qos and output "
					   "queuing policies of the whole switch; compare `show "
					   "policy-map system` first"));
	/* "Guidelines and Limitations for Priority Flow Control" */
	if (class->pfc && plan->buffers.input.cable_metres > 100)
		strings_add(notes, xasprintf("cables of more than 100 m need an input queuing "
					     "policy with pause buffer-size for %lld bytes of "
					     "headroom: its limits differ from platform to "
					     "platform",
					     (long long)plan->headroom));
	else if (class->pfc)
		strings_add(notes, xstrdup("headroom: up to 100 m of cable the switch reserves it "
					   "itself"));
	if (switch_has_pair(plan))
		strings_add(notes, xstrdup("vpc: `feature vpc`, the vpc domain with its "
					   "peer-keepalive and peer-link must be there before; "
					   "both switches take the same system qos policies"));
}

static void nxos_verify(const struct switch_plan *plan, const struct switch_device *device,
			struct strbuf *b)
{
	const struct switch_class *class = &plan->class;
	const struct switch_interface *bundle = switch_first_bundle(device);
	const char *port = switch_first_port(device);

	switch_heading(b, "Apply");
	strbuf_puts(b, "  checkpoint before-roce\n"
		       "  configure terminal\n"
		       "  (paste config.cfg)\n"
		       "  copy running-config startup-config\n\n"
		       "Changing a queuing policy is disruptive on all ports.\n"
		       "Back: rollback running-config checkpoint before-roce\n");
	switch_heading(b, "Look");
	if (class->known) {
		_cleanup_free_ char *policy = xasprintf("show policy-map interface %s", port);
		_cleanup_free_ char *queues = xasprintf("show queuing interface %s", port);

		switch_check(b, policy, "input ROCE-IN: class ROCE (dscp %d) counts and sets "
					"qos-group %d",
			     class->dscp, class->priority);
		switch_check(b, queues, "QOS GROUP %d: Tx Pkts count, Dropped Pkts stay 0",
			     class->priority);
	}
	if (class->pfc) {
		switch_check(b, "show policy-map system type network-qos",
			     "ROCE-NETWORK: c-8q-nq%d with pause and pfc-cos %d, no other class "
			     "with pause",
			     class->priority, class->priority);
		switch_check(b, "show interface priority-flow-control",
			     "%s and every other host port: Mode On, Oper On (%02x); RxPPP and "
			     "TxPPP count under load",
			     port, 1U << class->priority);
	}
	if (class->watchdog) {
		_cleanup_free_ char *watchdog = xasprintf("show queuing pfc-queue interface %s",
							  port);

		switch_check(b, watchdog, "watchdog enabled on queue %d, not shut down",
			     class->priority);
	}
	if (has_queuing(class))
		switch_check(b, "show policy-map system type queuing",
			     "ROCE-OUT%s%s", class->scheduled ? ", with its shares" : "",
			     class->ecn ? ", with random-detect and ecn" : "");
	if (bundle) {
		switch_check(b, "show port-channel summary", "Po%u(SU), every port (P)",
			     bundle->number);
		switch_check(b, "show lacp neighbor", "a partner on every port");
	}
	if (bundle && switch_has_pair(plan))
		switch_check(b, "show vpc brief", "id %u: up, consistency success", bundle->number);
	if (plan->n_vlans)
		switch_check(b, "show vlan brief", "the host ports in their VLANs");
	if (plan->mtu) {
		_cleanup_free_ char *mtu = xasprintf("show interface %s", port);

		switch_check(b, mtu, "MTU %lld bytes", (long long)switch_mtu(plan, &switch_nxos));
	}
}

const struct switch_system switch_nxos = {
	.platform = "nxos",
	.title = "Cisco NX-OS on Nexus 9000, eight queues",
	.file = "config.cfg",
	.comment = "!",
	.documents = "Cisco Nexus 9000 Series NX-OS Quality of Service Configuration Guide "
		     "10.5(x), \"Configuring Priority Flow Control\"\n"
		     "the same, \"Configuring Network QoS\", \"Configuring Queuing and "
		     "Scheduling\", \"Configuring Classification\"\n"
		     "Cisco Nexus 9000 Series NX-OS Interfaces Configuration Guide, \"Configuring "
		     "Port Channels\", \"Configuring vPCs\"\n",
	.mtu_max = 9216,
	.port_channel_max = 4096,
	.vlan_min = 1,
	.description_max = 254,
	.watchdog = true,
	.notes = nxos_notes,
	.config = nxos_config,
	.verify = nxos_verify,
};
