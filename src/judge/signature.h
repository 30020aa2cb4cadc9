/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel log lines with a known meaning. One table: drives os.kernel-log, the causes of other
 * gates, and the needles by which the observer filters the log. */
#pragma once

#include "judge/gate.h"

struct signature {
	const char *id;		/* cause id: "ice-safe-mode" */
	const char *all_of[4];	/* substrings that must all be in the line; NULL-terminated */
	enum verdict_status weight; /* VERDICT_FAIL, VERDICT_WARN, or VERDICT_PASS for good news */
	const char *text;	/* cause in one sentence */
	const char *fix;
	const char *source;
};

const struct signature *signature_table(size_t *n);

/* Meaning of one line: the first entry of the table that matches it, or NULL. */
const struct signature *signature_of_text(const char *text);

/* Newest log line of the snapshot that matches signature `id` and, when `about` is given (BDF or
 * link name), also contains it. Borrowed log entry or NULL. No evidence is left. */
json_t *signature_find(json_t *snapshot, const char *id, const char *about);
/* The same with evidence: pointer /os/log/lines/N. */
json_t *signature_fact(struct judging *g, const char *id, const char *about);

/* Is the newest line of `id` later than the newest one of `than` (of which there may be none)? A
 * driver that was reloaded leaves both the bad and the good line; the later one holds. */
bool signature_newer(json_t *snapshot, const char *id, const char *than, const char *about);
