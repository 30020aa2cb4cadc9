/* SPDX-License-Identifier: Apache-2.0 */
/* Configuration of the switches: which files there are, and what stands at their top. */
#include "render/switch.h"

#include <string.h>

#include "base/strings.h"

static const struct switch_system *const systems[] = {
	&switch_sonic, &switch_nvue, &switch_eos, &switch_nxos, &switch_os10,
};

/* What was rendered, in words: the same on every system. */
static void describe_class(const struct switch_plan *plan, const struct switch_system *system,
			   char ***lines)
{
	const struct switch_class *class = &plan->class;

	if (!class->known)
		return;
	strings_add(lines, xasprintf("RoCE: DSCP %d is priority %d, with traffic class, queue and "
				     "priority group %d; all else is 0",
				     class->dscp, class->priority, class->priority));
	if (class->cnp_dscp >= 0)
		strings_add(lines, xasprintf("Congestion notifications: DSCP %d, queue %d, served "
					     "first",
					     class->cnp_dscp, class->cnp_queue));
	if (class->pfc)
		strings_add(lines,
			    xasprintf("PFC: on priority %d and no other, watchdog %s",
				      class->priority,
				      class->watchdog && system->watchdog ? "on" : "off"));
	else
		strings_add(lines, xstrdup("PFC: not declared, or declared off"));
	if (class->ecn)
		strings_add(lines,
			    xasprintf("ECN: queue %d from %lld to %lld bytes, highest probability "
				      "%d%%%s",
				      class->priority, (long long)class->ecn_min,
				      (long long)class->ecn_max, class->ecn_probability,
				      class->ecn_assumed
					      ? " (no thresholds are declared: the default of "
						"Cumulus Linux 5.14)"
					      : ""));
	else
		strings_add(lines, xstrdup("ECN: not declared, or declared off"));
	if (class->scheduled)
		strings_add(lines, xasprintf("Share: queue %d has %d%%%s, queue 0 has %d%%",
					     class->priority, class->share,
					     class->share_assumed ? " (none is declared)" : "",
					     100 - class->share));
}

static void describe_headroom(const struct switch_plan *plan, char ***lines)
{
	if (!plan->class.pfc)
		return;
	if (plan->headroom_text)
		strings_add(lines, xasprintf("Headroom computed: %s", plan->headroom_text));
	if (plan->buffers.headroom_bytes)
		strings_add(lines, xasprintf("Headroom declared: %lld bytes",
					     (long long)plan->buffers.headroom_bytes));
	if (plan->headroom)
		strings_add(lines, xasprintf("Headroom that holds, the larger: %lld bytes for "
					     "each port",
					     (long long)plan->headroom));
	else
		strings_add(lines, xstrdup("Headroom: neither declared nor computed (port_speed "
					   "and cable_metres of `switch`)"));
}

static void put_lines(struct strbuf *b, const char *comment, const char *heading,
		      char *const *lines)
{
	if (!lines)
		return;
	strbuf_printf(b, "%s%s\n", comment, heading);
	for (; *lines; lines++)
		strbuf_printf(b, "%s  %s\n", comment, *lines);
}

static void put_header(const struct switch_plan *plan, const struct switch_system *system,
		       const struct switch_device *device, char *const *notes, struct strbuf *b)
{
	_cleanup_free_ char *comment =
		system->comment ? xasprintf("%s ", system->comment) : xstrdup("");
	_cleanup_strings_ char **class = NULL;

	describe_class(plan, system, &class);
	describe_headroom(plan, &class);
	strbuf_printf(b, "%s%s: %s\n", comment, device->name, system->title);
	strbuf_printf(b, "%sOnly what RoCE needs; uplinks, management and the pair of switches "
			 "are not touched.\n",
		      comment);
	put_lines(b, comment, "What:", class);
	put_lines(b, comment, "Not configured, or by hand:", notes);
	strbuf_printf(b, "%sVendor documents (sections: docs/switch.md of railhead):\n", comment);
	for (const char *s = system->documents; *s;) {
		size_t len = strcspn(s, "\n");

		strbuf_printf(b, "%s  %.*s\n", comment, (int)len, s);
		s += len + (s[len] == '\n');
	}
}

static void refuse_same_numbers(struct switch_plan *plan)
{
	for (size_t i = 0; i < plan->n_devices; i++) {
		const struct switch_device *device = &plan->devices[i];
		const struct switch_interface *of[SWITCH_PORT_CHANNELS] = {0};

		for (size_t j = 0; j < device->n_interfaces; j++) {
			const struct switch_interface *interface = &device->interfaces[j];
			const struct switch_interface *other = of[interface->number];

			if (!interface->number)
				continue;
			if (other)
				render_refuse(plan->r,
					      "port channel %u of %s is declared for %s %s and "
					      "for %s %s",
					      interface->number, device->name, other->node,
					      other->link, interface->node, interface->link);
			of[interface->number] = interface;
		}
	}
}

