/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* Monotonic time in milliseconds, for deadlines. */
int64_t clock_now_ms(void);
