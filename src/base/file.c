/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/strings.h"

void file_hold_streams(void)
{
	int fd;

	while ((fd = open("/", O_PATH | O_CLOEXEC)) >= 0 && fd <= STDERR_FILENO)
		;
	if (fd >= 0)
		close(fd);
}

int file_open(const char *path, struct error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0)
		return error_set_errno(err, -errno, "%s", path);
	/* the open(2) should not wait, the reads shall */
	int flags = fcntl(fd, F_GETFL);
	if (flags >= 0)
		fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
	return fd;
}

int file_read(struct strbuf *text, const char *path, size_t max, struct error *err)
{
	_cleanup_close_ int fd = file_open(path, err);
	char block[64 << 10];
	ssize_t n;

	if (fd < 0)
		return fd;
	while (text->len <= max && (n = read(fd, block, sizeof(block))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_set_errno(err, -errno, "%s", path);
		strbuf_add(text, block, (size_t)n);
	}
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int file_list(char ***names, const char *path, struct error *err)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	size_t n = 0, capacity = 0;

	*names = NULL;
	if (!folder)
		return error_set_errno(err, -errno, "%s", path);
	while ((errno = 0, entry = readdir(folder))) {
		if (entry->d_name[0] == '.')
			continue;
		/* room for the end of the list, too */
		array_reserve(*names, n + 1, capacity);
		(*names)[n++] = xstrdup(entry->d_name);
		(*names)[n] = NULL;
	}
	int rc = -errno;
	closedir(folder);
	if (rc < 0) {
		strings_free(*names);
		*names = NULL;
		return error_set_errno(err, rc, "%s", path);
	}
	if (n)
		qsort(*names, n, sizeof(**names), by_name);
	return 0;
}

int file_make_folder(const char *path, struct error *err)
{
	struct stat st;

	if (mkdir(path, 0777) == 0)
		return 0;
	int rc = -errno;
	if (rc != -EEXIST)
		return error_set_errno(err, rc, "cannot make the folder %s", path);
	if (stat(path, &st) == 0 && !S_ISDIR(st.st_mode))
		return error_set_errno(err, -ENOTDIR, "%s", path);
	return 0;
}

int file_write_all(int fd, const char *data, size_t len)
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

/* `flags` are O_TRUNC and O_CREAT, which a device or a pipe does not need. */
static int write_in_place(const char *path, int flags, file_writer writer, void *data)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | flags, 0666);

	return fd < 0 ? -errno : writer(fd, data);
}

static mode_t mode_of_new_files(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

/* `*refusal` is the negative errno when the folder is what does not take a new file, else 0. */
static int write_beside(const char *path, mode_t mode, file_writer writer, void *data, int *refusal)
{
	_cleanup_free_ char *temporary = xasprintf("%s.XXXXXX", path);
	int fd = mkostemp(temporary, O_CLOEXEC), rc;

	*refusal = 0;
	if (fd < 0)
		return *refusal = -errno;
	rc = writer(fd, data);
	if (!rc && (fchmod(fd, mode) < 0 || fsync(fd) < 0))
		rc = -errno;
	if (close(fd) < 0 && !rc)
		rc = -errno;
	if (!rc && rename(temporary, path) < 0)
		rc = *refusal = -errno;
	if (rc < 0)
		unlink(temporary);
	return rc;
}

static int replace(const char *path, const struct stat *old, file_writer writer, void *data)
{
	mode_t mode = old ? old->st_mode & 0777 : mode_of_new_files();
	sigset_t stop, before;
	int refusal;

	sigemptyset(&stop);
	sigaddset(&stop, SIGINT);
	sigaddset(&stop, SIGTERM);
	sigaddset(&stop, SIGHUP);
	sigprocmask(SIG_BLOCK, &stop, &before);
	int rc = write_beside(path, mode, writer, data, &refusal);
	sigprocmask(SIG_SETMASK, &before, NULL);

	/* EBUSY: the file is a mount of its own, as in containers */
	if (old && (refusal == -EACCES || refusal == -EPERM || refusal == -EROFS ||
		    refusal == -EBUSY))
		rc = write_in_place(path, O_TRUNC, writer, data);
	return rc;
}

static int write_path(const char *path, file_writer writer, void *data)
{
	struct stat st, link;

	if (stat(path, &st) < 0) {
		if (errno != ENOENT)
			return -errno;
		if (lstat(path, &link) == 0)	/* a link to a file that is not there yet */
			return write_in_place(path, O_CREAT | O_TRUNC, writer, data);
		return replace(path, NULL, writer, data);
	}
	if (!S_ISREG(st.st_mode))
		return write_in_place(path, 0, writer, data);
	if (access(path, W_OK) < 0)
		return -errno;
	_cleanup_free_ char *real = realpath(path, NULL);
	return real ? replace(real, &st, writer, data) : -errno;
}

int file_write(const char *path, file_writer writer, void *data, struct error *err)
{
	bool standard_output = !strcmp(path, "-");
	int rc = standard_output ? writer(STDOUT_FILENO, data) : write_path(path, writer, data);

	if (rc < 0)
		return error_set_errno(err, rc, "cannot write %s%s", standard_output ? "to " : "",
				       standard_output ? "standard output" : path);
	return 0;
}
