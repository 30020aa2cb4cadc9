/* SPDX-License-Identifier: Apache-2.0 */
/* railhead gates and railhead explain: the registry in words. */
#include <errno.h>
#include <string.h>

#include "cmd/cmd.h"

#include "base/alloc.h"
#include "base/text.h"
#include "cmd/reports.h"
#include "judge/gate.h"
#include "report/report.h"

static FILE *memory_open(char **text, size_t *len)
{
	FILE *memory = open_memstream(text, len);

	if (!memory)
		alloc_exhausted();
	return memory;
}

int cmd_gates(const struct cmd_args *args)
{
	_cleanup_error_ struct error err = {0};
	_cleanup_free_ char *text = NULL;
	struct report_options options;
	size_t len, n;
	const struct gate *const *gates = gate_registry(&n);

	if (cmd_report_options(&options, args, &err) < 0)
		return cmd_complain(CMD_USAGE, &err);
	FILE *memory = memory_open(&text, &len);
	int rc = report_gates(memory, gates, n, &options, &err);
	if (fclose(memory))
		alloc_exhausted();
	if (rc < 0 || cmd_output_write(args, text, len, &err) < 0)
		return cmd_complain(CMD_INTERNAL, &err);
	return CMD_OK;
}

static int unknown_gate(const char *id, struct error *err)
{
	size_t n;
	const struct gate *const *gates = gate_registry(&n);
	_cleanup_free_ const char **ids = xcalloc(n, sizeof(*ids));

	for (size_t i = 0; i < n; i++)
		ids[i] = gates[i]->id;
	const char *near = text_nearest(id, ids, n);
	_cleanup_free_ char *safe = text_printable(id, strlen(id));
	return error_set(err, -EINVAL, "explain: no gate '%s'%s%s%s; `railhead gates` lists them",
			 safe, near ? ", did you mean '" : "", near ? near : "", near ? "'" : "");
}

int cmd_explain(const struct cmd_args *args)
{
	_cleanup_error_ struct error err = {0};
	_cleanup_free_ char *text = NULL;
	_cleanup_free_ const struct gate **gates = xcalloc(args->n_operands, sizeof(*gates));
	struct report_options options;
	size_t len;
	int rc = 0;

	if (cmd_report_options(&options, args, &err) < 0)
		return cmd_complain(CMD_USAGE, &err);
	for (size_t i = 0; i < args->n_operands; i++) {
		gates[i] = gate_find(args->operands[i]);
		if (!gates[i]) {
			unknown_gate(args->operands[i], &err);
			return cmd_complain(CMD_USAGE, &err);
		}
	}
	FILE *memory = memory_open(&text, &len);
	if (options.format == REPORT_JSON)	/* one document, however many gates */
		rc = report_gates(memory, gates, args->n_operands, &options, &err);
	for (size_t i = 0; !rc && options.format != REPORT_JSON && i < args->n_operands; i++) {
		if (i)
			fputc('\n', memory);
		rc = report_explain(memory, gates[i], &options, &err);
	}
	if (fclose(memory))
		alloc_exhausted();
	if (rc < 0 || cmd_output_write(args, text, len, &err) < 0)
		return cmd_complain(CMD_INTERNAL, &err);
	return CMD_OK;
}
