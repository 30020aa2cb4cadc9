/* SPDX-License-Identifier: Apache-2.0 */
/* The whole snapshot: its head, the observers in their order, and the gaps. */
#include <errno.h>
#include <time.h>

#include "config.h"
#include "observe/observe.h"

/*
 * The order is the order of the document. Some observers read what an earlier one wrote: modules
 * and gpu the devices of /pci, ethtool and dcb the names of /links, userspace the packages of /os
 * and the devices of /rdma.
 */
static void (*const observers[])(struct observation *o) = {
	observe_node,
	observe_limits,
	observe_kernel_log,
	observe_pci,
	observe_modules,
	observe_links,
	observe_ethtool,
	observe_dcb,
	observe_devlink,
	observe_rdma,
	observe_userspace,
	observe_gpu,
};

static const char *hint_of(int code)
{
	switch (code) {
	case -EACCES:
	case -EPERM:
		return "run as root";
	case -ENODATA:
		return "make a new recording with this version of railhead";
	default:
		return NULL;
	}
}

void observe_gap_at(struct observation *o, int code, const char *hint, const char *reason,
		    const char *pointer)
{
	json_t *gap = json_object_new();

	json_put_string(gap, "pointer", pointer);
	json_put_string(gap, "reason", reason);
	if (code < 0)
		json_put_int(gap, "errno", -code);
	json_put_string(gap, "hint", hint ? hint : hint_of(code));
	json_append(json_arr(o->snapshot, "gaps"), gap);
}

void observe_gap(struct observation *o, int code, const char *hint, const char *reason,
		 const char *pointer_fmt, ...)
{
	_cleanup_free_ char *pointer = NULL;
	va_list ap;

	va_start(ap, pointer_fmt);
	pointer = json_pointer_vformat(pointer_fmt, ap);
	va_end(ap);
	observe_gap_at(o, code, hint, reason, pointer);
}

static void observe_head(struct observation *o)
{
	_cleanup_error_ struct error err = {0};
	struct host_time now = {0};
	json_t *taken;
	int rc;

	json_put_string(o->snapshot, "schema", SNAPSHOT_SCHEMA);
	json_put_string(o->snapshot, "railhead", RAILHEAD_VERSION);
	json_arr(o->snapshot, "gaps");
	taken = json_obj(o->snapshot, "taken");
	json_put_string(json_obj(o->snapshot, "source"), "kind",
			host_is_replay(o->host) ? "replay" :
			host_is_below_root(o->host) ? "tree" : "live");

	rc = host_time(o->host, &now, &err);
	if (rc < 0) {
		observe_gap(o, rc, NULL, error_text(&err), "/taken");
		return;
	}
	const time_t seconds = now.realtime_s;
	struct tm utc;
	char text[sizeof("-2147483648-00-00T00:00:00Z")];
	if (gmtime_r(&seconds, &utc) && strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc))
		json_put_string(taken, "realtime", text);
	json_put_int(taken, "boottime_ns", now.boottime_ns);
}

json_t *observe_snapshot(struct host *host)
{
	struct observation o = {.host = host, .snapshot = json_object_new()};

	observe_head(&o);
	for (size_t i = 0; i < ARRAY_SIZE(observers); i++)
		observers[i](&o);
	return o.snapshot;
}
