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
/* How far a message is looked for that is not where it belongs, and how much of it has to be there. */
#define SHIFT_MAX 64u
#define SHIFT_LEAST 8u

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

/* Is all that is left of the message there when it is moved by `shift` bytes? */
static bool is_shifted(const struct run *run, const struct run_message *m, long shift)
{
	size_t by = (size_t)labs(shift), left = m->size - by;
	size_t at = m->offset + (shift > 0 ? by : 0), stream = m->offset + (shift > 0 ? 0 : by);
	struct pattern_fault seen;

	return memory_check(run->end->memory, at, left, stream, &m->pattern, &seen, NULL) == 0;
}

/* A few bytes off: words that are cut elsewhere tell nothing of where they come from. */
static void look_for_shift(const struct run *run, const struct run_message *m, json_t *fault)
{
	for (long by = 1; by <= (long)SHIFT_MAX && m->size >= (size_t)by + SHIFT_LEAST; by++) {
		for (long shift = by; shift >= -by; shift -= 2 * by) {
			if (!is_shifted(run, m, shift))
				continue;
			json_put_string(fault, "kind", kind_names[PATTERN_MISPLACED]);
			json_put_int(fault, "shift_bytes", shift);
			json_put_stringf(fault, "text",
					 "the message lies %ld bytes %s where it belongs", by,
					 shift > 0 ? "behind" : "before");
			return;
		}
	}
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
	if (seen.kind == PATTERN_CORRUPT || seen.kind == PATTERN_MISSING)
		look_for_shift(run, m, *fault);
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

/* Does no message of the round lie behind this one's slot? */
static bool is_highest(const struct run *run, const struct run_round *round, unsigned qp)
{
	for (unsigned q = round->first; q < round->first + round->count; q++)
		if (run_slot(run, q) > run_slot(run, qp))
			return false;
	return true;
}

/* Bytes around the message, as far as no other of the round may be. */
static int surroundings(const struct run *run, const struct run_message *m, bool last,
			json_t **fault, struct error *err)
{
	size_t slot = run_slot(run, m->qp), end = m->offset + m->size,
	       limit = last ? memory_length(run->end->memory) : slot + run->stride,
	       before = MIN(m->offset - slot, NEAR), behind = MIN(limit - end, NEAR);
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
		rc = surroundings(run, &m, is_highest(run, round, m.qp), &stray, err);
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
