/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a recording. All of its form that does not belong to one door is checked here; what
 * belongs to a door is checked by that door's reader when its question is asked.
 */
#include <errno.h>
#include <string.h>
#include <zlib.h>

#include "base/file.h"
#include "host/recording.h"

static int check_head(json_t *root, const char *name, struct error *err)
{
	static const char *const known[] = { "schema", "railhead", "note", "anonymized", "doors" };
	const char *schema = json_get_string(root, "schema", "");
	const char *key;
	json_t *value;

	if (strncmp(schema, "railhead.recording/", strlen("railhead.recording/")) != 0)
		return error_set(err, -EBADMSG, "%s: not a railhead recording", name);
	if (strcmp(schema, RECORDING_SCHEMA) != 0)
		return error_set(err, -EBADMSG, "%s: schema \"%s\" is not known to this version",
				 name, schema);
	json_object_foreach(root, key, value) {
		bool found = false;

		for (size_t i = 0; i < ARRAY_SIZE(known); i++)
			found = found || strcmp(key, known[i]) == 0;
		if (!found)
			return error_set(err, -EBADMSG, "%s: unknown member \"%s\"", name, key);
	}
	return 0;
}

int recording_parse(struct door_memory **memory, const char *text, size_t len, const char *name,
		    struct error *err)
{
	_cleanup_json_ json_t *root = NULL;
	struct door_memory *m;
	int rc = json_parse(&root, text, len, name, err);

	*memory = NULL;
	if (rc < 0)
		return rc;
	rc = check_head(root, name, err);
	if (rc < 0)
		return rc;
	m = door_memory_new();
	rc = door_memory_load(m, json_object_get(root, "doors"), err);
	if (rc < 0) {
		door_memory_free(m);
		error_wrap(err, "%s", name);
		return rc;
	}
	*memory = m;
	return 0;
}

int recording_load(struct door_memory **memory, const char *path, struct error *err)
{
	_cleanup_strbuf_ struct strbuf text = {0};
	char buf[32 << 10];
	int n, code = 0, fd = file_open(path, err);

	*memory = NULL;
	if (fd < 0)
		return fd;
	gzFile gz = gzdopen(fd, "rb");
	if (!gz)
		alloc_exhausted();
	while ((n = gzread(gz, buf, sizeof(buf))) > 0 && text.len <= RECORDING_TEXT_MAX)
		strbuf_add(&text, buf, (size_t)n);
	const char *reason = gzerror(gz, &code);

	if (text.len > RECORDING_TEXT_MAX)
		error_set(err, code = -EFBIG, "%s: unfolds to more than %u MiB", path,
			  RECORDING_TEXT_MAX >> 20);
	else if (code == Z_ERRNO)
		error_set_errno(err, code = -errno, "%s", path);
	else if (code != Z_OK && code != Z_STREAM_END)
		error_set(err, code = -EBADMSG, "%s: the compressed data is damaged (%s)", path,
			  *reason ? reason : "cut off");
	else
		code = 0;
	gzclose_r(gz);
	if (code < 0)
		return code;
	return recording_parse(memory, strbuf_str(&text), text.len, path, err);
}
