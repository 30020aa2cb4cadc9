/* SPDX-License-Identifier: Apache-2.0 */
/* QoS gates: each cause, and the healthy forms. */
#include "bench.h"

#include <string.h>

static void declare_nothing(struct bench *b)
{
	b->s->site.qos.declared = false;
}

static void declare_no_dcb(struct bench *b)
{
	b->s->site.qos.dcb = (struct site_bool){ true, false };
}

static void declare_no_pfc(struct bench *b)
{
	b->s->site.qos.pfc = (struct site_bool){ true, false };
}

static void declare_pfc_silently(struct bench *b)
{
	b->s->site.qos.pfc.set = false;
}

static void declare_map(struct bench *b)
{
	for (int i = 0; i < 8; i++)
		b->s->site.qos.prio_tc[i] = i == 3 ? 3 : 0;
}

static void declare_shares(struct bench *b)
{
	b->s->site.qos.tc_bandwidth[0] = 40;
	b->s->site.qos.tc_bandwidth[3] = 60;
}

static void declare_60(struct bench *b)
{
	b->s->site.qos.bandwidth_percent.value = 60;
}

static void declare_p5(struct bench *b)
{
	b->s->site.qos.priority.value = 5;
	b->s->site.qos.traffic_class.value = 5;
}

static void declare_vlan(struct bench *b)
{
	b->vlan.name = TEXT("ens1f0.100");
	b->vlan.link = TEXT("ens1f0");
	b->s->nodes[0].vlans = &b->vlan;
	b->s->nodes[0].n_vlans = 1;
	b->s->ports[0].link = TEXT("ens1f0.100");
}

static void declare_vlan_map(struct bench *b)
{
	declare_vlan(b);
	b->vlan.egress[3] = 5;
}

static void declare_iwarp(struct bench *b)
{
	b->s->ports[0].protocol = TEXT("iwarp");
	bench_set(b, "/rdma/devices/rocep27s0f0/protocol", "'iwarp'");
}

#define DCB0 "/links/ens1f0/dcb/"
#define ETH0 "/links/ens1f0/ethtool/"
#define TOS0 "/rdma/devices/rocep27s0f0/cm"
#define NO_DCBNL                                                                         \
	"/gaps", "[{'pointer': '/links/ens1f0/dcb', 'reason': 'the driver has no dcbnl " \
		 "operations', 'errno': 95}]"
#define SAFE_LINE \
	"[{'text': 'ice 0000:1b:00.0: The DDP package file is invalid. Entering Safe Mode.'}]"
#define VLAN "/links/ens1f0.100"
#define VLAN_OF(map)                                                                  \
	VLAN, "{'kind': 'vlan', 'lower': 'ens1f0', 'mtu': 9000, 'vlan': {'id': 100, " \
	      "'egress': " map "}}"
#define LLDP .gate = "qos.fw-lldp", .subject = "ens1f0"
#define DCBX .gate = "qos.dcbx", .subject = "ens1f0"
#define PAUSE .gate = "qos.flow-control", .subject = "ens1f0"
#define DSCP .gate = "qos.dscp", .subject = "ens1f0"
#define ETS .gate = "qos.ets", .subject = "ens1f0"
#define PFC .gate = "qos.pfc", .subject = "ens1f0"
#define EQUAL .gate = "qos.equal"
#define TOS .gate = "qos.tos", .subject = "ens1f0"
#define EGRESS .gate = "qos.vlan", .subject = "ens1f0.100", .was_any = true

