/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SONiC (community, 202111 and later): a part of config_db.json.
 *
 * Tables and fields as in sonic-net/sonic-buildimage, src/sonic-yang-models/yang-models, and in
 * files/build_templates/qos_config.j2; buffers as in sonic-net/SONiC,
 * doc/qos/dynamically-headroom-calculation.md, and sonic-net/sonic-swss, cfgmgr/buffermgr.cpp;
 * commands as in sonic-net/sonic-utilities, doc/Command-Reference.md. What was compared:
 * docs/switch.md.
 */
#include <string.h>

#include "base/strings.h"
#include "render/switch.h"

#define MAP "ROCE"
#define PROFILE "ROCE_LOSSLESS"
/* Of the examples for 100 Gbit/s in the headroom document. Between XOFF and XON; the vendor of the
 * ASIC gives its own in pg_profile_lookup.ini. */
#define XON_BYTES 18432

/* All values of config_db.json are text. */
static void put_number(json_t *object, const char *key, int64_t value)
{
	json_put_stringf(object, key, "%lld", (long long)value);
}

/* The row of a table whose key has two parts. */
static json_t *row_of(json_t *table, const char *name, const char *part)
{
	_cleanup_free_ char *key = xasprintf("%s|%s", name, part);

	return json_obj(table, key);
}

static bool is_dynamic(const struct switch_plan *plan)
{
	const char *model =
		json_get_string(render_declared(plan->r, "/switch"), "buffer_model", "");

	return !strcmp(model, "dynamic");
}

/* With a headroom of the user's own; otherwise the switch makes the profile. */
static char *profile_name(const struct switch_plan *plan)
{
	if (!plan->class.pfc || !plan->buffers.headroom_bytes)
		return NULL;
	if (is_dynamic(plan))
		return xstrdup(PROFILE);
	/* buffermgr.cpp, doSpeedUpdateTask(): a profile of this name is used if it is there */
	if (plan->buffers.input.speed_mbps && plan->buffers.input.cable_metres)
		return xasprintf("pg_lossless_%lld_%lldm_profile", (long long)plan->buffers.input.speed_mbps,
				 (long long)plan->buffers.input.cable_metres);
	return NULL;
}

static void put_interfaces(const struct switch_plan *plan, const struct switch_device *device,
			   json_t *config)
{
	int64_t domain = switch_number(plan, "mclag_domain");

	for (size_t i = 0; i < device->n_interfaces; i++) {
		const struct switch_interface *interface = &device->interfaces[i];
		_cleanup_free_ char *bundle = xasprintf("PortChannel%u", interface->number);
		const char *name = interface->number ? bundle : interface->members[0].port;

		for (size_t j = 0; j < interface->n_members; j++) {
			json_t *port = json_obj(json_obj(config, "PORT"),
						interface->members[j].port);

			json_put_stringf(port, "description", "%s:%s", interface->node,
					 interface->members[j].link);
			/* a member takes the MTU of its bundle: sonic-portchannel.yang */
			if (!interface->number && plan->mtu)
				put_number(port, "mtu", switch_mtu(plan, &switch_sonic));
		}
		if (interface->number) {
			json_t *row = json_obj(json_obj(config, "PORTCHANNEL"), name);

			json_put_string(row, "admin_status", "up");
			json_put_stringf(row, "description", "%s:%s", interface->node,
					 interface->link);
			json_put_string(row, "lacp_key", "auto");
			json_put_string(row, "min_links", "1");
			if (plan->mtu)
				put_number(row, "mtu", switch_mtu(plan, &switch_sonic));
			if (plan->lacp_rate)
				json_put_string(row, "fast_rate",
						!strcmp(plan->lacp_rate, "fast") ? "true"
										 : "false");
			for (size_t j = 0; j < interface->n_members; j++)
				row_of(json_obj(config, "PORTCHANNEL_MEMBER"), name,
				       interface->members[j].port);
		}
		if (interface->pair) {
			_cleanup_free_ char *id =
				xasprintf("%lld", domain ? (long long)domain : 1LL);

			json_put_string(row_of(json_obj(config, "MCLAG_INTERFACE"), id, name),
					"if_type", "PortChannel");
		}
	}
}

