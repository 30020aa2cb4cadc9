/* SPDX-License-Identifier: Apache-2.0 */
/* Ladders made by hand, with every kind of verdict that a report must be able to show. */
#pragma once

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
