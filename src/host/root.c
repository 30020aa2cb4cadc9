/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The root is held as an O_PATH descriptor for the whole run. Below a root other than "/" the
 * kernel resolves every path with RESOLVE_IN_ROOT (openat2(2), Linux 5.6), so that neither ".." nor
 * an absolute symbolic link of a copied tree leads to the files of this machine.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>

#include "host/root.h"

/* RESOLVE_IN_ROOT answers EAGAIN when a rename raced with ".."; the tree is asked again so
 * often. */
#define RACE_RETRIES 8

static int open_in_root(int root_fd, const char *path, int flags)
{
	struct open_how how = {
		.flags = (unsigned)flags | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT,
	};
	long fd = -1;

	for (int i = 0; i < RACE_RETRIES; i++) {
		fd = syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
		if (fd >= 0 || (errno != EAGAIN && errno != EINTR))
			break;
	}
	return fd < 0 ? -errno : (int)fd;
}

int path_open(struct host *host, const char *path, int flags)
{
	int fd;

	if (path[0] != '/')
		return -EINVAL;
	while (*path == '/')
		path++;
	if (!*path)
		path = ".";
	if (host->root)
		return open_in_root(host->root_fd, path, flags);
	do {
		fd = openat(host->root_fd, path, flags | O_CLOEXEC);
	} while (fd < 0 && errno == EINTR);
	return fd < 0 ? -errno : fd;
}

int root_open(struct host *host, const char *root, struct error *err)
{
	size_t len = root ? strlen(root) : 0;
	int probe;

	while (len && root[len - 1] == '/')
		len--;
	if (root && !*root)
		return error_set(err, -EINVAL, "the root is empty");

	host->root_fd = open(len ? root : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (host->root_fd < 0)
		return error_set_errno(err, -errno, "%s", root ? root : "/");
	if (!len)
		return 0;

	/* ENOSYS: before Linux 5.6; EPERM: a container runtime's filter that predates the call */
	probe = open_in_root(host->root_fd, ".", O_PATH);
	if (probe < 0)
		return error_set_errno(err, probe, "%s: openat2(2), which --root needs", root);
	close(probe);
	host->root = xstrndup(root, len);
	return 0;
}
