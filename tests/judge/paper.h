/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judging on paper, for tests: a site text and the built-in support matrix. A text is put together
 * of sections; a verdict is good until the next call.
 */
#pragma once

#include "scene.h"

/* Judge one gate on paper; the site text is the concatenation of the arguments. */
#define PAPER(gate, ...) paper_judge(gate, (const char *const[]){ __VA_ARGS__, NULL })
const struct verdict *paper_judge(const char *gate, const char *const *sections);
/* All plan gates of a site file. */
const struct ladder *paper_load(const char *path);
/* Until the teardown, this table of the matrix holds these rows: YAML below `rows:`, without their
 * source, date and confidence, which are added to the last one. */
void paper_table(const char *table, const char *rows);
/* Teardown of a test: what its last call made. */
int paper_close(void **state);

/* "text" in one of the options of the cause of that id? */
void paper_option(const struct verdict *v, const char *cause, const char *text);
/* Number of options of that cause. */
size_t paper_options(const struct verdict *v, const char *cause);
/* Is something unverified for this gate (NULL: the vendor)? */
void paper_unverified(const struct verdict *v, const char *gate, const char *text);
void paper_assumed(const struct verdict *v, const char *text);
/* The fix of an unknown names this key. */
void paper_obtain(const struct verdict *v, const char *text);

/* One site and what its gate must say. */
struct paper_case {
	const char *what;	/* for the message of a failed test */
	const char *sections[8];
	enum verdict_status status;
	const char *cause;	/* a certain cause; NULL: none at all */
	const char *text;	/* in that cause, else in the summary; may be NULL */
	const char *obtain;	/* what an unknown asks to declare; may be NULL */
};

void paper_cases(const char *gate, const struct paper_case *cases, size_t n);

/* --- sections --------------------------------------------------------------------------------- */

#define HEAD "schema: railhead.site/1\nname: paper\n"

/* One GPU node on RHEL 10.2 with two E810 ports, each a rail. */
#define NODES                                                                                  \
	"nodes:\n"                                                                             \
	"  gpu-1:\n"                                                                           \
	"    roles: [gpu]\n"                                                                   \
	"    os: {id: rhel, version: \"10.2\"}\n"                                              \
	"    kernel: \"6.12.0-*.el10_2.x86_64\"\n"                                             \
	"    rdma_netns: shared\n"                                                             \
	"    gpus: {B300: {count: 8, pci_id: \"10de:3182\"}}\n"                                \
	"    links:\n"                                                                         \
	"      p0: {driver: ice, pci: \"0000:1b:00.0\", speed: 100G, addresses: [10.1.0.1/24]}\n" \
	"      p1: {driver: ice, pci: \"0000:1b:00.1\", speed: 100G, addresses: [10.2.0.1/24]}\n" \
	"    rdma: {p0: {}, p1: {}}\n"
