/* SPDX-License-Identifier: Apache-2.0 */
/* qos.fw-lldp, qos.dcbx, qos.flow-control: who rules DCB on a NIC, and link pause, which excludes
 * PFC. */
#include <stdarg.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/alloc.h"
#include "judge/family.h"
#include "judge/qos.h"
#include "judge/subject.h"

const char *qos_not_declared(struct judging *g)
{
	if (!g->site->qos.declared)
		return "no QoS is declared in the site";
	if (g->site->qos.dcb.set && !g->site->qos.dcb.value)
		return "the site declares that its NICs have no DCB";
	return NULL;
}

json_t *qos_dcb(struct judging *g)
{
	const char *why = peek_gap(g, "/links/%s/dcb", g->nic);

	if (peek(g, "/links/%s/dcb", g->nic) || !why || !strstr(why, "dcbnl"))
		return fact(g, "/links/%s/dcb", g->nic);
	fact_optional(g, "/links/%s/dcb", g->nic);
	if (family_ice_safe_mode(g, g->nic)) {
		judge_fail(g, "nic-safe-mode", "see gate nic.firmware: the DDP package comes first",
			   "%s has no DCB because it runs in Safe Mode", g->nic);
		judge_explained_by(g, "nic.firmware", g->nic);
	} else {
		judge_fail(g, "nic-without-dcb",
			   "use a NIC and driver with DCB for lossless traffic, or declare `dcb: "
			   "false` and accept loss",
			   "the driver %s of %s has no DCB, so nothing can be set that the site "
			   "declares",
			   subject_driver_of_link(g->snapshot, g->nic) ?: "(not known)", g->nic);
	}
	return NULL;
}

const char *qos_fix(struct judging *g, const char *fmt, ...)
{
	const struct family *family = family_of_nic(g->snapshot, g->nic);
	const char *bond = subject_bond_of(g->snapshot, g->nic);
	va_list ap;

	va_start(ap, fmt);
	_cleanup_free_ char *command = xvasprintf(fmt, ap);
	va_end(ap);
	if (family != &family_ice || !bond)
		return judge_text(g, "%s", command);
	return judge_text(
		g,
		"take %s out of %s first (ice refuses DCB changes in a bond), then: %s; give the "
		"other port the same, and bond them again. The change resets the port",
		g->nic, bond, command);
}

int qos_priority(struct judging *g)
{
	if (g->site->qos.priority.set)
		return (int)g->site->qos.priority.value;
	judge_na(g, "the site declares no RoCE priority");
	return -1;
}

/* --- qos.fw-lldp --- */

/* By the driver's private flag; its sense differs: ice "fw-lldp-agent" off is good, i40e
 * "disable-fw-lldp" on. */
static void judge_lldp_flag(struct judging *g, const struct family *family)
{
	const char *flag = family->fw_lldp_flag;
	bool value, agent_on;

	if (!fact(g, "/links/%s/ethtool/private_flags", g->nic) ||
	    !fact_bool(g, &value, "/links/%s/ethtool/private_flags/%s", g->nic, flag))
		return;
	agent_on = family->fw_lldp_flag_inverted ? !value : value;
	if (agent_on)
		judge_fail(g, "fw-lldp-on",
			   judge_text(g,
				      "ethtool --set-priv-flags %s %s %s (it persists over "
				      "reboots; a setting \"LLDP AGENT\" in the BIOS may rule it)",
				      g->nic, flag, family->fw_lldp_flag_inverted ? "on" : "off"),
			   "the firmware's LLDP agent of %s is on (%s %s): it applies the switch's "
			   "DCB, and host settings are refused",
			   g->nic, flag, value ? "on" : "off");
	else if (json_is_true(fact_optional(g, "/links/%s/dcb/dcbx/lld_managed", g->nic)))
		judge_fail(
			g, "fw-lldp-managed",
			judge_text(g,
				   "ethtool --set-priv-flags %s %s %s once more; reload the driver",
				   g->nic, flag, family->fw_lldp_flag_inverted ? "on" : "off"),
			"%s says %s %s, and yet DCB of %s is managed by the firmware", g->nic, flag,
			value ? "on" : "off", g->nic);
	else
		judge_pass(g, "%s %s", flag, value ? "on" : "off");
}

