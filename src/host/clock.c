/* SPDX-License-Identifier: Apache-2.0 */
/* Time, the kernel's names, and this process's own limits. */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>

#include "base/text.h"
#include "host/door.h"

int64_t clock_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int time_live(struct host *host RH_UNUSED, const void *question RH_UNUSED, json_t **answer,
		     struct error *err)
{
	struct timespec real, boot;

	if (clock_gettime(CLOCK_REALTIME, &real) < 0 || clock_gettime(CLOCK_BOOTTIME, &boot) < 0)
		return error_set_errno(err, -errno, "clock_gettime");
	*answer = json_object_new();
	json_put_int(*answer, "realtime_s", real.tv_sec);
	json_put_int(*answer, "boottime_ns", boot.tv_sec * 1000000000ll + boot.tv_nsec);
	return 0;
}

int host_time(struct host *host, struct host_time *t, struct error *err)
{
	_cleanup_json_ json_t *answer = NULL;
	int rc = door_ask(host, "time", "now", true, time_live, NULL, &answer, err);

	memset(t, 0, sizeof(*t));
	if (rc < 0)
		return rc;
	t->realtime_s = json_get_int(answer, "realtime_s", -1);
	t->boottime_ns = json_get_int(answer, "boottime_ns", -1);
	return t->realtime_s < 0 || t->boottime_ns < 0 ? door_malformed("time", err) : 0;
}

/* Below a root uname(2) would name the wrong machine; the copied tree may hold the same texts. */
static int uname_of_root(struct host *host, json_t **answer, struct error *err)
{
	static const struct {
		const char *key, *path;
	} files[] = {
		{ "sysname", "/proc/sys/kernel/ostype" },
		{ "nodename", "/proc/sys/kernel/hostname" },
		{ "release", "/proc/sys/kernel/osrelease" },
		{ "version", "/proc/sys/kernel/version" },
		{ "machine", "/proc/sys/kernel/arch" },	/* since Linux 6.1 */
	};
	_cleanup_json_ json_t *names = json_object_new();

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		_cleanup_strbuf_ struct strbuf text = {0};
		int rc = path_read(host, files[i].path, &text, err);

		if (rc == 0)
			json_put_string(names, files[i].key, text.s ? text_trim(text.s) : "");
		else if (strcmp(files[i].key, "release") == 0)
			return rc;
	}
	error_clear(err);
	*answer = names;
	names = NULL;
	return 0;
}

static int uname_live(struct host *host, const void *question RH_UNUSED, json_t **answer,
		      struct error *err)
{
	struct utsname u;

	if (host->root)
		return uname_of_root(host, answer, err);
	if (uname(&u) < 0)
		return error_set_errno(err, -errno, "uname");
	*answer = json_object_new();
	json_put_string(*answer, "sysname", u.sysname);
	json_put_string(*answer, "nodename", u.nodename);
	json_put_string(*answer, "release", u.release);
	json_put_string(*answer, "version", u.version);
	json_put_string(*answer, "machine", u.machine);
	return 0;
}

int host_uname(struct host *host, json_t **names, struct error *err)
{
	return door_ask(host, "uname", "self", true, uname_live, NULL, names, err);
}

static json_int_t limit_value(rlim_t limit)
{
	return limit == RLIM_INFINITY || limit > INT64_MAX ? -1 : (json_int_t)limit;
}

static int self_live(struct host *host, const void *question RH_UNUSED, json_t **answer,
		     struct error *err)
{
	_cleanup_strbuf_ struct strbuf status = {0};
	struct rlimit memlock;
	char *cursor, *line;

	if (getrlimit(RLIMIT_MEMLOCK, &memlock) < 0)
		return error_set_errno(err, -errno, "getrlimit");
	*answer = json_object_new();
	json_put_int(*answer, "memlock_soft", limit_value(memlock.rlim_cur));
	json_put_int(*answer, "memlock_hard", limit_value(memlock.rlim_max));
	json_put_int(*answer, "euid", geteuid());

	cursor = path_read(host, "/proc/self/status", &status, NULL) == 0 ? status.s : NULL;
	while (cursor && (line = text_next_line(&cursor)))
		if (text_starts_with(line, "CapEff:"))
			json_put_string(*answer, "cap_eff", text_trim(line + strlen("CapEff:")));
	return 0;
}

int host_self(struct host *host, json_t **self, struct error *err)
{
	return door_ask(host, "self", "self", false, self_live, NULL, self, err);
}
