/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.qos: DSCP, priority, traffic class, PFC and shares, on hosts and switch.
 *
 * ice in DSCP mode keeps priority n in traffic class n for the classes that the port has (4 or 8,
 * which only the port tells); priorities above them stay in class 0. A map that says otherwise is
 * taken without an error and not applied (ice_dcb_nl.c, ice_dcbnl_setets and ice_dcbnl_setapp).
 */
#include <string.h>

#include "base/text.h"
#include "judge/plan.h"
#include "judge/subject.h"

#define PRIORITIES 8
/* Fewest classes that an ice port with DCB has. */
#define ICE_CLASSES_MIN 4

/* What the declaration comes to. */
struct roce {
	int64_t dscp, priority, tc;
};

/* --- what must be declared -------------------------------------------------------------------- */

static bool number(struct judging *g, const struct site_number *n, const char *key, int64_t *value)
{
	if (n->set) {
		*value = n->value;
		declared(g, "/qos/%s", key);
		return true;
	}
	judge_unknown(g, judge_text(g, "declare qos/%s", key), "qos.%s is not declared", key);
	return false;
}

static bool read_roce(struct judging *g, struct roce *roce)
{
	const struct site_qos *qos = &g->site->qos;
	bool all = number(g, &qos->dscp, "dscp", &roce->dscp);

	all = number(g, &qos->priority, "priority", &roce->priority) && all;
	if (!all)
		return false;
	if (qos->traffic_class.set)
		return number(g, &qos->traffic_class, "traffic_class", &roce->tc);
	roce->tc = qos->prio_tc[roce->priority];
	if (roce->tc >= 0)
		return true;
	judge_unknown(g, "declare qos/traffic_class, or qos/prio_tc",
		      "the traffic class of priority %lld is not declared",
		      (long long)roce->priority);
	return false;
}

/* --- hosts ------------------------------------------------------------------------------------ */

static void judge_classes(struct judging *g, const struct roce *roce)
{
	const struct site_qos *qos = &g->site->qos;
	unsigned used = 1u << roce->tc;
	bool any = false;

	for (int p = 0; p < PRIORITIES; p++) {
		int tc = qos->prio_tc[p];

		any |= tc >= 0;
		if (tc >= 0)
			used |= 1u << tc;
		if (p == roce->priority && tc >= 0 && tc != roce->tc)
			judge_fail(g, "qos-class-differs", "make traffic_class and prio_tc agree",
				   "qos.traffic_class is %lld and qos.prio_tc puts priority %d "
				   "into class %d", (long long)roce->tc, p, tc);
		else if (p != roce->priority && tc == roce->tc)
			judge_fail(g, "qos-class-shared",
				   "a traffic class of its own for the RoCE priority",
				   "priority %d shares class %lld with RoCE: PFC would pause it "
				   "too", p,
				   (long long)roce->tc);
	}
	declared(g, "/qos/prio_tc");
	if (!any && roce->tc != roce->priority)
		judge_unknown(g, "declare qos/prio_tc",
			      "priority %lld is to be in class %lld, and which classes the other "
			      "priorities have is not declared", (long long)roce->priority,
			      (long long)roce->tc);
	else if (!any)
		judge_assume(g, "priority n in traffic class n (qos.prio_tc is not declared)");
	if (!any)
		return;
	for (int tc = 0; tc < PRIORITIES; tc++) {
		if (qos->tc_bandwidth[tc] <= 0 || used & 1u << tc)
			continue;
		judge_fail(g, "qos-share-unused", "shares for classes that a priority has",
			   "class %d has %d %% of the bandwidth, and qos.prio_tc puts no priority "
			   "into it", tc, qos->tc_bandwidth[tc]);
	}
	if (used & (used + 1))
		judge_fail(g, "qos-classes-not-contiguous", "classes 0, 1, 2 … without a hole",
			   "the traffic classes in use do not start at 0 without a hole: ice "
			   "disables DCB then");
}

static void judge_shares(struct judging *g, const struct roce *roce)
{
	const struct site_qos *qos = &g->site->qos;
	int sum = 0, share = qos->tc_bandwidth[roce->tc];
	bool any = false;

	for (int tc = 0; tc < PRIORITIES; tc++) {
		if (qos->tc_bandwidth[tc] < 0)
			continue;
		any = true;
		sum += qos->tc_bandwidth[tc];
	}
	declared(g, "/qos/tc_bandwidth");
	if (!any) {
		judge_unknown(g, "declare qos/tc_bandwidth",
			      "the ETS shares are not declared, and after ice enters DSCP mode the "
			      "RoCE class has 0 %%");
		return;
	}
	if (sum != 100)
		judge_fail(g, "qos-shares-sum", "shares that add up to 100",
			   "the ETS shares add up to %d %%, not 100 as IEEE 802.1Q has it: ice "
			   "refuses them", sum);
	if (share <= 0)
		judge_fail(g, "qos-share-zero", "a share above 0 for the RoCE class",
			   "class %lld, the one of RoCE, has 0 %% of the bandwidth",
			   (long long)roce->tc);
	else if (qos->bandwidth_percent.set && share < qos->bandwidth_percent.value)
		judge_fail(g, "qos-share-low", "make bandwidth and tc_bandwidth agree",
			   "class %lld has %d %%, and qos.bandwidth asks for %lld %%",
			   (long long)roce->tc, share, (long long)qos->bandwidth_percent.value);
}

