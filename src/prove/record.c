/* SPDX-License-Identifier: Apache-2.0 */
/* A proof record: put together from its parts, and its form checked when it comes from outside. */
#include "prove/record.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/text.h"
#include "config.h"
#include "prove/record_verdict.h"

/* --- made ------------------------------------------------------------------------------------- */

static json_t *path_facts(const struct path *path)
{
	json_t *facts = json_object_new();

	json_put_string(facts, "link", path->link);
	json_put_string(facts, "address", path->address);
	json_put_string(facts, "device", path->device);
	json_put_int(facts, "port", path->port);
	json_put_int(facts, "gid_index", path->gid_index);
	json_put_string(facts, "gid", path->gid);
	if (path->mtu_bytes)
		json_put_int(facts, "mtu_bytes", path->mtu_bytes);
	if (path->numa_node >= 0)
		json_put_int(facts, "numa_node", path->numa_node);
	json_put_string(facts, "pci", path->pci);
	for (char **reason = path->reasons; reason && *reason; reason++)
		json_append_text(json_arr(facts, "reasons"), *reason);
	return facts;
}

json_t *proof_end_new(json_t *snapshot, const struct path *path, bool initiator)
{
	const char *kind = json_get_string(json_at(snapshot, "/source"), "kind", "");
	json_t *end = json_object_new();

	json_put_string(end, "node", json_get_string(json_at(snapshot, "/node"), "hostname", "?"));
	json_put_string(end, "role", initiator ? "initiator" : "listener");
	json_put_bool(end, "double", !strcmp(kind, "double"));
	json_put(end, "path", path_facts(path));
	json_put(end, "fingerprint", proof_fingerprint(snapshot, path->link, path->device));
	return end;
}

static bool is_double(json_t *end)
{
	return json_get_bool(end, "double", false) ||
	       json_get_bool(json_object_get(end, "memory"), "double", false);
}

json_t *proof_record_new(const struct proof_parts *parts)
{
	const time_t seconds = parts->realtime_s;
	json_t *record = json_object_new();
	char taken[sizeof("2026-01-01T00:00:00Z")] = "";
	struct tm tm;

	/* beyond four digits of a year nothing is left to tell */
	if (!gmtime_r(&seconds, &tm) || !strftime(taken, sizeof(taken), "%Y-%m-%dT%H:%M:%SZ", &tm))
		strcpy(taken, "1970-01-01T00:00:00Z");
	json_put_string(record, "schema", PROOF_SCHEMA);
	json_put_string(record, "railhead", RAILHEAD_VERSION);
	json_put_string(record, "kind", parts->kind);
	json_put_string(record, "run", parts->run);
	json_put_string(record, "taken", taken);
	json_put_bool(record, "double",
		      parts->double_used || is_double(parts->local) || is_double(parts->peer));
	json_put(record, "parameters", json_incref(parts->parameters));
	json_put(record, "local", json_incref(parts->local));
	json_put(record, "peer", json_incref(parts->peer));
	json_put(record, "runs", json_incref(parts->runs));
	json_put(record, "verdict", proof_verdict(record));
	return record;
}

/* --- checked ---------------------------------------------------------------------------------- */

static bool is_made_of(const char *text, const char *characters, size_t min, size_t max)
{
	size_t len = text ? strlen(text) : 0;

	return len >= min && len <= max && strspn(text, characters) == len;
}

/* "2026-01-01T00:00:00Z": sorts as text. */
static bool is_time(const char *text)
{
	static const char form[] = "dddd-dd-ddTdd:dd:ddZ";

	for (size_t i = 0; text && form[i]; i++) {
		if (form[i] == 'd' ? !strchr("0123456789", text[i]) || !text[i] :
				     text[i] != form[i])
			return false;
	}
	return text && !text[strlen(form)];
}

/* Names of links and hosts are shown, compared, and made into file names. */
#define NAME_MAX_BYTES 255

