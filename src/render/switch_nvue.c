/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVIDIA Cumulus Linux, NVUE commands.
 *
 * Source: Cumulus Linux 5.14 User Guide (docs.nvidia.com/networking-ethernet-software/
 * cumulus-linux-514): "Quality of Service", "Bonding - Link Aggregation", "VLAN-aware Bridge Mode",
 * "Multi-Chassis Link Aggregation - MLAG", "Link Layer Discovery Protocol". What was compared:
 * docs/switch.md.
 *
 * `nv set qos roce` is not used: it brings DSCP 26, priority 3 and a DCBX application TLV of its
 * own. The same guide has a command for each of the parts.
 */
#include <string.h>

#include "base/strings.h"
#include "render/switch.h"

#define PROFILE "roce"

/* "Trust DSCP" and "Port Groups" */
static void put_maps(const struct switch_class *class, struct strbuf *b)
{
	int tc = class->priority;

	strbuf_puts(b, "\n# DSCP to switch priority to traffic class\n"
		       "nv set qos mapping " PROFILE " trust l3\n");
	strbuf_puts(b, "nv set qos mapping " PROFILE " dscp ");
	switch_other_dscps(b, class, ",", false);
	strbuf_puts(b, " switch-priority 0\n");
	strbuf_printf(b, "nv set qos mapping " PROFILE " dscp %d switch-priority %d\n", class->dscp,
		      tc);
	if (class->cnp_dscp >= 0)
		strbuf_printf(b, "nv set qos mapping " PROFILE " dscp %d switch-priority %d\n",
			      class->cnp_dscp, class->cnp_queue);
	/* "Egress Queues": one profile for all ports */
	strbuf_printf(b, "nv set qos egress-queue-mapping default-global switch-priority %d "
			 "traffic-class %d\n",
		      tc, tc);
}

/* "Flow Control Buffers", "Priority Flow Control (PFC)", "Traffic Pools" */
static void put_pfc(const struct switch_plan *plan, struct strbuf *b)
{
	strbuf_puts(b, "\n# PFC, with half of the buffer for lossless traffic\n"
		       "nv set qos traffic-pool default-lossless memory-percent 50\n"
		       "nv set qos traffic-pool default-lossy memory-percent 50\n");
	strbuf_printf(b, "nv set qos pfc " PROFILE " switch-priority %d\n", plan->class.priority);
	strbuf_puts(b, "nv set qos pfc " PROFILE " tx enable\n"
		       "nv set qos pfc " PROFILE " rx enable\n");
	if (plan->buffers.input.cable_metres)
		strbuf_printf(b, "nv set qos pfc " PROFILE " cable-length %lld\n",
			      (long long)plan->buffers.input.cable_metres);
}

/* "Congestion Control (ECN)", in bytes */
static void put_ecn(const struct switch_class *class, struct strbuf *b)
{
	_cleanup_free_ char *queue = xasprintf("nv set qos congestion-control " PROFILE
					       " traffic-class %d", class->priority);

	strbuf_puts(b, "\n# ECN\n");
	strbuf_printf(b, "%s min-threshold %lld\n", queue, (long long)class->ecn_min);
	strbuf_printf(b, "%s max-threshold %lld\n", queue, (long long)class->ecn_max);
	strbuf_printf(b, "%s probability %d\n", queue, class->ecn_probability);
	strbuf_printf(b, "%s ecn enable\n%s red disable\n", queue, queue);
}

/* "Egress Scheduler" */
static void put_shares(const struct switch_class *class, struct strbuf *b)
{
	static const char scheduler[] = "nv set qos egress-scheduler " PROFILE " traffic-class";

	strbuf_puts(b, "\n# Shares\n");
	strbuf_printf(b, "%s 0 mode dwrr\n", scheduler);
	strbuf_printf(b, "%s 0 bw-percent %d\n", scheduler, 100 - class->share);
	strbuf_printf(b, "%s %d mode dwrr\n", scheduler, class->priority);
	strbuf_printf(b, "%s %d bw-percent %d\n", scheduler, class->priority, class->share);
	if (class->cnp_dscp >= 0)
		strbuf_printf(b, "%s %d mode strict\n", scheduler, class->cnp_queue);
}

static void put_qos(const struct switch_plan *plan, struct strbuf *b)
{
	put_maps(&plan->class, b);
	if (plan->class.pfc)
		put_pfc(plan, b);
	if (plan->class.ecn)
		put_ecn(&plan->class, b);
	if (plan->class.scheduled)
		put_shares(&plan->class, b);
}

