/* SPDX-License-Identifier: Apache-2.0 */
/* railhead report: a stored JSON report in another format. */
#include "cmd/cmd.h"

#include "base/alloc.h"
#include "cmd/reports.h"

/* A node makes 350 KiB and 10,000 values with all evidence; a thousand are the largest site. */
#define REPORT_MAX_BYTES ((size_t)512 << 20)
#define REPORT_MAX_VALUES ((size_t)16 << 20)

int cmd_report(const struct cmd_args *args)
{
	_cleanup_error_ struct error err = {0};
	_cleanup_free_ char *text = NULL;
	_cleanup_json_ json_t *json = NULL, *document = NULL;
	const char *path = args->operands[0];
	size_t len;

	if (cmd_input_read(&text, &len, path, REPORT_MAX_BYTES, "a report", &err) < 0 ||
	    json_parse_large(&json, text, len, REPORT_MAX_VALUES, path, &err) < 0 ||
	    report_read(&document, json, path, &err) < 0)
		return cmd_complain(CMD_USAGE, &err);
	if (cmd_report_write(document, args, &err) < 0)
		return cmd_complain(CMD_INTERNAL, &err);
	return json_get_bool(json_object_get(document, "result"), "passed", false) ? CMD_OK :
										     CMD_NOT_PROVEN;
}