/* No such flag: what the kernel says of DCBX tells who is in charge. mlx5 sets the host bit only
 * when the firmware's mode is HOST; bnxt sets lld_managed when the firmware has a DCBX agent. */
static void judge_lldp_dcbx(struct judging *g, const struct family *family)
{
	bool host, managed;

	if (!qos_dcb(g) || !fact_bool(g, &host, "/links/%s/dcb/dcbx/host", g->nic) ||
	    !fact_bool(g, &managed, "/links/%s/dcb/dcbx/lld_managed", g->nic))
		return;
	if (managed || (!host && family == &family_mlx5))
		judge_fail(g, "fw-lldp-managed",
			   family == &family_mlx5 ?
				   judge_text(g,
					      "mlnx_qos -i %s -d os; in the firmware: mlxconfig "
					      "set LLDP_NB_DCBX_P1=FALSE",
					      g->nic) :
				   "switch the LLDP/DCBX agent off with the vendor's tool",
			   "DCB of %s is managed by its firmware", g->nic);
	else if (host)
		judge_pass(g, "no agent in charge: DCBX of %s is the host's", g->nic);
	else
		judge_unknown(g, "ask the vendor's tool whether an LLDP agent runs in the firmware",
			      "neither a private flag nor DCBX tells who manages DCB of %s",
			      g->nic);
}

void judge_qos_fw_lldp(struct judging *g)
{
	const struct family *family = family_of_nic(g->snapshot, g->nic);

	if (subject_virtual_driver(g->snapshot, g->nic))
		judge_na(g, "%s is a virtual NIC (%s) without firmware", g->nic,
			 subject_virtual_driver(g->snapshot, g->nic));
	else if (family && family->fw_lldp_flag)
		judge_lldp_flag(g, family);
	else
		judge_lldp_dcbx(g, family);
}

void qos_explain_by_agent(struct judging *g)
{
	const struct family *family = family_of_nic(g->snapshot, g->nic);
	const char *flag = family ? family->fw_lldp_flag : NULL;
	json_t *value = flag ? peek(g, "/links/%s/ethtool/private_flags/%s", g->nic, flag) : NULL;
	bool on = family && family->fw_lldp_flag_inverted ? json_is_false(value) :
							      json_is_true(value);

	if (g->verdict->status == VERDICT_FAIL && !g->verdict->explained_by && on)
		judge_explained_by(g, "qos.fw-lldp", g->nic);
}

/* --- qos.dcbx --- */

void judge_qos_dcbx(struct judging *g)
{
	bool host, ieee, cee, managed;

	if (!qos_dcb(g) || !fact_bool(g, &host, "/links/%s/dcb/dcbx/host", g->nic) ||
	    !fact_bool(g, &ieee, "/links/%s/dcb/dcbx/ieee", g->nic) ||
	    !fact_bool(g, &managed, "/links/%s/dcb/dcbx/lld_managed", g->nic))
		return;
	cee = json_is_true(peek(g, "/links/%s/dcb/dcbx/cee", g->nic));
	if (managed) {
		judge_fail(g, "dcbx-lld-managed",
			   "see gate qos.fw-lldp: the firmware's agent goes first",
			   "DCBX of %s is managed by the firmware (lld-managed)", g->nic);
		judge_explained_by(g, "qos.fw-lldp", g->nic);
	} else if (!ieee) {
		judge_fail(g, "dcbx-not-ieee", qos_fix(g, "dcb dcbx set dev %s host ieee", g->nic),
			   "DCBX of %s is %s, and DSCP entries need IEEE", g->nic,
			   cee ? "CEE" : "not IEEE");
	} else if (!host) {
		judge_fail(g, "dcbx-not-host", qos_fix(g, "dcb dcbx set dev %s host ieee", g->nic),
			   "DCBX of %s is not the host's", g->nic);
		/* mlx5 tells its firmware's rule by this bit alone */
		if (family_of_nic(g->snapshot, g->nic) == &family_mlx5)
			judge_explained_by(g, "qos.fw-lldp", g->nic);
	} else {
		judge_pass(g, "host, IEEE");
	}
}

