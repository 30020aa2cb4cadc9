/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "cmd/cmd.h"

#include "base/alloc.h"
#include "base/text.h"

int cmd_complain(enum cmd_status status, const struct error *err)
{
	fprintf(stderr, "railhead: %s\n", error_text(err));
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

static int write_all(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);

		if (n < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Special files (/dev/stdout, a pipe) cannot be replaced by rename. */
static bool is_regular_target(const char *path)
{
	struct stat st;

	return stat(path, &st) < 0 ? errno == ENOENT : S_ISREG(st.st_mode);
}

static int write_in_place(const char *path, const char *data, size_t len, struct error *err)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC);
	int rc = fd < 0 ? -errno : write_all(fd, data, len);

	return rc < 0 ? error_set_errno(err, rc, "cannot write %s", path) : 0;
}

static int write_renamed(const char *path, const char *data, size_t len, struct error *err)
{
	_cleanup_free_ char *temporary = xasprintf("%s.XXXXXX", path);
	_cleanup_close_ int fd = mkostemp(temporary, O_CLOEXEC);
	mode_t mask = umask(0);

	umask(mask);
	if (fd < 0)
		return error_set_errno(err, -errno, "cannot create a file beside %s", path);
	int rc = write_all(fd, data, len);
	if (!rc && (fchmod(fd, 0666 & ~mask) < 0 || fsync(fd) < 0 || rename(temporary, path) < 0))
		rc = -errno;
	if (rc < 0) {
		unlink(temporary);
		return error_set_errno(err, rc, "cannot write %s", path);
	}
	return 0;
}

int cmd_output_write(const struct cmd_args *args, const char *data, size_t len, struct error *err)
{
	if (!args->output || !strcmp(args->output, "-")) {
		int rc = write_all(STDOUT_FILENO, data, len);
		return rc < 0 ? error_set_errno(err, rc, "cannot write to standard output") : 0;
	}
	if (!is_regular_target(args->output))
		return write_in_place(args->output, data, len, err);

	/* an interrupt between creation and rename would leave the temporary file behind */
	sigset_t stop, before;

	sigemptyset(&stop);
	sigaddset(&stop, SIGINT);
	sigaddset(&stop, SIGTERM);
	sigaddset(&stop, SIGHUP);
	sigprocmask(SIG_BLOCK, &stop, &before);
	int rc = write_renamed(args->output, data, len, err);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return rc;
}
