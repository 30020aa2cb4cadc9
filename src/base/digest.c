/* SPDX-License-Identifier: Apache-2.0 */
#include "base/digest.h"

#include <openssl/evp.h>

#include "base/alloc.h"

void digest_sha256(unsigned char digest[DIGEST_BYTES], const void *data, size_t len)
{
	/* SHA-256 is in every provider, the FIPS one too: only memory can be missing */
	if (!EVP_Digest(data, len, digest, NULL, EVP_sha256(), NULL))
		alloc_exhausted();
}

void digest_sha256_hex(char hex[DIGEST_HEX], const void *data, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	unsigned char digest[DIGEST_BYTES];

	digest_sha256(digest, data, len);
	for (size_t i = 0; i < DIGEST_BYTES; i++) {
		hex[2 * i] = digits[digest[i] >> 4];
		hex[2 * i + 1] = digits[digest[i] & 15];
	}
	hex[2 * DIGEST_BYTES] = '\0';
}