/* "You cannot enable the watchdog on a bond", nor PFC: QoS stands on the ports. */
static void put_port_qos(const struct switch_class *class, const char *port, struct strbuf *b)
{
	if (!class->known)
		return;
	strbuf_printf(b, "nv set interface %s qos mapping profile " PROFILE "\n", port);
	if (class->pfc)
		strbuf_printf(b, "nv set interface %s qos pfc profile " PROFILE "\n", port);
	if (class->watchdog)
		strbuf_printf(b, "nv set interface %s qos pfc-watchdog\n", port);
	if (class->ecn)
		strbuf_printf(b, "nv set interface %s qos congestion-control profile " PROFILE "\n",
			      port);
	if (class->scheduled)
		strbuf_printf(b, "nv set interface %s qos egress-scheduler profile " PROFILE "\n",
			      port);
}

static void put_interface(const struct switch_plan *plan, const struct switch_interface *interface,
			  struct strbuf *b)
{
	_cleanup_free_ char *bond = xasprintf("bond%u", interface->number);
	const char *name = interface->number ? bond : interface->members[0].port;

	strbuf_printf(b, "\n# %s %s\n", interface->node, interface->link);
	for (size_t i = 0; interface->number && i < interface->n_members; i++)
		strbuf_printf(b, "nv set interface %s bond member %s\n", name,
			      interface->members[i].port);
	if (interface->number) {
		strbuf_printf(b, "nv set interface %s bond mode lacp\n", name);
		if (plan->lacp_rate)
			strbuf_printf(b, "nv set interface %s bond lacp-rate %s\n", name,
				      plan->lacp_rate);
	}
	if (interface->pair)
		strbuf_printf(b, "nv set interface %s bond mlag id %u\n", name, interface->number);
	if (plan->mtu)
		strbuf_printf(b, "nv set interface %s link mtu %lld\n", name,
			      (long long)switch_mtu(plan, &switch_nvue));
	if (plan->vlan || interface->n_vlans)
		strbuf_printf(b, "nv set interface %s bridge domain br_default\n", name);
	if (plan->vlan && !interface->n_vlans)
		strbuf_printf(b, "nv set interface %s bridge domain br_default access %lld\n", name,
			      (long long)plan->vlan);
	if (interface->n_vlans) {
		strbuf_printf(b, "nv set interface %s bridge domain br_default vlan ", name);
		switch_vlans(b, interface->vlans, interface->n_vlans);
		strbuf_printf(b, "\nnv set interface %s bridge domain br_default untagged ", name);
		if (plan->vlan)
			strbuf_printf(b, "%lld\n", (long long)plan->vlan);
		else
			strbuf_puts(b, "none\n");
	}
	for (size_t i = 0; i < interface->n_members; i++)
		put_port_qos(&plan->class, interface->members[i].port, b);
}

static void nvue_config(const struct switch_plan *plan, const struct switch_device *device,
			struct strbuf *b)
{
	strbuf_puts(b, "\nset -e\n");
	if (plan->class.known)
		put_qos(plan, b);
	if (plan->n_vlans) {
		strbuf_puts(b, "\n# VLANs\nnv set bridge domain br_default vlan ");
		switch_vlans(b, plan->vlans, plan->n_vlans);
		strbuf_putc(b, '\n');
	}
	for (size_t i = 0; i < device->n_interfaces; i++)
		put_interface(plan, &device->interfaces[i], b);
}

static void nvue_notes(const struct switch_plan *plan, char ***notes)
{
	/* "Reserved VLAN Range" */
	for (size_t i = 0; i < plan->n_vlans; i++)
		if (plan->vlans[i] >= 3725 && plan->vlans[i] <= 3999)
			strings_add(notes,
				    xasprintf("VLAN %u is in the range that Cumulus Linux keeps "
					      "for itself (3725 to 3999): move that range first",
					      plan->vlans[i]));
	if (plan->class.known)
		strings_add(notes, xstrdup("`nv set qos roce` must not be set besides: it has a "
					   "map, a pool and a TLV of its own"));
	if (plan->class.pfc && plan->buffers.headroom_bytes)
		strings_add(notes, xstrdup("the switch computes the headroom from cable-length; "
					   "NVIDIA advises against setting port-buffer and "
					   "xoff-threshold"));
	if (switch_has_pair(plan))
		strings_add(notes, xstrdup("MLAG: peerlink, mac-address, backup and peer-ip of the "
					   "pair must be there before"));
}

