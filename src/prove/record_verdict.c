/* SPDX-License-Identifier: Apache-2.0 */
/* What a record comes to (docs/proof.md, "Verdict of a record"). */
#include "prove/record_verdict.h"

#include <string.h>

#include "base/alloc.h"

enum status { PASS, UNKNOWN, FAIL };	/* the heaviest decides */

struct finding {
	enum status status;
	json_t *why;
};

static void RH_PRINTF(3, 4) find(struct finding *f, enum status status, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	_cleanup_free_ char *text = xvasprintf(fmt, ap);
	va_end(ap);
	json_append_text(f->why, text);
	if (status > f->status)
		f->status = status;
}

/* What could be registered decides nothing by itself; nothing is why a proof did not take place. */
static void judge_registration(struct finding *f, json_t *run)
{
	json_t *result = json_object_get(run, "result"), *tried = json_object_get(result, "tried");
	json_t *last = json_array_get(tried, json_array_size(tried) - 1);
	const char *stopped = json_get_string(result, "stopped", "the record does not say why");

	if (json_get_int(result, "largest_bytes", 0) <= 0)
		find(f, UNKNOWN, "the NIC of the %s registered no DMA-BUF: %s",
		     json_get_string(run, "end", "?"), json_get_string(last, "text", stopped));
}

static void judge_run(struct finding *f, json_t *run)
{
	const char *kind = json_get_string(run, "run", "?");
	const char *operation = json_get_string(run, "operation", "");
	const char *way = json_get_bool(run, "reverse", false) ? ", listener to initiator" : "";
	const char *error = json_get_string(run, "error", NULL);
	json_t *verified = json_object_get(json_object_get(run, "result"), "verified");
	_cleanup_free_ char *name = xasprintf("%s%s%s%s", kind, *operation ? " of " : "",
					      operation, way);

	/* how fast another program is proves nothing, and neither does its absence */
	if (!strcmp(kind, "perftest"))
		return;
	if (json_is_false(verified))
		find(f, FAIL, "%s: not what was sent arrived", name);
	else if (error)
		find(f, UNKNOWN, "%s did not take place: %s", name, error);
	else if (!json_is_true(verified) && strcmp(kind, "latency"))
		find(f, UNKNOWN, "%s verified nothing", name);
}

static void judge_end(struct finding *f, json_t *record, const char *which)
{
	json_t *end = json_object_get(record, which), *counters = json_object_get(end, "counters");
	const char *node = json_get_string(end, "node", "?");
	json_t *rdma = json_object_get(counters, "rdma_moved");

	if (json_is_false(rdma))
		find(f, FAIL, "the RDMA counters of %s did not move by the payload", node);
	else if (!json_is_true(rdma))
		find(f, UNKNOWN, "no counter of %s tells whether RDMA carried the payload", node);
	if (json_is_true(json_object_get(counters, "tcp_moved")))
		find(f, FAIL, "TCP of %s moved by the payload", node);
}

json_t *proof_verdict(json_t *record)
{
	static const char *const names[] = { "pass", "unknown", "fail" };
	struct finding f = { .why = json_array_new() };
	json_t *runs = json_object_get(record, "runs"), *run, *verdict = json_object_new();
	size_t i;

	json_array_foreach(runs, i, run)
		(strcmp(json_get_string(run, "run", ""), "register") ? judge_run :
								       judge_registration)(&f, run);
	if (!json_array_size(runs))
		find(&f, UNKNOWN, "nothing was run");
	judge_end(&f, record, "local");
	judge_end(&f, record, "peer");
	/* neither a pass nor a fail of a double says anything of the hardware */
	if (json_get_bool(record, "double", true)) {
		find(&f, UNKNOWN, "double: a test double was used, so nothing is proven");
		f.status = UNKNOWN;
	}
	json_put_string(verdict, "status", names[f.status]);
	json_put(verdict, "why", f.why);
	return verdict;
}
