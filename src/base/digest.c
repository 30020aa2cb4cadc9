/* SPDX-License-Identifier: Apache-2.0 */
#include "base/digest.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string.h>

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

void digest_hmac_sha256(unsigned char mac[DIGEST_BYTES], const void *key, size_t key_len,
			const void *data, size_t len)
{
	if (!HMAC(EVP_sha256(), key, (int)key_len, data, len, mac, NULL))
		alloc_exhausted();
}

void digest_hkdf_sha256(unsigned char key[DIGEST_BYTES], const void *secret, size_t secret_len,
			const void *salt, size_t salt_len, const char *info)
{
	unsigned char extracted[DIGEST_BYTES];
	size_t n = strlen(info);
	_cleanup_free_ unsigned char *block = xmalloc(n + 1);

	digest_hmac_sha256(extracted, salt, salt_len, secret, secret_len);
	memcpy(block, info, n);
	block[n] = 1;	/* the first block of the output, which is as long as a key */
	digest_hmac_sha256(key, extracted, sizeof(extracted), block, n + 1);
	explicit_bzero(extracted, sizeof(extracted));
}

bool digest_equal(const unsigned char a[DIGEST_BYTES], const unsigned char b[DIGEST_BYTES])
{
	return CRYPTO_memcmp(a, b, DIGEST_BYTES) == 0;
}
