/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/sysfs.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"

static void gap(const struct sysfs_object *s, int rc, const char *reason, const char *key)
{
	_cleanup_free_ char *pointer = json_pointer_format("/%s", key);
	_cleanup_free_ char *whole = xasprintf("%s%s", s->pointer, pointer);

	observe_gap_at(s->o, rc, NULL, reason, whole);
}

char *sysfs_text(const struct sysfs_object *s, const char *key, const char *file)
{
	_cleanup_error_ struct error err = {0};
	char *text = host_read_text(s->o->host, &err, "%s/%s", s->path, file);

	if (!text && err.code != -ENOENT)
		gap(s, err.code, error_text(&err), key);
	return text;
}

void sysfs_put_text(const struct sysfs_object *s, const char *key, const char *file)
{
	_cleanup_free_ char *text = sysfs_text(s, key, file);

	if (text && *text)
		json_put_string(s->facts, key, text);
}

void sysfs_put_int(const struct sysfs_object *s, const char *key, const char *file)
{
	_cleanup_free_ char *text = sysfs_text(s, key, file);
	int64_t value;

	if (!text)
		return;
	int rc = text_to_i64(text, 0, &value);
	if (rc < 0) {
		_cleanup_free_ char *reason = xasprintf("%s/%s holds no number", s->path, file);
		gap(s, rc, reason, key);
		return;
	}
	json_put_int(s->facts, key, value);
}

void sysfs_put_link(const struct sysfs_object *s, const char *key, const char *file)
{
	_cleanup_error_ struct error err = {0};
	_cleanup_free_ char *target = NULL;
	int rc = host_readlink(s->o->host, &target, &err, "%s/%s", s->path, file);

	if (rc == -ENOENT) {
		json_put(s->facts, key, json_null());
	} else if (rc < 0) {
		gap(s, rc, error_text(&err), key);
	} else {
		const char *slash = strrchr(target, '/');
		json_put_string(s->facts, key, slash ? slash + 1 : target);
	}
}