static void put_vlan_member(json_t *config, int64_t vlan, const char *name, const char *mode)
{
	_cleanup_free_ char *of = xasprintf("Vlan%lld", (long long)vlan);

	put_number(json_obj(json_obj(config, "VLAN"), of), "vlanid", vlan);
	json_put_string(row_of(json_obj(config, "VLAN_MEMBER"), of, name), "tagging_mode", mode);
}

static void put_vlans(const struct switch_plan *plan, const struct switch_device *device,
		      json_t *config)
{
	for (size_t i = 0; i < device->n_interfaces; i++) {
		const struct switch_interface *interface = &device->interfaces[i];
		_cleanup_free_ char *bundle = xasprintf("PortChannel%u", interface->number);
		const char *name = interface->number ? bundle : interface->members[0].port;

		if (plan->vlan)
			put_vlan_member(config, plan->vlan, name, "untagged");
		for (size_t j = 0; j < interface->n_vlans; j++)
			put_vlan_member(config, interface->vlans[j], name, "tagged");
	}
}

static void put_maps(const struct switch_class *class, json_t *config)
{
	json_t *dscp = json_obj(json_obj(config, "DSCP_TO_TC_MAP"), MAP);
	json_t *queue = json_obj(json_obj(config, "TC_TO_QUEUE_MAP"), MAP);
	json_t *group = json_obj(json_obj(config, "TC_TO_PRIORITY_GROUP_MAP"), MAP);
	json_t *pfc = class->pfc ? json_obj(json_obj(config, "MAP_PFC_PRIORITY_TO_QUEUE"), MAP)
				 : NULL;

	for (int i = 0; i < 64; i++) {
		char key[8];

		snprintf(key, sizeof(key), "%d", i);
		put_number(dscp, key,
			   i == class->dscp	  ? class->priority
			   : i == class->cnp_dscp ? class->cnp_queue
						  : 0);
		if (i > 7)
			continue;
		put_number(queue, key, i);
		put_number(group, key, i == class->priority ? i : 0);
		if (pfc)
			put_number(pfc, key, i);
	}
}

static void put_scheduler(const struct switch_class *class, json_t *config)
{
	json_t *table;

	if (!class->scheduled)
		return;
	table = json_obj(config, "SCHEDULER");
	json_put_string(json_obj(table, "ROCE_SHARE"), "type", "DWRR");
	put_number(json_obj(table, "ROCE_SHARE"), "weight", class->share);
	json_put_string(json_obj(table, "REST_SHARE"), "type", "DWRR");
	put_number(json_obj(table, "REST_SHARE"), "weight", 100 - class->share);
	if (class->cnp_dscp >= 0)
		json_put_string(json_obj(table, "CNP_FIRST"), "type", "STRICT");
}

static void put_wred(const struct switch_class *class, json_t *config)
{
	static const char *const colours[] = { "green", "yellow", "red" };
	json_t *profile;

	if (!class->ecn)
		return;
	profile = json_obj(json_obj(config, "WRED_PROFILE"), MAP);
	json_put_string(profile, "ecn", "ecn_all");
	for (size_t i = 0; i < ARRAY_SIZE(colours); i++) {
		_cleanup_free_ char *enable = xasprintf("wred_%s_enable", colours[i]);
		_cleanup_free_ char *min = xasprintf("%s_min_threshold", colours[i]);
		_cleanup_free_ char *max = xasprintf("%s_max_threshold", colours[i]);
		_cleanup_free_ char *probability = xasprintf("%s_drop_probability", colours[i]);

		json_put_string(profile, enable, "true");
		put_number(profile, min, class->ecn_min);
		put_number(profile, max, class->ecn_max);
		put_number(profile, probability, class->ecn_probability);
	}
}

static void put_port_qos(const struct switch_plan *plan, const char *port, json_t *config)
{
	const struct switch_class *class = &plan->class;
	json_t *map = json_obj(json_obj(config, "PORT_QOS_MAP"), port);
	_cleanup_free_ char *priority = xasprintf("%d", class->priority);

	json_put_string(map, "dscp_to_tc_map", MAP);
	json_put_string(map, "tc_to_queue_map", MAP);
	json_put_string(map, "tc_to_pg_map", MAP);
	if (class->pfc) {
		json_put_string(map, "pfc_to_queue_map", MAP);
		json_put_string(map, "pfc_enable", priority);
	}
	if (class->watchdog)
		json_put_string(map, "pfcwd_sw_enable", priority);
}

