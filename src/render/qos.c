/* SPDX-License-Identifier: Apache-2.0 */
/*
 * QoS of the hosts: for each node the ordered plan that `railhead qos apply` carries out
 * (docs/qos-plan.md) and the units that do it at boot. The order is the one that E8xx adapters
 * demand, and is right for others too: the first DSCP entry resets ETS, link pause excludes PFC,
 * and a port that is in a bond refuses every change (ice_dcb_nl.c).
 */
#include <string.h>

#include "base/strings.h"
#include "judge/family.h"
#include "judge/subject.h"
#include "render/format.h"
#include "render/installer.h"
#include "render/render.h"

#define PLAN_SCHEMA "railhead.qos-plan/1"
#define PROGRAM "/usr/bin/railhead"

/* What all ports of the site get. */
struct ets {
	int prio_tc[8], bandwidth[8];
};

static int traffic_class(const struct site_qos *qos)
{
	if (qos->traffic_class.set)
		return (int)qos->traffic_class.value;
	int declared = qos->prio_tc[qos->priority.value];

	return declared >= 0 ? declared : (int)qos->priority.value;
}

/* Priorities that are not declared: the classes below the RoCE one must exist, since adapters take
 * contiguous classes from 0 only, and all else is class 0. */
static void prio_tc_fill(struct ets *ets, const struct site_qos *qos, int tc)
{
	for (int p = 0; p < 8; p++) {
		if (qos->prio_tc[p] >= 0)
			ets->prio_tc[p] = qos->prio_tc[p];
		else if (p == qos->priority.value)
			ets->prio_tc[p] = tc;
		else
			ets->prio_tc[p] = p < tc ? p : 0;
	}
}

/* Shares when none is declared: the RoCE class its own, the others equal ones; a class with 0 %
 * would starve. */
static void bandwidth_share(struct ets *ets, const struct site_qos *qos, int tc)
{
	int64_t roce = qos->bandwidth_percent.set ? qos->bandwidth_percent.value : 50;
	bool used[8] = {0};
	int others = 0;

	for (int p = 0; p < 8; p++)
		used[ets->prio_tc[p]] = true;
	for (int i = 0; i < 8; i++)
		others += used[i] && i != tc;
	int rest = others ? 100 - (int)roce : 0;

	for (int i = 7; i >= 0; i--) {
		if (!used[i] || i == tc)
			continue;
		ets->bandwidth[i] = others == 1 ? rest : rest / others;
		rest -= ets->bandwidth[i];
		others--;
	}
	ets->bandwidth[tc] = 100;
	for (int i = 0; i < 8; i++)
		ets->bandwidth[tc] -= i == tc ? 0 : ets->bandwidth[i];
}

static void ets_make(struct render *r, struct ets *ets)
{
	const struct site_qos *qos = &r->site->qos;
	int tc = traffic_class(qos), sum = 0;
	bool declared = false;

	*ets = (struct ets){0};
	prio_tc_fill(ets, qos, tc);
	for (int i = 0; i < 8; i++)
		declared |= qos->tc_bandwidth[i] >= 0;
	if (!declared)
		bandwidth_share(ets, qos, tc);
	for (int i = 0; i < 8; i++) {
		if (declared)
			ets->bandwidth[i] = qos->tc_bandwidth[i] > 0 ? qos->tc_bandwidth[i] : 0;
		sum += ets->bandwidth[i];
	}
	/* dcb-ets(8) and the kernel's drivers refuse anything else */
	if (sum != 100)
		render_refuse(r, "qos/tc_bandwidth: the shares add up to %d %%, not 100", sum);
}

/* --- the plan --------------------------------------------------------------------------------- */

static json_t *step_add(json_t *steps, const char *what)
{
	json_t *step = json_object_new();

	json_put_string(step, "set", what);
	json_append(steps, step);
	return step;
}

static json_t *eight_numbers(const int values[8])
{
	json_t *array = json_array_new();

	for (int i = 0; i < 8; i++)
		json_append(array, json_integer_new(values[i]));
	return array;
}

static void put_agent_steps(json_t *steps, const struct family *family, bool pfc)
{
	json_t *step;

	if (family && family->fw_lldp_flag) {
		step = step_add(steps, "private-flag");
		json_put_string(step, "flag", family->fw_lldp_flag);
		json_put_bool(step, "value", family->fw_lldp_flag_inverted);
	}
	step = step_add(steps, "dcbx");
	json_append_text(json_arr(step, "mode"), "host");
	json_append_text(json_arr(step, "mode"), "ieee");
	if (pfc) {
		step = step_add(steps, "pause");
		json_put_bool(step, "autoneg", false);
		json_put_bool(step, "rx", false);
		json_put_bool(step, "tx", false);
	}
}

