/* SPDX-License-Identifier: Apache-2.0 */
/* Files and links below the root. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "host/door.h"

/* Longest target of a symbolic link that is taken; Linux gives PATH_MAX - 1 (4095) at most. */
#define LINK_TARGET_MAX (64u << 10)

struct path_question {
	const char *path;
	const char *const *needles;	/* of host_read_matching() */
};

/* Open a regular file for reading. The type is looked at before the real open, because opening a
 * device node already acts on the device. */
static int open_file(struct host *host, const char *path, struct error *err)
{
	struct stat st;
	int fd = path_open(host, path, O_PATH);

	if (fd < 0)
		return error_set_errno(err, fd, "%s", path);
	int rc = fstat(fd, &st) < 0 ? -errno : 0;
	close(fd);
	if (rc < 0)
		return error_set_errno(err, rc, "%s", path);
	if (S_ISDIR(st.st_mode))
		return error_set_errno(err, -EISDIR, "%s", path);
	if (!S_ISREG(st.st_mode))
		return error_set(err, -EINVAL, "%s: not a regular file", path);

	fd = path_open(host, path, O_RDONLY | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return error_set_errno(err, fd, "%s", path);
	return fd;
}

/* read(2) that survives signals; the message names the path. */
static ssize_t read_some(int fd, char *buf, size_t len, const char *path, struct error *err)
{
	ssize_t n;

	do {
		n = read(fd, buf, len);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? error_set_errno(err, -errno, "%s", path) : n;
}

int path_read(struct host *host, const char *path, struct strbuf *data, struct error *err)
{
	_cleanup_close_ int fd = open_file(host, path, err);
	char buf[16 << 10];
	ssize_t n;

	if (fd < 0)
		return fd;
	while ((n = read_some(fd, buf, sizeof(buf), path, err)) > 0) {
		if ((size_t)n > HOST_FILE_MAX - data->len)
			return error_set(err, -EFBIG, "%s: longer than %u bytes", path,
					 HOST_FILE_MAX);
		strbuf_add(data, buf, (size_t)n);
	}
	return (int)n;
}

static int read_live(struct host *host, const void *question, json_t **answer, struct error *err)
{
	const struct path_question *q = question;
	_cleanup_strbuf_ struct strbuf data = {0};
	int rc = path_read(host, q->path, &data, err);

	if (rc < 0)
		return rc;
	*answer = door_answer_new("data", door_bytes_new(strbuf_str(&data), data.len));
	return 0;
}

static bool line_matches(const char *line, size_t len, const char *const *needles)
{
	for (; *needles; needles++)
		if (memmem(line, len, *needles, strlen(*needles)))
			return true;
	return false;
}

/* Move the whole lines of `text` that match to `out`, and what follows the last newline to its
 * front. At the end of the file the rest is a line too. */
static void take_lines(struct strbuf *text, struct strbuf *out, const char *const *needles,
		       bool eof)
{
	size_t at = 0;

	while (at < text->len) {
		char *newline = memchr(text->s + at, '\n', text->len - at);
		size_t len = newline ? (size_t)(newline - text->s) - at : text->len - at;

		if (!newline && !eof)
			break;
		if (line_matches(text->s + at, len, needles)) {
			if (out->len)
				strbuf_putc(out, '\n');
			strbuf_add(out, text->s + at, len);
		}
		at += len + (newline ? 1 : 0);
	}
	if (at) {
		memmove(text->s, text->s + at, text->len - at + 1);
		text->len -= at;
	}
}

static int read_matching_live(struct host *host, const void *question, json_t **answer,
			      struct error *err)
{
	const struct path_question *q = question;
	_cleanup_strbuf_ struct strbuf text = {0}, out = {0};
	_cleanup_close_ int fd = open_file(host, q->path, err);
	char buf[16 << 10];
	ssize_t n;

	if (fd < 0)
		return fd;
	while ((n = read_some(fd, buf, sizeof(buf), q->path, err)) > 0) {
		strbuf_add(&text, buf, (size_t)n);
		take_lines(&text, &out, q->needles, false);
		if (text.len > HOST_FILE_MAX || out.len > HOST_FILE_MAX)
			return error_set(err, -EFBIG, "%s: lines longer than %u bytes", q->path,
					 HOST_FILE_MAX);
	}
	if (n < 0)
		return (int)n;
	take_lines(&text, &out, q->needles, true);
	*answer = door_answer_new("data", door_bytes_new(strbuf_str(&out), out.len));
	return 0;
}

static int readlink_live(struct host *host, const void *question, json_t **answer,
			 struct error *err)
{
	const struct path_question *q = question;
	_cleanup_close_ int fd = path_open(host, q->path, O_PATH | O_NOFOLLOW);
	struct stat st;

	if (fd < 0)
		return error_set_errno(err, fd, "%s", q->path);
	if (fstat(fd, &st) < 0)
		return error_set_errno(err, -errno, "%s", q->path);
	if (!S_ISLNK(st.st_mode))
		return error_set(err, -EINVAL, "%s: not a symbolic link", q->path);

	for (size_t size = 512; size <= LINK_TARGET_MAX; size *= 2) {
		_cleanup_free_ char *target = xmalloc(size);
		ssize_t n = readlinkat(fd, "", target, size);

		if (n < 0)
			return error_set_errno(err, -errno, "%s", q->path);
		if ((size_t)n < size) {
			*answer = door_answer_new("target", door_bytes_new(target, (size_t)n));
			return 0;
		}
	}
	return error_set_errno(err, -ENAMETOOLONG, "%s", q->path);
}

/* --- the doors -------------------------------------------------------------------------------- */

static int ask_bytes(struct host *host, const char *door, const char *key, const char *member,
		     door_live live, const struct path_question *q, char **data, size_t *len,
		     struct error *err)
{
	_cleanup_json_ json_t *answer = NULL;
	size_t unused;
	int rc = door_ask(host, door, key, true, live, q, &answer, err);

	*data = NULL;
	if (rc < 0)
		return rc;
	return door_bytes_get(json_object_get(answer, member), data, len ? len : &unused, err);
}

static int ask_read(struct host *host, char **data, size_t *len, struct error *err,
		    const char *path)
{
	struct path_question q = { .path = path };

	return ask_bytes(host, "read", path, "data", read_live, &q, data, len, err);
}

int host_read(struct host *host, char **data, size_t *len, struct error *err, const char *fmt, ...)
{
	_cleanup_free_ char *path = path_from_format(fmt);

	return ask_read(host, data, len, err, path);
}

char *host_read_text(struct host *host, struct error *err, const char *fmt, ...)
{
	_cleanup_free_ char *path = path_from_format(fmt);
	_cleanup_free_ char *data = NULL;

	if (ask_read(host, &data, NULL, err, path) < 0)
		return NULL;
	return xstrdup(text_trim(data));
}

int host_read_int(struct host *host, int64_t *value, struct error *err, const char *fmt, ...)
{
	_cleanup_free_ char *path = path_from_format(fmt);
	_cleanup_free_ char *data = NULL;
	int rc = ask_read(host, &data, NULL, err, path);

	if (rc < 0)
		return rc;
	rc = text_to_i64(data, 0, value);
	return rc < 0 ? error_set_errno(err, rc, "%s: not a number that fits", path) : 0;
}

int host_read_matching(struct host *host, char **data, const char *const *needles,
		       struct error *err, const char *fmt, ...)
{
	_cleanup_free_ char *path = path_from_format(fmt);
	_cleanup_strbuf_ struct strbuf key = {0};
	struct path_question q = { .path = path, .needles = needles };

	strbuf_puts(&key, path);
	for (; *needles; needles++)
		strbuf_printf(&key, "\n%s", *needles);
	return ask_bytes(host, "read-matching", strbuf_str(&key), "data", read_matching_live, &q,
			 data, NULL, err);
}

static int ask_readlink(struct host *host, char **target, struct error *err, const char *path)
{
	struct path_question q = { .path = path };

	return ask_bytes(host, "readlink", path, "target", readlink_live, &q, target, NULL, err);
}

int host_readlink(struct host *host, char **target, struct error *err, const char *fmt, ...)
{
	_cleanup_free_ char *path = path_from_format(fmt);

	return ask_readlink(host, target, err, path);
}

char *host_readlink_base(struct host *host, const char *fmt, ...)
{
	_cleanup_free_ char *path = path_from_format(fmt);
	_cleanup_free_ char *target = NULL;

	if (ask_readlink(host, &target, NULL, path) < 0)
		return NULL;
	const char *slash = strrchr(target, '/');
	return xstrdup(slash ? slash + 1 : target);
}