static void put_port_queues(const struct switch_plan *plan, const char *port, json_t *config)
{
	const struct switch_class *class = &plan->class;
	_cleanup_free_ char *priority = xasprintf("%d", class->priority);
	json_t *table = class->scheduled || class->ecn ? json_obj(config, "QUEUE") : NULL;

	if (class->scheduled) {
		json_put_string(row_of(table, port, "0"), "scheduler", "REST_SHARE");
		json_put_string(row_of(table, port, priority), "scheduler", "ROCE_SHARE");
	}
	if (class->scheduled && class->cnp_dscp >= 0) {
		_cleanup_free_ char *queue = xasprintf("%d", class->cnp_queue);

		json_put_string(row_of(table, port, queue), "scheduler", "CNP_FIRST");
	}
	if (class->ecn)
		json_put_string(row_of(table, port, priority), "wred_profile", MAP);
}

static void put_port_buffer(const struct switch_plan *plan, const char *port, const char *profile,
			    json_t *config)
{
	_cleanup_free_ char *priority = xasprintf("%d", plan->class.priority);

	if (plan->buffers.input.cable_metres)
		json_put_stringf(json_obj(json_obj(config, "CABLE_LENGTH"), "AZURE"), port, "%lldm",
				 (long long)plan->buffers.input.cable_metres);
	/* the traditional model makes this row itself, from pfc_enable */
	if (is_dynamic(plan))
		json_put_string(row_of(json_obj(config, "BUFFER_PG"), port, priority), "profile",
				profile ? profile : "NULL");
}

static void put_port_watchdog(const char *port, json_t *config)
{
	json_t *table = json_obj(config, "PFC_WD");

	/* what `pfcwd start_default` sets, in milliseconds */
	json_put_string(json_obj(table, "GLOBAL"), "POLL_INTERVAL", "200");
	json_put_string(json_obj(table, port), "action", "drop");
	json_put_string(json_obj(table, port), "detection_time", "200");
	json_put_string(json_obj(table, port), "restoration_time", "200");
}

static void put_qos(const struct switch_plan *plan, const struct switch_device *device,
		    json_t *config)
{
	const struct switch_class *class = &plan->class;
	_cleanup_free_ char *profile = profile_name(plan);

	put_maps(class, config);
	put_scheduler(class, config);
	put_wred(class, config);
	if (profile) {
		json_t *row = json_obj(json_obj(config, "BUFFER_PROFILE"), profile);

		json_put_string(row, "pool", "ingress_lossless_pool");
		put_number(row, "xon", XON_BYTES);
		put_number(row, "xoff", plan->headroom);
		put_number(row, "size", XON_BYTES + plan->headroom);
		json_put_string(row, "dynamic_th", "0");
	}
	for (size_t i = 0; i < device->n_interfaces; i++) {
		const struct switch_interface *interface = &device->interfaces[i];

		for (size_t j = 0; j < interface->n_members; j++) {
			const char *port = interface->members[j].port;

			put_port_qos(plan, port, config);
			put_port_queues(plan, port, config);
			if (class->pfc)
				put_port_buffer(plan, port, profile, config);
			if (class->watchdog)
				put_port_watchdog(port, config);
		}
	}
}

static void sonic_config(const struct switch_plan *plan, const struct switch_device *device,
			 struct strbuf *b)
{
	_cleanup_json_ json_t *config = json_object_new();

	put_interfaces(plan, device, config);
	put_vlans(plan, device, config);
	if (plan->class.known)
		put_qos(plan, device, config);
	_cleanup_free_ char *text = json_to_text(config, true);
	strbuf_printf(b, "%s\n", text);
}

static void sonic_notes(const struct switch_plan *plan, char ***notes)
{
	const struct switch_class *class = &plan->class;
	_cleanup_free_ char *profile = profile_name(plan);

	if (class->pfc && !is_dynamic(plan))
		strings_add(notes, xstrdup("buffer model traditional: pg_profile_lookup.ini of the "
					   "platform must have a row for this speed and cable "
					   "length, else priority groups stay lossy"));
	if (class->pfc && is_dynamic(plan))
		strings_add(notes, xstrdup("buffer model dynamic: DEVICE_METADATA|localhost must "
					   "have buffer_model dynamic"));
	if (profile)
		strings_add(notes,
			    xasprintf("BUFFER_PROFILE|%s: xoff is the headroom; xon and dynamic_th "
				      "are of an example: take those of the ASIC",
				      profile));
	if (class->pfc)
		strings_add(notes, xstrdup("ASICs of NVIDIA and Barefoot also have "
					   "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP and pfc_to_pg_map "
					   "(qos_config.j2)"));
	if (switch_has_pair(plan))
		strings_add(notes, xstrdup("MCLAG_INTERFACE: the MCLAG_DOMAIN with its peer link "
					   "and addresses must be there before"));
}

