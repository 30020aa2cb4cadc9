/* SPDX-License-Identifier: Apache-2.0 */
/*
 *	active				passive
 *	perftest {error}	<->	perftest {port, or error}
 *					(starts the server)
 *				<-	serving {error}
 *	(runs the client)
 *	measured {figures, or error} ->
 *				<-	served {error}
 *
 * An error of the first or second message ends it there. Whoever waits also watches the channel, so
 * that perftest ends when the other end does, or the user wants it (cmd/prove.c shuts it down).
 */
#include "prove/perftest_run.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "host/tcp.h"
#include "host/tool.h"
#include "prove/perftest_figures.h"
#include "prove/perftest_output.h"

#define AROUND_MS 30000
#define LISTEN_STEP_MS 50
#define SERVER_END_MS 2000	/* after the client has ended */
#define CONNECT_TRIES 5
#define CONNECT_PAUSE_MS 200
#define TEXT_MAX 400u

struct comparison {
	const struct perftest_end *end;
	const struct perftest_run *run;
	struct perftest_request request;
	struct perftest_tool tool;
	char **words;		/* of the command line */
	struct tool *running;
	char *failure;		/* what stood in the way, the same at both ends */
};

static void comparison_clear(struct comparison *c)
{
	tool_free(c->running);
	perftest_tool_clear(&c->tool);
	strings_free(c->words);
	free(c->failure);
}
#define _cleanup_comparison_ __attribute__((cleanup(comparison_clear)))

/* --- what each says --------------------------------------------------------------------------- */

static int tell(const struct comparison *c, const char *type, json_t *message, struct error *err)
{
	json_put_string(message, "type", type);
	return wire_send(c->end->wire, message, c->end->timeout_ms, err);
}

static int hear(const struct comparison *c, const char *type, json_t **message, int more_ms,
		struct error *err)
{
	return wire_receive(c->end->wire, type, message, c->end->timeout_ms + more_ms, err);
}

/* An error of this end, as the record has it: it says where. */
static void put_failure(const struct comparison *c, json_t *message, const struct error *why)
{
	json_put_stringf(message, "error", "%s: %.*s", c->end->node, (int)TEXT_MAX,
			 error_text(why));
}

/* Both ends make the same text: what the active one says stands first. */
static void note_failures(struct comparison *c, json_t *mine, json_t *theirs)
{
	json_t *said[] = { c->end->active ? mine : theirs, c->end->active ? theirs : mine };

	for (size_t i = 0; i < ARRAY_SIZE(said); i++) {
		const char *text = json_get_string(said[i], "error", NULL);
		if (!text)
			continue;
		_cleanup_free_ char *safe = text_printable(text, strnlen(text, 2 * TEXT_MAX));
		_cleanup_free_ char *before = c->failure;
		c->failure = before ? xasprintf("%s; %s", before, safe) : xstrdup(safe);
	}
}

/* --- before ----------------------------------------------------------------------------------- */

/* A port that nobody has; perftest listens on it a moment later. */
static int port_choose(struct comparison *c, struct error *err)
{
	_cleanup_close_ int fd = tcp_listen(c->request.own_address, 0, err);

	if (fd < 0)
		return fd;
	c->request.tcp_port = tcp_port(fd);
	return 0;
}

static int prepare(struct comparison *c, struct error *err)
{
	if (!c->end->allowed)
		return error_set(err, -EPERM,
				 "perftest is not run where --compare perftest was not given");
	int rc = perftest_find(&c->tool, c->end->host, c->end->folders, c->run->operation,
			       c->run->latency, err);
	if (rc < 0 || c->end->active)
		return rc;
	rc = port_choose(c, err);
	return rc < 0 ? rc : perftest_command(&c->words, &c->tool, c->run->latency, &c->request,
					      err);
}

static int port_read(struct comparison *c, json_t *theirs, struct error *err)
{
	int64_t port = json_get_int(theirs, "port", 0);

	if (port < 1 || port > UINT16_MAX)
		return error_set(err, -EPROTO, "the other end tells no port of perftest");
	c->request.tcp_port = (uint16_t)port;
	return 0;
}

