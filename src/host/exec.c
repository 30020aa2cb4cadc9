/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of the machine, where no kernel interface or file has the fact. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>

#include "host/child.h"

struct exec_question {
	const char *const *argv;
	int timeout_ms;
};

/* execvp(3) says EACCES when any folder of PATH may not be searched, also when no folder has the
 * program. Then what matters is whether one has it. */
static bool is_in_path(const char *program)
{
	const char *path = getenv("PATH");

	if (strchr(program, '/') || !path)
		return true;
	for (const char *folder = path;; folder++) {
		size_t len = strcspn(folder, ":");
		_cleanup_free_ char *full = xasprintf("%.*s/%s", (int)len, folder, program);

		if (access(full, F_OK) == 0)
			return true;
		folder += len;
		if (!*folder)
			return false;
	}
}

/* In the child: never returns. `report` takes the errno when the program cannot be started. */
static void RH_NORETURN exec_in_child(const char *const argv[], int out, int report)
{
	int null = open("/dev/null", O_RDWR), code;

	setenv("LC_ALL", "C", 1);
	unsetenv("LANGUAGE");	/* gettext(3) prefers it to LC_ALL unless that is "C" */
	dup2(out, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	dup2(report, 3);
	fcntl(3, F_SETFD, FD_CLOEXEC);
	child_close_from(4);
	execvp(argv[0], (char *const *)(uintptr_t)argv);
	code = errno;
	if (code == EACCES && !is_in_path(argv[0]))
		code = ENOENT;
	ssize_t n RH_UNUSED = write(3, &code, sizeof(code));
	_exit(127);
}

static int status_of(const struct child *c, const char *program, struct error *err)
{
	if (WIFEXITED(c->status))
		return WEXITSTATUS(c->status);
	_cleanup_free_ char *name = child_signal_name(WTERMSIG(c->status));
	return error_set(err, -ECHILD, "%s: killed by %s", program, name);
}

static int exec_live(struct host *host RH_UNUSED, const void *question, json_t **answer,
		     struct error *err)
{
	const struct exec_question *q = question;
	struct child c = { .streams = { { .max = HOST_FILE_MAX },
					{ .max = sizeof(int), .drop = true } } };
	int ends[CHILD_STREAMS], code;
	int rc = child_start(&c, ends, err);

	if (rc < 0)
		return rc;
	if (rc == 0)
		exec_in_child(q->argv, ends[0], ends[1]);
	rc = child_collect(&c, q->timeout_ms, q->argv[0], err);
	if (rc == 0 && c.streams[1].text.len == sizeof(code)) {
		memcpy(&code, c.streams[1].text.s, sizeof(code));
		rc = error_set_errno(err, -code, "%s", q->argv[0]);
	}
	if (rc == 0)
		rc = status_of(&c, q->argv[0], err);
	if (rc >= 0) {
		*answer = door_answer_new("status", json_integer_new(rc));
		json_put(*answer, "output", door_bytes_new(strbuf_str(&c.streams[0].text),
							   c.streams[0].text.len));
		rc = 0;
	}
	child_clear(&c);
	return rc;
}

/* The question's key: the words as a JSON list, so that no two commands share one. */
static char *key_of(const char *const argv[])
{
	_cleanup_json_ json_t *words = json_array_new();

	for (; *argv; argv++)
		json_append_text(words, *argv);
	return json_to_text(words, false);
}

int host_exec(struct host *host, const char *const argv[], int timeout_ms, char **output,
	      struct error *err)
{
	struct exec_question q = { .argv = argv, .timeout_ms = timeout_ms };
	_cleanup_free_ char *key = key_of(argv);
	_cleanup_json_ json_t *answer = NULL;
	size_t len;
	int rc = door_ask(host, "exec", key, false, exec_live, &q, &answer, err);

	*output = NULL;
	if (rc < 0)
		return rc;
	int64_t status = json_get_int(answer, "status", -1);
	if (status < 0 || status > 255)
		return door_malformed("exec", err);
	rc = door_bytes_get(json_object_get(answer, "output"), output, &len, err);
	return rc < 0 ? rc : (int)status;
}