/* --- qos.flow-control --- */

static bool pfc_wanted(struct judging *g)
{
	return g->site->qos.declared && (!g->site->qos.pfc.set || g->site->qos.pfc.value);
}

/* Pause frames since the earlier snapshot: only growth counts, an idle port may show millions from
 * its past. NULL: none, or nothing to compare with. */
static const char *pause_growth(struct judging *g)
{
	static const struct {
		const char *name, *text;
	} directions[] = {
		{ "rx_frames", "received: the peer throttles this port" },
		{ "tx_frames", "sent: this host takes in too slowly" },
	};
	_cleanup_strbuf_ struct strbuf text = {0};

	if (!json_equal(peek(g, "/node/boot_id"), peek(g, "/previous/node/boot_id")))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(directions); i++) {
		const char *name = directions[i].name;
		json_t *now = peek(g, "/links/%s/ethtool/pause/%s", g->nic, name);
		json_t *then = peek(g, "/previous/links/%s/ethtool/pause/%s", g->nic, name);
		json_int_t delta = json_integer_value(now) - json_integer_value(then);

		if (!json_is_integer(now) || !json_is_integer(then) || delta <= 0)
			continue;
		fact_optional(g, "/links/%s/ethtool/pause/%s", g->nic, name);
		fact_optional(g, "/previous/links/%s/ethtool/pause/%s", g->nic, name);
		strbuf_printf(&text, "%s%lld pause frames %s", text.len ? "; " : "",
			      (long long)delta, directions[i].text);
	}
	return text.len ? judge_text(g, "%s", strbuf_str(&text)) : NULL;
}

void judge_qos_flow_control(struct judging *g)
{
	json_t *enabled = peek(g, "/links/%s/dcb/pfc/enabled", g->nic);
	bool pfc_on = json_array_size(enabled) > 0, rx, tx;
	const char *virtual = subject_virtual_driver(g->snapshot, g->nic);

	if (!peek(g, "/links/%s/ethtool/pause", g->nic) && virtual) {
		judge_na(g, "%s is a virtual NIC (%s) without link pause", g->nic, virtual);
		return;
	}
	if (!g->site->qos.declared && !pfc_on) {
		judge_na(g, "no QoS is declared in the site, and no PFC is on");
		return;
	}
	if (!fact_bool(g, &rx, "/links/%s/ethtool/pause/rx", g->nic) ||
	    !fact_bool(g, &tx, "/links/%s/ethtool/pause/tx", g->nic))
		return;

	const char *which = rx && tx ? "rx and tx" : rx ? "rx" : "tx";
	const char *fix = judge_text(
		g, "ethtool -A %s autoneg off rx off tx off; the same on the switch port", g->nic);

	const char *growth = rx || tx ? pause_growth(g) : NULL;
	const char *since = growth ? judge_text(g, "; since the earlier snapshot %s", growth) : "";

	if (!rx && !tx) {
		judge_pass(g, "link pause off");
	} else if (pfc_on) {
		fact_optional(g, "/links/%s/dcb/pfc/enabled", g->nic);
		judge_fail(g, "pause-with-pfc", fix,
			   "link pause (%s) and PFC are both on at %s: one excludes the other%s",
			   which, g->nic, since);
	} else if (pfc_wanted(g)) {
		if (!g->site->qos.pfc.set)
			judge_assume(g, "PFC on the RoCE priority");
		judge_fail(g, "link-pause-on", fix,
			   "link pause (%s) is on at %s: it stops all traffic classes and excludes "
			   "PFC%s",
			   which, g->nic, since);
	} else if (growth) {
		judge_warn(g, "pause-frames-grow", "find the receiver that is too slow, or use PFC",
			   "link pause (%s) of %s is in use, which takes line rate without any drop"
			   "%s", which, g->nic, since);
	} else {
		judge_pass(g, "link pause %s, and the site declares no PFC", which);
	}
}
