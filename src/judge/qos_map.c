/* SPDX-License-Identifier: Apache-2.0 */
/* qos.dscp, qos.ets, qos.pfc: the way of the RoCE class through one NIC. IEEE 802.1Q clause 37
 * and 36. */
#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/text.h"
#include "judge/family.h"
#include "judge/qos.h"
#include "judge/subject.h"

/* --- qos.dscp --- */

/* A DSCP's entry is a priority, or a list when it has several. */
static bool entry_has(json_t *entry, int64_t priority)
{
	json_t *p;
	size_t i;

	if (json_is_integer(entry))
		return json_integer_value(entry) == priority;
	json_array_foreach(entry, i, p) {
		if (json_is_integer(p) && json_integer_value(p) == priority)
			return true;
	}
	return false;
}

static json_t *dscp_entry(json_t *map, int64_t dscp)
{
	char key[24];

	snprintf(key, sizeof(key), "%lld", (long long)dscp);
	return json_object_get(map, key);
}

/*
 * Other DSCPs on the RoCE priority. All eight of one class selector (the same upper three bits) are
 * the default map, which mlx5 shows as entries when it trusts DSCP: a warning.
 * mlx5e_trust_initialize in drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c
 */
static void judge_dscp_others(struct judging *g, json_t *map, int64_t dscp, int64_t priority)
{
	_cleanup_strbuf_ struct strbuf others = { 0 }, entries = { 0 };
	size_t in_class = 0, n_others = 0;
	const char *key;
	json_t *entry;

	json_object_foreach(map, key, entry) {
		uint64_t n;

		if (text_to_u64(key, 10, &n) == 0 && (int64_t)n != dscp &&
		    entry_has(entry, priority)) {
			strbuf_printf(&others, "%s%s", others.len ? ", " : "", key);
			strbuf_printf(&entries, " %s:%lld", key, (long long)priority);
			in_class += (int64_t)n >> 3 == dscp >> 3;
			n_others++;
		}
	}
	if (!others.len)
		return;

	const char *fix = qos_fix(g, "dcb app del dev %s dscp-prio%s", g->nic,
				  strbuf_str(&entries));

	if (n_others == 7 && in_class == 7)
		judge_warn(g, "dscp-class-on-priority", fix,
			   "priority %lld of %s, which is for RoCE, gets DSCP %s too, as the "
			   "default map has it: right as long as no other traffic is marked so",
			   (long long)priority, g->nic, strbuf_str(&others));
	else
		judge_fail(g, "dscp-others-on-priority", fix,
			   "priority %lld of %s, which is for RoCE, gets DSCP %s too",
			   (long long)priority, g->nic, strbuf_str(&others));
}

static void judge_dscp_missing(struct judging *g, json_t *map, int64_t dscp, int64_t priority)
{
	const char *fix = qos_fix(g, "dcb app add dev %s dscp-prio %lld:%lld", g->nic,
				  (long long)dscp, (long long)priority);
	bool ice = family_of_nic(g->snapshot, g->nic) == &family_ice;

	if (entry_has(dscp_entry(map, dscp >> 2), priority))
		judge_fail(g, "dscp-given-as-tos", fix,
			   "%s maps DSCP %lld to priority %lld: %lld was taken for a ToS byte "
			   "(DSCP %lld is ToS %lld)",
			   g->nic, (long long)(dscp >> 2), (long long)priority, (long long)dscp,
			   (long long)dscp, (long long)dscp << 2);
	else if (!json_object_size(map))
		judge_fail(g, "dscp-map-empty", fix, "%s has no DSCP entry at all%s", g->nic,
			   ice ? ": ice is in PCP mode until the first one is added" : "");
	else
		judge_fail(g, "dscp-map-missing", fix,
			   "%s has no entry for DSCP %lld, declared is priority %lld", g->nic,
			   (long long)dscp, (long long)priority);
}

