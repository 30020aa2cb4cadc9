/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a recording. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "config.h"
#include "host/anonymize.h"
#include "host/recording.h"

static int write_piece(const char *text, size_t len, void *data)
{
	gzFile gz = data;

	while (len) {
		unsigned n = len > INT_MAX ? INT_MAX : (unsigned)len;

		if (gzwrite(gz, text, n) != (int)n)
			return -1;
		text += n;
		len -= n;
	}
	return 0;
}

/* Compress `root` into `fd`, which stays open. Returns 0 or a negative errno without a message. */
static int write_compressed(int fd, const json_t *root)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3), code = 0;

	if (copy < 0)
		return -errno;
	/* zlib writes no time and no name into the header: the same answers give the same file */
	gzFile gz = gzdopen(copy, "wb9");
	if (!gz)
		alloc_exhausted();
	errno = 0;
	if (json_dump_callback(root, write_piece, gz, JSON_INDENT(1)) < 0 || write_piece("\n", 1, gz) < 0)
		code = errno ? -errno : -EIO;
	errno = 0;
	if (gzclose_w(gz) != Z_OK && !code)
		code = errno ? -errno : -EIO;
	return code;
}

/* A new file beside `path`, then the rename: a reader sees the old file or the whole new one. */
static int write_atomic(const char *path, const json_t *root, struct error *err)
{
	_cleanup_free_ char *temporary = xasprintf("%s.XXXXXX", path);
	mode_t mask = umask(0);
	int rc, fd;

	umask(mask);
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return error_set_errno(err, -errno, "%s", path);
	rc = write_compressed(fd, root);
	if (rc == 0 && (fchmod(fd, 0666 & ~mask) < 0 || fsync(fd) < 0))
		rc = -errno;
	if (close(fd) < 0 && rc == 0)
		rc = -errno;
	if (rc == 0 && rename(temporary, path) < 0)
		rc = -errno;
	if (rc < 0) {
		unlink(temporary);
		return error_set_errno(err, rc, "%s", path);
	}
	return 0;
}

static int write_direct(const char *path, const json_t *root, struct error *err)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	int rc = fd < 0 ? -errno : write_compressed(fd, root);

	return rc < 0 ? error_set_errno(err, rc, "%s", path) : 0;
}

static int write_path(const char *path, const json_t *root, struct error *err)
{
	struct stat st;

	if (strcmp(path, "-") == 0) {
		int rc = write_compressed(STDOUT_FILENO, root);

		return rc < 0 ? error_set_errno(err, rc, "standard output") : 0;
	}
	if (stat(path, &st) < 0)
		return write_atomic(path, root, err);
	/* a device or pipe is written to; a rename would put a file in its place */
	if (!S_ISREG(st.st_mode))
		return write_direct(path, root, err);
	/* a link keeps its place, the file behind it is replaced */
	_cleanup_free_ char *real = realpath(path, NULL);
	return write_atomic(real ? real : path, root, err);
}

int host_record_write(struct host *host, const char *path, const struct host_record_options *options,
		      struct error *err)
{
	_cleanup_json_ json_t *root = json_object_new(), *doors = NULL;

	if (!host->recording)
		return error_set(err, -EINVAL, "%s: nothing was recorded", path);
	doors = door_memory_document(host->recording);
	if (options && options->anonymize) {
		json_t *plain = doors;
		int rc = anonymize_document(&doors, plain, err);

		json_decref(plain);
		if (rc < 0)
			return rc;
	}
	json_put_string(root, "schema", "railhead.recording/1");
	json_put_string(root, "railhead", RAILHEAD_VERSION);
	if (options && options->note)
		json_put_string(root, "note", options->note);
	json_put_bool(root, "anonymized", options && options->anonymize);
	json_put(root, "doors", json_incref(doors));
	return write_path(path, root, err);
}
