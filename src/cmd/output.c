/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <sys/ioctl.h>

#include "cmd/cmd.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"

int cmd_complain(enum cmd_status status, const struct error *err)
{
	const char *text = error_text(err);
	/* names in it may come from files of others: a terminal shall not obey them */
	_cleanup_free_ char *safe = text_printable(text, strlen(text));

	fprintf(stderr, "railhead: %s\n", safe);
	return status;
}

bool cmd_use_colour(const struct cmd_args *args)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	if (args->output || args->colour == CMD_COLOUR_NEVER)
		return false;
	if (args->colour == CMD_COLOUR_ALWAYS)
		return true;
	if ((no_color && *no_color) || (term && !strcmp(term, "dumb")))
		return false;
	return isatty(STDOUT_FILENO);
}

unsigned cmd_columns(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	uint64_t n;

	if (columns && !text_to_u64(columns, 10, &n) && n >= 40 && n <= 1000)
		return (unsigned)n;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col >= 40)
		return size.ws_col;
	return 80;
}

struct text {
	const char *data;
	size_t len;
};

static int text_write(int fd, void *data)
{
	const struct text *text = data;

	return file_write_all(fd, text->data, text->len);
}

int cmd_output_write(const struct cmd_args *args, const char *data, size_t len, struct error *err)
{
	struct text text = { data, len };

	return file_write(args->output ? args->output : "-", text_write, &text, err);
}