static void verify_qos(const struct switch_plan *plan, const char *port, struct strbuf *b)
{
	const struct switch_class *class = &plan->class;

	if (class->known) {
		_cleanup_free_ char *dscp =
			xasprintf("nv show qos mapping " PROFILE " dscp %d", class->dscp);

		switch_check(b, dscp, "switch-priority %d, operational and applied",
			     class->priority);
		switch_check(b, "nv show qos mapping " PROFILE " dscp 0", "switch-priority 0");
		switch_check(b, "nv show qos egress-queue-mapping default-global",
			     "switch-priority %d is traffic-class %d", class->priority,
			     class->priority);
	}
	if (class->pfc) {
		_cleanup_free_ char *counters =
			xasprintf("nv show interface %s counters qos", port);

		switch_check(b, "nv show qos pfc " PROFILE,
			     "switch-priority %d only, rx and tx enable, port-buffer less "
			     "xoff-threshold at least %lld",
			     class->priority, (long long)plan->headroom);
		switch_check(b, counters, "under load pause frames of priority %d only; ingress "
					  "discards stay 0",
			     class->priority);
	}
	if (class->watchdog) {
		_cleanup_free_ char *watchdog =
			xasprintf("nv show interface %s qos pfc-watchdog", port);

		switch_check(b, watchdog, "state enabled; traffic class %d is OK, deadlock-count 0",
			     class->priority);
	}
	if (class->ecn) {
		_cleanup_free_ char *ecn = xasprintf("nv show interface %s qos congestion-control",
						     port);

		switch_check(b, "nv show qos congestion-control " PROFILE,
			     "traffic class %d: ECN enable, RED disable, %lld B to %lld B, %d",
			     class->priority, (long long)class->ecn_min, (long long)class->ecn_max,
			     class->ecn_probability);
		switch_check(b, ecn, "profile " PROFILE "; the ASIC may round the thresholds");
	}
	if (class->scheduled)
		switch_check(b, "nv show qos egress-scheduler " PROFILE,
			     "traffic class %d: dwrr %d, 0: dwrr %d", class->priority, class->share,
			     100 - class->share);
	if (class->known) {
		_cleanup_free_ char *tlv = xasprintf("sudo lldpctl %s", port);

		switch_check(b, tlv, "no DCBX TLVs go to the host: they are off by default");
	}
}

static void verify_links(const struct switch_plan *plan, const struct switch_interface *bundle,
			 const char *port, struct strbuf *b)
{
	if (bundle) {
		_cleanup_free_ char *bond = xasprintf("nv show interface bond%u bond",
						      bundle->number);

		switch_check(b, bond, "mode lacp, every member up");
	}
	if (bundle && switch_has_pair(plan)) {
		_cleanup_free_ char *mlag = xasprintf("nv show interface bond%u bond mlag",
						      bundle->number);

		switch_check(b, mlag, "id %u, status dual", bundle->number);
	}
	if (plan->n_vlans)
		switch_check(b, "bridge -c vlan show", "the host ports with their VLANs");
	if (plan->mtu) {
		_cleanup_free_ char *mtu = xasprintf("nv show interface %s link", port);

		switch_check(b, mtu, "mtu %lld", (long long)switch_mtu(plan, &switch_nvue));
	}
}

static void nvue_verify(const struct switch_plan *plan, const struct switch_device *device,
			struct strbuf *b)
{
	const char *port = switch_first_port(device);

	switch_heading(b, "Apply");
	strbuf_puts(b, "  bash config.nv\n"
		       "  nv config diff\n"
		       "  nv config apply\n"
		       "  nv config save\n\n"
		       "Applying PFC changes the buffers of the ASIC: a moment of loss on all "
		       "ports.\nBack: nv config history, nv config apply REVISION\n");
	switch_heading(b, "Look");
	verify_qos(plan, port, b);
	verify_links(plan, switch_first_bundle(device), port, b);
}

const struct switch_system switch_nvue = {
	.platform = "nvue",
	.title = "NVIDIA Cumulus Linux 5.4 and later, NVUE commands",
	.file = "config.nv",
	.comment = "#",
	.documents = "Cumulus Linux 5.14 User Guide, \"Quality of Service\"\n"
		     "the same, \"Bonding - Link Aggregation\", \"Multi-Chassis Link Aggregation "
		     "- MLAG\"\n"
		     "the same, \"VLAN-aware Bridge Mode\", \"Link Layer Discovery Protocol\"\n",
	.mtu_max = 9216,
	.port_channel_max = 9999,
	.vlan_min = 1,
	.description_max = 512,	/* only in comments */
	.watchdog = true,
	.notes = nvue_notes,
	.config = nvue_config,
	.verify = nvue_verify,
};
