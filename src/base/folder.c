/* SPDX-License-Identifier: Apache-2.0 */
#include "base/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/file.h"

#define STAGING ".railhead-new"
#define OPEN_FOLDER (O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)

struct folder {
	char *path;
	int fd;
	int staging;		/* -1: nothing was staged */
	size_t n_staged;
	sigset_t before;	/* mask of signals, to be put back; valid with `staging` */
	/* the folder that was reached last: files come in path order */
	char *parent;
	int parent_fd;
};

static int fail(const struct folder *f, int rc, const char *path, struct error *err)
{
	return error_set_errno(err, rc, "%s/%s", f->path, path);
}

static int folder_new(struct folder **folder, const char *path, int fd)
{
	struct folder *f = xcalloc(1, sizeof(*f));

	f->path = xstrdup(path);
	f->fd = fd;
	f->staging = f->parent_fd = -1;
	*folder = f;
	return 0;
}

int folder_open(struct folder **folder, const char *path, struct error *err)
{
	int fd = open(path, OPEN_FOLDER & ~O_NOFOLLOW);

	return fd < 0 ? error_set_errno(err, -errno, "%s", path) : folder_new(folder, path, fd);
}

int folder_open_to_write(struct folder **folder, const char *path, struct error *err)
{
	_cleanup_folder_ struct folder *f = NULL;

	if (mkdir(path, 0777) < 0 && errno != EEXIST)
		return error_set_errno(err, -errno, "cannot make the folder %s", path);
	int rc = folder_open(&f, path, err);
	if (rc < 0)
		return rc;
	if (flock(f->fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno == EWOULDBLOCK)
			return error_set(err, -EBUSY, "%s: another program is writing to it", path);
		/* some network file systems have no locks; then the user has to take care */
		if (errno != ENOLCK && errno != EOPNOTSUPP && errno != ENOSYS)
			return error_set_errno(err, -errno, "cannot lock %s", path);
	}
	*folder = f;
	f = NULL;
	return 0;
}

/* Descriptor of the folder that holds the last component of `path`, which is `*name`; it belongs
 * to `f`. `make`: folders that are not there are made. Or a negative errno. */
static int parent_open(struct folder *f, const char *path, bool make, const char **name)
{
	const char *slash = strrchr(path, '/');

	*name = slash ? slash + 1 : path;
	if (!slash)
		return f->fd;
	size_t len = (size_t)(slash - path);
	if (f->parent && strlen(f->parent) == len && !strncmp(f->parent, path, len))
		return f->parent_fd;

	_cleanup_free_ char *parts = xstrndup(path, len);
	int fd = f->fd;

	for (char *part = parts, *next; part; part = next) {
		next = strchr(part, '/');
		if (next)
			*next++ = '\0';
		if (make && mkdirat(fd, part, 0777) < 0 && errno != EEXIST) {
			int rc = -errno;

			if (fd != f->fd)
				close(fd);
			return rc;
		}
		int below = openat(fd, part, OPEN_FOLDER);
		int rc = -errno;

		if (fd != f->fd)
			close(fd);
		if (below < 0)	/* O_DIRECTORY on a link: ENOTDIR or ELOOP, by kernel */
			return rc == -ELOOP ? -ENOTDIR : rc;
		fd = below;
	}
	if (f->parent_fd >= 0)
		close(f->parent_fd);
	free(f->parent);
	f->parent = xstrndup(path, len);
	f->parent_fd = fd;
	return fd;
}

static void parent_forget(struct folder *f)
{
	if (f->parent_fd >= 0)
		close(f->parent_fd);
	free(f->parent);
	f->parent = NULL;
	f->parent_fd = -1;
}

int folder_look(struct folder *f, const char *path, struct folder_entry *entry, struct error *err)
{
	const char *name;
	int fd = parent_open(f, path, false, &name);
	struct stat st;

	*entry = (struct folder_entry){0};
	if (fd < 0)
		return fd == -ENOENT ? 0 : fail(f, fd, path, err);
	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : fail(f, -errno, path, err);
	entry->kind = S_ISREG(st.st_mode) ? FOLDER_FILE : FOLDER_OTHER;
	entry->mode = st.st_mode & 07777;
	entry->size = (uint64_t)st.st_size;
	return 0;
}

int folder_read(struct folder *f, const char *path, size_t max, char **data, size_t *len,
		struct error *err)
{
	const char *name;
	int parent = parent_open(f, path, false, &name);
	struct stat st;

	if (parent < 0)
		return fail(f, parent, path, err);
	/* O_NONBLOCK: a FIFO waits for nobody, and is refused below */
	_cleanup_close_ int fd =
		openat(parent, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &st) < 0)
		return fail(f, -errno, path, err);
	if (!S_ISREG(st.st_mode))
		return error_set(err, -EINVAL, "%s/%s: not a regular file", f->path, path);
	if ((uint64_t)st.st_size > max)
		return error_set(err, -EFBIG, "%s/%s: larger than %zu bytes", f->path, path, max);

	size_t size = (size_t)st.st_size, n = 0;
	_cleanup_free_ char *buffer = xmalloc(size + 1);
	while (n < size) {
		ssize_t got = read(fd, buffer + n, size - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return fail(f, -errno, path, err);
		if (!got)	/* became shorter meanwhile */
			break;
		n += (size_t)got;
	}
	buffer[n] = '\0';
	*data = buffer;
	*len = n;
	buffer = NULL;
	return 0;
}

