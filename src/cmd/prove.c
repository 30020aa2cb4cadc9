/* SPDX-License-Identifier: Apache-2.0 */
/* railhead prove: one end of a proof between two nodes. Here the one that connects. */
#include <errno.h>
#include <sys/random.h>

#include "cmd/prove_here.h"

static int propose(struct prove_here *here, const struct cmd_args *args)
{
	const struct prove_options *o = &here->options;
	struct session_parameters p = o->parameters;
	_cleanup_json_ json_t *records = NULL;
	_cleanup_error_ struct error err = {0};
	struct wire *wire;

	if (prove_here_look(here, args, &err) < 0)
		return cmd_complain(CMD_USAGE, &err);
	if (p.suite == SESSION_GDR && !args->prove.memory)
		prove_suite_memory(&p, here->site, here->node, args->operands[0]);
	if (getrandom(&p.seed, sizeof(p.seed), 0) != sizeof(p.seed)) {
		error_set_errno(&err, -errno, "no random numbers");
		return cmd_complain(CMD_INTERNAL, &err);
	}
	int rc = wire_connect(&wire, args->operands[0], o->port, o->token, o->timeout_ms, &err);
	if (rc < 0)
		return prove_complain(rc, &err);
	struct session_end end = prove_here_end(here, wire);
	prove_interrupts_catch(wire_fd(wire));
	rc = session_propose(&records, &end, &p, &err);
	wire_close(wire);
	prove_interrupts_release();
	return prove_conclude(records, here, args, rc, &err);
}

int cmd_prove(const struct cmd_args *args)
{
	_cleanup_prove_here_ struct prove_here here = {0};

	int status = prove_here_open(&here, args);
	if (status)
		return status;
	return args->prove.listen ? prove_listen(&here, args) : propose(&here, args);
}
