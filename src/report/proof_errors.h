/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/json.h"
#include "base/strbuf.h"

/*
 * The counters of errors and drops of an end of a proof record that grew during its runs:
 * "out_of_seq_request +40, roce0 rx_drops +2", nothing when none did. Returns how many there are
 * of which that is known.
 */
size_t proof_errors(struct strbuf *grown, json_t *end);
