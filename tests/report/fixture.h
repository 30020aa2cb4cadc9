/* SPDX-License-Identifier: Apache-2.0 */
/* Ladders made by hand, with every kind of verdict that a report must be able to show. */
#pragma once

#include <stdbool.h>

#include "base/json.h"
#include "judge/gate.h"
#include "judge/verdict.h"

/*
 * By name: "site" (two nodes, all kinds), "paths" (64 paths of one gate), "complete" (all pass),
 * "nothing" (the first gate is unknown, failures follow), "hostile" (texts that try to break a
 * terminal, a page, an XML parser), "korean", "empty", "many" (5,000 verdicts). NULL for another
 * name. ladder_free() frees.
 */
struct ladder *fixture_ladder(const char *name);

/* Gates as the registry has them, for the tables. */
const struct gate *const *fixture_gates(size_t *n);

/* A plan (fixture_plan.c): its document, with two failures or, `good`, with none; the bill of
 * components in it. New references. */
json_t *fixture_plan(bool good);
json_t *fixture_components(void);
