/* SPDX-License-Identifier: Apache-2.0 */
/* Locked-memory limits, of this process and of the services whose containers inherit theirs. */
#include "observe/limits.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>

#include "base/text.h"
#include "observe/observe.h"

static int limit_parse(const char *word, int64_t *bytes)
{
	if (!word)
		return -EINVAL;
	if (strcmp(word, "unlimited") == 0) {
		*bytes = -1;
		return 0;
	}
	int rc = text_to_i64(word, 10, bytes);
	return rc < 0 ? rc : *bytes < 0 ? -EINVAL : 0;
}

int limits_memlock_parse(const char *text, int64_t *soft_bytes, int64_t *hard_bytes)
{
	static const char name[] = "Max locked memory";
	_cleanup_free_ char *copy = xstrdup(text);
	char *cursor = copy, *line;

	while ((line = text_next_line(&cursor))) {
		if (!text_starts_with(line, name))
			continue;
		char *words = line + strlen(name);
		const char *soft = text_next_word(&words);
		const char *hard = text_next_word(&words);
		if (limit_parse(soft, soft_bytes) < 0 || limit_parse(hard, hard_bytes) < 0)
			return -EINVAL;
		return 0;
	}
	return -EINVAL;
}

static void observe_self(struct observation *o, json_t *memlock)
{
	_cleanup_error_ struct error err = {0};
	_cleanup_json_ json_t *self = NULL;
	uint64_t effective;
	int rc = host_self(o->host, &self, &err);

	if (rc < 0) {
		observe_gap(o, rc, NULL, error_text(&err), "/os/memlock/self");
		return;
	}
	json_t *facts = json_obj(memlock, "self");
	json_put_int(facts, "soft_bytes", json_get_int(self, "memlock_soft", 0));
	json_put_int(facts, "hard_bytes", json_get_int(self, "memlock_hard", 0));
	rc = text_to_u64(json_get_string(self, "cap_eff", ""), 16, &effective);
	if (rc == 0)
		json_put_bool(facts, "cap_ipc_lock", effective >> CAP_IPC_LOCK & 1);
	else
		observe_gap(o, rc, NULL, "CapEff of this process is not known",
			    "/os/memlock/self/cap_ipc_lock");
}

/* --- services --------------------------------------------------------------------------------- */

/* Where the unified hierarchy (or systemd's named one, cgroup v1) is mounted. */
static const char *const cgroup_roots[] = {
	"/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/systemd",
};
/* runtime.slice and kubelet.slice are what Kubernetes' documents suggest, podruntime.slice is used
 * by some distributions' images. */
static const char *const slices[] = {
	"system.slice", "runtime.slice", "podruntime.slice", "kubelet.slice",
};

/* The service's own process among those of its cgroup: the one of its name (a runtime's container
 * shims share its cgroup), the lowest of several; 0 when none has the name. */
static int64_t main_pid(struct host *host, const char *name, char *procs)
{
	/* Shims are named after the runtime, and a node runs hundreds: bound the search. */
	int left = 256;
	int64_t found = 0, pid;
	char *cursor = procs, *line;

	while (left-- > 0 && (line = text_next_line(&cursor))) {
		if (text_to_i64(line, 10, &pid) < 0 || pid <= 0 || (found && pid > found))
			continue;
		_cleanup_free_ char *comm = host_read_text(host, NULL, "/proc/%lld/comm",
							   (long long)pid);
		if (comm && strcmp(comm, name) == 0)
			found = pid;
	}
	return found;
}

static void observe_process(struct observation *o, json_t *services, const char *name, int64_t pid)
{
	_cleanup_error_ struct error err = {0};
	_cleanup_free_ char *text = NULL;
	int64_t soft, hard;
	int rc = host_read(o->host, &text, NULL, &err, "/proc/%lld/limits", (long long)pid);

	if (rc == 0) {
		rc = limits_memlock_parse(text, &soft, &hard);
		if (rc < 0)
			error_set(&err, rc, "/proc/%lld/limits tells no locked-memory limit",
				  (long long)pid);
	}
	if (rc < 0) {
		observe_gap(o, rc, NULL, error_text(&err), "/os/memlock/services/%s", name);
		return;
	}
	json_t *facts = json_obj(services, name);
	json_put_int(facts, "soft_bytes", soft);
	json_put_int(facts, "hard_bytes", hard);
	json_put_int(facts, "pid", pid);
}

static void observe_service(struct observation *o, json_t *services, const char *name)
{
	for (size_t r = 0; r < ARRAY_SIZE(cgroup_roots); r++) {
		for (size_t s = 0; s < ARRAY_SIZE(slices); s++) {
			_cleanup_error_ struct error err = {0};
			_cleanup_free_ char *procs = NULL;
			int rc = host_read(o->host, &procs, NULL, &err,
					   "%s/%s/%s.service/cgroup.procs", cgroup_roots[r],
					   slices[s], name);
			if (rc == -ENOENT)
				continue;
			if (rc < 0) {
				observe_gap(o, rc, NULL, error_text(&err),
					    "/os/memlock/services/%s", name);
				return;
			}
			const int64_t pid = main_pid(o->host, name, procs);
			if (pid > 0) {
				observe_process(o, services, name, pid);
				return;
			}
		}
	}
}

void observe_limits(struct observation *o)
{
	static const char *const names[] = {"containerd", "crio", "kubelet"};
	json_t *memlock = json_obj(json_obj(o->snapshot, "os"), "memlock");
	_cleanup_error_ struct error err = {0};
	struct host_stat st;

	observe_self(o, memlock);
	int rc = host_stat(o->host, &st, false, &err, "/sys/fs/cgroup");
	if (rc < 0) {
		observe_gap(o, rc, NULL, error_text(&err), "/os/memlock/services");
		return;
	}
	json_t *services = json_obj(memlock, "services");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		observe_service(o, services, names[i]);
}