static void judge_pfc(struct judging *g, const struct roce *roce)
{
	const struct site_qos *qos = &g->site->qos;

	declared(g, "/qos/pfc");
	if (!qos->pfc.set)
		judge_assume(g, "PFC on priority %lld only", (long long)roce->priority);
	if (qos->pfc.set && !qos->pfc.value)
		judge_warn(g, "qos-pfc-off", "qos.pfc: true",
			   "PFC is declared as off: what the switch drops RoCE must send again, "
			   "and irdma lowers its windows where it finds no flow control");
	else if (!roce->priority)
		judge_fail(g, "qos-pfc-on-p0", "another priority for RoCE, usually 3",
			   "PFC is on priority 0, which carries all other traffic and would be "
			   "paused");
	if (!roce->dscp)
		judge_fail(g, "qos-dscp-zero", "another DSCP for RoCE, usually 24",
			   "DSCP 0 is what all other packets carry: they would land on priority "
			   "%lld",
			   (long long)roce->priority);
}

/* --- NICs ------------------------------------------------------------------------------------- */

/* Classes and the fixed map of a NIC. */
static void judge_nic(struct judging *g, const struct plan_case *c, const struct roce *roce)
{
	const struct site_qos *qos = &g->site->qos;
	struct plan_nic nic = plan_nic_of(g, c->node, c->what);
	int64_t most = json_get_int(nic.row, "traffic_classes_max", PRIORITIES);
	int highest = (int)roce->tc;

	if (!nic.row) {
		judge_unverified(g, "qos.ets", "the NIC of %s, which the support matrix does not "
					       "tell, has the declared classes", plan_nodes(g, c));
		return;
	}
	fact_row(g, nic.row);
	if (!strcmp(json_get_string(nic.row, "dscp", ""), "no"))
		judge_unverified(g, "qos.dscp", "%s of %s maps no DSCP itself",
				 plan_nic_text(g, &nic), plan_nodes(g, c));
	for (int p = 0; p < PRIORITIES; p++) {
		highest = qos->prio_tc[p] > highest ? qos->prio_tc[p] : highest;
		highest = qos->tc_bandwidth[p] > 0 && p > highest ? p : highest;
	}
	if (highest >= most)
		judge_fail(g, "qos-too-many-classes", "fewer traffic classes",
			   "class %d is declared and a port of %s has %lld", highest,
			   plan_nic_text(g, &nic), (long long)most);
	if (strcmp(nic.driver, "ice"))
		return;
	if (highest >= ICE_CLASSES_MIN)
		judge_unverified(g, "qos.ets", "the ports of %s have more than %d traffic classes: "
					       "8 on adapters of up to four ports",
				 plan_nodes(g, c), ICE_CLASSES_MIN);
	for (int p = 0; p < PRIORITIES; p++) {
		int tc = p == roce->priority ? (int)roce->tc : qos->prio_tc[p];

		if (tc < 0 || tc == p)
			continue;
		if (p >= ICE_CLASSES_MIN && !tc) {
			judge_unverified(g, "qos.ets",
					 "priorities from %d on are in class 0: so on a port with "
					 "%d classes; with 8 ice keeps priority n in class n",
					 ICE_CLASSES_MIN, ICE_CLASSES_MIN);
			return;
		}
		judge_fail(g, "qos-fixed-classes", judge_text(g, "prio_tc: {%d: %d}", p, p),
			   "priority %d is declared in class %d, and ice in DSCP mode keeps "
			   "priority n in class n (%s)", p, tc, plan_nodes(g, c));
	}
}

