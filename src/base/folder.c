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

/* The folder that was reached last below a root: files come in path order. */
struct walk {
	int root;
	char *parent;
	int parent_fd;	/* -1: none */
};

struct folder {
	char *path;
	struct walk here, staging;	/* staging.root is -1 while nothing was staged */
	mode_t mask;		/* umask, and mask of signals to be put back; valid with `staging` */
	sigset_t before;
};

static int fail(const struct folder *f, int rc, const char *path, struct error *err)
{
	return error_set_errno(err, rc, "%s/%s", f->path, path);
}

static int folder_new(struct folder **folder, const char *path, int fd)
{
	struct folder *f = xcalloc(1, sizeof(*f));

	f->path = xstrdup(path);
	f->here = (struct walk){ .root = fd, .parent_fd = -1 };
	f->staging = (struct walk){ .root = -1, .parent_fd = -1 };
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
	if (flock(f->here.root, LOCK_EX | LOCK_NB) < 0) {
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
 * to `w`. `make`: folders that are not there are made. Or a negative errno. */
static int parent_open(struct walk *w, const char *path, bool make, const char **name)
{
	const char *slash = strrchr(path, '/');

	*name = slash ? slash + 1 : path;
	if (!slash)
		return w->root;
	size_t len = (size_t)(slash - path);
	if (w->parent && strlen(w->parent) == len && !strncmp(w->parent, path, len))
		return w->parent_fd;

	_cleanup_free_ char *parts = xstrndup(path, len);
	int fd = w->root;

	for (char *part = parts, *next; part; part = next) {
		next = strchr(part, '/');
		if (next)
			*next++ = '\0';
		int rc = make && mkdirat(fd, part, 0777) < 0 && errno != EEXIST ? -errno : 0;
		int below = rc < 0 ? -1 : openat(fd, part, OPEN_FOLDER);
		if (!rc && below < 0)	/* O_DIRECTORY on a link: ENOTDIR or ELOOP, by kernel */
			rc = errno == ELOOP ? -ENOTDIR : -errno;
		if (fd != w->root)
			close(fd);
		if (rc < 0)
			return rc;
		fd = below;
	}
	if (w->parent_fd >= 0)
		close(w->parent_fd);
	free(w->parent);
	w->parent = xstrndup(path, len);
	w->parent_fd = fd;
	return fd;
}

static void walk_forget(struct walk *w)
{
	if (w->parent_fd >= 0)
		close(w->parent_fd);
	free(w->parent);
	w->parent = NULL;
	w->parent_fd = -1;
}

int folder_look(struct folder *f, const char *path, struct folder_entry *entry, struct error *err)
{
	const char *name;
	int fd = parent_open(&f->here, path, false, &name);
	struct stat st;

	*entry = (struct folder_entry){0};
	if (fd < 0) {
		entry->blocked = fd == -ENOTDIR;
		return fd == -ENOENT || fd == -ENOTDIR ? 0 : fail(f, fd, path, err);
	}
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
	int parent = parent_open(&f->here, path, false, &name);
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

/* What railhead stages is a few folders deep. */
#define STAGING_DEPTH 16

/* Remove all below `fd`, which is closed. */
static void empty(int fd, unsigned depth)
{
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	for (struct dirent *entry; (entry = readdir(dir));) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (!unlinkat(fd, entry->d_name, 0) || !depth)
			continue;
		empty(openat(fd, entry->d_name, OPEN_FOLDER), depth - 1);
		unlinkat(fd, entry->d_name, AT_REMOVEDIR);
	}
	closedir(dir);
}

static int staging_open(struct folder *f, struct error *err)
{
	sigset_t stop;

	int root = f->here.root;

	if (mkdirat(root, STAGING, 0700) < 0 && errno != EEXIST)
		return fail(f, -errno, STAGING, err);
	int fd = openat(root, STAGING, OPEN_FOLDER);
	if (fd < 0)
		return fail(f, -errno, STAGING, err);
	/* of one that was killed */
	empty(openat(root, STAGING, OPEN_FOLDER), STAGING_DEPTH);
	f->staging.root = fd;
	f->mask = umask(0);
	umask(f->mask);
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

	return f->staging.root >= 0 && !sigpending(&pending) &&
	       ((sigismember(&pending, SIGINT) && !sigismember(&f->before, SIGINT)) ||
		(sigismember(&pending, SIGTERM) && !sigismember(&f->before, SIGTERM)) ||
		(sigismember(&pending, SIGHUP) && !sigismember(&f->before, SIGHUP)));
}

int folder_stage(struct folder *f, const char *path, const void *data, size_t len, mode_t mode,
		 struct error *err)
{
	int rc = f->staging.root < 0 ? staging_open(f, err) : 0;
	const char *name;

	if (rc < 0)
		return rc;
	int parent = parent_open(&f->staging, path, true, &name);
	int fd = parent < 0 ? -1 :
			      openat(parent, name,
				     O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
	if (fd < 0)
		return fail(f, parent < 0 ? parent : -errno, path, err);
	rc = file_write_all(fd, data, len);
	if (!rc && (mode & f->mask) && fchmod(fd, mode) < 0)
		rc = -errno;
	if (close(fd) < 0 && !rc)	/* where NFS says that the disk is full */
		rc = -errno;
	return rc < 0 ? error_set_errno(err, rc, "cannot write %s/%s", f->path, path) : 0;
}

/* Move all below `from`, which is closed, to `to`: a folder that is not there in one step. `last`
 * is left out. Returns 0 or a negative errno. */
static int place(int from, int to, const char *last)
{
	DIR *dir = from < 0 ? NULL : fdopendir(from);
	int rc = dir ? 0 : -errno;

	if (!dir && from >= 0)
		close(from);
	for (struct dirent *entry; !rc && (entry = readdir(dir));) {
		const char *name = entry->d_name;

		if (!strcmp(name, ".") || !strcmp(name, "..") || (last && !strcmp(name, last)))
			continue;
		/* a folder replaces an empty one only: EEXIST or ENOTEMPTY, by file system */
		if (!renameat(from, name, to, name))
			continue;
		rc = -errno;
		if (rc != -EEXIST && rc != -ENOTEMPTY)
			break;
		_cleanup_close_ int below = openat(to, name, OPEN_FOLDER);
		rc = below < 0 ? -errno : place(openat(from, name, OPEN_FOLDER), below, NULL);
	}
	if (dir)
		closedir(dir);
	return rc;
}

int folder_place(struct folder *f, const char *last, struct error *err)
{
	int root = f->here.root, staging = f->staging.root;

	if (staging < 0)
		return 0;
	int rc = place(openat(root, STAGING, OPEN_FOLDER), root, last);
	if (!rc && renameat(staging, last, root, last) < 0 && errno != ENOENT)
		rc = -errno;
	return rc < 0 ? error_set_errno(err, rc, "cannot put the new files of %s in place",
					f->path) :
			0;
}

int folder_remove(struct folder *f, const char *path, struct error *err)
{
	_cleanup_free_ char *above = xstrdup(path);
	const char *name;
	int fd = parent_open(&f->here, path, false, &name);

	/* with what stood above it, that may have been moved aside */
	if (fd == -ENOENT || fd == -ENOTDIR)
		return 0;
	if (fd < 0)
		return fail(f, fd, path, err);
	if (unlinkat(fd, name, 0) < 0 && errno != ENOENT)
		return fail(f, -errno, path, err);
	for (char *slash; (slash = strrchr(above, '/'));) {
		*slash = '\0';
		fd = parent_open(&f->here, above, false, &name);
		if (fd < 0 || unlinkat(fd, name, AT_REMOVEDIR) < 0)
			break;	/* not empty: others have something in it */
	}
	walk_forget(&f->here);	/* it may have been one of them */
	return 0;
}

int folder_keep(struct folder *f, const char *path, char **kept, struct error *err)
{
	const char *name;
	int fd = parent_open(&f->here, path, false, &name);
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
			walk_forget(&f->here);
			return 0;
		}
		free(suffix);
		suffix = xasprintf(".orig.%u", i);
	}
}

void folder_close(struct folder *f)
{
	bool staged = f->staging.root >= 0;
	sigset_t before = f->before;

	walk_forget(&f->here);
	walk_forget(&f->staging);
	if (staged) {
		empty(f->staging.root, STAGING_DEPTH);
		unlinkat(f->here.root, STAGING, AT_REMOVEDIR);
	}
	close(f->here.root);
	free(f->path);
	free(f);
	if (staged)
		sigprocmask(SIG_SETMASK, &before, NULL);
}
