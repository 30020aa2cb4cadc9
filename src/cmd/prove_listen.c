/* SPDX-License-Identifier: Apache-2.0 */
/* railhead prove --listen: a token and its command line, one peer, a record; then the next. */
#include <string.h>

#include "cmd/prove_here.h"

#include "base/alloc.h"

/* An address of this node that the other one may connect to: the one that is to be proven, where
 * it is known already. */
static char *own_address(const struct prove_here *here)
{
	const struct session_end end = prove_here_end(here, NULL);
	_cleanup_error_ struct error err = {0};
	struct path path = {0};

	if (here->options.bind)
		return xstrdup(here->options.bind);
	char *address = path_choose(&path, &end.want, &err) < 0 || !path.address ?
				NULL : xstrdup(path.address);

	path_clear(&path);
	return address ? address :
			 xstrdup(json_get_string(json_at(here->snapshot, "/node"), "hostname",
						 "HOST"));
}

static void announce(const struct prove_here *here, uint16_t port, const char *token)
{
	_cleanup_free_ char *address = own_address(here);

	/* standard output is for the record */
	fprintf(stderr, "On the other node, within %d s:\n\n  railhead prove %s --token %s",
		here->options.wait_ms / 1000, address, token);
	if (port != SESSION_PORT)
		fprintf(stderr, " --port %u", port);
	fprintf(stderr, "\n\n");
}

/* One peer, from the token to the record. `*served`: somebody who knew the token was there. */
static int serve(struct prove_here *here, const struct cmd_args *args, bool *served)
{
	const struct prove_options *o = &here->options;
	char made[WIRE_TOKEN_CHARS + 1];
	const char *token = o->token ? o->token : made;
	_cleanup_json_ json_t *records = NULL;
	_cleanup_error_ struct error err = {0};
	struct wire_listener *listener;
	struct wire *wire;

	*served = false;
	if (prove_here_look(here, args, &err) < 0)
		return cmd_complain(CMD_USAGE, &err);
	if (!o->token && wire_token_new(made, &err) < 0)
		return cmd_complain(CMD_INTERNAL, &err);
	int rc = wire_listen(&listener, o->bind, o->port, token, &err);
	if (rc < 0)
		return prove_complain(rc, &err);
	announce(here, wire_listener_port(listener), token);
	rc = wire_accept(&wire, listener, o->wait_ms, &err);
	/* one peer at a time: nobody waits in a queue */
	wire_listener_close(listener);
	if (rc < 0)
		return cmd_complain(CMD_NOT_PROVEN, &err);
	*served = true;
	if (prove_here_look(here, args, &err) < 0) {
		wire_send_error(wire, &err);
		wire_close(wire);
		return cmd_complain(CMD_USAGE, &err);
	}
	struct session_end end = prove_here_end(here, wire);
	prove_interrupts_catch(wire_fd(wire));
	rc = session_answer(&records, &end, &err);
	wire_close(wire);
	prove_interrupts_release();
	return prove_conclude(records, here, args, rc, &err);
}

int prove_listen(struct prove_here *here, const struct cmd_args *args)
{
	bool served;
	int status;

	do {
		status = serve(here, args, &served);
	} while (served && !here->options.once);
	return status;
}