/* RDMA ports on VLAN links whose egress map does not carry the priority. */
static void judge_vlans(struct judging *g, const struct roce *roce)
{
	_cleanup_plan_cases_ struct plan_cases vlans = {0};

	for (size_t i = 0; i < g->site->n_nodes; i++) {
		const struct site_node *node = &g->site->nodes[i];

		for (size_t k = 0; k < node->n_rdma; k++) {
			const struct site_vlan *vlan = site_vlan_find(node, node->rdma[k].link);

			if (vlan && vlan->egress[roce->priority] != roce->priority)
				plan_case_add(&vlans, node, vlan, "%d",
					      vlan->egress[roce->priority]);
		}
	}
	for (size_t i = 0; i < vlans.n; i++) {
		const struct site_vlan *vlan = vlans.list[i].what;
		long long p = roce->priority;

		fact_declared(g, &vlan->where, json_integer(vlan->egress[p]),
			      "/nodes/%s/vlans/%s/egress/%d", vlans.list[i].node->name, vlan->name,
			      (int)p);
		judge_fail(g, "qos-vlan-egress",
			   judge_text(g, "nodes/%s/vlans/%s/egress: {%lld: %lld}",
				      vlans.list[i].node->name, vlan->name, p, p),
			   "%s of %s %s for priority %lld: RoCE falls to another priority there, "
			   "in DSCP mode too", vlan->name, plan_nodes(g, &vlans.list[i]),
			   vlan->egress[p] < 0 ? "has no egress map" : "maps to another PCP", p);
	}
}

/* --- switch ----------------------------------------------------------------------------------- */

static bool switch_differs(struct judging *g, const char *key, int64_t ours, int64_t *theirs)
{
	json_t *value = declared(g, "/switch/%s", key);

	if (!json_is_integer(value)) {
		judge_assume(g, "switch.%s as on the hosts", key);
		return false;
	}
	*theirs = json_integer_value(value);
	return *theirs != ours;
}

static void judge_switch(struct judging *g, const struct roce *roce)
{
	const struct site_qos *qos = &g->site->qos;
	bool pfc = !qos->pfc.set || qos->pfc.value, theirs_pfc;
	int64_t theirs = 0;

	if (!json_at(g->site->document, "/switch")) {
		judge_unverified(g, "proof.pfc", "the switch, which is not declared, has the same "
						 "map");
		return;
	}
	if (switch_differs(g, "dscp", roce->dscp, &theirs)) {
		/* ToS byte 24 is DSCP 6 */
		bool shifted = theirs == roce->dscp >> 2 || roce->dscp == theirs >> 2;
		int64_t large = theirs > roce->dscp ? theirs : roce->dscp;

		judge_fail(g, "qos-switch-dscp", "one DSCP on hosts and switch",
			   "hosts mark DSCP %lld and the switch treats %lld as RoCE%s",
			   (long long)roce->dscp, (long long)theirs,
			   shifted ? judge_text(g, ": %lld given as traffic class or ToS byte is "
						   "DSCP %lld, DSCP %lld is ToS %lld",
						   (long long)large,
						(long long)large >> 2, (long long)large,
						(long long)large << 2) :
				     "");
	}
	if (switch_differs(g, "priority", roce->priority, &theirs))
		judge_fail(g, "qos-switch-priority", "one priority on hosts and switch",
			   "RoCE is priority %lld on the hosts and %lld on the switch: PFC of one "
			   "does not reach the other", (long long)roce->priority,
			   (long long)theirs);
	if (!json_at(g->site->document, "/switch/pfc"))
		judge_assume(g, "switch.pfc as on the hosts");
	theirs_pfc = declared_bool(g, pfc, "/switch/pfc");
	if (theirs_pfc != pfc)
		judge_fail(g, "qos-switch-pfc", "PFC on both sides",
			   "PFC: %s on the hosts, %s on the switch", pfc ? "on" : "off",
			   theirs_pfc ? "on" : "off");
}

/* --- the gate --------------------------------------------------------------------------------- */

void judge_plan_qos(struct judging *g)
{
	_cleanup_plan_cases_ struct plan_cases nics = {0};
	const struct site_qos *qos = &g->site->qos;
	struct roce roce;

	plan_nics(g, 0, &nics);
	if (!nics.n) {
		judge_na(g, "no RDMA port is declared");
		return;
	}
	if (qos->dcb.set && !qos->dcb.value) {
		judge_na(g, "the NICs of this site are declared as without DCB");
		return;
	}
	if (!qos->declared) {
		judge_unknown(g, "declare qos: {dscp: 24, priority: 3, …}", "no QoS is declared");
		return;
	}
	if (!read_roce(g, &roce))
		return;
	judge_classes(g, &roce);
	judge_shares(g, &roce);
	judge_pfc(g, &roce);
	for (size_t i = 0; i < nics.n; i++)
		judge_nic(g, &nics.list[i], &roce);
	judge_vlans(g, &roce);
	judge_switch(g, &roce);
	judge_pass(g, "DSCP %lld (ToS %lld) to priority %lld to class %lld with %d %%, PFC on that "
		      "priority only", (long long)roce.dscp, (long long)roce.dscp << 2,
		   (long long)roce.priority, (long long)roce.tc, qos->tc_bandwidth[roce.tc]);
}
