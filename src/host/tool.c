/* SPDX-License-Identifier: Apache-2.0 */
#include "host/tool.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#include "host/child.h"

struct tool {
	char *program;
	struct child child;
	bool ended;
};

/* In the child: never returns. Its messages are to be in the language that is read here. */
static void RH_NORETURN become(const char *const argv[], int out, int errors)
{
	setenv("LC_ALL", "C", 1);
	unsetenv("LANGUAGE");	/* gettext(3) prefers it to LC_ALL unless that is "C" */
	dup2(out, STDOUT_FILENO);
	dup2(errors, STDERR_FILENO);
	child_close_from(3);
	execv(argv[0], (char *const *)(uintptr_t)argv);
	dprintf(STDERR_FILENO, "%s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

int tool_start(struct tool **tool, const char *const argv[], struct error *err)
{
	struct tool *t = xcalloc(1, sizeof(*t));
	int ends[CHILD_STREAMS];

	for (int i = 0; i < CHILD_STREAMS; i++)
		t->child.streams[i].max = TOOL_OUTPUT_MAX;
	int rc = child_start(&t->child, ends, err);
	if (rc < 0) {
		free(t);
		return rc;
	}
	if (rc == 0)
		become(argv, ends[0], ends[1]);
	t->program = xstrdup(argv[0]);
	*tool = t;
	return 0;
}

int tool_wait(struct tool *tool, int watch, int timeout_ms, struct error *err)
{
	int rc = tool->ended ? 1 : child_wait(&tool->child, watch, timeout_ms);

	if (rc == -ETIMEDOUT)
		return error_set(err, rc, "%s: not finished after %d ms", tool->program,
				 timeout_ms);
	if (rc == 0)
		return 0;
	tool_end(tool);
	if (rc == -EFBIG)
		return error_set(err, rc, "%s: writes more than %u bytes", tool->program,
				 TOOL_OUTPUT_MAX);
	return rc < 0 ? error_set_errno(err, rc, "%s", tool->program) : 1;
}

void tool_end(struct tool *tool)
{
	if (!tool->ended)
		child_end(&tool->child);
	tool->ended = true;
}

char *tool_failure(const struct tool *tool)
{
	const int status = tool->child.status;

	if (!tool->ended || (WIFEXITED(status) && !WEXITSTATUS(status)))
		return NULL;
	return WIFEXITED(status) ? xasprintf("exit status %d", WEXITSTATUS(status)) :
				   child_signal_name(WTERMSIG(status));
}

const char *tool_output(const struct tool *tool)
{
	return strbuf_str(&tool->child.streams[0].text);
}

const char *tool_errors(const struct tool *tool)
{
	return strbuf_str(&tool->child.streams[1].text);
}

void tool_free(struct tool *tool)
{
	if (!tool)
		return;
	tool_end(tool);
	child_clear(&tool->child);
	free(tool->program);
	free(tool);
}