static void judge_dscp(struct judging *g)
{
	const struct site_qos *qos = &g->site->qos;
	int priority = qos_priority(g);
	json_t *map, *entry;

	if (priority < 0)
		return;
	if (!qos->dscp.set) {
		judge_na(g, "the site declares no DSCP for RoCE");
		return;
	}
	if (!qos_dcb(g))
		return;
	map = fact(g, "/links/%s/dcb/dscp", g->nic);
	if (!map)
		return;
	fact_declared(g, &qos->where, json_integer(qos->dscp.value), "qos/dscp");
	fact_declared(g, &qos->where, json_integer(priority), "qos/priority");
	entry = dscp_entry(map, qos->dscp.value);
	if (!entry)
		judge_dscp_missing(g, map, qos->dscp.value, priority);
	else if (json_is_array(entry) && json_array_size(entry) > 1)
		judge_fail(g, "dscp-several",
			   qos_fix(g,
				   "dcb app flush dev %s dscp-prio && dcb app add dev %s dscp-prio "
				   "%lld:%d",
				   g->nic, g->nic, (long long)qos->dscp.value, priority),
			   "DSCP %lld of %s has %zu entries; which one holds is not defined",
			   (long long)qos->dscp.value, g->nic, json_array_size(entry));
	else if (!entry_has(entry, priority))
		judge_fail(g, "dscp-other-priority",
			   qos_fix(g, "dcb app replace dev %s dscp-prio %lld:%d", g->nic,
				   (long long)qos->dscp.value, priority),
			   "DSCP %lld of %s is mapped to priority %lld, declared is %d",
			   (long long)qos->dscp.value, g->nic, (long long)json_integer_value(entry),
			   priority);
	judge_dscp_others(g, map, qos->dscp.value, priority);
	judge_pass(g, "DSCP %lld → priority %d, and nothing else there", (long long)qos->dscp.value,
		   priority);
}

/* --- qos.ets --- */

struct ets {
	int64_t prio_tc[8], bandwidth[8];
	const char *tsa[8];
};

static bool read_eight(struct judging *g, const char *what, int64_t out[8])
{
	json_t *list = fact(g, "/links/%s/dcb/ets/%s", g->nic, what);

	if (!list)
		return false;
	if (json_array_size(list) != 8) {
		judge_unknown(g, NULL, "%s of %s does not have 8 values", what, g->nic);
		return false;
	}
	for (size_t i = 0; i < 8; i++) {
		json_t *item = json_array_get(list, i);

		out[i] = json_integer_value(item);
		/* struct ieee_ets has bytes */
		if (!json_is_integer(item) || out[i] < 0 || out[i] > UINT8_MAX) {
			judge_unknown(g, NULL, "value %zu of %s of %s is no number of 0 to 255", i, what,
				      g->nic);
			return false;
		}
	}
	return true;
}

static bool read_ets(struct judging *g, struct ets *ets)
{
	json_t *tsa;

	if (!qos_dcb(g) || !read_eight(g, "prio_tc", ets->prio_tc) ||
	    !read_eight(g, "tc_tx_bw", ets->bandwidth))
		return false;
	tsa = fact(g, "/links/%s/dcb/ets/tc_tsa", g->nic);
	for (size_t i = 0; tsa && i < 8; i++)
		ets->tsa[i] = json_string_value(json_array_get(tsa, i)) ?: "";
	return tsa;
}

/* Priorities against the declared map. False when the RoCE priority is not in its TC. */
static bool judge_priorities(struct judging *g, const struct ets *ets, int priority, int64_t tc)
{
	const struct site_qos *qos = &g->site->qos;
	bool ok = ets->prio_tc[priority] == tc;

	if (!ok)
		judge_fail(g, "ets-priority-tc",
			   qos_fix(g, "dcb ets set dev %s prio-tc %d:%lld", g->nic, priority,
				   (long long)tc),
			   "priority %d of %s is in TC%lld, declared is TC%lld", priority, g->nic,
			   (long long)ets->prio_tc[priority], (long long)tc);
	for (int p = 0; p < 8; p++) {
		bool declared = qos->prio_tc[p] >= 0;

		if (p == priority)
			continue;
		if (declared && ets->prio_tc[p] != qos->prio_tc[p])
			judge_fail(g, "ets-priority-map",
				   qos_fix(g, "dcb ets set dev %s prio-tc %d:%d", g->nic, p,
					   qos->prio_tc[p]),
				   "priority %d of %s is in TC%lld, declared is TC%d", p, g->nic,
				   (long long)ets->prio_tc[p], qos->prio_tc[p]);
		else if (!declared && ok && ets->prio_tc[p] == tc)
			judge_fail(
				g, "ets-shared-tc",
				qos_fix(g, "dcb ets set dev %s prio-tc %d:0", g->nic, p),
				"priority %d of %s shares TC%lld with RoCE: PFC would pause it too",
				p, g->nic, (long long)tc);
	}
	return ok;
}

