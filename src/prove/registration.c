/* SPDX-License-Identifier: Apache-2.0 */
#include "prove/registration.h"

#include "base/alloc.h"
#include "host/clock.h"
#include "prove/kernel_watch.h"
#include "prove/memory_kind.h"

#define FIRST_BYTES ((size_t)4096)
/* Kernel log lines of one attempt: a refusal takes one or two. */
#define LINES_MAX 8u

struct trial {
	struct memory memory;	/* with the source of the kind and no region */
	struct kernel_watch log;
	json_t *result;
	int64_t deadline_ms;
};

bool registration_applies(const char *kind)
{
	const struct memory_kind *k = memory_kind_find(kind);

	return k && k->try_length;
}

static void note(struct trial *t, size_t length, const char *call, int rc, const struct error *why)
{
	json_t *attempt = json_object_new(), *lines;

	json_put_u64(attempt, "length_bytes", length);
	json_put_string(attempt, "call", call);
	json_put_int(attempt, "errno", -rc);
	if (rc < 0)
		json_put_string(attempt, "text", error_text(why));
	json_put_int(attempt, "offset_bytes", 0);
	json_put_int(attempt, "page_bytes", sysconf(_SC_PAGESIZE));
	json_put_bool(attempt, "pcie_mapping", false);
	lines = kernel_watch_take(&t->log, LINES_MAX, NULL);
	if (json_array_size(lines))
		json_put(attempt, "kernel_log", lines);
	else
		json_decref(lines);
	json_append(json_arr(t->result, "tried"), attempt);
}

/* 0: the length was registered. */
static int try_one(struct trial *t, struct ibv_pd *pd, size_t length)
{
	_cleanup_error_ struct error why = {0};
	const char *call = NULL;
	int rc = t->memory.kind->try_length(&t->memory, pd, length, &call, &why);

	note(t, length, call, rc, &why);
	return rc;
}

static void try_all(struct trial *t, struct ibv_pd *pd)
{
	size_t limit = t->memory.kind->try_limit(&t->memory), largest = 0;
	const char *stopped = "no longer one is tried";

	limit = limit > REGISTRATION_MAX_BYTES ? REGISTRATION_MAX_BYTES : limit;
	/* where there is no room for much, the smallest is still worth a try */
	for (size_t length = FIRST_BYTES; length <= limit || length == FIRST_BYTES; length *= 2) {
		if (clock_now_ms() > t->deadline_ms) {
			stopped = "the time for it was over";
			break;
		}
		if (try_one(t, pd, length) < 0) {
			stopped = "this length failed";
			break;
		}
		largest = length;
	}
	json_put_u64(t->result, "largest_bytes", largest);
	json_put_string(t->result, "stopped", stopped);
}

void registration_try(json_t **result, json_t **memory, const struct memory_request *request,
		      const struct verbs *v, struct ibv_pd *pd, struct host *host, int limit_ms)
{
	_cleanup_error_ struct error why = {0};
	struct trial t = {
		.memory = {
			.kind = memory_kind_find(request->kind),
			.facts = json_object_new(),
			.verbs = v,
		},
		.result = json_object_new(),
		.deadline_ms = clock_now_ms() + limit_ms,
	};

	json_arr(t.result, "tried");
	kernel_watch_begin(&t.log, host);
	if (t.memory.kind->try_open(&t.memory, request, &why) < 0) {
		json_put_int(t.result, "largest_bytes", 0);
		json_put_string(t.result, "stopped", error_text(&why));
	} else {
		try_all(&t, pd);
	}
	json_put_string(t.result, "kernel_log_why", t.log.unreadable);
	*memory = json_object_new();
	json_put_string(*memory, "kind", t.memory.kind->name);
	json_put_bool(*memory, "double", t.memory.is_double || v->is_double);
	json_object_update(*memory, t.memory.facts);
	*result = t.result;
	t.memory.kind->close(&t.memory);
	json_decref(t.memory.facts);
	kernel_watch_clear(&t.log);
}