static void put_class_steps(json_t *steps, const struct site_qos *qos, const struct ets *ets)
{
	json_t *step = step_add(steps, "dscp");

	json_put_int(step, "dscp", qos->dscp.value);
	json_put_int(step, "priority", qos->priority.value);

	step = step_add(steps, "ets");
	json_put(step, "prio_tc", eight_numbers(ets->prio_tc));
	json_put(step, "tc_bandwidth", eight_numbers(ets->bandwidth));
	json_t *tsa = json_arr(step, "tc_tsa");
	for (int i = 0; i < 8; i++)
		json_append_text(tsa, "ets");

	if (!qos->pfc.set)
		return;
	step = step_add(steps, "pfc");
	json_t *priorities = json_arr(step, "priorities");
	if (qos->pfc.value)
		json_append(priorities, json_integer_new(qos->priority.value));
}

static void put_port(json_t *ports, const struct render *r, const struct site_node *node,
		     const char *nic, const struct ets *ets)
{
	const struct site_link *link = site_link_find(node, nic);
	const struct site_qos *qos = &r->site->qos;
	const struct family *family =
		link && link->driver ? family_of_driver(link->driver) : NULL;
	json_t *port = json_object_new();

	json_put_string(port, "link", nic);
	json_put_string(port, "pci", link ? link->pci : NULL);
	json_put_string(port, "driver", link ? link->driver : NULL);
	json_t *steps = json_arr(port, "steps");
	put_agent_steps(steps, family, qos->pfc.set && qos->pfc.value);
	put_class_steps(steps, qos, ets);
	json_append(ports, port);
}

static json_t *plan_new(const struct render *r, const struct site_node *node)
{
	json_t *plan = json_object_new();

	json_put_string(plan, "schema", PLAN_SCHEMA);
	json_put_string(plan, "site", r->site->name);
	json_put_string(plan, "node", node->name);
	return plan;
}

/* Ports of one bond must be set alike: ice compares them byte by byte when they join. */
static void put_equal(json_t *plan, const struct site_node *node, char *const *nics)
{
	for (size_t i = 0; i < node->n_bonds; i++) {
		json_t *alike = NULL;

		for (char **port = node->bonds[i].ports; port && *port; port++) {
			if (!strings_have(nics, *port))
				continue;
			if (!alike)
				alike = json_array_new();
			json_append_text(alike, *port);
		}
		if (json_array_size(alike) > 1)
			json_append(json_arr(plan, "equal"), alike);
		else
			json_decref(alike);
	}
}

static void plan_file(struct render *r, struct installer *installer, json_t *plan,
		      const char *name, const char *what)
{
	_cleanup_free_ char *text = json_to_text(plan, true);
	_cleanup_free_ char *described = xasprintf("%s, for /etc/railhead/%s", what, name);
	struct render_file *file = render_file_add(r, 0644, described, "qos/%s/%s",
						   installer->node->name, name);

	strbuf_printf(&file->text, "%s\n", text);
	installer_add(installer, 0644, name, "/etc/railhead/%s", name);
}

/* --- units ------------------------------------------------------------------------------------ */

