/* SPDX-License-Identifier: Apache-2.0 */
/* rdma.counters: which error counters of an RDMA port grew since an earlier snapshot. */
#include <string.h>

#include "base/strbuf.h"
#include "judge/family.h"
#include "judge/rdma.h"

static const char since[] = "keep a snapshot (`railhead snapshot -o OLD.json`) and run `railhead "
			    "check --since OLD.json` later: only growth counts";

struct growth {
	size_t compared;
	struct strbuf grown;
	bool reset;
};

static void compare_counter(struct judging *g, const struct subject_rdma *rdma, const char *group,
			    const char *name, struct growth *sum)
{
	uint64_t now, then;

	if (!json_u64(peek(g, "/rdma/devices/%s/ports/%s/%s/%s", rdma->device, rdma->port,
				group, name),
			   &now) ||
	    !json_u64(peek(g, "/previous/rdma/devices/%s/ports/%s/%s/%s", rdma->device,
				rdma->port, group, name),
			   &then))
		return;
	fact(g, "/rdma/devices/%s/ports/%s/%s/%s", rdma->device, rdma->port, group, name);
	fact(g, "/previous/rdma/devices/%s/ports/%s/%s/%s", rdma->device, rdma->port, group, name);
	sum->compared++;
	if (now < then)
		sum->reset = true;
	else if (now > then)
		strbuf_printf(&sum->grown, "%s%s +%llu", sum->grown.len ? ", " : "", name,
			      (unsigned long long)(now - then));
}

/* May the counters of both snapshots be compared? Says why not. */
static bool is_comparable(struct judging *g, const struct subject_rdma *rdma)
{
	const char *boot, *previous_boot;
	json_t *taken, *previous_taken;

	if (!peek(g, "/previous")) {
		judge_unknown(g, since, "no earlier snapshot to compare the counters of %s with",
			      rdma->device);
		return false;
	}
	boot = fact_string(g, "/node/boot_id");
	previous_boot = fact_string(g, "/previous/node/boot_id");
	if (!boot || !previous_boot)
		return false;
	if (strcmp(boot, previous_boot) != 0) {
		judge_unknown(g, since,
			      "the node was booted since the earlier snapshot, so its counters "
			      "began anew");
		return false;
	}
	taken = peek(g, "/taken/boottime_ns");
	previous_taken = peek(g, "/previous/taken/boottime_ns");
	if (json_is_integer(taken) && json_is_integer(previous_taken) &&
	    json_integer_value(taken) < json_integer_value(previous_taken)) {
		fact(g, "/taken/boottime_ns");
		fact(g, "/previous/taken/boottime_ns");
		judge_unknown(g, "give the older snapshot to --since",
			      "the snapshot given as the earlier one is the later one");
		return false;
	}
	return true;
}

void judge_rdma_counters(struct judging *g)
{
	struct growth sum = { 0 };
	const struct family *family;
	struct subject_rdma rdma;

	if (!rdma_find(g, &rdma))
		return;
	family = family_of_rdma(g->snapshot, rdma.device);
	if (!is_comparable(g, &rdma))
		return;
	if (!family || !family->error_counters) {
		judge_unknown(
			g, NULL,
			"the error counters of %s are not known: its driver is of no known family",
			rdma.device);
		return;
	}
	if (!peek(g, "/previous/rdma/devices/%s", rdma.device)) {
		judge_unknown(g, since, "the earlier snapshot has no device %s", rdma.device);
		return;
	}
	for (const char *const *name = family->error_counters; *name; name++) {
		compare_counter(g, &rdma, "hw_counters", *name, &sum);
		compare_counter(g, &rdma, "counters", *name, &sum);
	}
	if (!sum.compared)
		judge_unknown(g, "hw_counters are visible in the host's network namespace only",
			      "%s shows no error counter of family %s in both snapshots",
			      rdma.device, family->name);
	else if (sum.reset)
		judge_unknown(g, since, "counters of %s went back: the device was re-created since",
			      rdma.device);
	else if (sum.grown.len)
		judge_fail(g, "error-counters-grow",
			   "compare with the switch's drop counters on the same port; check PFC on "
			   "both ends, MTU, and the cable",
			   "error counters of %s grew since the earlier snapshot: %s", rdma.device,
			   strbuf_str(&sum.grown));
	else
		judge_pass(g, "none of %zu error counters of %s grew", sum.compared, rdma.device);
	strbuf_clear(&sum.grown);
}
