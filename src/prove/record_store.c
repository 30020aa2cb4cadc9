/* SPDX-License-Identifier: Apache-2.0 */
/* The folder of proof records: storing one, and finding the newest. */
#include "prove/record.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/strings.h"
#include "base/text.h"

/* A record with every histogram is below 100 KiB; a larger file is something else. */
#define RECORD_MAX_BYTES (4u << 20)
/* Damaged files that are named one by one; the rest is counted. */
#define GAPS_MAX 20u

/* --- walking the folder ----------------------------------------------------------------------- */

typedef void (*record_visitor)(json_t *record, void *data);

static void put_gap(json_t *gaps, int code, const char *reason)
{
	json_t *gap = json_object_new();

	json_put_string(gap, "pointer", "/proofs");
	json_put_string(gap, "reason", reason);
	json_put_int(gap, "errno", -code);
	json_append(gaps, gap);
}

static int read_record(json_t **record, const char *path, struct error *err)
{
	_cleanup_strbuf_ struct strbuf text = {0};
	_cleanup_json_ json_t *j = NULL;
	int rc = file_read(&text, path, RECORD_MAX_BYTES, err);

	if (!rc && text.len > RECORD_MAX_BYTES)
		rc = error_set(err, -EFBIG, "%s: larger than %u MiB, not a proof record", path,
			       RECORD_MAX_BYTES >> 20);
	if (!rc)
		rc = json_parse(&j, strbuf_str(&text), text.len, path, err);
	if (!rc)
		rc = proof_record_check(j, path, err);
	if (!rc)
		*record = json_incref(j);
	return rc;
}

/* Every record in the order of names. What is damaged goes to `gaps`, when there are any. */
static int each_record(const char *folder, record_visitor visit, void *data, json_t *gaps,
		       struct error *err)
{
	_cleanup_strings_ char **names = NULL;
	unsigned damaged = 0;
	int rc = file_list(&names, folder, err);

	if (rc < 0)
		return rc;
	for (char **name = names; name && *name; name++) {
		_cleanup_error_ struct error why = {0};
		_cleanup_json_ json_t *record = NULL;

		/* one that is being written has letters behind the end */
		if (!text_ends_with(*name, ".json"))
			continue;
		_cleanup_free_ char *path = xasprintf("%s/%s", folder, *name);
		rc = read_record(&record, path, &why);
		if (!rc)
			visit(record, data);
		else if (gaps && damaged++ < GAPS_MAX)
			put_gap(gaps, rc, error_text(&why));
	}
	if (damaged > GAPS_MAX) {
		_cleanup_free_ char *more = xasprintf("%s: %u more files are no proof records",
						      folder, damaged - GAPS_MAX);
		put_gap(gaps, -EINVAL, more);
	}
	return 0;
}

/* --- storing ---------------------------------------------------------------------------------- */

static void highest_serial(json_t *record, void *data)
{
	json_int_t *highest = data, serial = json_get_int(record, "serial", 0);

	if (serial > *highest)
		*highest = serial;
}

/* A name from outside as a part of a file name: what could mean something to a shell or a folder
 * becomes '_'. */
