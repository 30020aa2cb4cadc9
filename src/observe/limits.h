/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* Soft and hard limit in bytes, -1 = unlimited, of the line "Max locked memory" in the text of
 * /proc/PID/limits, proc(5). 0, or -EINVAL when there is no such line or it has another form. */
int limits_memlock_parse(const char *text, int64_t *soft_bytes, int64_t *hard_bytes);
