/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/prove_here.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "cmd/reports.h"
#include "cmd/snapshots.h"
#include "observe/observe.h"
#include "prove/incast.h"
#include "prove/record.h"

/* --- interrupts ------------------------------------------------------------------------------- */

static volatile sig_atomic_t interrupted;
static volatile sig_atomic_t control = -1;	/* descriptor of the control channel */
static volatile pid_t workers[INCAST_SENDERS_MAX];
static volatile sig_atomic_t n_workers;

/* Whatever waits for the other end stops waiting, and the proof is taken down in order. A second
 * signal does what signals do. */
static void on_interrupt(int signal_number)
{
	const int saved = errno;

	interrupted = signal_number;
	if (control >= 0)
		shutdown(control, SHUT_RDWR);
	for (int i = 0; i < n_workers; i++)
		kill(workers[i], signal_number);
	errno = saved;
}

void prove_interrupts_catch(int fd)
{
	struct sigaction action = { .sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND };

	control = fd;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

void prove_interrupts_forward(const pid_t *pids, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		workers[i] = pids[i];
	n_workers = (sig_atomic_t)n;
	prove_interrupts_catch(-1);
}

void prove_interrupts_release(void)
{
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	control = -1;
	n_workers = 0;
	if (interrupted) {
		fprintf(stderr, "railhead: interrupted, the proof was given up\n");
		fflush(NULL);
		raise(interrupted);
	}
}

/* --- this machine ----------------------------------------------------------------------------- */

void prove_here_clear(struct prove_here *here)
{
	if (here->host)
		host_close(here->host);
	site_free(here->site);
	json_decref(here->snapshot);
}

static bool quiet;
static unsigned sender;	/* 0: there is one */

static void progress(const char *line)
{
	if (!quiet && sender)
		fprintf(stderr, "railhead: sender %u: %s\n", sender, line);
	else if (!quiet)
		fprintf(stderr, "railhead: %s\n", line);
}

void prove_progress_of(unsigned number)
{
	sender = number;
}

int prove_here_open(struct prove_here *here, const struct cmd_args *args)
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

int prove_here_again(struct prove_here *here, struct error *err)
{
	const struct host_options machine = {0};

	host_close(here->host);
	here->host = NULL;
	return host_open(&here->host, &machine, err);
}

int prove_here_look(struct prove_here *here, const struct cmd_args *args, struct error *err)
{
	json_decref(here->snapshot);
	here->snapshot = observe_snapshot(here->host);
	return here->site ? snapshot_node(&here->node, here->site, args, here->snapshot,
					  "this machine", err) :
			    0;
}

struct session_end prove_here_end(const struct prove_here *here, struct wire *wire)
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
		.compare = o->compare,
		.progress = progress,
	};
}

/* --- what came of it -------------------------------------------------------------------------- */

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

int prove_conclude(json_t *records, const struct prove_here *here, const struct cmd_args *args,
		   int rc, const struct error *why)
{
	_cleanup_error_ struct error err = {0}, unkept = {0};
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
	/* first what nobody can see again */
	if (records_store(records, &here->options, &unkept) < 0)
		status = cmd_complain(CMD_INTERNAL, &unkept);
	int printed = cmd_document_print(report_proofs, records, args, &err);
	if (!printed && fflush(stdout))
		printed = error_set_errno(&err, -errno, "standard output");
	if (printed < 0)
		status = cmd_complain(CMD_INTERNAL, &err);
	return status;
}

int prove_complain(int rc, const struct error *err)
{
	return cmd_complain(rc == -EINVAL ? CMD_USAGE : CMD_NOT_PROVEN, err);
}
