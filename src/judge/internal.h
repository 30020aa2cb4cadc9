/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that make verdicts (gate.c, engine.c, verdict.c); judges do not need it. */
#pragma once

#include "judge/gate.h"

/* NULL-terminated array of owned strings. strings_add() takes `text` over. */
void strings_free(char **strings);
void strings_add(char ***strings, char *text);