/* Traffic classes in use begin at 0 without a hole: ice and i40e disable DCB otherwise, mlx5 takes
 * any. */
static void judge_contiguous(struct judging *g, const struct ets *ets)
{
	unsigned used = 0;

	if (family_of_nic(g->snapshot, g->nic) == &family_mlx5)
		return;

	for (int p = 0; p < 8; p++)
		used |= 1u << (ets->prio_tc[p] & 7);
	if (used & (used + 1))
		judge_fail(g, "ets-not-contiguous",
			   qos_fix(g,
				   "dcb ets set dev %s prio-tc all:0 and then each other priority, "
				   "with classes 1, 2 … in order",
				   g->nic),
			   "the traffic classes in use of %s do not start at 0 without a hole",
			   g->nic);
}

/* Shares that are declared for the other classes. */
static void judge_other_classes(struct judging *g, const struct ets *ets, int64_t tc)
{
	const struct site_qos *qos = &g->site->qos;

	for (int i = 0; i < 8; i++) {
		if (i == tc || qos->tc_bandwidth[i] < 0 || strcmp(ets->tsa[i], "ets") ||
		    ets->bandwidth[i] == qos->tc_bandwidth[i])
			continue;
		judge_fail(g, "ets-bandwidth-differs",
			   qos_fix(g, "dcb ets set dev %s tc-bw %d:%d", g->nic, i,
				   qos->tc_bandwidth[i]),
			   "TC%d of %s has %lld %%, declared are %d %%", i, g->nic,
			   (long long)ets->bandwidth[i], qos->tc_bandwidth[i]);
	}
}

static void judge_bandwidth(struct judging *g, const struct ets *ets, int64_t tc)
{
	const struct site_qos *qos = &g->site->qos;
	int64_t sum = 0, roce = ets->bandwidth[tc];
	bool any_ets = false, is_ets = !strcmp(ets->tsa[tc], "ets");

	for (int i = 0; i < 8; i++) {
		if (strcmp(ets->tsa[i], "ets"))
			continue;
		any_ets = true;
		sum += ets->bandwidth[i];
	}

	int64_t want = qos->tc_bandwidth[tc] >= 0 ? qos->tc_bandwidth[tc] :
		       qos->bandwidth_percent.set ? qos->bandwidth_percent.value :
						    0;
	const char *fix = qos_fix(g,
				  "dcb ets set dev %s tc-tsa all:ets tc-bw all:0 0:%lld %lld:%lld",
				  g->nic, (long long)(100 - (want ? want : 50)), (long long)tc,
				  (long long)(want ? want : 50));

	if (is_ets && !roce)
		judge_fail(g, "ets-zero-bandwidth", fix,
			   "TC%lld of %s, the class of RoCE, has 0 %% of the bandwidth%s",
			   (long long)tc, g->nic,
			   ets->bandwidth[0] == 100 ?
				   ": that is the state right after entering DSCP mode" :
				   "");
	else if (is_ets && qos->tc_bandwidth[tc] >= 0 && roce != want)
		judge_fail(g, "ets-bandwidth-differs", fix,
			   "TC%lld of %s has %lld %%, declared are %lld %%", (long long)tc, g->nic,
			   (long long)roce, (long long)want);
	else if (is_ets && roce < want)
		judge_fail(g, "ets-bandwidth-low", fix,
			   "TC%lld of %s has %lld %%, declared are at least %lld %%", (long long)tc,
			   g->nic, (long long)roce, (long long)want);
	else	/* what the RoCE class lacks another one has: that would be told twice */
		judge_other_classes(g, ets, tc);
	if (any_ets && sum != 100)
		judge_fail(g, "ets-sum", fix, "the ETS shares of %s add up to %lld %%, not 100",
			   g->nic, (long long)sum);
}

