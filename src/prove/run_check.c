/* SPDX-License-Identifier: Apache-2.0 */
#include "prove/run_check.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/param.h>

/* Bytes on either side of a message that are looked at with it; the rest is at the end of the run. */
#define NEAR ((size_t)64 << 10)
/* A byte of poison is right by chance in one of 256 cases. Below this size the area holds the
 * generation before instead, of which every byte differs (pattern.h). */
#define SMALL 16u

static const char *const kind_names[] = {
	[PATTERN_CORRUPT] = "corrupt",
	[PATTERN_STALE] = "stale",
	[PATTERN_MISPLACED] = "misplaced",
	[PATTERN_MISSING] = "missing",
};

struct run_message run_round_message(const struct run *run, const struct run_round *round,
				     unsigned i)
{
	struct run_message m = {
		.qp = round->first + i,
		.size = round->size,
		.offset = run_slot(run, round->first + i),
		.pattern = {
			.seed = run->p->seed,
			.generation = 2 * (round->number + i + 1),
		},
	};

	/* Every other message ends where its slot ends, next to another's bytes or a canary. A SEND
	 * goes where the receive says, and that stands before its size is known. */
	if (round->iteration % 2 && run->operation != RUN_SEND)
		m.offset += run->stride - m.size;
	return m;
}

static int poison(const struct run *run, size_t offset, size_t len, struct error *err)
{
	return memory_poison(run->end->memory, offset, len, run->p->seed, err);
}

int run_check_prepare(const struct run *run, struct error *err)
{
	return poison(run, 0, memory_length(run->end->memory), err);
}

/* --- what was seen ---------------------------------------------------------------------------- */

int run_check_untouched(const struct run *run, const struct run_message *m, size_t offset,
			size_t len, const char *where, json_t **fault, struct error *err)
{
	struct pattern_fault seen = {0};

	if (!len || *fault)
		return 0;
	int rc = memory_untouched(run->end->memory, offset, len, run->p->seed, &seen, err);
	if (rc != -EBADMSG)
		return rc;
	error_clear(err);
	*fault = run_fault(run, "stray", m);
	json_put_u64(*fault, "memory_offset", seen.offset);
	json_put_u64(*fault, "bytes", seen.wrong_bytes);
	json_put_stringf(*fault, "text",
			 "%" PRIu64 " bytes %s were written to, the first at offset %" PRIu64
			 " of the memory",
			 seen.wrong_bytes, where, seen.offset);
	return 0;
}

int run_check_canaries(const struct run *run, const struct run_message *m, json_t **fault,
		       struct error *err)
{
	struct pattern_fault seen = {0};

	if (*fault)
		return 0;
	int rc = memory_canaries(run->end->memory, run->p->seed, &seen, err);
	if (rc != -EBADMSG)
		return rc;
	*fault = run_fault(run, "canary", m);
	json_put_int(*fault, "memory_offset", (int64_t)seen.offset);
	json_put_u64(*fault, "bytes", seen.wrong_bytes);
	json_put_stringf(*fault, "text", "outside of the memory: %s", error_text(err));
	error_clear(err);
	return 0;
}

int run_check_bytes(const struct run *run, const struct run_message *m, json_t **fault,
		    struct error *err)
{
	struct pattern_fault seen = {0};

	if (*fault)
		return 0;
	int rc = memory_check(run->end->memory, m->offset, m->size, m->offset, &m->pattern, &seen,
			      err);
	if (rc != -EBADMSG)
		return rc;
	error_clear(err);
	/* the odd generation that run_check_arm() left is this memory's poison */
	if (m->size < SMALL && seen.kind == PATTERN_STALE &&
	    seen.from_generation == m->pattern.generation - 1)
		seen.kind = PATTERN_MISSING;
	*fault = run_fault(run, kind_names[seen.kind], m);
	run_fault_pattern(*fault, m, &seen);
	return 0;
}

/* --- one message ------------------------------------------------------------------------------ */

int run_check_arm(const struct run *run, const struct run_round *round, unsigned i, json_t **fault,
		  struct error *err)
{
	struct run_message m = run_round_message(run, round, i);
	struct pattern before = m.pattern;

	int rc = run_check_untouched(run, &m, m.offset, m.size,
				     "in which no message was expected yet", fault, err);
	if (rc < 0 || *fault || m.size >= SMALL)
		return rc;
	before.generation--;
	return memory_fill(run->end->memory, m.offset, m.size, m.offset, &before, err);
}

/* Bytes around the message, within its slot. */
static int surroundings(const struct run *run, const struct run_message *m, json_t **fault,
			struct error *err)
{
	size_t slot = run_slot(run, m->qp), end = m->offset + m->size,
	       before = MIN(m->offset - slot, NEAR),
	       behind = MIN(slot + run->stride - end, NEAR);
	int rc = run_check_untouched(run, m, m->offset - before, before, "before the message",
				     fault, err);

	if (!rc)
		rc = run_check_untouched(run, m, end, behind, "behind the message", fault, err);
	return rc < 0 ? rc : run_check_canaries(run, m, fault, err);
}

int run_check_message(const struct run *run, const struct run_round *round, unsigned i,
		      json_t **fault, struct error *err)
{
	struct run_message m = run_round_message(run, round, i);
	_cleanup_json_ json_t *stray = NULL, *wrong = NULL;

	int rc = run_check_bytes(run, &m, &wrong, err);
	if (!rc)
		rc = surroundings(run, &m, &stray, err);
	if (rc < 0)
		return rc;
	if (wrong && stray) {
		/* bytes that are not where they should be, and are where they should not */
		json_put_string(wrong, "kind", "misplaced");
		json_put(wrong, "stray", json_incref(stray));
	}
	if (!*fault)
		*fault = json_incref(wrong ? wrong : stray);
	return poison(run, m.offset, m.size, err);
}
