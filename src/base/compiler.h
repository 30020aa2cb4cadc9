/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes that gcc and clang share, and small macros used everywhere. */
#pragma once

#include <stddef.h>

#define RH_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
#define RH_MUST_CHECK __attribute__((warn_unused_result))
#define RH_UNUSED __attribute__((unused))
#define RH_NORETURN __attribute__((noreturn))

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
