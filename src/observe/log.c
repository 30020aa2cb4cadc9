/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel log lines of the drivers on the path: /os/log. */
#include "observe/log.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "observe/observe.h"

/* The newest lines are kept: a storm of Xid or DMAR lines repeats itself. */
#define LOG_LINES_MAX 4000

/* What lines of these drivers begin with, or hold as a word of its own. */
static const char *const needles[] = {
	"ice ", "ice: ", "irdma", "i40e ", "mlx5", "bnxt_", "rdma_rxe", "siw:", "infiniband",
	"nvidia", "NVRM", "DMAR", "iommu", "AMD-Vi", "arm-smmu", "bond", "dcbsim", NULL,
};

static bool has_word_start(const char *text, const char *needle)
{
	for (const char *s = text; (s = strstr(s, needle)); s++)
		if (s == text || !(isalnum((unsigned char)s[-1]) || s[-1] == '_'))
			return true;
	return false;
}

bool log_line_relevant(const char *text)
{
	for (size_t i = 0; needles[i]; i++)
		if (has_word_start(text, needles[i]))
			return true;
	return false;
}

void observe_kernel_log(struct observation *o)
{
	json_t *log = json_obj(json_obj(o->snapshot, "os"), "log");
	_cleanup_error_ struct error err = {0};
	_cleanup_json_ json_t *lines = NULL;
	json_t *line;
	size_t i, relevant = 0;
	int rc = host_kernel_log(o->host, needles, &lines, &err);

	if (rc == -EPERM || rc == -EACCES)
		json_put_bool(log, "readable", false);
	if (rc < 0) {
		observe_gap(o, rc, rc == -EPERM ? "run as root, or set kernel.dmesg_restrict=0" : NULL,
			    error_text(&err), "/os/log/lines");
		return;
	}
	json_put_bool(log, "readable", true);

	json_array_foreach(lines, i, line)
		relevant += log_line_relevant(json_get_string(line, "text", ""));
	if (relevant > LOG_LINES_MAX) {
		_cleanup_free_ char *reason = xasprintf("the log holds %zu lines of these drivers; the "
							"newest %d are kept", relevant, LOG_LINES_MAX);
		observe_gap(o, 0, "dmesg shows them all", reason, "/os/log/lines");
	}
	json_t *kept = json_arr(log, "lines");
	json_array_foreach(lines, i, line)
		if (log_line_relevant(json_get_string(line, "text", "")) &&
		    relevant-- <= LOG_LINES_MAX && json_array_append(kept, line) < 0)
			alloc_exhausted();
}
