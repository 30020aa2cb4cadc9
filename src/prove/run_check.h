/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a receiver does to its memory before messages come, and looks at afterwards.
 *
 * All of the memory that holds no message is poison: what changes there was written by nobody that
 * should. A message's area is poisoned anew once it has been looked at, and has to be untouched
 * still when the next message is expected there.
 */
#pragma once

#include "prove/run_common.h"

/* One message on each of `count` QPs from `first` on. */
struct run_round {
	size_t size;
	unsigned iteration;
	unsigned first, count;
	uint32_t number;	/* messages before it in the run */
};

/* Message `i` of a round. Generations are even; an odd one is never sent (run_check_arm()). */
struct run_message run_round_message(const struct run *run, const struct run_round *round,
				     unsigned i);

/* Each of these: 0, also when a fault was found (`*fault`, a new reference, if there was none);
 * errors: the memory could not be looked at. */

/* All of the memory is poisoned. */
int run_check_prepare(const struct run *run, struct error *err);
/* Before message `i` of a round is asked for. */
int run_check_arm(const struct run *run, const struct run_round *round, unsigned i, json_t **fault,
		  struct error *err);
/* Every byte of it, and some around it; then its area is poison again. */
int run_check_message(const struct run *run, const struct run_round *round, unsigned i,
		      json_t **fault, struct error *err);
/* A message, and nothing else. */
int run_check_bytes(const struct run *run, const struct run_message *m, json_t **fault,
		    struct error *err);
/* All bytes of a part are poison. `where` for people: "behind the message". `m`: the message that is
 * next to it, or NULL. */
int run_check_untouched(const struct run *run, const struct run_message *m, size_t offset,
			size_t len, const char *where, json_t **fault, struct error *err);
int run_check_canaries(const struct run *run, const struct run_message *m, json_t **fault,
		       struct error *err);