static int meet(struct comparison *c, struct error *err)
{
	_cleanup_json_ json_t *mine = json_object_new(), *theirs = NULL;
	_cleanup_error_ struct error own = {0};

	if (prepare(c, &own) < 0)
		put_failure(c, mine, &own);
	else if (!c->end->active)
		json_put_int(mine, "port", c->request.tcp_port);
	int rc = tell(c, "perftest", mine, err);
	if (!rc)
		rc = hear(c, "perftest", &theirs, 0, err);
	if (rc < 0)
		return rc;
	note_failures(c, mine, theirs);
	return c->failure || !c->end->active ? 0 : port_read(c, theirs, err);
}

/* --- the programs ----------------------------------------------------------------------------- */

static int around_ms(const struct comparison *c)
{
	return c->end->around_ms ? c->end->around_ms : AROUND_MS;
}

static int limit_ms(const struct comparison *c)
{
	/* a latency run counts as many as ours had time for; perftest never lets others run while it
	 * waits, which makes it much slower where a CPU has more to do */
	double seconds = c->run->latency ? 10 * c->request.seconds :
					   ceil(c->request.seconds) + 2 * PERFTEST_MARGIN_S;

	return (int)(seconds * 1000) + around_ms(c);
}

/* What the other end says while it should not say anything, or that it is gone. */
static int interrupted(const struct comparison *c, struct error *err)
{
	_cleanup_json_ json_t *message = NULL;
	int rc = wire_receive(c->end->wire, NULL, &message, c->end->timeout_ms, err);

	return rc < 0 ? rc : error_set(err, -EPROTO, "the other end speaks while perftest runs");
}

static int failed(const struct comparison *c, struct error *err)
{
	_cleanup_free_ char *how = tool_failure(c->running);
	_cleanup_free_ char *reason = perftest_output_reason(tool_errors(c->running),
							     tool_output(c->running));

	return error_set(err, -ECHILD, "%s: %s%s%s", c->tool.name, *reason ? reason : "",
			 *reason ? ", " : "", how ? how : "ended too early");
}

static bool is_listener(char *line, const char *port)
{
	char *word[4];

	for (size_t i = 0; i < ARRAY_SIZE(word); i++) {
		word[i] = text_next_word(&line);
		if (!word[i])
			return false;
	}
	/* proc_net_tcp.txt: sl local_address rem_address st, where 0A is TCP_LISTEN */
	return text_ends_with(word[1], port) && !strcmp(word[3], "0A");
}

/* 1 yes, 0 no. Where it cannot be seen the client is left to find out. */
static int listens(struct host *host, uint16_t number)
{
	static const char *const tables[] = { "/proc/net/tcp", "/proc/net/tcp6" };
	_cleanup_free_ char *port = xasprintf(":%04X", number);
	const char *const needles[] = { port, NULL };
	bool seen = false;

	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		_cleanup_free_ char *text = NULL;

		if (host_read_matching(host, &text, needles, NULL, "%s", tables[i]) < 0)
			continue;
		seen = true;
		for (char *cursor = text, *line; (line = text_next_line(&cursor));) {
			if (is_listener(line, port))
				return 1;
		}
	}
	return !seen;
}

/* --- the passive end -------------------------------------------------------------------------- */

/* 0: it listens, or `own` says why not. */
static int server_start(struct comparison *c, struct error *own, struct error *err)
{
	if (tool_start(&c->running, (const char *const *)c->words, own) < 0)
		return 0;
	for (int waited = 0; !listens(c->end->host, c->request.tcp_port);
	     waited += LISTEN_STEP_MS) {
		int rc = tool_wait(c->running, wire_fd(c->end->wire), LISTEN_STEP_MS, own);

		if (rc == 0)
			return interrupted(c, err);
		if (rc == 1)
			failed(c, own);
		else if (rc == -ETIMEDOUT)
			error_clear(own);
		if (rc == -ETIMEDOUT && waited >= around_ms(c))
			error_set(own, rc, "%s does not listen on port %u of TCP after %d ms",
				  c->tool.name, c->request.tcp_port, waited);
		if (own->code)
			return 0;
	}
	return 0;
}

/* Until the client's end says something. The server may end before, as it does after a success. */
static int server_watch(struct comparison *c, json_t **measured, struct error *own,
			struct error *err)
{
	int rc = tool_wait(c->running, wire_fd(c->end->wire),
			   limit_ms(c) + c->end->timeout_ms, own);

