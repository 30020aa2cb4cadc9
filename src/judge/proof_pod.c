/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proof.pod: what a pod of this node sees of RDMA. Each pod that was looked into has an object
 * under /pods: user space, RDMA devices with their GIDs, locked memory, the error of an attempt.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "judge/family.h"
#include "judge/later.h"
#include "judge/memlock.h"

/* --- user space ------------------------------------------------------------------------------- */

/* "libibverbs: Warning: Driver bnxt_re does not support the kernel ABI of 6 (supports 1 to 1) …" */
struct abi_warning {
	char driver[64];
	int kernel, min, max;
};

static bool abi_parse(const char *text, struct abi_warning *w)
{
	const char *at = strstr(text, "Driver ");

	return at && sscanf(at,
			    "Driver %63s does not support the kernel ABI of %9d "
			    "(supports %9d to %9d)",
			    w->driver, &w->kernel, &w->min, &w->max) == 4;
}

static bool judge_abi(struct judging *g, const char *pod)
{
	json_t *warnings = peek(g, "/pods/%s/userspace/warnings", pod), *entry;
	struct abi_warning w;
	size_t i;

	json_array_foreach(warnings, i, entry) {
		const char *text = json_string_value(entry);

		if (!text || !abi_parse(text, &w))
			continue;
		fact(g, "/pods/%s/userspace/warnings/%zu", pod, i);
		json_t *in_tree = fact_optional(g, "/os/modules/%s/in_tree", w.driver);

		judge_fail(g, "pod-provider-abi",
			   judge_text(g, "put the user-space library of the host's %s driver "
					 "(lib%s of the vendor's package) into the image, or use "
					 "the inbox driver on the host", w.driver, w.driver),
			   "pod %s: the image's %s library does not fit the host's driver%s: the "
			   "kernel speaks ABI %d, the library %d to %d", pod, w.driver,
			   json_is_false(in_tree) ? ", which is out-of-tree" : "", w.kernel, w.min,
			   w.max);
		return true;
	}
	return false;
}

/* Devices of the pod whose provider library the image lacks. */
static bool judge_providers(struct judging *g, const char *pod)
{
	json_t *providers = peek(g, "/pods/%s/userspace/providers", pod), *device, *entry;
	const char *name;
	bool found = false;
	size_t i;

	if (!json_is_array(providers))
		return false;
	json_object_foreach(peek(g, "/pods/%s/rdma/devices", pod), name, device) {
		const struct family *f = family_of_rdma(g->snapshot, name);
		bool has = false;

		if (!f || !f->provider)
			continue;
		json_array_foreach(providers, i, entry)
			has |= json_string_value(entry) &&
			       !strcmp(json_string_value(entry), f->provider);
		if (has)
			continue;
		fact(g, "/pods/%s/userspace/providers", pod);
		judge_fail(g, "pod-provider-missing",
			   "install rdma-core's provider package in the image (Debian: "
			   "ibverbs-providers, RHEL: libibverbs)",
			   "pod %s: the image has no provider library %s for %s", pod, f->provider,
			   name);
		found = true;
	}
	return found;
}

/* --- GIDs ------------------------------------------------------------------------------------- */

/* Number of GIDs in all ports of a device object; -1 when no port tells its table. */
static int64_t count_gids(json_t *device)
{
	json_t *object, *gids;
	const char *port;
	int64_t n = -1;

	json_object_foreach(json_object_get(device, "ports"), port, object) {
		gids = json_object_get(object, "gids");
		if (json_is_array(gids))
			n = (n < 0 ? 0 : n) + (int64_t)json_array_size(gids);
	}
	return n;
}

/* Is the host's RDMA core one that hides GIDs of other network namespaces (MLNX or DOCA OFED)? */
static int host_core_hides(struct judging *g)
{
	json_t *in_tree = fact_optional(g, "/os/modules/ib_core/in_tree");
	json_t *versions;
	const char *name;

	json_object_foreach(peek(g, "/os/packages"), name, versions) {
		if (!strstr(name, "ofed") && !strstr(name, "mlnx-ofa"))
			continue;
		fact(g, "/os/packages/%s", name);
		return 1;
	}
	if (json_is_boolean(in_tree))
		return json_is_false(in_tree);
	return -1;
}

#define FIX_POD_NETWORK                                                                        \
	"Give the pod a second interface on the RDMA NIC (macvlan, SR-IOV or host-device), or " \
	"hostNetwork, or go back to the inbox RDMA stack, which shows the host's GIDs to pods."

