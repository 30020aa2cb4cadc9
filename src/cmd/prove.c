/* SPDX-License-Identifier: Apache-2.0 */
/* railhead prove: one end of a proof between two nodes. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "cmd/cmd.h"

#include "base/alloc.h"
#include "cmd/prove.h"
#include "cmd/reports.h"
#include "cmd/snapshots.h"
#include "host/verbs.h"
#include "observe/observe.h"
#include "prove/record.h"

/* Everything that a proof needs from this machine. */
struct here {
	struct host *host;
	struct site *site;
	json_t *snapshot;
	const struct site_node *node;
	struct verbs verbs;
	struct prove_options options;
};

static void here_clear(struct here *here)
{
	if (here->host)
		host_close(here->host);
	site_free(here->site);
	json_decref(here->snapshot);
}
#define _cleanup_here_ __attribute__((cleanup(here_clear)))

/* --- interrupts ------------------------------------------------------------------------------- */

static volatile sig_atomic_t interrupted;
static volatile sig_atomic_t control = -1;	/* descriptor of the control channel */

/* Whatever waits for the other end stops waiting, and the proof is taken down in order. A second
 * signal does what signals do. */
static void on_interrupt(int signal_number)
{
	const int saved = errno;

	interrupted = signal_number;
	shutdown(control, SHUT_RDWR);
	errno = saved;
}

