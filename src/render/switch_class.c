/* SPDX-License-Identifier: Apache-2.0 */
/* The RoCE class of a switch, and its headroom, from the sections `switch` and `qos`. */
#include "render/switch.h"

#include "base/strings.h"
#include "matrix/headroom.h"
#include "site/schema.h"

/*
 * Marking where it is wanted and no threshold is declared: the default profile of NVIDIA Cumulus
 * Linux 5.14 (Quality of Service, "Congestion Control (ECN)"), which holds for 100 Gbit/s ports.
 */
#define ECN_MIN_DEFAULT 150000
#define ECN_MAX_DEFAULT 1500000
#define ECN_PROBABILITY_DEFAULT 100

/* Share of the RoCE queue where none is declared: "Default RoCE Configuration" of the same. */
#define SHARE_DEFAULT 50

static int64_t number_of(json_t *value, bool (*convert)(const char *text, int64_t *value))
{
	int64_t number;

	if (json_is_integer(value))
		return json_integer_value(value);
	/* numbers with a unit stay as they are written */
	if (json_is_string(value) && convert && convert(json_string_value(value), &number))
		return number;
	return 0;
}

int64_t switch_number(const struct switch_plan *plan, const char *key,
		      bool (*convert)(const char *text, int64_t *value))
{
	return number_of(render_declared(plan->r, "/switch/%s", key), convert);
}

/* A number of `switch`, else of `qos`, else -1. */
static int declared_number(const struct switch_plan *plan, const char *key,
			   struct site_number of_qos)
{
	json_t *value = render_declared(plan->r, "/switch/%s", key);

	if (json_is_integer(value))
		return (int)json_integer_value(value);
	return of_qos.set ? (int)of_qos.value : -1;
}

static void read_ecn(struct switch_plan *plan)
{
	struct switch_class *class = &plan->class;
	const struct site_qos *qos = &plan->r->site->qos;
	json_t *ecn = render_declared(plan->r, "/switch/ecn");
	json_t *probability = json_object_get(ecn, "probability");

	class->ecn = qos->ecn.set ? qos->ecn.value : ecn != NULL;
	if (!class->ecn)
		return;
	class->ecn_min = number_of(json_object_get(ecn, "min"), schema_convert_bytes);
	class->ecn_max = number_of(json_object_get(ecn, "max"), schema_convert_bytes);
	class->ecn_probability = probability
					 ? (int)number_of(probability, schema_convert_percent)
					 : ECN_PROBABILITY_DEFAULT;
	if (!class->ecn_min && !class->ecn_max) {
		class->ecn_assumed = true;
		class->ecn_min = ECN_MIN_DEFAULT;
		class->ecn_max = ECN_MAX_DEFAULT;
	} else if (!class->ecn_min || !class->ecn_max) {
		render_refuse(plan->r, "switch/ecn: 'min' and 'max' are declared together or not "
				       "at all");
	}
	if (!class->ecn_probability)
		render_refuse(plan->r, "switch/ecn/probability: 0%% marks nothing; say `ecn: "
				       "false` in `qos` instead");
	if (class->ecn_min > class->ecn_max)
		render_refuse(plan->r, "switch/ecn: min %lld is above max %lld",
			      (long long)class->ecn_min, (long long)class->ecn_max);
}

static void read_share(struct switch_plan *plan)
{
	struct switch_class *class = &plan->class;
	const struct site_qos *qos = &plan->r->site->qos;
	int share = -1;

	/* the hosts have no ETS to match */
	class->scheduled = !qos->dcb.set || qos->dcb.value;
	if (qos->traffic_class.set)
		share = qos->tc_bandwidth[qos->traffic_class.value];
	if (share < 0 && qos->bandwidth_percent.set)
		share = (int)qos->bandwidth_percent.value;
	class->share_assumed = share < 0;
	if (share < 0)
		share = SHARE_DEFAULT;
	/* neither class may starve: every system takes weights from 1 to 99 */
	class->share = share < 1 ? 1 : share > 99 ? 99 : share;
}

static void read_notifications(struct switch_plan *plan)
{
	struct switch_class *class = &plan->class;

	class->cnp_dscp = declared_number(plan, "cnp_dscp", (struct site_number){0});
	if (class->cnp_dscp < 0)
		return;
	/* class selectors: the upper three bits, RFC 2474 */
	class->cnp_queue = class->cnp_dscp >> 3;
	if (class->cnp_dscp == class->dscp || class->cnp_queue == class->priority ||
	    !class->cnp_queue)
		render_refuse(plan->r,
			      "switch/cnp_dscp: DSCP %d would share queue %d with %s; take one of "
			      "another class selector",
			      class->cnp_dscp, class->cnp_queue,
			      class->cnp_queue ? "RoCE" : "all other traffic");
}

void switch_class_read(struct switch_plan *plan)
{
	struct switch_class *class = &plan->class;
	const struct site_qos *qos = &plan->r->site->qos;
	json_t *pfc = render_declared(plan->r, "/switch/pfc");
	json_t *watchdog = render_declared(plan->r, "/switch/pfc_watchdog");

	class->dscp = declared_number(plan, "dscp", qos->dscp);
	class->priority = declared_number(plan, "priority", qos->priority);
	class->known = class->dscp >= 0 && class->priority >= 0;
	class->cnp_dscp = -1;
	if (!class->known) {
		strings_add(&plan->notes,
			    xstrdup("no DSCP and priority of RoCE are declared (switch/dscp, "
				    "switch/priority): QoS is not configured"));
		return;
	}
	if (!class->dscp || !class->priority)
		render_refuse(plan->r,
			      "switch: DSCP %d with priority %d: DSCP 0 and priority 0 are those "
			      "of all other traffic, which must not be paused",
			      class->dscp, class->priority);
	class->pfc = (json_is_true(pfc) || (qos->pfc.set && qos->pfc.value)) &&
		     !json_is_false(pfc) && (!qos->pfc.set || qos->pfc.value) &&
		     (!qos->dcb.set || qos->dcb.value);
	class->watchdog = class->pfc && !json_is_false(watchdog);
	read_ecn(plan);
	read_share(plan);
	read_notifications(plan);
}

void switch_headroom(struct switch_plan *plan)
{
	struct headroom_input input = {
		.speed_mbps = plan->speed_mbps,
		.cable_metres = plan->cable_metres,
		.mtu_bytes = plan->host_mtu ? plan->host_mtu : plan->mtu,
		.port_mtu_bytes = plan->mtu,
		.cell_bytes = switch_number(plan, "cell", schema_convert_bytes),
	};
	struct headroom need;

	plan->headroom_declared = switch_number(plan, "headroom", schema_convert_bytes);
	plan->headroom = plan->headroom_declared;
	if (!plan->class.pfc || !plan->r->matrix || !plan->speed_mbps || !plan->cable_metres ||
	    !plan->mtu)
		return;
	need = headroom_compute(plan->r->matrix, &input);
	if (!need.known)
		return;
	plan->headroom_text = headroom_text(&input, &need);
	if (need.high_bytes > plan->headroom)
		plan->headroom = need.high_bytes;
}
