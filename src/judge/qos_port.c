/* SPDX-License-Identifier: Apache-2.0 */
/* qos.equal, qos.tos, qos.vlan: what belongs to the node and its RDMA ports rather than to one
 * NIC. */
#include <string.h>

#include "base/alloc.h"
#include "base/strings.h"
#include "judge/family.h"
#include "judge/qos.h"
#include "judge/subject.h"

/* --- qos.equal --- */

/* Arrays whose order has no meaning (APP entries come in kernel list order). */
static bool same_set(json_t *a, json_t *b)
{
	if (json_array_size(a) != json_array_size(b))
		return false;
	for (size_t i = 0; i < json_array_size(a); i++) {
		json_t *x = json_array_get(a, i);
		size_t in_a = 0, in_b = 0;

		for (size_t k = 0; k < json_array_size(a); k++) {
			in_a += json_equal(json_array_get(a, k), x);
			in_b += json_equal(json_array_get(b, k), x);
		}
		if (in_a != in_b)
			return false;
	}
	return true;
}

/* Gates that judge, NIC by NIC, what differs: a difference is the consequence of one wrong NIC. */
struct differences {
	const char *gate;
	bool several;
	bool agent; /* the firmware's agent is on at one of them, and sets what it likes */
};

static void differ(struct differences *d, const char *gate)
{
	d->several |= d->gate && strcmp(d->gate, gate);
	d->gate = gate;
}

static const struct {
	const char *group, *name; /* /links/NIC/dcb/GROUP/NAME */
	const char *cause, *text;
} dcb_attributes[] = {
	{ "dcbx", "host", "qos-differs-dcbx", "DCBX host bit" },
	{ "dcbx", "ieee", "qos-differs-dcbx", "DCBX IEEE bit" },
	{ "dcbx", "lld_managed", "qos-differs-dcbx", "DCBX lld-managed bit" },
	{ "ets", "prio_tc", "qos-differs-ets", "priority to TC map" },
	{ "ets", "tc_tx_bw", "qos-differs-ets", "ETS bandwidth" },
	{ "ets", "tc_tsa", "qos-differs-ets", "ETS algorithm" },
	{ "pfc", "enabled", "qos-differs-pfc", "PFC" },
};

static const char fix_equal[] =
	"give both ports the same settings; in an ice bond: take them out, set both, bond again";

static void compare_dcb(struct judging *g, struct differences *d, const char *a, const char *b)
{
	json_t *x = peek(g, "/links/%s/dcb", a), *y = peek(g, "/links/%s/dcb", b);

	for (size_t i = 0; i < ARRAY_SIZE(dcb_attributes); i++) {
		const char *group = dcb_attributes[i].group, *name = dcb_attributes[i].name;
		json_t *p = json_object_get(json_object_get(x, group), name);
		json_t *q = json_object_get(json_object_get(y, group), name);

		if (!p || !q) {
			fact(g, "/links/%s/dcb/%s/%s", p ? b : a, group, name);
			continue;
		}
		if (json_equal(p, q))
			continue;
		fact_optional(g, "/links/%s/dcb/%s/%s", a, group, name);
		fact_optional(g, "/links/%s/dcb/%s/%s", b, group, name);

		_cleanup_free_ char *is = json_to_text(p, false);
		_cleanup_free_ char *other = json_to_text(q, false);

		judge_fail(g, dcb_attributes[i].cause, fix_equal,
			   "%s differs: %s has %s, %s has %s", dcb_attributes[i].text, a, is, b,
			   other);
		differ(d, judge_text(g, "qos.%s", group));
	}
	if (!json_object_get(x, "app") || !json_object_get(y, "app")) {
		fact(g, "/links/%s/dcb/app", json_object_get(x, "app") ? b : a);
	} else if (!same_set(json_object_get(x, "app"), json_object_get(y, "app"))) {
		fact_optional(g, "/links/%s/dcb/app", a);
		fact_optional(g, "/links/%s/dcb/app", b);
		judge_fail(g, "qos-differs-dscp", fix_equal,
			   "APP table (DSCP map) differs between %s and %s", a, b);
		differ(d, "qos.dscp");
	}
}

static const char *on_off(json_t *flag)
{
	return json_is_true(flag) ? "on" : "off";
}