/* Why a system cannot take this plan, NULL when it can. The caller frees. */
static char *unfit(const struct switch_plan *plan, const struct switch_system *system)
{
	if (plan->host_mtu > system->mtu_max)
		return xasprintf("hosts have an MTU of %lld, it takes up to %lld",
				 (long long)plan->host_mtu, (long long)system->mtu_max);
	if (plan->n_vlans && plan->vlans[0] < system->vlan_min)
		return xasprintf("VLAN %u cannot be configured on it", plan->vlans[0]);
	for (size_t i = 0; i < plan->n_devices; i++) {
		const struct switch_device *device = &plan->devices[i];

		for (size_t j = 0; j < device->n_interfaces; j++) {
			const struct switch_interface *interface = &device->interfaces[j];

			if (interface->number > system->port_channel_max)
				return xasprintf("port channel %u for %s %s: it has 1 to %u",
						 interface->number, interface->node,
						 interface->link, system->port_channel_max);
			if (strlen(interface->node) + 1 + strlen(interface->link) >
			    system->description_max)
				return xasprintf("'%s %s' is too long for a description of %zu",
						 interface->node, interface->link,
						 system->description_max);
		}
	}
	return NULL;
}

static void render_device(struct switch_plan *plan, const struct switch_system *system,
			  const struct switch_device *device, char *const *notes)
{
	_cleanup_free_ char *what = xasprintf("%s: configuration of %s", device->name,
					      system->title);
	_cleanup_free_ char *how = xasprintf("%s: how it is applied, and the commands that show "
					     "that it took effect",
					     device->name);
	struct render_file *file;

	file = render_file_add(plan->r, 0644, what, "switch/%s/%s/%s", system->platform,
			       device->name, system->file);
	if (system->comment)
		put_header(plan, system, device, notes, &file->text);
	system->config(plan, device, &file->text);

	file = render_file_add(plan->r, 0644, how, "switch/%s/%s/verify.txt", system->platform,
			       device->name);
	put_header(plan, system, device, notes, &file->text);
	if (!system->comment)
		strbuf_puts(&file->text, "The configuration has no comments: its format has "
					 "none.\n");
	system->verify(plan, device, &file->text);
}

static void render_system(struct switch_plan *plan, const struct switch_system *system,
			  bool chosen)
{
	_cleanup_strings_ char **notes = NULL;
	_cleanup_free_ char *why = unfit(plan, system);

	if (why && chosen) {
		render_refuse(plan->r, "switch/platform %s: %s", system->platform, why);
		return;
	}
	if (why) {
		render_note(plan->r, "switch/%s: not rendered: %s", system->platform, why);
		return;
	}
	for (char **note = plan->notes; note && *note; note++)
		strings_add(&notes, xstrdup(*note));
	if (plan->mtu > system->mtu_max)
		strings_add(&notes, xasprintf("switch/mtu %lld: this system takes up to %lld",
					      (long long)plan->mtu, (long long)system->mtu_max));
	system->notes(plan, &notes);
	for (char **note = notes; note && *note; note++)
		if (!strings_have(plan->notes, *note))
			render_note(plan->r, "switch/%s: %s", system->platform, *note);
	for (size_t i = 0; i < plan->n_devices; i++)
		render_device(plan, system, &plan->devices[i], notes);
}

void render_switch(struct render *r)
{
	struct switch_plan plan = { .r = r };
	const char *platform =
		json_get_string(render_declared(r, "/switch"), "platform", NULL);

	plan.buffers = switch_buffers_of(r->site);
	plan.mtu = switch_number(&plan, "mtu");
	plan.vlan = switch_number(&plan, "vlan");
	plan.lacp_rate = json_get_string(render_declared(r, "/switch"), "lacp_rate", NULL);
	switch_ports_find(&plan);
	refuse_same_numbers(&plan);
	if (plan.n_devices) {
		switch_class_read(&plan);
		switch_headroom(&plan);
		if (!plan.mtu)
			strings_add(&plan.notes,
				    xstrdup("no switch/mtu is declared: ports keep their MTU"));
		for (char **note = plan.notes; note && *note; note++)
			render_note(r, "switch: %s", *note);
		for (size_t i = 0; i < ARRAY_SIZE(systems); i++)
			if (!platform || !strcmp(systems[i]->platform, platform))
				render_system(&plan, systems[i], platform != NULL);
	}
	switch_ports_clear(&plan);
	strings_free(plan.notes);
	free(plan.headroom_text);
}
