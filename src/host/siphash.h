/* SPDX-License-Identifier: Apache-2.0 */
/* SipHash-2-4, a keyed hash of short inputs (Aumasson and Bernstein, 2012). */
#pragma once

#include <stddef.h>
#include <stdint.h>

uint64_t siphash(const uint64_t key[2], const void *data, size_t len);