static void compare_ethtool(struct judging *g, struct differences *d, const char *a,
			    const char *b)
{
	static const char *const directions[] = { "rx", "tx" };
	const struct family *family = family_of_nic(g->snapshot, a);
	const char *flag = family ? family->fw_lldp_flag : NULL;

	for (size_t i = 0; i < ARRAY_SIZE(directions); i++) {
		json_t *p = peek(g, "/links/%s/ethtool/pause/%s", a, directions[i]);
		json_t *q = peek(g, "/links/%s/ethtool/pause/%s", b, directions[i]);

		if (!p || !q || json_equal(p, q))
			continue;
		fact_optional(g, "/links/%s/ethtool/pause/%s", a, directions[i]);
		fact_optional(g, "/links/%s/ethtool/pause/%s", b, directions[i]);
		judge_fail(g, "qos-differs-pause",
			   judge_text(g,
				      "ethtool -A %s autoneg off rx off tx off, and the same for %s",
				      a, b),
			   "link pause (%s) differs: %s on %s, %s on %s", directions[i], on_off(p),
			   a, on_off(q), b);
		differ(d, "qos.flow-control");
	}
	if (!flag || family_of_nic(g->snapshot, b) != family)
		return;

	json_t *p = peek(g, "/links/%s/ethtool/private_flags/%s", a, flag);
	json_t *q = peek(g, "/links/%s/ethtool/private_flags/%s", b, flag);

	if (!p || !q || json_equal(p, q))
		return;
	fact_optional(g, "/links/%s/ethtool/private_flags/%s", a, flag);
	fact_optional(g, "/links/%s/ethtool/private_flags/%s", b, flag);
	judge_fail(g, "qos-differs-fw-lldp",
		   judge_text(g, "ethtool --set-priv-flags %s %s %s",
			      json_is_true(p) == family->fw_lldp_flag_inverted ? b : a, flag,
			      family->fw_lldp_flag_inverted ? "on" : "off"),
		   "%s differs: %s on %s, %s on %s", flag, on_off(p), a, on_off(q), b);
	d->agent = true;
}

/* One NIC has no DCB state, others have. */
static void judge_dcb_missing(struct judging *g, const char *nic)
{
	const char *why = peek_gap(g, "/links/%s/dcb", nic);

	if (!why || !strstr(why, "dcbnl")) {
		fact(g, "/links/%s/dcb", nic);
	} else if (family_ice_safe_mode(g, nic)) {
		judge_fail(g, "nic-safe-mode", "see gate nic.firmware: the DDP package comes first",
			   "%s has no DCB because it runs in Safe Mode", nic);
		judge_explained_by(g, "nic.firmware", nic);
	} else {
		judge_fail(g, "qos-dcb-missing", "bond or group only NICs that all have DCB",
			   "%s has no DCB, other NICs of the node have", nic);
	}
}

void judge_qos_equal(struct judging *g)
{
	char **nics = subject_nics_of_node(g->node, g->snapshot);
	const char *first = nics ? nics[0] : NULL;
	struct differences d = {0};
	size_t n = 0, with_dcb = 0;
	bool declared = !qos_not_declared(g);

	for (char **nic = nics; nic && *nic; nic++, n++)
		with_dcb += peek(g, "/links/%s/dcb", *nic) != NULL;
	if (n < 2) {
		judge_na(g, "one NIC only, nothing to compare");
	} else if (!with_dcb && !declared) {
		judge_na(g, "no QoS is declared in the site, and no NIC shows DCB");
	} else if (!with_dcb && strstr(peek_gap(g, "/links/%s/dcb", first) ?: "", "dcbnl")) {
		judge_na(g, "no NIC of the node has DCB, so there is nothing to compare: gate qos.dcbx "
			    "says why");
	} else if (!with_dcb) {
		fact(g, "/links/%s/dcb", first);
	} else {
		for (char **nic = nics; *nic; nic++) {
			if (!peek(g, "/links/%s/dcb", *nic)) {
				judge_dcb_missing(g, *nic);
				continue;
			}
			if (*nic == first || !peek(g, "/links/%s/dcb", first))
				continue;
			compare_dcb(g, &d, first, *nic);
			compare_ethtool(g, &d, first, *nic);
			fact_optional(g, "/links/%s/dcb", *nic);
		}
		if (d.agent)
			judge_explained_by(g, "qos.fw-lldp", NULL);
		else if (d.gate && !d.several)
			judge_explained_by(g, d.gate, NULL);
		judge_pass(g, "%zu NICs have the same settings", n);
	}
	strings_free(nics);
}

