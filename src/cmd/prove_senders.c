/* SPDX-License-Identifier: Apache-2.0 */
/*
 * railhead prove --listen --senders N: several senders into this node at the same time (incast).
 * Each is served in a process of its own, as verbs of one process share locks; this one holds them
 * together, and has the last word: all records, in one document.
 */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "cmd/prove_here.h"

#include "base/alloc.h"
#include "host/child.h"
#include "prove/incast.h"

struct senders {
	unsigned n;
	struct prove_seat seats[INCAST_SENDERS_MAX];
	pid_t pids[INCAST_SENDERS_MAX];
	int channels[INCAST_SENDERS_MAX];
	struct incast_outcome outcomes[INCAST_SENDERS_MAX];
};

static void senders_clear(struct senders *s)
{
	for (unsigned i = 0; i < s->n; i++) {
		wire_listener_close(s->seats[i].listener);
		incast_outcome_clear(&s->outcomes[i]);
	}
}
#define _cleanup_senders_ __attribute__((cleanup(senders_clear)))

/* --- one sender, in the process that serves it ------------------------------------------------ */

static int answer(struct prove_here *here, const struct cmd_args *args, struct wire *wire,
		  struct incast *incast, json_t **records, struct error *err)
{
	int rc = prove_here_look(here, args, err);

	if (rc < 0) {
		wire_send_error(wire, err);
		return rc;
	}
	struct session_end end = prove_here_end(here, wire);
	end.incast = incast;
	prove_interrupts_catch(wire_fd(wire));
	return session_answer(records, &end, err);
}

/* The peer, unless another session is gone before it comes. */
static int meet_peer(struct wire **wire, struct prove_here *here, struct wire_listener *listener,
		     struct incast *incast, struct error *err)
{
	int rc;

	wire_listener_watch(listener, incast_fd(incast));
	rc = wire_accept(wire, listener, here->options.wait_ms, err);
	if (rc == -ECANCELED) {
		error_clear(err);
		return incast_wait(incast, -1, 0, err);
	}
	if (!rc)
		prove_tell_refused(here, listener);
	return rc;
}

static void RH_NORETURN serve(struct prove_here *here, const struct cmd_args *args,
			      struct senders *s, unsigned i)
{
	struct incast *incast = incast_new(s->channels[i], i + 1, s->n, here->options.wait_ms);
	struct wire_listener *listener = s->seats[i].listener;
	_cleanup_free_ char *peer = NULL;
	_cleanup_json_ json_t *records = NULL;
	_cleanup_error_ struct error err = {0};
	struct wire *wire;

	/* those of the others are theirs */
	for (unsigned other = 0; other < s->n; other++) {
		if (other != i)
			wire_listener_close(s->seats[other].listener);
		if (other < i)
			close(s->channels[other]);
	}
	prove_progress_of(i + 1);
	int rc = prove_here_again(here, &err);
	if (!rc)
		rc = meet_peer(&wire, here, listener, incast, &err);
	wire_listener_close(listener);
	if (!rc) {
		peer = xstrdup(wire_peer(wire));
		rc = answer(here, args, wire, incast, &records, &err);
		wire_close(wire);
	}
	incast_tell(incast, peer, records, rc, &err, NULL);
	incast_free(incast);
	prove_interrupts_release();
	_exit(rc < 0);
}

/* --- all of them ------------------------------------------------------------------------------ */

/* A token and a port for each: the given port and those behind it, or free ones. */
static int seats_open(struct senders *s, const struct prove_options *o, struct error *err)
{
	int rc = 0;

	for (; s->n < o->senders && !rc; s->n += !rc) {
		uint16_t port = o->port ? (uint16_t)(o->port + s->n) : 0;

		rc = prove_seat_open(&s->seats[s->n], o, port, err);
	}
	return rc;
}

static void seats_leave(struct senders *s)
{
	for (unsigned i = 0; i < s->n; i++) {
		wire_listener_close(s->seats[i].listener);
		s->seats[i].listener = NULL;
	}
}

static int start(struct prove_here *here, const struct cmd_args *args, struct senders *s,
		 struct error *err)
{
	for (unsigned i = 0; i < s->n; i++) {
		s->pids[i] = child_fork(&s->channels[i], err);
		if (s->pids[i] == 0)
			serve(here, args, s, i);
		if (s->pids[i] > 0)
			continue;
		for (unsigned started = 0; started < i; started++) {
			kill(s->pids[started], SIGKILL);
			child_reap(s->pids[started]);
			close(s->channels[started]);
		}
		return (int)s->pids[i];
	}
	return 0;
}

/* A process that a signal ended could not say so. */
static void reap(struct senders *s, unsigned i)
{
	struct incast_outcome *outcome = &s->outcomes[i];
	int status = child_reap(s->pids[i]);

	if (outcome->rc == -ECHILD && WIFSIGNALED(status)) {
		_cleanup_free_ char *name = child_signal_name(WTERMSIG(status));
		error_set(&outcome->why, -ECHILD, "the process that served it was ended by %s",
			  name);
	}
}

static int conclude(struct senders *s, const struct prove_here *here, const struct cmd_args *args)
{
	_cleanup_json_ json_t *records = json_array_new();
	int status = CMD_OK;

	for (unsigned i = 0; i < s->n; i++) {
		struct incast_outcome *outcome = &s->outcomes[i];

		json_array_extend(records, outcome->records);
		if (outcome->rc >= 0)
			continue;
		error_wrap(&outcome->why, "sender %u%s%s%s", i + 1, outcome->peer ? " (" : "",
			   outcome->peer ? outcome->peer : "", outcome->peer ? ")" : "");
		status = cmd_complain(CMD_NOT_PROVEN, &outcome->why);
	}
	if (!json_array_size(records))
		return status;
	int seen = prove_conclude(records, here, args, 0, NULL);
	return seen > status ? seen : status;
}

/* One incast. `*served`: some sender came. */
static int lead(struct prove_here *here, const struct cmd_args *args, bool *served)
{
	_cleanup_senders_ struct senders s = {0};
	_cleanup_error_ struct error err = {0};

	*served = false;
	if (prove_here_look(here, args, &err) < 0)
		return cmd_complain(CMD_USAGE, &err);
	int rc = seats_open(&s, &here->options, &err);
	if (rc < 0)
		return prove_complain(rc, &err);
	rc = start(here, args, &s, &err);
	if (rc < 0)
		return cmd_complain(CMD_INTERNAL, &err);
	prove_interrupts_forward(s.pids, s.n);
	prove_announce(here, s.seats, s.n);
	seats_leave(&s);
	incast_lead(s.channels, s.n, s.outcomes);
	prove_interrupts_release();
	for (unsigned i = 0; i < s.n; i++) {
		reap(&s, i);
		*served |= s.outcomes[i].peer != NULL;
	}
	return conclude(&s, here, args);
}

int prove_listen_senders(struct prove_here *here, const struct cmd_args *args)
{
	bool served;
	int status;

	do {
		status = lead(here, args, &served);
	} while (served && !here->options.once);
	return status;
}
