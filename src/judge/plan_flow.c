/* SPDX-License-Identifier: Apache-2.0 */
/* plan.qos-order, plan.ecn-host and plan.headroom: flow control between hosts and switch. */
#include <string.h>

#include "base/text.h"
#include "judge/plan.h"
#include "matrix/buffers.h"

/* --- plan.qos-order --------------------------------------------------------------------------- */

/* NICs of bonds that carry RDMA. */
static void bonded_nics(const struct judging *g, struct plan_cases *cases)
{
	for (size_t i = 0; i < g->site->n_nodes; i++) {
		const struct site_node *node = &g->site->nodes[i];

		for (size_t k = 0; k < node->n_rdma; k++) {
			const struct site_bond *bond = plan_bond_of(node, &node->rdma[k]);

			for (char **port = bond ? bond->ports : NULL; port && *port; port++) {
				struct plan_nic nic = plan_nic_of(g, node, *port);

				plan_case_add(cases, node, *port, "%s\n%s\n%s", nic.driver ?: "",
					      nic.source, nic.version ?: "");
			}
		}
	}
}

static void judge_order(struct judging *g, const struct plan_case *c)
{
	struct plan_nic nic = plan_nic_of(g, c->node, c->what);
	const char *answer;

	plan_nic_fact(g, c);
	if (plan_nic_unknown(g, c, &nic))
		return;
	fact_row(g, nic.row);
	answer = json_get_string(nic.row, "dcb_while_bonded", "unknown");
	if (!strcmp(answer, "no"))
		judge_fail(g, "qos-after-bond", "qos.order: before-bond",
			   "DCB is to be set after bonding, and %s of %s refuses every DCB change "
			   "while a port is in a bond (%s)", plan_nic_text(g, &nic),
			   plan_nodes(g, c), plan_row_text(g, nic.row));
	else if (!strcmp(answer, "yes"))
		judge_pass(g, "%s takes DCB changes while bonded (%s)", plan_nic_text(g, &nic),
			   plan_row_text(g, nic.row));
	else
		judge_warn(g, "qos-after-bond-not-known", "qos.order: before-bond",
			   "DCB is to be set after bonding, and whether %s of %s takes that is not "
			   "known (%s)", plan_nic_text(g, &nic), plan_nodes(g, c),
			   plan_row_text(g, nic.row));
}

void judge_plan_qos_order(struct judging *g)
{
	_cleanup_plan_cases_ struct plan_cases nics = {0};
	const struct site_qos *qos = &g->site->qos;
	const char *order;

	if (!qos->declared || (qos->dcb.set && !qos->dcb.value)) {
		judge_na(g, "%s", qos->declared ? "the NICs of this site are declared as without "
						  "DCB" : "no QoS is declared");
		return;
	}
	bonded_nics(g, &nics);
	if (!nics.n) {
		judge_na(g, "no RDMA port lies on a bond");
		return;
	}
	order = declared_string(g, "/qos/order");
	if (!order)
		judge_assume(g, "qos.order before-bond, as `railhead render` writes it");
	if (!order || !strcmp(order, "before-bond")) {
		judge_pass(g, "DCB is set on the ports before they are bonded");
		return;
	}
	for (size_t i = 0; i < nics.n; i++)
		judge_order(g, &nics.list[i]);
}

/* --- plan.ecn-host ---------------------------------------------------------------------------- */

