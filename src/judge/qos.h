/* SPDX-License-Identifier: Apache-2.0 */
/* Judges of the qos gates, and what they share. */
#pragma once

#include "judge/gate.h"

/* of each NIC: qos_agent.c */
void judge_qos_fw_lldp(struct judging *g);
void judge_qos_dcbx(struct judging *g);
void judge_qos_flow_control(struct judging *g);
/* of each NIC: qos_map.c */
void judge_qos_dscp(struct judging *g);
void judge_qos_ets(struct judging *g);
void judge_qos_pfc(struct judging *g);
/* of the node and of each port: qos_port.c */
void judge_qos_equal(struct judging *g);
void judge_qos_tos(struct judging *g);
void judge_qos_vlan(struct judging *g);

/* Reason for n/a when the site declares no QoS, or none in its NICs; else NULL. */
const char *qos_not_declared(struct judging *g);

/* The NIC's DCB state. NULL when there is none; the verdict says why then: a driver without dcbnl
 * is a failure of a site that declares QoS, a state that was not observed is unknown. */
json_t *qos_dcb(struct judging *g);

/* A dcb command as a fix, with what must be done around it on this NIC: ice refuses every DCB
 * change while the port is in a bond. */
const char *qos_fix(struct judging *g, const char *fmt, ...) RH_PRINTF(2, 3);

/* A setting of the NIC failed: while the firmware's LLDP agent is on, the setting is the
 * agent's. */
void qos_explain_by_agent(struct judging *g);

/* Declared RoCE priority, or -1 (the verdict is n/a then). */
int qos_priority(struct judging *g);
