/* SPDX-License-Identifier: Apache-2.0 */
/* The vectors of the standards. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "base/digest.h"

/* FIPS 180-4, one block */
static void test_sha256(void **state RH_UNUSED)
{
	char hex[DIGEST_HEX];

	digest_sha256_hex(hex, "abc", 3);
	assert_string_equal(hex,
			    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

/* RFC 4231, test case 2 */
static void test_hmac(void **state RH_UNUSED)
{
	static const unsigned char expected[DIGEST_BYTES] = {
		0x5b, 0xdc, 0xc1, 0x46, 0xbf, 0x60, 0x75, 0x4e, 0x6a, 0x04, 0x24, 0x26, 0x08, 0x95,
		0x75, 0xc7, 0x5a, 0x00, 0x3f, 0x08, 0x9d, 0x27, 0x39, 0x83, 0x9d, 0xec, 0x58, 0xb9,
		0x64, 0xec, 0x38, 0x43,
	};
	static const char text[] = "what do ya want for nothing?";
	unsigned char mac[DIGEST_BYTES];

	digest_hmac_sha256(mac, "Jefe", 4, text, strlen(text));
	assert_memory_equal(mac, expected, sizeof(mac));
	assert_true(digest_equal(mac, expected));
	mac[DIGEST_BYTES - 1] ^= 1;
	assert_false(digest_equal(mac, expected));
}

/* RFC 5869, test case 1, as far as the first block goes */
static void test_hkdf(void **state RH_UNUSED)
{
	static const unsigned char expected[DIGEST_BYTES] = {
		0x3c, 0xb2, 0x5f, 0x25, 0xfa, 0xac, 0xd5, 0x7a, 0x90, 0x43, 0x4f, 0x64, 0xd0, 0x36,
		0x2f, 0x2a, 0x2d, 0x2d, 0x0a, 0x90, 0xcf, 0x1a, 0x5a, 0x4c, 0x5d, 0xb0, 0x2d, 0x56,
		0xec, 0xc4, 0xc5, 0xbf,
	};
	static const char info[] = "\xf0\xf1\xf2\xf3\xf4\xf5\xf6\xf7\xf8\xf9";
	unsigned char secret[22], salt[13], key[DIGEST_BYTES];

	memset(secret, 0x0b, sizeof(secret));
	for (size_t i = 0; i < sizeof(salt); i++)
		salt[i] = (unsigned char)i;
	digest_hkdf_sha256(key, secret, sizeof(secret), salt, sizeof(salt), info);
	assert_memory_equal(key, expected, sizeof(key));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sha256),
		cmocka_unit_test(test_hmac),
		cmocka_unit_test(test_hkdf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
