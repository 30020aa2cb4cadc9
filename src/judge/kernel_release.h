/* SPDX-License-Identifier: Apache-2.0 */
/* The judge of os.kernel, and what a kernel release text ("6.12.0-124.8.1.el10_1.x86_64") tells. */
#pragma once

#include "judge/gate.h"

/* The distribution tag of an Enterprise Linux kernel release. */
struct kernel_tag {
	int major;	/* 10 of ".el10_1", 0 = no such tag */
	int minor;	/* 1 of ".el10_1", -1 = not told */
};

struct kernel_tag kernel_release_tag(const char *release);

/* Variant of the kernel, so that only like is compared with like: "-cloud-amd64" (Debian),
 * "-generic" (Ubuntu), "+debug" or "+rt" (RHEL), "" for the plain one. Points into `release`. */
const char *kernel_release_variant(const char *release);

/* Newest entry of a list of releases that is newer than `running` and of its variant, or NULL. */
const char *kernel_release_newer(json_t *installed, const char *running);

void judge_kernel(struct judging *g);
