/* SPDX-License-Identifier: Apache-2.0 */
/* railhead record: a snapshot whose questions and answers are kept. */
#include <errno.h>

#include "cmd/cmd.h"

#include "host/host.h"
#include "observe/observe.h"

int cmd_record(const struct cmd_args *args)
{
	_cleanup_error_ struct error err = {0};
	_cleanup_(host) struct host *host = NULL;
	_cleanup_json_ json_t *snapshot = NULL;
	struct host_options options = { .record = true };
	struct host_record_options how = { .anonymize = args->anonymize, .note = args->note };

	if (!args->output) {
		error_set(&err, -EINVAL, "record: say where to: -o FILE");
		return cmd_complain(CMD_USAGE, &err);
	}
	if (host_open(&host, &options, &err) < 0)
		return cmd_complain(CMD_INTERNAL, &err);
	snapshot = observe_snapshot(host);
	if (host_record_write(host, args->output, &how, &err) < 0)
		return cmd_complain(CMD_INTERNAL, &err);
	return CMD_OK;
}
