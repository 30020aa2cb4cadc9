/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is said of a site on paper besides the verdicts of the plan gates: its bill of components,
 * the computed buffers of the switch, what stays unverified, and what an upgrade would change. Each
 * is JSON; the report room prints it.
 */
#pragma once

#include "judge/gate.h"
#include "matrix/matrix.h"
#include "site/site.h"

/* Judge the plan gates of a site. `*ladder` is the caller's. */
int plan_judge(struct ladder **ladder, const struct site *site, const struct matrix *matrix,
	       struct error *err);

/*
 * The bill: array of {component, where, version, version_from, need, why, source}. `need` is
 * "required", "recommended", "not-needed" or "must-not"; `version` is absent when nothing is
 * declared and the matrix has none, `version_from` is "declared" or the place of the row. New
 * reference.
 */
json_t *plan_components(const struct site *site, const struct matrix *matrix);

/*
 * Computed headroom and ECN thresholds: {speed_mbps, cable_metres, mtu_bytes, port_mtu_bytes,
 * cell_bytes, numbers: [{name, value, declared, formula, source, low_bytes, high_bytes,
 * declared_bytes}]}; what is not declared is absent. NULL when the site declares no switch. New
 * reference.
 */
json_t *plan_buffers(const struct site *site, const struct matrix *matrix);

/*
 * What differs between two plans of one site: {verdicts, components, buffers}, each a list of
 * {before, after} with what tells them apart (gate, component and where, name); what is new has no
 * `before`, what is gone no `after`. Arguments are documents of report_plan_document(). New
 * reference.
 */
json_t *plan_difference(json_t *before, json_t *after);
