/* SPDX-License-Identifier: Apache-2.0 */
/* The RoCE class of a switch, and its headroom, from the sections `switch` and `qos`. */
#include "render/switch.h"

#include "base/strings.h"

/* Share of the RoCE queue where none is declared: "Default RoCE Configuration" of the same. */
#define SHARE_DEFAULT 50

int64_t switch_number(const struct switch_plan *plan, const char *key)
{
	return json_get_int(render_declared(plan->r, "/switch"), key, 0);
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
	const struct switch_buffers *b = &plan->buffers;
	struct ecn_thresholds usual;

	class->ecn = qos->ecn.set ? qos->ecn.value : render_declared(plan->r, "/switch/ecn") != NULL;
	if (!class->ecn)
		return;
	if (!ecn_thresholds_usual(&usual, plan->r->matrix, b->input.speed_mbps)) {
		render_refuse(plan->r, "the support matrix has no row in its table `ecn`");
		return;
	}
	class->ecn_min = b->ecn_min_bytes;
	class->ecn_max = b->ecn_max_bytes;
	class->ecn_probability = b->ecn_percent >= 0 ? b->ecn_percent : usual.percent;
	if (!class->ecn_min && !class->ecn_max) {
		class->ecn_assumed = true;
		class->ecn_min = usual.min_bytes;
		class->ecn_max = usual.max_bytes;
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
	const struct headroom_input *input = &plan->buffers.input;
	struct headroom need;

	plan->headroom = plan->buffers.headroom_bytes;
	if (!plan->class.pfc || !input->speed_mbps || !input->cable_metres)
		return;
	need = headroom_compute(plan->r->matrix, input);
	if (!need.known)
		return;
	plan->headroom_text = headroom_text(input, &need);
	if (need.high_bytes > plan->headroom)
		plan->headroom = need.high_bytes;
}