/* --- qos.tos --- */

#define ECN_BITS 3 /* RFC 3168: the two low bits of the ToS byte are not DSCP */

void judge_qos_tos(struct judging *g)
{
	const struct site_qos *qos = &g->site->qos;
	struct subject_rdma rdma;
	int64_t tos;

	if (!qos->dscp.set) {
		judge_na(g, "the site declares no DSCP for RoCE");
		return;
	}
	if (g->port->protocol && !strcmp(g->port->protocol, "iwarp")) {
		judge_na(g, "the port is declared as iWARP");
		return;
	}
	if (!subject_rdma_of_port(g->snapshot, g->node, g->port, &rdma)) {
		judge_unknown(g, "see gate rdma.device", "%s has no RDMA device", g->port->link);
		return;
	}

	int64_t want = qos->dscp.value << 2;
	json_t *cm = fact(g, "/rdma/devices/%s/cm", rdma.device);
	const char *fix = judge_text(g,
				     "mkdir -p /sys/kernel/config/rdma_cm/%s && echo %lld > "
				     "/sys/kernel/config/rdma_cm/%s/ports/%s/default_roce_tos, at "
				     "every boot and after the device was re-created",
				     rdma.device, (long long)want, rdma.device, rdma.port);

	if (!cm)
		return;
	fact_declared(g, &qos->where, json_integer(qos->dscp.value), "qos/dscp");
	if (json_is_null(cm)) {
		judge_fail(g, "tos-not-set", fix,
			   "default_roce_tos of %s was not set since the device appeared: RDMA-CM "
			   "connections go out with ToS 0",
			   rdma.device);
		return;
	}
	if (!fact_int(g, &tos, "/rdma/devices/%s/cm/%s/default_roce_tos", rdma.device, rdma.port))
		return;
	if ((tos & ~ECN_BITS) == want)
		judge_pass(g,
			   "default_roce_tos %lld for RDMA-CM; programs without it set their own "
			   "traffic class",
			   (long long)tos);
	else if (tos == qos->dscp.value)
		judge_fail(g, "tos-is-dscp", fix,
			   "default_roce_tos of %s is %lld, which is the DSCP; as ToS byte it must "
			   "be %lld (DSCP times 4)",
			   rdma.device, (long long)tos, (long long)want);
	else if (!tos)
		judge_fail(g, "tos-not-set", fix,
			   "default_roce_tos of %s is 0, declared DSCP %lld needs %lld",
			   rdma.device, (long long)qos->dscp.value, (long long)want);
	else
		judge_fail(g, "tos-differs", fix,
			   "default_roce_tos of %s is %lld, declared DSCP %lld needs %lld",
			   rdma.device, (long long)tos, (long long)qos->dscp.value,
			   (long long)want);
}

/* --- qos.vlan --- */

void judge_qos_vlan(struct judging *g)
{
	const char *link = g->port->link;
	const struct site_vlan *vlan = site_vlan_find(g->node, link);
	int priority = qos_priority(g);
	int64_t want, is;

	if (priority < 0 || priority > 7)
		return;
	if (!vlan && !peek(g, "/links/%s/vlan", link)) {
		if (fact(g, "/links/%s/kind", link))
			judge_na(g, "%s is no VLAN", link);
		return;
	}
	want = vlan && vlan->egress[priority] >= 0 ? vlan->egress[priority] : priority;
	if (!vlan || vlan->egress[priority] < 0)
		judge_assume(g, "VLAN priority %lld for priority %d", (long long)want, priority);
	if (!fact(g, "/links/%s/vlan", link))
		return;

	const char *key = judge_text(g, "%d", priority);
	const char *fix = judge_text(g, "ip link set dev %s type vlan egress-qos-map %d:%lld", link,
				     priority, (long long)want);

	is = fact_optional_int(g, -1, "/links/%s/vlan/egress/%s", link, key);
	if (is == want)
		judge_pass(g, "egress map %d:%lld", priority, (long long)is);
	else if (is < 0)
		judge_fail(
			g, "vlan-egress-missing", fix,
			"VLAN %s has no egress map for priority %d: RoCE on it falls to priority 0",
			link, priority);
	else
		judge_fail(g, "vlan-egress-differs", fix,
			   "VLAN %s maps priority %d to %lld, expected is %lld", link, priority,
			   (long long)is, (long long)want);
}