static const struct bench_row rows[] = {
	/* --- qos.fw-lldp --- */
	{ .name = "fw-lldp: on",
	  LLDP,
	  .status = VERDICT_FAIL,
	  .changes = { { ETH0 "private_flags/fw-lldp-agent", "true" } },
	  .cause = "fw-lldp-on",
	  .text = "fw-lldp-agent on" },
	{ .name = "fw-lldp: off, and yet managed",
	  LLDP,
	  .status = VERDICT_FAIL,
	  .changes = { { DCB0 "dcbx/lld_managed", "true" } },
	  .cause = "fw-lldp-managed" },
	{ .name = "fw-lldp: no such flag",
	  LLDP,
	  .status = VERDICT_UNKNOWN,
	  .changes = { { ETH0 "private_flags", "{}" } } },
	{ .name = "fw-lldp: flags not observed",
	  LLDP,
	  .status = VERDICT_UNKNOWN,
	  .changes = { { ETH0 "private_flags", NULL } } },
	{ .name = "fw-lldp: i40e, agent on",
	  LLDP,
	  .status = VERDICT_FAIL,
	  .changes = { { ETH0 "driver", "'i40e'" },
		       { ETH0 "private_flags", "{'disable-fw-lldp': false}" } },
	  .cause = "fw-lldp-on",
	  .text = "disable-fw-lldp off" },
	{ .name = "fw-lldp: i40e, agent off",
	  LLDP,
	  .status = VERDICT_PASS,
	  .changes = { { ETH0 "driver", "'i40e'" },
		       { ETH0 "private_flags", "{'disable-fw-lldp': true}" } } },
	{ .name = "fw-lldp: i40e without the flag never passes",
	  LLDP,
	  .status = VERDICT_UNKNOWN,
	  .changes = { { ETH0 "driver", "'i40e'" } } },
	{ .name = "fw-lldp: mlx5, firmware in charge",
	  LLDP,
	  .base = BASE_MLX5,
	  .status = VERDICT_FAIL,
	  .changes = { { DCB0 "dcbx/host", "false" } },
	  .cause = "fw-lldp-managed" },
	{ .name = "fw-lldp: bnxt, firmware in charge",
	  LLDP,
	  .base = BASE_BNXT,
	  .status = VERDICT_FAIL,
	  .changes = { { DCB0 "dcbx/host", "false" }, { DCB0 "dcbx/lld_managed", "true" } },
	  .cause = "fw-lldp-managed" },
	{ .name = "fw-lldp: bnxt, nobody says",
	  LLDP,
	  .base = BASE_BNXT,
	  .status = VERDICT_UNKNOWN,
	  .changes = { { DCB0 "dcbx/host", "false" } } },
	{ .name = "fw-lldp: mlx5, host in charge",
	  LLDP,
	  .base = BASE_MLX5,
	  .status = VERDICT_PASS },
	{ .name = "fw-lldp: virtual NIC",
	  LLDP,
	  .base = BASE_RXE,
	  .was_any = true,
	  .status = VERDICT_NA },
	{ .name = "fw-lldp: no QoS declared", LLDP, .site = declare_nothing, .status = VERDICT_NA },
	{ .name = "fw-lldp: no DCB declared", LLDP, .site = declare_no_dcb, .status = VERDICT_NA },
	/* --- qos.dcbx --- */
	{ .name = "dcbx: managed by the firmware",
	  DCBX,
	  .status = VERDICT_FAIL,
	  .changes = { { DCB0 "dcbx/lld_managed", "true" },
		       { DCB0 "dcbx/host", "false" },
		       { ETH0 "private_flags/fw-lldp-agent", "true" } },
	  .cause = "dcbx-lld-managed",
	  .explained_by = "qos.fw-lldp (ens1f0)" },
	{ .name = "dcbx: CEE",
	  DCBX,
	  .status = VERDICT_FAIL,
	  .changes = { { DCB0 "dcbx/ieee", "false" }, { DCB0 "dcbx/cee", "true" } },
	  .cause = "dcbx-not-ieee",
	  .text = "CEE" },
	{ .name = "dcbx: not the host's",
	  DCBX,
	  .status = VERDICT_FAIL,
	  .changes = { { DCB0 "dcbx/host", "false" } },
	  .cause = "dcbx-not-host" },
	{ .name = "dcbx: no DCB at all",
	  DCBX,
	  .status = VERDICT_FAIL,
	  .changes = { { "/links/ens1f0/dcb", NULL }, { NO_DCBNL } },
	  .cause = "nic-without-dcb" },
	{ .name = "dcbx: no DCB in Safe Mode",
	  DCBX,
	  .status = VERDICT_FAIL,
	  .changes = { { "/links/ens1f0/dcb", NULL },
		       { NO_DCBNL },
		       { "/os/log/lines", SAFE_LINE },
		       { "/devlink/pci/0000:1b:00.0/versions/running/fw.app.name", NULL } },
	  .cause = "nic-safe-mode",
	  .explained_by = "nic.firmware (ens1f0)",
	  .not_cause = "nic-without-dcb" },
	{ .name = "dcbx: not observed",
	  DCBX,
	  .status = VERDICT_UNKNOWN,
	  .changes = { { "/links/ens1f0/dcb", NULL } } },
	/* --- qos.flow-control --- */
	{ .name = "pause: with PFC",
	  PAUSE,
	  .status = VERDICT_FAIL,
	  .changes = { { ETH0 "pause/rx", "true" } },
	  .cause = "pause-with-pfc",
	  .text = "(rx)" },
	{ .name = "pause: where PFC is declared",
	  PAUSE,
	  .status = VERDICT_FAIL,
	  .site = declare_pfc_silently,
	  .changes = { { ETH0 "pause/tx", "true" }, { DCB0 "pfc/enabled", "[]" } },
	  .cause = "link-pause-on",
	  .text = "(tx)" },
	{ .name = "pause: with PFC, nothing declared",
	  PAUSE,
	  .status = VERDICT_FAIL,
	  .site = declare_nothing,
	  .changes = { { ETH0 "pause/rx", "true" }, { ETH0 "pause/tx", "true" } },
	  .cause = "pause-with-pfc" },
	{ .name = "pause: alone, nothing declared",
	  PAUSE,
	  .status = VERDICT_NA,
	  .site = declare_nothing,
	  .changes = { { ETH0 "pause/rx", "true" }, { DCB0 "pfc/enabled", "[]" } } },
	{ .name = "pause: where no PFC is declared",
	  PAUSE,
	  .status = VERDICT_PASS,
	  .site = declare_no_pfc,
	  .changes = { { ETH0 "pause/rx", "true" }, { DCB0 "pfc/enabled", "[]" } } },
	{ .name = "pause: lifetime frames do not matter",
	  PAUSE,
	  .status = VERDICT_PASS,
	  .changes = { { ETH0 "pause/rx_frames", "132000000" } } },
	{ .name = "pause: not observed",
	  PAUSE,
	  .status = VERDICT_UNKNOWN,
	  .changes = { { ETH0 "pause", NULL } } },
	{ .name = "pause: virtual NIC",
	  PAUSE,
	  .base = BASE_RXE,
	  .was_any = true,
	  .status = VERDICT_NA },
	/* --- qos.dscp --- */
	{ .name = "dscp: no entry at all",
	  DSCP,
	  .status = VERDICT_FAIL,
	  .changes = { { DCB0 "dscp", "{}" }, { DCB0 "app", "[]" } },
	  .cause = "dscp-map-empty",
	  .text = "PCP mode" },
	{ .name = "dscp: not that one",
	  DSCP,
	  .status = VERDICT_FAIL,
	  .changes = { { DCB0 "dscp", "{'26': 4}" } },
	  .cause = "dscp-map-missing" },
	{ .name = "dscp: to another priority",
	  DSCP,
	  .status = VERDICT_FAIL,
	  .changes = { { DCB0 "dscp", "{'24': 4}" } },
	  .cause = "dscp-other-priority",
	  .text = "priority 4, declared is 3" },
	{ .name = "dscp: twice",
	  DSCP,
	  .status = VERDICT_FAIL,
	  .changes = { { DCB0 "dscp", "{'24': [3, 4]}" } },
	  .cause = "dscp-several" },
	{ .name = "dscp: others there too",
	  DSCP,
	  .status = VERDICT_FAIL,
	  .changes = { { DCB0 "dscp", "{'24': 3, '26': 3, '46': 5}" } },
	  .cause = "dscp-others-on-priority",
	  .text = "of ens1f0, which is for RoCE, gets DSCP 26" },
	{ .name = "dscp: taken for a ToS byte",
	  DSCP,
	  .status = VERDICT_FAIL,
	  .changes = { { DCB0 "dscp", "{'6': 3}" } },
	  .cause = "dscp-given-as-tos",
	  .text = "DSCP 24 is ToS 96" },
	{ .name = "dscp: others elsewhere",
	  DSCP,
	  .status = VERDICT_PASS,
	  .changes = { { DCB0 "dscp", "{'24': 3, '48': 6}" } } },
	{ .name = "dscp: not observed",
	  DSCP,
	  .status = VERDICT_UNKNOWN,
	  .changes = { { DCB0 "dscp", NULL } } },
	{ .name = "dscp: no DCB at all",
	  DSCP,
	  .status = VERDICT_FAIL,
	  .changes = { { "/links/ens1f0/dcb", NULL }, { NO_DCBNL } },
	  .cause = "nic-without-dcb" },
	/* --- qos.ets --- */
	{ .name = "ets: TC3 at 0 %",
	  ETS,
	  .status = VERDICT_FAIL,
	  .changes = { { DCB0 "ets/tc_tx_bw", "[100,0,0,0,0,0,0,0]" } },
	  .cause = "ets-zero-bandwidth",
	  .text = "right after entering DSCP mode" },
	{ .name = "ets: sum is not 100",
	  ETS,
	  .status = VERDICT_FAIL,
	  .changes = { { DCB0 "ets/tc_tx_bw", "[40,0,0,50,0,0,0,0]" } },
	  .cause = "ets-sum",
	  .text = "90 %" },
	{ .name = "ets: less than declared",
	  ETS,
	  .status = VERDICT_FAIL,
	  .site = declare_60,
	  .cause = "ets-bandwidth-low",
	  .text = "50 %, declared are at least 60" },
	{ .name = "ets: shares as declared differ",
	  ETS,
	  .status = VERDICT_FAIL,
	  .site = declare_shares,
	  .cause = "ets-bandwidth-differs" },
	{ .name = "ets: priority in another class",
	  ETS,
	  .status = VERDICT_FAIL,
	  .changes = { { DCB0 "ets/prio_tc", "[0,1,2,0,3,3,3,3]" } },
	  .cause = "ets-priority-tc",
	  .text = "priority 3 of ens1f0 is in TC0",
	  .not_cause = "ets-shared-tc" },
	{ .name = "ets: class shared",
	  ETS,
	  .status = VERDICT_FAIL,
	  .changes = { { DCB0 "ets/prio_tc", "[3,1,2,3,0,0,0,0]" } },
	  .cause = "ets-shared-tc",
	  .text = "priority 0" },
	{ .name = "ets: declared map differs",
	  ETS,
	  .status = VERDICT_FAIL,
	  .site = declare_map,
	  .cause = "ets-priority-map" },
	{ .name = "ets: hole in the classes",
	  ETS,
	  .status = VERDICT_FAIL,
	  .changes = { { DCB0 "ets/prio_tc", "[0,0,0,3,0,0,0,0]" } },
	  .cause = "ets-not-contiguous" },
	{ .name = "ets: class beyond the port's",
	  ETS,
	  .status = VERDICT_FAIL,
	  .site = declare_p5,
	  .changes = { { DCB0 "ets/max_tcs", "4" } },
	  .cause = "ets-tc-out-of-range",
	  .text = "4 traffic classes" },
	{ .name = "ets: willing",
	  ETS,
	  .status = VERDICT_WARN,
	  .changes = { { DCB0 "ets/willing", "true" } },
	  .cause = "ets-willing" },
	{ .name = "ets: strict needs no share",
	  ETS,
	  .status = VERDICT_PASS,
	  .changes = { { DCB0 "ets/tc_tsa",
			 "['ets','ets','ets','strict','ets','ets','ets','ets']" },
		       { DCB0 "ets/tc_tx_bw", "[100,0,0,0,0,0,0,0]" } } },
	{ .name = "ets: not observed",
	  ETS,
	  .status = VERDICT_UNKNOWN,
	  .changes = { { DCB0 "ets", NULL } } },
	{ .name = "ets: too few values",
	  ETS,
	  .status = VERDICT_UNKNOWN,
	  .changes = { { DCB0 "ets/prio_tc", "[0,1]" } } },
	{ .name = "ets: no number among the classes",
	  ETS,
	  .status = VERDICT_UNKNOWN,
	  .changes = { { DCB0 "ets/prio_tc", "[0,1,2,3,null,5,6,7]" } } },
	{ .name = "ets: shares that no port can have",
	  ETS,
	  .status = VERDICT_UNKNOWN,
	  .changes = { { DCB0 "ets/tc_tx_bw", "[50,0,0,9223372036854775807,0,0,0,0]" } } },
	/* --- qos.pfc --- */
	{ .name = "pfc: off",
	  PFC,
	  .status = VERDICT_FAIL,
	  .changes = { { DCB0 "pfc/enabled", "[]" } },
	  .cause = "pfc-off" },
	{ .name = "pfc: on P0",
	  PFC,
	  .status = VERDICT_FAIL,
	  .changes = { { DCB0 "pfc/enabled", "[0]" } },
	  .cause = "pfc-on-p0",
	  .text = "RoCE is not protected" },
	{ .name = "pfc: on P0 too",
	  PFC,
	  .status = VERDICT_FAIL,
	  .changes = { { DCB0 "pfc/enabled", "[0, 3]" } },
	  .cause = "pfc-on-p0",
	  .not_cause = "pfc-several" },
	{ .name = "pfc: on several",
	  PFC,
	  .status = VERDICT_FAIL,
	  .changes = { { DCB0 "pfc/enabled", "[3, 4]" } },
	  .cause = "pfc-several" },
	{ .name = "pfc: on another",
	  PFC,
	  .status = VERDICT_FAIL,
	  .changes = { { DCB0 "pfc/enabled", "[4]" } },
	  .cause = "pfc-other-priority" },
	{ .name = "pfc: not possible",
	  PFC,
	  .status = VERDICT_FAIL,
	  .changes = { { DCB0 "pfc/enabled", "[]" }, { DCB0 "pfc/max_tcs", "0" } },
	  .cause = "pfc-not-supported" },
	{ .name = "pfc: on where declared off",
	  PFC,
	  .status = VERDICT_FAIL,
	  .site = declare_no_pfc,
	  .cause = "pfc-on" },
	{ .name = "pfc: off as declared",
	  PFC,
	  .status = VERDICT_PASS,
	  .site = declare_no_pfc,
	  .changes = { { DCB0 "pfc/enabled", "[]" } } },
	{ .name = "pfc: no QoS declared", PFC, .status = VERDICT_NA, .site = declare_nothing },
	{ .name = "pfc: not observed",
	  PFC,
	  .status = VERDICT_UNKNOWN,
	  .changes = { { DCB0 "pfc", NULL } } },
	/* --- qos.equal --- */
	{ .name = "equal: PFC",
	  EQUAL,
	  .status = VERDICT_FAIL,
	  .changes = { { DCB0 "pfc/enabled", "[]" } },
	  .explained_by = "qos.pfc",
	  .cause = "qos-differs-pfc",
	  .text = "ens1f0 has [], ens1f1 has [3]" },
	{ .name = "equal: ETS",
	  EQUAL,
	  .status = VERDICT_FAIL,
	  .changes = { { DCB0 "ets/tc_tx_bw", "[40,0,0,60,0,0,0,0]" } },
	  .cause = "qos-differs-ets" },
	{ .name = "equal: DSCP",
	  EQUAL,
	  .status = VERDICT_FAIL,
	  .changes = { { DCB0 "app", "[]" } },
	  .cause = "qos-differs-dscp" },
	{ .name = "equal: DCBX",
	  EQUAL,
	  .status = VERDICT_FAIL,
	  .changes = { { DCB0 "dcbx/ieee", "false" } },
	  .explained_by = "qos.dcbx",
	  .cause = "qos-differs-dcbx" },
	{ .name = "equal: link pause",
	  EQUAL,
	  .status = VERDICT_FAIL,
	  .changes = { { ETH0 "pause/rx", "true" } },
	  .explained_by = "qos.flow-control",
	  .cause = "qos-differs-pause" },
	{ .name = "equal: LLDP agent",
	  EQUAL,
	  .status = VERDICT_FAIL,
	  .changes = { { ETH0 "private_flags/fw-lldp-agent", "true" } },
	  .explained_by = "qos.fw-lldp",
	  .cause = "qos-differs-fw-lldp" },
	{ .name = "equal: one without DCB",
	  EQUAL,
	  .status = VERDICT_FAIL,
	  .changes = { { "/links/ens1f0/dcb", NULL }, { NO_DCBNL } },
	  .cause = "qos-dcb-missing" },
	{ .name = "equal: one not observed",
	  EQUAL,
	  .status = VERDICT_UNKNOWN,
	  .changes = { { "/links/ens1f0/dcb", NULL } } },
	{ .name = "equal: judged without a declaration",
	  EQUAL,
	  .status = VERDICT_FAIL,
	  .site = declare_nothing,
	  .changes = { { DCB0 "pfc/enabled", "[]" } },
	  .cause = "qos-differs-pfc" },
	{ .name = "equal: no DCB and no declaration",
	  EQUAL,
	  .status = VERDICT_NA,
	  .site = declare_nothing,
	  .changes = { { "/links/ens1f0/dcb", NULL }, { "/links/ens1f1/dcb", NULL } } },
	{ .name = "equal: no DCB observed where QoS is declared",
	  EQUAL,
	  .status = VERDICT_UNKNOWN,
	  .changes = { { "/links/ens1f0/dcb", NULL }, { "/links/ens1f1/dcb", NULL } } },
	{ .name = "equal: NICs that have no DCB",
	  EQUAL,
	  .status = VERDICT_NA,
	  .changes = { { "/links/ens1f0/dcb", NULL },
		       { "/links/ens1f1/dcb", NULL },
		       { NO_DCBNL } },
	  .text = "gate qos.dcbx says why" },
	{ .name = "equal: order of APP entries does not matter",
	  EQUAL,
	  .status = VERDICT_PASS,
	  .changes = { { DCB0 "app", "[{'selector': 5, 'protocol': 24, 'priority': 3}, "
				     "{'selector': 5, 'protocol': 48, 'priority': 6}]" },
		       { "/links/ens1f1/dcb/app",
			 "[{'selector': 5, 'protocol': 48, 'priority': 6}, {'selector': 5, "
			 "'protocol': 24, 'priority': 3}]" } } },
	/* --- qos.tos --- */
	{ .name = "tos: never set",
	  TOS,
	  .status = VERDICT_FAIL,
	  .changes = { { TOS0, "null" } },
	  .cause = "tos-not-set" },
	{ .name = "tos: 0",
	  TOS,
	  .status = VERDICT_FAIL,
	  .changes = { { TOS0 "/1/default_roce_tos", "0" } },
	  .cause = "tos-not-set" },
	{ .name = "tos: the DSCP itself",
	  TOS,
	  .status = VERDICT_FAIL,
	  .changes = { { TOS0 "/1/default_roce_tos", "24" } },
	  .cause = "tos-is-dscp",
	  .text = "must be 96" },
	{ .name = "tos: another",
	  TOS,
	  .status = VERDICT_FAIL,
	  .changes = { { TOS0 "/1/default_roce_tos", "104" } },
	  .cause = "tos-differs" },
	{ .name = "tos: with ECN bits",
	  TOS,
	  .status = VERDICT_PASS,
	  .changes = { { TOS0 "/1/default_roce_tos", "98" } } },
	{ .name = "tos: not observed",
	  TOS,
	  .status = VERDICT_UNKNOWN,
	  .changes = { { TOS0, NULL } } },
	{ .name = "tos: iWARP", TOS, .status = VERDICT_NA, .site = declare_iwarp },
	{ .name = "tos: no QoS declared", TOS, .status = VERDICT_NA, .site = declare_nothing },
	/* --- qos.vlan --- */
	{ .name = "vlan: no egress map",
	  EGRESS,
	  .status = VERDICT_FAIL,
	  .site = declare_vlan,
	  .changes = { { VLAN_OF("{}") } },
	  .cause = "vlan-egress-missing" },
	{ .name = "vlan: other egress map",
	  EGRESS,
	  .status = VERDICT_FAIL,
	  .site = declare_vlan,
	  .changes = { { VLAN_OF("{'3': 0}") } },
	  .cause = "vlan-egress-differs" },
	{ .name = "vlan: egress map",
	  EGRESS,
	  .status = VERDICT_PASS,
	  .site = declare_vlan,
	  .changes = { { VLAN_OF("{'3': 3}") } } },
	{ .name = "vlan: egress map as declared",
	  EGRESS,
	  .status = VERDICT_PASS,
	  .site = declare_vlan_map,
	  .changes = { { VLAN_OF("{'3': 5}") } } },
	{ .name = "vlan: not there", EGRESS, .status = VERDICT_UNKNOWN, .site = declare_vlan },
	{ .name = "vlan: untagged",
	  .gate = "qos.vlan",
	  .subject = "ens1f0",
	  .was_any = true,
	  .status = VERDICT_NA,
	  .text = "is no VLAN" },
};