static bool is_name(json_t *object, const char *key)
{
	const char *name = json_get_string(object, key, NULL);

	return name && *name && strlen(name) <= NAME_MAX_BYTES;
}

static bool is_initiator(json_t *end)
{
	return !strcmp(json_get_string(end, "role", ""), "initiator");
}

static const char *check_end(json_t *end)
{
	json_t *path = json_object_get(end, "path");

	if (!is_name(end, "node"))
		return "a node without a name";
	if (!is_initiator(end) && strcmp(json_get_string(end, "role", ""), "listener") != 0)
		return "an end without a role";
	if (!json_is_object(path) || !is_name(path, "link") || !is_name(path, "device"))
		return "a path without link or device";
	if (!json_is_object(json_object_get(end, "fingerprint")))
		return "an end without a fingerprint";
	return json_is_boolean(json_object_get(end, "double")) ? NULL :
								 "an end that does not tell \"double\"";
}

/* A suite has some sixty; who reads a record from outside looks at each. */
#define RUNS_MAX 1024

static const char *check_run(json_t *run)
{
	json_t *reverse = json_object_get(run, "reverse");

	if (!json_is_object(run))
		return "a run that is no object";
	if (!json_get_string(run, "run", NULL))
		return "a run that does not tell what it is";
	return reverse && !json_is_boolean(reverse) ? "a run without a direction" : NULL;
}

static const char *check_runs(json_t *runs)
{
	const char *wrong = NULL;

	if (!json_is_array(runs))
		return "no list of runs";
	if (json_array_size(runs) > RUNS_MAX)
		return "more runs than any proof has";
	for (size_t i = 0; !wrong && i < json_array_size(runs); i++)
		wrong = check_run(json_array_get(runs, i));
	return wrong;
}

static const char *check_members(json_t *record)
{
	static const char lower[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
	json_t *local = json_object_get(record, "local"), *peer = json_object_get(record, "peer");
	json_t *serial = json_object_get(record, "serial");
	const char *kind = json_get_string(record, "kind", NULL), *wrong;

	if (!is_made_of(kind, lower, 1, 32))
		return "no kind";
	if (!is_made_of(json_get_string(record, "run", NULL), "0123456789abcdef", 8, 64))
		return "no name of a run";
	if (!is_time(json_get_string(record, "taken", NULL)))
		return "no time";
	if (serial && (!json_is_integer(serial) || json_integer_value(serial) < 1))
		return "a serial that is no number";
	if (!json_is_boolean(json_object_get(record, "double")))
		return "nothing about doubles";
	wrong = check_end(local);
	if (!wrong)
		wrong = check_end(peer);
	if (!wrong && is_initiator(local) == is_initiator(peer))
		wrong = "two ends of one role";
	if (!wrong)
		wrong = check_runs(json_object_get(record, "runs"));
	if (wrong)
		return wrong;
	return json_get_string(json_object_get(record, "verdict"), "status", NULL) ? NULL :
										     "no verdict";
}

int proof_record_check(json_t *record, const char *name, struct error *err)
{
	const char *schema = json_get_string(record, "schema", NULL), *wrong;

	if (!schema)
		return error_set(err, -EINVAL, "%s: not a proof record (no \"schema\")", name);
	if (strcmp(schema, PROOF_SCHEMA)) {
		_cleanup_free_ char *safe = text_printable(schema, strnlen(schema, 64));

		return error_set(err, -EINVAL, "%s: schema \"%s\"; this railhead reads \"%s\"",
				 name, safe, PROOF_SCHEMA);
	}
	wrong = check_members(record);
	return wrong ? error_set(err, -EINVAL, "%s: a proof record with %s", name, wrong) : 0;
}

int proof_end_check(json_t *end, const char *name, struct error *err)
{
	const char *wrong = check_end(end);

	return wrong ? error_set(err, -EPROTO, "%s: %s", name, wrong) : 0;
}