static void sonic_verify(const struct switch_plan *plan, const struct switch_device *device,
			 struct strbuf *b)
{
	const struct switch_class *class = &plan->class;
	const struct switch_interface *bundle = switch_first_bundle(device);
	const char *port = switch_first_port(device);

	switch_heading(b, "Apply");
	strbuf_puts(b, "  sudo config checkpoint before-roce\n  sudo config load -y "
		       "config_db.json\n  sudo config save -y\n\n`config load` adds and changes "
		       "rows, it takes none away. Rows of the same port that cover the\npriority "
		       "in a range must go first, as BUFFER_PG|PORT|3-4 of the factory "
		       "configuration.\n`config qos reload` writes the factory configuration "
		       "again; do not run it afterwards.\nBack: sudo config rollback "
		       "before-roce\n");
	switch_heading(b, "Look");
	if (class->known)
		switch_check(b, "sonic-db-cli CONFIG_DB hgetall 'DSCP_TO_TC_MAP|" MAP "'",
			     "%d is %d, 0 is 0", class->dscp, class->priority);
	if (class->pfc) {
		switch_check(b, "show pfc priority",
			     "%s and every other host port: %d, nothing else", port,
			     class->priority);
		switch_check(b, "show buffer information",
			     "a lossless profile for the speed and cable, xoff at least %lld",
			     (long long)plan->headroom);
		switch_check(b, "show pfc counters",
			     "under load only PFC%d counts, Rx and Tx; PFC0 stays 0",
			     class->priority);
		switch_check(b, "show priority-group drop counters", "PG%d: 0 on every port",
			     class->priority);
	} else if (class->known) {
		switch_check(b, "show pfc priority", "no priority on the host ports");
	}
	if (class->watchdog) {
		switch_check(b, "show pfcwd config", "every host port: action drop, 200, 200");
		switch_check(b, "show pfcwd stats", "no storm is detected");
	}
	if (class->ecn)
		switch_check(b, "show ecn", "profile " MAP ": ecn_all, green %lld to %lld, %d",
			     (long long)class->ecn_min, (long long)class->ecn_max,
			     class->ecn_probability);
	if (class->known) {
		_cleanup_free_ char *queues = xasprintf("show queue counters %s", port);

		switch_check(b, queues, "RoCE traffic counts in UC%d, drops stay 0",
			     class->priority);
	}
	if (bundle)
		switch_check(b, "show interfaces portchannel",
			     "PortChannel%u: LACP(A)(Up), every port (S)", bundle->number);
	if (bundle && switch_has_pair(plan))
		switch_check(b, "show mclag brief", "session up, the bundles are listed");
	if (plan->n_vlans)
		switch_check(b, "show vlan brief", "the host ports with their tagging");
	if (plan->mtu)
		switch_check(b, "show interfaces status", "MTU %lld on the host ports",
			     (long long)switch_mtu(plan, &switch_sonic));
}

const struct switch_system switch_sonic = {
	.platform = "sonic",
	.title = "SONiC (202111 and later), part of config_db.json",
	.file = "config_db.json",
	.documents = "sonic-net/sonic-buildimage, src/sonic-yang-models/yang-models (port-qos-map, "
		     "dscp-tc-map, wred-profile, queue, scheduler, buffer-pg, pfcwd, portchannel, "
		     "vlan, mclag, cable-length)\n"
		     "sonic-net/sonic-buildimage, files/build_templates/qos_config.j2\n"
		     "sonic-net/SONiC, doc/qos/dynamically-headroom-calculation.md\n"
		     "sonic-net/sonic-utilities, doc/Command-Reference.md\n",
	.mtu_max = 9216,	/* sonic-port.yang, sonic-portchannel.yang */
	.port_channel_max = 9999,	/* PortChannel[0-9]{1,4} */
	.vlan_min = 2,	/* sonic-vlan.yang */
	.description_max = 255,
	.watchdog = true,
	.notes = sonic_notes,
	.config = sonic_config,
	.verify = sonic_verify,
};
