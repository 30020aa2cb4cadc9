/* SPDX-License-Identifier: Apache-2.0 */
/* railhead snapshot: the facts of this node. */
#include "cmd/cmd.h"

#include <string.h>

#include "base/alloc.h"
#include "cmd/snapshots.h"

int cmd_snapshot(const struct cmd_args *args)
{
	_cleanup_error_ struct error err = {0};
	_cleanup_snapshots_ struct snapshots snapshots = {0};

	if (snapshots_observe(&snapshots, args, &err) < 0)
		return cmd_complain(args->replay || args->root ? CMD_USAGE : CMD_INTERNAL, &err);
	_cleanup_free_ char *text = json_to_text(snapshots.s[0], true);
	_cleanup_free_ char *line = xasprintf("%s\n", text);
	if (cmd_output_write(args, line, strlen(line), &err) < 0)
		return cmd_complain(CMD_INTERNAL, &err);
	return CMD_OK;
}