static void judge_dcqcn(struct judging *g, const struct plan_case *c)
{
	struct plan_nic nic = plan_nic_of(g, c->node, c->what);
	const char *way;

	plan_nic_fact(g, c);
	if (plan_nic_unknown(g, c, &nic))
		return;
	fact_row(g, nic.row);
	way = json_get_string(nic.row, "dcqcn", "unknown");
	if (!strcmp(way, "none")) {
		judge_warn(g, "ecn-switch-only", "one of the options",
			   "%s of %s has no setting for DCQCN: a switch that marks has nobody who "
			   "slows down, \"switch-only\" (%s)", plan_nic_text(g, &nic),
			   plan_nodes(g, c), plan_row_text(g, nic.row));
		judge_option(g, "declare qos.ecn_host: false and rely on PFC");
		judge_option(g, "a driver stack with DCQCN: ice and irdma out-of-tree, or a NIC "
				"whose firmware does it");
	} else if (!strcmp(way, "unknown")) {
		judge_warn(g, "ecn-host-not-known", "prove it on the site: proof.ecn",
			   "whether %s of %s reacts to marks is not known (%s)",
			   plan_nic_text(g, &nic), plan_nodes(g, c), plan_row_text(g, nic.row));
	} else {
		judge_pass(g, "%s has DCQCN (%s) (%s)", plan_nic_text(g, &nic), way,
			   plan_row_text(g, nic.row));
		if (strcmp(way, "firmware"))
			judge_unverified(g, "proof.ecn", "DCQCN of %s is switched on: by %s, and "
							 "off by default", plan_nodes(g, c), way);
	}
}

void judge_plan_ecn_host(struct judging *g)
{
	_cleanup_plan_cases_ struct plan_cases nics = {0};
	bool marks = json_at(g->site->document, "/switch/ecn");
	json_t *host;

	/* a switch that marks does so whatever the hosts are declared to do */
	if (!declared_bool(g, false, "/qos/ecn") && !marks) {
		judge_na(g, "ECN is not declared");
		return;
	}
	plan_nics(g, 0, &nics);
	if (!nics.n) {
		judge_na(g, "no RDMA port is declared");
		return;
	}
	host = declared(g, "/qos/ecn_host") ?: declared(g, "/qos/ecn");
	if (json_is_false(host) && marks && !declared_bool(g, false, "/qos/ecn") &&
	    !json_at(g->site->document, "/qos/ecn_host")) {
		judge_warn(g, "ecn-marked-and-off", "one of the options",
			   "qos.ecn is false and switch.ecn has thresholds: the switch marks, and "
			   "nobody is to slow down");
		judge_option(g, "leave out switch.ecn, and rely on PFC");
		judge_option(g, "qos.ecn: true, with ecn_host: false where only the switch marks");
	} else if (json_is_false(host)) {
		judge_pass(g, "ECN is declared as switch-only: the hosts are not expected to slow "
			      "down");
	} else {
		for (size_t i = 0; i < nics.n; i++)
			judge_dcqcn(g, &nics.list[i]);
	}
	judge_unverified(g, "proof.ecn", "senders slow down when the switch marks, and what that "
					 "does to throughput");
}

/* --- plan.headroom ---------------------------------------------------------------------------- */

/* What is read of the section, as evidence; the numbers themselves come from switch_buffers_of(). */
static void note_switch(struct judging *g)
{
	static const char *const keys[] = { "cable_metres", "port_speed", "mtu", "cell",
					    "headroom" };

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		declared(g, "/switch/%s", keys[i]);
}

static bool not_declared(struct judging *g, const char *key)
{
	judge_unknown(g, judge_text(g, "declare switch/%s", key), "switch.%s is not declared", key);
	return false;
}

static bool is_complete(struct judging *g, const struct switch_buffers *b)
{
	if (!b->input.cable_metres)
		return not_declared(g, "cable_metres");
	if (!b->input.speed_mbps)
		return not_declared(g, "port_speed");
	if (b->speed_of_hosts)
		judge_assume(g, "ports of the switch as fast as the hosts' (%lld Mb/s)",
			     (long long)b->input.speed_mbps);
	if (b->mtu_assumed)
		judge_assume(g, "MTU %lld of the switch ports",
			     (long long)b->input.port_mtu_bytes);
	if (b->cell_unknown)
		judge_assume(g, "a cell is at least half full (switch.cell is not declared)");
	return true;
}

