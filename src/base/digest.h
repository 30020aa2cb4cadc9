/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 (FIPS 180-4) and what is built on it, from libcrypto. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define DIGEST_BYTES 32
#define DIGEST_HEX (2 * DIGEST_BYTES + 1)

/* SHA-256 of `len` bytes. Cannot fail: exhausted memory ends the process, as in base/alloc.h. */
void digest_sha256(unsigned char digest[DIGEST_BYTES], const void *data, size_t len);
/* As lower-case hexadecimal text, as sha256sum(1) prints it. */
void digest_sha256_hex(char hex[DIGEST_HEX], const void *data, size_t len);

/* HMAC (RFC 2104) with SHA-256. */
void digest_hmac_sha256(unsigned char mac[DIGEST_BYTES], const void *key, size_t key_len,
			const void *data, size_t len);
/* HKDF (RFC 5869) with SHA-256: one key of DIGEST_BYTES for the purpose that `info` names. */
void digest_hkdf_sha256(unsigned char key[DIGEST_BYTES], const void *secret, size_t secret_len,
			const void *salt, size_t salt_len, const char *info);
/* Compare in a time that does not depend on the bytes. */
bool digest_equal(const unsigned char a[DIGEST_BYTES], const unsigned char b[DIGEST_BYTES]);