static void judge_ets(struct judging *g)
{
	const struct site_qos *qos = &g->site->qos;
	int priority = qos_priority(g);
	struct ets ets;
	int64_t tc, max;

	if (priority < 0 || priority > 7 || !read_ets(g, &ets))
		return;
	tc = qos->traffic_class.set      ? qos->traffic_class.value :
	     qos->prio_tc[priority] >= 0 ? qos->prio_tc[priority] :
					   ets.prio_tc[priority];
	if (!qos->traffic_class.set && qos->prio_tc[priority] < 0)
		judge_assume(g, "traffic class %lld for priority %d as it is", (long long)tc,
			     priority);
	if (tc < 0 || tc > 7)
		return;
	if (qos->traffic_class.set)
		fact_declared(g, &qos->where, json_integer(tc), "qos/traffic_class");
	max = fact_optional_int(g, 8, "/links/%s/dcb/ets/max_tcs", g->nic);
	if (max && tc >= max) {
		judge_fail(g, "ets-tc-out-of-range",
			   "choose a traffic class that the port has; with more than 4 ports an "
			   "E8xx adapter has 4 per port",
			   "%s has %lld traffic classes, declared is TC%lld", g->nic,
			   (long long)max, (long long)tc);
		return;
	}
	judge_priorities(g, &ets, priority, tc);
	judge_contiguous(g, &ets);
	judge_bandwidth(g, &ets, tc);
	if (json_is_true(fact_optional(g, "/links/%s/dcb/ets/willing", g->nic)))
		judge_warn(g, "ets-willing", qos_fix(g, "dcb ets set dev %s willing off", g->nic),
			   "%s is willing: DCBX of the switch may replace these settings", g->nic);
	judge_pass(g, "priority %d in TC%lld, %s %lld %%", priority, (long long)tc, ets.tsa[tc],
		   (long long)ets.bandwidth[tc]);
}

/* --- qos.pfc --- */

static const char *priorities_text(struct judging *g, json_t *enabled)
{
	_cleanup_strbuf_ struct strbuf list = { 0 };
	json_t *p;
	size_t i;

	json_array_foreach(enabled, i, p)
		strbuf_printf(&list, "%s%lld", list.len ? ", " : "",
			      (long long)json_integer_value(p));
	return judge_text(g, "%s", strbuf_str(&list));
}

static void judge_pfc(struct judging *g)
{
	const struct site_qos *qos = &g->site->qos;
	int priority = qos_priority(g);
	json_t *enabled;

	if (priority < 0 || !qos_dcb(g))
		return;
	enabled = fact(g, "/links/%s/dcb/pfc/enabled", g->nic);
	if (!enabled)
		return;

	bool want = !qos->pfc.set || qos->pfc.value;
	size_t n = json_array_size(enabled);
	const char *is = priorities_text(g, enabled);
	const char *fix =
		want ? qos_fix(g, "dcb pfc set dev %s prio-pfc all:off %d:on", g->nic, priority) :
		       qos_fix(g, "dcb pfc set dev %s prio-pfc all:off", g->nic);

	if (qos->pfc.set)
		fact_declared(g, &qos->where, json_boolean(want), "qos/pfc");
	else
		judge_assume(g, "PFC on priority %d only", priority);
	if (!want && !n)
		judge_pass(g, "off, as declared");
	else if (!want)
		judge_fail(g, "pfc-on", fix, "PFC of %s is on for priority %s, declared is off",
			   g->nic, is);
	else if (!n && !fact_optional_int(g, 1, "/links/%s/dcb/pfc/max_tcs", g->nic))
		judge_fail(g, "pfc-not-supported", "use another NIC or port option",
			   "%s can have no PFC at all", g->nic);
	else if (!n)
		judge_fail(g, "pfc-off", fix, "PFC of %s is off, declared is on for priority %d",
			   g->nic, priority);
	else if (priority && entry_has(enabled, 0))
		judge_fail(g, "pfc-on-p0", fix,
			   "PFC of %s is on for priority %s: priority 0 carries TCP and would be "
			   "paused%s",
			   g->nic, is,
			   entry_has(enabled, priority) ? "" : ", and RoCE is not protected");
	else if (!entry_has(enabled, priority))
		judge_fail(g, "pfc-other-priority", fix,
			   "PFC of %s is on for priority %s, declared is %d", g->nic, is, priority);
	else if (n > 1)
		judge_fail(g, "pfc-several", fix,
			   "PFC of %s is on for priorities %s, declared is %d only", g->nic, is,
			   priority);
	else
		judge_pass(g, "on for priority %d only", priority);
}

/* --- the gates --- */

void judge_qos_dscp(struct judging *g)
{
	judge_dscp(g);
	qos_explain_by_agent(g);
}

void judge_qos_ets(struct judging *g)
{
	judge_ets(g);
	qos_explain_by_agent(g);
}

void judge_qos_pfc(struct judging *g)
{
	judge_pfc(g);
	qos_explain_by_agent(g);
}
