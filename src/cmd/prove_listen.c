/* SPDX-License-Identifier: Apache-2.0 */
/* railhead prove --listen: a token and its command line, one peer, a record; then the next. */
#include <stdio.h>

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

int prove_seat_open(struct prove_seat *seat, const struct prove_options *o, uint16_t port,
		    struct error *err)
{
	int rc = o->token ? 0 : wire_token_new(seat->token, err);

	if (!rc)
		rc = wire_listen(&seat->listener, o->bind, port, o->token ? o->token : seat->token,
				 err);
	/* it was found to have the form, and so the length, of one */
	if (!rc && o->token)
		snprintf(seat->token, sizeof(seat->token), "%s", o->token);
	return rc;
}

void prove_announce(const struct prove_here *here, const struct prove_seat *seats, unsigned n)
{
	_cleanup_free_ char *address = own_address(here);

	/* standard output is for the record */
	fprintf(stderr, "On %s, within %d s:\n\n",
		n > 1 ? "the sending nodes, one line each" : "the other node",
		here->options.wait_ms / 1000);
	for (unsigned i = 0; i < n; i++) {
		uint16_t port = wire_listener_port(seats[i].listener);

		fprintf(stderr, "  railhead prove %s --token %s", address, seats[i].token);
		if (port != SESSION_PORT)
			fprintf(stderr, " --port %u", port);
		if (here->options.compare)
			fputs(" --compare perftest", stderr);
		fprintf(stderr, "\n");
	}
	fprintf(stderr, "\n");
}

void prove_tell_refused(const struct prove_here *here, const struct wire_listener *listener)
{
	const char *last;
	uint64_t refused = wire_listener_refused(listener, &last);
	_cleanup_free_ char *line = NULL;

	if (!refused)
		return;
	line = xasprintf("%llu connection%s refused before the peer came, the last: %s",
			 (unsigned long long)refused, refused == 1 ? " was" : "s were", last);
	prove_here_end(here, NULL).progress(line);
}

/* One peer, from the token to the record. `*served`: somebody who knew the token was there. */
static int serve(struct prove_here *here, const struct cmd_args *args, bool *served)
{
	const struct prove_options *o = &here->options;
	struct prove_seat seat;
	_cleanup_json_ json_t *records = NULL;
	_cleanup_error_ struct error err = {0};
	struct wire *wire;

	*served = false;
	if (prove_here_look(here, args, &err) < 0)
		return cmd_complain(CMD_USAGE, &err);
	int rc = prove_seat_open(&seat, o, o->port, &err);
	if (rc < 0)
		return prove_complain(rc, &err);
	prove_announce(here, &seat, 1);
	rc = wire_accept(&wire, seat.listener, o->wait_ms, &err);
	if (!rc)
		prove_tell_refused(here, seat.listener);
	/* one peer at a time: nobody waits in a queue */
	wire_listener_close(seat.listener);
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

	if (here->options.senders)
		return prove_listen_senders(here, args);
	do {
		status = serve(here, args, &served);
	} while (served && !here->options.once);
	return status;
}
