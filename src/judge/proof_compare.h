/* SPDX-License-Identifier: Apache-2.0 */
/* Is a later record of one path worse than an earlier one, beyond what is noise? */
#pragma once

#include "judge/proof_record.h"

/*
 * Compare the speed runs of two records of the same ports (docs/proof.md, "Before and after").
 * A run that is slower beyond the noise of both is a failure with the cause `cause`; one that
 * cannot be compared makes the verdict unknown. True: nothing was found, and `*compared` runs were
 * no worse.
 */
bool proof_compare(struct judging *g, const struct proof_record *earlier,
		   const struct proof_record *later, const char *cause, size_t *compared);

/* "64 KiB", "1 MiB", "8 B" */
const char *proof_size_text(struct judging *g, int64_t bytes);
