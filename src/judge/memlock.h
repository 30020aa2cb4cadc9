/* SPDX-License-Identifier: Apache-2.0 */
/* Locked memory: the judge of os.memlock, and its arithmetic for the pod gates. */
#pragma once

#include "judge/gate.h"

/* Does `limit_bytes` (-1 = unlimited) satisfy `wanted_bytes` (-1 = unlimited)? */
bool memlock_is_enough(int64_t limit_bytes, int64_t wanted_bytes);

/* "8 MiB", "64 KiB", "unlimited"; for judge texts. */
const char *memlock_text(struct judging *g, int64_t bytes);

/* Is CAP_IPC_LOCK effective by a pod's /pods/NAME/memlock? Reads `cap_ipc_lock`, else bit 14 of the
 * hex text `cap_effective`. */
bool memlock_pod_has_cap(json_t *memlock);

/* Does the limit of this pod bind: too low and no effective CAP_IPC_LOCK? */
bool memlock_pod_is_bound(json_t *memlock, int64_t wanted_bytes);

/* What this node wants: the declared value, else unlimited. */
int64_t memlock_wanted(const struct judging *g);

void judge_memlock(struct judging *g);