static void interrupts_catch(int fd)
{
	struct sigaction action = { .sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND };

	control = fd;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

/* The signal that came meanwhile ends the program now, as it would have then. */
static void interrupts_release(void)
{
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	control = -1;
	if (interrupted) {
		fprintf(stderr, "railhead: interrupted, the proof was given up\n");
		fflush(NULL);
		raise(interrupted);
	}
}

/* --- both ends -------------------------------------------------------------------------------- */

static bool quiet;

static void progress(const char *line)
{
	if (!quiet)
		fprintf(stderr, "railhead: %s\n", line);
}

/* 0 or CMD_…, complained. */
static int here_open(struct here *here, const struct cmd_args *args)
{
	const struct host_options machine = {0};
	_cleanup_error_ struct error err = {0};

	quiet = args->quiet;
	if (args->site && site_load(&here->site, args->site, &err) < 0)
		return cmd_complain(CMD_USAGE, &err);
	if (prove_options_read(&here->options, args, here->site, &err) < 0)
		return cmd_complain(CMD_USAGE, &err);
	if (host_open(&here->host, &machine, &err) < 0)
		return cmd_complain(CMD_INTERNAL, &err);
	if (verbs_load(&here->verbs, &err) < 0)
		return cmd_complain(CMD_NOT_PROVEN, &err);
	return 0;
}

/* A proof rests on what the machine is now, not on what it was when a listener was started. */
static int here_look(struct here *here, const struct cmd_args *args, struct error *err)
{
	json_decref(here->snapshot);
	here->snapshot = observe_snapshot(here->host);
	return here->site ? snapshot_node(&here->node, here->site, args, here->snapshot,
					  "this machine", err) :
			    0;
}

static struct session_end end_of(const struct here *here, struct wire *wire)
{
	const struct prove_options *o = &here->options;

	return (struct session_end){
		.wire = wire,
		.host = here->host,
		.verbs = &here->verbs,
		.want = {
			.snapshot = here->snapshot,
			.site = here->site,
			.node = here->node,
			.link = o->link,
			.device = o->device,
			.gid_index = o->gid_index,
		},
		.timeout_ms = o->timeout_ms,
		.gpu = o->gpu,
		.dmabuf_double = o->dmabuf_double,
		.progress = progress,
	};
}

static int records_store(json_t *records, const struct prove_options *o, struct error *err)
{
	json_t *record;
	size_t i;

	json_array_foreach(records, i, record) {
		_cleanup_free_ char *path = NULL;
		int rc = o->store ? proof_store(record, o->store, &path, err) : 0;

		if (rc < 0)
			return error_wrap(err, "the proof was made, but its record is not kept");
		if (path && !quiet)
			fprintf(stderr, "railhead: the record is %s\n", path);
	}
	return 0;
}

/* Print and keep what was seen, up to an error too; the exit status is its verdict. */
static int conclude(json_t *records, const struct here *here, const struct cmd_args *args,
		    int rc, const struct error *why)
{
	_cleanup_error_ struct error err = {0};
	int status = rc < 0 ? cmd_complain(CMD_NOT_PROVEN, why) : CMD_OK;
	json_t *record;
	size_t i;

	/* nothing was run */
	if (!records)
		return status;
	json_array_foreach(records, i, record) {
		json_t *verdict = json_object_get(record, "verdict");

		if (strcmp(json_get_string(verdict, "status", ""), "pass"))
			status = CMD_NOT_PROVEN;
	}
	if (cmd_document_print(report_proofs, records, args, &err) < 0 || fflush(stdout))
		return cmd_complain(CMD_INTERNAL, &err);
	if (records_store(records, &here->options, &err) < 0)
		return cmd_complain(CMD_INTERNAL, &err);
	return status;
}

/* A token or a host that is none was a mistake of the caller; else nothing is proven. */
static int complain(int rc, const struct error *err)
{
	return cmd_complain(rc == -EINVAL ? CMD_USAGE : CMD_NOT_PROVEN, err);
}

/* --- the end that connects -------------------------------------------------------------------- */

static int propose(struct here *here, const struct cmd_args *args)
{
	const struct prove_options *o = &here->options;
	struct session_parameters p = o->parameters;
	_cleanup_json_ json_t *records = NULL;
	_cleanup_error_ struct error err = {0};
	struct wire *wire;

	if (here_look(here, args, &err) < 0)
		return cmd_complain(CMD_USAGE, &err);
	if (getrandom(&p.seed, sizeof(p.seed), 0) != sizeof(p.seed)) {
		error_set_errno(&err, -errno, "no random numbers");
		return cmd_complain(CMD_INTERNAL, &err);
	}
	int rc = wire_connect(&wire, args->operands[0], o->port, o->token, o->timeout_ms, &err);
	if (rc < 0)
		return complain(rc, &err);
	struct session_end end = end_of(here, wire);
	interrupts_catch(wire_fd(wire));
	rc = session_propose(&records, &end, &p, &err);
	wire_close(wire);
	interrupts_release();
	return conclude(records, here, args, rc, &err);
}

/* --- the end that listens --------------------------------------------------------------------- */

/* An address of this node that the other one may connect to: the one that is to be proven, where
 * it is known already. */
static char *own_address(const struct here *here)
{
	const struct session_end end = end_of(here, NULL);
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

static void announce(const struct here *here, uint16_t port, const char *token)
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
static int serve(struct here *here, const struct cmd_args *args, bool *served)
{
	const struct prove_options *o = &here->options;
	char made[WIRE_TOKEN_CHARS + 1];
	const char *token = o->token ? o->token : made;
	_cleanup_json_ json_t *records = NULL;
	_cleanup_error_ struct error err = {0};
	struct wire_listener *listener;
	struct wire *wire;

	*served = false;
	if (here_look(here, args, &err) < 0)
		return cmd_complain(CMD_USAGE, &err);
	if (!o->token && wire_token_new(made, &err) < 0)
		return cmd_complain(CMD_INTERNAL, &err);
	int rc = wire_listen(&listener, o->bind, o->port, token, &err);
	if (rc < 0)
		return complain(rc, &err);
	announce(here, wire_listener_port(listener), token);
	rc = wire_accept(&wire, listener, o->wait_ms, &err);
	/* one peer at a time: nobody waits in a queue */
	wire_listener_close(listener);
	if (rc < 0)
		return cmd_complain(CMD_NOT_PROVEN, &err);
	*served = true;
	if (here_look(here, args, &err) < 0) {
		wire_send_error(wire, &err);
		wire_close(wire);
		return cmd_complain(CMD_USAGE, &err);
	}
	struct session_end end = end_of(here, wire);
	interrupts_catch(wire_fd(wire));
	rc = session_answer(&records, &end, &err);
	wire_close(wire);
	interrupts_release();
	return conclude(records, here, args, rc, &err);
}

int cmd_prove(const struct cmd_args *args)
{
	_cleanup_here_ struct here here = {0};
	bool served;

	int status = here_open(&here, args);
	if (status)
		return status;
	if (!args->prove.listen)
		return propose(&here, args);
	do {
		status = serve(&here, args, &served);
	} while (served && !here.options.once);
	return status;
}
