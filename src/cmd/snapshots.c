/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/snapshots.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "host/host.h"
#include "observe/observe.h"

/* A node with 400 links has about 2 MiB; anything near this limit is not a snapshot. */
#define SNAPSHOT_MAX_BYTES (64u << 20)

void snapshots_clear(struct snapshots *snapshots)
{
	for (size_t i = 0; i < snapshots->n; i++) {
		json_decref(snapshots->s[i]);
		free(snapshots->names[i]);
	}
	free(snapshots->s);
	free(snapshots->names);
	*snapshots = (struct snapshots){0};
}

static void add(struct snapshots *all, json_t *snapshot, const char *name)
{
	all->s = xreallocarray(all->s, all->n + 1, sizeof(*all->s));
	all->names = xreallocarray(all->names, all->n + 1, sizeof(*all->names));
	all->s[all->n] = snapshot;
	all->names[all->n++] = xstrdup(name);
}

int snapshots_observe(struct snapshots *snapshots, const struct cmd_args *args, struct error *err)
{
	_cleanup_(host) struct host *host = NULL;
	struct host_options options = { .root = args->root, .replay = args->replay };

	int rc = host_open(&host, &options, err);
	if (rc < 0)
		return rc;
	add(snapshots, observe_snapshot(host),
	    args->replay ? args->replay : args->root ? args->root : "this machine");
	return 0;
}

/* The members that everything else walks must have their types; the rest is the judges' care. */
static int check_shape(json_t *j, const char *path, struct error *err)
{
	static const char *const objects[] = { "taken", "source", "node", "os",	 "pci",
					       "links", "devlink", "rdma", "gpu" };
	const char *schema = json_get_string(j, "schema", NULL);

	if (!schema)
		return error_set(err, -EINVAL, "%s: not a railhead snapshot (no \"schema\")", path);
	if (strcmp(schema, SNAPSHOT_SCHEMA)) {
		_cleanup_free_ char *safe = text_printable(schema, strlen(schema));
		return error_set(err, -EINVAL, "%s: schema \"%s\"; this railhead reads \"%s\"",
				 path, safe, SNAPSHOT_SCHEMA);
	}
	for (size_t i = 0; i < ARRAY_SIZE(objects); i++) {
		json_t *member = json_object_get(j, objects[i]);

		if (member && !json_is_object(member))
			return error_set(err, -EINVAL, "%s: /%s is not an object", path,
					 objects[i]);
	}
	json_t *gaps = json_object_get(j, "gaps");
	if (gaps && !json_is_array(gaps))
		return error_set(err, -EINVAL, "%s: /gaps is not a list", path);
	return 0;
}

int snapshot_read(json_t **snapshot, const char *path, struct error *err)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_json_ json_t *j = NULL;
	size_t len;

	int rc = cmd_input_read(&text, &len, path, SNAPSHOT_MAX_BYTES, "a snapshot", err);
	if (!rc && len > 2 && !memcmp(text, "\x1f\x8b", 2))
		rc = error_set(err, -EINVAL, "%s: compressed; a recording is judged with --replay",
			       path);
	if (!rc)
		rc = json_parse(&j, text, len, path, err);
	if (!rc)
		rc = check_shape(j, path, err);
	if (!rc)
		*snapshot = json_incref(j);
	return rc;
}

int snapshots_get(struct snapshots *snapshots, const struct cmd_args *args, struct error *err)
{
	if (!args->n_operands)
		return snapshots_observe(snapshots, args, err);
	if (args->replay || args->root)
		return error_set(err, -EINVAL, "snapshots and %s exclude each other",
				 args->replay ? "--replay" : "--root");
	for (size_t i = 0; i < args->n_operands; i++) {
		json_t *snapshot;
		int rc = snapshot_read(&snapshot, args->operands[i], err);

		if (rc < 0)
			return rc;
		add(snapshots, snapshot, args->operands[i]);
	}
	return 0;
}
