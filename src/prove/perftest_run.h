/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run of perftest at both ends of a control channel, with the parameters of a run of our own that
 * came before it: the passive end has the server, the active one the client, whose figures count.
 */
#pragma once

#include "base/json.h"
#include "prove/perftest.h"
#include "prove/wire.h"

struct perftest_end {	/* what one end brings */
	struct wire *wire;
	struct host *host;
	const char *node;	/* its name in messages */
	const char *const *folders;	/* perftest_find() */
	bool active;		/* posts the operations */
	bool allowed;		/* else nothing is started here, and the other end is told so */
	int timeout_ms;		/* of each answer of the other end */
	int around_ms;		/* of a program beside its run: devices are opened, memory is
				 * registered, connections are made and taken down. 0: 30 s */
};

struct perftest_run {
	const char *operation;
	bool latency;
	/* of this end; `server` and `tcp_port` are set here, `address` is the passive end's */
	struct perftest_request request;
};

/*
 * 0: `*outcome` (new reference, the same at both ends) has "result", or an "error" that says at
 * which node what stood in the way. Errors are those of the channel alone: the other end is gone,
 * or speaks otherwise. Whatever happens, no program is left running.
 *
 * `own`: the result of our run, which "ratio" is told against.
 */
int perftest_run(json_t **outcome, const struct perftest_end *end, const struct perftest_run *run,
		 json_t *own, struct error *err);