/* systemd.unit(5), "String Escaping for Inclusion in Unit Names". */
static void put_device_unit(struct strbuf *text, const char *link)
{
	strbuf_puts(text, "sys-subsystem-net-devices-");
	for (const char *s = link; *s; s++) {
		bool plain = (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') ||
			     (*s >= '0' && *s <= '9') || *s == '_' || *s == '.';

		if (plain)
			strbuf_putc(text, *s);
		else
			strbuf_printf(text, "\\x%02x", (unsigned char)*s);
	}
	strbuf_puts(text, ".device");
}

static struct strbuf *unit_begin(struct render *r, struct installer *installer, const char *name,
				 const char *what)
{
	const char *node = installer->node->name;
	_cleanup_free_ char *described = xasprintf("%s, for /etc/systemd/system/%s", what, name);
	struct render_file *file = render_file_add(r, 0644, described, "qos/%s/%s", node, name);
	_cleanup_free_ char *comment =
		xasprintf("%s of %s, rendered for site %s", what, node, r->site->name);

	installer_add(installer, 0644, name, "/etc/systemd/system/%s", name);
	format_comment(&file->text, comment);
	strbuf_printf(&file->text, "[Unit]\nDescription=%s\n", what);
	return &file->text;
}

/* A change of DCB reopens the port, which takes seconds: 180 are enough for eight ports. */
static void unit_end(struct strbuf *text, const char *plan)
{
	strbuf_printf(text,
		      "\n[Service]\nType=oneshot\nRemainAfterExit=yes\nTimeoutStartSec=180\n"
		      "ExecStart=" PROGRAM " qos apply --plan /etc/railhead/%s\n"
		      "\n[Install]\nWantedBy=multi-user.target\n",
		      plan);
}

/* Before the bond is built, and after the ports are there. */
static void ports_unit(struct render *r, struct installer *installer, char *const *nics)
{
	const char *order = json_string_value(render_declared(r, "/qos/order"));
	struct strbuf *text =
		unit_begin(r, installer, "railhead-qos.service", "RoCE QoS of the NIC ports");

	if (order && !strcmp(order, "after-bond"))
		strbuf_puts(text, "Wants=network-online.target\nAfter=network-online.target\n");
	else
		strbuf_puts(text, "Wants=network-pre.target\n"
				  "Before=network-pre.target NetworkManager.service\n");
	for (char *const *nic = nics; *nic; nic++) {
		strbuf_puts(text, "Wants=");
		put_device_unit(text, *nic);
		strbuf_puts(text, "\nAfter=");
		put_device_unit(text, *nic);
		strbuf_putc(text, '\n');
	}
	unit_end(text, "qos-plan.json");
}

/* The RDMA device of a bond comes with the bond, so its defaults come later. */
static void rdma_unit(struct render *r, struct installer *installer)
{
	struct strbuf *text = unit_begin(r, installer, "railhead-qos-rdma.service",
					 "RoCE ToS of RDMA-CM connections");

	strbuf_puts(text, "Wants=network-online.target\n"
			  "After=network-online.target railhead-qos.service\n"
			  "Before=kubelet.service\n");
	unit_end(text, "qos-rdma-plan.json");
}

/* --- one node --------------------------------------------------------------------------------- */

static const char next_steps[] =
	"Nothing was started. `systemctl enable railhead-qos.service railhead-qos-rdma.service`\n"
	"makes it hold from the next boot, where the installed railhead has `railhead qos`\n"
	"(`railhead qos --help`); without it they fail. A change of DCB reopens the port:\n"
	"do it before the port is in a bond and carries traffic.";

static void render_node(struct render *r, const struct site_node *node, const struct ets *ets)
{
	struct installer installer = { .node = node,
				       .key = "qos",
				       .reload = "systemctl daemon-reload",
				       .next = next_steps };
	_cleanup_free_ char *folder = xasprintf("qos/%s", node->name);
	_cleanup_strings_ char **nics = subject_nics_of_node(node, NULL);
	_cleanup_json_ json_t *plan = plan_new(r, node);
	_cleanup_json_ json_t *rdma_plan = plan_new(r, node);

	if (!nics)
		return;
	for (char **nic = nics; *nic; nic++)
		put_port(json_arr(plan, "ports"), r, node, *nic, ets);
	put_equal(plan, node, nics);
	for (size_t i = 0; i < node->n_rdma; i++) {
		json_t *port = json_object_new();

		json_put_string(port, "link", node->rdma[i].link);
		json_put_string(port, "device", node->rdma[i].device);
		/* the byte of the IP header: DSCP in its upper six bits */
		json_put_int(port, "default_roce_tos", r->site->qos.dscp.value << 2);
		json_append(json_arr(rdma_plan, "rdma"), port);
	}
	plan_file(r, &installer, plan, "qos-plan.json", "QoS of the NIC ports");
	plan_file(r, &installer, rdma_plan, "qos-rdma-plan.json", "ToS of RDMA-CM connections");
	ports_unit(r, &installer, nics);
	rdma_unit(r, &installer);
	installer_render(r, &installer, folder);
}

void render_qos(struct render *r)
{
	const struct site_qos *qos = &r->site->qos;
	struct ets ets;

	if (!qos->declared || (qos->dcb.set && !qos->dcb.value))
		return;
	if (!qos->dscp.set || !qos->priority.set) {
		render_note(r, "qos: dscp and priority are not both declared: no QoS of the hosts");
		return;
	}
	ets_make(r, &ets);
	for (size_t i = 0; i < r->site->n_nodes; i++)
		render_node(r, &r->site->nodes[i], &ets);
}