/* --- writing ---------------------------------------------------------------------------------- */

static void staging_empty(int staging)
{
	int fd = openat(staging, ".", OPEN_FOLDER);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	for (struct dirent *entry; (entry = readdir(dir));)
		unlinkat(staging, entry->d_name, 0);	/* "." and ".." refuse */
	closedir(dir);
}

static int staging_open(struct folder *f, struct error *err)
{
	sigset_t stop;

	if (mkdirat(f->fd, STAGING, 0700) < 0 && errno != EEXIST)
		return fail(f, -errno, STAGING, err);
	int fd = openat(f->fd, STAGING, OPEN_FOLDER);
	if (fd < 0)
		return fail(f, -errno, STAGING, err);
	staging_empty(fd);	/* of one that was killed */
	f->staging = fd;
	sigemptyset(&stop);
	sigaddset(&stop, SIGINT);
	sigaddset(&stop, SIGTERM);
	sigaddset(&stop, SIGHUP);
	sigprocmask(SIG_BLOCK, &stop, &f->before);
	return 0;
}

bool folder_interrupted(const struct folder *f)
{
	sigset_t pending;

	return f->staging >= 0 && !sigpending(&pending) &&
	       ((sigismember(&pending, SIGINT) && !sigismember(&f->before, SIGINT)) ||
		(sigismember(&pending, SIGTERM) && !sigismember(&f->before, SIGTERM)) ||
		(sigismember(&pending, SIGHUP) && !sigismember(&f->before, SIGHUP)));
}

/* Name of a staged file. */
static char *staged_name(size_t id)
{
	return xasprintf("%zu", id);
}

int folder_stage(struct folder *f, const void *data, size_t len, mode_t mode, size_t *id,
		 struct error *err)
{
	int rc = f->staging < 0 ? staging_open(f, err) : 0;

	if (rc < 0)
		return rc;
	_cleanup_free_ char *name = staged_name(f->n_staged);
	int fd = openat(f->staging, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
			0600);
	if (fd < 0)
		return fail(f, -errno, STAGING, err);
	rc = file_write_all(fd, data, len);
	if (!rc && fchmod(fd, mode) < 0)
		rc = -errno;
	if (close(fd) < 0 && !rc)	/* where NFS says that the disk is full */
		rc = -errno;
	if (rc < 0) {
		unlinkat(f->staging, name, 0);
		return error_set_errno(err, rc, "cannot write to %s", f->path);
	}
	*id = f->n_staged++;
	return 0;
}

int folder_place(struct folder *f, size_t id, const char *path, struct error *err)
{
	_cleanup_free_ char *staged = staged_name(id);
	const char *name;
	int fd = parent_open(f, path, true, &name);

	if (fd >= 0 && renameat(f->staging, staged, fd, name) < 0)
		fd = -errno;
	return fd < 0 ? fail(f, fd, path, err) : 0;
}

int folder_remove(struct folder *f, const char *path, struct error *err)
{
	_cleanup_free_ char *above = xstrdup(path);
	const char *name;
	int fd = parent_open(f, path, false, &name);

	if (fd < 0)
		return fail(f, fd, path, err);
	if (unlinkat(fd, name, 0) < 0)
		return fail(f, -errno, path, err);
	for (char *slash; (slash = strrchr(above, '/'));) {
		*slash = '\0';
		fd = parent_open(f, above, false, &name);
		if (fd < 0 || unlinkat(fd, name, AT_REMOVEDIR) < 0)
			break;	/* not empty: others have something in it */
	}
	parent_forget(f);	/* it may have been one of them */
	return 0;
}

int folder_keep(struct folder *f, const char *path, char **kept, struct error *err)
{
	const char *name;
	int fd = parent_open(f, path, false, &name);
	struct stat st;

	if (fd < 0)
		return fail(f, fd, path, err);
	_cleanup_free_ char *suffix = xstrdup(".orig");
	for (unsigned i = 2;; i++) {
		_cleanup_free_ char *other = xasprintf("%s%s", name, suffix);

		if (fstatat(fd, other, &st, AT_SYMLINK_NOFOLLOW) < 0) {
			if (errno != ENOENT || renameat(fd, name, fd, other) < 0)
				return fail(f, -errno, path, err);
			*kept = xasprintf("%s%s", path, suffix);
			parent_forget(f);
			return 0;
		}
		free(suffix);
		suffix = xasprintf(".orig.%u", i);
	}
}

void folder_close(struct folder *f)
{
	parent_forget(f);
	if (f->staging >= 0) {
		staging_empty(f->staging);
		close(f->staging);
		unlinkat(f->fd, STAGING, AT_REMOVEDIR);
	}
	int staging = f->staging;
	sigset_t before = f->before;
	close(f->fd);
	free(f->path);
	free(f);
	if (staging >= 0)
		sigprocmask(SIG_SETMASK, &before, NULL);
}
