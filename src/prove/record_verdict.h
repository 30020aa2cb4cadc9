/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/json.h"

/* {"status", "why"} of a record, from its runs, the counters of both ends, and "double". New
 * reference. */
json_t *proof_verdict(json_t *record);