/* A fault of one step leaves the others alone; both ports have it, so they stay equal. */
static void faults_stay_local(void **state)
{
	struct bench *b = *state;
	const struct ladder *l;

	bench_set(b, DCB0 "pfc/enabled", "[0]");
	bench_set(b, "/links/ens1f1/dcb/pfc/enabled", "[0]");
	l = bench_judge(b);
	scene_status(scene_verdict(l, "qos.pfc", "ens1f0"), VERDICT_FAIL);
	scene_status(scene_verdict(l, "qos.pfc", "ens1f1"), VERDICT_FAIL);
	scene_status(scene_verdict(l, "qos.equal", NULL), VERDICT_PASS);
	scene_status(scene_verdict(l, "qos.dscp", "ens1f0"), VERDICT_PASS);
	scene_status(scene_verdict(l, "qos.ets", "ens1f0"), VERDICT_PASS);
	scene_status(scene_verdict(l, "qos.flow-control", "ens1f0"), VERDICT_PASS);
	scene_status(scene_verdict(l, "qos.tos", "ens1f0"), VERDICT_PASS);
	scene_status(scene_verdict(l, "rdma.gid", "ens1f0"), VERDICT_PASS);
}

/* The fix says what ice wants around a DCB change in a bond. */
static void fix_in_a_bond(void **state)
{
	struct bench *b = *state;
	const struct verdict *v;

	bench_close(b);
	bench_open(b, BASE_BOND);
	bench_set(b, DCB0 "pfc/enabled", "[]");
	v = scene_verdict(bench_judge(b), "qos.pfc", "ens1f0");
	scene_cause(v, "pfc-off", NULL);
	assert_non_null(strstr(v->causes[0].fix, "take ens1f0 out of bond1 first"));
}

int main(void)
{
	static const struct CMUnitTest more[] = {
		cmocka_unit_test(faults_stay_local),
		cmocka_unit_test(fix_in_a_bond),
	};

	return bench_run_with("qos", rows, ARRAY_SIZE(rows), more, ARRAY_SIZE(more));
}
