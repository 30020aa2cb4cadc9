/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel log lines of the drivers on the path: /os/log. */
#include "observe/log.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "judge/signature.h"
#include "observe/observe.h"

/* The newest lines are kept: a storm of Xid or DMAR lines repeats itself. */
#define LOG_LINES_MAX 4000

/* What lines of these drivers begin with, or hold as a word of its own. */
static const char *const drivers[] = {
	"ice ", "ice: ", "irdma", "i40e ", "mlx5", "bnxt_", "rdma_rxe", "siw:", "infiniband",
	"nvidia", "NVRM", "DMAR", "iommu", "AMD-Vi", "arm-smmu", "bond", "dcbsim",
};

static bool has_word_start(const char *text, const char *needle)
{
	for (const char *s = text; (s = strstr(s, needle)); s++)
		if (s == text || !(isalnum((unsigned char)s[-1]) || s[-1] == '_'))
			return true;
	return false;
}

/* The substring of a signature that fewest other lines hold: its longest. */
static const char *signature_needle(const struct signature *signature)
{
	const char *longest = signature->all_of[0];

	for (size_t i = 1; i < ARRAY_SIZE(signature->all_of) && signature->all_of[i]; i++)
		if (strlen(signature->all_of[i]) > strlen(longest))
			longest = signature->all_of[i];
	return longest;
}

bool log_line_relevant(const char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++)
		if (has_word_start(text, drivers[i]))
			return true;
	return signature_of_text(text);
}

/* All needles for the door, NULL-terminated; the caller frees the array. */
static const char **needles_new(void)
{
	size_t n_signatures, n = 0;
	const struct signature *signatures = signature_table(&n_signatures);
	const char **needles = xcalloc(ARRAY_SIZE(drivers) + n_signatures + 1, sizeof(*needles));

	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++)
		needles[n++] = drivers[i];
	for (size_t i = 0; i < n_signatures; i++)
		needles[n++] = signature_needle(&signatures[i]);
	return needles;
}

void observe_kernel_log(struct observation *o)
{
	json_t *log = json_obj(json_obj(o->snapshot, "os"), "log");
	_cleanup_error_ struct error err = {0};
	_cleanup_free_ const char **needles = needles_new();
	_cleanup_json_ json_t *lines = NULL;
	json_t *line;
	size_t i, relevant = 0;
	int rc = host_kernel_log(o->host, needles, &lines, &err);

	if (rc == -EPERM || rc == -EACCES)
		json_put_bool(log, "readable", false);
	if (rc < 0) {
		const char *hint = rc == -EPERM ? "run as root, or set kernel.dmesg_restrict=0"
						: NULL;
		observe_gap(o, rc, hint, error_text(&err), "/os/log/lines");
		return;
	}
	json_put_bool(log, "readable", true);

	json_array_foreach(lines, i, line)
		relevant += log_line_relevant(json_get_string(line, "text", ""));
	if (relevant > LOG_LINES_MAX) {
		_cleanup_free_ char *reason = xasprintf("of %zu lines of these drivers the newest "
							"%d are kept", relevant,
							LOG_LINES_MAX);
		observe_gap(o, 0, "dmesg shows them all", reason, "/os/log/lines");
	}
	json_t *kept = json_arr(log, "lines");
	json_array_foreach(lines, i, line)
		if (log_line_relevant(json_get_string(line, "text", "")) &&
		    relevant-- <= LOG_LINES_MAX)
			json_append(kept, json_incref(line));
}
