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

#define PLAN_COMPONENTS_SCHEMA "railhead.components/1"

/* Judge the plan gates of a site. `*ladder` is the caller's. */
int plan_judge(struct ladder **ladder, const struct site *site, const struct matrix *matrix,
	       struct error *err);

/*
 * The bill: array of {component, where, version, need, why, source}. `need` is "required",
 * "recommended", "not-needed" or "must-not"; `version` is absent when nothing is declared and the
 * matrix has none. New reference.
 */
json_t *plan_components(const struct site *site, const struct matrix *matrix);

/* Computed headroom and ECN thresholds, with the formula and declared values beside them; NULL when
 * the site declares no switch. New reference. */
json_t *plan_buffers(const struct site *site, const struct matrix *matrix);

/* What differs between two plans of one site: {verdicts, components, buffers}, only what changes.
 * Arguments are report documents with the members that cmd/plan.c adds. New reference. */
json_t *plan_difference(json_t *before, json_t *after);
