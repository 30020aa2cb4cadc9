/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a recording. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <zlib.h>

#include "base/file.h"
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

/* Compress the document `root` into `fd`: a file_writer. */
static int write_compressed(int fd, void *root)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3), code = 0;

	if (copy < 0)
		return -errno;
	/* zlib writes no time and no name into the header: the same answers give the same file */
	gzFile gz = gzdopen(copy, "wb9");
	if (!gz)
		alloc_exhausted();
	errno = 0;
	if (json_dump_callback(root, write_piece, gz, JSON_INDENT(1)) < 0 ||
	    write_piece("\n", 1, gz) < 0)
		code = errno ? -errno : -EIO;
	errno = 0;
	if (gzclose_w(gz) != Z_OK && !code)
		code = errno ? -errno : -EIO;
	return code;
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
	json_put_string(root, "schema", RECORDING_SCHEMA);
	json_put_string(root, "railhead", RAILHEAD_VERSION);
	if (options && options->note)
		json_put_string(root, "note", options->note);
	json_put_bool(root, "anonymized", options && options->anonymize);
	json_put(root, "doors", json_incref(doors));
	return file_write(path, write_compressed, root, err);
}
