/* SPDX-License-Identifier: Apache-2.0 */
/* Records for tests, from the healthy E810 snapshots of both ends. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/strings.h"
#include "prove/record.h"

/* A snapshot of tests/data. New reference. */
json_t *records_snapshot(const char *name);

struct records_form {
	const char *kind;
	const char *run;
	int64_t realtime_s;
	bool double_used;
	json_t *local_snapshot, *peer_snapshot;
	const char *runs;	/* JSON with ' for ", NULL: all four, right */
	const char *local_counters, *peer_counters;	/* NULL: RDMA moved, TCP did not */
	const char *local_memory;	/* NULL: host */
};
/* ens1f0 of both. New reference. */
json_t *records_make(const struct records_form *form);

/* A new empty folder, and its removal with all that is in it. The caller frees the path. */
char *records_folder_new(void);
void records_folder_remove(const char *folder);

/* --- a test with both snapshots and a folder --- */

struct records_test {
	json_t *gpu, *storage;	/* snapshots */
	char *folder;
};

/* For cmocka_unit_test_setup_teardown(). */
int records_open(void **state);
int records_close(void **state);
/* A good record of both. New reference. */
json_t *records_of(const struct records_test *t, const char *run, int64_t realtime_s);
/* Store it; the path is the caller's. */
char *records_store(const struct records_test *t, json_t *record);
/* Both are new references. */
json_t *records_load(const struct records_test *t, json_t **gaps);
/* Any bytes as a file of the folder. */
void records_write(const struct records_test *t, const char *name, const char *text, size_t len);
