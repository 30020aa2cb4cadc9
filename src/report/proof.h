/* SPDX-License-Identifier: Apache-2.0 */
/* What the files about proof records share. */
#pragma once

#include "report/internal.h"

/* What a run of this kind came to, in words, with how each number was got. */
void proof_put_result(struct wrap *w, const char *kind, json_t *result);