static void add_safe(struct strbuf *b, const char *text, size_t max)
{
	static const char safe[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				   "0123456789.-";

	for (size_t i = 0; text[i] && i < max; i++)
		strbuf_putc(b, strchr(safe, text[i]) ? text[i] : '_');
}

/* "host-aistor-01-20260101T000000Z-1f2e3d4c-initiator.json": both ends may be one host. */
static char *file_name(json_t *record)
{
	const char *taken = json_get_string(record, "taken", "");
	json_t *local = json_object_get(record, "local"), *peer = json_object_get(record, "peer");
	struct strbuf b = {0};

	strbuf_printf(&b, "%s-", json_get_string(record, "kind", ""));
	add_safe(&b, json_get_string(peer, "node", ""), 64);
	strbuf_putc(&b, '-');
	for (; *taken; taken++) {
		if (!strchr("-:", *taken))
			strbuf_putc(&b, *taken);
	}
	strbuf_printf(&b, "-%.8s-", json_get_string(record, "run", ""));
	add_safe(&b, json_get_string(local, "role", ""), 16);
	strbuf_puts(&b, ".json");
	return strbuf_steal(&b);
}

static int make_folder(const char *folder, struct error *err)
{
	const char *slash = strrchr(folder, '/');
	_cleanup_free_ char *above =
		slash && slash != folder ? xstrndup(folder, (size_t)(slash - folder)) : NULL;
	int rc = file_make_folder(folder, err);

	if (rc != -ENOENT || !above)
		return rc;
	rc = file_make_folder(above, err);
	return rc < 0 ? rc : file_make_folder(folder, err);
}

static int write_text(int fd, void *data)
{
	const struct strbuf *text = data;

	return file_write_all(fd, strbuf_str(text), text->len);
}

int proof_store(json_t *record, const char *folder, char **path, struct error *err)
{
	_cleanup_json_ json_t *copy = json_deep_copy(record);
	_cleanup_free_ char *name = NULL, *text = NULL, *at = NULL;
	_cleanup_strbuf_ struct strbuf bytes = {0};
	json_int_t serial = 0;

	*path = NULL;
	if (!copy)
		alloc_exhausted();
	int rc = proof_record_check(copy, "the record", err);
	if (!rc)
		rc = make_folder(folder, err);
	if (!rc)
		rc = each_record(folder, highest_serial, &serial, NULL, err);
	if (rc < 0)
		return rc;
	json_put_int(copy, "serial", serial < INT64_MAX ? serial + 1 : serial);
	name = file_name(copy);
	at = xasprintf("%s/%s", folder, name);
	text = json_to_text(copy, true);
	strbuf_puts(&bytes, text);
	rc = file_write(at, write_text, &bytes, err);
	if (rc < 0)
		return rc;
	*path = at;
	at = NULL;
	return 0;
}

/* --- the newest ------------------------------------------------------------------------------- */

static bool is_newer(json_t *a, json_t *b)
{
	int64_t x = json_get_int(a, "serial", 0), y = json_get_int(b, "serial", 0);

	if (x != y)
		return x > y;
	return strcmp(json_get_string(a, "taken", ""), json_get_string(b, "taken", "")) > 0;
}

/* BDF of the GPU whose memory an end used, "" for other memory. */
static const char *gpu_of(json_t *end)
{
	json_t *memory = json_object_get(end, "memory");

	return json_get_string(json_object_get(memory, "gpu"), "bdf", "");
}

static void keep_newest(json_t *record, void *data)
{
	json_t *newest = data, *local = json_object_get(record, "local");
	json_t *peer = json_object_get(record, "peer");
	/* a newline is in none of these names that a kernel gave, and parts them */
	_cleanup_free_ char *key = xasprintf(
		"%s\n%s\n%s\n%s\n%s\n%s\n%s", json_get_string(record, "kind", ""),
		json_get_string(local, "node", ""), json_get_string(peer, "node", ""),
		json_get_string(json_object_get(local, "path"), "link", ""),
		json_get_string(json_object_get(peer, "path"), "link", ""), gpu_of(local),
		gpu_of(peer));
	json_t *known = json_object_get(newest, key);

	if (!known || is_newer(record, known))
		json_put(newest, key, json_incref(record));
}

int proof_load(json_t **proofs, const char *folder, json_t *gaps, struct error *err)
{
	_cleanup_json_ json_t *newest = json_object_new();
	const char *key;
	json_t *record;
	int rc = each_record(folder, keep_newest, newest, gaps, err);

	*proofs = NULL;
	if (rc < 0)
		return rc;
	*proofs = json_object_new();
	json_object_foreach(newest, key, record)
		json_append(json_arr(*proofs, json_get_string(record, "kind", "")),
			    json_incref(record));
	return 0;
}
