/* SPDX-License-Identifier: Apache-2.0 */
/* Directories, and the facts of one path, below the root. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "host/door.h"

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int list_live(struct host *host, const void *question, json_t **answer, struct error *err)
{
	const char *path = question;
	size_t n = 0, capacity = 0;
	char **names = NULL;
	int rc, fd = path_open(host, path, O_RDONLY | O_DIRECTORY | O_NONBLOCK);

	if (fd < 0)
		return error_set_errno(err, fd, "%s", path);
	DIR *dir = fdopendir(fd);
	if (!dir) {
		rc = -errno;
		close(fd);
		return error_set_errno(err, rc, "%s", path);
	}
	for (;;) {
		errno = 0;
		struct dirent *entry = readdir(dir);

		if (!entry)
			break;
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		array_reserve(names, n, capacity);
		names[n++] = xstrdup(entry->d_name);
	}
	rc = errno ? error_set_errno(err, -errno, "%s", path) : 0;
	closedir(dir);
	if (n)
		qsort(names, n, sizeof(*names), compare_names);

	json_t *list = json_array_new();
	for (size_t i = 0; i < n; i++) {
		json_append(list, door_bytes_new(names[i], strlen(names[i])));
		free(names[i]);
	}
	free(names);
	if (rc < 0)
		json_decref(list);
	else
		*answer = door_answer_new("names", list);
	return rc;
}

int host_list(struct host *host, char ***names, struct error *err, const char *fmt, ...)
{
	_cleanup_free_ char *path = path_from_format(fmt);
	_cleanup_json_ json_t *answer = NULL;
	int rc = door_ask(host, "list", path, true, list_live, path, &answer, err);

	*names = NULL;
	if (rc < 0)
		return rc;
	json_t *list = json_object_get(answer, "names");
	if (!json_is_array(list) || json_array_size(list) > INT32_MAX)
		return door_malformed("list", err);

	size_t n = json_array_size(list), len;
	_cleanup_strings_ char **out = xcalloc(n + 1, sizeof(*out));
	for (size_t i = 0; i < n; i++) {
		rc = door_bytes_get(json_array_get(list, i), &out[i], &len, err);
		if (rc < 0)
			return rc;
	}
	*names = out;
	out = NULL;
	return (int)n;
}

static char type_letter(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return 'f';
	case S_IFDIR:
		return 'd';
	case S_IFCHR:
		return 'c';
	case S_IFBLK:
		return 'b';
	case S_IFLNK:
		return 'l';
	case S_IFIFO:
		return 'p';
	default:
		return 's';
	}
}

struct stat_question {
	const char *path;
	bool try_open;
};

static int stat_live(struct host *host, const void *question, json_t **answer, struct error *err)
{
	const struct stat_question *q = question;
	_cleanup_close_ int fd = path_open(host, q->path, O_PATH);
	struct stat st;
	int usable = -ENODATA;

	if (fd < 0)
		return error_set_errno(err, fd, "%s", q->path);
	if (fstat(fd, &st) < 0)
		return error_set_errno(err, -errno, "%s", q->path);

	/* a device node of a copied tree names a device of this machine: it is left alone */
	if (q->try_open && S_ISCHR(st.st_mode) && !host->root) {
		int opened = path_open(host, q->path, O_RDWR | O_NOCTTY | O_NONBLOCK);

		usable = opened < 0 ? opened : 0;
		if (opened >= 0)
			close(opened);
	}

	char type[] = { type_letter(st.st_mode), '\0' };
	json_t *a = door_answer_new("type", json_text_new(type));
	json_put_int(a, "mode", st.st_mode & 07777);
	if (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode)) {
		json_put_int(a, "major", major(st.st_rdev));
		json_put_int(a, "minor", minor(st.st_rdev));
	}
	json_put_int(a, "usable", usable);
	*answer = a;
	return 0;
}

int host_stat(struct host *host, struct host_stat *st, bool try_open, struct error *err,
	      const char *fmt, ...)
{
	_cleanup_free_ char *path = path_from_format(fmt);
	struct stat_question q = { .path = path, .try_open = try_open };
	_cleanup_json_ json_t *answer = NULL;
	int rc = door_ask(host, try_open ? "stat-open" : "stat", path, true, stat_live, &q, &answer,
			  err);

	memset(st, 0, sizeof(*st));
	if (rc < 0)
		return rc;
	const char *type = json_get_string(answer, "type", "");
	int64_t usable = json_get_int(answer, "usable", 1);
	if (!*type || type[1] || usable > 0 || usable < INT32_MIN)
		return door_malformed("stat", err);
	st->type = *type;
	st->mode = (uint32_t)json_get_int(answer, "mode", 0);
	st->dev_major = (uint32_t)json_get_int(answer, "major", 0);
	st->dev_minor = (uint32_t)json_get_int(answer, "minor", 0);
	st->usable = (int)usable;
	return 0;
}
