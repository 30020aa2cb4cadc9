/* SPDX-License-Identifier: Apache-2.0 */
/* Between pattern.c, which sees that a block is wrong, and pattern_fault.c, which tells how. */
#pragma once

#include "prove/pattern.h"

struct fault_search {
	/* what pattern_check() was asked */
	const uint8_t *buffer;
	size_t len;
	uint64_t offset;
	const struct pattern *p;
	struct pattern_fault *fault;	/* NULL: only counted */

	uint64_t wrong_bytes;
};

/* Count the wrong bytes among `len` from `at` on; the first one that is ever seen is described in
 * search->fault from what stands around it in the whole buffer. */
void fault_search(struct fault_search *search, size_t at, size_t len);
