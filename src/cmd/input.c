/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "cmd/cmd.h"

#include "base/file.h"
#include "base/strbuf.h"

int cmd_input_read(char **data, size_t *len, const char *path, size_t max, const char *what,
		   struct error *err)
{
	bool standard_input = !strcmp(path, "-");
	_cleanup_close_ int opened = standard_input ? -1 : file_open(path, err);
	_cleanup_strbuf_ struct strbuf b = {0};
	char chunk[65536];
	ssize_t n;

	if (!standard_input && opened < 0)
		return opened;
	while ((n = read(standard_input ? STDIN_FILENO : opened, chunk, sizeof(chunk))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_set_errno(err, -errno, "%s", standard_input ? "standard input" : path);
		if (b.len + (size_t)n > max)
			return error_set(err, -EFBIG, "%s: larger than %zu MiB, not %s", path,
					 max >> 20, what);
		strbuf_add(&b, chunk, (size_t)n);
	}
	*len = b.len;
	*data = strbuf_steal(&b);
	return 0;
}
