/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of perftest: from its output into a message, and from there into a record. */
#pragma once

#include "base/json.h"
#include "prove/perftest.h"

/* From what the client printed: version, command, size, messages, and speed or times. */
int perftest_figures_put(json_t *message, const struct perftest_tool *tool, char *const *words,
			 bool latency, const char *output, struct error *err);
/* As `result` of a run. Nothing is believed of the message, which is the other end's at one of both
 * ends. -EPROTO. */
int perftest_figures_take(json_t *result, json_t *message, const struct perftest_tool *tool,
			  bool latency, const struct perftest_request *r, struct error *err);
/* "ratio": railhead ÷ perftest, of what the run is about. `own`: result of our run. */
void perftest_figures_compare(json_t *result, json_t *own, bool latency);
