/* SPDX-License-Identifier: Apache-2.0 */
#include "judge/memlock.h"

#include <string.h>

#include "base/text.h"

/* CAP_IPC_LOCK, include/uapi/linux/capability.h */
#define CAP_IPC_LOCK_BIT 14

/* Default limit of systemd since v247 and of the kernel since 5.16 (MLOCK_LIMIT in
 * include/uapi/linux/resource.h); it was 64 KiB before. */
#define MEMLOCK_DEFAULT_BYTES (8 << 20)

bool memlock_is_enough(int64_t limit_bytes, int64_t wanted_bytes)
{
	if (limit_bytes < 0)
		return true;
	return wanted_bytes >= 0 && limit_bytes >= wanted_bytes;
}

const char *memlock_text(struct judging *g, int64_t bytes)
{
	static const char *const units[] = { "byte", "KiB", "MiB", "GiB", "TiB" };
	size_t unit = 0;

	if (bytes < 0)
		return "unlimited";
	while (bytes && bytes % 1024 == 0 && unit + 1 < ARRAY_SIZE(units)) {
		bytes /= 1024;
		unit++;
	}
	return judge_text(g, "%lld %s", (long long)bytes, units[unit]);
}

bool memlock_pod_has_cap(json_t *memlock)
{
	json_t *told = json_object_get(memlock, "cap_ipc_lock");
	const char *hex = json_get_string(memlock, "cap_effective", NULL);
	uint64_t mask;

	if (told)
		return json_is_true(told);
	return hex && text_to_u64(hex, 16, &mask) == 0 && (mask >> CAP_IPC_LOCK_BIT & 1);
}

bool memlock_pod_is_bound(json_t *memlock, int64_t wanted_bytes)
{
	json_t *soft = json_object_get(memlock, "soft_bytes");

	return json_is_integer(soft) &&
	       !memlock_is_enough(json_integer_value(soft), wanted_bytes) &&
	       !memlock_pod_has_cap(memlock);
}

int64_t memlock_wanted(const struct judging *g)
{
	return g->node->memlock_bytes.set ? g->node->memlock_bytes.value : -1;
}

/*
 * A limit below what is wanted. Without a declaration a finite limit above the default was set by
 * somebody on purpose: a warning, because whether it suffices depends on the workload.
 */
static void too_low(struct judging *g, int64_t bytes, const char *cause, const char *fix,
		    const char *whose)
{
	const char *limit = memlock_text(g, bytes);
	const char *wanted = memlock_text(g, memlock_wanted(g));

	if (!g->node->memlock_bytes.set && bytes > MEMLOCK_DEFAULT_BYTES)
		judge_warn(g, "memlock-finite", fix, "%s may lock %s; unlimited is assumed to be "
						     "wanted",
			   whose, limit);
	else
		judge_fail(g, cause, fix, "%s may lock %s, %s is %s", whose, limit,
			   g->node->memlock_bytes.set ? "declared" : "assumed", wanted);
}

static void judge_self(struct judging *g)
{
	int64_t soft;
	bool cap;

	if (!fact_int(g, &soft, "/os/memlock/self/soft_bytes"))
		return;
	if (memlock_is_enough(soft, memlock_wanted(g))) {
		judge_pass(g, "locked memory: %s", memlock_text(g, soft));
		return;
	}
	if (!fact_bool(g, &cap, "/os/memlock/self/cap_ipc_lock"))
		return;
	if (cap) {
		judge_pass(g, "the limit of %s does not bind: CAP_IPC_LOCK is effective",
			   memlock_text(g, soft));
		return;
	}
	too_low(g, soft, "memlock-low",
		"a file in /etc/security/limits.d with `* soft memlock unlimited` and `* hard "
		"memlock unlimited`, then log in again; for a service LimitMEMLOCK=infinity in its "
		"unit",
		"this process (no CAP_IPC_LOCK)");
}

/* Were pods looked into, and does the low limit bind none of them (root with CAP_IPC_LOCK)? */
static bool no_pod_is_bound(const struct judging *g)
{
	size_t seen = 0;
	const char *name;
	json_t *pod;

	json_object_foreach(peek(g, "/pods"), name, pod) {
		json_t *memlock = json_object_get(pod, "memlock");

		if (!memlock)
			continue;
		if (memlock_pod_is_bound(memlock, memlock_wanted(g)))
			return false;
		seen++;
	}
	return seen > 0;
}

/* Containers inherit their limit from the runtime; kubelet starts none itself. */
static void judge_runtime(struct judging *g, const char *name)
{
	int64_t soft;

	if (!peek(g, "/os/memlock/services/%s", name))
		return;
	if (!fact_int(g, &soft, "/os/memlock/services/%s/soft_bytes", name) ||
	    memlock_is_enough(soft, memlock_wanted(g)))
		return;
	if (no_pod_is_bound(g)) {
		judge_warn(g, "memlock-runtime-low",
			   judge_text(g, "LimitMEMLOCK=infinity for %s, so that non-root pods can "
					 "register memory too", name),
			   "%s may lock %s; the pods looked into run as root with CAP_IPC_LOCK "
			   "effective, and it does not bind them", name, memlock_text(g, soft));
		return;
	}
	too_low(g, soft, "memlock-runtime-low",
		judge_text(g, "`systemctl edit %s` with\n[Service]\nLimitMEMLOCK=infinity\nthen "
			      "`systemctl restart %s` and start the pods again (running containers "
			      "keep the old limit)",
			   name, name),
		judge_text(g, "%s, from which every container inherits (IPC_LOCK does not help "
			      "non-root containers: it is never effective there),", name));
}

static void judge_pods(struct judging *g)
{
	const char *name;
	json_t *pod;

	json_object_foreach(peek(g, "/pods"), name, pod) {
		int64_t soft;

		if (!json_object_get(pod, "memlock"))
			continue;
		fact(g, "/pods/%s/memlock", name);
		if (!memlock_pod_is_bound(json_object_get(pod, "memlock"), memlock_wanted(g)))
			continue;
		soft = json_get_int(json_object_get(pod, "memlock"), "soft_bytes", 0);
		too_low(g, soft, "memlock-pod-low",
			"LimitMEMLOCK=infinity for the container runtime, then start the pod "
			"again; adding the IPC_LOCK capability helps root containers only",
			judge_text(g, "pod %s (uid %lld, CAP_IPC_LOCK not effective)", name,
				   (long long)json_get_int(json_object_get(pod, "memlock"), "uid",
											    -1)));
	}
}

void judge_memlock(struct judging *g)
{
	if (g->node->memlock_bytes.set)
		fact_declared(g, &g->node->where, json_integer(g->node->memlock_bytes.value),
			      "nodes/%s/memlock", g->node->name);
	else
		judge_assume(g, "locked memory is to be unlimited");
	judge_self(g);
	if (g->site->kubernetes && !peek(g, "/os/memlock/services/containerd") &&
	    !peek(g, "/os/memlock/services/crio"))
		judge_unknown(g,
			      "start the container runtime and take the snapshot as root",
			      "the limit of the container runtime was not observed: neither "
			      "containerd nor CRI-O was found running");
	judge_runtime(g, "containerd");
	judge_runtime(g, "crio");
	fact_optional(g, "/os/memlock/services/kubelet/soft_bytes");
	judge_pods(g);
}