	if (rc == -ETIMEDOUT)
		return error_set(err, rc, "the other end does not say what perftest measured");
	rc = hear(c, "measured", measured, limit_ms(c), err);
	if (rc < 0)
		return rc;
	/* its last words with the client were before */
	if (!own->code && tool_wait(c->running, -1, SERVER_END_MS, own) == 1) {
		_cleanup_free_ char *how = tool_failure(c->running);
		if (how)
			failed(c, own);
	}
	return 0;
}

static int serve(struct comparison *c, json_t **measured, struct error *err)
{
	_cleanup_json_ json_t *serving = json_object_new(), *served = json_object_new();
	_cleanup_error_ struct error own = {0};

	int rc = server_start(c, &own, err);
	if (rc < 0)
		return rc;
	if (own.code)
		put_failure(c, serving, &own);
	rc = tell(c, "serving", serving, err);
	note_failures(c, serving, NULL);
	if (rc < 0 || c->failure)
		return rc;
	rc = server_watch(c, measured, &own, err);
	if (rc < 0)
		return rc;
	if (own.code)
		put_failure(c, served, &own);
	rc = tell(c, "served", served, err);
	if (json_object_get(*measured, "error"))
		note_failures(c, served, *measured);
	return rc;
}

/* --- the active end --------------------------------------------------------------------------- */

static bool came_too_early(const struct comparison *c)
{
	_cleanup_free_ char *how = tool_failure(c->running);

	return how && strstr(tool_errors(c->running), "Couldn't connect");
}

/* 0: it is over, with or without success, or `own` says why it never was. */
static int client_run(struct comparison *c, struct error *own, struct error *err)
{
	for (int i = 0; i < CONNECT_TRIES; i++) {
		tool_free(c->running);
		c->running = NULL;
		if (tool_start(&c->running, (const char *const *)c->words, own) < 0)
			return 0;
		int rc = tool_wait(c->running, wire_fd(c->end->wire), limit_ms(c), own);
		if (rc == 0)
			return interrupted(c, err);
		tool_end(c->running);
		/* the server was seen to listen, so that this is rare */
		if (rc < 0 || !came_too_early(c))
			return 0;
		usleep(CONNECT_PAUSE_MS * 1000);
	}
	return 0;
}

/* What it measured, in the message; or `own` says why there is nothing. */
static void figures_put(struct comparison *c, json_t *message, struct error *own)
{
	_cleanup_free_ char *how = tool_failure(c->running);

	if (how)
		failed(c, own);
	else
		perftest_figures_put(message, &c->tool, c->words, c->run->latency,
				     tool_output(c->running), own);
}

static int measure(struct comparison *c, json_t **measured, struct error *err)
{
	_cleanup_json_ json_t *serving = NULL, *served = NULL;
	_cleanup_error_ struct error own = {0};

	int rc = hear(c, "serving", &serving, around_ms(c), err);
	if (rc < 0)
		return rc;
	note_failures(c, NULL, serving);
	if (c->failure)
		return 0;
	*measured = json_object_new();
	if (!perftest_command(&c->words, &c->tool, c->run->latency, &c->request, &own)) {
		rc = client_run(c, &own, err);
		if (rc < 0)
			return rc;
		if (!own.code)
			figures_put(c, *measured, &own);
	}
	if (own.code)
		put_failure(c, *measured, &own);
	rc = tell(c, "measured", *measured, err);
	if (!rc)
		rc = hear(c, "served", &served, SERVER_END_MS, err);
	if (!rc && own.code)
		note_failures(c, *measured, served);
	return rc;
}

/* --- both ------------------------------------------------------------------------------------- */

int perftest_run(json_t **outcome, const struct perftest_end *end, const struct perftest_run *run,
		 json_t *own, struct error *err)
{
	_cleanup_comparison_ struct comparison c = {
		.end = end, .run = run, .request = run->request,
	};
	_cleanup_json_ json_t *measured = NULL, *result = json_object_new();

	c.request.server = !end->active;
	int rc = meet(&c, err);
	if (!rc && !c.failure)
		rc = end->active ? measure(&c, &measured, err) : serve(&c, &measured, err);
	if (!rc && !c.failure)
		rc = perftest_figures_take(result, measured, &c.tool, run->latency, &c.request, err);
	if (rc < 0)
		return rc;
	*outcome = json_object_new();
	if (c.failure) {
		json_put_string(*outcome, "error", c.failure);
		return 0;
	}
	perftest_figures_compare(result, own, run->latency);
	json_put(*outcome, "result", json_incref(result));
	return 0;
}