static void judge_headroom(struct judging *g, const struct switch_buffers *buffers)
{
	const struct headroom_input *input = &buffers->input;
	struct headroom need = headroom_compute(g->matrix, input);
	_cleanup_free_ char *formula = NULL;
	bool declares = json_at(g->site->document, "/switch/headroom");
	int64_t has = buffers->headroom_bytes;

	if (!need.known) {
		judge_unknown(g, "add its row to the table `pause-quanta` (--data DIR)",
			      "the support matrix has no pause quanta for %lld Mb/s",
			      (long long)input->speed_mbps);
		return;
	}
	fact_row(g, need.row);
	formula = headroom_text(input, &need);
	if (!declares) {
		judge_unknown(g, "declare switch/headroom",
			      "the headroom of the switch is not declared; needed is %s", formula);
		return;
	}
	if (has < need.low_bytes)
		judge_fail(g, "headroom-low",
			   judge_text(g, "at least %lld bytes of headroom for each lossless "
					 "priority and port", (long long)need.high_bytes),
			   "headroom of %lld bytes is less than what is needed: %s", (long long)has,
			   formula);
	else if (has < need.high_bytes)
		judge_warn(g, "headroom-tight",
			   judge_text(g, "at least %lld bytes, or declare switch.cell",
				      (long long)need.high_bytes),
			   "headroom of %lld bytes is enough for well filled cells only; needed is "
			   "%s", (long long)has, formula);
	else
		judge_pass(g, "headroom of %lld bytes, needed is %s", (long long)has, formula);
}

/* Declared MTU of an RDMA port's link, bond or VLAN; 0: none. */
static int64_t mtu_of(const struct site_node *node, const struct site_rdma *port)
{
	const struct site_link *link = site_link_find(node, port->link);
	const struct site_bond *bond = plan_bond_of(node, port);
	const struct site_vlan *vlan = site_vlan_find(node, port->link);

	if (vlan && vlan->mtu.set)
		return vlan->mtu.value;
	if (bond && bond->mtu.set)
		return bond->mtu.value;
	return link && link->mtu.set ? link->mtu.value : 0;
}

/* Hosts whose frames are larger than what the switch carries: the headroom is computed for too
 * little, and such frames are dropped without a word. */
static void judge_mtu(struct judging *g, const struct switch_buffers *buffers)
{
	_cleanup_plan_cases_ struct plan_cases larger = {0};

	for (size_t i = 0; !buffers->mtu_assumed && i < g->site->n_nodes; i++) {
		const struct site_node *node = &g->site->nodes[i];

		for (size_t k = 0; k < node->n_rdma; k++) {
			int64_t mtu = mtu_of(node, &node->rdma[k]);

			if (mtu > buffers->input.port_mtu_bytes)
				plan_case_add(&larger, node, &node->rdma[k], "%lld",
					      (long long)mtu);
		}
	}
	for (size_t i = 0; i < larger.n; i++) {
		const struct plan_case *c = &larger.list[i];
		const struct site_rdma *port = c->what;
		long long mtu = mtu_of(c->node, port);

		fact_declared(g, &port->where, json_integer(mtu), "/nodes/%s/rdma/%s", c->node->name,
			      port->link);
		judge_fail(g, "headroom-mtu",
			   judge_text(g, "switch.mtu: at least %lld, usually 9216", mtu),
			   "%s of %s has MTU %lld and switch.mtu is %lld: larger frames are "
			   "dropped, and the headroom is computed for too little", port->link,
			   plan_nodes(g, c), mtu, (long long)buffers->input.port_mtu_bytes);
	}
}

void judge_plan_headroom(struct judging *g)
{
	const struct site_qos *qos = &g->site->qos;
	struct switch_buffers buffers = switch_buffers_of(g->site);

	if (!buffers.declared) {
		judge_na(g, "no switch is declared");
		return;
	}
	if ((qos->pfc.set && !qos->pfc.value) || !declared_bool(g, true, "/switch/pfc")) {
		judge_na(g, "PFC is declared as off: no class is lossless");
		return;
	}
	note_switch(g);
	judge_mtu(g, &buffers);
	if (is_complete(g, &buffers))
		judge_headroom(g, &buffers);
	judge_unverified(g, "proof.pfc", "the switch drops nothing in the lossless class under "
					 "load");
}
