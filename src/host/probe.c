/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes: code of libraries that may hang, crash or print, run in a child. The child's document
 * comes through a pipe as JSON text and is parsed like any text from outside.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>

#include "host/child.h"

/* Of the child's standard error the first bytes are kept. */
#define STDERR_MAX (64u << 10)
#define RESULT_FD 3

struct probe_question {
	const char *name;
	host_probe probe;
	int timeout_ms;
};

static void write_all(int fd, const char *text)
{
	size_t len = strlen(text);

	while (len) {
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno != EINTR)
			_exit(125);
		if (n > 0) {
			text += n;
			len -= (size_t)n;
		}
	}
}

/* In the child: never returns. What the library prints on either stream goes to `text_fd`. */
static void RH_NORETURN probe_in_child(host_probe probe, int result_fd, int text_fd)
{
	struct error err = {0};
	json_t *envelope, *result;

	dup2(text_fd, STDOUT_FILENO);
	dup2(text_fd, STDERR_FILENO);
	dup2(result_fd, RESULT_FD);
	child_close_from(RESULT_FD + 1);

	envelope = json_object_new();
	result = json_object_new();
	int rc = probe(result, &err);
	if (rc < 0) {
		json_put_int(envelope, "errno", -(int64_t)rc);
		json_put_string(envelope, "message", error_text(&err));
	} else {
		json_put(envelope, "result", result);
	}
	write_all(RESULT_FD, json_to_text(envelope, false));
	_exit(0);
}

/* The child's document, or why there is none, as {"result"} or {"errno", "message"}. */
static int read_result(const struct child *c, const char *name, json_t **out, struct error *err)
{
	const struct strbuf *text = &c->streams[0].text;

	if (WIFSIGNALED(c->status)) {
		_cleanup_free_ char *signal = child_signal_name(WTERMSIG(c->status));

		return error_set(err, -ECHILD, "the %s probe was killed by %s", name, signal);
	}
	if (WEXITSTATUS(c->status) || !text->len)
		return error_set(err, -ECHILD, "the %s probe ended with status %d", name,
				 WEXITSTATUS(c->status));
	_cleanup_free_ char *what = xasprintf("result of the %s probe", name);
	return json_parse(out, strbuf_str(text), text->len, what, err);
}

static int run(const struct probe_question *q, struct child *c, json_t **out, struct error *err)
{
	int ends[CHILD_STREAMS];
	int rc = child_start(c, ends, err);

	if (rc < 0)
		return rc;
	if (rc == 0)
		probe_in_child(q->probe, ends[0], ends[1]);

	_cleanup_free_ char *what = xasprintf("the %s probe", q->name);
	rc = child_collect(c, q->timeout_ms, what, err);
	return rc < 0 ? rc : read_result(c, q->name, out, err);
}

/* A probe's failure is part of its answer, next to what it printed. */
static int probe_live(struct host *host RH_UNUSED, const void *question, json_t **answer,
		      struct error *err RH_UNUSED)
{
	struct child c = { .streams = { { .max = HOST_FILE_MAX },
					{ .max = STDERR_MAX, .drop = true } } };
	_cleanup_error_ struct error failure = {0};
	json_t *outcome = NULL;
	int rc = run(question, &c, &outcome, &failure);

	if (rc < 0) {
		outcome = json_object_new();
		json_put_int(outcome, "errno", -(int64_t)rc);
		json_put_string(outcome, "message", error_text(&failure));
	}
	*answer = door_answer_new("outcome", outcome);
	json_put(*answer, "stderr", door_bytes_new(strbuf_str(&c.streams[1].text),
						   c.streams[1].text.len));
	child_clear(&c);
	return 0;
}

int host_probe_run(struct host *host, const char *name, host_probe probe, int timeout_ms,
		   json_t **result, char **stderr_text, struct error *err)
{
	struct probe_question q = { .name = name, .probe = probe, .timeout_ms = timeout_ms };
	_cleanup_json_ json_t *answer = NULL;
	_cleanup_free_ char *text = NULL;
	size_t len;

	*result = NULL;
	if (stderr_text)
		*stderr_text = NULL;
	int rc = door_ask(host, "probe", name, false, probe_live, &q, &answer, err);
	if (rc < 0)
		return rc;
	rc = door_bytes_get(json_object_get(answer, "stderr"), &text, &len, err);
	if (rc < 0)
		return rc;
	if (stderr_text) {
		*stderr_text = text;
		text = NULL;
	}
	json_t *outcome = json_object_get(answer, "outcome");
	rc = door_failure(outcome, "probe", err);
	if (rc < 0)
		return rc;
	if (!json_is_object(json_object_get(outcome, "result")))
		return door_malformed("probe", err);
	*result = json_incref(json_object_get(outcome, "result"));
	return 0;
}