static bool judge_gids(struct judging *g, const char *pod)
{
	json_t *device;
	const char *name;

	json_object_foreach(peek(g, "/pods/%s/rdma/devices", pod), name, device) {
		int64_t in_pod = count_gids(device);
		int64_t on_host = count_gids(peek(g, "/rdma/devices/%s", name));
		int hides;

		if (in_pod)	/* some, or not observed */
			continue;
		fact(g, "/pods/%s/rdma/devices/%s/ports", pod, name);
		fact_optional(g, "/pods/%s/links", pod);
		if (!on_host) {
			fact(g, "/rdma/devices/%s/ports", name);
			judge_fail(g, "no-gid-on-host", "see rdma.gid: the port needs its address "
							"first",
				   "pod %s: the GID table of %s is empty in the pod and on the "
				   "host", pod,
				   name);
			judge_explained_by(g, "rdma.gid", NULL);
			return true;
		}
		hides = host_core_hides(g);
		if (hides > 0) {
			judge_fail(g, "pod-gid-hidden", FIX_POD_NETWORK,
				   "pod %s: no GID of %s is visible: the RDMA net device is not in "
				   "the pod's network namespace, and the host's out-of-tree RDMA "
				   "core (OFED) hides GIDs of other namespaces", pod, name);
			return true;
		}
		judge_fail(g, "pod-gid-empty", NULL, "pod %s: no GID of %s is visible", pod, name);
		judge_candidate(g, "pod-gid-hidden", FIX_POD_NETWORK,
				"the RDMA net device is not in the pod's network namespace and the "
				"host's RDMA core hides host GIDs, which MLNX/DOCA-OFED does and "
				"the inbox core does not: `modinfo -n ib_core` on the host tells");
		judge_candidate(g, "pod-gid-late", NULL,
				"the address was not yet on the RDMA link when the pod was looked "
				"into: a second look tells");
		return true;
	}
	return false;
}

/* --- locked memory and the error -------------------------------------------------------------- */

static bool judge_pod_memlock(struct judging *g, const char *pod, bool enomem)
{
	json_t *memlock = fact_optional(g, "/pods/%s/memlock", pod);

	if (!memlock || !memlock_pod_is_bound(memlock, memlock_wanted(g)))
		return false;
	judge_fail(g, "memlock-pod-low",
		   "LimitMEMLOCK=infinity for the container runtime, then start the pod again; "
		   "adding the IPC_LOCK capability helps root containers only",
		   "pod %s: %smay lock %s as uid %lld without an effective CAP_IPC_LOCK", pod,
		   enomem ? "registration failed with ENOMEM; it " : "",
		   memlock_text(g, json_get_int(memlock, "soft_bytes", 0)),
		   (long long)json_get_int(memlock, "uid", -1));
	judge_explained_by(g, "os.memlock", NULL);
	return true;
}

static void judge_enomem(struct judging *g, const char *pod, const char *call)
{
	judge_fail(g, "pod-enomem", NULL, "pod %s: %s failed with ENOMEM", pod, call);
	if (!peek(g, "/pods/%s/memlock", pod))
		judge_candidate(g, "memlock-pod-low", "LimitMEMLOCK=infinity for the container "
						      "runtime",
				"the locked-memory limit: /proc/self/limits and CapEff in the pod "
				"tell");
	judge_candidate(g, "adapter-page-tables", "register fewer or smaller regions",
			"the adapter's page tables are used up: a smaller length then succeeds");
	judge_candidate(g, "pod-memory-limit", "raise the pod's memory limit",
			"the memory limit of the pod: memory.max of its cgroup tells");
}

/* The error of an attempt, when nothing above explains it. */
static void judge_error(struct judging *g, const char *pod, json_t *error)
{
	const char *call = json_get_string(error, "call", "the attempt");
	const char *text = json_get_string(error, "text", NULL);
	int64_t code = json_get_int(error, "errno", 0);

	if (code == ENOMEM) {
		judge_enomem(g, pod, call);
	} else if (text_starts_with(call, "rdma_") && (code == ENODEV || code == EADDRNOTAVAIL)) {
		judge_fail(g, "pod-rdma-cm-namespace",
			   "hostNetwork, or a second interface of the pod on the RDMA NIC; raw "
			   "verbs with the host's GID need neither on the inbox stack",
			   "pod %s: %s failed with errno %lld: RDMA-CM looks for the address in "
			   "the pod's own network namespace, which has no RDMA net device", pod,
			   call, (long long)code);
	} else {
		judge_fail(g, "pod-attempt-failed", NULL, "pod %s: %s failed%s%s%s", pod, call,
			   code ? judge_text(g, " with errno %lld", (long long)code) : "",
			   text ? ": " : "", text ? text : "");
	}
}

static void judge_pod(struct judging *g, const char *pod)
{
	json_t *error = fact_optional(g, "/pods/%s/error", pod);
	bool enomem = json_get_int(error, "errno", 0) == ENOMEM;
	bool explained = judge_abi(g, pod);

	explained = explained || judge_providers(g, pod);
	explained |= judge_gids(g, pod);
	explained |= judge_pod_memlock(g, pod, enomem);
	if (json_is_object(error) && !explained)
		judge_error(g, pod, error);
}

void judge_proof_pod(struct judging *g)
{
	json_t *pods = peek(g, "/pods"), *pod;
	const char *name;

	json_object_foreach(pods, name, pod)
		judge_pod(g, name);
	judge_unknown(g, NULL, "%s", json_object_size(pods) ?
					     "no traffic between pods has been proven yet" :
					     "no pod of this node has been looked into");
}
