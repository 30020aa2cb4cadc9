/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that make verdicts (gate.c, engine.c, verdict.c); judges do not need it. */
#pragma once

#include "judge/gate.h"

void verdict_clear(struct verdict *v);

/* NULL-terminated array of owned strings. strings_add() takes `text` over. */
void strings_free(char **strings);
void strings_add(char ***strings, char *text);

/* Text of the gap that covers `pointer` in the snapshot's /gaps: its member `key` ("reason",
 * "hint"), of the longest pointer that is a prefix by whole segments. Borrowed or NULL. */
const char *gap_text(json_t *snapshot, const char *pointer, const char *key);
