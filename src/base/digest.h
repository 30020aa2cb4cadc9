/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 (FIPS 180-4), from libcrypto. */
#pragma once

#include <stddef.h>

#define DIGEST_BYTES 32
#define DIGEST_HEX (2 * DIGEST_BYTES + 1)

/* SHA-256 of `len` bytes. Cannot fail: exhausted memory ends the process, as in base/alloc.h. */
void digest_sha256(unsigned char digest[DIGEST_BYTES], const void *data, size_t len);
/* As lower-case hexadecimal text, as sha256sum(1) prints it. */
void digest_sha256_hex(char hex[DIGEST_HEX], const void *data, size_t len);
