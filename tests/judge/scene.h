/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A scene for judge tests: the healthy E810 and B300 node of tests/data, changed at a few pointers,
 * judged by one group of gates. Values are written as JSON with ' for ".
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/json.h"
#include "judge/gate.h"

/* A literal as a text of the site, which nobody writes to. */
#define TEXT(s) ((char *)(uintptr_t)(s))

struct scene {
	struct site site;
	struct site_node nodes[2];
	struct site_rdma ports[2];	/* ens1f0, ens1f1 of nodes[0] */
	struct site_gpu gpu;		/* eight B300 */
	json_t *snapshots[2];		/* the second one only when a test sets it */
	struct ladder *ladder;		/* of the last judging */
};

/* Group setup and teardown for cmocka_unit_test_setup_teardown(). */
int scene_open(void **state);
int scene_close(void **state);

/* /a/b/c = value; parents are made. NULL value: the member is removed. */
void scene_set(json_t *snapshot, const char *pointer, const char *value);
/* {"a": 'b'} with ' for " -> JSON of any type. New reference. */
json_t *scene_json(const char *text);

/* Judge `n` gates; on-paper gates only with `paper`. */
const struct ladder *scene_judge_paper(struct scene *s, const struct gate *gates, size_t n,
				       bool paper);
const struct ladder *scene_judge(struct scene *s, const struct gate *gates, size_t n);

/* Verdict of a gate (of the first node); subject NULL: the first. None fails the test. */
const struct verdict *scene_verdict(const struct ladder *ladder, const char *gate,
				    const char *subject);

/* Status, with the whole verdict printed when it differs. */
void scene_status(const struct verdict *v, enum verdict_status status);
/* A certain cause of that id, whose text contains `text` (may be NULL). */
void scene_cause(const struct verdict *v, const char *id, const char *text);
/* No certain cause of that id. */
void scene_no_cause(const struct verdict *v, const char *id);
void scene_candidate(const struct verdict *v, const char *id);
/* "text" in the summary? */
void scene_summary(const struct verdict *v, const char *text);
